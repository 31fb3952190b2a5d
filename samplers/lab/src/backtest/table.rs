//! The answer as tables and sentences for people.

use super::answer::Answer;
use super::choice::{TRUTHS_MIN, Verdict};
use super::labels::QUIET_BEFORE_S;
use super::score::Score;
use std::fmt::Write;

/// Candidates shown, the best first; `--json` has all of them.
const ROWS: usize = 30;
/// Columns: a heading of two lines.
const HEADS: [(&str, &str); 11] = [
    ("", ""),
    ("precision", ""),
    ("recall", ""),
    ("episodes", "found"),
    ("episodes", "false"),
    ("latency", "p50, p99 s"),
    ("dated off", "p50, p99 s"),
    ("false s/h", "a series"),
    ("false s/h", "in all"),
    ("slowdown", "error, med."),
    ("in 95%", "interval"),
];

type Row = [String; 11];

/// The answer as text.
pub fn text(answer: &Answer) -> String {
    let mut text = String::new();
    head(answer, &mut text);
    candidates(answer, &mut text);
    by_metric(answer, &mut text);
    halves(answer, &mut text);
    proposal(answer, &mut text);
    text
}

fn head(answer: &Answer, text: &mut String) {
    let (judged, of_default) = (&answer.judged, &answer.choice.scores[0].all);
    let hours = judged.span.1.seconds_since(judged.span.0) / 3600.0;
    let _ = writeln!(
        text,
        "{} rows, {hours:.2} h, {} series, {:.2} series hours; true: {} stretches of {:.0} s, {} jobs that lost {:.1} s",
        answer.rows,
        judged.series.len(),
        of_default.seen_s / 3600.0,
        of_default.episodes_true,
        of_default.true_s,
        judged.jobs.len(),
        judged.jobs.iter().fold(0.0, |sum, job| sum + job.slowdown_s),
    );
    let before = judged.from_start;
    if before.stretches + before.jobs > 0 {
        let _ = writeln!(
            text,
            "counted neither way: {} stretches of {:.0} s and {} jobs, contended before {QUIET_BEFORE_S:.0} s of quiet activity were seen",
            before.stretches, before.contended_s, before.jobs
        );
    }
}

fn candidates(answer: &Answer, text: &mut String) {
    let shown = answer.choice.order.iter().take(ROWS);
    let rows = shown.map(|at| {
        let mark = if *at == answer.choice.best() { "* " } else { "  " };
        row(format!("{mark}{}", answer.candidates[*at].name), &answer.choice.scores[*at].all)
    });
    table(rows.collect(), text);
    let more = answer.choice.order.len().saturating_sub(ROWS);
    if more > 0 {
        let _ = writeln!(text, "  and {more} that are worse; --json lists them all");
    }
}

/// The best and the default by metric, where there is more than one.
fn by_metric(answer: &Answer, text: &mut String) {
    if answer.choice.scores[0].metrics.len() < 2 {
        return;
    }
    let mut shown = vec![answer.choice.best()];
    if answer.choice.best() != 0 {
        shown.push(0);
    }
    let of = |at: usize| {
        let name = answer.candidates[at].name.as_str();
        answer.choice.scores[at]
            .metrics
            .iter()
            .map(move |(metric, score)| row(format!("  {name}: {metric}"), score))
    };
    table(shown.into_iter().flat_map(of).collect(), text);
}

fn halves(answer: &Answer, text: &mut String) {
    if answer.candidates.len() < 2 {
        return;
    }
    let _ = writeln!(text, "\nchosen on one half of the time, tried on the other:");
    for (fold, [there, elsewhere]) in
        answer.choice.folds.iter().zip([["first", "second"], ["second", "first"]])
    {
        let (name, score) = (&answer.candidates[fold.chosen].name, short(&fold.there.all));
        let _ = write!(text, "  best on the {there} half: {name}, {score}");
        if fold.chosen > 0 {
            let (tried, of_default) = (short(&fold.elsewhere.all), short(&fold.default_elsewhere.all));
            let _ =
                write!(text, "\n    on the {elsewhere} half: {tried}\n    the default there: {of_default}");
        }
        text.push('\n');
    }
}

