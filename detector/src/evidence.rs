//! Judgement of the fall of a client from the other clients of its file system.
//!
//! A fall alone is a phase change. It is contention when others took up what the series lost around the
//! change point, or when the clients that share the server fell together (GUIDE section 1).

mod fallen;
mod hindsight;
mod served;
mod taken;
mod traffic;
mod turns;

pub use hindsight::{AWAITED, Hindsight, Known, Level, Losses, Review, Unseen};
pub use served::{ByClients, Served};
pub use taken::Taker;
pub use traffic::{KEPT_BLOCKS, KEPT_TICKS, Mover, SPAN_TICKS, Traffic, begin_of, block_of};

use crate::gains::{Gain, Given};
use crate::model::{Bank, Judgement, Suspicion};
use fallen::Fallen;
use schemas::{Metric, Name, SeriesIndex, Time};
use std::collections::HashMap;
use taken::{Change, Taken};
use turns::Turns;

/// Ticks of a block before the change, and how many blocks show what the others did: a client that rose in
/// any of them rose around the change point, which noise may have dated late.
const BLOCK_TICKS: f64 = 4.0;
const BLOCKS: usize = 4;
/// Least number of ticks after the change that show what the others do now.
const AFTER_TICKS: i64 = 4;
/// Share of the loss that others must have gained. Sharing a server conserves or raises the total, so
/// true contention gives at least 1; a writer that just ends leaves the others a part of what it had.
const GAINED_SHARE: f64 = 0.5;
/// Times as much as before that a client moves for its counts to be of another kind, which may cost more than those of others.
const OTHER_KIND: f64 = 2.0;
/// Relative change of another client that is no noise, at least; and in standard deviations of its readings.
const SURE_CHANGE: f64 = 0.1;
const SURE_DEVIATIONS: f64 = 2.5;
/// A client that continues at less than this share of its rate has stopped.
const STOPPED_SHARE: f64 = 0.05;
/// Share of the other active clients that must have fallen for the server to be to blame.
const FALLEN_SHARE: f64 = 0.5;
/// A client that is left with this part of what the others got each shares with them, however little it is.
const EQUAL_SHARE: f64 = 0.5;
/// Times what a client is left with: another one that moves no more than that may share equally with it.
const LEFT: f64 = 1.2;
/// A slow node shows by at least so many other clients of its job, and this share of them, that continue; these were between so
/// many times as fast before.
const SIBLINGS_LEAST: usize = 3;
const SIBLINGS_SHARE: f64 = 0.75;
const ALIKE: [f64; 2] = [0.5, 2.0];
/// Share of the other clients that must have been seen: the client that took it may be among the rest.
const WITNESS_SHARE: f64 = 0.5;
/// Ticks by which a client that takes may rise before the others fall: clients keep a little, and read at other times.
const EARLIER_TICKS: f64 = 2.0;

/// The judgement, and the jobs that took what was lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Judgement from the others.
    pub judgement: Judgement,
    /// Jobs that took it, by share of the loss, the largest first.
    pub takers: Vec<(Taker, f64)>,
    /// The share that a server lost which became slower, 0 to 1.
    pub by_server: f64,
    /// Whether the node alone became slower: the other clients of its job continued.
    pub by_node: bool,
    /// Whether a server that became slower would explain a phase of its own as well.
    pub may_be_server: bool,
    /// Whether others were seen, so that they can be looked at later, too.
    pub has_others: bool,
}

impl Evidence {
    /// There are no others to see.
    pub fn alone() -> Evidence {
        Evidence {
            judgement: Judgement::Alone,
            takers: Vec::new(),
            by_server: 0.0,
            by_node: false,
            may_be_server: false,
            has_others: false,
        }
    }
}

/// What clients share of a file system, by the first of its metrics: they are judged by each other.
pub type Mount = (Metric, Name);

/// A series of progress as a shift sees it: its number, its metric, and its number in the metric's bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// The series.
    pub series: SeriesIndex,
    /// What it measures.
    pub metric: Metric,
    /// Where its bank has it.
    pub number: usize,
}

/// What a shift looks at: all clients of a file system, in the order of their series, and what its servers count by job.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Which file system.
    pub mount: &'a Mount,
    /// Its clients.
    pub clients: &'a [Client],
    /// What its servers count; `None` if none does.
    pub served: Option<&'a Served>,
}

