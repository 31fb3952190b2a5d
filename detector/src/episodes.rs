//! Episodes as they open, grow, close and settle.

use crate::model::Closing;
use schemas::episode::PROFILE_POINTS_MAX;
use schemas::{CauseShare, Episode, EpisodeId, LossPoint, SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// All open episodes, and the closed ones that jobs may still need.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EpisodeBook {
    /// Episodes of each series, the latest last.
    by_series: HashMap<SeriesIndex, Vec<EpisodeId>>,
    episodes: BTreeMap<EpisodeId, Episode>,
    /// Those that hindsight found.
    past: BTreeSet<EpisodeId>,
    changed: BTreeSet<EpisodeId>,
    issued: u64,
    /// Changed episodes of series that were forgotten since the last call of [`EpisodeBook::take_changed`].
    #[serde(skip)]
    parting: Vec<Episode>,
}

/// What hindsight shows of a series.
#[derive(Clone, Debug)]
pub struct Past {
    /// When the loss began.
    pub start: Time,
    /// Its worst level, in the metric's unit.
    pub peak: f64,
    /// The level that it is compared with.
    pub baseline: f64,
    /// The loss as it grew, to its end.
    pub profile: Vec<LossPoint>,
    /// Half of its 95% interval, in seconds.
    pub half_width_s: f64,
    /// Who took it.
    pub causes: Vec<CauseShare>,
}

impl EpisodeBook {
    /// Numbers of episodes from here on are greater than `begin`.
    pub fn number_from(&mut self, begin: u64) {
        self.issued = self.issued.max(begin);
    }

    /// Leaves out `count` numbers of episodes.
    pub fn skip_numbers(&mut self, count: u64) {
        self.issued += count;
    }

    /// A new episode of `series`.
    pub fn open(&mut self, series: SeriesIndex, now: &Closing, causes: Vec<CauseShare>) {
        self.issued += 1;
        let id = EpisodeId(self.issued);
        let mut episode = Episode {
            id,
            series,
            start: now.start,
            end: now.end,
            open: true,
            peak: now.peak,
            baseline: now.baseline,
            slowdown_s: 0.0,
            slowdown_lo_s: 0.0,
            slowdown_hi_s: 0.0,
            completeness: 1.0,
            profile: Vec::new(),
            causes,
        };
        update(&mut episode, now);
        self.by_series.entry(series).or_default().push(id);
        self.episodes.insert(id, episode);
        self.changed.insert(id);
    }

    /// The latest episode of `series` continues; its values are those of `now`.
    pub fn extend(&mut self, series: SeriesIndex, now: &Closing) {
        self.change(series, |episode| update(episode, now));
    }

    /// The latest episode of `series` ended so.
    pub fn close(&mut self, series: SeriesIndex, at_end: &Closing) {
        self.change(series, |episode| {
            episode.profile.retain(|point| point.time <= at_end.end);
            update(episode, at_end);
            episode.open = false;
        });
    }

    /// Later readings bettered the estimate of the latest episode of `series`.
    pub fn settle(&mut self, series: SeriesIndex, settled: &Closing) {
        self.change(series, |episode| {
            let factor =
                if episode.slowdown_s == 0.0 { 1.0 } else { settled.loss.lost_s / episode.slowdown_s };
            episode.profile.iter_mut().for_each(|point| point.slowdown_s *= factor);
            take_values(episode, settled);
        });
    }

    /// The causes of an episode, as they are known by now.
    pub fn explain(&mut self, id: EpisodeId, causes: Vec<CauseShare>) {
        if let Some(episode) = self.episodes.get_mut(&id).filter(|episode| episode.causes != causes) {
            episode.causes = causes;
            self.changed.insert(id);
        }
    }

    /// An episode of `series` that hindsight shows: a new one, or the one of number `known` as it is by now. The latest one
    /// that the model found stays the latest.
    pub fn put_past(&mut self, series: SeriesIndex, known: Option<EpisodeId>, past: Past) -> EpisodeId {
        let id = known.filter(|id| self.episodes.contains_key(id)).unwrap_or_else(|| {
            self.issued += 1;
            let ids = self.by_series.entry(series).or_default();
            ids.insert(ids.len().saturating_sub(1), EpisodeId(self.issued));
            EpisodeId(self.issued)
        });
        let slowdown_s = past.profile.last().map_or(0.0, |point| point.slowdown_s);
        let end = past.profile.last().map_or(past.start, |point| point.time);
        let episode = Episode {
            id,
            series,
            start: past.start,
            end,
            open: false,
            peak: past.peak,
            baseline: past.baseline,
            slowdown_s,
            slowdown_lo_s: slowdown_s - past.half_width_s,
            slowdown_hi_s: slowdown_s + past.half_width_s,
            completeness: 1.0,
            profile: past.profile,
            causes: past.causes,
        };
        if self.episodes.get(&id) != Some(&episode) {
            self.episodes.insert(id, episode);
            self.changed.insert(id);
        }
        self.past.insert(id);
        id
    }

