//! What the other clients of a file system say about the fall of one.
//!
//! A fall alone is a phase change. It is contention when others took up what the series lost around the
//! change point, or when the clients that share the server fell together (GUIDE section 1).

use crate::model::{Bank, Judgement, Suspicion};
use schemas::{Name, Time};
use std::collections::HashMap;

/// Ticks of a block before the change, and how many blocks tell what the others did: who rose in any of
/// them rose around the change point, which noise may have dated late.
const BLOCK_TICKS: f64 = 8.0;
const BLOCKS: usize = 4;
/// Share of the loss that others must have gained. Sharing a server conserves or raises the total, so
/// true contention gives at least 1; a writer that just ends leaves the others a part of what it had.
const GAINED_SHARE: f64 = 0.5;
/// Relative change of another client that is no noise, at least; and in standard deviations of its readings.
const SURE_CHANGE: f64 = 0.1;
const SURE_DEVIATIONS: f64 = 1.8;
/// A client that goes on at less than this share of its rate has stopped.
const STOPPED_SHARE: f64 = 0.05;
/// Share of the other active clients that must have fallen for the server to be to blame.
const FALLEN_SHARE: f64 = 0.5;
/// Most gainers that are named.
const NAMED_MAX: usize = 16;

/// The judgement and who gained, by number in the bank, with the bytes per second they gained.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// What the others say.
    pub judgement: Judgement,
    /// Who gained, the largest first.
    pub gainers: Vec<(u32, f64)>,
    /// What all of them gained, in the metric's unit.
    pub gained: f64,
}

/// How all clients of a file system changed between two ticks. It is taken once for all clients that fall
/// in the same tick: when a server sags, thousands do.
#[derive(Clone, Debug)]
pub struct Shift {
    mount: Name,
    start_tick: i64,
    since_tick: i64,
    /// Clients that gained surely, the largest gain first.
    gainers: Vec<(u32, f64)>,
    gained: f64,
    /// Active clients and those of them that fell without stopping: in all, and by job.
    all: Fallen,
    by_job: HashMap<Name, Fallen>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Fallen {
    active: u32,
    fallen: u32,
}

impl Shift {
    /// Whether this is the shift of `mount` that `suspicion` asks for.
    pub fn is_of(&self, mount: &Name, suspicion: &Suspicion, tick_s: f64) -> bool {
        let ticks = (tick_of(suspicion.start, tick_s), tick_of(suspicion.since, tick_s));
        self.mount == *mount && (self.start_tick, self.since_tick) == ticks
    }

    /// Looks at the clients of `mount`: `members` are their numbers in `bank`, `job_of` tells whose they are.
    pub fn of(
        mount: &Name,
        bank: &Bank,
        members: &[u32],
        suspicion: &Suspicion,
        tick_s: f64,
        job_of: impl Fn(u32) -> Option<Name>,
    ) -> Shift {
        let (start_tick, since_tick) = (tick_of(suspicion.start, tick_s), tick_of(suspicion.since, tick_s));
        let mut shift = Shift {
            mount: mount.clone(),
            start_tick,
            since_tick,
            gainers: Vec::new(),
            gained: 0.0,
            all: Fallen::default(),
            by_job: HashMap::new(),
        };
        // Half a tick beyond each end, so that the jitter of the timestamps moves nothing across it.
        let at = |ticks: f64| Time::from_seconds(ticks * tick_s);
        let (start, since) = (start_tick as f64, since_tick as f64);
        for member in members {
            let mean = |from: f64, to: f64| bank.mean_between(*member as usize, at(from), at(to));
            let block = |back: usize| {
                let end = start + 0.5 - back as f64 * BLOCK_TICKS;
                mean(end - BLOCK_TICKS, end)
            };
            let least = (0..BLOCKS).map(block).fold(f64::INFINITY, f64::min);
            // The tick of the change itself is half old and half new.
            let after = mean(start + 1.5, since + 0.5);
            let sure = SURE_CHANGE.max(SURE_DEVIATIONS * bank.noise(*member as usize));
            if after - least > sure * least {
                shift.gainers.push((*member, after - least));
                shift.gained += after - least;
            }
            shift.note(*member, block(0), after, &job_of);
        }
        shift.gainers.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        shift
    }

    fn note(&mut self, member: u32, before: f64, after: f64, job_of: impl Fn(u32) -> Option<Name>) {
        if before > 0.0 {
            let fell = after > STOPPED_SHARE * before && before - after > SURE_CHANGE * before;
            self.all.count(fell);
            if let Some(job) = job_of(member) {
                self.by_job.entry(job).or_default().count(fell);
            }
        }
    }

    /// Judges the fall of one client, whose job is `own_job`: a job's clients end a phase together, so they
    /// are no witnesses.
    pub fn judge(&self, suspicion: &Suspicion, own_job: Option<&Name>) -> Evidence {
        let loss = suspicion.baseline - suspicion.level;
        let taken = self.gained > 0.0 && self.gained >= GAINED_SHARE * loss;
        let own = match own_job {
            Some(job) => self.by_job.get(job).copied().unwrap_or_default(),
            None => Fallen { active: 1, fallen: 1 },
        };
        let fallen = self.all.fallen.saturating_sub(own.fallen);
        let active = self.all.active.saturating_sub(own.active);
        let together = fallen > 0 && f64::from(fallen) >= FALLEN_SHARE * f64::from(active);
        let judgement = if taken || together { Judgement::Contention } else { Judgement::OwnPhase };
        let named = if taken { self.gainers.len().min(NAMED_MAX) } else { 0 };
        Evidence { judgement, gainers: self.gainers[..named].to_vec(), gained: self.gained }
    }
}

impl Fallen {
    fn count(&mut self, fell: bool) {
        self.active += 1;
        self.fallen += u32::from(fell);
    }
}

fn tick_of(time: Time, tick_s: f64) -> i64 {
    (time.seconds() / tick_s).round() as i64
}
