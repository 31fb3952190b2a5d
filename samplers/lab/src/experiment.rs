//! The file of an experiment: a machine, cases, jobs, faults, expectations.

use super::adapting::spec::{FileSystemSpec, WriterSpec};
use super::expect::Expectation;
use super::machine::MachineChoice;
use super::select::Selection;
use super::storage::IoSpec;
use anyhow::Context;
use serde::Deserialize;
use std::collections::BTreeSet;

/// One experiment, as in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What people call it.
    pub title: String,
    /// Labels of the checks that it shows: `T1`.
    #[serde(default)]
    pub checks: Vec<String>,
    /// Paper and section, or the question's source.
    pub source: String,
    /// What the paper found.
    pub paper: String,
    /// Where the physics is too simple to give the paper's values.
    #[serde(default)]
    pub limits: String,
    /// Whether it belongs to the quick subset.
    #[serde(default)]
    pub quick: bool,
    /// The network of all cases that name none.
    #[serde(default)]
    pub machine: Option<MachineChoice>,
    /// Seconds that a case lasts.
    #[serde(default = "seconds")]
    pub seconds: u32,
    /// Seed of the random partners and of the noise.
    #[serde(default = "seed")]
    pub seed: u64,
    /// Noise of what is measured.
    #[serde(default)]
    pub noise: NoiseSpec,
    /// Situations to compare.
    #[serde(rename = "case")]
    pub cases: Vec<Case>,
    /// The jobs.
    #[serde(rename = "job", default)]
    pub jobs: Vec<JobSpec>,
    /// The jobs of cases with a file system.
    #[serde(rename = "writer", default)]
    pub writers: Vec<WriterSpec>,
    /// What breaks.
    #[serde(rename = "event", default)]
    pub events: Vec<EventSpec>,
    /// What must come out.
    #[serde(rename = "expect", default)]
    pub expectations: Vec<Expectation>,
}

fn seconds() -> u32 {
    420
}

fn seed() -> u64 {
    7
}

/// One situation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its network, if it is not the experiment's.
    pub machine: Option<MachineChoice>,
    /// How flows find their way.
    #[serde(default)]
    pub routing: RoutingSpec,
    /// Seconds that it lasts, if not as long as the others.
    pub seconds: Option<u32>,
    /// Its seed, if not that of the others.
    pub seed: Option<u64>,
    /// The model that decides.
    #[serde(default)]
    pub model: ModelSpec,
    /// Whether Tailback knows the forwarding tables.
    #[serde(default = "yes")]
    pub tables: bool,
    /// Whether the site named its I/O servers.
    #[serde(default)]
    pub servers_named: bool,
    /// A schedule of IOR on Lustre instead of a network: its number in table 4.1 of SAND2016-9525.
    pub ior: Option<IorSpec>,
    /// Requests to servers instead of a network.
    pub requests: Option<RequestsSpec>,
    /// Single messages instead of a network.
    pub messages: Option<MessagesSpec>,
    /// A file system and its `writer`s instead of a network: played with jobs that ask, and with the same that do not.
    pub file_system: Option<FileSystemSpec>,
}

impl Case {
    /// Whether a network or a schedule of IOR is played, not requests or messages by themselves, nor a file system.
    pub fn has_network(&self) -> bool {
        self.requests.is_none() && self.messages.is_none() && self.file_system.is_none()
    }
}

fn yes() -> bool {
    true
}

/// A varied schedule of IOR (SAND2016-9525, table 4.1).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IorSpec {
    /// Number of the case, 19 to 42.
    pub case: u32,
    /// Spread of the write rate, as a part of it.
    pub noise: f64,
}

/// Clients that send requests to servers and wait (Brown 2018: I/O against its own threshold).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestsSpec {
    /// Clients, each with one request at a time.
    pub clients: usize,
    /// Servers, which clients take in turn.
    pub servers: usize,
    /// Bytes of a request.
    pub request_bytes: f64,
    /// Bytes a second of a server.
    pub server_bytes_per_s: f64,
    /// Milliseconds from an answer to the next request.
    pub interval_ms: f64,
}

