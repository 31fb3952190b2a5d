//! The detector stage on one partition of `tailback.counters`: order, jobs, detector.

mod forgetting;
mod in_order;
mod job_sources;
mod known_sources;
mod old_jobs;
mod ordered;
mod outgoing;
mod source_batches;

use crate::messages::Content;
use crate::stage::{BadMessage, Counts, Extent, Load, Outcome, Stage};
use crate::state::{self, Format};
use crate::wrong_clocks::Logged;
use alerts::updates::ReportedEpisodes;
use detector::inbox::Inbox;
use detector::jobs::JobPart;
use detector::settings::Settings;
use job_sources::JobSources;
use known_sources::KnownSources;
use ordered::{Downstream, Ordered};
use schemas::rejected::KEPT_MAX;
use schemas::wire::{self, JobRow, Message, Origin, Reached};
use schemas::{
    DropCounts, DropReason, EpisodeId, Name, RejectedMessage, ResultBatch, SeriesIndex, SeriesInfo, Signal,
    SourceIndex, Sources, Time,
};
use serde::{Deserialize, Serialize};
use source_batches::SourceBatches;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use store::storage_policy::{StoragePolicy, StoredRows, Thinner};

/// Seconds of silence, of event time, after which what is open of a series is stored as it is.
const SILENT_S: f64 = 60.0;

/// What a detector is made from.
#[derive(Clone, Debug)]
pub struct DetectingSettings {
    /// Models and rules of the stream.
    pub settings: Settings,
    /// Rows that may wait for slower raw partitions.
    pub waiting_rows_max: usize,
    /// Which signals become rows; `None` where the receiver of results stores them itself.
    pub storage: Option<StoragePolicy>,
    /// Whether links are observed: the topology is known.
    pub links: bool,
    /// Whether there are rules of alerts.
    pub alerts: bool,
}

/// State of one partition.
#[derive(Debug, Serialize, Deserialize)]
pub struct Detecting {
    partition: i32,
    inbox: Inbox,
    sources: Sources,
    ordered: Ordered,
    drops: DropCounts,
    thinner: Thinner,
    /// Samplers of jobs, where this partition stores what all partitions receive.
    job_sources: JobSources,
    messages: u64,
    #[serde(skip)]
    known: KnownSources,
    /// Parts of jobs as they were sent last.
    #[serde(skip)]
    sent_parts: HashMap<Name, JobPart>,
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
    /// Series that were forgotten since results were taken.
    #[serde(skip)]
    forgotten: Vec<SeriesIndex>,
    /// Whether signals are selected for the store.
    #[serde(skip)]
    selects_rows: bool,
    /// Rows that were selected since results were taken, and series that are new since then.
    #[serde(skip)]
    stored: StoredRows,
    #[serde(skip)]
    new_series: Vec<(SeriesIndex, SeriesInfo)>,
    /// Memory of signals.
    #[serde(skip)]
    signals: Vec<Signal>,
    /// About how long the next state is.
    #[serde(skip)]
    written_bytes: Cell<usize>,
}

impl Detecting {
    fn source(&mut self, described: &[u8]) -> Result<SourceIndex, wire::WireError> {
        let code = self.known.code(described);
        if let Some(known) = self.known.number(code) {
            return Ok(known);
        }
        let source = wire::read_source(described)?;
        let number = self.sources.intern(source);
        self.known.add(code, number);
        Ok(number)
    }

    fn use_message(&mut self, message: Message<'_>) -> Result<(), wire::WireError> {
        match message {
            Message::Counters(row) => {
                let source = self.source(row.source)?;
                let of_source = |source: &schemas::Source| [source.counters(), source.counters_with_links()];
                let expected = self.sources.get(source).map_or([0; 2], of_source);
                self.inbox.row(&row.origin, row.time, source, |counters| {
                    match row.counters(counters)? {
                        found if expected.contains(&found) => Ok(found),
                        _ => Err(wire::WireError::Damaged("another number of counters than its source has")),
                    }
                })?;
            }
            Message::Jobs(topic, partition, rows) => {
                for JobRow { offset, arrived, sampled, events } in rows {
                    let sources = if sampled { JobSources::of(&events) } else { Vec::new() };
                    let is_new = self.inbox.jobs(&Origin { topic, partition, offset, arrived }, events);
                    if is_new && self.partition == 0 {
                        self.job_sources.note(sources);
                    }
                }
            }
            Message::Dropped(topic, partition, rows) => {
                self.inbox.dropped(topic, partition, &rows, &mut self.drops);
            }
            Message::Rejected(message) if self.rejected.len() < KEPT_MAX => self.rejected.push(message),
            Message::Rejected(_) => {}
            Message::Progress(_, now, reached) => self.progress(now, &reached),
        }
        Ok(())
    }

