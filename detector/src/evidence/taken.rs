//! What clients took, against what the others lost.
//!
//! A job is to blame for as much as it took: the rise of its rate from just before the fall until after it, against
//! the fall of all others in bytes a second. The rest of the loss has another cause: the
//! server became slower, if its clients fell together.

use super::{BLOCKS, STOPPED_SHARE, SURE_CHANGE};
use schemas::{Metric, Name, SeriesIndex};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Part of the largest fall by which a block before the fall is known to lie before it: dates are a few ticks off.
const BEFORE_THE_FALL: f64 = 0.8;
/// Part of what was lost below which the gains of all others are chance: of those that rose with the fall, and of those
/// that rose some seconds before it. A server takes in what it can before it serves others worse.
pub(super) const LEAST_TAKEN: [f64; 2] = [0.1, 0.5];
/// Part of what was lost from which the gains of others explain all of it: both are measured with noise.
pub(super) const ALL_TAKEN: f64 = 0.9;
/// Part of the clients that wrote before that must rise for them to share what one left.
const ALL_ROSE: f64 = 0.8;
/// Jobs or clients that are named at most.
pub(super) const NAMED_MAX: usize = 16;

/// The source that took: a job, or a client of no known job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Taker {
    /// A job.
    Job(Name),
    /// A client.
    Client(SeriesIndex),
}

/// How one client changed, in the metric's unit.
pub(super) struct Change {
    pub(super) client: SeriesIndex,
    pub(super) metric: Metric,
    pub(super) taker: Taker,
    /// Mean rates in the blocks before the fall, the latest first; `None` where the client was not seen.
    pub(super) before: [Option<f64>; BLOCKS],
    /// The same some ticks earlier: a client that takes may rise that long before the others fall.
    pub(super) earlier: [Option<f64>; BLOCKS],
    /// Mean rate after the fall, and from the first reading after it.
    pub(super) after: f64,
    pub(super) level: f64,
    /// Relative change that is no noise.
    pub(super) sure: f64,
}

/// What all clients of a file system gained and lost at one fall.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    /// By rates just before the fall, and by the least ones of some blocks before it.
    gains: [Gains; 2],
    /// Rates just before the fall and after it, by job or client.
    rates: BTreeMap<Taker, (f64, f64)>,
    /// What clients lost that did not stop.
    lost: f64,
    /// How many times as much as the others' one of those that gained may cost.
    cost: f64,
}

/// What clients gained against their rates at some time before the fall.
#[derive(Clone, Debug, Default)]
struct Gains {
    /// By job or client: what its clients gained, and what they lost.
    of: BTreeMap<Taker, (f64, f64)>,
    /// The same by metric.
    by_metric: BTreeMap<(Taker, Metric), (f64, f64)>,
    /// Gains of the clients that gained more than they lost, the largest first.
    takers: Vec<(Taker, f64)>,
    took: f64,
    /// Clients that rose.
    risen: BTreeSet<SeriesIndex>,
}

impl Taken {
    /// Compares rates after the fall with those before it; what was gained may cost so many times what was lost.
    pub(super) fn of(changes: &[Change], cost: f64) -> Taken {
        let block = latest_before(changes);
        let lost = |change: &Change| change.at(block).map_or(0.0, |before| change.lost(before));
        let gains = [
            Gains::of(changes, |change| change.shortly_before(block), lost),
            Gains::of(changes, Change::least_before, lost),
        ];
        let mut rates: BTreeMap<Taker, (f64, f64)> = BTreeMap::new();
        for change in changes {
            let rate = rates.entry(change.taker.clone()).or_default();
            *rate = (rate.0 + change.at(block).unwrap_or_default(), rate.1 + change.level);
        }
        Taken { gains, rates, lost: changes.iter().map(lost).sum(), cost }
    }

