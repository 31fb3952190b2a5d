//! The stages with the messages that they exchange in Kafka: decoder, detector with its inbox, roll-up.

use super::world::{Row, TICK_S, World, at};
use aggregator::{Decoded, Decoder};
use alerts::AlertSettings;
use detector::fabric::{FabricSettings, Network};
use detector::model::ModelKind;
use detector::settings::{Settings, StreamSettings};
use schemas::wire::{
    Origin, Reached, begin_job_rows, end_job_rows, put_job_row, write_counters, write_progress, write_source,
};
use schemas::{Episode, JobResult, SeriesInfo};
use stages::detecting::{Detecting, DetectingSettings};
use stages::messages::{Content, OutTopic};
use stages::rolling::{Rolling, RollingSettings};
use stages::stage::{Extent, Outcome, Stage};
use stages::state;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::storage_policy::StoragePolicy;
use topology::Machine;
use topology::generate::Aries;

/// Seconds after which sources are forgotten.
const FORGET_AFTER_S: f64 = 7_200.0;
/// Seconds between two numberings of the decoder's sources.
const NUMBERED_S: usize = 7_200;
/// Seconds between two drains.
const DRAINED_S: usize = 60;
/// Rows come so many seconds after they were sampled.
const DELAY_S: f64 = 1.0;
const JOBS_TOPIC: &str = "tailback.jobs";

/// What is known of the lasting jobs.
#[derive(Debug, Default, PartialEq)]
pub struct Found {
    pub jobs: BTreeMap<String, JobResult>,
    /// The latest state of each episode, by series and start.
    pub episodes: BTreeMap<(String, i64), Episode>,
    /// Rows of signals by series: how many, and the sum of their values.
    pub signals: BTreeMap<String, (usize, f64)>,
}

/// All stages.
pub struct Pipeline {
    world: World,
    decoder: Decoder,
    detecting: Detecting,
    rolling: Rolling,
    settings: (DetectingSettings, RollingSettings),
    /// Series by number, as a writer keeps them.
    table: Vec<SeriesInfo>,
    offsets: BTreeMap<(String, i32), i64>,
    position: i64,
    /// Signals of later seconds are not looked at.
    until: usize,
    pub found: Found,
    pub rows: usize,
}

fn settings() -> (DetectingSettings, RollingSettings) {
    let tick_s = TICK_S as f64;
    let mut settings = Settings::of(ModelKind::Robust);
    settings.stream =
        StreamSettings { tick_s, lateness_s: 3.0 * tick_s, silence_s: 2.0 * tick_s, gap_s: 5.0 * tick_s };
    settings.params.iter_mut().for_each(|params| params.tick_s = tick_s);
    settings.forget_after_s = Some(FORGET_AFTER_S);
    let network = Network::of(Machine::Aries(Aries::new(1)).build().unwrap());
    let rules = alerts::rule::load(&[]).unwrap();
    let jobs_kept_s = settings.jobs_kept_s();
    let alerts = AlertSettings { jobs_kept_s, ..AlertSettings::new(rules, Vec::new(), &[]) };
    let rolling = RollingSettings {
        partitions: 1,
        fabric: FabricSettings { tick_s, ..FabricSettings::default() },
        network: Some(Arc::new(network)),
        alerts: Arc::new(alerts),
        jobs_kept_s,
    };
    let storage = Some(StoragePolicy::Changes);
    let detecting =
        DetectingSettings { settings, waiting_rows_max: 100_000, storage, links: true, alerts: true };
    (detecting, rolling)
}

impl Pipeline {
    /// Rows of signals up to the second `until` are looked at.
    pub fn new(world: World, until: usize) -> Pipeline {
        let settings = settings();
        Pipeline {
            world,
            decoder: Decoder::default(),
            detecting: Detecting::fresh(0, &settings.0),
            rolling: Rolling::fresh(0, &settings.1),
            settings,
            table: Vec::new(),
            offsets: BTreeMap::new(),
            position: 0,
            until,
            found: Found::default(),
            rows: 0,
        }
    }

    /// Takes the rows of the tick that ends at `second`.
    pub fn tick(&mut self, second: usize) {
        if second.is_multiple_of(NUMBERED_S) {
            self.decoder.forget_sources(at(second).plus_seconds(-FORGET_AFTER_S));
        }
        let rows = self.world.rows(second);
        rows.iter().for_each(|row| self.row(row, second));
        self.jobs(second);
        let mut topics: Vec<(String, i32)> = rows.into_iter().map(|row| (row.topic, row.partition)).collect();
        topics.push((JOBS_TOPIC.to_string(), 0));
        topics.dedup();
        for passed in 0..TICK_S {
            let reached = topics.iter().map(|(topic, partition)| {
                let time = at(second + passed).plus_seconds(DELAY_S);
                Reached { topic: topic.clone(), partition: *partition, time }
            });
            let mut message = Vec::new();
            let now = at(second + passed).plus_seconds(2.0 * DELAY_S);
            write_progress(&mut message, "a", now, &reached.collect::<Vec<_>>());
            self.message(&message);
        }
        if second.is_multiple_of(DRAINED_S) {
            self.drain();
        }
    }