/// Messages on an empty network, by LogGP; all in microseconds (Jha 2017).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessagesSpec {
    /// L: from one end of the network to the other.
    pub latency_us: f64,
    /// o: of the processor, at either end.
    pub overhead_us: f64,
    /// g: least time from one message to the next.
    pub gap_us: f64,
    /// G: of each byte.
    pub byte_us: f64,
}

/// Noise of the counters; never of the truth.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NoiseSpec {
    /// Spread of a link's traffic from second to second, as a part of it.
    pub load: f64,
    /// Spread of its stalls a word, likewise.
    pub ratio: f64,
    /// Whether links carry a little background traffic.
    pub background: bool,
    /// Share of the seconds in which a component's rows are missing.
    pub missing: f64,
}

impl Default for NoiseSpec {
    fn default() -> NoiseSpec {
        let samplers::lab::Noise { load, ratio, background, missing } = samplers::lab::Noise::default();
        NoiseSpec { load, ratio, background, missing }
    }
}

/// Names of ways through the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutingSpec {
    /// By the machine's tables; shortest paths where it has none.
    #[default]
    Tables,
    /// Shortest paths, by hash.
    Minimal,
    /// Over a random intermediate group or top switch.
    Valiant,
    /// By the FPAR rule with a threshold of 50% (Kang 2019).
    Adaptive,
    /// Over all LIDs of the destination, the same bytes on each (Vishnu 2007).
    StripedEven,
    /// Over all LIDs of the destination, more on those that are faster (Vishnu 2007).
    StripedAdaptive,
}

/// Names of models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelSpec {
    /// The default.
    #[default]
    Robust,
    /// That of SAND2016-9525.
    Published,
}

/// One job, or the same job in several cases.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// The scheduler's number.
    pub id: u64,
    /// Cases in which it runs; all of them, where none is named.
    #[serde(default)]
    pub cases: Vec<String>,
    /// Its nodes, in the order of the ranks.
    pub hosts: Vec<Selection>,
    /// Which rank sends to which.
    pub pattern: PatternSpec,
    /// Ranks between sender and receiver of a ring.
    #[serde(default)]
    pub step: usize,
    /// How much is sent; none: it only writes.
    pub rate: Option<RateSpec>,
    /// When it starts, in seconds.
    #[serde(default)]
    pub start_s: u32,
    /// Seconds that its communication takes alone.
    #[serde(default = "work_s")]
    pub work_s: f64,
    /// 1: as slow as its slowest flow, 0: as the mean of its flows.
    #[serde(default = "one")]
    pub coupling: f64,
    /// Whether the scheduler reports it.
    #[serde(default = "yes")]
    pub known: bool,
    /// Whether it runs at a fifth of its rate up to second 120, as job `id + 100`, and then in full for 200 s.
    #[serde(default)]
    pub light_first: bool,
    /// Communication and computing in turn.
    pub phases: Option<PhasesSpec>,
    /// What it writes to storage.
    pub io: Option<IoSpec>,
}

fn work_s() -> f64 {
    300.0
}

fn one() -> f64 {
    1.0
}

/// Names of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternSpec {
    /// To random others.
    Uniform,
    /// Every node to every node.
    AllToAll,
    /// To the rank `step` further on.
    Ring,
    /// Six neighbours in a box.
    Stencil3d,
    /// To the same place in the next group.
    Tornado,
    /// All to the first.
    Incast,
    /// The first to all.
    Broadcast,
}

/// How much each sending node sends.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum RateSpec {
    /// As it is.
    Bytes {
        /// Bytes a second.
        bytes_per_s: f64,
    },
    /// Messages of a size, each so long after the one before (Kang 2019, table of load classes).
    Messages {
        /// Bytes of a message.
        message_bytes: f64,
        /// Microseconds from one to the next.
        interval_us: f64,
    },
    /// So that the job alone uses the most used link between switches to this part.
    Peak {
        /// Utilisation.
        peak: f64,
    },
    /// So that the job alone uses the links between groups that begin in the first group to this part, in the mean.
    GlobalMean {
        /// Utilisation.
        global_mean: f64,
    },
}