    /// Whether hindsight found an episode, not the model.
    pub fn is_past(&self, id: EpisodeId) -> bool {
        self.past.contains(&id)
    }

    /// The episode of that number, as long as it is kept.
    pub fn get(&self, id: EpisodeId) -> Option<&Episode> {
        self.episodes.get(&id)
    }

    /// The latest episode of `series`.
    pub fn latest(&self, series: SeriesIndex) -> Option<&Episode> {
        self.episodes.get(self.by_series.get(&series)?.last()?)
    }

    /// Reports all episodes again.
    pub fn report_again(&mut self) {
        self.changed.extend(self.episodes.keys());
    }

    /// Episodes changed since the last call.
    pub fn take_changed(&mut self) -> Vec<Episode> {
        let mut episodes = std::mem::take(&mut self.parting);
        let changed = std::mem::take(&mut self.changed);
        episodes.extend(changed.iter().filter_map(|id| self.episodes.get(id)).cloned());
        episodes
    }

    /// Keeps nothing of `series`; what changed of it is returned by the next [`EpisodeBook::take_changed`].
    pub fn forget(&mut self, series: SeriesIndex) {
        for id in self.by_series.remove(&series).unwrap_or_default() {
            let episode = self.episodes.remove(&id);
            self.past.remove(&id);
            if self.changed.remove(&id) {
                self.parting.extend(episode);
            }
        }
    }

    /// Episodes that are kept.
    pub fn len(&self) -> usize {
        self.episodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.episodes.is_empty()
    }

    /// Episodes of `series` that overlap the time between `from` and `to`.
    pub fn between(&self, series: &[SeriesIndex], from: Time, to: Time) -> Vec<&Episode> {
        let ids = series.iter().filter_map(|s| self.by_series.get(s)).flatten();
        ids.filter_map(|id| self.episodes.get(id)).filter(|e| e.start < to && e.end > from).collect()
    }

    /// Forgets episodes that ended before `time`, but for the latest of each series: it may still settle.
    pub fn forget_before(&mut self, time: Time) {
        let (episodes, past, changed) = (&mut self.episodes, &mut self.past, &self.changed);
        for ids in self.by_series.values_mut() {
            let latest = ids.last().copied();
            ids.retain(|id| {
                let over = episodes.get(id).is_none_or(|e| !e.open && e.end < time);
                let keep = !over || Some(*id) == latest || changed.contains(id);
                if !keep {
                    episodes.remove(id);
                    past.remove(id);
                }
                keep
            });
        }
    }

    fn change(&mut self, series: SeriesIndex, how: impl FnOnce(&mut Episode)) {
        let Some(id) = self.by_series.get(&series).and_then(|ids| ids.last()) else { return };
        if let Some(episode) = self.episodes.get_mut(id) {
            how(episode);
            self.changed.insert(*id);
        }
    }
}

fn update(episode: &mut Episode, now: &Closing) {
    take_values(episode, now);
    let point = LossPoint { time: now.end, slowdown_s: now.loss.lost_s };
    match episode.profile.last_mut() {
        Some(last) if last.time >= point.time => *last = point,
        _ => episode.profile.push(point),
    }
    if episode.profile.len() > PROFILE_POINTS_MAX {
        let mut index = 0;
        episode.profile.retain(|_| {
            index += 1;
            index % 2 == 1
        });
    }
}

fn take_values(episode: &mut Episode, now: &Closing) {
    episode.start = now.start;
    episode.end = now.end;
    episode.peak = now.peak;
    episode.baseline = now.baseline;
    episode.slowdown_s = now.loss.lost_s;
    episode.slowdown_lo_s = now.loss.lost_s - now.half_width_s;
    episode.slowdown_hi_s = now.loss.lost_s + now.half_width_s;
    let expected = f64::from(now.ticks_expected.max(1));
    episode.completeness = (f64::from(now.ticks_seen) / expected).min(1.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equations::LossSums;

    #[test]
    fn a_new_state_takes_no_number_of_the_one_before() {
        let now = Closing {
            start: Time::from_seconds(1.0),
            end: Time::from_seconds(2.0),
            peak: 2.0,
            baseline: 1.0,
            loss: LossSums::default(),
            half_width_s: 0.1,
            ticks_seen: 1,
            ticks_expected: 1,
            recovered: true,
        };
        let mut book = EpisodeBook::default();
        let begun = |book: &mut EpisodeBook, series| {
            book.open(SeriesIndex(series), &now, Vec::new());
            book.take_changed().last().map(|episode| episode.id.0)
        };
        book.number_from(2_000_000_000);
        assert_eq!(begun(&mut book, 0), Some(2_000_000_001));
        // Said again after a restart it changes nothing.
        book.number_from(2_000_000_000);
        assert_eq!(begun(&mut book, 1), Some(2_000_000_002));
    }
}
