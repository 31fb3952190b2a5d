//! Jobs of a real Slurm: submitted, reported by prolog and epilog scripts, posted, and stored through Kafka in the
//! database; also messages of jobcomp/kafka.
//!
//! `placement` is advice before placement, with job_submit.lua. `solver` is a program that reports its progress and asks, beside a job
//! that takes its file server.
//! Slurm is Debian's (`tests/services/slurm`). It needs root, and is installed where possible; without it the test is
//! skipped.

mod placement;
mod script;
mod site;
mod solver;
mod token_script;

use site::{JobRow, Site};
use std::time::Duration;

/// Time for each step of the test; Slurm itself needs half of it to give up a node.
const TIMEOUT: Duration = Duration::from_secs(180);

/// Numbers of the jobs that are submitted.
struct Submitted {
    exclusive: String,
    shared: [String; 2],
    array: String,
    het: String,
    requeued: String,
    cancelled: String,
    killed: String,
    never: String,
}

fn submit(site: &Site) -> Submitted {
    let requeued = site.sbatch(&["--requeue", "-x", "tb04", "-n1", "-J", "requeued"], "sleep 20");
    let cancelled = site.sbatch(&["-x", "tb04", "-n1", "-J", "cancelled"], "sleep 600");
    let killed = site.sbatch(&["--no-requeue", "-w", "tb04", "-n1", "-J", "killed"], "sleep 600");
    for job in [&requeued, &cancelled, &killed] {
        site.until(TIMEOUT, "the jobs to run", || site.state(job) == "RUNNING");
    }
    site.slurm("scontrol", &["requeue", &requeued]);
    site.slurm("scancel", &[&cancelled]);
    site.kill_node("tb04");
    let never = site.sbatch(&["-n1", "--begin", "now+1hour", "-J", "never"], "true");
    site.slurm("scancel", &[&never]);
    Submitted {
        exclusive: site.sbatch(&["--exclusive", "-N2", "-x", "tb04", "-J", "ex\"cl\\usive é"], "sleep 2"),
        shared: [0, 1].map(|_| site.sbatch(&["-w", "tb03", "-n1", "-J", "shared"], "sleep 5")),
        array: site.sbatch(&["-a", "3,7", "-x", "tb04", "-n1", "-J", "array"], "sleep 1"),
        het: site.sbatch(&["-n1", "-x", "tb04", "-J", "het", ":", "-n1", "-x", "tb04"], "sleep 1"),
        requeued,
        cancelled,
        killed,
        never,
    }
}

#[test]
fn jobs_of_a_real_slurm_are_rows_with_their_interval() {
    let Some(site) = Site::start() else { return };
    let jobs = submit(&site);
    site.publish("slurm", &site::jobcomp_messages());
    // Slurm's queue shows when all jobs have ended.
    site.until(TIMEOUT, "Slurm's queue to be empty", || site.slurm("squeue", &["-h"]).is_empty());
    let wanted = 11 + 5;
    let complete = |rows: &[JobRow]| rows.len() >= wanted && rows.iter().all(|row| row.end_s.is_some());
    site.until(TIMEOUT, "the rows of all jobs", || complete(&site.rows()));
    let rows = site.rows();
    rows.iter().for_each(|row| eprintln!("{row:?}"));
    let row = |id: &str| rows.iter().find(|row| row.job_id == id).unwrap_or_else(|| panic!("no row of {id}"));

    let exclusive = row(&jobs.exclusive);
    assert_eq!((exclusive.name.as_str(), exclusive.nodes.len()), ("ex\"cl\\usive é", 2));
    site.agrees(exclusive);
    let [one, other] = [0, 1].map(|at| row(&jobs.shared[at]));
    assert_eq!((&one.nodes, &other.nodes), (&vec!["tb03".to_string()], &vec!["tb03".to_string()]));
    assert!(one.start_s < other.end_s.unwrap() && other.start_s < one.end_s.unwrap(), "both at once");
    for (of, label) in [(&jobs.array, "_3"), (&jobs.array, "_7"), (&jobs.het, "+0"), (&jobs.het, "+1")] {
        let label = format!("{of}{label}");
        let found = rows.iter().find(|row| row.label == label).unwrap_or_else(|| panic!("no row of {label}"));
        site.agrees(found);
        let (report, named) = (site.report(&label), format!("  job    {} ({label}) ", found.job_id));
        assert!(report.contains(&named), "{named:?} is missing in: {report}");
    }
    let (first, second) = (row(&jobs.requeued), row(&format!("{}.r1", jobs.requeued)));
    assert!(first.end_s.unwrap() <= second.start_s, "two runs, not one long one");
    assert!(second.end_s.unwrap() - second.start_s >= 19.0, "{second:?}");
    site.agrees(row(&jobs.cancelled));
    site.agrees(row(&jobs.killed));
    assert!(rows.iter().all(|row| row.job_id != jobs.never), "it never ran");
    assert!(rows.iter().all(|row| !row.end_presumed && row.user == "root" || row.user == "ann"));
    assert_eq!(row("1241").label, "1235_7", "a message of jobcomp/kafka");

    // No sampler runs on these nodes.
    let findings = site.doctor();
    let unknown =
        findings.lines().find(|line| line.contains("jobs_nodes")).unwrap_or_else(|| panic!("{findings}"));
    assert!(unknown.contains("tb03"), "{unknown}");
    let (status, body) = site.post("{\"job_id\":1,\"nodes\":\"n[1\"}", true);
    assert_eq!((status, body.as_str()), (400, "event 1: it has neither start nor end\n"));
    assert_eq!(site.post("{}", false).0, 401);
    let answer = site.curl();
    assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    let is_there = |row: &JobRow| row.name == "test" && row.nodes == ["nid00001", "nid00002"];
    site.until(TIMEOUT, "the row of the README's job", || site.rows().iter().any(is_there));
}
