//! What the demo found beside the simulator's truth.

use crate::calibration::EDGE_S;
use samplers::JobTruth;
use schemas::JobResult;
use std::fmt::Write;
use std::path::Path;

/// One line a job, how many intervals hold the truth, and where to read on. `whole` is false for a round that was
/// stopped.
pub(super) fn table(jobs: &[JobTruth], whole: bool, results: &[JobResult], store: &Path) -> String {
    let mut text = format!(
        "{:<7} {:<8} {:<18} {:<25} {:<14} interval\n",
        "job", "user", "name", "found lost (s)", "true lost (s)"
    );
    let mut held = 0;
    for job in jobs {
        let result = results.iter().find(|result| result.job_id.as_str() == job.job_id);
        held += usize::from(result.is_some_and(|result| holds(result, job.slowdown_s)));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line(job, result));
    }
    let round = if whole { "the last complete round" } else { "a round that was stopped" };
    let _ = writeln!(text, "the interval holds the truth for {held} of {} jobs of {round}", jobs.len());
    let first = jobs.first().map_or("JOB", |job| job.job_id.as_str());
    let _ = writeln!(text, "continue with: tailback report {first} --store {}", store.display());
    text
}

fn line(job: &JobTruth, result: Option<&JobResult>) -> String {
    let found = result.map_or("not seen".to_string(), |r| {
        format!("{:.1} [{:.1}, {:.1}]", r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s)
    });
    let run_s = job.end.map_or(f64::INFINITY, |end| end - job.start);
    let not_judged = result.and_then(|result| result.not_judged(run_s));
    let mark = match result {
        None => "no data".to_string(),
        Some(result) if holds(result, job.slowdown_s) => "holds the truth".to_string(),
        Some(_) => "MISSES the truth".to_string(),
    };
    let mark = not_judged.map_or(mark.clone(), |words| format!("{mark}; {words}"));
    format!("{:<7} {:<8} {:<18} {found:<25} {:<14.1} {mark}", job.job_id, job.user, job.name, job.slowdown_s)
}

/// Whether the interval has the truth, but for the time between two samples.
fn holds(result: &JobResult, true_s: f64) -> bool {
    (result.slowdown_lo_s - EDGE_S..=result.slowdown_hi_s + EDGE_S).contains(&true_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemas::Name;

    fn job(job_id: &str, slowdown_s: f64) -> JobTruth {
        JobTruth {
            job_id: job_id.to_string(),
            name: "ior".to_string(),
            user: "alice".to_string(),
            nodes: Vec::new(),
            start: 0.0,
            end: Some(100.0),
            contended: Vec::new(),
            contended_s: slowdown_s,
            slowdown_s,
            by: Vec::new(),
        }
    }

    fn result(job_id: &str, [value, lo, hi]: [f64; 3]) -> JobResult {
        JobResult {
            job_id: Name::parse(job_id).unwrap(),
            contended_s: value,
            slowdown_s: value,
            slowdown_lo_s: lo,
            slowdown_hi_s: hi,
            completeness: 1.0,
            judged: 1.0,
            causes: Vec::new(),
            progress: Vec::new(),
        }
    }

    #[test]
    fn each_job_is_marked_and_those_that_hold_are_counted() {
        let jobs = [job("1", 30.0), job("2", 30.0), job("3", 30.0), job("4", 0.0)];
        let results =
            [result("1", [31.0, 29.0, 33.0]), result("2", [40.0, 31.0, 50.0]), result("4", [0.0; 3])];
        let text = table(&jobs, true, &results, Path::new("demo.db"));
        let lines: Vec<&str> = text.lines().collect();
        for (at, mark) in
            [(1, "holds the truth"), (2, "MISSES the truth"), (3, "no data"), (4, "holds the truth")]
        {
            assert!(lines[at].ends_with(mark), "{text}");
        }
        assert_eq!(lines[5], "the interval holds the truth for 2 of 4 jobs of the last complete round");
        assert_eq!(lines[6], "continue with: tailback report 1 --store demo.db");
    }
}
