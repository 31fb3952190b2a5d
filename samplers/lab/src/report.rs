//! What came out: as lines, as a table for the terminal, and as a page with pictures.

use super::adapting::words::{in_words as saved_in_words, table as saved_table};
use super::calibration::{self, Calibration, Line};
use super::expect::{Judged, Shown};
use super::outcome::{CaseOutcome, Outcome};
use super::{files, picture, reliability};
use schemas::html::escape;
use std::io::Write;
use std::path::Path;

const STYLE: &str = include_str!("page.css");

/// A table in Markdown: a line for each expectation.
pub fn table(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "| experiment | check | what | value | wanted | paper | |\n|---|---|---|---|---|---|---|\n",
    );
    let cell = |text: &str| text.replace('|', "\\|");
    for outcome in outcomes {
        for judged in &outcome.judged {
            let [check, value, paper] = columns(judged);
            let mark = if judged.held { "ok" } else { "**missed**" };
            let (what, wanted) = (cell(&judged.what), cell(&judged.wanted));
            text +=
                &format!("| {} | {check} | {what} | {value} | {wanted} | {paper} | {mark} |\n", outcome.name);
        }
    }
    let all = outcomes.iter().flat_map(|outcome| &outcome.judged);
    let held = all.clone().filter(|judged| judged.held).count();
    text + &format!("\n{held} of {} expectations of {} experiments hold.\n", all.count(), outcomes.len())
}

fn columns(judged: &Judged) -> [String; 3] {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| Shown(value).to_string());
    [judged.check.clone().unwrap_or_default(), number(judged.value), number(judged.paper)]
}

/// A job of an experiment counts in the calibration if it lost at least so many seconds.
const VICTIM_S: f64 = 5.0;

/// The calibration of experiments: jobs that lost to others or to failures. One line, or none without such jobs.
pub fn calibration_of(outcomes: &[Outcome]) -> Option<Line> {
    let mut calibration = Calibration::default();
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    for job in cases.filter_map(|case| case.played.as_ref()).flat_map(|played| &played.jobs) {
        let truth_s = job.lost_others_s + job.lost_failover_s;
        if truth_s >= VICTIM_S {
            let found = job.found.unwrap_or_default();
            calibration.add(truth_s, [found.slowdown_s, found.lo_s, found.hi_s]);
        }
    }
    Some(Line { kind: "experiments on networks".to_string(), calibration }).filter(Line::has_any)
}

/// The diagram and table of calibration; nothing without intervals.
fn calibration_section(lines: &[Line]) -> String {
    if !lines.iter().any(Line::has_any) {
        return String::new();
    }
    let row = |tag: &str, cells: &[String]| {
        let cells = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let all = Line::all(lines);
    let shown = lines.iter().filter(|line| line.has_any()).chain([&all]);
    let rows: String = shown.map(|line| row("td", &calibration::cells(line))).collect();
    format!(
        "<section>\n<h2 id=\"calibration\">Calibration</h2>\n\
         <p>How often intervals hold the true loss. Those of 50% and 80% are those of 95%, each half scaled by the normal \
         quantiles. An interval from 0 is a bound, not an error: these are counted apart.</p>\n{}\
         <table>{}{rows}</table>\n</section>",
        reliability::svg(lines),
        row("th", &calibration::HEADS.map(str::to_string))
    )
}

/// A page with a picture of each case, and of the calibration.
pub fn page(outcomes: &[Outcome], calibration: &[Line]) -> String {
    let experiments = outcomes.iter().map(section);
    let sections: Vec<String> = [calibration_section(calibration)].into_iter().chain(experiments).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Experiments</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>Experiments</h1>\n<p>Bars are jobs: dark what they take alone, orange what others add. The curves count contended links.</p>\n{}\n</body>\n</html>\n",
        sections.join("\n")
    )
}

/// Writes a picture of each case that was played into a folder.
///
/// # Errors
/// The disk's.
pub fn write_pictures(outcomes: &[Outcome], calibration: &[Line], folder: &Path) -> anyhow::Result<()> {
    files::make(folder)?;
    pictures(outcomes, calibration).try_for_each(|(name, picture)| files::write(&folder.join(name), &picture))
}

/// A picture of each case that was played and of the calibration, as SVG, with the name of its file.
fn pictures(outcomes: &[Outcome], calibration: &[Line]) -> impl Iterator<Item = (String, String)> {
    let diagram = calibration
        .iter()
        .any(Line::has_any)
        .then(|| ("calibration.svg".to_string(), reliability::svg(calibration)));
    let cases = outcomes.iter().flat_map(|outcome| outcome.cases.iter().map(move |case| (outcome, case)));
    let cases = cases.filter_map(|(outcome, case)| {
        let picture = match (&case.played, &case.adapted) {
            (Some(played), _) => picture::svg(case, played),
            (None, Some(adapted)) => super::adapting::picture::svg(&case.name, adapted),
            (None, None) => return None,
        };
        let name: String =
            case.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        Some((format!("{}-{name}.svg", outcome.name), picture))
    });
    cases.chain(diagram)
}