/// How all clients of a file system changed between two ticks. It is taken once for all clients that fall
/// in the same tick: when a server sags, thousands do.
#[derive(Clone, Debug)]
pub struct Shift {
    mount: Mount,
    start_tick: i64,
    until_tick: i64,
    /// Clients that gained surely, the largest gain first.
    gainers: Vec<(SeriesIndex, f64)>,
    gained: f64,
    /// The part of it that was gained by those that moved far less before.
    came: f64,
    /// Jobs that changed from one metric to another.
    turns: Turns,
    taken: Taken,
    /// Median rate of the clients that gained, after the change.
    gainers_rate: f64,
    /// The two fastest clients after the change, the fastest first.
    fastest: [(SeriesIndex, f64); 2],
    /// By client, in their order: its largest rate shortly before the change.
    before: Vec<(SeriesIndex, f64)>,
    /// Active clients and those of them that fell without stopping: in all, and by job and metric.
    all: Fallen,
    by_job: HashMap<(Name, Metric), Fallen>,
    /// Clients, and those of them of which something is known before and after the change: the others are not used.
    clients: u32,
    witnesses: Vec<SeriesIndex>,
    given: Given,
}

impl Shift {
    /// Whether this is the shift of `mount` that belongs to `suspicion`.
    pub fn is_of(&self, mount: &Mount, suspicion: &Suspicion, tick_s: f64) -> bool {
        self.mount == *mount && (self.start_tick, self.until_tick) == ticks_of(suspicion, tick_s)
    }

    /// Looks at a file system: `banks` are those of all metrics, `was_seen` returns whether a client had readings between two
    /// times, `jobs_of` whose they are at two times.
    pub fn of<'j>(
        scene: Scene<'_>,
        banks: &[Bank],
        suspicion: &Suspicion,
        tick_s: f64,
        was_seen: impl Fn(SeriesIndex, Time, Time) -> bool,
        jobs_of: impl Fn(SeriesIndex, [Time; 2]) -> [Option<&'j Name>; 2],
    ) -> Shift {
        let Scene { mount, clients, .. } = scene;
        let mut shift = Shift::new(mount, ticks_of(suspicion, tick_s), clients.len());
        // Half a tick beyond each end, so that the jitter of the timestamps moves nothing across it.
        let at = |ticks: f64| Time::from_seconds(ticks * tick_s);
        let (start, until) = (shift.start_tick as f64, shift.until_tick as f64);
        let mut changes = Vec::with_capacity(clients.len());
        let mut gainers_rates = Vec::new();
        for Client { series, metric, number } in clients.iter().copied() {
            let bank = &banks[metric.at()];
            let mean = |from: f64, to: f64| bank.mean_between(number, at(from), at(to));
            let block = |back: usize, earlier: f64| {
                let end = start + 0.5 - back as f64 * BLOCK_TICKS - earlier;
                (end - BLOCK_TICKS, end)
            };
            // A client that was not seen was not idle: it is no evidence.
            let seen = |from: f64, to: f64| was_seen(series, at(from), at(to));
            let before = |earlier: f64| {
                std::array::from_fn(|back| {
                    let (from, to) = block(back, earlier);
                    seen(from, to).then(|| mean(from, to))
                })
            };
            let blocks: [Option<f64>; BLOCKS] = before(0.0);
            let least = blocks.iter().flatten().copied().fold(f64::INFINITY, f64::min);
            let most = blocks.iter().flatten().copied().fold(0.0, f64::max);
            shift.before.push((series, most));
            // The tick of the change itself is half old and half new.
            let after = mean(start + 1.5, until + 0.5);
            let sure = SURE_CHANGE.max(SURE_DEVIATIONS * bank.noise(number));
            let level = bank.level_between(number, at(start + 1.5), at(until + 0.5));
            shift.note_fastest(series, level);
            if after - least > sure * least {
                shift.note_gain(series, [least, after]);
                gainers_rates.push(level);
            }
            let changed = [after - least, most - after].map(|by| if by > sure * least { by } else { 0.0 });
            let [job, job_since] = jobs_of(series, [suspicion.start, suspicion.since]);
            shift.turns.note(changed, metric, job);
            let (from, to) = block(0, 0.0);
            if seen(from, to) && seen(start + 1.5, until + 0.5) {
                shift.witnesses.push(series);
            }
            let baseline = bank.knowledge(number).baseline;
            let kept = if baseline > 0.0 { level / baseline } else { 1.0 };
            shift.note([mean(from, to), after], sure, kept, metric, job);
            let taker = job_since.or(job).map_or(Taker::Client(series), |job| Taker::Job(job.clone()));
            let earlier = before(EARLIER_TICKS);
            let client = series;
            changes.push(Change { client, metric, taker, before: blocks, earlier, after, level, sure });
        }
        let gained = scene.served.map_or(0.0, |served| shift.add_served(served, &mut changes));
        shift.sum(&mut changes, gainers_rates, gained);
        shift
    }

