//! Jobs as a table: what each lost, with its range and its largest cause.

use crate::headline::{range, short};
use crate::labels::printable;
use crate::numbers::{percent, utc};
use crate::wrapping::shorten;
use crate::{ReportError, Source};
use schemas::{Cause, CauseKind, CauseShare, Time};
use store::read::job_lines::{self, JobLine};

pub use store::read::job_lines::JobFilter;

/// Most characters of a name; JSON has all of it.
const NAME_MAX: usize = 18;
/// Columns that give way where the table is too wide, the first first, and what is left of them: name, user, job.
const SHORTENED: [(usize, usize); 3] = [(2, 6), (1, 5), (0, 8)];
/// Smaller shares round to 0%.
const SHARE_SHOWN_MIN: f64 = 0.005;
/// Shorter losses round to 0.0 s.
const LOSS_SHOWN_MIN_S: f64 = 0.05;

type Cells = [String; 8];

/// Jobs of a store, in the order of the filter.
#[derive(Clone, Debug, PartialEq)]
pub struct JobList(Vec<JobLine>);

impl Source {
    /// Jobs with their loss.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn jobs(&self, filter: &JobFilter) -> Result<JobList, ReportError> {
        Ok(JobList(self.read("the list of jobs", |from| job_lines::list(from, filter))?))
    }
}

impl JobList {
    /// A table of at most `width` columns; a sentence where there is no job.
    pub fn text(&self, width: usize) -> String {
        if self.0.is_empty() {
            return "no such jobs\n".to_string();
        }
        let head =
            ["job", "user", "name", "nodes", "start (UTC)", "run", "lost", "largest cause"].map(String::from);
        let rows: Vec<Cells> = std::iter::once(head).chain(self.0.iter().map(cells)).collect();
        let widths = widths(&rows, width);
        let line = |row: &Cells| {
            let cells =
                row.iter().zip(widths).map(|(cell, width)| format!("{:<width$}", shorten(cell, width)));
            cells.collect::<Vec<String>>().join("  ").trim_end().to_string() + "\n"
        };
        rows.iter().map(line).collect()
    }

    /// A list of JSON objects and a line break.
    ///
    /// # Errors
    /// Never with the values that a store has.
    pub fn json(&self) -> Result<String, ReportError> {
        Ok(serde_json::to_string_pretty(&self.0)? + "\n")
    }
}

/// Columns as wide as their longest cell, narrowed until a line has at most `width` characters.
fn widths(rows: &[Cells], width: usize) -> [usize; 8] {
    let mut widths = [0; 8];
    for row in rows {
        for (wide, cell) in widths.iter_mut().zip(row) {
            *wide = cell.chars().count().max(*wide);
        }
    }
    let gaps = 2 * (widths.len() - 1);
    let last = (widths.len() - 1, 1);
    for (column, least) in SHORTENED.into_iter().chain([last]) {
        let over = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
        widths[column] -= over.min(widths[column].saturating_sub(least));
    }
    widths
}

fn cells(of: &JobLine) -> Cells {
    let job = if of.label.is_empty() { of.job_id.clone() } else { printable(&of.label) };
    let run = of
        .run_s
        .map_or_else(|| "-".to_string(), |s| format!("{s:.0} s{}", if of.end.is_none() { "+" } else { "" }));
    // The year is in the report.
    let start = utc(Time::from_seconds(of.start));
    [
        job,
        printable(&of.user),
        shorten(&printable(&of.name), NAME_MAX),
        of.nodes.to_string(),
        start.get(5..16).unwrap_or(&start).replace('T', " "),
        run,
        lost(of),
        cause(of),
    ]
}

/// The share of the time that was seen and not judged, where a part of it was judged.
fn unjudged(of: &JobLine) -> String {
    let judged = of.judged.unwrap_or(0.0);
    let share = of.completeness.unwrap_or(0.0) - judged;
    if judged > 0.0 && share >= SHARE_SHOWN_MIN {
        format!("{} not judged", percent(share))
    } else {
        String::new()
    }
}