fn proposal(answer: &Answer, text: &mut String) {
    let best = answer.choice.best();
    let _ = writeln!(text, "\n{}", sentence(answer));
    if best == 0 {
        return;
    }
    let (name, score) = (&answer.candidates[best].name, &answer.choice.scores[best].all);
    let _ = writeln!(text, "  {name}: {}\n  default: {}", short(score), short(&answer.choice.scores[0].all));
    let taken =
        if answer.choice.verdict == Verdict::Better { "take" } else { "if you want it all the same, take" };
    if let Some(file) = &answer.candidates[best].file {
        let _ = writeln!(
            text,
            "{taken} {}{}",
            file.display(),
            if answer.toml.is_empty() { "" } else { ", with this in it:" }
        );
    } else {
        let _ = writeln!(text, "{taken} this into the configuration:");
    }
    text.push_str(&answer.toml);
}

/// Whether to take it, and why.
fn sentence(answer: &Answer) -> String {
    let truths = answer.choice.scores[0].all.episodes_true;
    let limit = answer.false_seconds_max;
    let best = &answer.choice.scores[answer.choice.best()].all;
    let within = best.false_s_per_series_hour <= limit;
    let over = if within {
        String::new()
    } else {
        format!(" None keeps to {limit} false seconds per series and hour.")
    };
    let text = match answer.choice.verdict {
        Verdict::DefaultIsBest if answer.candidates.len() < 2 => "There is nothing to choose from: the default alone was scored.".to_string(),
        Verdict::DefaultIsBest => "Keep the default: on this data none of the others is better.".to_string(),
        Verdict::TooFewTruths => format!(
            "Keep the default: {truths} true stretches are too few to rule out luck; at least {TRUTHS_MIN} are needed."
        ),
        Verdict::OneHalfWithoutTruth => {
            "Keep the default: one half of the time has no true stretch, so a choice cannot be tried on other data.".to_string()
        }
        Verdict::NotConfirmed => {
            "Keep the default: what is best in one half of the time is not better than the default in the other.".to_string()
        }
        Verdict::WithinNoise => "Keep the default: the difference is within noise.".to_string(),
        Verdict::Better => "Better than the default, in both halves of the time and beyond noise.".to_string(),
    };
    text + &over
}

fn row(name: String, score: &Score) -> Row {
    let slowdown = &score.slowdown;
    [
        name,
        percent(score.precision),
        percent(score.recall),
        format!("{}/{}", score.episodes_found, score.episodes_true),
        score.episodes_false.to_string(),
        pair(score.latency_p50_s, score.latency_p99_s),
        pair(score.start_off_p50_s, score.start_off_p99_s),
        format!("{:.2}", score.false_s_per_series_hour),
        format!("{:.1}", score.false_s_per_hour),
        format!("{}, {}", percent(slowdown.relative_error), percent(slowdown.median_relative_error)),
        percent(slowdown.within_interval),
    ]
}

fn short(score: &Score) -> String {
    let f1 = score.f1.map_or("-".to_string(), |f1| format!("{f1:.3}"));
    let error = percent(score.slowdown.relative_error);
    format!(
        "F1 {f1}, {:.2} false s per series and hour, slowdown error {error}",
        score.false_s_per_series_hour
    )
}

fn percent(part: Option<f64>) -> String {
    part.map_or("-".to_string(), |part| format!("{:.1}%", part * 100.0))
}

fn pair(p50: Option<f64>, p99: Option<f64>) -> String {
    match (p50, p99) {
        (Some(p50), Some(p99)) => format!("{p50:.1}, {p99:.1}"),
        _ => "-".to_string(),
    }
}

/// Names left, numbers right.
fn table(rows: Vec<Row>, text: &mut String) {
    let heads = [HEADS.map(|(above, _)| above.to_string()), HEADS.map(|(_, below)| below.to_string())];
    let lines: Vec<Row> = heads.into_iter().chain(rows).collect();
    let widths: Vec<usize> = (0..HEADS.len())
        .map(|at| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0))
        .collect();
    text.push('\n');
    for line in &lines {
        let mut out = format!("{:<width$}", line[0], width = widths[0]);
        for (cell, width) in line.iter().zip(&widths).skip(1) {
            let _ = write!(out, "  {cell:>width$}");
        }
        let _ = writeln!(text, "{}", out.trim_end());
    }
}
