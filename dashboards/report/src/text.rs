//! A post-mortem as text: losses, times, causes, unknowns.

use crate::labels::{cause, kind, printable};
use crate::numbers::{counted, percent, utc};
use crate::wrapping::{fitted, wrapped};
use crate::{
    PostMortem, Stamp, advice, breakdown, caused, episode_table, headline, sparkline, summary, unknowns,
};
use schemas::{Cause, CauseShare, JobResult};

/// Columns of the sparkline.
const SPARK_COLUMNS: usize = 60;

/// Causes shown; JSON has all of them.
const CAUSES: usize = 12;

/// Fewest columns of a page.
const LEAST_COLUMNS: usize = 60;

/// Columns of a bar that stands for the whole loss.
const BAR_COLUMNS: usize = 20;

impl PostMortem {
    /// The page for a terminal of `width` columns, at least 60; with `colour`, escape sequences set off what matters.
    pub fn text(&self, width: usize, colour: bool, stamp: &Stamp) -> String {
        page(self, width.max(LEAST_COLUMNS), &Paint { colour }, stamp)
    }
}

fn page(facts: &PostMortem, width: usize, paint: &Paint, stamp: &Stamp) -> String {
    let mut page = head(facts, width, paint);
    match facts.seen() {
        Some(result) => {
            page.extend(lost(facts, result, width, paint));
            page.extend(when(facts, width, paint));
            page.extend(causes(facts, result, width, paint));
            page.extend(section(paint, width, "Breakdown", breakdown::factors(facts)));
            page.extend(section(paint, width, "Where", breakdown::regions(facts)));
        }
        None => page.extend(no_data(paint)),
    }
    page.extend(section(paint, width, "Caused: what it cost others", caused::lines(facts)));
    page.extend(section(paint, width, "Unknown", unknowns::sentences(facts)));
    page.extend(section(paint, width, "Advice", advice::advice(facts)));
    page.push(String::new());
    let origin = stamp.permalink(facts.job.job_id.as_str()).into_iter().chain([stamp.origin()]);
    page.extend(origin.flat_map(|line| wrapped("", &line, width)).map(|line| paint.dim(&line)));
    page.join("\n") + "\n"
}

/// A part of the page with its title; nothing without lines.
fn section(paint: &Paint, width: usize, title: &str, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return lines;
    }
    let indented = lines.into_iter().flat_map(|line| fitted(&format!("  {line}"), width));
    [String::new(), paint.bold(title)].into_iter().chain(indented).collect()
}

fn head(facts: &PostMortem, width: usize, paint: &Paint) -> Vec<String> {
    let job = &facts.job;
    let label = if job.label.is_empty() { String::new() } else { format!(" ({})", printable(&job.label)) };
    let title = format!("{}{label} {} {}", job.job_id, printable(&job.name), of_user(&job.user));
    let until = match job.end {
        Some(end) if job.end_presumed => format!("to {} at the latest (end not reported)", utc(end)),
        Some(end) => format!("to {}", utc(end)),
        None => format!("and had no end by {}", utc(facts.until)),
    };
    let headline = wrapped("", &headline::headline(facts), width);
    let ran = format!("{} {until}, {:.0} s", utc(job.start), facts.run_s());
    let mut lines: Vec<String> = headline.iter().map(|line| paint.bold(line)).collect();
    lines.push(String::new());
    for (head, text) in [("  job    ", title), ("  nodes  ", summary::nodes(facts)), ("  ran    ", ran)] {
        lines.extend(wrapped(head, &text, width));
    }
    lines
}

fn of_user(user: &str) -> String {
    if user.is_empty() { "of an unknown user".to_string() } else { format!("of {}", printable(user)) }
}

fn lost(facts: &PostMortem, r: &JobResult, width: usize, paint: &Paint) -> Vec<String> {
    let words = summary::lost(facts, r);
    let mut lines = wrapped("  lost   ", &words, width);
    if let Some(first) = lines.first_mut()
        && let Some((seconds, rest)) =
            first["  lost   ".len()..].split_once(" [").filter(|_| r.slowdown_s > 0.0)
    {
        *first = format!("  lost   {} [{rest}", paint.loss(seconds));
    }
    lines
}

fn no_data(paint: &Paint) -> Vec<String> {
    vec![
        paint.loss("  lost   unknown: no data of this job"),
        "         Whether it met contention is unknown.".to_string(),
    ]
}

fn when(facts: &PostMortem, width: usize, paint: &Paint) -> Vec<String> {
    if facts.episodes.is_empty() {
        return Vec::new();
    }
    let columns = SPARK_COLUMNS.min(width.saturating_sub(4)).max(20);
    let step = facts.run_s() / columns as f64;
    let mut lines = vec![String::new(), paint.bold("When")];
    if facts.run_s() > 0.0 {
        let line = sparkline::sparkline(&facts.loss_shares(columns));
        lines.push(format!("  {}", paint.loss(&line)));
        lines.push(format!("  {}", paint.dim(&sparkline::axis(facts.run_s(), columns))));
        let scale =
            format!("share of each {step:.1} s lost on the worst resource: ▁ no loss found, █ all of it");
        lines.extend(wrapped("  ", &scale, width).iter().map(|line| paint.dim(line)));
        lines.push(String::new());
    }
    lines.extend(episode_table::lines(facts, width));
    lines
}

fn causes(facts: &PostMortem, result: &JobResult, width: usize, paint: &Paint) -> Vec<String> {
    if result.slowdown_s <= 0.0 {
        return Vec::new();
    }
    let mut lines = vec![String::new(), paint.bold("Causes, by share of the loss")];
    let named: Vec<&CauseShare> = result.causes.iter().filter(|c| c.cause != Cause::Unknown).collect();
    if named.is_empty() {
        lines.push("  No cause is known.".to_string());
    }
    for c in named.iter().take(CAUSES) {
        let head = format!("  {} {:>4}  ", bar(c.share), percent(c.share));
        let lost = result.lost_s().times(c.share);
        let sure = facts
            .confidence(&c.series_or_job)
            .map_or(String::new(), |sure| format!(", confidence {}", percent(sure)));
        let suspected = if lost.lo > 0.0 { "" } else { "suspected: " };
        let text = format!("{lost} {suspected}{} ({}{sure})", cause(c), kind(c.kind));
        let mut of_cause = wrapped(&head, &text, width);
        if let Some(first) = of_cause.first_mut() {
            *first = first.replacen(&bar(c.share), &paint.loss(&bar(c.share)), 1);
        }
        lines.extend(of_cause);
    }
    if named.len() > CAUSES {
        lines.push(format!(
            "  the largest of {}; --json lists them all",
            counted(named.len(), "cause", "causes")
        ));
    }
    lines
}

fn bar(share: f64) -> String {
    let filled = ((share * BAR_COLUMNS as f64).round() as usize).min(BAR_COLUMNS);
    "█".repeat(filled) + &"░".repeat(BAR_COLUMNS - filled)
}

/// Escape sequences, or none.
struct Paint {
    colour: bool,
}

impl Paint {
    fn bold(&self, text: &str) -> String {
        self.wrap("1", text)
    }

    fn dim(&self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn loss(&self, text: &str) -> String {
        self.wrap("33", text)
    }

    fn wrap(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}
