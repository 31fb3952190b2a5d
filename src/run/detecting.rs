//! The detector stage's work on one partition of `tailback.counters`: order, jobs, detector.

mod old_jobs;
mod outgoing;
mod source_batches;

use super::links::{LinkUpdates, ReadUpTo};
use super::state_version::StateVersion;
use super::work::{BadMessage, Outcome, Work};
use crate::wrong_clocks::Logged;
use aggregator::JobBook;
use detector::alerts::updates::ReportedEpisodes;
use detector::detector::Detector;
use detector::inbox::{Inbox, Outlet};
use detector::settings::Settings;
use detector::storage_policy::{StoragePolicy, StoredRows, Thinner};
use schemas::rejected::KEPT_MAX;
use schemas::wire::{self, JobRow, Message, Origin};
use schemas::{
    CounterBatch, DropCounts, DropReason, EpisodeId, Job, JobEvent, RejectedMessage, Signal, SourceIndex,
    Sources, Time,
};
use serde::{Deserialize, Serialize};
use source_batches::SourceBatches;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

/// Seconds of silence, of event time, after which what is open of a series is stored as it is.
const SILENT_S: f64 = 60.0;

/// What a detector is made from.
#[derive(Clone, Copy, Debug)]
pub struct DetectingSettings {
    /// Models and rules of the stream.
    pub settings: Settings,
    /// Rows that may wait for slower raw partitions.
    pub waiting_rows_max: usize,
    /// Which signals become rows.
    pub storage: StoragePolicy,
    /// Whether links are observed: the topology is known.
    pub links: bool,
    /// Whether there are rules of alerts.
    pub alerts: bool,
    /// Length of a message's content, at most.
    pub payload_bytes_max: usize,
}

/// State of one partition.
#[derive(Debug, Serialize, Deserialize)]
pub struct Detecting {
    partition: i32,
    inbox: Inbox,
    sources: Sources,
    stages: Stages,
    drops: DropCounts,
    thinner: Thinner,
    messages: u64,
    /// Sources by the bytes that describe them in messages.
    #[serde(skip)]
    known: HashMap<Box<[u8]>, SourceIndex, foldhash::fast::RandomState>,
    /// Jobs whose nodes were published; see [`Detecting::parts`].
    #[serde(skip)]
    sent_parts: HashMap<schemas::Name, Vec<u8>>,
    #[serde(skip)]
    batches: SourceBatches,
    /// Open episodes that were sent as verdicts.
    #[serde(skip)]
    announced: HashSet<EpisodeId>,
    /// Episodes that alerts have; `None` without rules.
    #[serde(skip)]
    alerts: Option<ReportedEpisodes>,
    /// Producers of which was logged that their clocks are wrong.
    #[serde(skip)]
    wrong_clocks: Logged,
    /// Messages that aggregators rejected.
    #[serde(skip)]
    rejected: Vec<RejectedMessage>,
    /// Length of a message's content, at most.
    #[serde(skip)]
    payload_bytes_max: usize,
    /// About how long the next state is.
    #[serde(skip)]
    written_bytes: Cell<usize>,
}

/// What rows go through once they are in order.
#[derive(Debug, Serialize, Deserialize)]
struct Stages {
    jobs: JobBook,
    detector: Detector,
    links: LinkUpdates,
    partition: i32,
    rows: u64,
    /// Jobs that ended before this time are not kept.
    over: Time,
}

/// The stages with the sources that rows are about.
struct Downstream<'a> {
    stages: &'a mut Stages,
    sources: &'a Sources,
}

impl Outlet for Downstream<'_> {
    fn rows(&mut self, rows: &CounterBatch) {
        self.stages.rows += rows.len() as u64;
        self.stages.detector.rows(self.sources, rows);
    }

    fn jobs(&mut self, events: &[JobEvent]) {
        let current = self.stages.pass_old_jobs(events);
        if self.stages.partition == 0 && self.stages.detector.watches_links() {
            self.stages.links.jobs(&current);
        }
        // Each of the thousands of nodes of a job reports it: the detector takes it once.
        for job in self.stages.jobs.fold(&current) {
            self.stages.detector.job(job);
        }
    }
}

