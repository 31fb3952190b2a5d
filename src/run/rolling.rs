//! The roll-up stage's work on one partition of `tailback.partials`: parts of jobs to results of jobs.

use super::alert_updates;
use super::links::{LinkMerge, LinkMessage};
use super::state_version::StateVersion;
use super::verdict;
use super::work::{BadMessage, OutTopic, Outcome, Outgoing, Work};
use detector::alerts::updates::JobUpdate;
use detector::alerts::{AlertSettings, Alerts, Updates};
use detector::fabric::{FabricSettings, Network};
use detector::jobs::{JobPart, combine};
use schemas::wire::Kind;
use schemas::{DropCounts, DropReason, JobResult, Name, ResultBatch};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Seconds after its end, by the newest part of any job, when a job is forgotten here.
const FORGOTTEN_S: f64 = 86_400.0;
/// Level of zstd: parts are mostly runs of small numbers.
const COMPRESSION: i32 = 1;

/// What one detector partition knows of one job: a message of `tailback.partials`, keyed by job. It replaces the earlier
/// message of the same partition about that job.
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
    /// Its content, without the position: equal contents need not be sent again.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn content(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&(&self.job_id, &self.part))
    }

    /// The message's bytes: its kind and version, partition and position, and the compressed `content`.
    ///
    /// # Errors
    /// Errors of zstd.
    pub fn payload(&self, content: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut payload = Kind::JobPart.header().to_vec();
        payload.extend(self.partition.to_be_bytes());
        payload.extend(self.position.to_be_bytes());
        payload.extend(zstd::bulk::compress(content, COMPRESSION)?);
        Ok(payload)
    }

    /// Reads a message back, without its header; `None` if it is damaged.
    pub fn read(body: &[u8]) -> Option<PartMessage> {
        /// Far beyond the largest job: 20,000 nodes and three metrics of 4,096 cells.
        const CONTENT_BYTES_MAX: usize = 16 << 20;
        let (partition, rest) = body.split_first_chunk::<4>()?;
        let (position, compressed) = rest.split_first_chunk::<8>()?;
        let content = zstd::bulk::decompress(compressed, CONTENT_BYTES_MAX).ok()?;
        let (job_id, part) = postcard::from_bytes(&content).ok()?;
        let (partition, position) = (i32::from_be_bytes(*partition), i64::from_be_bytes(*position));
        Some(PartMessage { partition, position, job_id, part })
    }
}

/// What the stage is made from.
#[derive(Clone, Debug)]
pub struct RollingSettings {
    /// Partitions of `tailback.counters`: each reports links.
    pub partitions: i32,
    /// Rules of the fabric.
    pub fabric: FabricSettings,
    /// The network, where the topology is known.
    pub network: Option<Arc<Network>>,
    /// Rules and routes of alerts.
    pub alerts: Arc<AlertSettings>,
    /// Length of a message's content, at most.
    pub payload_bytes_max: usize,
}

fn bad(about: &str) -> BadMessage {
    BadMessage(format!("the message {about} is damaged"))
}

/// The fabric's part of a job has the number of a partition that does not exist.
const OF_LINKS: i32 = -1;

/// State of one partition.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Rolling {
    jobs: BTreeMap<Name, BTreeMap<i32, (i64, JobPart)>>,
    changed: BTreeSet<Name>,
    drops: DropCounts,
    newest_us: Option<i64>,
    messages: u64,
    /// In the one partition that receives links.
    links: Option<LinkMerge>,
    /// In the same partition.
    alerts: Alerts,
    #[serde(skip)]
    settings: Option<RollingSettings>,
    /// Numbers of regions are greater.
    #[serde(skip)]
    number_from: u64,
}

impl Rolling {
    fn use_message(&mut self, payload: &[u8]) -> Result<(), BadMessage> {
        let (kind, body) = Kind::split(payload)?;
        match kind {
            Kind::Links => {
                let message = LinkMessage::read(body).ok_or_else(|| bad("of links"))?;
                self.link_updates(message);
            }
            Kind::Alerts => {
                let updates = alert_updates::read(body).ok_or_else(|| bad("for alerts"))?;
                self.alerts.updates(&updates);
            }
            Kind::JobPart => {
                self.part_of_job(PartMessage::read(body).ok_or_else(|| bad("of a job"))?);
            }
            Kind::Counters | Kind::JobRows | Kind::Dropped | Kind::Progress | Kind::Rejected => {
                return Err(kind.misplaced().into());
            }
        }
        Ok(())
    }

    fn part_of_job(&mut self, message: PartMessage) {
        self.newest_us = self.newest_us.max(Some(message.part.until.0));
        let parts = self.jobs.entry(message.job_id.clone()).or_default();
        let known = parts.get(&message.partition).map_or(-1, |(position, _)| *position);
        if message.position > known {
            parts.insert(message.partition, (message.position, message.part));
            self.changed.insert(message.job_id);
        }
    }

