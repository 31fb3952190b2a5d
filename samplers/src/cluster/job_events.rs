//! The job events that nodes send when jobs start and end on them.

use super::{Cluster, SAMPLE_SPAN_S};
use crate::ldms_rows::{JobRow, Rows, Schema, put_job};
use crate::machine::{Change, Run};

/// User number of the first user.
const FIRST_UID: usize = 1001;

impl Cluster {
    /// Writes the job rows that are due. A change in this second may be reported in the next.
    pub(super) fn write_jobs(&mut self, out: &mut Rows) {
        for change in std::mem::take(&mut self.machine.changes) {
            self.queue_rows(change);
        }
        let now = self.start.plus_seconds(f64::from(self.second) + SAMPLE_SPAN_S);
        let due: Vec<JobRow> = self.job_rows.extract_if(.., |row| row.time <= now).collect();
        for mut row in due {
            if self.path.is_silent(row.node, self.second) {
                continue;
            }
            row.time = row.time + self.path.skew_us(row.node);
            let start = out.bytes(Schema::SlurmJobs).len();
            put_job(out.buffer(Schema::SlurmJobs), &row);
            self.path.row_written(out, Schema::SlurmJobs, start, self.second);
        }
    }

    /// Queues the rows that the nodes of a job send about its start or end. One node in three sends a first row
    /// before it knows name and user.
    fn queue_rows(&mut self, change: Change) {
        const EARLY: f64 = 1.0 / 3.0;
        let (Change::Started(id) | Change::Ended(id)) = change;
        let Some(run) = self.machine.run(id) else {
            return;
        };
        let ended = matches!(change, Change::Ended(_)).then_some(run.end).flatten();
        let happened = self.start.plus_seconds(ended.unwrap_or(run.start));
        let nodes = self.machine.spec(run).nodes.clone();
        let row = self.job_row(run, ended);
        for node in nodes {
            let mut full = row.clone();
            full.node = node;
            full.time = happened.plus_seconds(self.gossip.between(0.07, 0.35));
            if ended.is_none() && self.gossip.chance(EARLY) {
                let first = JobRow {
                    user: String::new(),
                    name: String::new(),
                    node_count: 0,
                    task_count: 0,
                    ..full.clone()
                };
                self.job_rows.push(first);
                full.time = full.time.plus_seconds(self.gossip.between(0.05, 0.2));
            }
            self.job_rows.push(full);
        }
        self.job_rows.sort_by_key(|row| row.time);
    }

    /// The row that all nodes of a job send, before it has a node and a time.
    fn job_row(&self, run: &Run, ended: Option<f64>) -> JobRow {
        let spec = self.machine.spec(run);
        let whole = |seconds: f64| self.start.plus_seconds(seconds).0.div_euclid(1_000_000);
        let user = self.users.iter().position(|user| *user == spec.user);
        JobRow {
            time: self.start,
            node: 0,
            job: run.id,
            user: spec.user.clone(),
            name: spec.name.clone(),
            uid: FIRST_UID + user.unwrap_or_default(),
            start: whole(run.start),
            end: ended.map_or(0, whole),
            node_count: spec.nodes.len(),
            task_count: spec.behaviour.tasks_per_node(),
        }
    }
}
