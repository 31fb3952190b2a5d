//! Losses that show once the others move less: of a job that started in contention, or learnt its baseline there.

use super::Detector;
use crate::episodes::Past;
use crate::evidence::{self, Hindsight, Known, Losses, SPAN_TICKS, Taker};
use schemas::episode::PROFILE_POINTS_MAX;
use schemas::{Cause, CauseShare, Episode, EpisodeId, LossPoint, Metric, Name, SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Seconds of loss from which hindsight counts.
const LEAST_S: f64 = 3.0;
/// Part of its time that an episode loses where others are compared with it: an episode may last longer than what caused it.
const LOSSY: f64 = 0.05;
/// Part of a loss from which a cause is named.
const LEAST_SHARE: f64 = 0.005;
/// Blocks before the present one from which another episode may begin where one became too old.
const AGAIN_BLOCKS: i64 = 3;
/// Reviews kept of each file system: clients are read one after the other.
const REVIEWS_KEPT: usize = 2;
/// Standard errors of a 95% interval.
const ERRORS: f64 = 1.96;

/// What was found by looking back at a series.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct LookedBack {
    id: Option<EpisodeId>,
    /// First block that is looked at, and first one with a loss.
    since: i64,
    first: i64,
    /// Whether the job reached its level while nothing slowed it.
    is_known: bool,
    /// Up to which block it is not judged, since others lost something beside it.
    held: i64,
    /// Up to which block it is not judged, since it moved next to nothing of its level.
    trickled: i64,
}

impl Default for LookedBack {
    fn default() -> LookedBack {
        LookedBack {
            id: None,
            since: i64::MIN,
            first: i64::MAX,
            is_known: false,
            held: i64::MIN,
            trickled: i64::MIN,
        }
    }
}

impl Detector {
    /// Looks back from block `until` at what a client of a file system moved since its job started.
    pub(super) fn look_back(&mut self, series: SeriesIndex, mount: usize, until: i64) {
        let tick_s = self.settings.stream.tick_s;
        // A job that ended is looked at until its last block is.
        let time = evidence::begin_of(until - evidence::AWAITED, tick_s);
        let Some((job_id, start)) = self.job_here(series, time) else { return };
        self.review(mount, until);
        let Some(review) = self.reviews[mount].iter().find(|review| review.until == until) else { return };
        let job = (Taker::Job(job_id), self.series[series.at()].metric);
        let trickles = review.trickles.get(&job).cloned().unwrap_or_default();
        let seen = review.jobs.get(&job).cloned();
        let mut looked = self.past.get(&series).copied().unwrap_or_default();
        if looked.since < start {
            looked = LookedBack { since: start, ..LookedBack::default() };
        }
        self.leave_trickles(series, &trickles, &mut looked);
        let Some(mut seen) = seen else {
            self.past.insert(series, looked);
            return;
        };
        seen.unknown.extend(trickles);
        seen.unknown.sort_unstable();
        if looked.id.is_some() && until - looked.first >= evidence::KEPT_BLOCKS {
            // Its first block is forgotten: what follows is another episode.
            looked = LookedBack { id: None, since: until - AGAIN_BLOCKS, first: i64::MAX, ..looked };
        }
        seen.lost.retain(|block| block.number >= looked.since);
        let from = start.max(until - evidence::KEPT_BLOCKS);
        self.judge_back(series, &seen, &mut looked, [from, until]);
        self.leave_out_known(series, &mut seen, looked.id);
        self.note_unseen(series, &seen, looked.id);
        let span_s = SPAN_TICKS * tick_s;
        let lost_s: f64 = seen.lost.iter().map(|block| block.active * block.lost * span_s).sum();
        if lost_s >= LEAST_S || looked.id.is_some() {
            looked.first = seen.lost.first().map_or(looked.first, |block| block.number);
            let causes = self.causes_in_hindsight(series, time, &seen);
            let past = seen.past(looked.first, causes, tick_s);
            looked.id = Some(self.episodes.put_past(series, looked.id, past));
        }
        self.past.insert(series, looked);
    }

    /// The stream ended at `until`: its last blocks are looked at, too.
    pub(super) fn look_back_at_all(&mut self, until: Time) {
        let until = evidence::block_of(until, self.settings.stream.tick_s) + evidence::AWAITED;
        for at in 0..self.series.len() {
            if let Some(mount) = self.series[at].mount {
                self.look_back(SeriesIndex(at as u32), mount as usize, until);
            }
        }
    }

    /// The latest job on a client's node, and its first whole block.
    fn job_here(&self, series: SeriesIndex, time: Time) -> Option<(Name, i64)> {
        let node = &self.ingest.series()[series.at()].component;
        let job = self.jobs.on_node_at(self.node_of_jobs(node), time).max_by_key(|job| job.start)?;
        Some((job.job_id.clone(), evidence::block_of(job.start, self.settings.stream.tick_s) + 1))
    }

