//! From rows of counters to readings, in event time.
//!
//! | module | what it does |
//! |---|---|
//! | [`clock`] | the time of the stream, which the bulk of the components sets |
//! | `forgetting` | the end of sources, parts and components that report no more |
//! | `hosts` | how rows spell hosts |
//! | [`order`] | puts the rows of one source in order; refuses duplicates and late rows |
//! | [`silence`] | finds when a source was silent |
//! | [`rates`] | makes a reading of two rows: wraps, resets, saturation, activity |
//! | `reading` | what rows make known |
//! | `by_job` | rows about one job each, of servers and of jobs themselves |
//! | `adding` | sources that add to a part instead of repeating it |
//! | [`component`] | a component and its sources; which rows are believed |
//! | `presence` | which sources of a component report, and which are silent |
//! | `succession` | which source owns which part, which takes over, and when |
//! | [`reported`] | what jobs report of their own progress |
//! | `reporter` | a source of a component, and a part of it |
//! | `step_back` | a clock that was ahead and is right again |
//! | `wrong_clock` | producers whose clocks are wrong, counted and named |
//! | `series_book` | numbers of series |
//! | [`served`] | what servers count by job |
//! | `spare_rows` | memory of rows, for the next ones |
//! | `stage` | one source at work: rows in order to readings, gaps bridged |
//! | `whole` | the mean over a router's links in use |
//!
//! All of it depends on the rows' own timestamps alone, so the order of arrival within the lateness
//! changes nothing.

mod adding;
mod by_job;
pub mod clock;
pub mod component;
mod forgetting;
mod hosts;
pub mod order;
mod presence;
pub mod rates;
mod reading;
pub mod reported;
mod reporter;
mod series_book;
pub mod served;
pub mod silence;
mod spare_rows;
mod stage;
mod step_back;
mod succession;
mod whole;
mod wrong_clock;

pub use reading::{Found, PortCounts, SeriesReading};
pub use wrong_clock::WrongClock;

use crate::settings::StreamSettings;
use crate::spellings::Spellings;
use clock::StreamClock;
use component::Component;
use forgetting::Parting;
use reported::ReportedCounters;
use schemas::{
    CounterBatch, DropCounts, DropReason, Metric, Name, SeriesIndex, SeriesTable, Source, SourceIndex,
    Sources, Time, growth,
};
use serde::{Deserialize, Serialize};
use series_book::SeriesBook;
use served::ServedCounters;
use std::collections::HashMap;
use wrong_clock::WrongClocks;

/// Seconds of event time between two looks for silent sources.
const LOOKED_S: f64 = 0.25;
/// Weight of the latest delay in the mean of delays.
const DELAY_GAIN: f64 = 0.05;
/// Longest delay of rows that is taken for one.
const DELAY_MAX_S: f64 = 60.0;

/// When was looked for silent sources last, and how long rows take to come.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Looked {
    at: Time,
    newest: Time,
    delay_s: f64,
}

impl Default for Looked {
    fn default() -> Looked {
        Looked { at: Time::MIN, newest: Time::MIN, delay_s: 0.0 }
    }
}

/// Where the rows of a source belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Unknown,
    /// To a component, and to a slot in it.
    Component(u32, u16),
    /// They are what a server counts by job.
    Served,
    /// They are what a job counts.
    Reported,
}

/// All components, and where each source belongs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Ingest {
    settings: StreamSettings,
    series_max: usize,
    series: SeriesBook,
    components: Vec<Component>,
    /// Where the rows of each source belong; the numbers of sources do not outlive the process.
    #[serde(skip)]
    slots: Vec<Slot>,
    /// By name: a component has one for each group of metrics.
    by_name: HashMap<Name, Vec<u32>>,
    /// Routers by the node that reports them.
    routers: HashMap<Name, Vec<u32>>,
    /// Components and those that report routers, as rows spell them.
    spellings: Spellings,
    clock: StreamClock,
    wrong_clocks: WrongClocks,
    served: ServedCounters,
    reported: ReportedCounters,
    looked: Looked,
    /// Looks for unseen sources so far.
    look: u32,
    #[serde(skip)]
    parting: Parting,
    /// Components whose sources were reported in this round.
    #[serde(skip)]
    reported_up_to: usize,
    /// Rows, intervals and why they were not used.
    pub drops: DropCounts,
}

