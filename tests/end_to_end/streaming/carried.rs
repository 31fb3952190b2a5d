//! A site where only the `job_id` of the rows of counters shows which job runs where.

use super::feed::Feed;
use super::rows::{self, Dice, OF_JOBS, OF_SERVERS, Row, in_order_of_arrival, scatter};
use super::site::Site;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use support::stack::turn;

/// Microseconds of the rows are kept; the sum of floats is not exact to them.
const TOLERANCE_S: f64 = 0.001;

/// First and last row of each job, and its nodes.
fn carried(rows: &[Row]) -> BTreeMap<String, (f64, f64, BTreeSet<String>)> {
    let mut jobs: BTreeMap<String, (f64, f64, BTreeSet<String>)> = BTreeMap::new();
    for row in rows {
        let value: Value = serde_json::from_slice(&row.payload).unwrap();
        let (job, second) = (value["job_id"].as_u64().unwrap(), row.time_us as f64 / 1e6);
        if job > 0 {
            let known = jobs.entry(job.to_string()).or_insert((second, second, BTreeSet::new()));
            (known.0, known.1) = (known.0.min(second), known.1.max(second));
            known.2.insert(value["producer"].as_str().unwrap().to_string());
        }
    }
    jobs
}

#[test]
fn jobs_that_only_rows_carry_have_their_nodes_start_and_end() {
    let Some((services, _turn)) = turn() else { return };
    let mut rows = rows::undisturbed();
    rows.retain(|row| !["slurm_jobs", OF_SERVERS, OF_JOBS].contains(&row.schema));
    scatter(&mut rows, &mut Dice::new("carried"));
    let rows = in_order_of_arrival(rows);
    let expected = carried(&rows);
    assert_eq!(expected.len(), 4);
    let site = Site::new(services, "carried");
    Feed::to(&site).all(&rows);
    let process = site.start();
    site.settled_for_now();
    process.finish();
    let end_of_rows = rows.iter().map(|row| row.time_us).max().unwrap() as f64 / 1e6;
    for (job, (first, last, nodes)) in &expected {
        let query = format!(
            "SELECT extract(epoch FROM start_time), extract(epoch FROM end_time), user_name,
                    (SELECT string_agg(node, ',' ORDER BY node) FROM job_nodes n WHERE n.job_id = j.job_id)
             FROM jobs j WHERE job_id = '{job}'"
        );
        let found = site.database.rows(&query);
        let [row] = found.as_slice() else { panic!("job {job}: {found:?}") };
        eprintln!("job {job}: {row}; carried from {first} to {last}");
        let parts: Vec<&str> = row.split('|').collect();
        let number = |at: usize| parts[at].trim().parse::<f64>().ok();
        assert!((number(0).unwrap() - first).abs() <= TOLERANCE_S, "{row} instead of {first}");
        match number(1) {
            Some(end) => assert!((end - last).abs() <= TOLERANCE_S, "{row} instead of {last}"),
            None => assert!(end_of_rows - last <= 3.0, "job {job} has no end"),
        }
        assert_eq!(parts[3].trim(), nodes.iter().map(String::as_str).collect::<Vec<_>>().join(","));
    }
}