    /// Aggregators have read so far: what waited for it is used.
    fn progress(&mut self, now: Time, reached: &[Reached]) {
        self.ordered.detector.arrived_up_to(now);
        let mut down = Downstream { ordered: &mut self.ordered, sources: &self.sources };
        self.inbox.progress(now, reached, &mut down);
        if self.ordered.read_up_to(self.inbox.watermark()) {
            self.forget_sent_parts();
        }
        self.select_rows();
        self.forget_unseen();
    }

    /// Selects rows for the store soon after their signals: those of several seconds of a large machine are hundreds of megabytes.
    fn select_rows(&mut self) {
        if self.selects_rows {
            let new = self.ordered.detector.take_signals(&mut self.signals);
            self.thinner.know(&new);
            self.new_series.extend(new);
            self.thinner.pass(&self.signals, &mut self.stored);
        }
    }

    fn forget_sent_parts(&mut self) {
        self.sent_parts.retain(|job_id, _| self.ordered.detector.keeps_job(job_id));
    }

    /// Logs clocks that are wrong, and raw topics that were created again.
    fn log_inputs(&mut self, extent: Extent) {
        if matches!(extent, Extent::AllJobs | Extent::Everything) {
            self.wrong_clocks.log(&self.ordered.detector);
        }
        for topic in self.inbox.created_again() {
            metrics::counter!("tailback_raw_topics_created_again_total", "topic" => crate::labels::of(&topic))
                .increment(1);
            tracing::warn!(
                partition = self.partition,
                topic,
                "raw topic was deleted and created again: its rows are read from the new beginning; what the old one still held is lost"
            );
        }
    }

    /// What the database gets.
    fn results(&mut self, extent: Extent) -> ResultBatch {
        let detector = &mut self.ordered.detector;
        let most = match extent {
            Extent::DueJobs | Extent::Everything => usize::MAX,
            _ => self.batches.most(self.partition, detector.newest(), extent == Extent::AllJobs),
        };
        let mut results = detector.take_apart(most);
        results.event_sources = self.job_sources.take(most);
        self.batches.sent(detector.has_more_sources() || self.job_sources.has_more());
        results.series.splice(0..0, std::mem::take(&mut self.new_series));
        results.drops.add(&self.drops);
        results.rejected = std::mem::take(&mut self.rejected);
        if self.partition != 0 {
            // All partitions receive all jobs; one of them writes these to the database.
            results.jobs.clear();
        }
        results
    }

    /// Rows that signals complete, and those of silent series. A clock that is ahead makes no series silent.
    fn thin(&mut self) -> StoredRows {
        self.select_rows();
        let mut stored = std::mem::take(&mut self.stored);
        if !self.selects_rows {
            self.forgotten.clear();
            return stored;
        }
        if let Some(newest) = self.ordered.detector.newest() {
            let read = newest.min(self.inbox.watermark());
            self.thinner.close(read.plus_seconds(-SILENT_S), &mut stored);
        }
        self.part_with_forgotten();
        stored
    }
}

impl Stage for Detecting {
    const STAGE: &'static str = "detector";
    const FORMAT: Format = state::DETECTOR;
    type Settings = DetectingSettings;
    type Message<'a> = Message<'a>;

    fn fresh(partition: i32, settings: &DetectingSettings) -> Detecting {
        Detecting {
            partition,
            inbox: Inbox::new(settings.waiting_rows_max),
            sources: Sources::default(),
            ordered: Ordered::new(partition, settings),
            drops: DropCounts::default(),
            thinner: Thinner::new(settings.storage.unwrap_or_default()),
            job_sources: JobSources::default(),
            messages: 0,
            known: KnownSources::default(),
            sent_parts: HashMap::new(),
            batches: SourceBatches::default(),
            announced: HashSet::new(),
            alerts: settings.alerts.then(ReportedEpisodes::default),
            wrong_clocks: Logged::default(),
            rejected: Vec::new(),
            forgotten: Vec::new(),
            selects_rows: settings.storage.is_some(),
            stored: StoredRows::default(),
            new_series: Vec::new(),
            signals: Vec::new(),
            written_bytes: Cell::new(0),
        }
    }

