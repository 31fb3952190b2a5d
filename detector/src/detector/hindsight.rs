//! Losses that show once the others move less: of a job that started in contention, or learnt its baseline there.

use super::Detector;
use crate::episodes::Past;
use crate::equations::lognormal_mean;
use crate::evidence::{self, Hindsight, SPAN_TICKS};
use schemas::episode::PROFILE_POINTS_MAX;
use schemas::{CauseShare, EpisodeId, LossPoint, SeriesIndex};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Seconds of loss from which hindsight counts.
const LEAST_S: f64 = 3.0;
/// Part of a loss from which a cause is named.
const LEAST_SHARE: f64 = 0.005;
/// Times the baseline from which a level contradicts it.
const ABOVE_BASELINE: f64 = 1.12;
/// Standard errors of a 95% interval.
const ERRORS: f64 = 1.96;

/// What was found by looking back at a series.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct LookedBack {
    id: Option<EpisodeId>,
    /// First block that is looked at, and first one with a loss.
    since: i64,
    first: i64,
}

impl Default for LookedBack {
    fn default() -> LookedBack {
        LookedBack { id: None, since: i64::MIN, first: i64::MAX }
    }
}

impl Detector {
    /// Looks back at what a client of a file system moved since its job started.
    pub(super) fn look_back(&mut self, series: SeriesIndex, mount: usize) {
        let tick_s = self.settings.stream.tick_s;
        let Some(last) = self.coverage.last(series) else { return };
        let node = &self.ingest.series()[series.at()].component;
        let start = self.jobs.on_node_at(node, last).map(|job| job.start).max();
        let of_job = start.map_or(i64::MIN, |start| evidence::block_of(start, tick_s) + 1);
        let mut looked = self.past.get(&series).copied().unwrap_or_default();
        if looked.since < of_job {
            looked = LookedBack { since: of_job, ..LookedBack::default() };
        }
        let own = self.taker_of(series, last);
        if looked.id.is_some() && self.traffic[mount].oldest() >= looked.first {
            // Its first block is about to be forgotten: what follows is another episode.
            looked = LookedBack { since: evidence::block_of(last, tick_s), ..LookedBack::default() };
        }
        let Some(mut seen) = self.traffic[mount].hindsight(&own, looked.since) else { return };
        self.leave_out_known(series, &mut seen, looked.id);
        let lost_s: f64 = seen.lost.iter().map(|(_, active, lost)| active * lost * SPAN_TICKS * tick_s).sum();
        self.doubt_level(series, &seen, lost_s);
        if lost_s >= LEAST_S || looked.id.is_some() {
            looked.first = seen.lost.first().map_or(i64::MAX, |(first, _, _)| *first);
            let causes = self.causes_in_hindsight(series, mount, &seen);
            looked.id = Some(self.episodes.put_past(series, looked.id, seen.past(causes, tick_s)));
        }
        self.past.insert(series, looked);
    }

    /// A baseline below a level that the series reached once others moved less is of a contended level.
    fn doubt_level(&mut self, series: SeriesIndex, seen: &Hindsight, lost_s: f64) {
        let slot = self.series[series.at()];
        let bank = &self.banks[slot.metric.at()];
        let known = bank.knowledge(slot.number as usize);
        let baseline = lognormal_mean(known.baseline, bank.noise(slot.number as usize));
        if lost_s >= LEAST_S && seen.level > ABOVE_BASELINE * baseline {
            let first = seen.lost.first().map_or(0, |(first, _, _)| *first);
            self.coverage.hold(series, evidence::begin_of(first, self.settings.stream.tick_s));
        }
    }

    /// Blocks in which the model found an episode are its own.
    fn leave_out_known(&self, series: SeriesIndex, seen: &mut Hindsight, past: Option<EpisodeId>) {
        let tick_s = self.settings.stream.tick_s;
        let at = |block: i64| evidence::begin_of(block, tick_s);
        let (Some(first), Some(last)) = (seen.lost.first(), seen.lost.last()) else { return };
        let found = self.episodes.between(&[series], at(first.0), at(last.0 + 1));
        let is_free = |block: i64| {
            let mut others = found.iter().filter(|episode| Some(episode.id) != past);
            others.all(|episode| episode.start >= at(block + 1) || episode.end <= at(block))
        };
        seen.lost.retain(|(block, _, _)| is_free(*block));
    }

    fn causes_in_hindsight(&self, series: SeriesIndex, mount: usize, seen: &Hindsight) -> Vec<CauseShare> {
        let Some(last) = self.coverage.last(series) else { return Vec::new() };
        let (own, metric) = (self.taker_of(series, last), self.series[series.at()].metric);
        let own_jobs: Vec<_> = self.jobs_of(series, last).cloned().collect();
        let mut by = BTreeMap::new();
        let mut all = 0.0;
        for (block, active, lost) in &seen.lost {
            all += active * lost;
            let moment = self.traffic[mount].moment(&own, &seen.reference, *block);
            for (taker, share) in moment.iter().flat_map(|moment| moment.shares(*lost)) {
                *by.entry(taker.clone()).or_insert(0.0) += share * active * lost;
            }
        }
        let mut causes: Vec<CauseShare> = by
            .iter()
            .filter(|(_, taken)| **taken > LEAST_SHARE * all)
            .map(|(taker, taken)| self.cause_of(metric, &own_jobs, taker, taken / all))
            .collect();
        causes
            .sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.series_or_job.cmp(&b.series_or_job)));
        causes
    }
}

impl Hindsight {
    /// The loss as an episode.
    fn past(&self, causes: Vec<CauseShare>, tick_s: f64) -> Past {
        let span_s = SPAN_TICKS * tick_s;
        let begin = |block: i64| evidence::begin_of(block, tick_s);
        let (mut lost_s, mut kept_s, mut profile) = (0.0, 0.0, Vec::new());
        for (block, active, lost) in &self.lost {
            profile.push(LossPoint { time: begin(*block), slowdown_s: lost_s });
            lost_s += active * lost * span_s;
            kept_s += active * (1.0 - lost) * span_s;
            profile.push(LossPoint { time: begin(block + 1), slowdown_s: lost_s });
        }
        profile.dedup();
        while profile.len() > PROFILE_POINTS_MAX {
            let mut index = profile.len();
            profile.retain(|_| {
                index -= 1;
                index % 2 == 0
            });
        }
        let most = self.lost.iter().map(|(_, _, lost)| *lost).fold(0.0, f64::max);
        Past {
            start: self.lost.first().map_or(begin(0), |(block, _, _)| begin(*block)),
            peak: self.level * (1.0 - most),
            baseline: self.level,
            profile,
            half_width_s: ERRORS * self.error * kept_s,
            causes,
        }
    }
}
