//! Jobs as a table: what each lost, with its range and its largest cause.

use crate::headline::short;
use crate::labels::printable;
use crate::numbers::{percent, utc};
use crate::{ReportError, Source};
use schemas::{Cause, CauseKind, CauseShare, Interval, Time};
use store::read::job_lines::{self, JobLine};

pub use store::read::job_lines::JobFilter;

/// Columns of a name; JSON has all of it.
const NAME: usize = 18;
/// Smaller shares round to 0%.
const SHARE_SHOWN_MIN: f64 = 0.005;

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
        let rows: Vec<[String; 8]> = std::iter::once(head).chain(self.0.iter().map(cells)).collect();
        let of_column = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..7).map(of_column).collect();
        let line = |row: &[String; 8]| {
            let cells: String =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect();
            let line: String = (cells + &row[7]).chars().take(width).collect();
            line.trim_end().to_string() + "\n"
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

fn cells(of: &JobLine) -> [String; 8] {
    let job = if of.label.is_empty() { of.job_id.clone() } else { printable(&of.label) };
    let run = of
        .run_s
        .map_or_else(|| "-".to_string(), |s| format!("{s:.0} s{}", if of.end.is_none() { "+" } else { "" }));
    // The year is in the report.
    let start = utc(Time::from_seconds(of.start));
    [
        job,
        printable(&of.user),
        printable(&of.name).chars().take(NAME).collect(),
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
        format!("not judged for {} of its time", percent(share))
    } else {
        String::new()
    }
}

/// The loss with its range; in words where there is none.
fn lost(of: &JobLine) -> String {
    let Some(Interval { value, lo, hi }) = of.lost_s else { return "no data".to_string() };
    let judged = of.judged.unwrap_or(0.0) > 0.0;
    match value > 0.0 {
        true => format!("{value:.0} s [{lo:.0}, {hi:.0}]"),
        false if judged => format!("0 s [0, {hi:.0}]"),
        false => format!("not judged [0, {hi:.0}]"),
    }
}

/// The largest cause, `suspected` where the loss may be 0; without a loss the share that was not judged.
fn cause(of: &JobLine) -> String {
    let Some(lost_s) = of.lost_s else { return String::new() };
    if lost_s.value <= 0.0 {
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
        assert_eq!(cause(&line(nothing, 0.06)), "not judged for 94% of its time");
        assert_eq!(cause(&line(nothing, 1.0)), "");
        assert_eq!(
            (lost(&line(nothing, 0.0)), cause(&line(nothing, 0.0))),
            ("not judged [0, 94]".to_string(), String::new())
        );
    }
}
