//! What the other clients of a file system say about the fall of one.
//!
//! A fall alone is a phase change. It is contention when others took up what the series lost around the
//! change point, or when the clients that share the server fell together (GUIDE section 1).

use crate::model::{Bank, Judgement, Suspicion};
use schemas::Time;

/// Seconds before the change that tell what the others did.
const BEFORE_S: f64 = 16.0;
/// Share of the loss that others must have gained. Sharing a server conserves or raises the total, so
/// true contention gives at least 1; a writer that just ends leaves the others a part of what it had.
const GAINED_SHARE: f64 = 0.5;
/// Relative change of another client that is no noise.
const SURE_CHANGE: f64 = 0.1;
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

/// How one other client changed around the suspected onset.
struct Change {
    member: u32,
    before: f64,
    after: f64,
}

/// Looks at `members` (numbers in `bank`) for what explains the fall of member `i`. `same_job` tells
/// whether a member works for the same job as `i`: such members end a phase together.
pub fn judge(
    bank: &Bank,
    members: &[u32],
    i: u32,
    suspicion: &Suspicion,
    same_job: impl Fn(u32) -> bool,
) -> Evidence {
    let others: Vec<u32> = members.iter().copied().filter(|m| *m != i).collect();
    if others.is_empty() {
        return Evidence { judgement: Judgement::Alone, gainers: Vec::new(), gained: 0.0 };
    }
    let changes: Vec<Change> = others.iter().map(|m| change(bank, *m, suspicion)).collect();
    let sure = |c: &&Change| c.after - c.before > SURE_CHANGE * c.before;
    let mut gainers: Vec<(u32, f64)> =
        changes.iter().filter(sure).map(|c| (c.member, c.after - c.before)).collect();
    gainers.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let gained: f64 = gainers.iter().map(|g| g.1).sum();
    let loss = suspicion.baseline - suspicion.level;
    let taken = gained >= GAINED_SHARE * loss;
    let judgement =
        if taken || fell_together(&changes, same_job) { Judgement::Contention } else { Judgement::OwnPhase };
    gainers.truncate(NAMED_MAX);
    Evidence { judgement, gainers: if taken { gainers } else { Vec::new() }, gained }
}

fn change(bank: &Bank, member: u32, suspicion: &Suspicion) -> Change {
    let mean = |from: Time, to: Time| bank.mean_between(member as usize, from, to).unwrap_or(0.0);
    let before = mean(suspicion.start.plus_seconds(-BEFORE_S), suspicion.start);
    // The tick of the change itself is half old and half new.
    let after = mean(suspicion.start.plus_seconds(1.0), suspicion.since.plus_seconds(0.5));
    Change { member, before, after }
}

/// Whether the clients of other jobs that were active fell too, without stopping.
fn fell_together(changes: &[Change], same_job: impl Fn(u32) -> bool) -> bool {
    let active: Vec<&Change> = changes.iter().filter(|c| c.before > 0.0 && !same_job(c.member)).collect();
    let fell = |c: &&&Change| c.after > 0.0 && c.before - c.after > SURE_CHANGE * c.before;
    let fallen = active.iter().filter(fell).count();
    fallen > 0 && fallen as f64 >= FALLEN_SHARE * active.len() as f64
}
