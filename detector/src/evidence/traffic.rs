//! What each job moved on a file system of late, in blocks of ten ticks, and which jobs took in a block what another lost.
//!
//! Blame by conservation: a block's loss was taken as far as others move more than while the victim ran quiet, against what the
//! victim and the others that fell lack. All that did not fall share it by what they move: without any of them, those that wait
//! would have more. What came in a pause of the victim is seen, too.

use super::taken::{ALL_TAKEN, LEAST_TAKEN, Taker};
use super::{STOPPED_SHARE, SURE_CHANGE};
use schemas::{Metric, Name, SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// Ticks of a block.
pub const SPAN_TICKS: f64 = 10.0;
/// Blocks that are kept: 21 minutes.
const KEPT: usize = 128;
/// Blocks that are looked at. Clients are read one after the other: one that is ahead has noted blocks that another must
/// not see yet.
pub const KEPT_BLOCKS: i64 = 120;
/// Ticks that are looked at.
pub const KEPT_TICKS: f64 = KEPT_BLOCKS as f64 * SPAN_TICKS;
/// Quiet blocks of a victim that others are compared with: about the readings of its baseline.
const REFERENCE: usize = 13;
/// Part of a job's rate up to which the others count as absent.
pub(super) const ABSENT_SHARE: f64 = 0.05;
/// Part of its largest rate that a job must have moved in a block for it to have been active in it.
const ACTIVE_SHARE: f64 = 0.5;
/// Blocks up to which a pause does not end a trickle.
const PAUSE_BLOCKS: usize = 6;
/// Consecutive blocks that make a level.
pub(super) const LEVEL_BLOCKS: usize = 3;

/// Who moves something, and by what metric.
pub type Mover = (Taker, Metric);

/// Rates by job, or by client where no job is known, and metric.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Traffic {
    /// The block that is noted next, counted since the epoch.
    next: Option<i64>,
    rates: BTreeMap<Taker, Vec<(Metric, Rates)>>,
    /// What all moved together.
    total: Vec<f32>,
    /// When the next block is over and all its rows have arrived.
    pub due: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rates {
    /// Bytes a second, block `b` at `b` modulo [`KEPT`].
    of: Vec<f32>,
    /// Ticks of activity in a block, all clients of a job together; empty of a client.
    ticks: Vec<f32>,
    last_active: i64,
    /// The most that an active client of the job moved in [`LEVEL_BLOCKS`] blocks, in bytes a second: while the job is kept.
    held: f32,
}

/// What happened in a block, seen by one job.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment<'a> {
    /// Other jobs that do not lack something themselves, and their weights. Without a job, those that wait would share all that it
    /// moves, whether it came or was there before. Where counts differ in cost, what is moved is no share: then these are the jobs that move more than in the reference,
    /// by the geometric mean of that and of all that they move.
    pub takers: Vec<(&'a Taker, f64)>,
    /// What jobs move more than in the reference, all together: it shows that the loss was taken.
    pub gained: f64,
    /// What others lack that did not stop.
    pub lost_by_others: f64,
    /// What the job itself moved in the reference.
    pub own_before: f64,
    /// How many times as much as one of its counts one of the others' may cost.
    pub cost: f64,
}

impl Default for Traffic {
    fn default() -> Traffic {
        Traffic { next: None, rates: BTreeMap::new(), total: vec![0.0; KEPT], due: Time::MIN }
    }
}

impl Traffic {
    /// Blocks that are over at `time` and not noted yet, at most the latest ones that are kept.
    pub fn missing(&self, time: Time, tick_s: f64) -> std::ops::Range<i64> {
        let until = block_of(time, tick_s);
        self.next.unwrap_or(until - 1).max(until - KEPT as i64)..until
    }

    /// Notes what each moved in `block`: bytes a second, and ticks of activity of all its clients.
    pub fn note(&mut self, block: i64, rates: &BTreeMap<Mover, [f64; 2]>) {
        let first = self.next.unwrap_or(block).max(block - KEPT as i64 + 1);
        for skipped in first..=block {
            self.rates.values_mut().flatten().for_each(|(_, known)| known.forget(skipped));
            self.total[slot(skipped)] = 0.0;
        }
        for (mover, [rate, ticks]) in rates.iter().filter(|(_, [rate, _])| *rate > 0.0) {
            let known = self.rates_of(mover, block);
            known.of[slot(block)] = *rate as f32;
            if let Some(known) = known.ticks.get_mut(slot(block)) {
                *known = *ticks as f32;
            }
            known.last_active = block;
            known.hold(block);
            self.total[slot(block)] += *rate as f32;
        }
        self.rates.retain(|_, of_taker| {
            of_taker.retain(|(_, known)| block - known.last_active < KEPT as i64);
            !of_taker.is_empty()
        });
        self.next = Some(block + 1);
    }

    /// The rates of one that moves something in `block`.
    fn rates_of(&mut self, (taker, metric): &Mover, block: i64) -> &mut Rates {
        let of_taker = self.rates.entry(taker.clone()).or_default();
        let at = of_taker.binary_search_by_key(metric, |(known, _)| *known).unwrap_or_else(|at| {
            of_taker.insert(at, (*metric, Rates::new(taker, block)));
            at
        });
        &mut of_taker[at].1
    }

    fn known(&self, (taker, metric): &Mover) -> Option<&Rates> {
        self.rates.get(taker)?.iter().find(|(known, _)| known == metric).map(|(_, rates)| rates)
    }

    /// Forgets clients that were not seen for long.
    pub fn forget(&mut self, gone: &HashSet<SeriesIndex>) {
        let is_gone = |taker: &Taker| matches!(taker, Taker::Client(series) if gone.contains(series));
        self.rates.retain(|taker, _| !is_gone(taker));
    }

    /// Blocks from `since` on that are looked at before block `until`; none before the first that was noted.
    pub(super) fn blocks(&self, since: i64, until: i64) -> std::ops::Range<i64> {
        since.max(until - KEPT_BLOCKS)..self.next.map_or(since, |next| next.min(until))
    }

    /// Jobs that moved something in the blocks that are kept, by metric.
    pub(super) fn jobs(&self) -> impl Iterator<Item = (Mover, &Name)> {
        let jobs = self.rates.iter().filter_map(|(taker, rates)| match taker {
            Taker::Job(job) => Some((taker, job, rates)),
            Taker::Client(_) => None,
        });
        let movers = |(taker, job, rates)| {
            let of_job: &Vec<(Metric, Rates)> = rates;
            of_job
                .iter()
                .map(move |(metric, _)| (Taker::clone(taker), *metric))
                .map(move |mover| (mover, job))
        };
        jobs.flat_map(movers)
    }

    /// What all moved together in a block that is kept.
    pub(super) fn total(&self, block: i64) -> f64 {
        f64::from(self.total[slot(block)])
    }

    /// What one moved by a metric in a block that is kept.
    pub(super) fn rate(&self, mover: &Mover, block: i64) -> f64 {
        self.known(mover).map_or(0.0, |known| known.at(block))
    }

    /// What all but one moved in a block that is kept, by whatever metric.
    pub(super) fn others(&self, own: &Taker) -> impl Fn(i64) -> f64 {
        let of_own: &[(Metric, Rates)] = self.rates.get(own).map_or(&[], Vec::as_slice);
        move |block| {
            let own: f64 = of_own.iter().map(|(_, rates)| rates.at(block)).sum();
            (self.total(block) - own).max(0.0)
        }
    }

    /// Ticks of activity in it.
    pub(super) fn active_ticks(&self, mover: &Mover, block: i64) -> f64 {
        let ticks = self.known(mover).and_then(|known| known.ticks.get(slot(block)));
        ticks.map_or(0.0, |ticks| f64::from(*ticks))
    }

    /// Blocks in which a job moved next to nothing of what it once held, and no other job anything that matters beside that:
    /// it does other work then, or its node is slow. Short pauses between them belong to them.
    pub(super) fn trickles(&self, own: &Mover, since: i64, until: i64) -> Vec<i64> {
        let Some(rates) = self.known(own) else { return Vec::new() };
        let (held, others) = (f64::from(rates.held), self.others(&own.0));
        let is_trickle = |block: &i64| {
            let moved = rates.of_client(*block);
            moved > 0.0 && moved < STOPPED_SHARE * held && others(*block) <= ABSENT_SHARE * held
        };
        let (mut trickles, mut pause) = (Vec::new(), None);
        for block in self.blocks(since, until) {
            if is_trickle(&block) {
                let pause = pause.replace(Vec::new()).filter(|pause| pause.len() <= PAUSE_BLOCKS);
                trickles.extend(pause.into_iter().flatten());
                trickles.push(block);
            } else if rates.at(block) > 0.0 {
                pause = None;
            } else if let Some(pause) = &mut pause {
                pause.push(block);
            }
        }
        trickles
    }

    /// The latest blocks before `until` in which `own` was active and which `is_quiet` allows, the latest first.
    pub fn reference(&self, own: &Mover, until: i64, is_quiet: impl Fn(i64) -> bool) -> Vec<i64> {
        let Some(own) = self.known(own) else { return Vec::new() };
        let quiet: Vec<i64> = self.blocks(i64::MIN, until).rev().filter(|block| is_quiet(*block)).collect();
        let most = quiet.iter().map(|block| own.at(*block)).fold(0.0, f64::max);
        let is_active = |block: &i64| most > 0.0 && own.at(*block) >= ACTIVE_SHARE * most;
        quiet.into_iter().filter(is_active).take(REFERENCE).collect()
    }

    /// Whether others moved next to nothing in `reference`, so that `own` moved all that it wanted.
    pub fn is_alone(&self, own: &Mover, reference: &[i64]) -> bool {
        let others = self.others(&own.0);
        let sums = reference.iter().map(|block| (self.rate(own, *block), others(*block)));
        let (own, others) = sums.fold((0.0, 0.0), |sum, rates| (sum.0 + rates.0, sum.1 + rates.1));
        own > 0.0 && others <= ABSENT_SHARE * own
    }

    /// How the jobs other than that of `own` changed from `reference` to `block`, or from nothing without a reference; `None` where
    /// these blocks are not kept.
    pub fn moment(&self, own: &Mover, reference: &[i64], block: i64) -> Option<Moment<'_>> {
        let kept: Vec<i64> = reference.iter().copied().filter(|at| *at > block - KEPT_BLOCKS).collect();
        let is_forgotten = kept.is_empty() && !reference.is_empty();
        let is_kept = |next: i64| (next - KEPT as i64..next).contains(&block);
        if is_forgotten || !self.next.is_some_and(is_kept) {
            return None;
        }
        let cost = own.1.cost_range();
        let mut moment =
            Moment { takers: Vec::new(), gained: 0.0, lost_by_others: 0.0, own_before: 0.0, cost };
        let slots: Vec<usize> = kept.iter().map(|block| slot(*block)).collect();
        let mean = |rates: &Rates| {
            slots.iter().map(|slot| f64::from(rates.of[*slot])).sum::<f64>() / slots.len().max(1) as f64
        };
        moment.own_before = self.known(own).map_or(0.0, mean);
        let of_own = self.rates.get_key_value(&own.0).map(|(taker, _)| taker);
        // What it moves by another metric instead is no gain.
        let others =
            self.rates.iter().filter(|(taker, _)| of_own.is_none_or(|own| !std::ptr::eq(own, *taker)));
        for (taker, rates) in others {
            let sums = rates.iter().map(|(_, rates)| [mean(rates), rates.at(block)]);
            let [before, now] =
                sums.fold([0.0; 2], |sum, of_metric| [sum[0] + of_metric[0], sum[1] + of_metric[1]]);
            moment.add(taker, before, now, own.1.is_alike());
        }
        Some(moment)
    }
}

