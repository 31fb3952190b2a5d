//! What the demo found beside the simulator's truth.

use samplers::Truth;
use stages::in_process::InProcess;
use std::fmt::Write;
use std::path::Path;

/// One line a job, and where to read on.
pub(super) fn table(truth: &Truth, stages: &InProcess, store: &Path) -> String {
    let results = stages.job_results();
    let mut text =
        String::from("job     user     name               found lost (s)            true lost (s)\n");
    for job in &truth.jobs {
        let result = results.iter().find(|result| result.job_id.as_str() == job.job_id);
        let found = result.map_or("not seen".to_string(), |r| {
            format!("{:.1} [{:.1}, {:.1}]", r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s)
        });
        let not_judged = result
            .and_then(|result| result.not_judged(job.end.map_or(f64::INFINITY, |end| end - job.start)))
            .unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<7} {:<8} {:<18} {found:<25} {:<15.1}{not_judged}",
            job.job_id, job.user, job.name, job.slowdown_s
        );
    }
    let first = truth.jobs.first().map_or("JOB".to_string(), |job| job.job_id.to_string());
    let _ = writeln!(text, "read on: tailback report {first} --store {}", store.display());
    text
}
