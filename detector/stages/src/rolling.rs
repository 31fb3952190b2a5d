//! The roll-up stage on one partition of `tailback.partials`: parts of jobs to results of jobs.

use crate::job_parts::PartMessage;
use crate::links::{LinkMerge, LinkMessage};
use crate::messages::{Content, Partial};
use crate::stage::{BadMessage, Counts, Extent, Load, Outcome, Stage};
use crate::state::{self, Format};
use crate::verdict::Verdict;
use alerts::updates::JobUpdate;
use alerts::{AlertSettings, Alerts, Updates};
use detector::fabric::{Fabric, FabricSettings, Network};
use detector::jobs::{JobPart, combine};
use schemas::{DropCounts, DropReason, JobResult, Name, ResultBatch};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
    /// Seconds after its end, by the newest part of any job, when a job is forgotten here.
    pub jobs_kept_s: f64,
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
    /// The fabric, where the network is known and links were reported.
    pub(super) fn fabric(&self) -> Option<&Fabric> {
        self.links.as_ref().map(LinkMerge::fabric)
    }

    /// Results of all jobs that are kept, in the order of their numbers.
    pub(super) fn job_results(&self) -> Vec<JobResult> {
        self.jobs.keys().filter_map(|job_id| self.result(job_id)).collect()
    }

    /// Looks at all links from here on, before any of them is reported.
    pub(super) fn begin_links(&mut self) {
        self.links_of_all();
    }

    /// The stream ended: open regions are reported as they are.
    pub(super) fn finish(&mut self) {
        let Some(links) = &mut self.links else { return };
        links.finish();
        self.regions_to_alerts();
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

    /// The links of all partitions; `None` without a network.
    fn links_of_all(&mut self) -> Option<&mut LinkMerge> {
        let settings = self.settings.as_ref().filter(|settings| settings.network.is_some())?;
        let new = || LinkMerge::new(settings.partitions, settings.fabric.clone(), settings.network.clone());
        let links = self.links.get_or_insert_with(new);
        links.fabric_mut().number_from(self.number_from);
        Some(links)
    }

    fn link_updates(&mut self, message: LinkMessage) {
        let Some(links) = self.links_of_all() else { return };
        let before = links.fabric().now();
        links.message(message);
        if links.fabric().now() > before {
            self.regions_to_alerts();
        }
    }

    fn has_rules(&self) -> bool {
        self.settings.as_ref().is_some_and(|settings| !settings.alerts.rules.is_empty())
    }

    fn regions_to_alerts(&mut self) {
        if self.has_rules()
            && let Some(links) = &self.links
        {
            self.alerts.regions(&links.fabric().changed_regions());
        }
    }

    /// What jobs lost, for the partition that knows of alerts.
    fn job_updates(&self, results: &[JobResult]) -> Option<Updates> {
        let updates = |result: &JobResult| {
            let parts = self.jobs.get(&result.job_id)?;
            let start = parts.values().map(|(_, part)| part.start).min()?;
            let until = parts.values().map(|(_, part)| part.until).max()?;
            Some(JobUpdate::of(result, start, until))
        };
        if !self.has_rules() {
            return None;
        }
        let jobs: Vec<JobUpdate> = results.iter().filter_map(updates).collect();
        (!jobs.is_empty()).then(|| Updates { jobs, ..Updates::default() })
    }

    /// Parts of jobs from the fabric, for the partitions that these belong to.
    pub(super) fn parts_of_links(&mut self) -> Vec<Content> {
        let Some(links) = &mut self.links else { return Vec::new() };
        // Before the first second of links too, a job is known to have lost nothing on them.
        let position = links.fabric().now().max(0);
        let message = |(job_id, part): (Name, JobPart)| {
            PartMessage { partition: OF_LINKS, position, job_id, part }.into()
        };
        links.fabric_mut().take_parts().into_iter().map(message).collect()
    }

    fn result(&self, job_id: &Name) -> Option<JobResult> {
        let parts: Vec<&JobPart> = self.jobs.get(job_id)?.values().map(|(_, part)| part).collect();
        Some(combine(job_id, &parts))
    }

    fn forget_old(&mut self) {
        let (Some(newest_us), Some(settings)) = (self.newest_us, &self.settings) else { return };
        let old = schemas::Time(newest_us).plus_seconds(-settings.jobs_kept_s);
        let (changed, of_job) = (&self.changed, |parts: &BTreeMap<i32, (i64, JobPart)>| {
            parts.values().map(|(_, part)| part.until).max()
        });
        self.jobs.retain(|job_id, parts| changed.contains(job_id) || of_job(parts) >= Some(old));
    }
}

