//! Jobs as rows with an interval, what they lost, and to whom.

use crate::{Name, Time};
use serde::{Deserialize, Serialize};

/// One LDMS job row: what one node said about one job at one time. Rows are event-driven;
/// the first of a job may lack name and user, the last has an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobEvent {
    /// When the row was written.
    pub time: Time,
    /// The node that said it.
    pub node: Name,
    /// The scheduler's number of the job.
    pub job_id: Name,
    /// Login name, empty if the row has none.
    pub user: String,
    /// Job name as the user gave it, empty if the row has none.
    pub name: String,
    /// When it started.
    pub start: Time,
    /// When it ended; `None` while it runs.
    pub end: Option<Time>,
}

/// A job: who, where, when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The scheduler's number.
    pub job_id: Name,
    /// Login name; may be empty.
    pub user: String,
    /// Job name; may be empty.
    pub name: String,
    /// Nodes it runs on.
    pub nodes: Vec<Name>,
    /// When it started.
    pub start: Time,
    /// When it ended; `None` while it runs or when the end never arrived.
    pub end: Option<Time>,
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
    /// Survivors of a failed path carry its load.
    FailoverInduced,
    /// The data does not tell.
    Unknown,
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
    /// The data does not tell.
    Unknown,
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
    /// Who caused it, largest share first.
    pub causes: Vec<CauseShare>,
}
