//! Regions of a job, and the one of a series.

use super::{Question, ReadError, Reader, question, word};
use schemas::{Cause, CauseKind, Evidence, Interval, Name};
use serde::Serialize;

/// Regions, the latest first.
pub const LIST: Question = question!("fabric_regions");
/// Incidents: regions, and contention of file systems.
pub const INCIDENTS: Question = question!("incidents");
/// One region.
pub const ONE: Question = question!("region");
/// Its steps.
pub const HISTORY: Question = question!("region_history");
/// Number of its steps.
pub const STEP_COUNT: Question = question!("region_step_count");
/// Its links.
pub const LINKS: Question = question!("region_links");
/// Number of its links.
pub const LINK_COUNT: Question = question!("region_link_count");
/// Sources of its load.
pub const CAUSES: Question = question!("region_causes");
/// Jobs that wait in it.
pub const VICTIMS: Question = question!("region_victims");

/// A contended region that a job has to do with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobRegion {
    /// Its number.
    pub id: u64,
    /// Its readable name.
    pub name: String,
    /// Whether the job waits in it; else it makes a part of its load.
    pub waits: bool,
    /// From when on within the run, in seconds since the epoch.
    pub from: f64,
    /// Until when within the run, in seconds since the epoch.
    pub until: f64,
    /// Whether it is ongoing.
    pub open: bool,
    /// Most links it ever had.
    pub links_most: i64,
    /// The worst windowed ratio ever seen in it, in the metric's unit.
    pub peak: Option<f64>,
    /// Seconds the job lost there; `None` where it does not wait, like the ends of the 95% interval.
    pub lost_s: Option<f64>,
    /// Lower end.
    pub lost_lo_s: Option<f64>,
    /// Upper end.
    pub lost_hi_s: Option<f64>,
    /// The job's share of what all victims lost, or of the load that it makes.
    pub share: f64,
    /// Its largest cause, or what sort of cause the job is.
    pub cause: Cause,
    /// What could be done about it.
    pub kind: CauseKind,
    /// The largest cause: a job or a series; empty where it is unknown.
    #[serde(rename = "who")]
    pub source: String,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// Share of its links' data that was there, 0 to 1.
    pub completeness: f64,
}

impl JobRegion {
    /// What the job lost there; `None` where it does not wait.
    pub fn lost(&self) -> Option<Interval> {
        Some(Interval { value: self.lost_s?, lo: self.lost_lo_s?, hi: self.lost_hi_s? })
    }
}

/// Contended regions that the job waits in, the largest lower end of the loss first, then those of whose load it makes a part.
///
/// # Errors
/// When the store cannot be read.
pub fn of_job(from: &Reader<'_>, id: &Name) -> Result<Vec<JobRegion>, ReadError> {
    from.rows(question!("job_regions"), &[&id.as_str()], |row| {
        Ok(JobRegion {
            id: row.get::<i64>(0)?.cast_unsigned(),
            name: row.get(1)?,
            waits: row.get(2)?,
            from: row.get(3)?,
            until: row.get(4)?,
            open: row.get(5)?,
            links_most: row.get(6)?,
            peak: row.get(7)?,
            lost_s: row.get(8)?,
            lost_lo_s: row.get(15)?,
            lost_hi_s: row.get(16)?,
            share: row.get(9)?,
            cause: word(row.get(10)?)?,
            kind: word(row.get(11)?)?,
            source: row.get(12)?,
            confidence: row.get(13)?,
            completeness: row.get(14)?,
        })
    })
}

/// A contended region, as far as an episode needs it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedRegion {
    /// Its number.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Most links it ever had.
    pub links_most: i64,
    /// Its largest cause.
    pub cause: Cause,
    /// What could be done about it.
    pub kind: CauseKind,
    /// How sure the largest source is, 0 to 1.
    pub confidence: f64,
    /// Sources of its load, the largest share first.
    pub gainers: Vec<Gainer>,
}

/// A source of the load of a region.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gainer {
    /// What sort of cause.
    pub cause: Cause,
    /// The job, or the series where no job is known.
    pub series_or_job: String,
    /// Share of the load, 0 to 1.
    pub share: f64,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// What it rests on, the strongest first.
    pub evidence: Vec<Evidence>,
}

/// The region that the series belonged to between two times.
///
/// # Errors
/// When the store cannot be read.
pub fn of_series(
    from: &Reader<'_>,
    series: &str,
    start: f64,
    end: f64,
) -> Result<Option<ExplainedRegion>, ReadError> {
    let found = from.first(question!("region_of_series"), &[&series, &start, &end], |row| {
        Ok::<_, ReadError>(ExplainedRegion {
            id: row.get(0)?,
            name: row.get(1)?,
            links_most: row.get(2)?,
            cause: word(row.get(3)?)?,
            kind: word(row.get(4)?)?,
            confidence: row.get(5)?,
            gainers: Vec::new(),
        })
    })?;
    let Some(mut region) = found else {
        return Ok(None);
    };
    region.gainers = from.rows(question!("region_gainers"), &[&region.id], |row| {
        Ok::<_, ReadError>(Gainer {
            cause: word(row.get(0)?)?,
            series_or_job: row.get(1)?,
            share: row.get(2)?,
            confidence: row.get(3)?,
            evidence: serde_json::from_str(&row.get::<String>(4)?)?,
        })
    })?;
    // One confidence for one source: that of its row.
    if let Some(largest) = region.gainers.first() {
        (region.cause, region.confidence) = (largest.cause, largest.confidence);
    }
    Ok(Some(region))
}