    /// Looks at all jobs of a file system, once for all its clients.
    fn review(&mut self, mount: usize, until: i64) {
        self.reviews.resize(self.mounts.len(), VecDeque::new());
        if self.reviews[mount].iter().any(|review| review.until == until) {
            return;
        }
        let tick_s = self.settings.stream.tick_s;
        let known = |id: &Name, metric: Metric| {
            let job = self.jobs.get(id);
            let start = job.map_or(i64::MIN, |job| evidence::block_of(job.start, tick_s) + 1);
            let earlier = job.and_then(|job| self.levels.of(mount, metric, job));
            Known { start, earlier, least_effect: self.settings.params[metric.at()].least_effect }
        };
        let losses = self.blocks_with_losses(mount, until);
        let review = self.traffic[mount].review(until, &losses, known);
        for ((taker, metric), seen) in review.jobs.iter().filter(|(_, seen)| seen.is_quiet) {
            if let Taker::Job(id) = taker
                && let Some(job) = self.jobs.get(id)
            {
                self.levels.learn(mount, *metric, job, &seen.level);
            }
        }
        let reviews = &mut self.reviews[mount];
        reviews.truncate(REVIEWS_KEPT - 1);
        reviews.push_front(review);
    }

    /// Blocks before `until` in which the model found losses of clients of a file system that others explain.
    fn blocks_with_losses(&self, mount: usize, until: i64) -> Losses {
        let tick_s = self.settings.stream.tick_s;
        let Some(clients) = self.clients.get(&self.mounts[mount]) else { return Losses::default() };
        let [from, to] = [until - evidence::KEPT_BLOCKS, until].map(|at| evidence::begin_of(at, tick_s));
        let share_of = |episode: &Episode, wanted: &[Cause]| {
            let by = episode.causes.iter().filter(|cause| wanted.contains(&cause.cause));
            by.map(|cause| cause.share).sum::<f64>()
        };
        let mut losses = Losses::default();
        for episode in self.episodes.between(clients, from, to) {
            // What hindsight found must not support itself.
            let is_of_hindsight = self.episodes.is_past(episode.id);
            if is_of_hindsight || share_of(episode, &[Cause::Server, Cause::OtherJob]) <= 0.5 {
                continue;
            }
            let is_of_servers = share_of(episode, &[Cause::Server]) > 0.5;
            let job = self.job_here(episode.series, episode.start).map(|(job, _)| job);
            for (begin, end) in episode.stretches_with_loss(LOSSY) {
                let blocks =
                    evidence::block_of(begin.max(from), tick_s)..=evidence::block_of(end.min(to), tick_s);
                for block in blocks.clone() {
                    let first = losses.all.entry(block).or_insert_with(|| job.clone());
                    if *first != job {
                        losses.of_several.insert(block);
                    }
                }
                if is_of_servers {
                    losses.to_servers.extend(blocks);
                }
            }
        }
        losses
    }

    /// Notes what slow servers may have cost a client without showing, beyond what was found.
    fn note_unseen(&mut self, series: SeriesIndex, seen: &Hindsight, past: Option<EpisodeId>) {
        let Some(unseen) = seen.unseen else { return };
        let tick_s = self.settings.stream.tick_s;
        let [from, to] = unseen.blocks.map(|block| evidence::begin_of(block, tick_s));
        let found = self.episodes.between(&[series], from, to);
        let others = found.iter().filter(|episode| Some(episode.id) != past);
        let known_s: f64 = others.map(|episode| episode.slowdown_between_s(from, to)).sum();
        let unseen_s = (unseen.lost * SPAN_TICKS * tick_s - known_s).max(0.0);
        self.coverage.unseen_between(series, from, to, unseen_s);
    }

    /// A job that reached its level while nothing slowed it is judged by that level, but where it lacks something that the
    /// others do not explain. One that never did may have lost more than shows while others lost something.
    fn judge_back(
        &mut self,
        series: SeriesIndex,
        seen: &Hindsight,
        looked: &mut LookedBack,
        [from, until]: [i64; 2],
    ) {
        let tick_s = self.settings.stream.tick_s;
        let at = |block: i64| evidence::begin_of(block, tick_s);
        looked.is_known |= seen.is_quiet;
        if !seen.is_quiet {
            for stretch in seen.lost_to_servers() {
                self.coverage.judged(series, at(*stretch.start()), at(stretch.end() + 1));
            }
            let mut others_lost = seen.contended.iter().filter(|block| **block > looked.held);
            if let Some(first) = others_lost.next().filter(|_| !looked.is_known) {
                looked.held = seen.contended.last().copied().unwrap_or(*first);
                if self.is_quiet(series, at(until)) {
                    self.coverage.unjudged_between(series, at(*first), at(looked.held + 1));
                } else {
                    self.coverage.hold(series, at(*first));
                }
            }
            return;
        }
        let mut begin = from;
        for end in seen.unknown.iter().copied().chain([until]) {
            if begin < end {
                self.coverage.judged(series, at(begin), at(end));
            }
            begin = begin.max(end + 1);
        }
    }