impl Ingest {
    /// Nothing seen yet.
    pub fn new(settings: StreamSettings, series_max: usize) -> Ingest {
        Ingest { settings, series_max, ..Ingest::default() }
    }

    /// Rows of further sources are dropped while there are so many series.
    pub fn set_series_max(&mut self, most: usize) {
        self.series_max = most;
    }

    /// Series seen so far, by number.
    pub fn series(&self) -> &SeriesTable {
        self.series.table()
    }

    /// Series that are not forgotten.
    pub fn series_used(&self) -> usize {
        self.series.used()
    }

    /// A number that changes with every new series.
    pub fn series_given(&self) -> u64 {
        self.series.given()
    }

    /// Numbers of forgotten series that new ones were given since the last call.
    pub fn take_renamed(&mut self) -> Vec<SeriesIndex> {
        self.series.take_renamed()
    }

    /// The time of the stream: what the bulk of its components has reached, not the newest row. A partition without any component
    /// has that of the latest report of a job.
    pub fn newest(&self) -> Option<Time> {
        let reported = || self.reported.newest().map(|newest| self.clock.arrived(newest));
        self.clock.now().or_else(reported)
    }

    /// The time that the clocks of the sources show by now: as far as the stream was read, less the usual delay of its rows.
    /// It moves on while no source reports.
    pub fn read_up_to(&self) -> Option<Time> {
        let newest = self.newest()?;
        let looked = self.looked.at.plus_seconds(-self.looked.delay_s);
        Some(newest.max(looked))
    }

    /// Messages arrived up to `limit`: no later time is reached.
    pub fn arrived_up_to(&mut self, limit: Time) {
        self.clock.limit(limit);
    }

    /// Producers whose clocks are known to be wrong, by name.
    pub fn wrong_clocks(&self) -> impl Iterator<Item = (&Name, &WrongClock)> {
        self.wrong_clocks.iter()
    }

    /// Series of one metric of a component; empty if it was never seen.
    pub fn series_of(&self, metric: Metric, component: &Name) -> Vec<SeriesIndex> {
        self.component_of(metric, component).map_or(Vec::new(), |found| found.series_by(metric))
    }

    /// Series of a component by metrics without a sum: they belong to a node alone.
    pub fn series_without_sum(&self, component: &Name) -> impl Iterator<Item = SeriesIndex> {
        self.components_of(component).flat_map(Component::series_without_sum)
    }

    fn components_of(&self, name: &Name) -> impl Iterator<Item = &Component> {
        self.by_name.get(name).into_iter().flatten().map(|number| &self.components[*number as usize])
    }

    fn component_of(&self, metric: Metric, name: &Name) -> Option<&Component> {
        self.components_of(name).find(|component| component.group == metric.group())
    }

    /// Routers, as a whole, that `node` reports: the ones it hangs on, since a node reads its own router's counters.
    pub fn routers_of(&self, node: &Name) -> Vec<SeriesIndex> {
        let reported = self.routers.get(node).into_iter().flatten();
        reported.filter_map(|c| self.components[*c as usize].whole_series()).collect()
    }

    /// Nodes that report `router`.
    pub fn nodes_of(&self, router: &Name) -> Vec<Name> {
        let known = Metric::all().filter(|metric| metric.has_sum());
        known.filter_map(|metric| self.component_of(metric, router)).flat_map(Component::producers).collect()
    }

    /// Takes rows; `out` gains what they make known.
    pub fn rows(&mut self, sources: &Sources, batch: &CounterBatch, out: &mut Found) {
        for (source, time, counters) in batch.rows() {
            let (number, slot) = match self.slot(sources, source) {
                Slot::Component(number, slot) => (number, slot),
                Slot::Served => {
                    self.served_row(sources, source, time, counters);
                    continue;
                }
                Slot::Reported => {
                    self.reported_row(sources, source, time, counters);
                    continue;
                }
                Slot::Unknown => {
                    self.drops.count(DropReason::BufferFull);
                    continue;
                }
            };
            let component = &mut self.components[number as usize];
            component.compare_with(self.clock.of_others(number as usize));
            component.row(slot as usize, time, counters, &self.settings, &mut self.drops, out);
            while let Some((slot, part)) = component.next_adding() {
                let of = component.name.clone();
                let number = |metric, part| self.series.give(metric, of.clone(), part);
                component.set_apart(slot, &part, number);
            }
            if let Some(newest) = component.newest() {
                self.clock.reached(number as usize, newest);
            }
            component.note_row(slot as usize, self.clock.now(), self.look);
            if let Some(ahead_s) = self.clock.ahead_s(time) {
                let rows = component.count_ahead();
                self.wrong_clocks.count(component.producer(slot as usize), ahead_s, rows, &mut self.drops);
            }
        }
    }

