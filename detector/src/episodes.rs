//! Episodes as they open, grow, close and settle.

use crate::model::Closing;
use schemas::episode::PROFILE_POINTS_MAX;
use schemas::{CauseShare, Episode, EpisodeId, LossPoint, SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Closed episodes that are kept for jobs which still run.
const CLOSED_KEPT: usize = 100_000;

/// All open episodes, and the closed ones that jobs may still need.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EpisodeBook {
    latest: HashMap<SeriesIndex, EpisodeId>,
    episodes: BTreeMap<EpisodeId, Episode>,
    changed: BTreeSet<EpisodeId>,
    issued: u64,
}

impl EpisodeBook {
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
        self.latest.insert(series, id);
        self.episodes.insert(id, episode);
        self.changed.insert(id);
        self.forget_oldest();
    }

    /// The latest episode of `series` stands at `now`.
    pub fn go_on(&mut self, series: SeriesIndex, now: &Closing) {
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
            take_figures(episode, settled);
        });
    }

    /// Episodes changed since the last call.
    pub fn take_changed(&mut self) -> Vec<Episode> {
        std::mem::take(&mut self.changed).iter().filter_map(|id| self.episodes.get(id)).cloned().collect()
    }

    /// Episodes of `series` that overlap the time between `from` and `to`.
    pub fn between<'a>(
        &'a self,
        series: &'a [SeriesIndex],
        from: Time,
        to: Time,
    ) -> impl Iterator<Item = &'a Episode> {
        self.episodes.values().filter(move |e| series.contains(&e.series) && e.start < to && e.end > from)
    }

    fn change(&mut self, series: SeriesIndex, how: impl FnOnce(&mut Episode)) {
        let Some(id) = self.latest.get(&series) else {
            return;
        };
        if let Some(episode) = self.episodes.get_mut(id) {
            how(episode);
            self.changed.insert(*id);
        }
    }

    fn forget_oldest(&mut self) {
        if self.episodes.len() <= CLOSED_KEPT {
            return;
        }
        let oldest = self.episodes.values().find(|e| !e.open && !self.changed.contains(&e.id)).map(|e| e.id);
        if let Some(id) = oldest {
            self.episodes.remove(&id);
        }
    }
}

fn update(episode: &mut Episode, now: &Closing) {
    take_figures(episode, now);
    let point = LossPoint { time: now.end, slowdown_s: now.loss.lost_s };
    match episode.profile.last_mut() {
        Some(last) if last.time >= point.time => *last = point,
        _ => episode.profile.push(point),
    }
    if episode.profile.len() > PROFILE_POINTS_MAX {
        let mut index = 0;
        episode.profile.retain(|_| {
            index += 1;
            index % 2 == 0
        });
    }
}

fn take_figures(episode: &mut Episode, now: &Closing) {
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
