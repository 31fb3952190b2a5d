//! The detector: rows of counters in, results out. [`Detector::rows`] documents the order of the pipeline.
//!
//! | file | what it holds |
//! |---|---|
//! | `blame.rs` | judgement of falls, causes of an onset |
//! | `forgetting.rs` | the end of what was not seen for long |
//! | `hindsight.rs` | losses that show once the others move less |
//! | `levels.rs` | what applications move when nothing slows them |
//! | `moments.rs` | who took what an episode lost, block by block |
//! | `taking.rs` | results since the last call |
//! | `restarts.rs` | series that start again |
//! | `quiet.rs` | which baselines are of a quiet spell |
//! | `reporting.rs` | signals and link updates |
//! | `slots.rs` | where the state of a series is |
//! | `of_jobs.rs` | jobs: boundaries, their series, results |

mod blame;
mod forgetting;
mod hindsight;
mod levels;
mod moments;
mod of_jobs;
mod quiet;
mod reporting;
mod restarts;
mod slots;
mod taking;
mod traffic;

use crate::coverage::Coverage;
use crate::episodes::EpisodeBook;
use crate::evidence::{Mount, Review, Served, Shift, Traffic};
use crate::fabric::LinkWatch;
use crate::gains::Gains;
use crate::ingest::{Found, Ingest, SeriesReading, WrongClock};
use crate::ledger::JobLedger;
use crate::model::{Bank, ModelEvent, Reading};
use crate::reports::Reports;
use crate::settings::Settings;
use crate::spells::Spells;
use hindsight::LookedBack;
use levels::Levels;
use moments::Takings;
use schemas::metric::MetricOrder;
use schemas::{CauseShare, CounterBatch, DropCounts, Job, Metric, Name, SeriesIndex, Signal, Sources, Time};
use serde::{Deserialize, Serialize};
use slots::SeriesSlot;
use std::collections::{HashMap, VecDeque};

/// State of the detector stage. It can be written and read back at any point between two calls. A change of its layout needs a
/// new version of the states (`detector/stages/src/state.rs`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Detector {
    /// By which parameters, banks and members are in order.
    metrics: MetricOrder,
    settings: Settings,
    ingest: Ingest,
    banks: Vec<Bank>,
    /// Series of each bank, by their number there.
    members: Vec<Vec<SeriesIndex>>,
    series: Vec<SeriesSlot>,
    /// Clients of each file system, in the order of their series.
    clients: HashMap<Mount, Vec<SeriesIndex>>,
    /// File systems, what each job moved on them of late, and when their clients were contended.
    mounts: Vec<Mount>,
    traffic: Vec<Traffic>,
    spells: Vec<Spells>,
    /// Which clients took what contended ones lost.
    gains: Gains,
    /// What servers of file systems count by job.
    served: HashMap<Mount, Served>,
    /// Who takes what contended clients lose.
    takings: HashMap<SeriesIndex, Takings>,
    /// Episodes that hindsight found, the latest of each series.
    past: HashMap<SeriesIndex, LookedBack>,
    /// What applications move when nothing slows them.
    levels: Levels,
    /// What the latest blocks of each file system show in hindsight.
    #[serde(skip)]
    reviews: Vec<VecDeque<Review>>,
    episodes: EpisodeBook,
    coverage: Coverage,
    jobs: JobLedger,
    /// What jobs report of their progress.
    reports: Reports,
    links: LinkWatch,
    /// Tick for which waiting rows were looked at last.
    #[serde(skip)]
    settled: Option<i64>,
    finished: bool,
    tidied: Time,
    /// When was looked last for what was not seen for long.
    looked_for_unseen: Time,
    /// What was found out for suspicions of the latest ticks.
    #[serde(skip)]
    shifts: VecDeque<Shift>,
    #[serde(skip)]
    sent_series: usize,
    /// Series that have the number of a forgotten one and were not sent yet.
    #[serde(skip)]
    renamed: Vec<SeriesIndex>,
    /// Whether a fabric stage takes link updates.
    watches_links: bool,
    #[serde(skip)]
    signals: Vec<Signal>,
    #[serde(skip)]
    found: Found,
}

