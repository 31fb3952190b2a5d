//! What is measured. A metric is a file of the [`mod@catalogue`]; here it is a number in that, with the contents of its file.

pub mod catalogue;
mod check;
pub mod file;
#[cfg(test)]
mod page;
pub mod pattern;
#[cfg(test)]
mod tests;

use crate::NOT_MEASURED;
use catalogue::catalogue;
use file::{LinkEnd, Measures, PortKind};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Parts of a gauge's unit that rows count in: its value is no whole number.
pub const GAUGE_UNITS: f64 = 1000.0;

/// A kind of series; the first word of its name. Written as its name, so that messages and states survive another catalogue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Metric(u8);

/// Which way a metric goes when its resource is contended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Stalls and waits rise.
    Rising,
    /// Rates of progress fall.
    Falling,
}

/// How counters of one part become a reading: of `waited` counters that come first in a row, and `passed` ones after them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadingPlan {
    /// Counters of what held the traffic up; none if the reading is the rate of what passed.
    pub waited: usize,
    /// Counters of what passed; none if the reading is the rate of what waited.
    pub passed: usize,
    /// Bytes that one count of what passed stands for.
    pub bytes_per_count: f64,
    /// Counts per second below which a reading means nothing.
    pub active_per_s: f64,
    /// Highest counts per second that the hardware can make; what is above is no measurement.
    pub most_per_s: f64,
    /// Whether the reading is the value of the newer row, in units of 1 / [`GAUGE_UNITS`].
    pub gauge: bool,
    /// By counter, a bit for each that a source may lack: the others alone make the reading then.
    pub may_lack: u64,
    /// Widths at which counters may wrap, bit n for n bits; all may at 64.
    pub wraps_at: u64,
    /// A counter that reads this stopped there.
    pub saturated: Option<u64>,
}

impl ReadingPlan {
    /// Whether the counters of a part can make a reading: all that it needs are measured.
    pub fn is_measured(&self, counters: &[u64]) -> bool {
        let lacks = |(at, counter): (usize, &u64)| *counter == NOT_MEASURED && self.may_lack & (1 << at) == 0;
        !counters.iter().enumerate().any(lacks)
    }
}

/// The metrics in the order of their numbers, as a state keeps it: one that was written with another catalogue is not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Metric>")]
pub struct MetricOrder(Vec<Metric>);

impl Default for MetricOrder {
    fn default() -> Self {
        MetricOrder(Metric::all().collect())
    }
}

impl TryFrom<Vec<Metric>> for MetricOrder {
    type Error = &'static str;

    fn try_from(written: Vec<Metric>) -> Result<MetricOrder, Self::Error> {
        match MetricOrder(written) {
            order if order == MetricOrder::default() => Ok(order),
            _ => Err("the state was written with another catalogue of metrics"),
        }
    }
}

impl Metric {
    /// All metrics, in the order of their numbers, which is that of their names.
    pub fn all() -> impl DoubleEndedIterator<Item = Metric> + Clone {
        (0..catalogue().metrics.len() as u8).map(Metric)
    }

    /// How many there are.
    pub fn count() -> usize {
        catalogue().metrics.len()
    }

    /// Its number.
    pub fn at(self) -> usize {
        usize::from(self.0)
    }

    /// The word in series names, configuration and SQL.
    pub fn name(self) -> &'static str {
        &self.facts().file.name
    }

    /// The metric of that name.
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::all().find(|metric| metric.name() == name)
    }

    /// A few words for a person, behind what is measured: "network stalls" of "Aries router tiles".
    pub fn title(self) -> &'static str {
        &self.facts().file.title
    }

    /// Which way it goes under contention.
    pub fn direction(self) -> Direction {
        self.facts().file.direction
    }

    /// Unit of a reading.
    pub fn unit(self) -> &'static str {
        &self.facts().file.unit
    }

    /// How its counters become a reading.
    pub fn reading(self) -> &'static ReadingPlan {
        &self.facts().reading
    }

    /// Counters that one part contributes to a row of a [`crate::CounterBatch`].
    pub fn columns(self) -> usize {
        let reading = self.reading();
        reading.waited + reading.passed
    }

    /// What its raw counters count: what passed, and what held it up. None where the reading is a rate.
    pub fn counts(self) -> Option<[&'static str; 2]> {
        self.facts().file.reading.counts.as_ref().map(|[passed, waited]| [passed.as_str(), waited.as_str()])
    }

    /// Whether the mean over the parts of a component is a series of its own (reduce, then model). A mean over parts that
    /// carry the traffic of different jobs would fall with each that is silent.
    pub fn has_sum(self) -> bool {
        self.facts().file.sum_of_parts
    }

    /// Bytes that one count of its traffic stands for.
    pub fn unit_bytes(self) -> f64 {
        self.reading().bytes_per_count
    }

    /// Least value that enters a logarithm, in its unit: below it a reading is as good as none.
    pub fn floor(self) -> f64 {
        self.facts().file.reading.floor
    }

    /// Least change of the mean that is flagged, in its unit, where nothing else is set.
    pub fn least_change(self) -> f64 {
        self.facts().file.reading.least_change
    }

    /// Whether seconds lost and regions follow from it.
    pub fn costs(self) -> bool {
        self.facts().file.costs
    }

    /// Whether its traffic is all that a node sends into the network.
    pub fn paces(self) -> bool {
        self.facts().file.paces
    }

    /// Whether it is the progress of a job's own node on a file system.
    pub fn is_progress(self) -> bool {
        self.facts().file.measures == Measures::Progress
    }

    /// Whether it is what jobs report of themselves.
    pub fn is_of_jobs(self) -> bool {
        self.facts().file.measures == Measures::Application
    }

    /// Whether it is the pressure on a link.
    pub fn is_link(self) -> bool {
        self.facts().file.measures == Measures::Link
    }

    /// The first of the metrics that rows of one schema report together with it: one component has all of them.
    pub fn group(self) -> Metric {
        Metric(self.facts().group)
    }

    /// The first of the metrics of what the clients of a file system share: they take it from each other.
    pub fn resource(self) -> Metric {
        Metric(self.facts().resource)
    }

    /// Whether each count costs the resource about as much as another, so that others' gains prove what one lost.
    pub fn is_alike(self) -> bool {
        self.cost_range() <= 1.0
    }

    /// How many times as much as another one a count may cost the resource, at least 1.
    pub fn cost_range(self) -> f64 {
        self.facts().file.reading.cost_range
    }

    /// At which end of its link it is measured; `None` if it is no link's.
    pub fn measured_at(self) -> Option<LinkEnd> {
        self.facts().file.measured_at
    }

    /// The metric by whose series a topology names the links of such ports, at this end of theirs.
    pub fn naming_links(ports: PortKind, end: LinkEnd) -> Option<Metric> {
        Metric::all().find(|metric| {
            let file = &metric.facts().file;
            file.names_links_of == Some(ports) && file.measured_at == Some(end)
        })
    }

    fn facts(self) -> &'static catalogue::Facts {
        &catalogue().metrics[self.at()]
    }
}

impl std::fmt::Debug for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Metric, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Metric::from_name(&name)
            .ok_or_else(|| D::Error::custom(format!("metric {name:?} is in no file of the catalogue")))
    }
}
