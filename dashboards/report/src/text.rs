//! A post-mortem as text: losses, times, causes, unknowns.

use crate::labels::{cause, kind, printable};
use crate::numbers::{counted, percent, utc};
use crate::{PostMortem, breakdown, episode_table, sparkline, summary, unknowns};
use schemas::{Cause, CauseShare, JobResult};

/// Columns of the sparkline.
const SPARK_COLUMNS: usize = 60;

/// Columns of a bar that stands for the whole loss.
const BAR_COLUMNS: usize = 20;

impl PostMortem {
    /// The page for a terminal of `width` columns; with `colour`, escape sequences set off what matters.
    pub fn text(&self, width: usize, colour: bool) -> String {
        page(self, width, &Paint { colour })
    }
}

fn page(facts: &PostMortem, width: usize, paint: &Paint) -> String {
    let mut page = head(facts, paint);
    match facts.seen() {
        Some(result) => {
            page.push(lost(facts, result, paint));
            page.extend(when(facts, width, paint));
            page.extend(causes(result, paint));
            page.extend(section(paint, "Breakdown", breakdown::factors(facts)));
            page.extend(section(paint, "Where", breakdown::regions(facts)));
        }
        None => page.extend(no_data(paint)),
    }
    let unknown = unknowns::sentences(facts);
    if !unknown.is_empty() {
        page.push(String::new());
        page.push(paint.bold("Unknown"));
        page.extend(unknown.iter().map(|s| format!("  {s}")));
    }
    page.join("\n") + "\n"
}

/// A part of the page with its title; nothing without lines.
fn section(paint: &Paint, title: &str, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return lines;
    }
    let indented = lines.into_iter().map(|line| format!("  {line}"));
    [String::new(), paint.bold(title)].into_iter().chain(indented).collect()
}

fn head(facts: &PostMortem, paint: &Paint) -> Vec<String> {
    let job = &facts.job;
    let label = if job.label.is_empty() { String::new() } else { format!(" ({})", printable(&job.label)) };
    let title = format!("Job {}{label}  {}  {}", job.job_id, printable(&job.name), of_user(&job.user));
    let until = match job.end {
        Some(end) if job.end_presumed => format!("to {} at the latest (end not reported)", utc(end)),
        Some(end) => format!("to {}", utc(end)),
        None => format!("and had no end by {}", utc(facts.until)),
    };
    vec![
        paint.bold(title.trim_end()),
        format!("  nodes  {}", summary::nodes(facts)),
        format!("  ran    {} {until}, {:.0} s", utc(job.start), facts.run_s()),
    ]
}

fn of_user(user: &str) -> String {
    if user.is_empty() { "of an unknown user".to_string() } else { format!("of {}", printable(user)) }
}

fn lost(facts: &PostMortem, r: &JobResult, paint: &Paint) -> String {
    let words = summary::lost(facts, r);
    match words.split_once(" [").filter(|_| r.slowdown_s > 0.0) {
        Some((seconds, rest)) => format!("  lost   {} [{rest}", paint.loss(seconds)),
        None => format!("  lost   {words}"),
    }
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
        lines.push(format!("  {}", paint.dim(&scale)));
        lines.push(String::new());
    }
    lines.extend(episode_table::lines(facts, width));
    lines
}

fn causes(result: &JobResult, paint: &Paint) -> Vec<String> {
    if result.slowdown_s <= 0.0 {
        return Vec::new();
    }
    let mut lines = vec![String::new(), paint.bold("Causes, by share of the loss")];
    let named: Vec<&CauseShare> = result.causes.iter().filter(|c| c.cause != Cause::Unknown).collect();
    if named.is_empty() {
        lines.push("  No cause is known.".to_string());
    }
    lines.extend(named.into_iter().map(|c| {
        let amount = format!("{:>4}  {}", percent(c.share), result.lost_s().times(c.share));
        format!("  {} {amount}  {} ({})", paint.loss(&bar(c.share)), cause(c), kind(c.kind))
    }));
    let others = counted(result.causes.len(), "cause", "causes");
    lines.truncate(lines.len().min(2 + 12));
    if result.causes.len() > 12 {
        lines.push(format!("  the largest of {others}; --json lists them all"));
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
