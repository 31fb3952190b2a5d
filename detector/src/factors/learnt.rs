//! Calibration from finished runs of one configuration, and the factors of a job's loss by it. Pure; the embedded store reads
//! and writes (`schemas/store/src/sqlite/learn.rs`), and the server's functions do the same in SQL
//! (`schemas/store/sql/migrations/postgres/0001_schema/upkeep.sql`).

use schemas::calibration::{Beta, FinishedRun, Learnt, MeasuredRun, StoredLoss, StoredRuns};
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
    let StoredRuns { runs, measured, mut betas, losses } = stored;
    let new = new_betas(&runs, &measured, &mut betas);
    let placed = placements(&runs, &betas);
    let of_job = |job: &StoredLoss| {
        let placement = placed.get(&(job.configuration.clone(), job.groups)).copied();
        factors(job, betas.get(&job.configuration), placement)
    };
    Learnt { betas: new, factors: losses.iter().map(of_job).collect() }
}

fn new_betas(
    runs: &[FinishedRun],
    measured: &[MeasuredRun],
    betas: &mut HashMap<String, (Beta, u32)>,
) -> Vec<(String, u32, Beta)> {
    let mut by_configuration: BTreeMap<&str, (Vec<&FinishedRun>, Vec<&MeasuredRun>)> = BTreeMap::new();
    runs.iter().for_each(|run| by_configuration.entry(&run.configuration).or_default().0.push(run));
    measured.iter().for_each(|run| by_configuration.entry(&run.configuration).or_default().1.push(run));
    let mut new = Vec::new();
    for (configuration, (runs, measured)) in by_configuration {
        let Some(beta) = mean_cost(&measured).or_else(|| fit(&runs)) else { continue };
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

/// What a second of contention cost runs by their own reports of progress: the mean, with the mean error of a run and the spread of
/// the runs. `None` where no run has it.
pub fn mean_cost(runs: &[&MeasuredRun]) -> Option<Beta> {
    let costs: Vec<Interval> = runs.iter().filter_map(|run| run.measured.cost).collect();
    let count = costs.len() as f64;
    let mean = |of: &dyn Fn(&Interval) -> f64| costs.iter().map(of).sum::<f64>() / count;
    let value = mean(&|cost| cost.value);
    let squares: f64 = costs.iter().map(|cost| (cost.value - value).powi(2)).sum();
    let spread = if costs.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
    let half = (mean(&|cost| cost.hi - cost.lo) / 2.0 + 1.96 * spread) / count.sqrt();
    let counted = || runs.iter().filter(|run| run.measured.cost.is_some());
    Some(Beta {
        value: Interval { value, lo: (value - half).max(0.0), hi: value + half },
        clear_s: counted().map(|run| run.run_s - run.measured.lost_s.value).sum::<f64>() / count,
        runs: costs.len() as u32,
        learnt_until: counted().map(|run| run.end).max()?,
    })
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

/// The factors of `job`: by its own reports of progress; else by what its configuration learnt, and which version of that; with a second for a second where
/// nothing was learnt; the caveat reports that.
pub fn factors(job: &StoredLoss, learnt: Option<&(Beta, u32)>, placement: Option<Interval>) -> JobFactors {
    let one = Interval { value: 1.0, lo: 1.0, hi: 1.0 };
    let learned = learnt.map_or(one, |(beta, _)| beta.value);
    let beta = job.measured.and_then(|measured| measured.cost).unwrap_or(learned);
    let lost_s = job.measured.map_or_else(|| product(job.lost_s, learned), |measured| measured.lost_s);
    let of = |share: f64, most: f64| Interval {
        value: lost_s.value * share,
        lo: lost_s.lo * share,
        hi: lost_s.hi * most,
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
        caveat: caveat(job, learnt.is_some() || job.measured.is_some()),
    }
}

fn product(a: Interval, b: Interval) -> Interval {
    Interval { value: a.value * b.value, lo: a.lo * b.lo, hi: a.hi * b.hi }
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
    use schemas::calibration::Measured;

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
    fn reports_of_progress_come_before_run_times() {
        let measured = |at: f64, cost: f64| MeasuredRun {
            configuration: "cfd".to_string(),
            run_s: 1_000.0,
            end: Time::from_seconds(at),
            measured: Measured {
                lost_s: Interval { value: 100.0, lo: 80.0, hi: 120.0 },
                cost: Some(Interval { value: cost, lo: cost - 0.1, hi: cost + 0.1 }),
            },
        };
        let runs: Vec<_> = (0..6).map(|at| run(1, 1_000.0, 50.0 * f64::from(at))).collect();
        let stored =
            |measured: Vec<MeasuredRun>| StoredRuns { runs: runs.clone(), measured, ..StoredRuns::default() };
        let only = learn(stored(vec![measured(5.0, 0.3)])).betas[0].2;
        assert!((only.value.value - 0.3).abs() < 1e-9 && (only.value.hi - 0.4).abs() < 1e-9, "{only:?}");
        assert_eq!((only.runs, only.learnt_until), (1, Time::from_seconds(5.0)));
        let two = learn(stored(vec![measured(5.0, 0.3), measured(6.0, 0.5)])).betas[0].2;
        assert!((two.value.value - 0.4).abs() < 1e-9 && two.value.lo < 0.3 && two.value.hi > 0.5, "{two:?}");
        assert!((learn(stored(Vec::new())).betas[0].2.value.value - 0.6).abs() < 0.01);
    }

    #[test]
    fn a_job_that_measures_itself_needs_no_other_runs() {
        let interval = |value: f64| Interval { value, lo: 0.9 * value, hi: 1.1 * value };
        let job = StoredLoss {
            job_id: schemas::Name::parse("1").unwrap(),
            configuration: "cfd".to_string(),
            groups: 1,
            end_presumed: false,
            run_s: 1_000.0,
            lost_s: interval(200.0),
            contended_s: 300.0,
            completeness: 1.0,
            own: 0.25,
            others: 0.75,
            measured: Some(Measured { lost_s: interval(100.0), cost: Some(interval(0.5)) }),
        };
        let found = factors(&job, None, None);
        assert!(
            (found.self_s.value - 25.0).abs() < 1e-9 && (found.other_s.hi - 82.5).abs() < 1e-9,
            "{found:?}"
        );
        assert_eq!((found.beta, found.caveat.as_str()), (interval(0.5), ""));
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