    /// Adds the changes of jobs that no client works for, and returns what these gained surely.
    fn add_served(&mut self, served: &Served, changes: &mut Vec<Change>) -> f64 {
        let start = self.start_tick;
        let block = |back: usize, earlier: i64| {
            let end = start - earlier - back as i64 * BLOCK_TICKS as i64;
            [end - BLOCK_TICKS as i64, end]
        };
        let sure = |noise: f64| SURE_CHANGE.max(SURE_DEVIATIONS * noise);
        let mut of_servers = served.changes(changes, block, [start + 1, self.until_tick], sure);
        let gained = of_servers.iter().map(Change::gained_at_most).sum();
        let came = of_servers.iter().filter(|change| change.multiplied_by(OTHER_KIND));
        self.came += came.map(Change::gained_at_most).sum::<f64>();
        changes.append(&mut of_servers);
        gained
    }

    fn new(mount: &Mount, (start_tick, until_tick): (i64, i64), clients: usize) -> Shift {
        Shift {
            mount: mount.clone(),
            start_tick,
            until_tick,
            gainers: Vec::new(),
            gained: 0.0,
            came: 0.0,
            turns: Turns::default(),
            taken: Taken::default(),
            gainers_rate: 0.0,
            fastest: [(SeriesIndex(u32::MAX), 0.0); 2],
            before: Vec::with_capacity(clients),
            all: Fallen::default(),
            by_job: HashMap::new(),
            clients: clients as u32,
            witnesses: Vec::new(),
            given: Given::default(),
        }
    }

    fn sum(&mut self, changes: &mut [Change], mut gainers_rates: Vec<f64>, served: f64) {
        gainers_rates.sort_by(f64::total_cmp);
        // By how many clients a job moves what a server counts is not known.
        let unknown = if served > 0.0 { f64::INFINITY } else { 0.0 };
        self.gainers_rate = gainers_rates.get(gainers_rates.len() / 2).copied().unwrap_or(unknown);
        self.all.sort();
        self.by_job.values_mut().for_each(Fallen::sort);
        // Sums depend on their order, which must not be that in which clients were seen first.
        changes.sort_by(Change::by_rates);
        self.taken = Taken::of(changes, self.mount.0.cost_range());
        self.gainers.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self.turns.find();
        self.gained = self.gainers.iter().map(|(_, gain)| gain).sum::<f64>() - self.turns.moved() + served;
    }

    fn note_gain(&mut self, series: SeriesIndex, [least, after]: [f64; 2]) {
        self.gainers.push((series, after - least));
        self.came += if after >= OTHER_KIND * least { after - least } else { 0.0 };
    }

    fn note_fastest(&mut self, series: SeriesIndex, level: f64) {
        let [first, second] = self.fastest;
        self.fastest = match level {
            _ if level > first.1 => [(series, level), first],
            _ if level > second.1 => [first, (series, level)],
            _ => self.fastest,
        };
    }

    fn note(&mut self, [before, after]: [f64; 2], sure: f64, kept: f64, metric: Metric, job: Option<&Name>) {
        if before > 0.0 {
            let fell =
                after > STOPPED_SHARE * before && before - after > SURE_CHANGE.max(sure / 2.0) * before;
            self.all.clients.push((before, fell));
            if let Some(job) = job {
                let of_job = self.by_job.entry((job.clone(), metric)).or_default();
                of_job.clients.push((before, fell));
                if (after - before).abs() <= sure * before {
                    of_job.continued.push([before, kept]);
                }
            }
        }
    }

    /// The tick of the change.
    pub fn start_tick(&self) -> i64 {
        self.start_tick
    }

    /// Clients that gained surely and do not have `gain` yet, without `fallen`, whose fall shows it.
    pub fn gainers_without(&mut self, gain: Gain, fallen: SeriesIndex) -> Vec<SeriesIndex> {
        self.given.missing(gain, fallen, self.gainers.iter().map(|(series, _)| *series))
    }

    /// Whether enough clients other than `own` were seen to conclude that none of them took what it lost.
    pub fn has_witnesses(&self, own: SeriesIndex) -> bool {
        let others = self.witnesses.iter().filter(|series| **series != own).count();
        others > 0 && others as f64 >= WITNESS_SHARE * f64::from(self.clients.saturating_sub(1))
    }

    /// Whether nearly all other clients of a job that were about as fast as the one that fell continue as before.
    fn continues(&self, suspicion: &Suspicion, metric: Metric, own_job: Option<&Name>) -> bool {
        let of_job = own_job.and_then(|job| self.by_job.get(&(job.clone(), metric)));
        let Some(of_job) = of_job else { return false };
        let alike = |before: &f64| (ALIKE[0]..=ALIKE[1]).contains(&(before / suspicion.baseline));
        let all = of_job.clients.iter().filter(|(before, _)| alike(before)).count().saturating_sub(1);
        // A sibling that fell slowly, too, continues as it was a few ticks ago only.
        let least = (1.0 + suspicion.level / suspicion.baseline) / 2.0;
        let continued =
            of_job.continued.iter().filter(|[before, kept]| alike(before) && *kept >= least).count();
        continued >= SIBLINGS_LEAST && continued as f64 >= SIBLINGS_SHARE * all as f64
    }

