//! Calibration from finished runs of one configuration, and the factors of a job's loss by it. Pure; the embedded store reads
//! and writes (`schemas/store/src/sqlite/learn.rs`), and the server's functions do the same in SQL
//! (`schemas/store/sql/migrations/postgres/0001_schema/upkeep.sql`).

use schemas::calibration::{Beta, FinishedRun, Learnt, StoredLoss, StoredRuns};
use schemas::{Interval, JobFactors};
use std::collections::{BTreeMap, HashMap};

/// Runs that a fit needs at least.
const RUNS_LEAST: usize = 5;
/// Part of a run by which the contention of these runs must differ for its cost to show.
const SPREAD_LEAST: f64 = 0.02;
/// Part of the data below which an answer comes with a warning.
const COMPLETE: f64 = 0.6;
/// Part of a run from which it never saw a quiet spell.
const ALWAYS: f64 = 0.95;

/// New versions of `beta` where runs were added, and the factors of jobs by the latest versions.
pub fn learn(stored: StoredRuns) -> Learnt {
    let StoredRuns { runs, mut betas, losses } = stored;
    let new = new_betas(&runs, &mut betas);
    let placed = placements(&runs, &betas);
    let of_job = |job: &StoredLoss| {
        let placement = placed.get(&(job.configuration.clone(), job.groups)).copied();
        factors(job, betas.get(&job.configuration), placement)
    };
    Learnt { betas: new, factors: losses.iter().map(of_job).collect() }
}

fn new_betas(runs: &[FinishedRun], betas: &mut HashMap<String, (Beta, u32)>) -> Vec<(String, u32, Beta)> {
    let mut by_configuration: BTreeMap<&str, Vec<&FinishedRun>> = BTreeMap::new();
    runs.iter().for_each(|run| by_configuration.entry(&run.configuration).or_default().push(run));
    let mut new = Vec::new();
    for (configuration, runs) in by_configuration {
        let Some(beta) = fit(&runs) else { continue };
        let known = betas.get(configuration);
        if known.is_some_and(|(k, _)| (k.runs, k.learnt_until) == (beta.runs, beta.learnt_until)) {
            continue;
        }
        let version = known.map_or(0, |(_, version)| *version) + 1;
        betas.insert(configuration.to_string(), (beta, version));
        new.push((configuration.to_string(), version, beta));
    }
    new
}

/// Least squares of run times against seconds of contention; `None` where too few runs, or too equal ones, are known.
pub fn fit(runs: &[&FinishedRun]) -> Option<Beta> {
    let count = runs.len() as f64;
    let mean = |of: &dyn Fn(&FinishedRun) -> f64| runs.iter().map(|run| of(run)).sum::<f64>() / count;
    let (lost, took) = (mean(&|run| run.slowdown_s), mean(&|run| run.run_s));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        runs.iter().map(|run| of(run.slowdown_s - lost, run.run_s - took)).sum()
    };
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    let losses = || runs.iter().map(|run| run.slowdown_s);
    let spread = losses().fold(f64::NEG_INFINITY, f64::max) - losses().fold(f64::INFINITY, f64::min);
    if runs.len() < RUNS_LEAST || spread < SPREAD_LEAST * took || xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    let error = ((yy - slope * xy).max(0.0) / (count - 2.0) / xx).sqrt();
    let at_least_0 = |value: f64| value.max(0.0);
    Some(Beta {
        value: Interval {
            value: at_least_0(slope),
            lo: at_least_0(slope - 1.96 * error),
            hi: at_least_0(slope + 1.96 * error),
        },
        clear_s: took - slope * lost,
        runs: runs.len() as u32,
        learnt_until: runs.iter().map(|run| run.end).max()?,
    })
}

/// Run times without contention over that of the best known placement, by configuration and groups spanned: median and
/// quartiles, where two placements are known of two runs each.
pub fn placements(
    runs: &[FinishedRun],
    betas: &HashMap<String, (Beta, u32)>,
) -> BTreeMap<(String, i64), Interval> {
    let mut clear: BTreeMap<(String, i64), Vec<f64>> = BTreeMap::new();
    for run in runs {
        if let Some((beta, _)) = betas.get(&run.configuration) {
            let clear_s = run.run_s - beta.value.value * run.slowdown_s;
            clear.entry((run.configuration.clone(), run.groups)).or_default().push(clear_s);
        }
    }
    clear.retain(|_, of| of.len() >= 2);
    let mut best: HashMap<String, (f64, usize)> = HashMap::new();
    for ((configuration, _), of) in &mut clear {
        of.sort_by(f64::total_cmp);
        let known = best.entry(configuration.clone()).or_insert((f64::INFINITY, 0));
        *known = (known.0.min(quantile(of, 0.5)), known.1 + 1);
    }
    let factors = clear.into_iter().filter_map(|(key, of)| {
        let (best_s, count) = best[&key.0];
        let part = |q: f64| quantile(&of, q) / best_s;
        (count >= 2).then(|| (key, Interval { value: part(0.5), lo: part(0.25), hi: part(0.75) }))
    });
    factors.collect()
}

