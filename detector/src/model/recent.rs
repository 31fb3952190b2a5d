//! The latest readings of a series: values, times and spans in a ring.

use schemas::Time;
use serde::{Deserialize, Serialize};

/// Readings kept. The long window of the widest setting fits (4 x 16), and so does every fall or rise
/// that is dated back.
pub const RECENT: usize = 64;
const MASK: usize = RECENT - 1;

/// Ring of the latest [`RECENT`] readings, by age: 0 is the newest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recent {
    /// End of the newest reading.
    last: Time,
    next: u8,
    held: u8,
    spans: Spans,
    logs: Logs,
    /// Low 32 bits of the microseconds; ages are differences, so the wrap after 71 minutes does no harm
    /// as long as the ring is cleared by longer silences.
    times: Times,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Logs(#[serde(with = "as_vec")] [f32; RECENT]);
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Times(#[serde(with = "as_vec")] [u32; RECENT]);
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Spans(#[serde(with = "as_vec")] [u8; RECENT]);

impl Default for Recent {
    fn default() -> Recent {
        Recent {
            last: Time::MIN,
            next: 0,
            held: 0,
            spans: Spans([0; RECENT]),
            logs: Logs([0.0; RECENT]),
            times: Times([0; RECENT]),
        }
    }
}

impl Recent {
    /// Adds a reading.
    pub fn push(&mut self, ln: f32, time: Time, span_ticks: u8) {
        let slot = self.next as usize & MASK;
        self.logs.0[slot] = ln;
        self.times.0[slot] = time.0 as u32;
        self.spans.0[slot] = span_ticks;
        self.next = ((slot + 1) & MASK) as u8;
        self.held = (self.held + 1).min(RECENT as u8);
        self.last = time;
    }

    /// Forgets the newest reading.
    pub fn pop(&mut self) {
        if self.held == 0 {
            return;
        }
        let before = self.time(1);
        self.next = (self.next.wrapping_sub(1)) & MASK as u8;
        self.held -= 1;
        if self.held > 0 {
            self.last = before;
        }
    }

    /// Readings held.
    pub fn len(&self) -> usize {
        self.held as usize
    }

    /// Whether none is held.
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Forgets all of them, not the time of the last.
    pub fn clear(&mut self) {
        self.held = 0;
    }

    /// End of the newest reading.
    pub fn last(&self) -> Time {
        self.last
    }

    /// Signed logarithm of the reading of that age.
    pub fn ln(&self, age: usize) -> f32 {
        self.logs.0[self.slot(age)]
    }

    /// End of the reading of that age.
    pub fn time(&self, age: usize) -> Time {
        let newest = self.last.0 as u32;
        Time(self.last.0 - i64::from(newest.wrapping_sub(self.times.0[self.slot(age)])))
    }

    /// Ticks that the reading of that age covers.
    pub fn span_ticks(&self, age: usize) -> u8 {
        self.spans.0[self.slot(age)]
    }

    fn slot(&self, age: usize) -> usize {
        (self.next as usize).wrapping_sub(age + 1) & MASK
    }
}

/// Serde has no arrays longer than 32.
mod as_vec {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<T: Serialize, S: Serializer, const N: usize>(
        array: &[T; N],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        array.as_slice().serialize(to)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>, const N: usize>(
        from: D,
    ) -> Result<[T; N], D::Error> {
        let list = Vec::<T>::deserialize(from)?;
        list.try_into()
            .map_err(|l: Vec<T>| D::Error::invalid_length(l.len(), &"the ring's length"))
    }
}
