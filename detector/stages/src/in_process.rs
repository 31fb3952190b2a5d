//! The runner without Kafka: `demo`, `replay`, `backtest` and `lab` drive the same detector and roll-up stages as
//! `tailback run`, with one partition each.
//!
//! Rows arrive in the order of time, so no row waits for another. A call of [`InProcess::take`] gives the detector's messages
//! to the roll-up, and the roll-up's own ones back to it, until nothing more arrives.

use crate::detecting::{Detecting, DetectingSettings};
use crate::messages::{Content, Partial};
use crate::rolling::{Rolling, RollingSettings};
use crate::stage::{Extent, Outcome, Stage};
use crate::state::{self, StateError};
use aggregator::{Decoded, Decoder};
use alerts::AlertSettings;
use detector::detector::Detector;
use detector::fabric::lifecycle::LinkEvent;
use detector::fabric::{Fabric, FabricSettings, Network};
use detector::settings::Settings;
use schemas::{CounterBatch, Job, JobResult, ResultBatch, Sources};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a runner is made from.
#[derive(Clone, Debug)]
pub struct InProcessSettings {
    /// Models and rules of the stream.
    pub detector: Settings,
    /// Rules of the fabric.
    pub fabric: FabricSettings,
    /// The network, where it is known: then all links are looked at together.
    pub network: Option<Arc<Network>>,
    /// Rules and routes of alerts.
    pub alerts: Arc<AlertSettings>,
}

impl InProcessSettings {
    /// Without a network and without alerts.
    pub fn of(detector: Settings) -> InProcessSettings {
        let (fabric, alerts) = (FabricSettings::default(), Arc::default());
        InProcessSettings { detector, fabric, network: None, alerts }
    }

    fn detecting(&self) -> DetectingSettings {
        DetectingSettings {
            // The store of such a run keeps series by the detector's numbers: none may get another name.
            settings: Settings { forget_after_s: None, ..self.detector.clone() },
            waiting_rows_max: 0,
            storage: None,
            links: self.network.is_some(),
            alerts: !self.alerts.rules.is_empty(),
        }
    }

    fn rolling(&self) -> RollingSettings {
        RollingSettings {
            partitions: 1,
            fabric: self.fabric.clone(),
            network: self.network.clone(),
            alerts: Arc::clone(&self.alerts),
            jobs_kept_s: self.detector.jobs_kept_s(),
        }
    }
}

/// The stages between a source of rows and a receiver of results.
pub struct InProcess {
    /// Lines to rows; its source counts its drops.
    pub decoder: Decoder,
    detecting: Detecting,
    rolling: Rolling,
    /// Link events of the last results.
    link_events: Vec<LinkEvent>,
}

impl InProcess {
    /// Stages that have seen nothing.
    pub fn new(settings: &InProcessSettings) -> InProcess {
        let detecting = Detecting::fresh(0, &settings.detecting());
        InProcess::with(detecting, Rolling::fresh(0, &settings.rolling()))
    }

    /// Continues from what [`InProcess::write`] wrote: the states of the detector and the roll-up, each with its version.
    ///
    /// # Errors
    /// A version that this program does not read, or bytes that are no state.
    pub fn read(states: [(u32, &[u8]); 2], settings: &InProcessSettings) -> Result<InProcess, StateError> {
        let [(version, bytes), (rolling_version, rolling)] = states;
        let mut detecting: Detecting = state::restore(version, bytes)?;
        let mut rolling: Rolling = state::restore(rolling_version, rolling)?;
        detecting.attach(&settings.detecting());
        rolling.attach(&settings.rolling());
        Ok(InProcess::with(detecting, rolling))
    }

    fn with(detecting: Detecting, mut rolling: Rolling) -> InProcess {
        rolling.begin_links();
        InProcess { decoder: Decoder::default(), detecting, rolling, link_events: Vec::new() }
    }