/// Between the two nearest of `sorted`, which is not empty.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

/// The factors of `job`: by what its configuration learnt, and which version of that; with a second for a second where
/// nothing was learnt; the caveat reports that.
pub fn factors(job: &StoredLoss, learnt: Option<&(Beta, u32)>, placement: Option<Interval>) -> JobFactors {
    let one = Interval { value: 1.0, lo: 1.0, hi: 1.0 };
    let beta = learnt.map_or(one, |(beta, _)| beta.value);
    let of = |share: f64, most: f64| Interval {
        value: job.lost_s.value * share * beta.value,
        lo: job.lost_s.lo * share * beta.lo,
        hi: job.lost_s.hi * most * beta.hi,
    };
    JobFactors {
        job_id: job.job_id.clone(),
        configuration: job.configuration.clone(),
        self_s: of(job.own, job.own.min(1.0)),
        // Loss of unknown source may be others'.
        other_s: of(job.others, (1.0 - job.own).max(0.0)),
        placement,
        beta,
        beta_version: learnt.map_or(0, |(_, version)| *version),
        beta_runs: learnt.map_or(0, |(beta, _)| beta.runs),
        caveat: caveat(job, learnt.is_some()),
    }
}

fn caveat(job: &StoredLoss, learnt: bool) -> String {
    let missing = format!("{:.0}% of the data is missing", 100.0 * (1.0 - job.completeness));
    let caveats = [
        (!learnt, "no finished runs of this configuration to learn from"),
        (job.completeness < COMPLETE, missing.as_str()),
        (job.end_presumed, "end not reported"),
        (
            job.contended_s > ALWAYS * job.run_s,
            "it never saw a quiet spell: what it would do without contention is assumed",
        ),
    ];
    caveats.iter().filter(|(holds, _)| *holds).map(|(_, text)| *text).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemas::Time;

    fn run(groups: i64, clear_s: f64, slowdown_s: f64) -> FinishedRun {
        let run_s = clear_s + 0.6 * slowdown_s;
        FinishedRun { configuration: "cfd".to_string(), groups, run_s, slowdown_s, end: Time(0) }
    }

    #[test]
    fn beta_is_learnt_from_runs_that_differ_in_contention() {
        let runs: Vec<_> =
            (0..6).map(|at| run(1, 1_000.0 + f64::from(at % 2), 50.0 * f64::from(at))).collect();
        let beta = fit(&runs.iter().collect::<Vec<_>>()).unwrap();
        assert!((beta.value.value - 0.6).abs() < 0.01 && (beta.clear_s - 1_000.5).abs() < 1.0, "{beta:?}");
        assert!(beta.value.lo <= 0.6 && 0.6 <= beta.value.hi, "{beta:?}");
        assert_eq!(fit(&runs[..4].iter().collect::<Vec<_>>()), None, "too few");
        let alike: Vec<_> = (0..6).map(|_| run(1, 1_000.0, 50.0)).collect();
        assert_eq!(fit(&alike.iter().collect::<Vec<_>>()), None, "too equal");
    }

    #[test]
    fn a_placement_is_measured_by_the_best_known_one() {
        let mut runs: Vec<_> = (0..6).map(|at| run(1, 1_000.0, 50.0 * f64::from(at))).collect();
        runs.extend((0..3).map(|at| run(2, 1_200.0, 100.0 * f64::from(at))));
        let beta = fit(&runs[..6].iter().collect::<Vec<_>>()).unwrap();
        let factors = placements(&runs, &HashMap::from([("cfd".to_string(), (beta, 1))]));
        let of = |groups: i64| factors[&("cfd".to_string(), groups)].value;
        assert!((of(1) - 1.0).abs() < 1e-6 && (of(2) - 1.2).abs() < 1e-6, "{factors:?}");
    }
}
