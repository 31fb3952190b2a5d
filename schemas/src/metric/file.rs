//! A metric's file as it is written.

use super::Direction;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One file of the catalogue.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricFile {
    /// The word in series names, configuration and SQL: small letters, digits, `_`.
    pub name: String,
    /// What is measured, for a person: "InfiniBand ports".
    pub subject: String,
    /// A few words for a person, behind the subject: "waits to send".
    pub title: String,
    /// Unit of a reading.
    pub unit: String,
    /// Which way it goes under contention.
    pub direction: Direction,
    /// What it means for a job.
    pub measures: Measures,
    /// At which end of a link it is measured; links only.
    pub measured_at: Option<LinkEnd>,
    /// Ports by whose series of this metric a topology names links; links only. Of several metrics the first by name counts.
    pub names_links_of: Option<PortKind>,
    /// What the clients of a file system share of it, progress only: metrics with the same word take from each other.
    pub resource: Option<String>,
    /// Whether the mean over the parts of a component is a series of its own.
    #[serde(default)]
    pub sum_of_parts: bool,
    /// Whether seconds lost and regions of contended links follow from it; if not, its contention is shown alone. A server's waits
    /// never do, progress always does.
    #[serde(default = "yes")]
    pub costs: bool,
    /// Whether its traffic is all that a node sends into the network: the pace of the node's job.
    #[serde(default)]
    pub paces: bool,
    /// How counters become a reading.
    pub reading: ReadingFile,
    /// Where its counters come from, the one to be recognised first before the others.
    pub source: Vec<SourceFile>,
}

/// What a metric means for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measures {
    /// Pressure on a link that jobs share.
    Link,
    /// Progress of the node itself on a file system.
    Progress,
    /// Waits for a server, as a client sees them.
    Server,
    /// What a job gets done by its own count. It has no series: it is compared with the job's contention.
    Application,
}

/// An end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkEnd {
    /// The end that transmits.
    Sender,
    /// The end that receives.
    Receiver,
}

/// A kind of ports in topologies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortKind {
    /// Tiles of Aries routers.
    Aries,
    /// Ports of InfiniBand's switches and hosts, and of networks that are described as InfiniBand is.
    Infiniband,
    /// Ports of Slingshot switches.
    SlingshotSwitch,
    /// Interfaces of nodes on Slingshot.
    SlingshotNic,
}

/// How counters become a reading: the sum of `waited` over the sum of `passed`; without one of them, the rate of the other; of a gauge
/// its value.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadingFile {
    /// Counters of what held the traffic up, by the names of `source.columns`.
    #[serde(default)]
    pub waited: Vec<String>,
    /// Counters of what passed.
    #[serde(default)]
    pub passed: Vec<String>,
    /// Those of `passed` that a source may lack: the reading is the sum of the others then.
    #[serde(default)]
    pub may_lack: Vec<String>,
    /// How many times as much as another one a count may cost the resource, progress only: if more than once, what others gained does
    /// not prove what was lost.
    #[serde(default = "once")]
    pub cost_range: f64,
    /// What the counters count: what passed, what held it up.
    pub counts: Option<[String; 2]>,
    /// Whether the one counter of `waited` is none, but the reading itself: a percentage, a latency.
    #[serde(default)]
    pub gauge: bool,
    /// Bytes that one count of what passed stands for; 0 without `passed`.
    #[serde(default)]
    pub bytes_per_count: f64,
    /// Least value that enters a logarithm.
    pub floor: f64,
    /// Least rise of the mean that is flagged, in the metric's unit; 0 for progress.
    #[serde(default)]
    pub least_change: f64,
    /// Counts of `passed` per second below which a reading means nothing; 0 without `passed`.
    #[serde(default)]
    pub active_per_s: f64,
    /// Highest counts per second that the hardware can make; of a gauge the highest value.
    pub most_per_s: f64,
    /// Widths at which counters wrap besides 64 bits.
    #[serde(default)]
    pub wraps_at_bits: Vec<u8>,
    /// Width at whose maximum counters stop: from there on nothing is known.
    pub saturates_at_bits: Option<u8>,
}

/// Where counters come from: an LDMS schema by its columns. The names of schemas and topics are a site's own.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// LDMS' name of the schema.
    pub schema: String,
    /// Preference among redundant sources of one part: the lowest reports, the others stand by.
    pub rank: u8,
    /// The column that names the component; without it the component is the producer.
    pub component: Option<ComponentColumn>,
    /// The part that a column's name holds, by the pattern's placeholders: `r{row}c{column}`. Without any it is the one part of all rows
    /// that have the columns of `recognised_by`.
    pub part: Option<String>,
    /// Columns whose values name the one part of a row, at most two: joined with `.`, or by the rule of `part_is`.
    #[serde(default)]
    pub part_columns: Vec<String>,
    /// What the part is, where its name follows a rule.
    pub part_is: Option<PartKind>,
    /// Columns that together show the schema although its counters are missing: a row without these is of another one.
    #[serde(default)]
    pub recognised_by: Vec<String>,
    /// Columns of other schemas that have the same counters, and are not used.
    #[serde(default)]
    pub not_with: Vec<String>,
    /// Whether each row is about the job in its column `job_id`: a server counts what it did for the job, or the job counts what it
    /// did. Such a row has all columns of `recognised_by`.
    #[serde(default)]
    pub by_job: bool,
    /// Patterns of the columns, by counter. The first that matches counts.
    pub columns: BTreeMap<String, Vec<String>>,
    /// Columns without which a row is good: the life of a link, `link_downed` and `link_error_recovery`.
    #[serde(default)]
    pub optional: BTreeMap<String, Vec<String>>,
}

/// The column that names the component.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComponentColumn {
    /// Its name.
    pub column: String,
    /// What the component is, where its name follows a rule.
    pub is: Option<ComponentKind>,
}

/// A component whose name follows a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum ComponentKind {
    /// A cname with the number of its Aries chip, which is left out: a blade has one.
    #[serde(rename = "aries router")]
    AriesRouter,
}

/// A part whose name follows a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// A mount of a Lustre file system, named by that: all spellings of a mount give one series. Of two `part_columns` the
    /// second is the llite directory, which has the whole name.
    Mount,
}

fn once() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}