    /// Whether `own` gave up its `loss` by itself: what it left was taken up by all clients that wrote before, none started. A job
    /// that takes what it wants makes the others fall too.
    pub(super) fn was_given_up(&self, own: &Taker, loss: f64) -> bool {
        let others = || self.rates.iter().filter(|(taker, _)| *taker != own).map(|(_, rates)| rates);
        let wrote = |(before, after): &&(f64, f64)| *before > STOPPED_SHARE * after && *before > 0.0;
        let came: f64 = others().filter(|rates| !wrote(rates)).map(|(before, after)| after - before).sum();
        let writers = others().filter(wrote).count();
        let rose =
            others().filter(wrote).filter(|(before, after)| *after > (1.0 + SURE_CHANGE) * before).count();
        writers > 1
            && rose as f64 >= ALL_ROSE * writers as f64
            && came * self.cost < LEAST_TAKEN[0] * self.lost.max(loss)
    }

    /// Sources that took the `loss` of a client of `own`, by share of it: others by what they gained in all, its own job by what
    /// other clients of it gained by the same metric; and the share that others took without being named.
    pub(super) fn shares(
        &self,
        client: (SeriesIndex, Metric),
        own: &Taker,
        loss: f64,
    ) -> (Vec<(Taker, f64)>, f64) {
        let lost = self.lost.max(loss);
        let mut explaining = self.gains.iter().zip(LEAST_TAKEN).filter_map(|(gains, least)| {
            let (own_gained, took) = gains.to_take(client, own);
            (took > 0.0 && took * self.cost >= least * lost).then_some((gains, own_gained, took))
        });
        let Some((gains, own_gained, took)) = explaining.next() else { return (Vec::new(), 0.0) };
        let whole = if took * self.cost < ALL_TAKEN * lost { lost / self.cost } else { took };
        let itself = Some((own.clone(), own_gained)).filter(|(_, gained)| *gained > 0.0);
        let others = gains.takers.iter().filter(|(taker, _)| taker != own).cloned();
        let mut shares: Vec<(Taker, f64)> =
            itself.into_iter().chain(others).map(|(taker, gained)| (taker, gained / whole)).collect();
        let unnamed = shares.iter().skip(NAMED_MAX).map(|(_, share)| share).sum();
        shares.truncate(NAMED_MAX);
        (shares, unnamed)
    }
}

impl Gains {
    fn of(
        changes: &[Change],
        before: impl Fn(&Change) -> Option<f64>,
        lost: impl Fn(&Change) -> f64,
    ) -> Gains {
        let mut gains = Gains::default();
        for change in changes {
            let (gained, lost) = (before(change).map_or(0.0, |before| change.gained(before)), lost(change));
            if gained > 0.0 {
                gains.risen.insert(change.client);
            }
            if gained > 0.0 || lost > 0.0 {
                let known = gains.of.entry(change.taker.clone()).or_default();
                *known = (known.0 + gained, known.1 + lost);
                let known = gains.by_metric.entry((change.taker.clone(), change.metric)).or_default();
                *known = (known.0 + gained, known.1 + lost);
            }
        }
        let net = gains.of.iter().map(|(taker, (gained, lost))| (taker.clone(), gained - lost));
        gains.takers = net.filter(|(_, net)| *net > 0.0).collect();
        gains.takers.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        gains.took = gains.takers.iter().map(|(_, net)| net).sum();
        gains
    }

    /// What a client's own job took from it, and what that and all others took.
    fn to_take(&self, (client, metric): (SeriesIndex, Metric), own: &Taker) -> (f64, f64) {
        let (gained, lost) = self.of.get(own).copied().unwrap_or_default();
        let alike = self.by_metric.get(&(own.clone(), metric)).copied().unwrap_or_default();
        // A job that resumes after a pause rises with all its clients, and takes nothing from itself.
        let own_gained = if self.risen.contains(&client) { 0.0 } else { alike.0 };
        (own_gained, self.took - (gained - lost).max(0.0) + own_gained)
    }
}