    fn origin<'a>(&mut self, topic: &'a str, partition: i32, second: usize) -> Origin<'a> {
        let offset = self.offsets.entry((topic.to_string(), partition)).or_insert(-1);
        *offset += 1;
        Origin { topic, partition, offset: *offset, arrived: at(second).plus_seconds(DELAY_S) }
    }

    fn row(&mut self, row: &Row, second: usize) {
        let mut decoded = Decoded::default();
        let outcome = self.decoder.json_line(Some(row.schema), row.line.as_bytes(), &mut decoded);
        assert_eq!(decoded.counters.len(), 1, "{outcome:?}: {}", row.line);
        let origin = self.origin(&row.topic, row.partition, second);
        for (source, time, counters) in decoded.counters.rows() {
            let (mut described, mut message) = (Vec::new(), Vec::new());
            write_source(&mut described, self.decoder.sources().get(source).unwrap());
            write_counters(&mut message, &origin, time, &described, counters);
            self.message(&message);
            self.rows += 1;
        }
    }

    fn jobs(&mut self, second: usize) {
        let events = self.world.jobs(second);
        if events.is_empty() {
            return;
        }
        let origin = self.origin(JOBS_TOPIC, 0, second);
        let mut message = Vec::new();
        begin_job_rows(&mut message, origin.topic, 0);
        put_job_row(&mut message, origin.offset, origin.arrived, false, &events);
        end_job_rows(&mut message);
        self.message(&message);
    }

    fn message(&mut self, message: &[u8]) {
        self.position += 1;
        self.detecting.message(message).unwrap();
        if self.detecting.must_be_taken() {
            self.drain();
        }
    }

    /// Takes results as a writer does, and gives the roll-up its messages.
    fn drain(&mut self) {
        let Outcome { results, stored, messages } = self.detecting.drain(self.position, Extent::AllJobs);
        for (series, info) in results.series {
            match self.table.get_mut(series.at()) {
                Some(known) => *known = info,
                None => self.table.push(info),
            }
        }
        for episode in results.episodes {
            let name = self.table[episode.series.at()].name();
            self.found.episodes.insert((name, episode.start.0), episode);
        }
        // Rows of the last minutes may still wait for a raw partition.
        for row in stored.signals.iter().filter(|row| row.signal.time < at(self.until)) {
            let of_series = self.found.signals.entry(self.table[row.signal.series.at()].name()).or_default();
            let value = if row.signal.value.is_finite() { row.signal.value } else { 0.0 };
            *of_series = (of_series.0 + 1, of_series.1 + value);
        }
        self.roll_up(messages);
        loop {
            let Outcome { results, messages, .. } = self.rolling.drain(self.position, Extent::AllJobs);
            for result in results.job_results {
                self.found.jobs.insert(result.job_id.to_string(), result);
            }
            if !self.roll_up(messages) {
                break;
            }
        }
        self.found.retain_lasting();
    }

    fn roll_up(&mut self, messages: Vec<Content>) -> bool {
        let encoded = messages.into_iter().flat_map(|content| content.encoded(1_000_000).unwrap());
        let partials: Vec<_> = encoded.filter(|message| message.to == OutTopic::Partials).collect();
        partials.iter().for_each(|message| self.rolling.message(&message.payload).unwrap());
        !partials.is_empty()
    }

    /// Continues from the written states, as another process does.
    pub fn restart(&mut self) {
        self.drain();
        let [detecting, rolling] = self.states();
        self.detecting = state::restore(Detecting::FORMAT.version(), &detecting).unwrap();
        self.detecting.attach(&self.settings.0);
        self.detecting.resend_series();
        self.rolling = state::restore(Rolling::FORMAT.version(), &rolling).unwrap();
        self.rolling.attach(&self.settings.1);
        self.decoder = Decoder::default();
        self.table.clear();
    }

    fn states(&self) -> [Vec<u8>; 2] {
        [self.detecting.write().unwrap(), self.rolling.write().unwrap()]
    }

    /// Entries of each book, and bytes of the states.
    pub fn sizes(&self) -> BTreeMap<&'static str, usize> {
        let [detecting, rolling] = self.states().map(|state| state.len());
        let books = [self.decoder.books(), self.detecting.books(), self.rolling.books()].concat();
        books.into_iter().chain([("detector_bytes", detecting), ("rollup_bytes", rolling)]).collect()
    }
}

impl Found {
    /// Keeps what is about the lasting jobs; what a number of a series and an episode is, others decide too.
    fn retain_lasting(&mut self) {
        let is_lasting = |series: &str| series.contains("/lasting");
        self.jobs.retain(|job_id, _| job_id.len() == 1);
        self.signals.retain(|series, _| is_lasting(series));
        self.episodes.retain(|(series, _), episode| {
            (episode.id, episode.series) = (schemas::EpisodeId(0), schemas::SeriesIndex(0));
            is_lasting(series)
        });
    }
}
