//! Who took what a contended client loses, block by block: the causes of an episode follow what happens while it lasts.

use super::Detector;
use crate::evidence::{self, Mover, Taker, Traffic};
use schemas::{Cause, CauseShare, Episode, EpisodeId, SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Jobs that are remembered for an episode, and causes that are named.
const TAKERS_MAX: usize = 64;
const NAMED_MAX: usize = 16;
/// Relative error of a baseline that was learnt beside others: they may have slowed the series a little then, too.
const BESIDE_OTHERS: f64 = 0.05;
/// Seconds by which the clock of a client may be ahead of the stream without its readings being left out here.
const AHEAD_S: f64 = 60.0;

/// What is known so far of who took the loss of an episode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Takings {
    episode: EpisodeId,
    own: Mover,
    /// Quiet blocks of the series, which others are compared with.
    reference: Vec<i64>,
    /// The block that is looked at next.
    next: i64,
    /// Causes by the onset alone: they count for what no block explains yet.
    onset: Vec<CauseShare>,
    /// Seconds lost in the blocks so far, in all and by who took them.
    lost_s: f64,
    by: BTreeMap<Taker, f64>,
}

impl Detector {
    /// Follows who takes the loss of the episode of `series` that has just begun with the causes `onset`.
    pub(super) fn follow_takers(&mut self, series: SeriesIndex, onset: Vec<CauseShare>) {
        let slot = self.series[series.at()];
        let (tick_s, table) = (self.settings.stream.tick_s, &self.episodes);
        let Some((mount, episode)) = slot.mount.zip(table.latest(series)) else { return };
        let own = (self.taker_of(series, episode.start), slot.metric);
        let at = |block: i64| evidence::begin_of(block, tick_s);
        let oldest = episode.start.plus_seconds(-evidence::KEPT_TICKS * tick_s);
        let earlier = table.between(&[series], oldest, episode.start);
        let is_quiet = |block: i64| {
            let (from, to) = (at(block), at(block + 1));
            to <= episode.start
                && earlier.iter().all(|e| e.id == episode.id || e.start >= to || e.end <= from)
        };
        let next = evidence::block_of(episode.start, tick_s);
        let reference = self.traffic[mount as usize].reference(&own, next + 1, is_quiet);
        if !self.traffic[mount as usize].is_alone(&own, &reference) {
            self.banks[slot.metric.at()].doubt_baseline(slot.number as usize, BESIDE_OTHERS);
        }
        let takings =
            Takings { episode: episode.id, own, reference, next, onset, lost_s: 0.0, by: BTreeMap::new() };
        let is_comparable = !takings.reference.is_empty();
        self.keep_takings(series, is_comparable.then_some(takings));
    }

    /// Replaces what is followed of a series.
    fn keep_takings(&mut self, series: SeriesIndex, takings: Option<Takings>) {
        self.series[series.at()].takings_next = takings.as_ref().map_or(i64::MAX, |takings| takings.next);
        match takings {
            Some(takings) => _ = self.takings.insert(series, takings),
            None => _ = self.takings.remove(&series),
        }
    }

    /// A reading of a client of a file system arrived: blocks that are over are noted, and looked at.
    pub(super) fn follow_traffic(&mut self, series: SeriesIndex, mount: u32, time: Time) {
        let until = time.plus_seconds(-self.known_after_s());
        if until >= self.traffic[mount as usize].due {
            let is_ahead = self.newest().is_some_and(|newest| time.seconds_since(newest) > AHEAD_S);
            if !is_ahead {
                self.note_traffic(mount as usize, until);
            }
        }
        let over = evidence::block_of(until, self.settings.stream.tick_s);
        if over > self.series[series.at()].takings_next {
            self.look_at_blocks(series, mount as usize, over);
        }
        if over > self.series[series.at()].looked_back {
            self.series[series.at()].looked_back = over;
            self.look_back(series, mount as usize, over);
        }
    }

    /// The stream ended at `until`: what is left of all episodes is looked at.
    pub(super) fn look_at_all_blocks(&mut self, until: Time) {
        let over = evidence::block_of(until, self.settings.stream.tick_s);
        let followed: Vec<SeriesIndex> = self.takings.keys().copied().collect();
        for series in followed {
            if let Some(mount) = self.series[series.at()].mount {
                self.look_at_blocks(series, mount as usize, over);
            }
        }
    }

