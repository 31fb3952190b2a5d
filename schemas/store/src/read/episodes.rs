//! Episodes of a job, and one with the samples around its onset.

use super::{Parameters, Question, ReadError, Reader, Row, question};
use schemas::{CauseShare, Episode, EpisodeId, LossPoint, Metric, Name, SeriesIndex, Time};
use serde::Serialize;

/// Number of episodes.
pub const COUNT: Question = question!("episode_count");
/// Number of episodes of a series or job.
pub const COUNT_OF: Question = question!("episode_count_of");
/// Episodes, the latest first.
pub const LIST: Question = question!("episode_list");
/// Episodes of a series or job, the latest first.
pub const LIST_OF: Question = question!("episode_list_of");
/// Episodes that pass further filters, by a column, with their number.
pub const SEARCH: Question = question!("episode_search");
/// One episode.
pub const ONE: Question = question!("episode");
/// Its loss over time, as JSON.
pub const PROFILE: Question = question!("episode_profile");
/// Episodes of one series that touch a range.
pub const SPANS: Question = question!("spans");
/// Number of open episodes.
pub const OPEN_COUNT: Question = question!("open_episode_count");
/// Numbers of open episodes.
pub const OPEN: Question = question!("open_episodes");

/// Episode numbers of a partition are below this. The id of the queries above is the partition times this plus the number.
pub const EPISODES_OF_PARTITION: i64 = 1_000_000_000_000;

/// An episode with the name of what was contended.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceEpisode {
    /// Name of the series.
    pub resource: String,
    /// What is measured; `None` for a metric this program does not know.
    pub metric: Option<Metric>,
    /// The stretch itself.
    pub episode: Episode,
}

/// Contended stretches of the job's series during its run, in the order of their start. The server's are cut to the run, and
/// the loss within each is taken as even.
///
/// # Errors
/// When the store cannot be read.
pub fn of_job(from: &Reader<'_>, id: &Name) -> Result<Vec<ResourceEpisode>, ReadError> {
    from.rows(question!("job_episodes"), &[&id.as_str()], |row| {
        Ok(ResourceEpisode {
            resource: row.get(0)?,
            metric: Metric::from_name(&row.get::<String>(1)?),
            episode: episode(row)?,
        })
    })
}

fn episode(row: &Row<'_>) -> Result<Episode, ReadError> {
    let (end, slowdown_s) = (row.get(5)?, row.get(9)?);
    let points: Vec<[f64; 2]> = match row.get::<Option<String>>(13)? {
        Some(points) => serde_json::from_str(&points)?,
        None => vec![[end, slowdown_s]],
    };
    let causes = row.get::<Option<String>>(14)?;
    let point = |[time, slowdown_s]: [f64; 2]| LossPoint { time: Time::from_seconds(time), slowdown_s };
    Ok(Episode {
        id: EpisodeId(row.get::<i64>(2)?.cast_unsigned()),
        series: SeriesIndex(row.get::<i64>(3)? as u32),
        start: Time::from_seconds(row.get(4)?),
        end: Time::from_seconds(end),
        open: row.get(6)?,
        peak: row.get(7)?,
        baseline: row.get(8)?,
        slowdown_s,
        slowdown_lo_s: row.get(10)?,
        slowdown_hi_s: row.get(11)?,
        completeness: row.get(12)?,
        profile: points.into_iter().map(point).collect(),
        causes: causes.map_or(Ok(Vec::new()), |causes| serde_json::from_str(&causes))?,
    })
}

/// One episode as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEpisode {
    /// Name of the series.
    pub series: String,
    /// Its number in the store.
    pub series_id: i64,
    /// Component of the series.
    pub component: String,
    /// What it measures; `None` for a metric that this program does not know.
    pub metric: Option<Metric>,
    /// Start in seconds since the epoch.
    pub start: f64,
    /// End in seconds since the epoch; for an open episode its latest tick.
    pub end: f64,
    /// Whether it is ongoing.
    pub open: bool,
    /// The worst windowed mean, in the metric's unit; `None` if none is known.
    pub peak: Option<f64>,
    /// What it is compared with, in the metric's unit; `None` if none is known.
    pub baseline: Option<f64>,
    /// Seconds lost.
    pub slowdown_s: f64,
    /// Lower end of its 95% interval.
    pub slowdown_lo_s: f64,
    /// Upper end of its 95% interval.
    pub slowdown_hi_s: f64,
    /// Ticks seen over ticks expected, 0 to 1.
    pub completeness: f64,
    /// Causes of the series' loss.
    pub causes: Vec<CauseShare>,
}

/// The episode of this number; the embedded store has one partition.
///
/// # Errors
/// When the store cannot be read.
pub fn by_number(from: &Reader<'_>, partition: i32, id: i64) -> Result<Option<StoredEpisode>, ReadError> {
    from.first(question!("episode_by_number"), &[&i64::from(partition), &id], |row| {
        let figure = |at| row.get::<Option<f64>>(at).map(|figure| figure.filter(|figure| figure.is_finite()));
        Ok(StoredEpisode {
            series: row.get(0)?,
            metric: Metric::from_name(&row.get::<String>(1)?),
            component: row.get(2)?,
            series_id: row.get(3)?,
            start: row.get(4)?,
            end: row.get(5)?,
            open: row.get(6)?,
            peak: figure(7)?,
            baseline: figure(8)?,
            slowdown_s: row.get(9)?,
            slowdown_lo_s: row.get(10)?,
            slowdown_hi_s: row.get(11)?,
            completeness: row.get(12)?,
            causes: serde_json::from_str(&row.get::<String>(13)?)?,
        })
    })
}

/// One kept signal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// End of its tick.
    pub time: f64,
    /// The reading, in the metric's unit.
    pub value: Option<f64>,
    /// Its windowed mean.
    pub mean: Option<f64>,
    /// What the mean is compared with.
    pub baseline: Option<f64>,
    /// What the mean has to pass.
    pub bound: Option<f64>,
    /// What was decided.
    pub state: String,
    /// Ticks that it stands for.
    pub ticks: i64,
}

/// Kept signals of a series after `first` and until `last`.
///
/// # Errors
/// When the store cannot be read.
pub fn samples(from: &Reader<'_>, series_id: i64, first: f64, last: f64) -> Result<Vec<Sample>, ReadError> {
    from.rows(question!("episode_samples"), &[&series_id, &first, &last], |row| {
        Ok(Sample {
            time: row.get(0)?,
            value: row.get(1)?,
            mean: row.get(2)?,
            baseline: row.get(3)?,
            bound: row.get(4)?,
            state: row.get(5)?,
            ticks: row.get(6)?,
        })
    })
}

/// A stretch without data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MissingData {
    /// The silent source.
    pub producer: String,
    /// LDMS schema.
    pub schema: String,
    /// Its last row before.
    pub from: f64,
    /// Its next row; null while it is silent.
    pub until: Option<f64>,
}

/// Stretches during the episode in which its component, or a copy of it, was silent.
///
/// # Errors
/// When the store cannot be read.
pub fn silences(from: &Reader<'_>, of: &StoredEpisode) -> Result<Vec<MissingData>, ReadError> {
    let parameters: Parameters<'_> = &[&of.component, &of.start, &of.end, &of.series];
    from.rows(question!("episode_silences"), parameters, |row| {
        Ok(MissingData { producer: row.get(0)?, schema: row.get(1)?, from: row.get(2)?, until: row.get(3)? })
    })
}
