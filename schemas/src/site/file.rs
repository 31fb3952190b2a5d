//! The keys of the site file as they are written, before they are checked.

use super::problem::{SiteError, SiteProblem, line_at};
use serde::Deserialize;
use strsim::damerau_levenshtein;

/// How rows leave the last aggregators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON in Kafka.
    Json,
    /// Avro in Kafka, with a schema registry.
    Avro,
    /// Files of `store_csv`.
    Csv,
}

/// The source of jobs and their nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheduler {
    /// Slurm, whose SPANK plug-in `slurm_notifier` notifies ldmsd.
    Slurm,
    /// ldmsd gets no job events.
    #[default]
    None,
}

/// How one ldmsd knows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Auth {
    /// A shared secret in a file.
    Ovis,
    /// MUNGE.
    Munge,
    /// Not at all.
    None,
}

/// What carries the sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// TCP.
    #[default]
    Sock,
    /// InfiniBand verbs.
    Rdma,
    /// Cray's uGNI.
    Ugni,
    /// libfabric.
    Fabric,
}

impl Transport {
    /// ldmsd's word.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Sock => "sock",
            Transport::Rdma => "rdma",
            Transport::Ugni => "ugni",
            Transport::Fabric => "fabric",
        }
    }
}

/// What a host is; it decides which network counters its ldmsd reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Runs jobs; on an Aries network it reports half of its router.
    Compute,
    /// Runs no jobs; on an Aries network it reports its whole router.
    Service,
    /// Reports the InfiniBand ports of its own adapters.
    IbHost,
    /// Queries InfiniBand switches for their counters.
    IbSwitches,
    /// Reports its Slingshot adapters.
    Slingshot,
}

impl Role {
    /// The word in the site file and in names of generated files.
    pub fn name(self) -> &'static str {
        match self {
            Role::Compute => "compute",
            Role::Service => "service",
            Role::IbHost => "ib_host",
            Role::IbSwitches => "ib_switches",
            Role::Slingshot => "slingshot",
        }
    }
}

/// Which plug-in reads the ports of an InfiniBand host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IbSampler {
    /// The kernel's files below `/sys/class/infiniband`.
    #[default]
    Filesingle,
    /// Management datagrams, all ports in one set; data counters of 64 bits, `port_xmit_wait` of 32.
    Sysclassib,
    /// Management datagrams, a set per port; `port_xmit_wait` saturates at 32 bits.
    Ibmad,
}

impl IbSampler {
    /// The word in the site file.
    pub fn name(self) -> &'static str {
        match self {
            IbSampler::Filesingle => "filesingle",
            IbSampler::Sysclassib => "sysclassib",
            IbSampler::Ibmad => "ibmad",
        }
    }
}

/// Targets of a Lustre server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LustreTarget {
    /// Objects: files' data.
    Ost,
    /// Metadata.
    Mdt,
}

impl LustreTarget {
    /// Schema of a target's own rows, and of its counts by job.
    pub fn schemas(self) -> [&'static str; 2] {
        match self {
            LustreTarget::Ost => ["lustre_ost", "lustre_ost_job_stats"],
            LustreTarget::Mdt => ["lustre_mdt", "lustre_mdt_job_stats"],
        }
    }
}

/// `[ldmsd]`: what all daemons have in common.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ldmsd {
    /// Folder on the hosts to which the generated files are copied.
    #[serde(default = "conf_dir")]
    pub conf_dir: String,
    /// Port on which samplers listen.
    #[serde(default = "port")]
    pub port: u16,
    /// What carries the sets.
    #[serde(default)]
    pub transport: Transport,
    /// How daemons know each other.
    #[serde(default = "auth")]
    pub auth: Auth,
    /// The shared secret of [`Auth::Ovis`]; a path on the hosts.
    #[serde(default = "auth_file")]
    pub auth_file: String,
}

/// ldmsd's own port; aggregators take the next ones, one a level.
pub(super) const PORT_DEFAULT: u16 = 411;

fn conf_dir() -> String {
    "/etc/ldms/tailback".to_string()
}
fn port() -> u16 {
    PORT_DEFAULT
}
fn auth() -> Auth {
    Auth::Munge
}
fn auth_file() -> String {
    "/etc/ldms/ldmsauth.conf".to_string()
}

impl Default for Ldmsd {
    fn default() -> Ldmsd {
        Ldmsd {
            conf_dir: conf_dir(),
            port: port(),
            transport: Transport::default(),
            auth: auth(),
            auth_file: auth_file(),
        }
    }
}