    /// Looks at the blocks before `over`.
    fn look_at_blocks(&mut self, series: SeriesIndex, mount: usize, over: i64) {
        if over <= self.series[series.at()].takings_next {
            return;
        }
        let tick_s = self.settings.stream.tick_s;
        let taken = self.takings.remove(&series);
        self.series[series.at()].takings_next = i64::MAX;
        let Some(mut takings) = taken else { return };
        let Some(episode) = self.episodes.get(takings.episode) else { return };
        let (is_open, last) = (episode.open, evidence::block_of(episode.end, tick_s));
        let end = if is_open { over } else { over.min(last + 1) };
        if takings.next < end {
            for block in takings.next..end {
                takings.look_at(&self.traffic[mount], episode, block, tick_s);
            }
            takings.next = end;
            let causes = self.causes_by(series, &takings);
            self.episodes.explain(takings.episode, causes);
        }
        if is_open || takings.next <= last {
            self.keep_takings(series, Some(takings));
        }
    }

    /// Causes by the blocks so far, and by the onset for the rest of the loss.
    fn causes_by(&self, series: SeriesIndex, takings: &Takings) -> Vec<CauseShare> {
        let Some(episode) = self.episodes.get(takings.episode) else { return Vec::new() };
        let all_s = episode.slowdown_s.max(takings.lost_s);
        if all_s <= 0.0 {
            return takings.onset.clone();
        }
        let own: Vec<_> = self.jobs_of(series, episode.start).cloned().collect();
        let taken_s: f64 = takings.by.values().sum();
        let mut causes: Vec<CauseShare> = Vec::new();
        let mut add = |cause: CauseShare| {
            let is_same = |known: &&mut CauseShare| {
                (known.cause, known.kind, &known.series_or_job)
                    == (cause.cause, cause.kind, &cause.series_or_job)
            };
            match causes.iter_mut().find(is_same) {
                Some(known) => known.share += cause.share,
                None if cause.share > 0.0 => causes.push(cause),
                None => {}
            }
        };
        for (taker, lost_s) in &takings.by {
            add(self.cause_of(&own, taker, lost_s / all_s));
        }
        let later = (all_s - takings.lost_s) / all_s;
        let unexplained = (takings.lost_s - taken_s).max(0.0) / all_s;
        for cause in &takings.onset {
            let by_server = if cause.cause == Cause::Server { unexplained } else { 0.0 };
            add(CauseShare { share: cause.share * later + by_server, ..cause.clone() });
        }
        causes
            .sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.series_or_job.cmp(&b.series_or_job)));
        causes.truncate(NAMED_MAX);
        causes
    }
}

impl Takings {
    /// Who took something.
    pub(super) fn takers(&self) -> impl Iterator<Item = &Taker> {
        self.by.keys()
    }

    /// Adds who took what `episode` lost in a block.
    fn look_at(&mut self, traffic: &Traffic, episode: &Episode, block: i64, tick_s: f64) {
        let [from, to] = [block, block + 1].map(|block| evidence::begin_of(block, tick_s));
        let lost_s = episode.slowdown_between_s(from, to);
        let seconds = to.min(episode.end).seconds_since(from.max(episode.start));
        let Some(moment) = traffic.moment(&self.own, &self.reference, block) else { return };
        if lost_s <= 0.0 || seconds <= 0.0 {
            return;
        }
        self.lost_s += lost_s;
        let shares = moment.shares((lost_s / seconds).min(1.0));
        self.add(shares.map(|(taker, share)| (taker, share * lost_s)).collect());
    }

    /// Adds what was `taken`, in the order of the takers. Thousands may take a little in one block: only those that took most in
    /// all are kept, and only their names are copied.
    fn add(&mut self, taken: Vec<(&Taker, f64)>) {
        let known = std::mem::take(&mut self.by);
        let of_block = taken.len();
        let mut taken: Vec<(&Taker, f64)> = taken;
        for (taker, lost_s) in &known {
            match taken[..of_block].binary_search_by(|(other, _)| (*other).cmp(taker)) {
                Ok(at) => taken[at].1 += lost_s,
                Err(_) => taken.push((taker, *lost_s)),
            }
        }
        if taken.len() > TAKERS_MAX {
            let most_first = |a: &(&Taker, f64), b: &(&Taker, f64)| b.1.total_cmp(&a.1).then(b.0.cmp(a.0));
            taken.select_nth_unstable_by(TAKERS_MAX, most_first);
            taken.truncate(TAKERS_MAX);
        }
        self.by = taken.into_iter().map(|(taker, lost_s)| (taker.clone(), lost_s)).collect();
    }
}