fn detector_of(settings: &DetectingSettings) -> Detector {
    let mut detector = Detector::new(settings.settings);
    if settings.links {
        detector.watch_links();
    }
    detector
}

impl Detecting {
    fn source(&mut self, described: &[u8]) -> Result<SourceIndex, wire::WireError> {
        if let Some(known) = self.known.get(described) {
            return Ok(*known);
        }
        let source = wire::read_source(described)?;
        let number = self.sources.intern(source);
        self.known.insert(described.into(), number);
        Ok(number)
    }

    fn use_message(&mut self, payload: &[u8]) -> Result<(), wire::WireError> {
        match wire::read(payload)? {
            Message::Counters(row) => {
                let source = self.source(row.source)?;
                let of_source = |source: &schemas::Source| [source.counters(), source.counters_with_links()];
                let expected = self.sources.get(source).map_or([0; 2], of_source);
                self.inbox.row(&row.origin, row.time, source, |counters| match row.counters(counters)? {
                    found if expected.contains(&found) => Ok(found),
                    _ => Err(wire::WireError::Damaged("another number of counters than its source has")),
                })
            }
            Message::Jobs(topic, partition, rows) => {
                for JobRow { offset, arrived, events } in rows {
                    self.inbox.jobs(&Origin { topic, partition, offset, arrived }, events);
                }
                Ok(())
            }
            Message::Dropped(topic, partition, rows) => {
                self.inbox.dropped(topic, partition, &rows, &mut self.drops);
                Ok(())
            }
            Message::Rejected(message) => {
                if self.rejected.len() < KEPT_MAX {
                    self.rejected.push(message);
                }
                Ok(())
            }
            Message::Progress(_, now, reached) => {
                self.stages.detector.arrived_up_to(now);
                let mut down = Downstream { stages: &mut self.stages, sources: &self.sources };
                self.inbox.progress(now, &reached, &mut down);
                let read = ReadUpTo {
                    watermark: self.inbox.watermark(),
                    newest: self.stages.detector.newest(),
                    rows: self.stages.rows,
                };
                if self.stages.detector.watches_links()
                    && let Some(until) = self.stages.links.progress(read)
                {
                    let ticks = self.stages.detector.take_links(until);
                    self.stages.links.ticks(ticks, self.stages.detector.series());
                }
                self.stages.detector.give_up_silent();
                self.stages.detector.look_for_silence(read.watermark);
                if self.stages.forget_jobs(read.watermark, read.newest) {
                    self.sent_parts.retain(|job_id, _| self.stages.detector.keeps_job(job_id));
                }
                Ok(())
            }
        }
    }

    /// Rows that signals complete, and those of silent series. A clock that is ahead makes no series silent.
    fn thin(&mut self, signals: &[Signal], stored: &mut StoredRows) {
        self.thinner.know(self.stages.detector.series());
        self.thinner.pass(signals, stored);
        if let Some(newest) = self.stages.detector.newest() {
            let read = newest.min(self.inbox.watermark());
            self.thinner.close(read.plus_seconds(-SILENT_S), stored);
        }
    }
}

impl Work for Detecting {
    const STAGE: &'static str = "detector";
    const STATE_VERSION: StateVersion =
        StateVersion { stage: 1, detector: detector::detector::STATE_VERSION, fabric: 0, alerts: 0 };
    type Settings = DetectingSettings;

    fn fresh(partition: i32, settings: &DetectingSettings) -> Detecting {
        Detecting {
            partition,
            inbox: Inbox::new(settings.waiting_rows_max),
            sources: Sources::default(),
            stages: Stages {
                jobs: JobBook::default(),
                detector: detector_of(settings),
                links: LinkUpdates::new(settings.settings.stream.tick_s, settings.settings.stream.lateness_s),
                partition,
                rows: 0,
                over: Time::MIN,
            },
            drops: DropCounts::default(),
            thinner: Thinner::new(settings.storage),
            messages: 0,
            known: HashMap::default(),
            sent_parts: HashMap::new(),
            batches: SourceBatches::default(),
            announced: HashSet::new(),
            alerts: settings.alerts.then(ReportedEpisodes::default),
            wrong_clocks: Logged::default(),
            rejected: Vec::new(),
            payload_bytes_max: settings.payload_bytes_max,
            written_bytes: Cell::new(0),
        }
    }

