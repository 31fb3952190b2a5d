//! A report in one sentence.

use crate::PostMortem;
use crate::labels::cause_word;
use crate::numbers::percent;
use schemas::{Cause, CauseShare, Interval, JobResult};

/// Shares of the run below this are no finding.
const SHARE_MIN: f64 = 0.005;

/// What the job lost, with the range, and the largest cause; or what is not known of it.
pub(crate) fn headline(facts: &PostMortem) -> String {
    let id = &facts.job.job_id;
    let Some(result) = facts.seen() else {
        return format!("Job {id}: no data was received; whether it met contention is unknown.");
    };
    let run_s = facts.run_s();
    let run = if facts.job.end.is_none() { "the first" } else { "its" };
    let run = format!("{run} {run_s:.0} s");
    let hi_s = result.slowdown_hi_s;
    if result.slowdown_s <= 0.0 {
        let most = format!("at most {}", seconds(hi_s));
        return match result.judged {
            judged if judged <= 0.0 => {
                format!("Job {id} was not judged: of {run} it may have lost anything, {most}.")
            }
            _ if hi_s > SHARE_MIN * run_s => {
                format!("Job {id}: no loss was measured in {run}; what was not judged may hide {most}.")
            }
            _ if hi_s >= 0.05 => format!("Job {id} lost nothing to contention in {run} ({most})."),
            _ => format!("Job {id} lost nothing to contention in {run}."),
        };
    }
    let share =
        if run_s > 0.0 { format!(" ({})", percent(result.slowdown_s / run_s)) } else { String::new() };
    let to = largest(result).map_or_else(|| ", cause unknown".to_string(), |cause| format!(", {cause}"));
    if result.slowdown_lo_s <= 0.0 {
        return format!(
            "Job {id} may have lost up to {} of {run} to contention (suspected: 0 is possible){to}.",
            seconds(hi_s)
        );
    }
    format!("Job {id} lost {} of {run}{share} to contention{to}.", range(result.lost_s()))
}

/// The cause of the largest share, in a few words.
fn largest(result: &JobResult) -> Option<String> {
    let largest = result
        .causes
        .iter()
        .filter(|c| c.cause != Cause::Unknown)
        .max_by(|a, b| a.share.total_cmp(&b.share))?;
    Some(format!("{} of it by {}", percent(largest.share), short(largest)))
}

/// A cause in a few words.
pub(crate) fn short(of: &CauseShare) -> String {
    match of.cause {
        Cause::IoOnMpi => format!("I/O of {}", cause_word(Cause::OtherJob, &of.series_or_job)),
        Cause::FailoverInduced => "a failed or narrowed path".to_string(),
        Cause::Server => "a slower server".to_string(),
        Cause::Node => "a slower node".to_string(),
        _ => cause_word(of.cause, &of.series_or_job),
    }
}

/// Seconds with their interval, without decimals that say nothing.
pub(crate) fn range(of: Interval) -> String {
    let decimals = usize::from(of.value < 10.0);
    format!("{:.decimals$} s [{:.decimals$}, {:.decimals$}]", of.value, of.lo, of.hi)
}

fn seconds(value: f64) -> String {
    if value < 10.0 { format!("{value:.1} s") } else { format!("{value:.0} s") }
}
