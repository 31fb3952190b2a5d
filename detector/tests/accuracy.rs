//! Both models against scenarios whose truth is known, and the limits that `robust` must hold.
//!
//! `UPDATE_ACCURACY=1 cargo test --release -p detector accuracy::` writes the table again.

use detector::model::{ModelKind, Params};
use detector::score::{Verdict, one_series};
use samplers::ior_rates;
use samplers::parallel::at_once;
use samplers::scenario::{self, Quiet};
use schemas::Metric;
use std::fmt::Write;
use std::sync::OnceLock;

const CASES: [(u32, &str); 8] = [
    (19, "1-4-1"),
    (22, "1-8-1"),
    (25, "1-16-1"),
    (28, "2-8-2"),
    (31, "2-16-2"),
    (34, "4-8-4"),
    (37, "4-16-4"),
    (40, "1-4-8-16-8-4-1"),
];
const NOISE: [f64; 5] = [0.02, 0.05, 0.10, 0.15, 0.20];
const SEEDS: u64 = 20;
/// Bytes per second below which a client is idle, as in the stream.
const ACTIVE_FROM: f64 = 1e6;

/// Scores of one case at one noise, over all seeds.
#[derive(Clone, Copy, Default)]
struct Score {
    case: u32,
    noise: f64,
    truth: Truth,
    published_s: f64,
    robust_s: f64,
    error: f64,
    time_error_s: f64,
    covered: u32,
}

#[derive(Clone, Copy, Default)]
struct Truth {
    slowdown_s: f64,
    contended_s: f64,
}

fn run(model: ModelKind, metric: Metric, readings: &[f64]) -> Verdict {
    let active_from =
        if metric == Metric::from_name("lustre_write_rate").unwrap() { ACTIVE_FROM } else { 0.0 };
    one_series(model, Params::of(metric, model), readings, active_from)
}

/// All cases at all noises: several tests look at them.
fn scores() -> &'static [Score] {
    static SCORES: OnceLock<Vec<Score>> = OnceLock::new();
    SCORES.get_or_init(|| {
        let all: Vec<_> = CASES.iter().flat_map(|(case, _)| NOISE.map(|noise| (*case, noise))).collect();
        at_once(None, &all, |(case, noise)| score(*case, *noise))
    })
}

fn score(case: u32, noise: f64) -> Score {
    let mut score = Score { case, noise, ..Score::default() };
    let n = SEEDS as f64;
    for seed in 1..=SEEDS {
        let truth = ior_rates::ior_rates(case, noise, seed).unwrap();
        score.truth.slowdown_s += truth.slowdown_s / n;
        score.truth.contended_s += truth.contended_s / n;
        let metric = Metric::from_name("lustre_write_rate").unwrap();
        let robust = run(ModelKind::Robust, metric, &truth.rates_bytes_per_s);
        let published = run(ModelKind::Published, metric, &truth.rates_bytes_per_s);
        score.published_s += published.slowdown_s / n;
        score.robust_s += robust.slowdown_s / n;
        score.error += (robust.slowdown_s - truth.slowdown_s).abs() / truth.slowdown_s / n;
        score.time_error_s += (robust.contended_s - truth.contended_s).abs() / n;
        let inside = (robust.slowdown_lo_s..=robust.slowdown_hi_s).contains(&truth.slowdown_s);
        score.covered += u32::from(inside);
    }
    score
}

/// False contended seconds an hour: mean over the seeds and the worst seed, by episodes or flags,
/// whichever are more.
fn false_seconds(model: ModelKind, kind: Quiet, noise: f64) -> (f64, f64) {
    let metric = if kind == Quiet::RatioSpikes {
        Metric::from_name("aries_stall_ratio").unwrap()
    } else {
        Metric::from_name("lustre_write_rate").unwrap()
    };
    let hours = (1..=SEEDS).map(|seed| {
        let verdict = run(model, metric, &scenario::quiet(kind, noise, seed, 3600));
        verdict.contended_s.max(verdict.flagged_s)
    });
    let hours: Vec<f64> = hours.collect();
    (hours.iter().fold(0.0, |sum, s| sum + s) / SEEDS as f64, hours.iter().copied().fold(0.0, f64::max))
}