impl<'a> Moment<'a> {
    /// Adds another job that moved `before` in the reference and moves `now`.
    fn add(&mut self, taker: &'a Taker, before: f64, now: f64, is_alike: bool) {
        let change = now - before;
        let has_gained = change > SURE_CHANGE * before;
        if has_gained {
            self.gained += change;
        } else if change < -SURE_CHANGE * before && now > STOPPED_SHARE * before {
            self.lost_by_others -= change;
            return;
        }
        if now > 0.0 && (is_alike || has_gained) {
            self.takers.push((taker, if is_alike { now } else { (change * now).sqrt() }));
        }
    }

    /// Shares of the loss of a job that lacks the part `lost` of its rate, by who took it. They add up to 1 where the others
    /// took all of it.
    pub fn shares(&self, lost: f64) -> impl Iterator<Item = (&'a Taker, f64)> {
        let lost = self.lost_by_others + lost * self.own_before;
        let taken = self.gained * self.cost;
        let whole = if taken < ALL_TAKEN * lost { lost / self.cost } else { self.gained };
        let explains = taken >= LEAST_TAKEN[0] * lost && whole > 0.0;
        let each = self.gained / whole / self.takers.iter().map(|(_, weight)| weight).sum::<f64>();
        self.takers.iter().filter(move |_| explains).map(move |(taker, weight)| (*taker, each * weight))
    }
}

