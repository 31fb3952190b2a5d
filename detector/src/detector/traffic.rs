//! What the clients of a file system moved, block by block.

use super::Detector;
use crate::evidence::{self, ByClients, Mount, Mover, SPAN_TICKS, Taker, Traffic};
use crate::spells::Spells;
use schemas::{SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Least share of a block's ticks that must have been seen for the block to count.
const SEEN_SHARE: f64 = 0.7;

/// What a client moved in the latest block that was seen.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct LastMoved {
    block: i64,
    bytes_per_s: f32,
    active_ticks: f32,
}

impl Default for LastMoved {
    fn default() -> LastMoved {
        LastMoved { block: i64::MIN, bytes_per_s: 0.0, active_ticks: 0.0 }
    }
}

impl Detector {
    /// Notes what each job moved in the blocks of a file system that were over at `until`.
    pub(super) fn note_traffic(&mut self, mount: usize, until: Time) {
        let tick_s = self.settings.stream.tick_s;
        let mut traffic = std::mem::take(&mut self.traffic[mount]);
        for block in traffic.missing(until, tick_s) {
            traffic.note(block, &self.rates_in(mount, block));
        }
        traffic.due = evidence::begin_of(evidence::block_of(until, tick_s) + 1, tick_s);
        self.traffic[mount] = traffic;
    }

    /// The stream ended at `until`: the last blocks are noted.
    pub(super) fn note_all_traffic(&mut self, until: Time) {
        (0..self.mounts.len()).for_each(|mount| self.note_traffic(mount, until));
    }

    /// What each moved in a block, by job, or by client where no job is known, and metric: bytes a second, and ticks of activity.
    fn rates_in(&mut self, mount: usize, block: i64) -> BTreeMap<Mover, [f64; 2]> {
        let clients: Vec<SeriesIndex> = self.clients.get(&self.mounts[mount]).cloned().unwrap_or_default();
        let mut rates = BTreeMap::new();
        for (mover, [rate, ticks]) in clients.into_iter().filter_map(|client| self.moved(client, block)) {
            let sum: &mut [f64; 2] = rates.entry(mover).or_default();
            *sum = [sum[0] + rate, sum[1] + ticks];
        }
        self.add_unseen(mount, block, &mut rates);
        rates
    }

    /// Adds what jobs moved that no client works for, by what the servers count.
    fn add_unseen(&mut self, mount: usize, block: i64, rates: &mut BTreeMap<Mover, [f64; 2]>) {
        let ticks = [block, block + 1].map(|block| block * SPAN_TICKS as i64);
        self.settle_served(ticks[1]);
        let mount = self.mounts[mount].clone();
        let Some(mut served) = self.served.remove(&mount) else { return };
        let tick_s = self.settings.stream.tick_s;
        let middle = evidence::begin_of(block, tick_s).plus_seconds(SPAN_TICKS / 2.0 * tick_s);
        let mut clients = ByClients::default();
        for client in self.clients.get(&mount).into_iter().flatten() {
            if let Taker::Job(job) = self.taker_of(*client, middle) {
                clients.jobs.insert(job, false);
            }
        }
        for ((taker, _), [rate, _]) in rates.iter() {
            match taker {
                Taker::Job(job) => _ = clients.jobs.insert(job.clone(), true),
                Taker::Client(_) => clients.without_job += rate,
            }
        }
        for ((job, metric), rate) in served.unseen(ticks, &clients) {
            rates.insert((Taker::Job(job), metric), [rate, SPAN_TICKS]);
        }
        self.served.insert(mount, served);
    }

    /// What a client moved in a block. One whose rows are missing counts as it last moved while its job runs: what was not
    /// seen is no absence, and what is seen again is no gain.
    fn moved(&mut self, series: SeriesIndex, block: i64) -> Option<(Mover, [f64; 2])> {
        let tick_s = self.settings.stream.tick_s;
        let begin_of = |block| evidence::begin_of(block, tick_s);
        let middle_of = |block| begin_of(block).plus_seconds(SPAN_TICKS / 2.0 * tick_s);
        // Half a tick later, so that the jitter of the timestamps moves nothing across an end.
        let [from, to] = [begin_of(block), begin_of(block + 1)].map(|time| time.plus_seconds(tick_s / 2.0));
        let slot = self.series[series.at()];
        let taker = self.taker_of(series, middle_of(block));
        if self.coverage.completeness(series, from, to, tick_s) >= SEEN_SHARE {
            let [rate, ticks] = self.banks[slot.metric.at()].moved_between(slot.number as usize, from, to);
            let last = LastMoved { block, bytes_per_s: rate as f32, active_ticks: ticks as f32 };
            self.series[series.at()].last_moved = last;
            return (rate > 0.0).then_some(((taker, slot.metric), [rate, ticks]));
        }
        let last = slot.last_moved;
        let is_recent = last.block > block - evidence::KEPT_BLOCKS && last.bytes_per_s > 0.0;
        let continues = is_recent && self.taker_of(series, middle_of(last.block)) == taker;
        continues.then(|| ((taker, slot.metric), [last.bytes_per_s, last.active_ticks].map(f64::from)))
    }

    /// Uses rows of servers up to a tick before the stream's own: a client whose clock is ahead makes no row late.
    pub(super) fn settle_served(&mut self, until: i64) {
        let newest = self.newest().map(|newest| newest.seconds() / self.settings.stream.tick_s);
        let until = newest.map_or(until, |newest| until.min(newest.round() as i64 - 1));
        for rate in self.ingest.settle_served(until) {
            let mount = (rate.metric.resource(), rate.mount.clone());
            self.served.entry(mount).or_default().add(&rate);
        }
    }

    /// The job of a client at `time`, or else the client.
    pub(super) fn taker_of(&self, series: SeriesIndex, time: Time) -> Taker {
        let job = self.jobs_of(series, time).next();
        job.map_or(Taker::Client(series), |job| Taker::Job(job.clone()))
    }

    /// The index of a file system among those that are followed.
    pub(super) fn mount_at(&mut self, mount: &Mount) -> u32 {
        let known = self.mounts.iter().position(|known| known == mount);
        let at = known.unwrap_or_else(|| {
            self.mounts.push(mount.clone());
            self.traffic.push(Traffic::default());
            self.spells.push(Spells::default());
            self.mounts.len() - 1
        });
        at as u32
    }
}
