//! Jobs as rows with an interval, what they lost, and the causes.

use crate::{Interval, JobProgress, Name, Time};
use serde::{Deserialize, Serialize};

/// What one message reports about one run of a job: an LDMS row about one node, Slurm and its scripts about all.
/// Messages are event-driven; the first of a job may lack name and user, the last has an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobEvent {
    /// When it was reported.
    pub time: Time,
    /// The nodes that it is about.
    pub nodes: Vec<Name>,
    /// The scheduler's number of the job; each task of an array and each component of a het job has its own.
    pub job_id: Name,
    /// What users call it where that is not its number: `1234_7` (array), `1234+0` (het job); else empty.
    pub label: String,
    /// Login name, empty if the row has none.
    pub user: String,
    /// Job name as the user gave it, empty if the row has none.
    pub name: String,
    /// When it started; `None` where only its end is reported.
    pub start: Option<Time>,
    /// When it ended; `None` while it runs.
    pub end: Option<Time>,
    /// Whether only rows' own `job_id` shows it: then start and end are when rows began and stopped to carry it, and
    /// the report of a scheduler or a job file precedes it.
    pub seen: bool,
}

/// A job, or one run of a job that ran several times: owner, nodes, times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The scheduler's number; later runs of a requeued job have `.r1`, `.r2`, … behind it.
    pub job_id: Name,
    /// What users call it where that is not its number: `1234_7` (array), `1234+0` (het job); else empty.
    pub label: String,
    /// Login name; may be empty.
    pub user: String,
    /// Job name; may be empty.
    pub name: String,
    /// Nodes it runs on.
    pub nodes: Vec<Name>,
    /// When it started.
    pub start: Time,
    /// When it ended; `None` while it runs.
    pub end: Option<Time>,
    /// Whether the end was not reported: it is the latest that fits what else is known.
    pub end_presumed: bool,
    /// Signature of the application, to compare runs with runs.
    pub app: Option<String>,
}

impl Job {
    /// Whether it ran on `node` at some time between `from` and `to`.
    pub fn overlaps(&self, from: Time, to: Time) -> bool {
        self.start < to && self.end.is_none_or(|end| end > from)
    }
}

/// Why a series or job loses time (DESIGN section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The job contends with itself.
    #[serde(rename = "self")]
    SelfInflicted,
    /// Another job took it.
    OtherJob,
    /// I/O traffic on the links of messages.
    IoOnMpi,
    /// Capacity fell: survivors of a failed path carry its load, or a narrowed link what it carried before.
    FailoverInduced,
    /// The server became slower: its clients lost together what no other client gained.
    Server,
    /// The cause is unknown.
    Unknown,
    /// One node of the job became slower than the others of the same job, which continued.
    Node,
}

/// What could be done about it (GUIDE section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// Idle siblings stand beside the hot link: routing or placement.
    Avoidable,
    /// The whole resource is in use.
    Capacity,
    /// One end cannot take more.
    Endpoint,
    /// The cause is unknown.
    Unknown,
}

impl Cause {
    /// All of them, in the order of their numbers.
    pub const ALL: [Cause; 7] = [
        Cause::SelfInflicted,
        Cause::OtherJob,
        Cause::IoOnMpi,
        Cause::FailoverInduced,
        Cause::Server,
        Cause::Unknown,
        Cause::Node,
    ];

    /// Whether a job is to blame; else a link, a server, or what is not known.
    pub fn is_a_job(self) -> bool {
        matches!(self, Cause::SelfInflicted | Cause::OtherJob | Cause::IoOnMpi)
    }

    /// The word in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Cause::SelfInflicted => "self",
            Cause::OtherJob => "other_job",
            Cause::IoOnMpi => "io_on_mpi",
            Cause::FailoverInduced => "failover_induced",
            Cause::Server => "server",
            Cause::Node => "node",
            Cause::Unknown => "unknown",
        }
    }
}

impl CauseKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [CauseKind; 4] =
        [CauseKind::Avoidable, CauseKind::Capacity, CauseKind::Endpoint, CauseKind::Unknown];

    /// The word in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            CauseKind::Avoidable => "avoidable",
            CauseKind::Capacity => "capacity",
            CauseKind::Endpoint => "endpoint",
            CauseKind::Unknown => "unknown",
        }
    }
}

/// One cause with its share of the loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CauseShare {
    /// What sort of cause.
    pub cause: Cause,
    /// What sort of bottleneck.
    pub kind: CauseKind,
    /// The job that causes it, or the series where no job is known.
    pub series_or_job: String,
    /// Share of the loss, 0 to 1; the shares of one answer sum to at most 1.
    pub share: f64,
}

/// Unjudged shares below this are rounding.
const UNJUDGED_MIN: f64 = 0.005;
/// Seconds without a quiet baseline that no warm-up explains.
const WARM_UP_MAX_S: f64 = 60.0;

/// What a job lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobResult {
    /// The scheduler's number.
    pub job_id: Name,
    /// Seconds of its run in which one of its series was contended.
    pub contended_s: f64,
    /// Seconds lost, estimated.
    pub slowdown_s: f64,
    /// Lower end of the 95% interval, in seconds.
    pub slowdown_lo_s: f64,
    /// Upper end of the 95% interval, in seconds.
    pub slowdown_hi_s: f64,
    /// Ticks seen over ticks expected of all its series, 0 to 1; 0 where nothing was seen.
    pub completeness: f64,
    /// Share of the series-seconds that had a quiet baseline to be judged by, 0 to 1. What was not judged is part of the
    /// upper end of the interval.
    pub judged: f64,
    /// Its causes, largest share first.
    pub causes: Vec<CauseShare>,
    /// What its own reports of progress show, by name; empty where it reports none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<JobProgress>,
}

impl JobResult {
    /// Seconds lost, with the interval.
    pub fn lost_s(&self) -> Interval {
        Interval { value: self.slowdown_s, lo: self.slowdown_lo_s, hi: self.slowdown_hi_s }
    }

    /// What of a run of `run_s` seconds was seen and yet not judged, in words; `None` where that is next to nothing.
    pub fn not_judged(&self, run_s: f64) -> Option<String> {
        let share = self.completeness - self.judged;
        if share < UNJUDGED_MIN {
            return None;
        }
        let long = share * run_s >= WARM_UP_MAX_S;
        let why = if long { "in contention since it started" } else { "no quiet baseline yet" };
        let all = self.judged < UNJUDGED_MIN;
        let of = if all { String::new() } else { format!(" for {:.0}% of its time", 100.0 * share) };
        Some(format!("not judged{of}: {why}"))
    }
}
