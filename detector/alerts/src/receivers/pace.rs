//! When the next try is, and how many there may be: pure, by a clock and chance that are given.

use super::receiver::Receiver;

/// Longest pause that a receiver may ask for, in seconds.
const ASKED_MAX_S: f64 = 3_600.0;

/// Numbers between 0 and 1.
pub struct Random(Box<dyn FnMut() -> f64 + Send>);

impl Random {
    /// By a source of numbers between 0 and 1.
    pub fn of(source: impl FnMut() -> f64 + Send + 'static) -> Random {
        Random(Box::new(source))
    }

    /// Other numbers in each process.
    pub fn seeded() -> Random {
        use std::hash::{BuildHasher, RandomState};
        let (state, mut count) = (RandomState::new(), 0_u64);
        Random::of(move || {
            count += 1;
            (state.hash_one(count) >> 11) as f64 / (1_u64 << 53) as f64
        })
    }

    fn next(&mut self) -> f64 {
        (self.0)().clamp(0.0, 1.0)
    }
}

/// Seconds until the next try after `attempts` of them: twice as long each time up to the ceiling, of which a random part
/// between half and all is waited, so that notices that failed together do not come together again. A receiver that requested
/// for a pause gets it.
pub fn wait_s(receiver: &Receiver, attempts: u32, asked_s: Option<f64>, random: &mut Random) -> f64 {
    let doubled = receiver.backoff_s * 2_f64.powi(attempts.saturating_sub(1).min(40) as i32);
    let backoff_s = doubled.min(receiver.backoff_max_s) * (0.5 + 0.5 * random.next());
    backoff_s.max(asked_s.unwrap_or(0.0).min(ASKED_MAX_S))
}

/// How many notices may go: at most so many a minute, and a quarter of them at once.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    per_s: f64,
    most: f64,
    left: f64,
    at_s: f64,
}

impl Bucket {
    /// Full, at `now_s`.
    pub fn new(per_minute: u32, now_s: f64) -> Bucket {
        let most = (f64::from(per_minute) / 4.0).max(1.0);
        Bucket { per_s: f64::from(per_minute) / 60.0, most, left: most, at_s: now_s }
    }

    /// How many may go at `now_s`.
    pub fn left(&mut self, now_s: f64) -> usize {
        self.left = (self.left + self.per_s * (now_s - self.at_s).max(0.0)).min(self.most);
        self.at_s = now_s;
        self.left as usize
    }

    /// So many went.
    pub fn take(&mut self, sent: usize) {
        self.left -= sent as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver() -> Receiver {
        let text = "name = \"a\"\nkind = \"webhook\"\nurl = \"http://127.0.0.1:1/\"\nbackoff_max_s = 60";
        Receiver::parse("a.toml", text, &[], &|_, _| Err("is not there".to_string())).unwrap()
    }

    #[test]
    fn waits_double_up_to_the_ceiling_and_are_jittered() {
        let waits = |chance: f64| {
            let mut random = Random::of(move || chance);
            [1, 2, 3, 7, 99].map(|attempts| wait_s(&receiver(), attempts, None, &mut random))
        };
        assert_eq!(waits(1.0), [1.0, 2.0, 4.0, 60.0, 60.0]);
        assert_eq!(waits(0.0), [0.5, 1.0, 2.0, 30.0, 30.0]);
    }

    #[test]
    fn requested_pause_is_bounded() {
        let mut random = Random::of(|| 0.5);
        assert_eq!(wait_s(&receiver(), 1, Some(30.0), &mut random), 30.0);
        assert_eq!(wait_s(&receiver(), 1, Some(1e9), &mut random), 3_600.0);
        assert_eq!(wait_s(&receiver(), 99, Some(1.0), &mut random), 45.0);
    }

    #[test]
    fn no_more_than_so_many_a_minute() {
        let mut bucket = Bucket::new(60, 0.0);
        let mut sent = 0;
        for tenth in 0..600 {
            let left = bucket.left(f64::from(tenth) / 10.0);
            bucket.take(left);
            sent += left;
        }
        assert!((60..=76).contains(&sent), "{sent}");
    }
}
