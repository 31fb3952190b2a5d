//! The model's output per tick, and the table of series it is about.

use crate::{Metric, Name, Time};
use serde::{Deserialize, Serialize};

/// Dense number of a series, from 0, in order of first sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SeriesIndex(pub u32);

impl SeriesIndex {
    /// As an index into a column.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// What a series is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SeriesInfo {
    /// What is measured.
    pub metric: Metric,
    /// Router, host or client node.
    pub component: Name,
    /// Tile, port or mount; `None` for the component as a whole (a router's mean).
    pub part: Option<Name>,
}

/// Least digits of the address of a mount, in hexadecimal, behind the name of its file system.
const ADDRESS_DIGITS_MIN: usize = 8;

impl SeriesInfo {
    /// The file system of a mount. Of several mounts of one file system, the further ones are named by their llite directory:
    /// `home-ffff88103d6bd000` is one of `home`.
    pub fn file_system(&self) -> Option<Name> {
        let part = self.part.as_ref()?;
        let is_address =
            |text: &str| text.len() >= ADDRESS_DIGITS_MIN && text.bytes().all(|b| b.is_ascii_hexdigit());
        let short = part.as_str().rsplit_once('-').filter(|(_, address)| is_address(address));
        Some(short.and_then(|(name, _)| Name::parse(name).ok()).unwrap_or_else(|| part.clone()))
    }

    /// `<metric>/<component>[/<part>]`, the name everywhere a person or program reads it.
    pub fn name(&self) -> String {
        match &self.part {
            Some(part) => format!("{}/{}/{part}", self.metric.name(), self.component),
            None => format!("{}/{}", self.metric.name(), self.component),
        }
    }
}

/// All series seen, in the order of their numbers.
pub type SeriesTable = Vec<SeriesInfo>;

/// What is known of a series at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum State {
    /// Too few readings for a baseline.
    Warmup,
    /// Compared with its baseline and found not contended.
    Clear,
    /// Compared with its baseline and found contended.
    Contended,
    /// Below the activity floor of its metric: nothing to contend for.
    Idle,
    /// No data.
    Unknown,
}

impl State {
    /// All states, in the order of their numbers.
    pub const ALL: [State; 5] = [State::Warmup, State::Clear, State::Contended, State::Idle, State::Unknown];

    /// The word in files, SQL and on the page.
    pub fn name(self) -> &'static str {
        match self {
            State::Warmup => "warmup",
            State::Clear => "clear",
            State::Contended => "contended",
            State::Idle => "idle",
            State::Unknown => "unknown",
        }
    }
}

/// What the raw counters behind a reading of two of them did, a second. NaN where there is none: the rate of a Lustre client is
/// its counter's, and a router as a whole is the mean of its links. In single precision: seven digits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Flits of all virtual channels of an Aries tile, words that an InfiniBand port sent.
    pub passed_per_s: f32,
    /// Stalls of the tile, ticks that the port waited; also where nothing passed and the ratio is 0.
    pub waited_per_s: f32,
}

impl Counts {
    /// No counters.
    pub const NONE: Counts = Counts { passed_per_s: f32::NAN, waited_per_s: f32::NAN };

    /// Adds `ticks` times what they did, if there are any, to a sum that began with none.
    pub fn add(&mut self, counts: Counts, ticks: u16) {
        let add = |sum: &mut f32, count: f32| {
            if count.is_finite() {
                *sum = if sum.is_nan() { 0.0 } else { *sum } + count * f32::from(ticks);
            }
        };
        add(&mut self.passed_per_s, counts.passed_per_s);
        add(&mut self.waited_per_s, counts.waited_per_s);
    }

    /// The mean of such a sum over `ticks`.
    #[must_use]
    pub fn mean(self, ticks: u16) -> Counts {
        let over = f32::from(ticks);
        Counts { passed_per_s: self.passed_per_s / over, waited_per_s: self.waited_per_s / over }
    }
}

/// One tick of one series. Values that do not exist in this state are NaN (JSON and SQL: null).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// The sampler's timestamp; the end of the interval the reading covers.
    pub time: Time,
    /// Which series.
    pub series: SeriesIndex,
    /// The reading, in the metric's unit.
    pub value: f64,
    /// Geometric mean of the latest window, in the metric's unit.
    pub mean: f64,
    /// Geometric mean of the non-contended window, in the metric's unit.
    pub baseline: f64,
    /// What `mean` has to pass to be contended, in the metric's unit.
    pub bound: f64,
    /// What is known.
    pub state: State,
    /// Seconds lost since the series was first seen; it jumps when an onset is dated back.
    pub slowdown_s: f64,
    /// What the counters behind the reading did.
    pub counts: Counts,
}