    fn link_updates(&mut self, message: LinkMessage) {
        let Some(settings) = self.settings.as_ref().filter(|settings| settings.network.is_some()) else {
            return;
        };
        let new = || LinkMerge::new(settings.partitions, settings.fabric.clone(), settings.network.clone());
        let links = self.links.get_or_insert_with(new);
        links.fabric().number_from(self.number_from);
        let before = links.fabric().now();
        links.message(message);
        if links.fabric().now() > before {
            self.alerts.regions(&links.fabric().changed_regions());
        }
    }

    /// What jobs lost, for the partition that knows of alerts.
    fn job_updates(&self, results: &[JobResult]) -> Vec<Outgoing> {
        let updates = |result: &JobResult| {
            let parts = self.jobs.get(&result.job_id)?;
            let start = parts.values().map(|(_, part)| part.start).min()?;
            let until = parts.values().map(|(_, part)| part.until).max()?;
            Some(JobUpdate::of(result, start, until))
        };
        let has_rules = |settings: &&RollingSettings| !settings.alerts.rules.is_empty();
        let Some(settings) = self.settings.as_ref().filter(has_rules) else { return Vec::new() };
        let jobs: Vec<JobUpdate> = results.iter().filter_map(updates).collect();
        if jobs.is_empty() {
            return Vec::new();
        }
        alert_updates::outgoing(Updates { jobs, ..Updates::default() }, settings.payload_bytes_max)
    }

    /// Parts of jobs from the fabric, for the partitions that these belong to.
    fn parts_of_links(&mut self) -> Vec<Outgoing> {
        let Some(links) = &mut self.links else { return Vec::new() };
        let position = links.fabric().now();
        let message = |(job_id, part): (Name, JobPart)| {
            let key = job_id.to_string();
            let message = PartMessage { partition: OF_LINKS, position, job_id, part };
            let payload = message.payload(&message.content().ok()?).ok()?;
            Some(Outgoing { to: OutTopic::Partials, key, payload })
        };
        links.fabric().take_parts().into_iter().filter_map(message).collect()
    }

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
    const STATE_VERSION: StateVersion = StateVersion {
        stage: 1,
        detector: 0,
        fabric: detector::fabric::STATE_VERSION,
        alerts: detector::alerts::STATE_VERSION,
    };
    const READS_STATES: bool = true;
    type Settings = RollingSettings;

    fn fresh(_partition: i32, settings: &RollingSettings) -> Rolling {
        let alerts = Alerts::new(Arc::clone(&settings.alerts));
        Rolling { settings: Some(settings.clone()), alerts, ..Rolling::default() }
    }

    fn attach(&mut self, settings: &RollingSettings) {
        if let Some(links) = &mut self.links {
            links.attach(settings.partitions, settings.fabric.clone(), settings.network.clone());
        }
        self.alerts.attach(Arc::clone(&settings.alerts));
        self.settings = Some(settings.clone());
    }

    fn read(bytes: &[u8]) -> Result<Rolling, postcard::Error> {
        postcard::from_bytes(bytes)
    }

    fn number_from(&mut self, begin: u64) {
        self.number_from = begin;
    }

    fn skip_numbers(&mut self, count: u64) {
        let issued = self.links.as_mut().map_or(0, |links| links.fabric().issued_numbers());
        self.number_from = self.number_from.max(issued) + count;
    }

    fn write(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(self)
    }

    fn message(&mut self, payload: &[u8]) -> Result<(), BadMessage> {
        self.messages += 1;
        self.use_message(payload).inspect_err(|_| self.drops.count(DropReason::BadMessage))
    }

    fn take(&mut self, _position: i64, all: bool) -> Outcome {
        let changed = std::mem::take(&mut self.changed);
        let job_results: Vec<JobResult> = changed.iter().filter_map(|job_id| self.result(job_id)).collect();
        let verdict = |result: &JobResult| {
            let payload = verdict::of_job(result)?;
            Some(Outgoing { to: OutTopic::Verdicts, key: result.job_id.to_string(), payload })
        };
        let mut messages: Vec<Outgoing> = job_results.iter().filter_map(verdict).collect();
        if all {
            messages.extend(self.parts_of_links());
        }
        messages.extend(self.job_updates(&job_results));
        let regions = self.links.as_mut().map_or(Vec::new(), |links| links.fabric().take_regions());
        self.forget_old();
        let notices = self.alerts.take();
        let results = ResultBatch {
            job_results,
            regions,
            notices,
            drops: self.drops.clone(),
            ..ResultBatch::default()
        };
        Outcome { results, messages, ..Outcome::default() }
    }

    fn pass_over(&mut self) {
        self.changed.clear();
        self.alerts.take();
        if let Some(links) = &mut self.links {
            links.fabric().take_regions();
        }
    }

    fn result_bytes(&self) -> usize {
        0
    }

    fn reload(&mut self, _settings: &RollingSettings) -> bool {
        false
    }

    fn newest_s(&self) -> Option<f64> {
        self.newest_us.map(|us| schemas::Time(us).seconds())
    }

    fn forced_seconds(&self) -> u64 {
        self.links.as_ref().map_or(0, LinkMerge::forced)
    }

    fn rows(&self) -> (u64, usize) {
        (self.messages, 0)
    }

    fn series(&self) -> &schemas::SeriesTable {
        const NONE: &schemas::SeriesTable = &Vec::new();
        NONE
    }
}