fn ior_table() -> String {
    let mut text = String::from(
        "| case | schedule | noise | true loss (s) | published (s) | robust (s) | robust error | time error (s) | interval holds |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for s in scores() {
        let (_, schedule) = CASES.iter().find(|(case, _)| *case == s.case).unwrap();
        writeln!(
            text,
            "| {} | {schedule} | {:.0}% | {:.1} | {:.1} | {:.1} | {:.1}% | {:.2} of {:.0} | {} of {SEEDS} |",
            s.case,
            s.noise * 100.0,
            s.truth.slowdown_s,
            s.published_s,
            s.robust_s,
            s.error * 100.0,
            s.time_error_s,
            s.truth.contended_s,
            s.covered
        )
        .unwrap();
    }
    text
}

fn quiet_table() -> String {
    let mut text = String::from(
        "| series | noise | published, false s/hour | robust, false s/hour | robust, worst hour |\n|---|---|---|---|---|\n",
    );
    for kind in Quiet::ALL {
        for noise in NOISE {
            let (published, _) = false_seconds(ModelKind::Published, kind, noise);
            let (robust, worst) = false_seconds(ModelKind::Robust, kind, noise);
            writeln!(
                text,
                "| {kind:?} | {:.0}% | {published:.0} | {robust:.2} | {worst:.0} |",
                noise * 100.0
            )
            .unwrap();
        }
    }
    text
}

fn document() -> String {
    format!(
        "# Accuracy of both models\n\n\
         Written by `UPDATE_ACCURACY=1 cargo test --release -p detector accuracy::`; the same test holds the limits.\n\
         Each line is {SEEDS} seeds. Noise is log-normal on the rate; the truth is the share of the rate that the\n\
         physics took away in that run, without the noise.\n\n\
         ## The IOR schedules of SAND2016-9525, table 4.1\n\n\
         The series of the first process alone. Error: mean of |estimate - truth| / truth. Time error: mean of\n\
         |estimate - truth| of the time in contention. Interval: how often the 95% interval held the truth.\n\
         `published` has no interval.\n\n{}\n\
         ## Series without contention\n\n\
         Seconds flagged per hour; each is a false alarm.\n\n{}",
        ior_table(),
        quiet_table()
    )
}

#[test]
fn robust_slowdown_of_ior_schedules_is_within_5_percent() {
    for score in scores() {
        assert!(score.error <= 0.05, "case {}, noise {}: {:.3}", score.case, score.noise, score.error);
    }
}

#[test]
fn robust_measures_the_time_in_contention_within_three_percent() {
    for Score { case, noise, truth, time_error_s, .. } in scores() {
        let limit_s = if *case == 19 { 3.0 } else { 0.03 * truth.contended_s };
        assert!(*time_error_s <= limit_s, "case {case}, noise {noise}: {time_error_s:.2} s");
    }
}

#[test]
fn the_interval_holds_the_truth_in_nine_runs_of_ten() {
    for Score { case, noise, covered, .. } in scores() {
        assert!(covered * 10 >= SEEDS as u32 * 9, "case {case}, noise {noise}: {covered}");
    }
}

#[test]
fn quiet_series_have_at_most_one_false_second_an_hour() {
    for kind in Quiet::ALL {
        for noise in NOISE {
            let (_, worst) = false_seconds(ModelKind::Robust, kind, noise);
            assert!(worst <= 1.0, "{kind:?}, noise {noise}: {worst} s in the worst hour");
        }
    }
}

#[test]
fn published_loses_the_mild_cases_in_noise_as_the_report_does() {
    let of = |noise| scores().iter().find(|score| score.case == 19 && score.noise == noise).unwrap();
    let (quiet, noisy) = (of(0.02), of(0.10));
    assert!((quiet.published_s - quiet.truth.slowdown_s).abs() < 1.5);
    assert!(noisy.published_s < 0.3 * quiet.truth.slowdown_s);
}

#[test]
fn the_table_in_the_repository_is_what_the_code_gives() {
    let folder = std::path::PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap());
    // Without UPDATE_ACCURACY it is written all the same, elsewhere: the documented command has to work.
    let elsewhere = tempfile::tempdir().unwrap();
    let update = std::env::var_os("UPDATE_ACCURACY").is_some();
    let written = if update { &folder } else { elsewhere.path() }.join("ACCURACY.md");
    std::fs::write(&written, document()).unwrap();
    let [fresh, kept] =
        [written, folder.join("ACCURACY.md")].map(|path| std::fs::read_to_string(path).unwrap());
    assert!(kept == fresh, "stale; write it again with UPDATE_ACCURACY=1");
}
