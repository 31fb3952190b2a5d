//! What applications move when nothing slows them, by their earlier runs.

use crate::evidence::Level;
use schemas::{Job, Metric};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Applications that are remembered; of more the one that ran longest ago is forgotten.
const KEPT: usize = 1_000;
/// Least relative error of the level of another run.
const OTHER_RUN_ERROR: f64 = 0.1;

/// Levels by file system, metric, application and number of nodes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Levels {
    known: BTreeMap<Key, Run>,
}

type Key = (usize, Metric, String, usize);

/// The latest run of an application that reached a quiet level.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Run {
    job_id: schemas::Name,
    start: schemas::Time,
    rate: f64,
    error: f64,
}

impl Levels {
    /// A run of an application reached a level.
    pub(super) fn learn(&mut self, mount: usize, metric: Metric, job: &Job, level: &Level) {
        let Some(key) = key(mount, metric, job) else { return };
        if self.known.get(&key).is_some_and(|known| known.start > job.start) {
            return;
        }
        let run = Run { job_id: job.job_id.clone(), start: job.start, rate: level.rate, error: level.error };
        self.known.insert(key, run);
        if self.known.len() > KEPT {
            let oldest = self.known.iter().min_by_key(|(_, run)| run.start).map(|(key, _)| key.clone());
            oldest.map(|key| self.known.remove(&key));
        }
    }

    /// File systems have other numbers from here on, `None` where one was forgotten.
    pub(super) fn renumber(&mut self, numbers: &[Option<u32>]) {
        let known = std::mem::take(&mut self.known).into_iter();
        let renumbered = known.filter_map(|((mount, metric, app, nodes), run)| {
            let mount = (*numbers.get(mount)?)?;
            Some(((mount as usize, metric, app, nodes), run))
        });
        self.known = renumbered.collect();
    }

    /// Levels that are remembered.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// The level of an earlier run of the job's application on as many nodes.
    pub(super) fn of(&self, mount: usize, metric: Metric, job: &Job) -> Option<Level> {
        let run = self.known.get(&key(mount, metric, job)?).filter(|run| run.job_id != job.job_id)?;
        let error = run.error.max(OTHER_RUN_ERROR);
        Some(Level { rate: run.rate, error, reference: Vec::new(), others: 0.0 })
    }
}

fn key(mount: usize, metric: Metric, job: &Job) -> Option<Key> {
    Some((mount, metric, job.app.clone()?, job.nodes.len()))
}
