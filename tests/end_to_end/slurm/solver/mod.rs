//! A solver in a real Slurm job that reports its iterations and asks, while another job takes the file server that they share.
//!
//! What the other job cost it in truth is its run time beyond that of the same run alone, by its own clock. Beside that stands what
//! Tailback infers of the file server's counters alone, what it measures by the reports, and what it answers of the next run, which
//! does not report.

mod file_server;
mod machine;

use crate::streaming::sampler::rows_of;
use machine::{Machine, Run};
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::Command;
use std::time::Duration;
use support::paths::tailback;

/// Seconds of event time after the end of a job when what is known of it does not change any more.
const SETTLED_S: f64 = 30.0;
const SETTLED_TIMEOUT: Duration = Duration::from_secs(180);
/// Answers of `tailback_contention`.
const CLEAR: u32 = 0;
const CONTENDED: u32 = 3;
/// Longest time until an answer follows what happens: readings that show it, rows that may be late, a commit, and a busy machine.
const ANSWERED_S: f64 = 11.0;
/// A sample covers a second: the six edges of three stretches are off by half of it at most, and half of them to either side.
const EDGES_S: f64 = 1.5;

/// Waits until the job is over in the database and settled; then learns from it at once, not within five minutes.
fn settle(machine: &Machine, job: &str) {
    let is_over = format!(
        "SELECT FROM jobs, clock WHERE job_id = '{job}' AND end_time < clock.now - interval '{SETTLED_S} seconds'"
    );
    machine.site.until(SETTLED_TIMEOUT, "the job to be judged", || !machine.site.query(&is_over).is_empty());
    machine.site.query("SELECT learn_betas()");
    machine.site.query("SELECT write_factors()");
}

fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The report on a job.
fn report(machine: &Machine, run: &Run) -> Value {
    let text = printed(machine.site.tailback("report").args([&run.job, "--json"]));
    serde_json::from_str(&text).unwrap()
}

/// The report on a job by the samplers' rows alone: a replay that has none of the reports of progress.
fn report_without_progress(machine: &Machine, run: &Run) -> Value {
    let folder = machine.site.path("without");
    std::fs::create_dir(&folder).unwrap();
    let rows = rows_of(machine.site.broker(), "ldms.lustre_client");
    std::fs::write(folder.join("rows.jsonl"), rows.join("\n") + "\n").unwrap();
    let mut jobs = String::new();
    for row in machine.site.rows() {
        let job = json!({"job_id": row.job_id, "user": row.user, "name": row.name, "nodes": row.nodes,
                         "start": row.start_s, "end": row.end_s});
        writeln!(jobs, "{job}").unwrap();
    }
    std::fs::write(folder.join("jobs.jsonl"), jobs).unwrap();
    let here = |arguments: &[&str]| printed(tailback().args(arguments).current_dir(&folder));
    here(&["replay", "rows.jsonl", "--jobs", "jobs.jsonl", "--out", "out"]);
    serde_json::from_str(&here(&["report", &run.job, "--store", "out/tailback.db", "--json"])).unwrap()
}

/// Seconds with their interval.
#[derive(Clone, Copy, Debug)]
struct Loss {
    value_s: f64,
    lo_s: f64,
    hi_s: f64,
}

impl Loss {
    fn of(found: &Value, [value, lo, hi]: [&str; 3]) -> Loss {
        let number = |key: &str| found[key].as_f64().unwrap_or_else(|| panic!("no {key} in {found}"));
        Loss { value_s: number(value), lo_s: number(lo), hi_s: number(hi) }
    }

    fn holds(&self, truth_s: f64) -> bool {
        (self.lo_s - EDGES_S..=self.hi_s + EDGES_S).contains(&truth_s)
    }

    fn print(&self, what: &str, truth_s: f64) {
        println!("| {what} | {truth_s:.1} s | {:.1} s [{:.1}, {:.1}] |", self.value_s, self.lo_s, self.hi_s);
    }
}

/// The answers are contended in each stretch of the other job and at no other time, clear before the first, and judged from then on.
/// Each may be late: after a stretch has begun, the answer about the time before it may arrive, but none once the stretch was answered.
fn assert_answers(run: &Run) {
    let within = |at_s: f64, (from_s, to_s): &(f64, f64)| (*from_s..to_s + ANSWERED_S).contains(&at_s);
    for stretch in &run.stretches {
        let answered = |(at_s, state): &(f64, u32)| *state == CONTENDED && within(*at_s, stretch);
        assert!(run.states.iter().any(answered), "not answered in {stretch:?}: {:?}", run.states);
    }
    let answered_at = |from_s: f64| {
        let first = run.states.iter().find(|(at_s, state)| *state == CONTENDED && *at_s >= from_s);
        first.map_or(f64::INFINITY, |(at_s, _)| *at_s)
    };
    for (at_s, state) in &run.states {
        let is_right = match *state {
            CONTENDED => run.stretches.iter().any(|stretch| within(*at_s, stretch)),
            CLEAR => !run.stretches.iter().any(|(from_s, to_s)| {
                let until_s = answered_at(*from_s).min(from_s + ANSWERED_S);
                (until_s..*to_s).contains(at_s)
            }),
            _ => *at_s < run.stretches[0].0,
        };
        assert!(is_right, "{state} at {at_s}: {:?} {:?}", run.states, run.stretches);
    }
    assert_eq!(run.state_at(run.stretches[0].0), Some(CLEAR), "{:?}", run.states);
}

const RESULT: [&str; 3] = ["slowdown_s", "slowdown_lo_s", "slowdown_hi_s"];
const INTERVAL: [&str; 3] = ["value", "lo", "hi"];

#[test]
fn a_solver_measures_what_another_job_costs_it() {
    let Some(machine) = Machine::start() else { return };
    let alone = machine.solve(false, true);
    let first = machine.solve(true, true);
    let next = machine.solve(true, false);
    for run in [&alone, &first, &next] {
        println!("job {}: {:.1} s, of which {:.1} s in checkpoints", run.job, run.wall_s, run.writing_s);
    }
    settle(&machine, &next.job);
    let [of_alone, of_first, of_next] = [&alone, &first, &next].map(|run| report(&machine, run));
    let without = report_without_progress(&machine, &first);

    let [lost_s, next_lost_s] = [&first, &next].map(|run| run.wall_s - alone.wall_s);
    let inferred = Loss::of(&without["result"], RESULT);
    let measured = Loss::of(&of_first["result"]["progress"][0]["loss"]["measured"]["lost_s"], INTERVAL);
    let calibrated = Loss::of(&of_next["factors"]["other_s"], INTERVAL);
    inferred.print("inferred from counters, without the reports", lost_s);
    measured.print("measured by the reports", lost_s);
    calibrated.print("next run, without reports, calibrated", next_lost_s);

    assert_eq!(of_alone["result"]["progress"][0]["loss"], "never_contended", "{of_alone}");
    assert!(measured.holds(lost_s) && Loss::of(&of_first["result"], RESULT).holds(lost_s), "{of_first}");
    assert!(inferred.lo_s > 1.3 * lost_s, "counters see the frames that are left out, too: {inferred:?}");
    assert!(calibrated.holds(next_lost_s), "{of_next}");
    for (run, report) in [(&first, &of_first), (&next, &of_next)] {
        let named = &report["result"]["causes"][0]["series_or_job"];
        assert_eq!(named.as_str(), run.other.as_deref(), "{report}");
        assert_answers(run);
    }
}
