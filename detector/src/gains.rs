//! Which clients took what contended ones lost, and since when.
//!
//! A client applies what concerns it once all rows of that time have been read. When a server sags, thousands fall in one tick and
//! thousands take: of the gains of a client that began in one tick the earliest counts, so that no more wait than ticks.

use schemas::{SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// Seconds for which a gain waits for its client; one that is silent for so long starts again anyhow.
const KEPT_S: f64 = 180.0;

/// Gains that their clients have not applied yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Gains {
    /// By client, and by the tick in which they began.
    of: BTreeMap<SeriesIndex, BTreeMap<i64, Gain>>,
}

/// A client took what another one lost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// When that was found out.
    pub at: Time,
    /// Since when it did.
    pub since: Time,
}

impl Gain {
    /// The earlier times of two gains.
    #[must_use]
    pub fn earliest(self, other: Gain) -> Gain {
        Gain { at: self.at.min(other.at), since: self.since.min(other.since) }
    }
}

/// Which gain the gainers of one change of a file system were given: all of them by the first client that fell, and again by a
/// later one only if it fell earlier.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given {
    gain: Option<Gain>,
    /// The client whose fall gave it, if it is a gainer too.
    without: Option<SeriesIndex>,
}

impl Given {
    /// Those of `gainers` that have no gain as early as that which the fall of `fallen` shows.
    pub fn missing(
        &mut self,
        gain: Gain,
        fallen: SeriesIndex,
        gainers: impl Iterator<Item = SeriesIndex>,
    ) -> Vec<SeriesIndex> {
        if self.gain.is_some_and(|given| given.earliest(gain) == given) {
            return self.without.filter(|without| *without != fallen).into_iter().collect();
        }
        self.gain = Some(self.gain.map_or(gain, |given| given.earliest(gain)));
        let (own, others): (Vec<_>, Vec<_>) = gainers.partition(|gainer| *gainer == fallen);
        self.without = own.first().copied();
        others
    }
}

impl Gains {
    /// Adds a gain that began in `tick`.
    pub fn add(&mut self, series: SeriesIndex, tick: i64, gain: Gain) {
        let of_series = self.of.entry(series).or_default();
        of_series.entry(tick).and_modify(|known| *known = known.earliest(gain)).or_insert(gain);
        while let Some(first) = of_series.first_entry()
            && gain.at.seconds_since(first.get().at) > KEPT_S
        {
            first.remove();
        }
    }

    /// Removes the gains of a client that were found out up to `until`, and returns them in that order; and whether none is left.
    pub fn take(&mut self, series: SeriesIndex, until: Time) -> (Vec<Gain>, bool) {
        let Some(of_series) = self.of.get_mut(&series) else { return (Vec::new(), true) };
        let mut taken: Vec<Gain> = of_series.values().filter(|gain| gain.at <= until).copied().collect();
        of_series.retain(|_, gain| gain.at > until);
        taken.sort_by_key(|gain| gain.at);
        let is_empty = of_series.is_empty();
        if is_empty {
            self.of.remove(&series);
        }
        (taken, is_empty)
    }

    /// Forgets clients that were not seen for long.
    pub fn forget(&mut self, gone: &HashSet<SeriesIndex>) {
        self.of.retain(|series, _| !gone.contains(series));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: SeriesIndex = SeriesIndex(7);

    fn gain(at: f64, since: f64) -> Gain {
        Gain { at: Time::from_seconds(at), since: Time::from_seconds(since) }
    }

    #[test]
    fn of_gains_that_began_in_one_tick_the_earliest_counts() {
        let mut gains = Gains::default();
        for found in [gain(14.2, 10.1), gain(13.0, 10.4), gain(16.0, 9.9)] {
            gains.add(CLIENT, 10, found);
        }
        gains.add(CLIENT, 11, gain(12.0, 11.0));
        assert_eq!(gains.take(CLIENT, Time::from_seconds(11.0)), (vec![], false));
        let until = Time::from_seconds(13.0);
        assert_eq!(gains.take(CLIENT, until), (vec![gain(12.0, 11.0), gain(13.0, 9.9)], true));
        assert_eq!(gains.take(CLIENT, until), (vec![], true));
    }

    #[test]
    fn thousands_that_fall_give_each_gainer_its_gain_about_once() {
        let gainers = || (0..10_000).map(SeriesIndex);
        let mut given = Given::default();
        let mut has = vec![0; 10_000];
        // The first two are gainers themselves: neither is a reason for its own gain.
        for fallen in [3, 4].into_iter().chain(10_000..20_000) {
            for gainer in given.missing(gain(14.0, 10.0), SeriesIndex(fallen), gainers()) {
                has[gainer.at()] += 1;
            }
        }
        assert_eq!(has.iter().filter(|times| **times == 1).count(), 9_999);
        assert!(has[3] >= 1 && has[4] == 1);
        let earlier = given.missing(gain(13.0, 10.0), SeriesIndex(10_000), gainers());
        assert_eq!(earlier.len(), 10_000);
    }

    #[test]
    fn gains_of_a_silent_client_end() {
        let mut gains = Gains::default();
        (0..1000).for_each(|tick| gains.add(CLIENT, tick, gain(tick as f64 + 4.0, tick as f64)));
        assert_eq!(gains.take(CLIENT, Time::from_seconds(2000.0)).0.len(), 181);
    }
}