impl Stage for Rolling {
    const STAGE: &'static str = "rollup";
    const FORMAT: Format = state::ROLL_UP;
    const READS_STATES: bool = true;
    type Settings = RollingSettings;
    type Message<'a> = Partial;

    fn fresh(_partition: i32, settings: &RollingSettings) -> Rolling {
        let alerts = Alerts::new(Arc::clone(&settings.alerts));
        Rolling { settings: Some(settings.clone()), alerts, ..Rolling::default() }
    }

    fn read(bytes: &[u8]) -> Result<Rolling, postcard::Error> {
        postcard::from_bytes(bytes)
    }

    fn attach(&mut self, settings: &RollingSettings) {
        if let Some(links) = &mut self.links {
            links.attach(settings.partitions, settings.fabric.clone(), settings.network.clone());
        }
        self.alerts.attach(Arc::clone(&settings.alerts));
        self.settings = Some(settings.clone());
    }

    fn write(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(self)
    }

    fn decode(payload: &[u8]) -> Result<Partial, BadMessage> {
        Partial::read(payload)
    }

    fn apply(&mut self, message: Partial) -> Result<(), BadMessage> {
        self.messages += 1;
        match message {
            Partial::JobPart(message) => self.part_of_job(message),
            Partial::Links(message) => self.link_updates(message),
            Partial::Alerts(updates) => self.alerts.updates(&updates),
        }
        Ok(())
    }

    fn count_bad(&mut self) {
        self.messages += 1;
        self.drops.count(DropReason::BadMessage);
    }

    fn drain(&mut self, _position: i64, extent: Extent) -> Outcome {
        let changed = std::mem::take(&mut self.changed);
        let job_results: Vec<JobResult> = changed.iter().filter_map(|job_id| self.result(job_id)).collect();
        let verdict = |result: &JobResult| Verdict::Job(result.clone()).into();
        let mut messages: Vec<Content> = job_results.iter().map(verdict).collect();
        if extent != Extent::Final {
            messages.extend(self.parts_of_links());
        }
        messages.extend(self.job_updates(&job_results).map(Content::from));
        let regions = self.links.as_mut().map_or(Vec::new(), |links| links.fabric_mut().take_regions());
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

    fn discard(&mut self) {
        self.changed.clear();
        self.alerts.take();
        if let Some(links) = &mut self.links {
            links.fabric_mut().take_regions();
        }
    }

    fn report_again(&mut self) {
        self.changed.extend(self.jobs.keys().cloned());
        if let Some(links) = &mut self.links {
            links.fabric_mut().report_again();
        }
    }

    fn number_from(&mut self, begin: u64) {
        self.number_from = begin;
    }

    fn skip_numbers(&mut self, count: u64) {
        let issued = self.fabric().map_or(0, Fabric::issued_numbers);
        self.number_from = self.number_from.max(issued) + count;
    }

    fn load(&self) -> Load {
        let newest_s = self.newest_us.map(|us| schemas::Time(us).seconds());
        Load { rows: self.messages, newest_s, ..Load::default() }
    }

    fn books(&self) -> Vec<(&'static str, usize)> {
        let mut books = self.fabric().map_or(Vec::new(), Fabric::books);
        books.push(("result_jobs", self.jobs.len()));
        books.extend(self.alerts.books());
        books
    }

    fn counts(&self) -> Counts {
        let forced_seconds = self.links.as_ref().map_or(0, LinkMerge::forced);
        Counts { forced_seconds, ..Counts::default() }
    }
}