    /// Uses rows that waited for others long enough, all rows being read up to `newest`. The time up to which all readings
    /// are there: what comes within the lateness, and what still waits, is later.
    pub fn settle(&mut self, newest: Time, out: &mut Found) -> Time {
        let mut until = newest.plus_seconds(-self.settings.lateness_s);
        for component in &mut self.components {
            let since = component.settle(newest, &self.settings, &mut self.drops, out);
            until = since.map_or(until, |since| until.min(since));
        }
        until
    }

    /// Releases everything that waits for rows before it: the stream ended.
    pub fn finish(&mut self, out: &mut Found) {
        for component in &mut self.components {
            component.finish(&self.settings, &mut self.drops, out);
        }
        self.clock.look();
    }

    /// Series of components that have been silent for more than `after_s`, each once.
    pub fn give_up_silent(&mut self, after_s: f64) -> Vec<SeriesIndex> {
        let Some(now) = self.clock.now() else { return Vec::new() };
        let silent = self.components.iter_mut().filter_map(|c| c.give_up(now, after_s).then(|| c.series()));
        silent.flatten().collect()
    }

    /// Looks for sources that are silent; all of the stream was read up to `now`.
    pub fn look_for_silence(&mut self, now: Time) {
        let Some(newest) = self.clock.now().filter(|_| now.seconds_since(self.looked.at) >= LOOKED_S) else {
            return;
        };
        let looked = &mut self.looked;
        if newest > looked.newest {
            // The delay is measured on rows that come; a steady delay is no silence.
            let delay_s = now.seconds_since(newest).clamp(0.0, DELAY_MAX_S);
            looked.delay_s += (delay_s - looked.delay_s) * DELAY_GAIN;
        }
        (looked.at, looked.newest) = (now, newest);
        for component in &mut self.components {
            component.look_for_silence(now, looked.delay_s, &self.settings);
        }
    }

    fn slot(&mut self, sources: &Sources, source: SourceIndex) -> Slot {
        match self.slots.get(source.at()) {
            Some(slot) if *slot != Slot::Unknown => return *slot,
            _ => {}
        }
        let slot = self.new_slot(sources, source).unwrap_or(Slot::Unknown);
        if self.slots.len() <= source.at() {
            growth::extend_to(&mut self.slots, source.at() + 1, Slot::Unknown);
        }
        self.slots[source.at()] = slot;
        slot
    }

    fn new_slot(&mut self, sources: &Sources, source: SourceIndex) -> Option<Slot> {
        let described = sources.shared(source)?;
        if described.by_job {
            let of_jobs = described.reports(Metric::is_of_jobs);
            return Some(if of_jobs { Slot::Reported } else { Slot::Served });
        }
        let group = described.metrics.first()?.group();
        if self.series.used() >= self.series_max && !self.knows(described) {
            return None;
        }
        let component = self.numbered(group, &described.component);
        let series = &mut self.series;
        let number = |metric, part| series.give(metric, described.component.clone(), part);
        let state = &mut self.components[component as usize];
        let slot = match state.slot_of(described) {
            Some(known) => known,
            None => state.add_source(described, self.look, number)?,
        };
        self.note_router(component, described);
        Some(Slot::Component(component, slot))
    }

    /// The number of a component, which is made where there is none.
    fn numbered(&mut self, group: Metric, name: &Name) -> u32 {
        let numbers = self.by_name.entry(name.clone()).or_default();
        let is_of_group = |number: &&u32| self.components[**number as usize].group == group;
        if let Some(known) = numbers.iter().find(is_of_group) {
            return *known;
        }
        let number = self.components.len() as u32;
        numbers.push(number);
        growth::push(&mut self.components, Component::new(group, name.clone()));
        self.spellings.add(name);
        number
    }

    fn note_router(&mut self, component: u32, source: &Source) {
        if !source.reports(Metric::has_sum) {
            return;
        }
        self.spellings.add(&source.producer);
        let routers = self.routers.entry(source.producer.clone()).or_default();
        if !routers.contains(&component) {
            routers.push(component);
        }
    }
}
