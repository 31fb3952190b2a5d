//! Interfaces between the parts of Tailback: types and formats. Only the catalogue of metrics reads files.
//!
//! | module | what it holds |
//! |---|---|
//! | [`time`] | [`Time`], microseconds since the epoch |
//! | [`name`] | [`Name`], a word from outside that was validated |
//! | [`metric`] | [`Metric`], what is measured; the catalogue of metrics, its files and patterns of columns |
//! | [`counters`] | [`Sources`] and [`CounterBatch`], decoded rows in columns |
//! | [`signal`] | [`SeriesTable`], [`State`], [`Signal`]: the model's output per tick |
//! | [`episode`] | [`Episode`], a contended stretch with its loss |
//! | [`growth`] | lists with an item for each series |
//! | [`health_limits`] | [`HealthLimits`], limits of Tailback's own condition |
//! | [`hostlist`] | Slurm's hostlists, `nid[00001-00128]`, to names |
//! | [`html`] | text within HTML and SVG, escaped |
//! | [`job`] | [`JobEvent`], [`Job`], [`JobResult`], causes and kinds |
//! | [`job_number`] | [`JobNumber`]: jobs as Slurm, PBS and Flux number them, as names |
//! | [`job_words`] | the name of a job as numbers, at the end of a server's row |
//! | [`job_post`] | [`job_post::PostedJob`]: job events as scripts send them |
//! | [`progress_report`] | [`progress_report::Report`]: what jobs count, as they send it and as rows |
//! | [`dropped`] | [`DropReason`], [`DropCounts`]: every row or interval not used, by reason |
//! | [`calibration`] | what is learnt from finished runs, as it is stored |
//! | [`progress`] | [`JobProgress`], what jobs report of their own progress |
//! | [`region`] | [`Region`], contended links that touch; [`JobFactors`], what a job's loss is made of |
//! | [`alert`] | [`Notice`], the report of an incident; [`Advice`] for schedulers |
//! | [`results`] | [`ResultBatch`], what the detector hands to a sink |
//! | [`jsonl`] | the lines that `tailback replay` writes |
//! | [`secret`] | [`secret::Redacted`], a text that is never shown |
//! | [`site`] | [`Site`], the site file: hosts, routers, aggregators, expected sources |
//! | [`wire`] | messages of `tailback.counters` |
//! | [`xname`] | names of HPE's machine rooms: switches, jacks, nodes and interfaces of Slingshot |

pub mod alert;
pub mod calibration;
pub mod counters;
pub mod dropped;
pub mod episode;
pub mod growth;
pub mod health_limits;
pub mod hostlist;
pub mod html;
pub mod job;
pub mod job_number;
pub mod job_post;
pub mod job_words;
pub mod jsonl;
pub mod loss_words;
pub mod metric;
pub mod name;
pub mod progress;
pub mod progress_report;
pub mod region;
pub mod rejected;
pub mod results;
pub mod secret;
pub mod signal;
pub mod site;
pub mod time;
pub mod wire;
pub mod xname;

pub use alert::{
    Action, Advice, AlertSilence, NOTICE_VERSION, Notice, NoticeKind, RoutedNotice, Severity, SufferingJob,
};
pub use counters::{CounterBatch, LINK_COLUMNS, NOT_MEASURED, Source, SourceIndex, Sources};
pub use dropped::{DropCounts, DropReason};
pub use episode::{Episode, EpisodeEvidence, EpisodeId, LossPoint};
pub use health_limits::{HealthLimits, Limit};
pub use job::{Cause, CauseKind, CauseShare, Job, JobEvent, JobResult};
pub use job_number::{JobNumber, JobNumberError};
pub use metric::{Direction, Metric};
pub use name::{Name, NameError};
pub use progress::{JobProgress, MeasuredLoss};
pub use region::{
    Evidence, Interval, JobFactors, REGION_SERIES_MAX, Region, RegionCause, RegionChange, RegionId,
    RegionStep, RegionVictim,
};
pub use rejected::{RejectReason, RejectedMessage};
pub use results::{LastSeen, ResultBatch, Silence, SilenceEnd};
pub use signal::{Counts, SeriesIndex, SeriesInfo, SeriesTable, Signal, State};
pub use site::Site;
pub use time::Time;

#[cfg(test)]
extern crate self as schemas;
#[cfg(test)]
#[path = "../tests/main.rs"]
mod integration;