impl Detector {
    /// A detector that has seen nothing.
    pub fn new(settings: Settings) -> Detector {
        let banks = settings.params.iter().map(|params| Bank::new(settings.model, *params)).collect();
        Detector {
            metrics: MetricOrder::default(),
            ingest: Ingest::new(settings.stream, settings.series_max),
            banks,
            members: vec![Vec::new(); Metric::count()],
            series: Vec::new(),
            clients: HashMap::new(),
            mounts: Vec::new(),
            traffic: Vec::new(),
            spells: Vec::new(),
            gains: Gains::default(),
            served: HashMap::new(),
            takings: HashMap::new(),
            past: HashMap::new(),
            levels: Levels::default(),
            reviews: Vec::new(),
            episodes: EpisodeBook::default(),
            coverage: Coverage::default(),
            jobs: JobLedger::new(settings.jobs),
            reports: Reports::default(),
            settings,
            links: LinkWatch::default(),
            settled: None,
            finished: false,
            tidied: Time::MIN,
            looked_for_unseen: Time::MIN,
            shifts: VecDeque::new(),
            sent_series: 0,
            renamed: Vec::new(),
            watches_links: false,
            signals: Vec::new(),
            found: Found::default(),
        }
    }

    /// Judges by the thresholds of `settings` from here on, forgets after its time, and keeps to its limits. The model, its windows, the tick and the rules of
    /// the stream stay as they were: what is known was learnt under them.
    pub fn set_thresholds(&mut self, settings: &Settings) {
        self.settings.forget_after_s = settings.forget_after_s;
        (self.settings.series_max, self.settings.jobs_max) = (settings.series_max, settings.jobs_max);
        self.ingest.set_series_max(settings.series_max);
        for (at, bank) in self.banks.iter_mut().enumerate() {
            let params = settings.params[at];
            bank.set_thresholds(params);
            let own = &mut self.settings.params[at];
            *own = crate::model::Params { window: own.window, tick_s: own.tick_s, ..params };
        }
    }

    /// Numbers of episodes from here on are greater than `begin`.
    pub fn number_from(&mut self, begin: u64) {
        self.episodes.number_from(begin);
    }

    /// Leaves out `count` numbers of episodes.
    pub fn skip_numbers(&mut self, count: u64) {
        self.episodes.skip_numbers(count);
    }

    /// From here on links are watched for [`Detector::take_links`].
    pub fn watch_links(&mut self) {
        self.watches_links = true;
    }

    /// Whether links are watched.
    pub fn watches_links(&self) -> bool {
        self.watches_links
    }

    /// What it was set to.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes rows: order, duplicates, sources, rates (ingest); then model, judgement, episodes per reading.
    pub fn rows(&mut self, sources: &Sources, batch: &CounterBatch) {
        let mut found = std::mem::take(&mut self.found);
        self.ingest.rows(sources, batch, &mut found);
        self.use_found(&mut found);
        self.found = found;
    }

    /// Takes an update of a job. The baselines of its nodes restart where the job starts and ends.
    pub fn job(&mut self, job: Job) {
        for node in self.jobs.put(job) {
            for series in self.node_series(&node) {
                self.set_boundary(series, &node);
            }
        }
    }

    /// Messages arrived up to `limit`: the time of the stream reaches no later one.
    pub fn arrived_up_to(&mut self, limit: Time) {
        self.ingest.arrived_up_to(limit);
    }

    /// Producers whose clocks are known to be wrong, by name.
    pub fn wrong_clocks(&self) -> impl Iterator<Item = (&Name, &WrongClock)> {
        self.ingest.wrong_clocks()
    }

    /// The time of the stream: what the bulk of its components has reached.
    pub fn newest(&self) -> Option<Time> {
        self.ingest.newest()
    }

    /// The time that the clocks of the sources show by now: it moves on while no source reports.
    pub fn read_up_to(&self) -> Option<Time> {
        self.ingest.read_up_to()
    }

    /// Rows and intervals that were not used.
    pub fn drops(&self) -> &DropCounts {
        &self.ingest.drops
    }

    /// All series, by number.
    pub fn series(&self) -> &schemas::SeriesTable {
        self.ingest.series()
    }