    /// Where the job moved next to nothing of its level, its series are not judged.
    fn leave_trickles(&mut self, series: SeriesIndex, trickles: &[i64], looked: &mut LookedBack) {
        let at = |block: i64| evidence::begin_of(block, self.settings.stream.tick_s);
        for block in trickles.iter().filter(|block| **block > looked.trickled) {
            self.coverage.unjudged_between(series, at(*block), at(block + 1));
        }
        looked.trickled = trickles.last().copied().unwrap_or(i64::MIN).max(looked.trickled);
    }

    /// What the model found in a block is left out.
    fn leave_out_known(&self, series: SeriesIndex, seen: &mut Hindsight, past: Option<EpisodeId>) {
        let tick_s = self.settings.stream.tick_s;
        let at = |block: i64| evidence::begin_of(block, tick_s);
        let (Some(first), Some(last)) = (seen.lost.first(), seen.lost.last()) else { return };
        let found = self.episodes.between(&[series], at(first.number), at(last.number + 1));
        for block in &mut seen.lost {
            let (from, to) = (at(block.number), at(block.number + 1));
            let others = found.iter().filter(|episode| Some(episode.id) != past);
            let known_s: f64 = others.map(|episode| episode.slowdown_between_s(from, to)).sum();
            block.lost -= known_s / (block.active * to.seconds_since(from));
            // A small loss is the mean of many blocks: it is no part of what the model found in one.
            block.is_small &= known_s == 0.0;
        }
        let least = seen.least;
        seen.lost.retain(|block| block.is_small || block.lost >= least);
    }

    fn causes_in_hindsight(&self, series: SeriesIndex, time: Time, seen: &Hindsight) -> Vec<CauseShare> {
        let own: Vec<_> = self.jobs_of(series, time).cloned().collect();
        let (mut by, mut by_server, mut all) = (BTreeMap::new(), 0.0, 0.0);
        for block in &seen.lost {
            let lost = block.active * block.lost;
            all += lost;
            by_server += if block.by_server { lost } else { 0.0 };
            for (taker, share) in block.takers.iter() {
                *by.entry(taker).or_insert(0.0) += share * lost;
            }
        }
        let named = by.into_iter().filter(|(_, taken)| *taken > LEAST_SHARE * all);
        let mut causes: Vec<CauseShare> =
            named.map(|(taker, taken)| self.cause_of(&own, taker, taken / all)).collect();
        if by_server > LEAST_SHARE * all {
            causes.push(self.cause_of_server(series, by_server / all));
        }
        causes
            .sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.series_or_job.cmp(&b.series_or_job)));
        causes
    }
}

impl Hindsight {
    /// The loss as an episode.
    fn past(&self, first: i64, causes: Vec<CauseShare>, tick_s: f64) -> Past {
        let span_s = SPAN_TICKS * tick_s;
        let begin = |block: i64| evidence::begin_of(block, tick_s);
        let (mut lost_s, mut kept_s, mut profile) = (0.0, 0.0, Vec::new());
        for block in &self.lost {
            profile.push(LossPoint { time: begin(block.number), slowdown_s: lost_s });
            lost_s += block.active * block.lost * span_s;
            // What slow servers cost is no comparison with the level.
            kept_s += if block.by_server { 0.0 } else { block.active * (1.0 - block.lost) * span_s };
            profile.push(LossPoint { time: begin(block.number + 1), slowdown_s: lost_s });
        }
        profile.dedup();
        while profile.len() > PROFILE_POINTS_MAX {
            let mut index = profile.len();
            profile.retain(|_| {
                index -= 1;
                index % 2 == 0
            });
        }
        let error_s = ERRORS * self.level.error * kept_s + self.unsure * span_s;
        // An earlier run may have been another one: the loss is suspected only.
        let half_width_s = if self.is_of_earlier_run() { error_s.max(lost_s) } else { error_s };
        let most = self.lost.iter().map(|block| block.lost).fold(0.0, f64::max);
        Past {
            start: begin(first),
            peak: self.level.rate * (1.0 - most),
            baseline: self.level.rate,
            profile,
            half_width_s,
            causes,
        }
    }
}
