//! Narrowed cables: what a job loses to one is laid to no other job; a job that really slows another is still named.
//!
//! `cargo test --workspace --exclude benchmarks --release --locked --lib -- fabric::narrow --nocapture` prints each job that
//! is judged wrongly, with its seed. Thresholds were chosen by even seeds; the limits hold for odd ones.

mod draw;

use crate::integration::fabric::play::{Played, play_altered};
use draw::{Net, Sort, drawn};
use samplers::lab::{LabJobTruth, Setup};
use samplers::parallel::at_once;
use schemas::{Cause, CauseShare, CounterBatch};
use std::collections::BTreeMap;

/// Part of its run, and seconds, that a job must lose to count as a victim.
const VICTIM: (f64, f64) = (0.03, 5.0);
/// Seeds by which no threshold was chosen.
const SEEDS: [u64; 3] = [1, 3, 5];

/// One victim: what it lost in truth, and to what that is laid.
#[derive(Clone, Debug)]
struct Judged {
    job_id: u64,
    /// Seconds lost to narrowed cables, and to each other job.
    failover_s: f64,
    to: BTreeMap<u64, f64>,
    /// Seconds found, by cause and name.
    found: Vec<(Cause, String, f64)>,
}

impl Judged {
    /// What lost it most: a job, or `None` for a cable.
    fn truth(&self) -> Option<u64> {
        let most = self.to.iter().max_by(|a, b| a.1.total_cmp(b.1));
        most.filter(|(_, lost)| **lost > self.failover_s).map(|(job, _)| *job)
    }

    fn is_right(&self) -> bool {
        let most = self.found.iter().max_by(|a, b| a.2.total_cmp(&b.2));
        let Some((cause, name, _)) = most else { return false };
        match self.truth() {
            Some(job) => is_of_others(*cause) && *name == job.to_string(),
            None => matches!(cause, Cause::FailoverInduced | Cause::Unknown),
        }
    }

    /// Seconds that are laid to other jobs beyond what these took.
    fn innocent_s(&self) -> f64 {
        let laid: f64 = self.found.iter().filter(|found| is_of_others(found.0)).map(|found| found.2).sum();
        (laid - self.to.values().sum::<f64>()).max(0.0)
    }

    fn lost_s(&self) -> f64 {
        self.failover_s + self.to.values().sum::<f64>()
    }
}

fn is_of_others(cause: Cause) -> bool {
    matches!(cause, Cause::OtherJob | Cause::IoOnMpi)
}

/// Plays a case and compares what is found of each victim with the truth.
fn judged(setup: &Setup, net: Net) -> Vec<Judged> {
    let played = play_altered(setup, net.has_tables(), CounterBatch::clone);
    let victims = played.truth.jobs.iter().filter(|job| {
        let run_s = job.run_s().unwrap_or(f64::from(played.truth.seconds()) - job.start_s);
        job.lost.longer_s() >= VICTIM.1.max(VICTIM.0 * run_s)
    });
    let of = |job: &LabJobTruth| {
        let mut to: BTreeMap<u64, f64> = BTreeMap::new();
        job.lost.to.iter().for_each(|((job, _), lost)| *to.entry(*job).or_default() += lost);
        let found = found(&played, job.job_id);
        Judged { job_id: job.job_id, failover_s: job.lost.failover_s, to, found }
    };
    victims.map(of).collect()
}

fn found(played: &Played, job_id: u64) -> Vec<(Cause, String, f64)> {
    let result = &played.results[&job_id];
    let of = |c: &CauseShare| (c.cause, c.series_or_job.clone(), c.share * result.slowdown_s);
    result.causes.iter().map(of).collect()
}

/// What is found of all victims of a sort.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    cases: usize,
    victims: usize,
    right: usize,
    /// Times that the job which another one slows by design is not laid to that.
    missed: usize,
    /// Seconds lost in truth, and those laid to other jobs beyond what these took.
    lost_s: f64,
    innocent_s: f64,
}

/// Plays all sorts of cases on all networks; prints victims that are judged wrongly, and a line for each sort.
pub fn score(seeds: &[u64]) -> BTreeMap<Sort, Row> {
    let row_of = |sort: Sort| {
        let mut row = Row::default();
        let drawn = |(net, seed)| Some((net, seed, drawn(sort, net, seed)?));
        let of_net = |net| seeds.iter().map(move |seed| (net, *seed));
        let cases: Vec<_> = Net::ALL.into_iter().flat_map(of_net).filter_map(drawn).collect();
        let judged = at_once(None, &cases, |(net, _, setup)| judged(setup, *net));
        for ((net, seed, _), judged) in cases.iter().zip(judged) {
            for wrong in judged.iter().filter(|judged| !judged.is_right()) {
                println!("{sort:?} {net:?} seed {seed}, job {}: {wrong:.1?}", wrong.job_id);
            }
            row.cases += 1;
            row.victims += judged.len();
            row.right += judged.iter().filter(|judged| judged.is_right()).count();
            row.missed += judged.iter().filter(|j| j.truth() == Some(2) && !j.is_right()).count();
            row.lost_s += judged.iter().map(Judged::lost_s).sum::<f64>();
            row.innocent_s += judged.iter().map(Judged::innocent_s).sum::<f64>();
        }
        println!("{sort:?}: {row:.1?}");
        (sort, row)
    };
    Sort::ALL.into_iter().map(row_of).collect()
}

#[test]
fn a_narrowed_cable_is_laid_to_no_other_job() {
    let table = score(&SEEDS);
    let is_of_cables = |sort: &Sort| !matches!(sort, Sort::Unused | Sort::Control);
    let of_cables: Vec<Row> =
        table.iter().filter(|(sort, _)| is_of_cables(sort)).map(|(_, row)| *row).collect();
    let sum = |of: fn(&Row) -> f64| of_cables.iter().map(of).sum::<f64>();
    assert!(sum(|row| row.cases as f64) >= 40.0, "{table:#?}");
    assert!(sum(|row| row.right as f64) >= 0.95 * sum(|row| row.victims as f64), "{table:#?}");
    assert!(sum(|row| row.innocent_s) <= 0.05 * sum(|row| row.lost_s), "{table:#?}");
    for row in [Sort::Unused, Sort::Control].map(|sort| table[&sort]) {
        assert!(row.victims >= 10 && row.missed == 0, "{table:#?}");
        assert!(row.right as f64 >= 0.9 * row.victims as f64, "{table:#?}");
    }
}