impl Rates {
    fn new(taker: &Taker, block: i64) -> Rates {
        let ticks = if matches!(taker, Taker::Job(_)) { vec![0.0; KEPT] } else { Vec::new() };
        Rates { of: vec![0.0; KEPT], ticks, last_active: block, held: 0.0 }
    }

    fn forget(&mut self, block: i64) {
        self.of[slot(block)] = 0.0;
        if let Some(ticks) = self.ticks.get_mut(slot(block)) {
            *ticks = 0.0;
        }
    }

    fn at(&self, block: i64) -> f64 {
        f64::from(self.of[slot(block)])
    }

    /// What an active client moved, in bytes a second; 0 where none was active.
    fn of_client(&self, block: i64) -> f64 {
        let ticks = self.ticks.get(slot(block)).copied().unwrap_or_default();
        if ticks > 0.0 { self.at(block) * SPAN_TICKS / f64::from(ticks) } else { 0.0 }
    }

    /// Notes the level that the blocks up to `block` hold.
    fn hold(&mut self, block: i64) {
        let blocks = block + 1 - LEVEL_BLOCKS as i64..=block;
        let rates = blocks
            .map(|block| self.of_client(block))
            .fold([f64::INFINITY, 0.0], |[least, sum], rate| [least.min(rate), sum + rate]);
        if rates[0] > 0.0 {
            self.held = self.held.max((rates[1] / LEVEL_BLOCKS as f64) as f32);
        }
    }
}

