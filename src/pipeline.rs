//! Rows to results. Every source goes this way: decode (outside, since lines and messages differ), jobs,
//! detector, fabric where the network is known, results with all drops counted.

use aggregator::jobs::JobBook;
use aggregator::{Decoded, Decoder};
use detector::alerts::updates::{JobUpdate, ReportedEpisodes, Updates};
use detector::alerts::{AlertSettings, Alerts};
use detector::detector::Detector;
use detector::fabric::lifecycle::LinkEvent;
use detector::fabric::{Fabric, FabricSettings, Network};
use detector::jobs::JobPart;
use detector::settings::Settings;
use schemas::{CounterBatch, Job, Name, ResultBatch, Sources};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One process' worth of stages between a source and a sink.
pub struct Pipeline {
    /// Lines to rows; its source counts its drops.
    pub decoder: Decoder,
    /// Rows to results.
    pub detector: Detector,
    /// From links to jobs, where the network is known.
    pub fabric: Option<Fabric>,
    /// Alerts, where there are rules.
    pub alerts: Option<Alerts>,
    reported: ReportedEpisodes,
    /// What jobs lost on links, as the fabric reported it last.
    on_links: BTreeMap<Name, JobPart>,
    /// What became of links, as the last call of [`Pipeline::take`] found.
    link_events: Vec<LinkEvent>,
    jobs: JobBook,
    rows: u64,
}

impl Pipeline {
    /// A pipeline that has seen nothing.
    pub fn new(settings: Settings) -> Pipeline {
        Pipeline {
            decoder: Decoder::default(),
            detector: Detector::new(settings),
            fabric: None,
            alerts: None,
            reported: ReportedEpisodes::default(),
            on_links: BTreeMap::new(),
            link_events: Vec::new(),
            jobs: JobBook::default(),
            rows: 0,
        }
    }

    /// Looks at all links of `network` together from here on, by the rules of `settings`.
    pub fn with_network(mut self, network: Arc<Network>, settings: FabricSettings) -> Pipeline {
        self.detector.watch_links();
        self.fabric = Some(Fabric::new(settings, Some(network)));
        self
    }

    /// Continues from a restored state.
    pub fn resume_fabric(&mut self, mut fabric: Fabric, settings: FabricSettings, network: Arc<Network>) {
        fabric.attach(settings, Some(network));
        self.fabric = Some(fabric);
    }

    /// Continues from a restored state.
    pub fn resume_alerts(&mut self, mut alerts: Alerts, settings: Arc<AlertSettings>) {
        alerts.attach(settings);
        self.alerts = Some(alerts);
    }

    /// Announces jobs of a job file.
    pub fn declare(&mut self, jobs: Vec<Job>) {
        for job in jobs {
            let job_id = job.job_id.clone();
            self.jobs.declare(job);
            if let Some(job) = self.jobs.get(&job_id) {
                self.job(job);
            }
        }
    }

    /// Takes decoded rows: jobs first, since they determine where baselines restart.
    pub fn feed(&mut self, decoded: &Decoded) {
        for job in self.jobs.fold(&decoded.jobs) {
            self.job(job);
        }
        self.rows += decoded.counters.len() as u64;
        self.detector.rows(self.decoder.sources(), &decoded.counters);
    }

    /// Takes counters that need no decoding.
    pub fn feed_counters(&mut self, sources: &Sources, counters: &CounterBatch) {
        self.rows += counters.len() as u64;
        self.detector.rows(sources, counters);
    }

    /// Passes over rows whose results the detector's restored state holds already.
    pub fn pass(&mut self, decoded: &Decoded) {
        self.jobs.fold(&decoded.jobs);
        self.rows += decoded.counters.len() as u64;
    }

    /// Rows of counters taken so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Link events of the last call of [`Pipeline::take`]; empty without a topology.
    pub fn link_events(&self) -> &[LinkEvent] {
        &self.link_events
    }

    /// What became known since the last call, with the drops of all stages.
    pub fn take(&mut self) -> ResultBatch {
        self.look_at_links();
        let mut batch = self.detector.take_with(&self.on_links);
        if let Some(fabric) = &mut self.fabric {
            batch.regions = fabric.take_regions();
        }
        batch.drops.add(self.decoder.drops());
        self.alert(&mut batch);
        batch
    }

    /// Adds the notices of the batch.
    fn alert(&mut self, batch: &mut ResultBatch) {
        let Some(alerts) = &mut self.alerts else { return };
        let (newest, series) = (self.detector.newest(), self.detector.series());
        let updates = self.reported.updates(0, newest, &batch.episodes, &batch.silences, series);
        let mut updates = updates.unwrap_or(Updates { newest, ..Updates::default() });
        for result in &batch.job_results {
            let Some(job) = self.jobs.get(&result.job_id) else { continue };
            let until = newest.map_or(job.start, |newest| job.end.map_or(newest, |end| end.min(newest)));
            updates.jobs.push(JobUpdate::of(result, job.start, until));
        }
        alerts.regions(&batch.regions);
        alerts.updates(&updates);
        batch.notices = alerts.take();
    }

    fn job(&mut self, job: Job) {
        if let Some(fabric) = &mut self.fabric {
            fabric.job(job.clone());
        }
        self.detector.job(job);
    }

    /// Gives the fabric all seconds to which nothing can be added any more.
    fn look_at_links(&mut self) {
        self.link_events.clear();
        let (Some(fabric), Some(newest)) = (&mut self.fabric, self.detector.newest()) else { return };
        for info in &self.detector.series()[fabric.series_count()..] {
            fabric.add_series(info.clone());
        }
        for tick in self.detector.take_links(newest) {
            fabric.tick(&tick);
            self.link_events.extend_from_slice(&tick.events);
        }
        if self.detector.is_finished() {
            fabric.finish();
        }
        self.on_links.extend(fabric.take_parts());
    }
}