    fn read(bytes: &[u8]) -> Result<Detecting, postcard::Error> {
        postcard::from_bytes(bytes)
    }

    fn attach(&mut self, settings: &DetectingSettings) {
        // The topology may have been configured since the state was written.
        if settings.links && !self.stages.detector.watches_links() {
            self.stages.detector.watch_links();
            self.stages.links.begin();
            if self.partition == 0 {
                self.stages.links.begin_jobs(&self.stages.jobs);
            }
        }
        self.alerts = settings.alerts.then(ReportedEpisodes::default);
        self.payload_bytes_max = settings.payload_bytes_max;
    }

    fn number_from(&mut self, begin: u64) {
        self.stages.detector.number_from(begin);
    }

    fn skip_numbers(&mut self, count: u64) {
        self.stages.detector.skip_numbers(count);
    }

    fn write(&self) -> Result<Vec<u8>, postcard::Error> {
        let bytes = postcard::to_extend(self, Vec::with_capacity(self.written_bytes.get()))?;
        self.written_bytes.set(bytes.len() + bytes.len() / 8);
        Ok(bytes)
    }

    fn message(&mut self, payload: &[u8]) -> Result<(), BadMessage> {
        self.messages += 1;
        self.use_message(payload).map_err(|error| {
            self.drops.count(DropReason::BadMessage);
            error.into()
        })
    }

    fn take(&mut self, position: i64, all: bool) -> Outcome {
        let detector = &mut self.stages.detector;
        let most = self.batches.most(self.partition, detector.newest(), all);
        let mut results = detector.take_apart(most);
        self.batches.sent(detector.has_more_sources());
        results.drops.add(&self.drops);
        results.rejected = std::mem::take(&mut self.rejected);
        if all {
            self.wrong_clocks.log(&self.stages.detector);
        }
        for topic in self.inbox.created_again() {
            metrics::counter!("tailback_raw_topics_created_again_total", "topic" => topic.clone())
                .increment(1);
            tracing::warn!(
                partition = self.partition,
                topic,
                "raw topic was deleted and created again: its rows are read from the new beginning; what the old one still held is lost"
            );
        }
        let mut messages = self.verdicts(&results.episodes);
        messages.extend(self.links());
        messages.extend(self.updates(&results));
        if all {
            messages.extend(self.parts(position));
        }
        if self.partition != 0 {
            // All partitions receive all jobs; one of them writes these to the database.
            results.jobs = Vec::<Job>::new();
        }
        let mut stored = StoredRows::default();
        self.thin(&results.signals, &mut stored);
        Outcome { results, stored, messages }
    }

    fn pass_over(&mut self) {
        // Seen sources are stored at intervals: the database may not have the latest ones.
        let dropped = self.stages.detector.take_apart(0);
        self.thin(&dropped.signals, &mut StoredRows::default());
        self.stages.links.forget();
        self.rejected.clear();
    }

    fn resend_series(&mut self) {
        self.stages.detector.resend_series();
    }

    fn result_bytes(&self) -> usize {
        self.stages.detector.signals_kept() * size_of::<Signal>()
    }

    fn reload(&mut self, settings: &DetectingSettings) -> bool {
        let detector = &mut self.stages.detector;
        let before = (*detector.settings(), self.thinner.policy());
        detector.set_thresholds(&settings.settings);
        self.thinner.set_policy(settings.storage);
        if *detector.settings() != settings.settings {
            tracing::warn!(
                partition = self.partition,
                "model, windows and rules of the stream are those of the stored state; to change them reset it \
                 with `tailback migrate --forget-positions`"
            );
        }
        before != (*detector.settings(), self.thinner.policy())
    }

    fn newest_s(&self) -> Option<f64> {
        self.stages.detector.newest().map(Time::seconds)
    }

    fn rows(&self) -> (u64, usize) {
        (self.stages.rows, self.inbox.waiting())
    }

    fn silent(&self) -> usize {
        self.stages.detector.silent()
    }

    fn series(&self) -> &schemas::SeriesTable {
        self.stages.detector.series()
    }
}

#[cfg(test)]
mod tests;