fn slot(block: i64) -> usize {
    block.rem_euclid(KEPT as i64) as usize
}

/// The block in which `time` lies.
pub fn block_of(time: Time, tick_s: f64) -> i64 {
    (time.seconds() / (SPAN_TICKS * tick_s)).floor() as i64
}

/// Begin of a block.
pub fn begin_of(block: i64, tick_s: f64) -> Time {
    Time::from_seconds(block as f64 * SPAN_TICKS * tick_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: &str) -> Mover {
        let metric = Metric::from_name("lustre_write_rate").unwrap();
        (Taker::Job(Name::parse(number).unwrap()), metric)
    }

    /// Notes blocks from `first` on; one list of rates for each.
    fn traffic(first: i64, blocks: &[&[(&str, f64)]]) -> Traffic {
        let mut traffic = Traffic::default();
        for (at, rates) in blocks.iter().enumerate() {
            let rates = rates.iter().map(|(id, rate)| (job(id), [*rate, SPAN_TICKS])).collect();
            traffic.note(first + at as i64, &rates);
        }
        traffic
    }

    #[test]
    fn job_that_came_in_a_pause_of_the_victim_is_blamed() {
        let quiet: &[(&str, f64)] = &[("1", 100.0)];
        let came: &[(&str, f64)] = &[("2", 100.0)];
        let both: &[(&str, f64)] = &[("1", 50.0), ("2", 50.0)];
        let traffic = traffic(1_000, &[quiet, quiet, came, came, both]);
        let reference = traffic.reference(&job("1"), 1_004, |_| true);
        assert_eq!(reference, [1_001, 1_000]);
        let moment = traffic.moment(&job("1"), &reference, 1_004).unwrap();
        assert_eq!(moment.shares(0.5).collect::<Vec<_>>(), [(&job("2").0, 1.0)]);
    }

    #[test]
    fn those_that_do_not_fall_share_what_is_taken() {
        let before: &[(&str, f64)] = &[("1", 100.0), ("2", 100.0), ("4", 50.0)];
        let after: &[(&str, f64)] = &[("1", 50.0), ("2", 50.0), ("3", 50.0), ("4", 50.0)];
        let traffic = traffic(7, &[before, after]);
        let moment = traffic.moment(&job("1"), &[7], 8).unwrap();
        assert_eq!(moment.shares(0.5).collect::<Vec<_>>(), [(&job("3").0, 0.25), (&job("4").0, 0.25)]);
    }

    #[test]
    fn small_gains_explain_nothing_and_old_blocks_are_forgotten() {
        let mut traffic = traffic(7, &[&[("1", 100.0)], &[("1", 50.0), ("2", 4.0)]]);
        assert_eq!(traffic.moment(&job("1"), &[7], 8).unwrap().shares(0.5).count(), 0);
        traffic.note(8 + KEPT as i64, &BTreeMap::new());
        assert_eq!(traffic.moment(&job("1"), &[7], 8), None);
        assert!(traffic.rates.is_empty());
    }

    #[test]
    fn next_to_nothing_of_the_level_is_a_trickle_while_others_move_nothing() {
        let level: &[(&str, f64)] = &[("1", 100.0)];
        let trickle: &[(&str, f64)] = &[("1", 1.0)];
        let beside: &[(&str, f64)] = &[("1", 1.0), ("2", 50.0)];
        let half: &[(&str, f64)] = &[("1", 50.0)];
        let none: &[(&str, f64)] = &[];
        let before = [trickle, level, level, level, none, trickle, none, trickle];
        let after = [beside, none, half, none, trickle];
        let traffic = traffic(7, &[before.as_slice(), &after].concat());
        assert_eq!(traffic.trickles(&job("1"), i64::MIN, 20), [7, 12, 13, 14, 19]);
        assert_eq!(traffic.trickles(&job("2"), i64::MIN, 20), Vec::<i64>::new());
    }
}