    fn read(bytes: &[u8]) -> Result<Detecting, postcard::Error> {
        postcard::from_bytes(bytes)
    }

    fn attach(&mut self, settings: &DetectingSettings) {
        // The topology may have been configured since the state was written.
        if settings.links && !self.ordered.detector.watches_links() {
            self.ordered.detector.watch_links();
            self.ordered.links.begin();
            if self.partition == 0 {
                self.ordered.links.begin_jobs(&self.ordered.jobs);
            }
        }
        self.alerts = settings.alerts.then(ReportedEpisodes::default);
        self.selects_rows = settings.storage.is_some();
        self.wrong_clocks = Logged::of(&self.ordered.detector);
    }

    fn number_from(&mut self, begin: u64) {
        self.ordered.detector.number_from(begin);
    }

    fn skip_numbers(&mut self, count: u64) {
        self.ordered.detector.skip_numbers(count);
    }

    fn write(&self) -> Result<Vec<u8>, postcard::Error> {
        let bytes = postcard::to_extend(self, Vec::with_capacity(self.written_bytes.get()))?;
        self.written_bytes.set(bytes.len() + bytes.len() / 8);
        Ok(bytes)
    }

    fn decode(payload: &[u8]) -> Result<Message<'_>, BadMessage> {
        Ok(wire::read(payload)?)
    }

    fn apply(&mut self, message: Message<'_>) -> Result<(), BadMessage> {
        self.messages += 1;
        Ok(self.use_message(message)?)
    }

    fn count_bad(&mut self) {
        self.drops.count(DropReason::BadMessage);
    }

    fn drain(&mut self, position: i64, extent: Extent) -> Outcome {
        self.log_inputs(extent);
        let stored = self.thin();
        let results = self.results(extent);
        let mut messages: Vec<Content> = self.verdicts(&results.episodes);
        messages.extend(self.links());
        messages.extend(self.updates(&results));
        messages.extend(self.parts(position, extent, &results.episodes));
        Outcome { results, stored, messages }
    }

    fn discard(&mut self) {
        // Seen sources are stored at intervals: the database may not have the latest ones.
        self.thin();
        self.new_series.clear();
        self.ordered.detector.take_apart(0);
        self.ordered.links.forget();
        self.rejected.clear();
    }

    fn resend_series(&mut self) {
        self.new_series.clear();
        self.ordered.detector.resend_series();
    }

    fn report_again(&mut self) {
        self.ordered.detector.report_again();
        self.job_sources.report_again();
    }

    fn reload(&mut self, settings: &DetectingSettings) -> bool {
        let detector = &mut self.ordered.detector;
        let before = (detector.settings().clone(), self.thinner.policy());
        detector.set_thresholds(&settings.settings);
        self.ordered.jobs.set_max(settings.settings.jobs_max);
        self.thinner.set_policy(settings.storage.unwrap_or_default());
        if *detector.settings() != settings.settings {
            tracing::warn!(
                partition = self.partition,
                "model, windows and rules of the stream are those of the stored state; to change them reset it \
                 with `tailback migrate --forget-positions`"
            );
        }
        before != (detector.settings().clone(), self.thinner.policy())
    }

    fn must_be_taken(&self) -> bool {
        !self.forgotten.is_empty()
    }

    fn books(&self) -> Vec<(&'static str, usize)> {
        let mut books = self.ordered.detector.books();
        books.extend([
            ("described_sources", self.sources.as_slice().len()),
            ("raw_partitions", self.inbox.raws()),
            ("job_sources", self.job_sources.len()),
            ("reported_jobs", self.ordered.jobs.len()),
            ("sent_parts", self.sent_parts.len()),
            ("announced_episodes", self.announced.len()),
        ]);
        books
    }

    fn load(&self) -> Load {
        let detector = &self.ordered.detector;
        Load {
            rows: self.ordered.rows,
            waiting: self.inbox.waiting(),
            newest_s: detector.newest().map(Time::seconds),
            result_bytes: detector.signals_kept() * size_of::<Signal>() + self.stored.bytes(),
        }
    }

    fn counts(&self) -> Counts {
        let detector = &self.ordered.detector;
        Counts { series: detector.series_used(), silent: detector.silent(), ..Counts::default() }
    }
}

#[cfg(test)]
mod tests;