    /// The states of the detector and the roll-up, without the decoder.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn write(&self) -> Result<[Vec<u8>; 2], postcard::Error> {
        Ok([self.detecting.write()?, self.rolling.write()?])
    }

    /// Takes jobs of a job file, which are valid from the beginning.
    pub fn declare(&mut self, jobs: Vec<Job>) {
        jobs.into_iter().for_each(|job| self.detecting.declare(job));
    }

    /// Takes decoded rows and job events.
    pub fn feed(&mut self, decoded: &Decoded) {
        self.detecting.in_order(self.decoder.sources(), &decoded.counters, &decoded.jobs);
    }

    /// Takes rows of `sources`, which another decoder numbered.
    pub fn feed_of(&mut self, sources: &Sources, decoded: &Decoded) {
        self.detecting.in_order(sources, &decoded.counters, &decoded.jobs);
    }

    /// Takes counters that need no decoding.
    pub fn feed_counters(&mut self, sources: &Sources, counters: &CounterBatch) {
        self.detecting.in_order(sources, counters, &[]);
    }

    /// What became known since the last call, with the drops of all stages.
    pub fn take(&mut self) -> ResultBatch {
        self.detecting.read_all();
        self.drain(false)
    }

    /// The stream ended: what waits is used, and open regions are reported. Returns the last results.
    pub fn finish(&mut self) -> ResultBatch {
        self.detecting.finish();
        self.drain(true)
    }

    fn drain(&mut self, is_last: bool) -> ResultBatch {
        self.link_events.clear();
        let Outcome { mut results, messages, .. } =
            self.detecting.drain(self.detecting.position(), Extent::DueJobs);
        let is_of_links = |content: &Content| matches!(content, Content::Partial(Partial::Links(_)));
        // Links first: losses on them are part of the results of jobs.
        let (links, others) = messages.into_iter().partition(is_of_links);
        self.deliver(links);
        if is_last {
            self.rolling.finish();
        }
        let losses = self.rolling.parts_of_links();
        self.deliver(losses);
        self.deliver(others);
        self.roll_up(&mut results);
        results.drops.add(self.decoder.drops());
        results
    }

    /// Takes from the roll-up until it has no message for itself. Of results of one job the last one counts.
    fn roll_up(&mut self, results: &mut ResultBatch) {
        let mut jobs = BTreeMap::new();
        loop {
            let Outcome { results: found, messages, .. } = self.rolling.drain(0, Extent::DueJobs);
            results.regions.extend(found.regions);
            results.notices.extend(found.notices);
            jobs.extend(found.job_results.into_iter().map(|result| (result.job_id.clone(), result)));
            if !self.deliver(messages) {
                break;
            }
        }
        results.job_results = jobs.into_values().collect();
    }

    /// Gives messages to the roll-up; whether there was one. Verdicts are for other programs, of which there are none here.
    fn deliver(&mut self, messages: Vec<Content>) -> bool {
        let mut any = false;
        for message in messages {
            let Content::Partial(partial) = message else { continue };
            if let Partial::Links(links) = &partial {
                let events = links.updates.iter().flat_map(|updates| &updates.events);
                self.link_events.extend(events.cloned());
            }
            any |= self.rolling.apply(partial).is_ok();
        }
        any
    }

    /// Rows of counters taken so far.
    pub fn rows(&self) -> u64 {
        self.detecting.load().rows
    }

    /// The detector, for its series, its newest row and wrong clocks.
    pub fn detector(&self) -> &Detector {
        self.detecting.detector()
    }

    /// All links, where the network is known.
    pub fn fabric(&self) -> Option<&Fabric> {
        self.rolling.fabric()
    }

    /// Link events of the last results, by the detector's numbers of series; empty without a network.
    pub fn link_events(&self) -> &[LinkEvent] {
        &self.link_events
    }

    /// Latest results of all jobs, in the order of their numbers.
    pub fn job_results(&self) -> Vec<JobResult> {
        self.rolling.job_results()
    }
}

#[cfg(test)]
mod tests;
