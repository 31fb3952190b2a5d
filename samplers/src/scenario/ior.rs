//! The eight varied IOR schedules of SAND2016-9525, tables 3.1 and 4.1.

use super::{Chosen, Noise, Scenario, ScenarioError};
use crate::jobs::{Behaviour, JobSpec};
use crate::lustre::MEASURED_BYTES;

/// Processes that start together: how many, when, and how many times 64 GB each writes.
type Batch = (u32, f64, f64);

/// Node of the first process.
pub(crate) const FIRST_NODE: u32 = 12;

fn batches(case: u32) -> Option<Vec<Batch>> {
    Some(match case {
        19..=21 => vec![(1, 0.0, 4.0), (3, 120.0, 1.0)],
        22..=24 => vec![(1, 0.0, 4.0), (7, 120.0, 1.0)],
        25..=27 => vec![(1, 0.0, 4.0), (15, 120.0, 1.0)],
        28..=30 => vec![(2, 0.0, 4.0), (6, 135.0, 1.0)],
        31..=33 => vec![(2, 0.0, 4.0), (14, 135.0, 1.0)],
        34..=36 => vec![(4, 0.0, 4.0), (4, 150.0, 1.0)],
        37..=39 => vec![(4, 0.0, 4.0), (12, 150.0, 1.0)],
        40..=42 => vec![(1, 0.0, 8.0), (3, 120.0, 4.0), (4, 200.0, 2.0), (8, 260.0, 1.0)],
        _ => return None,
    })
}

/// The jobs of a case: processes that start together are one job, on consecutive nodes from [`FIRST_NODE`].
pub(super) fn jobs(case: u32) -> Option<Vec<JobSpec>> {
    const OTHERS: [&str; 3] = ["bob", "carol", "dave"];
    let mut node = FIRST_NODE;
    let mut jobs = Vec::new();
    for (index, (count, start_s, times)) in batches(case)?.into_iter().enumerate() {
        let later = index.checked_sub(1);
        jobs.push(JobSpec {
            name: later.map_or("ior_first".to_string(), |_| format!("ior_storm_{index}")),
            user: later.map_or("alice", |later| OTHERS[later % OTHERS.len()]).to_string(),
            nodes: (node..node + count).collect(),
            start_s,
            behaviour: Behaviour::Write {
                bytes_per_node: times * MEASURED_BYTES,
                limit_bytes_per_s: f64::INFINITY,
            },
        });
        node += count;
    }
    Some(jobs)
}

/// A varied case, 19 to 42 (the repeats 20 and 21 are 19 again, and so on), with the spread `noise` of the rate.
///
/// # Errors
/// [`ScenarioError::Case`] for any other number.
pub fn ior(case: u32, noise: f64) -> Result<Scenario, ScenarioError> {
    let jobs = jobs(case).ok_or(ScenarioError::Case(case))?;
    let mut scenario = Scenario::empty(&format!("ior-{case}"), 1);
    scenario.reporting.routers = Chosen::Only(Vec::new());
    scenario.reporting.clients = Chosen::Only(jobs.iter().flat_map(|j| j.nodes.clone()).collect());
    scenario.noise = Noise { rate: noise, ..Noise::default() };
    scenario.jobs = jobs;
    Ok(scenario)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_case_43() {
        assert_eq!(ior(43, 0.0), Err(ScenarioError::Case(43)));
    }
}
