//! What came out: as lines, as a table for the terminal, and as a page with pictures.

use super::expect::{Judged, Shown};
use super::outcome::{CaseOutcome, Outcome};
use super::{files, picture};
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

/// A page with a picture of each case.
pub fn page(outcomes: &[Outcome]) -> String {
    let sections: Vec<String> = outcomes.iter().map(section).collect();
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
pub fn write_pictures(outcomes: &[Outcome], folder: &Path) -> anyhow::Result<()> {
    files::make(folder)?;
    pictures(outcomes).try_for_each(|(name, picture)| files::write(&folder.join(name), &picture))
}

/// A picture of each case that was played, as SVG, with the name of its file.
fn pictures(outcomes: &[Outcome]) -> impl Iterator<Item = (String, String)> {
    let cases = outcomes.iter().flat_map(|outcome| outcome.cases.iter().map(move |case| (outcome, case)));
    cases.filter_map(|(outcome, case)| {
        let played = case.played.as_ref()?;
        let name: String =
            case.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        Some((format!("{}-{name}.svg", outcome.name), picture::svg(case, played)))
    })
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
    if outcome.judged.is_empty() {
        for case in &outcome.cases {
            jobs_in_words(case, out)?;
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
