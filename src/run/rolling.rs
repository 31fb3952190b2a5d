//! The roll-up stage's work on one partition of `tailback.signals`: parts of jobs to results of jobs.

use super::verdict;
use super::work::{OutTopic, Outcome, Outgoing, Work};
use detector::jobs::{JobPart, combine};
use schemas::{DropCounts, DropReason, JobResult, Name, ResultBatch};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Seconds after its end, by the newest part of any job, when a job is forgotten here.
const FORGOTTEN_S: f64 = 86_400.0;
/// First byte of a message: its version.
const VERSION: u8 = 1;
/// Level of zstd: parts are mostly runs of small numbers.
const COMPRESSION: i32 = 1;

/// What one detector partition says of one job: a message of `tailback.signals`, keyed by job. It replaces
/// what the same partition said before of that job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartMessage {
    /// Partition of `tailback.counters` that it was learnt from.
    pub partition: i32,
    /// Offset there up to which it was learnt: of two messages the one with the higher counts.
    pub position: i64,
    /// The job.
    pub job_id: Name,
    /// What is known of it.
    pub part: JobPart,
}

impl PartMessage {
    /// What it says, without how far it was learnt: equal contents need not be sent again.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn content(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&(&self.job_id, &self.part))
    }

    /// The message's bytes: the version, partition and position, and the compressed `content`.
    ///
    /// # Errors
    /// What zstd says.
    pub fn payload(&self, content: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut payload = vec![VERSION];
        payload.extend(self.partition.to_be_bytes());
        payload.extend(self.position.to_be_bytes());
        payload.extend(zstd::bulk::compress(content, COMPRESSION)?);
        Ok(payload)
    }

    /// Reads a message back; `None` if it is none.
    pub fn read(payload: &[u8]) -> Option<PartMessage> {
        /// Far beyond the largest job: 20,000 nodes and three metrics of 4,096 cells.
        const CONTENT_BYTES_MAX: usize = 16 << 20;
        let (version, rest) = payload.split_first()?;
        let (partition, rest) = rest.split_first_chunk::<4>()?;
        let (position, compressed) = rest.split_first_chunk::<8>()?;
        let content = zstd::bulk::decompress(compressed, CONTENT_BYTES_MAX).ok()?;
        let (job_id, part) = postcard::from_bytes(&content).ok().filter(|_| *version == VERSION)?;
        let (partition, position) = (i32::from_be_bytes(*partition), i64::from_be_bytes(*position));
        Some(PartMessage { partition, position, job_id, part })
    }
}

/// State of one partition.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Rolling {
    jobs: BTreeMap<Name, BTreeMap<i32, (i64, JobPart)>>,
    changed: BTreeSet<Name>,
    drops: DropCounts,
    newest_us: Option<i64>,
    messages: u64,
}

impl Rolling {
    fn result(&self, job_id: &Name) -> Option<JobResult> {
        let parts: Vec<&JobPart> = self.jobs.get(job_id)?.values().map(|(_, part)| part).collect();
        Some(combine(job_id, &parts))
    }

    fn forget_old(&mut self) {
        let Some(newest_us) = self.newest_us else { return };
        let old = schemas::Time(newest_us).plus_seconds(-FORGOTTEN_S);
        let (changed, of_job) = (&self.changed, |parts: &BTreeMap<i32, (i64, JobPart)>| {
            parts.values().map(|(_, part)| part.until).max()
        });
        self.jobs.retain(|job_id, parts| changed.contains(job_id) || of_job(parts) >= Some(old));
    }
}

impl Work for Rolling {
    const STAGE: &'static str = "rollup";
    const STATE_VERSION: u32 = 1;
    type Settings = ();

    fn fresh(_partition: i32, (): &()) -> Rolling {
        Rolling::default()
    }

    fn read(bytes: &[u8]) -> Result<Rolling, postcard::Error> {
        postcard::from_bytes(bytes)
    }

    fn write(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(self)
    }

    fn message(&mut self, payload: &[u8]) {
        self.messages += 1;
        let Some(message) = PartMessage::read(payload) else {
            self.drops.count(DropReason::BadMessage);
            return;
        };
        self.newest_us = self.newest_us.max(Some(message.part.until.0));
        let parts = self.jobs.entry(message.job_id.clone()).or_default();
        let known = parts.get(&message.partition).map_or(-1, |(position, _)| *position);
        if message.position > known {
            parts.insert(message.partition, (message.position, message.part));
            self.changed.insert(message.job_id);
        }
    }

    fn take(&mut self, _position: i64, _all: bool) -> Outcome {
        let changed = std::mem::take(&mut self.changed);
        let job_results: Vec<JobResult> = changed.iter().filter_map(|job_id| self.result(job_id)).collect();
        let verdict = |result: &JobResult| {
            let payload = verdict::of_job(result)?;
            Some(Outgoing { to: OutTopic::Verdicts, key: result.job_id.to_string(), payload })
        };
        let messages = job_results.iter().filter_map(verdict).collect();
        self.forget_old();
        let results = ResultBatch { job_results, drops: self.drops.clone(), ..ResultBatch::default() };
        Outcome { results, messages, ..Outcome::default() }
    }

    fn forget_told(&mut self) {
        self.changed.clear();
    }

    fn result_bytes(&self) -> usize {
        0
    }

    fn reload(&mut self, (): &()) -> bool {
        false
    }

    fn newest_s(&self) -> Option<f64> {
        self.newest_us.map(|us| schemas::Time(us).seconds())
    }

    fn rows(&self) -> (u64, usize) {
        (self.messages, 0)
    }

    fn series(&self) -> &schemas::SeriesTable {
        const NONE: &schemas::SeriesTable = &Vec::new();
        NONE
    }
}