/// Communication and computing in turn.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhasesSpec {
    /// Seconds of communication, as long as they take alone.
    pub on_s: f64,
    /// Seconds of computing.
    pub off_s: u32,
}

/// Something that happens to a cable or to a component.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventSpec {
    /// Cases in which it happens; all of them, where none is named.
    #[serde(default)]
    pub cases: Vec<String>,
    /// At the beginning of which second.
    pub at_s: u32,
    /// What.
    pub change: ChangeSpec,
    /// The leaf, by its place among all.
    pub leaf: usize,
    /// A link up from the leaf, by its place.
    pub uplink: Option<usize>,
    /// The host at this place of the leaf, or its link.
    pub host: Option<usize>,
    /// Of a host with several adapters, the link of this rail.
    #[serde(default)]
    pub rail: usize,
    /// Part of the width that is left, of a narrowed link.
    #[serde(default)]
    pub percent: u8,
    /// By how much a clock is ahead, or for how long a link fails, in milliseconds.
    #[serde(default)]
    pub ms: i32,
}

/// Names of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeSpec {
    /// The cable fails.
    Down,
    /// It works again.
    Up,
    /// It fails for a part of a second.
    Blink,
    /// It carries only a part.
    Narrow,
    /// The component's counters begin again at 0.
    Reset,
    /// Its rows are missing from now on.
    Silent,
    /// Its rows are there again.
    Reporting,
    /// Its clock is off from now on.
    Skew,
}

impl Experiment {
    /// Reads `text`; `name` is its source.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn parse(name: &str, text: &str) -> anyhow::Result<Experiment> {
        let experiment: Experiment = toml::from_str(text).with_context(|| format!("experiment {name}"))?;
        experiment.check().with_context(|| format!("experiment {name}"))?;
        Ok(experiment)
    }

    fn check(&self) -> anyhow::Result<()> {
        let mut names = BTreeSet::new();
        for case in &self.cases {
            anyhow::ensure!(names.insert(case.name.as_str()), "two cases are called {:?}", case.name);
            anyhow::ensure!(
                case.ior.is_some() || !case.has_network() || case.machine.is_some() || self.machine.is_some(),
                "case {:?} has no machine",
                case.name
            );
            case.file_system.map_or(Ok(()), |system| system.check())?;
            anyhow::ensure!(
                case.file_system.is_none() || self.writers_of(case).next().is_some(),
                "case {:?} has a file_system and no [[writer]]",
                case.name
            );
        }
        self.writers.iter().try_for_each(WriterSpec::check)?;
        let jobs = self.jobs.iter().flat_map(|job| &job.cases);
        let writers = self.writers.iter().flat_map(|writer| &writer.cases);
        for named in jobs.chain(writers).chain(self.events.iter().flat_map(|event| &event.cases)) {
            anyhow::ensure!(names.contains(named.as_str()), "there is no case {named:?}");
        }
        self.expectations.iter().try_for_each(|expectation| expectation.check(&names))
    }

    /// The jobs of a case, in the order of the file.
    pub fn jobs_of<'e>(&'e self, case: &'e Case) -> impl Iterator<Item = &'e JobSpec> {
        self.jobs.iter().filter(|job| job.cases.is_empty() || job.cases.contains(&case.name))
    }

    /// The jobs of a case with a file system, in the order of the file.
    pub fn writers_of<'e>(&'e self, case: &'e Case) -> impl Iterator<Item = &'e WriterSpec> {
        self.writers.iter().filter(|writer| writer.cases.is_empty() || writer.cases.contains(&case.name))
    }

    /// What breaks in a case.
    pub fn events_of<'e>(&'e self, case: &'e Case) -> impl Iterator<Item = &'e EventSpec> {
        self.events.iter().filter(|event| event.cases.is_empty() || event.cases.contains(&case.name))
    }
}