fn section(outcome: &Outcome) -> String {
    let labels =
        if outcome.checks.is_empty() { String::new() } else { format!(" ({})", outcome.checks.join(", ")) };
    let mut parts = vec![
        format!("<h2 id=\"{0}\">{1}{2}</h2>", escape(&outcome.name), escape(&outcome.title), escape(&labels)),
        format!("<p><b>{}.</b> {}</p>", escape(&outcome.source), escape(&outcome.paper)),
    ];
    if !outcome.limits.is_empty() {
        parts.push(format!("<p class=\"limits\">Not reproduced: {}</p>", escape(&outcome.limits)));
    }
    parts.push(judged_table(&outcome.judged));
    for case in &outcome.cases {
        if let Some(played) = &case.played {
            parts.push(format!("<h3>{}</h3>\n{}", escape(&case.name), picture::svg(case, played)));
            parts.push(jobs_table(case));
        }
        if let Some(adapted) = &case.adapted {
            let picture = super::adapting::picture::svg(&case.name, adapted);
            parts.push(format!("<h3>{}</h3>\n{picture}\n{}", escape(&case.name), saved_table(adapted)));
        }
    }
    format!("<section>\n{}\n</section>", parts.join("\n"))
}

fn judged_table(judged: &[Judged]) -> String {
    let row = |judged: &Judged| {
        let [check, value, paper] = columns(judged);
        let class = if judged.held { "held" } else { "missed" };
        let cells = [check.as_str(), &judged.what, &judged.measure, &value, &judged.wanted, &paper, class];
        let cells: Vec<String> = cells.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
        format!("<tr class=\"{class}\">{}</tr>", cells.concat())
    };
    let rows: Vec<String> = judged.iter().map(row).collect();
    format!(
        "<table><tr><th>check</th><th>what</th><th>measure</th><th>value</th><th>wanted</th><th>paper</th><th></th></tr>\n{}</table>",
        rows.join("\n")
    )
}

fn jobs_table(case: &CaseOutcome) -> String {
    let mut rows = String::new();
    if case.played.as_ref().is_none_or(|played| played.jobs.is_empty()) {
        return rows;
    }
    for line in job_lines(case) {
        let cells: Vec<String> = line.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
        rows += &format!("<tr>{}</tr>\n", cells.concat());
    }
    format!(
        "<table><tr><th>job</th><th>run (s)</th><th>alone (s)</th><th>lost to others (s)</th>\
         <th>to itself (s)</th><th>Tailback reports (s)</th><th>95%</th></tr>\n{rows}</table>"
    )
}

/// Job, run time, run time alone, truly lost to others and failures, to itself, reported, interval.
fn job_lines(case: &CaseOutcome) -> Vec<[String; 7]> {
    let jobs = case.played.iter().flat_map(|played| &played.jobs);
    let line = |job: &super::play::JobPlayed| {
        let run = job.end_s.map_or("runs".to_string(), |end_s| format!("{:.0}", end_s - job.start_s));
        let lost = format!("{:.1}", job.lost_others_s + job.lost_failover_s);
        let reported = job.found.map_or("-".to_string(), |found| format!("{:.1}", found.slowdown_s));
        let interval =
            job.found.map_or(String::new(), |found| format!("{:.1} to {:.1}", found.lo_s, found.hi_s));
        [
            job.job_id.to_string(),
            run,
            format!("{:.0}", job.alone_s),
            lost,
            format!("{:.1}", job.lost_self_s),
            reported,
            interval,
        ]
    };
    jobs.map(line).collect()
}

/// What came of an experiment, line by line.
///
/// # Errors
/// What `out` refuses.
pub fn in_words(outcome: &Outcome, out: &mut impl Write) -> anyhow::Result<()> {
    let labels =
        if outcome.checks.is_empty() { String::new() } else { format!(" ({})", outcome.checks.join(", ")) };
    writeln!(out, "{}: {}{labels}", outcome.name, outcome.title)?;
    for judged in &outcome.judged {
        let mark = if judged.held { "ok    " } else { "MISSED" };
        let value = judged.value.map_or("-".to_string(), |value| Shown(value).to_string());
        writeln!(out, "  {mark} {}: {} = {value}, wanted {}", judged.what, judged.measure, judged.wanted)?;
    }
    for case in &outcome.cases {
        match &case.adapted {
            Some(adapted) => saved_in_words(&case.name, adapted, out)?,
            None if outcome.judged.is_empty() => jobs_in_words(case, out)?,
            None => {}
        }
    }
    Ok(())
}

/// The jobs of a case, for an experiment that expects nothing.
fn jobs_in_words(case: &CaseOutcome, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "  case {}", case.name)?;
    for [job, run, alone, lost, own, reported, interval] in job_lines(case) {
        writeln!(
            out,
            "    job {job}: ran {run} s, alone {alone} s; lost {lost} s to others, {own} s to itself; Tailback reports {reported} s ({interval})"
        )?;
    }
    for region in case.played.iter().flat_map(|played| &played.regions) {
        let super::play::RegionPlayed { name, cause, kind, start_s, end_s, .. } = region;
        writeln!(out, "    {name}: {cause}, {kind}, from {start_s:.0} to {end_s:.0} s")?;
    }
    Ok(())
}
