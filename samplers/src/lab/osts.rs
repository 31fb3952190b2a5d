//! The OSTs of one file system: what they take of each writer, before the network takes its part.
//!
//! A client has so many writes under way at once and waits for their answers, so a writer to busy OSTs sends no more
//! than these take: the network carries that and no more. What that is follows table 4.1 ([`crate::lustre`]), over the
//! writers of all jobs together.

use super::stalls::UNLOADED;
use crate::lustre::fair_share;
use std::collections::BTreeMap;

/// What the OSTs let through; empty if no flow is held back.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Served {
    /// By flow: bytes a second asked for over those let through, above 1.
    times: BTreeMap<u32, f64>,
}

impl Served {
    /// Of `writers`: flow, and bytes a second that it asks for.
    pub(super) fn of(writers: impl Iterator<Item = (u32, f64)>) -> Served {
        let writers: Vec<(u32, f64)> = writers.collect();
        if writers.is_empty() {
            return Served::default();
        }
        let share = fair_share(writers.iter().map(|(_, demand)| *demand));
        let held = writers.into_iter().filter(|(_, demand)| *demand > share);
        Served { times: held.map(|(flow, demand)| (flow, demand / share)).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Flows that are held back, with the part that is let through.
    pub(super) fn parts(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.times.iter().map(|(flow, times)| (*flow, 1.0 / times))
    }

    /// What it costs a flow, as if it were the stalls a word of a link: one without load costs [`UNLOADED`].
    pub(super) fn waits(&self, flow: u32) -> f64 {
        self.times.get(&flow).map_or(0.0, |times| (1.0 + UNLOADED) * times - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lustre::{MEASURED_BYTES, seconds_for_64_gb};

    #[test]
    fn writers_share_as_measured_and_small_requests_are_met() {
        let alone = MEASURED_BYTES / seconds_for_64_gb(1.0);
        assert!(Served::of([(3, alone)].into_iter()).is_empty());
        let four = Served::of((0..4).map(|flow| (flow, alone)));
        let times = (1.0 + four.waits(0)) / (1.0 + UNLOADED);
        assert!((times - seconds_for_64_gb(4.0) / seconds_for_64_gb(1.0)).abs() < 1e-9);
        let (held, little) = ((0, alone), (9, alone / 100.0));
        let mixed = Served::of([held, held, little].into_iter());
        assert_eq!(mixed.waits(9), 0.0);
        assert!(mixed.waits(0) > 0.0);
    }
}