impl Change {
    /// Orders changes by their rates.
    pub(super) fn by_rates(a: &Change, b: &Change) -> Ordering {
        let rates = |change: &Change| [change.level, change.after, change.at(0).unwrap_or_default()];
        let pairs = rates(a).into_iter().zip(rates(b));
        pairs.map(|(a, b)| a.total_cmp(&b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// The rate before the fall: of a block, or of the nearest one before or after it that was seen.
    fn at(&self, block: usize) -> Option<f64> {
        let older = self.before[block..].iter().flatten().next();
        older.or(self.before[..block].iter().rev().flatten().next()).copied()
    }

    /// What it lost against `before`, if it did not stop.
    fn lost(&self, before: f64) -> f64 {
        let fell = self.after > STOPPED_SHARE * before && before - self.after > self.sure * before;
        if fell { before - self.after } else { 0.0 }
    }

    /// What it gained against `before`.
    fn gained(&self, before: f64) -> f64 {
        let gain = self.level - before;
        if gain > self.sure * before { gain } else { 0.0 }
    }

    /// What it gained surely against the least rate before the fall.
    pub(super) fn gained_at_most(&self) -> f64 {
        self.least_before().map_or(0.0, |least| self.gained(least))
    }

    /// Whether it moves so many times as much as the least before the fall.
    pub(super) fn multiplied_by(&self, times: f64) -> bool {
        self.least_before().is_some_and(|least| self.level >= times * least)
    }

    /// The rate of a block, or some ticks before it.
    fn shortly_before(&self, block: usize) -> Option<f64> {
        let seen = [self.before[block], self.earlier[block]].into_iter().flatten();
        seen.reduce(f64::min).or_else(|| self.at(block))
    }

    /// The least rate of all blocks.
    fn least_before(&self) -> Option<f64> {
        self.before.iter().flatten().copied().reduce(f64::min)
    }
}

/// The latest block that lies before the fall, by what all that fell carried then.
fn latest_before(changes: &[Change]) -> usize {
    let mut fallen = [0.0; BLOCKS];
    for change in changes {
        let most = change.before.iter().flatten().copied().fold(0.0, f64::max);
        if change.lost(most) > 0.0 {
            for (block, fallen) in fallen.iter_mut().enumerate() {
                *fallen += change.at(block).map_or(0.0, |before| before - change.after);
            }
        }
    }
    let most = fallen.iter().copied().fold(0.0, f64::max);
    fallen.iter().position(|fallen| *fallen >= BEFORE_THE_FALL * most).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one that lost.
    const CLIENT: SeriesIndex = SeriesIndex(40);

    fn written() -> Metric {
        Metric::from_name("lustre_write_rate").unwrap()
    }

    fn job(number: &str) -> Taker {
        Taker::Job(Name::parse(number).unwrap())
    }

    /// A client that wrote `before` in all blocks and writes `after` now.
    fn change(taker: &Taker, before: f64, after: f64) -> Change {
        Change {
            client: SeriesIndex(after as u32),
            metric: written(),
            taker: taker.clone(),
            before: [Some(before); BLOCKS],
            earlier: [Some(before); BLOCKS],
            after,
            level: after,
            sure: 0.1,
        }
    }

    fn near(shares: &[(Taker, f64)], wanted: &[(Taker, f64)]) -> bool {
        let same = |(a, b): (&(Taker, f64), &(Taker, f64))| a.0 == b.0 && (a.1 - b.1).abs() < 1e-9;
        shares.len() == wanted.len() && shares.iter().zip(wanted).all(same)
    }

    #[test]
    fn a_share_is_never_larger_than_what_the_blamed_took() {
        let (victim, taker) = (job("1"), job("2"));
        let changes = [change(&victim, 100.0, 40.0), change(&taker, 0.0, 30.0)];
        let (shares, unnamed) = Taken::of(&changes, 1.0).shares((CLIENT, written()), &victim, 60.0);
        assert!(near(&shares, &[(taker, 0.5)]) && unnamed == 0.0, "{shares:?}");
    }

    #[test]
    fn few_operations_that_cost_more_take_all() {
        let (victim, taker) = (job("1"), job("2"));
        let changes = [change(&victim, 100.0, 40.0), change(&taker, 0.0, 6.0)];
        let shares = |cost| Taken::of(&changes, cost).shares((CLIENT, written()), &victim, 60.0).0;
        assert!(near(&shares(10.0), &[(taker.clone(), 1.0)]), "{:?}", shares(10.0));
        assert!(near(&shares(5.0), &[(taker, 0.5)]), "{:?}", shares(5.0));
    }

    #[test]
    fn gains_beyond_the_loss_count_and_small_ones_do_not() {
        let (victim, large, small) = (job("1"), job("2"), job("3"));
        let freed = [change(&victim, 100.0, 40.0), change(&large, 0.0, 90.0), change(&job("4"), 60.0, 0.0)];
        assert!(near(&Taken::of(&freed, 1.0).shares((CLIENT, written()), &victim, 60.0).0, &[(large, 1.0)]));
        let sagged = [change(&victim, 100.0, 40.0), change(&small, 0.0, 3.0)];
        assert!(Taken::of(&sagged, 1.0).shares((CLIENT, written()), &victim, 60.0).0.is_empty());
    }

    #[test]
    fn clients_of_one_job_take_only_their_net_gain() {
        let (victim, other) = (job("1"), job("2"));
        let changes =
            [change(&victim, 100.0, 40.0), change(&other, 100.0, 60.0), change(&other, 50.0, 125.0)];
        let (shares, _) = Taken::of(&changes, 1.0).shares((CLIENT, written()), &victim, 60.0);
        assert!(near(&shares, &[(other, 0.35)]), "{shares:?}");
    }

    #[test]
    fn many_clients_of_one_job_are_one_taker() {
        let (victim, taker) = (job("1"), job("2"));
        let mut changes = vec![change(&victim, 100.0, 40.0)];
        changes.extend((0..80).map(|_| change(&taker, 0.0, 1.0)));
        assert!(near(
            &Taken::of(&changes, 1.0).shares((CLIENT, written()), &victim, 60.0).0,
            &[(taker, 1.0)]
        ));
    }

    #[test]
    fn a_job_that_resumes_takes_nothing_from_itself() {
        let (victim, taker) = (job("1"), job("2"));
        let resumed = [change(&victim, 0.0, 40.0), change(&victim, 0.0, 41.0), change(&taker, 0.0, 120.0)];
        assert!(near(
            &Taken::of(&resumed, 1.0).shares((CLIENT, written()), &victim, 60.0).0,
            &[(taker, 1.0)]
        ));
    }

    #[test]
    fn a_small_rise_that_ended_before_the_fall_takes_nothing() {
        let (victim, early) = (job("1"), job("2"));
        let mut rose = change(&early, 0.0, 29.0);
        rose.before[0] = Some(29.0);
        rose.earlier[0] = Some(28.0);
        let changes = [change(&victim, 100.0, 40.0), rose];
        assert!(Taken::of(&changes, 1.0).shares((CLIENT, written()), &victim, 60.0).0.is_empty());
        let mut large = change(&early, 0.0, 70.0);
        (large.before[0], large.earlier[0]) = (Some(70.0), Some(70.0));
        let changes = [change(&victim, 100.0, 40.0), large];
        assert!(near(
            &Taken::of(&changes, 1.0).shares((CLIENT, written()), &victim, 60.0).0,
            &[(early, 1.0)]
        ));
    }

    #[test]
    fn a_fall_dated_late_is_compared_with_the_time_before() {
        let (victim, taker) = (job("1"), job("2"));
        let (mut fell, mut rose) = (change(&victim, 100.0, 40.0), change(&taker, 0.0, 60.0));
        (fell.before[0], rose.before[0], rose.earlier[0]) = (Some(55.0), Some(45.0), Some(20.0));
        assert!(near(
            &Taken::of(&[fell, rose], 1.0).shares((CLIENT, written()), &victim, 60.0).0,
            &[(taker, 1.0)]
        ));
    }

    #[test]
    fn what_all_others_take_up_together_was_given_up() {
        let (own, came) = (job("1"), job("9"));
        let mut changes = vec![change(&own, 100.0, 40.0)];
        changes.extend(["2", "3", "4"].map(|number| change(&job(number), 100.0, 120.0)));
        assert!(Taken::of(&changes, 1.0).was_given_up(&own, 60.0));
        changes.push(change(&came, 0.0, 30.0));
        assert!(!Taken::of(&changes, 1.0).was_given_up(&own, 60.0), "a job came");
        changes.pop();
        changes[1].level = 60.0;
        assert!(!Taken::of(&changes, 1.0).was_given_up(&own, 60.0), "another job fell too");
    }
}
