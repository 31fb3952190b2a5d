//! What a job lost.
//!
//! Model then reduce: every series is modelled for itself; a job's loss at any time is the mean over its
//! series of one metric, and the worst metric counts, since a job waits for its slowest resource and must
//! not be charged twice for one second. Reduce then model: the mean over the links of an Aries router is a series of its
//! own, of which a job on the router is a part as of any other. Which metric has which is [`Metric::has_sum`]; where they
//! differ, and why, is shown by `detector/tests/strategies.rs`.
//!
//! [`Metric::has_sum`]: schemas::Metric::has_sum
//!
//! A detector sees a part of a job's series. It reduces them to a [`JobPart`], and the roll-up stage makes one
//! result of the parts; a single process does the same with a single part.
//!
//! | file | what it holds |
//! |---|---|
//! | `jobs/part.rs` | from episodes and coverage to a [`JobPart`] |
//! | `jobs/cells.rs` | losses over time, in cells of a second or more |
//! | `jobs/cell_runs.rs` | these cells as they are kept and sent |
//! | `jobs/combine.rs` | from parts to a [`JobResult`] |
//! | `jobs/moment.rs` | a cell's loss, divided among metrics |
//! | `jobs/pace.rs` | what a job reports to have done, over time |
//! | `jobs/measured.rs` | what contention cost a job by these reports |
//! | `jobs/regression.rs` | the least squares of that |
//! | `jobs/shares.rs` | causes as shares of the loss |
//! | [`compare`] | contention or another configuration, between two runs |

mod cell_runs;
mod cells;
mod combine;
pub mod compare;
mod measured;
mod moment;
mod pace;
mod part;
mod regression;
mod shares;
mod stretches;

pub use cell_runs::CellRuns;
pub use cells::Cell;
pub(crate) use cells::grain;
pub use combine::combine;
pub use pace::Pace;
pub use part::{CauseLoss, JobPart, MetricPart, part};
pub use regression::student_t;

use crate::coverage::Coverage;
use crate::episodes::EpisodeBook;
use crate::reports::Reports;
use schemas::{Job, JobResult, SeriesIndex, SeriesTable, Time};

/// What a job's result is made of, as one detector knows it.
pub struct Facts<'a> {
    /// The series that belong to the job.
    pub series: &'a [SeriesIndex],
    /// The job's nodes of which something is known, by their index in the job's list.
    pub known_nodes: &'a [bool],
    /// All series.
    pub table: &'a SeriesTable,
    /// All episodes.
    pub episodes: &'a EpisodeBook,
    /// Ticks seen.
    pub coverage: &'a Coverage,
    /// What jobs report of their progress.
    pub reports: &'a Reports,
    /// The newest timestamp; a job without an end is judged up to here.
    pub now: Time,
    /// Seconds between samples.
    pub tick_s: f64,
    /// Seconds without a reading after which nothing is known of a series.
    pub gap_s: f64,
}

/// What `job` lost, where one detector sees all of it; `on_links` is what the fabric stage, which sees all links, reports.
pub fn result(job: &Job, facts: &Facts<'_>, on_links: Option<&JobPart>) -> JobResult {
    let own = part(job, facts);
    let parts: Vec<&JobPart> = [Some(&own), on_links].into_iter().flatten().collect();
    combine(&job.job_id, &parts)
}