/// `[schedule]`: when is sampled and when collected, in milliseconds after each multiple of the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Schedule {
    /// Time between two samples.
    pub interval_ms: u32,
    /// Time between two collections, at both levels.
    pub update_interval_ms: u32,
    /// Sampling.
    pub sample_offset_ms: u32,
    /// Aggregators of level 1 collect.
    pub level1_offset_ms: u32,
    /// Aggregators of level 2 collect.
    pub level2_offset_ms: u32,
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule {
            interval_ms: 1000,
            update_interval_ms: 1000,
            sample_offset_ms: 0,
            level1_offset_ms: 200,
            level2_offset_ms: 400,
        }
    }
}

/// One host list or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "a host list such as \"nid[00001-00128]\", or several in brackets")]
pub enum Lists {
    /// `"nid[00001-00128]"`.
    One(String),
    /// `["nid[00001-00128]", "login1"]`.
    Several(Vec<String>),
}

impl Lists {
    /// The texts.
    pub fn texts(&self) -> &[String] {
        match self {
            Lists::One(text) => std::slice::from_ref(text),
            Lists::Several(texts) => texts,
        }
    }
}

/// The whole file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the checked types of super::Site document each key")]
pub struct SiteFile {
    pub name: String,
    pub format: Format,
    #[serde(default)]
    pub brokers: Vec<String>,
    #[serde(default)]
    pub registry: String,
    #[serde(default = "topic")]
    pub topic: String,
    #[serde(default = "csv_dir")]
    pub csv_dir: String,
    #[serde(default)]
    pub scheduler: Scheduler,
    #[serde(default)]
    pub ldmsd: Ldmsd,
    #[serde(default)]
    pub schedule: Schedule,
    pub aries: Option<AriesFile>,
    #[serde(default)]
    pub hosts: Vec<HostsFile>,
    #[serde(default)]
    pub aggregators: Vec<AggregatorFile>,
}

fn topic() -> String {
    "ldms.%S".to_string()
}
fn csv_dir() -> String {
    "/var/lib/ldms/csv".to_string()
}

/// `[aries]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "super::aries documents each key")]
pub struct AriesFile {
    #[serde(default = "redundancy")]
    pub redundancy: usize,
    pub routers: Vec<RoutersFile>,
}

fn redundancy() -> usize {
    2
}

/// `[[aries.routers]]`: node numbers and the routers on which they sit, in order.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "super::aries documents each key")]
pub struct RoutersFile {
    pub first: String,
    pub nids: String,
    pub cabinets_per_row: Option<u32>,
}

/// `[[hosts]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "super::HostClass documents each key")]
pub struct HostsFile {
    pub names: Lists,
    pub role: Role,
    #[serde(default)]
    pub lustre: Vec<String>,
    #[serde(default)]
    pub serves: Vec<LustreTarget>,
    pub jobs: Option<bool>,
    #[serde(default)]
    pub ports: Vec<String>,
    pub sampler: Option<IbSampler>,
    #[serde(default)]
    pub lid_file: String,
    #[serde(default)]
    pub node_name_map: String,
    pub switches: Option<Lists>,
}

/// `[[aggregators]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "super::Aggregator documents each key")]
pub struct AggregatorFile {
    pub name: String,
    pub level: u8,
    pub port: Option<u16>,
    pub takes: Lists,
}

/// Most edits between a key and what was written for it.
const EDITS_MAX: usize = 3;

/// Reads the file's keys.
pub(super) fn read(text: &str) -> Result<SiteFile, SiteError> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(0, |span| line_at(text, span.start));
        let message = error.message().replace('\n', ", ");
        let text = unknown_key(&message).unwrap_or(message);
        SiteError(vec![SiteProblem { line, key: String::new(), text }])
    })
}

/// A sentence for serde's "unknown field `x`, expected one of `a`, `b`".
fn unknown_key(message: &str) -> Option<String> {
    let mut quoted = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let written = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let far = EDITS_MAX.min(written.len() / 2).max(1);
    let nearest = known.iter().map(|key| (damerau_levenshtein(written, key), *key)).min();
    Some(match nearest.filter(|(edits, _)| *edits <= far) {
        Some((_, key)) => format!("{written} is no key; the nearest is {key}"),
        None => format!("{written} is no key; there are {}", known.join(", ")),
    })
}