/// The loss with its range; in words where there is none.
fn lost(of: &JobLine) -> String {
    let Some(lost_s) = of.lost_s else { return "no data".to_string() };
    if lost_s.value >= LOSS_SHOWN_MIN_S {
        return range(lost_s);
    }
    let hi_s = if lost_s.hi < LOSS_SHOWN_MIN_S { "0".to_string() } else { seconds(lost_s.hi) };
    match of.judged.unwrap_or(0.0) > 0.0 {
        true => format!("0 s [0, {hi_s}]"),
        false => format!("not judged [0, {hi_s}]"),
    }
}

fn seconds(value: f64) -> String {
    let decimals = usize::from(value < 10.0);
    format!("{value:.decimals$}")
}

/// The largest cause, `suspected` where the loss may be 0; without a loss the share that was not judged.
fn cause(of: &JobLine) -> String {
    let Some(lost_s) = of.lost_s else { return String::new() };
    if lost_s.value < LOSS_SHOWN_MIN_S {
        return unjudged(of);
    }
    let (Some(cause), Some(share)) = (of.cause, of.share) else { return String::new() };
    if cause == Cause::Unknown {
        return String::new();
    }
    let series_or_job = of.series_or_job.clone().unwrap_or_default();
    format!(
        "{}{} {}",
        if lost_s.lo > 0.0 { "" } else { "suspected: " },
        percent(share),
        short(&CauseShare { cause, kind: CauseKind::Unknown, series_or_job, share })
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemas::Interval;

    fn line(lost_s: Interval, judged: f64) -> JobLine {
        JobLine {
            job_id: "7".to_string(),
            label: String::new(),
            user: "alice".to_string(),
            name: "ior".to_string(),
            nodes: 1,
            start: 0.0,
            end: None,
            run_s: Some(100.0),
            lost_s: Some(lost_s),
            completeness: Some(1.0),
            judged: Some(judged),
            cause: Some(Cause::OtherJob),
            series_or_job: Some("8".to_string()),
            share: Some(1.0),
        }
    }

    #[test]
    fn cause_of_a_loss_that_may_be_0_is_suspected() {
        assert_eq!(cause(&line(Interval { value: 6.0, lo: 2.0, hi: 9.0 }, 1.0)), "100% job 8");
        assert_eq!(cause(&line(Interval { value: 6.0, lo: 0.0, hi: 9.0 }, 1.0)), "suspected: 100% job 8");
    }

    #[test]
    fn job_without_a_loss_names_the_share_not_judged() {
        let nothing = Interval { value: 0.0, lo: 0.0, hi: 94.0 };
        assert_eq!(cause(&line(nothing, 0.06)), "94% not judged");
        assert_eq!(cause(&line(nothing, 1.0)), "");
        assert_eq!(
            (lost(&line(nothing, 0.0)), cause(&line(nothing, 0.0))),
            ("not judged [0, 94]".to_string(), String::new())
        );
    }

    #[test]
    fn cause_is_never_beside_a_loss_that_reads_0() {
        for (value, loss, reason) in
            [(0.04, "0 s [0, 0.5]", ""), (0.06, "0.1 s [0.0, 0.5]", "suspected: 100% job 8")]
        {
            let job = line(Interval { value, lo: 0.0, hi: 0.5 }, 1.0);
            assert_eq!((lost(&job).as_str(), cause(&job).as_str()), (loss, reason));
        }
        assert_eq!(lost(&line(Interval { value: 0.0, lo: 0.0, hi: 0.01 }, 1.0)), "0 s [0, 0]");
    }

    #[test]
    fn long_words_are_shortened_and_no_line_is_cut() {
        let mut partly = line(Interval { value: 0.0, lo: 0.0, hi: 9_400.0 }, 0.06);
        partly.user = "a_user_of_many_letters".to_string();
        partly.name = "an_application_of_many_letters".to_string();
        let caused = line(Interval { value: 9_400.0, lo: 0.0, hi: 12_345.0 }, 1.0);
        let list = JobList(vec![partly, caused]);
        let text = list.text(100);
        assert!(text.contains("  94% not judged\n") && text.contains("  suspected: 100% job 8\n"), "{text}");
        for width in [80, 100, 160] {
            let text = list.text(width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        }
        assert!(list.text(100).contains('…') && list.text(160).contains("a_user_of_many_letters"));
    }
}