    /// Whether others move something, and none of them more than what a client is left with. A server that serves less slows
    /// only those that want more than an equal share, so that the fall may be its own or the server's.
    fn is_fastest(&self, own: SeriesIndex, level: f64) -> bool {
        let other = self.fastest.iter().find(|(member, _)| *member != own);
        other.is_some_and(|(_, rate)| *rate > 0.0 && *rate <= LEFT * level)
    }

    /// What client `own` lost while the others are looked at: of a slow fall a part only.
    fn loss(&self, suspicion: &Suspicion, own: SeriesIndex) -> f64 {
        let known = self.before.binary_search_by_key(&own, |(member, _)| *member);
        let before = known.map_or(suspicion.baseline, |at| self.before[at].1.min(suspicion.baseline));
        let lost = before - suspicion.level;
        if lost > 0.0 { lost } else { suspicion.baseline - suspicion.level }
    }

    /// Judges the fall of client `own`, whose job is `own_job`: it is no evidence of itself, a job's clients end a phase together,
    /// and what they move by another metric instead is no gain.
    pub fn judge(&self, suspicion: &Suspicion, own: Client, own_job: Option<&Name>) -> Evidence {
        let Client { series: own, metric, .. } = own;
        let loss = self.loss(suspicion, own);
        let own_gain = self.gainers.iter().find(|(member, _)| *member == own).map_or(0.0, |g| g.1);
        let instead = own_job.map_or(0.0, |job| self.turns.gained_instead(metric, job));
        let gained = self.gained - own_gain - instead;
        let own_taker = own_job.map_or(Taker::Client(own), |job| Taker::Job(job.clone()));
        let given_up = self.taken.was_given_up(&own_taker, loss);
        let has_turned = own_job.is_some_and(|job| self.turns.has(job));
        let at_most = gained.max(gained.min(self.came) * metric.cost_range());
        let taken = gained > 0.0 && at_most >= GAINED_SHARE * loss && !given_up && !has_turned;
        // A server that serves less takes nothing from those that ask for less than what it leaves to each, and next to nothing from
        // those that ask for little more.
        let faster = |of: &Fallen| of.faster_than(LEFT * suspicion.level);
        // Nor does one that turned to another metric show what a server does.
        let is_left_out = |(job, _): &(Name, Metric)| Some(job) == own_job || self.turns.has(job);
        let left_out = self.by_job.iter().filter(|(key, _)| is_left_out(key)).map(|(_, of)| faster(of));
        let alone = if own_job.is_none() { (1, 1) } else { (0, 0) };
        let left_out = left_out.fold(alone, |sum, of| (sum.0 + of.0, sum.1 + of.1));
        let all = faster(&self.all);
        let (active, fallen) = (all.0.saturating_sub(left_out.0), all.1.saturating_sub(left_out.1));
        let together = !has_turned && fallen > 0 && f64::from(fallen) >= FALLEN_SHARE * f64::from(active);
        let by_node = !taken && !together && self.continues(suspicion, metric, own_job);
        let judgement = match taken || together {
            true if taken && suspicion.level >= EQUAL_SHARE * self.gainers_rate => Judgement::EqualShare,
            true => Judgement::Contention,
            false if by_node => Judgement::Contention,
            false => Judgement::OwnPhase,
        };
        let (takers, unnamed) = self.taken.shares((own, metric), &own_taker, loss);
        let explained = unnamed + takers.iter().map(|(_, share)| share).sum::<f64>();
        let by_server = if together { (1.0 - explained).max(0.0) } else { 0.0 };
        let is_phase = judgement == Judgement::OwnPhase;
        let may_be_server = is_phase && self.is_fastest(own, suspicion.level);
        Evidence { judgement, takers, by_server, by_node, may_be_server, has_others: true }
    }
}

/// The tick of the change, and the last one that shows its effect.
fn ticks_of(suspicion: &Suspicion, tick_s: f64) -> (i64, i64) {
    let tick = |time: Time| (time.seconds() / tick_s).round() as i64;
    let start = tick(suspicion.start);
    (start, tick(suspicion.since).max(start + AFTER_TICKS))
}

/// When everything that a judgement needs has been sampled.
pub fn decidable_at(suspicion: &Suspicion, tick_s: f64) -> Time {
    Time::from_seconds(ticks_of(suspicion, tick_s).1 as f64 * tick_s)
}