    /// Series that are not forgotten.
    pub fn series_used(&self) -> usize {
        self.ingest.series_used()
    }

    /// When was looked last for what was not seen for long.
    pub fn looked_for_unseen(&self) -> Time {
        self.looked_for_unseen
    }

    /// Whether the stream ended.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Looks for sources that are silent, all of the stream being read up to `now`.
    pub fn look_for_silence(&mut self, now: Time) {
        self.ingest.look_for_silence(now);
    }

    /// Sources that are silent now.
    pub fn silent(&self) -> usize {
        self.ingest.silent()
    }

    fn use_found(&mut self, found: &mut Found) {
        while self.series.len() < self.ingest.series().len() {
            self.add_series();
        }
        for series in self.ingest.take_renamed() {
            self.place_series(series);
            self.renamed.push(series);
        }
        let mut begin = 0;
        for port in found.ports.drain(..) {
            found.readings[begin..port.after].iter().for_each(|reading| self.use_reading(reading));
            begin = port.after;
            if self.watches_links {
                self.links.count(&port, self.settings.stream.tick_s);
            }
        }
        found.readings[begin..].iter().for_each(|reading| self.use_reading(reading));
        found.readings.clear();
    }

    fn use_reading(&mut self, reading: &SeriesReading) {
        let series = reading.series;
        let (time, value, active) = (reading.time, reading.value, reading.active);
        let tick_s = self.settings.stream.tick_s;
        if let Some(since) = reading.gap_since {
            let slot = self.series[series.at()];
            let event = self.banks[slot.metric.at()].pause(slot.number as usize);
            self.act(series, time, event);
            self.coverage.missed(series, since, time);
            self.coverage.lost_baseline(series);
            self.push_unknown_signals(series, since, time);
        }
        if reading.restarts {
            self.restart(series, time);
        }
        self.apply_shifts(series, time);
        self.coverage.saw(series, time, reading.span_ticks, active, tick_s);
        if reading.restarts {
            self.pass_boundaries_again(series, time);
        }
        let known_s = self.settings.stream.boundary_delay_s();
        let known_until = time.plus_seconds(-known_s);
        if known_until >= self.series[series.at()].next_boundary {
            let boundary = self.pass_boundary(series, known_until);
            self.restart_since(series, boundary, time);
        }
        if reading.span_ticks == 0 {
            return;
        }
        let slot = self.series[series.at()];
        let bank = &mut self.banks[slot.metric.at()];
        let update = Reading { time, value, span_ticks: reading.span_ticks, active };
        let event = bank.update(slot.number as usize, &update);
        if event != ModelEvent::Nothing {
            self.act(series, time, event);
        }
        if self.coverage.awaits_baseline(series) {
            self.note_baseline(series, time);
        }
        if let Some(mount) = slot.mount {
            self.follow_traffic(series, mount, time);
        }
        self.push_signal(reading);
        self.watch_link(reading);
    }

    fn act(&mut self, series: SeriesIndex, time: Time, event: ModelEvent) {
        let slot = self.series[series.at()];
        match event {
            ModelEvent::Nothing => {}
            ModelEvent::Warmed(since) => self.accept_when_quiet(series, time, since),
            ModelEvent::Suspected(suspicion) => self.consider(series, time, &suspicion),
            ModelEvent::Began => self.begin(series, time, Vec::new()),
            ModelEvent::Ongoing => {
                if let Some(now) = self.banks[slot.metric.at()].open_episode(slot.number as usize) {
                    self.episodes.extend(series, &now);
                }
            }
            ModelEvent::Ended(closing) => {
                self.episodes.close(series, &closing);
                self.left_contention(series, time, &closing);
            }
            ModelEvent::Settled(closing) => self.episodes.settle(series, &closing),
        }
    }

    fn begin(&mut self, series: SeriesIndex, time: Time, causes: Vec<CauseShare>) {
        let slot = self.series[series.at()];
        let Some(now) = self.banks[slot.metric.at()].open_episode(slot.number as usize) else { return };
        let by_others = causes.is_empty() && slot.metric.has_sum();
        let causes = if by_others { self.newcomers(series, now.start) } else { causes };
        self.episodes.open(series, &now, causes);
        self.entered_contention(series, time, now.start);
    }
}
