//! Jobs of several clusters that report to the same topics: each counts its jobs from 1.

use super::refusal;
use crate::registry::Refusal;
use schemas::{DropReason, JobEvent, JobNumber};

/// Which cluster's jobs keep their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clusters {
    /// The cluster; empty until one was seen.
    home: String,
    /// Whether the configuration names it. If not, events of a second cluster are refused: numbers would be mixed up.
    is_set: bool,
}

impl Clusters {
    /// Jobs of `home` keep their numbers; "" if none is configured.
    pub(crate) fn of(home: &str) -> Clusters {
        Clusters { home: home.to_string(), is_set: !home.is_empty() }
    }

    /// The event under the name that is its job's alone.
    pub(crate) fn distinguished(
        &mut self,
        event: JobEvent,
        cluster: &str,
    ) -> Result<JobEvent, Refusal<'static>> {
        if self.home.is_empty() {
            cluster.clone_into(&mut self.home);
        }
        if cluster.is_empty() || cluster.eq_ignore_ascii_case(&self.home) {
            return Ok(event);
        }
        if !self.is_set {
            let value = format!("{cluster}: {} reports jobs, too; set kafka.home_cluster", self.home);
            return Err(refusal(DropReason::BadJob, "cluster", &value));
        }
        let JobEvent { job_id, label, .. } = event;
        let number = JobNumber { job_id, label }.of_cluster(cluster);
        let JobNumber { job_id, label } =
            number.map_err(|error| refusal(DropReason::BadName, "cluster", &error.to_string()))?;
        Ok(JobEvent { job_id, label, ..event })
    }
}
