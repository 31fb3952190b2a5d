//! One job: its run, nodes, result, causes, factors; two runs side by side.

use super::{Parameters, Question, ReadError, Reader, Row, question, word};
use rusqlite::types::{FromSqlResult, ValueRef};
use schemas::{
    CauseShare, Interval, Job, JobFactors, JobProgress, JobResult, MeasuredLoss, Name, Time, job_number,
};
use serde::Serialize;
use std::error::Error;
use tokio_postgres::types::{FromSql, Type};

/// Jobs that ever had one of the nodes of a JSON list.
pub const ON_NODES: Question = question!("jobs_on");
/// Jobs that ran at the same time and shared something.
pub const NEIGHBOURS: Question = question!("job_neighbours");
/// Earlier runs of its configuration.
pub const EARLIER: Question = question!("job_earlier");
/// What a job cost others: `$1` its id, `$2` a limit.
pub const CAUSED: Question = question!("job_caused");
/// Pairs of victims and aggressors: `$1` to `$2` in seconds since the epoch, `$3` a limit.
pub const BLAME: Question = question!("blame");
/// Number of jobs.
pub const COUNT: Question = question!("job_count");
/// Jobs with their results.
pub const LIST: Question = question!("job_list");
/// Causes of its loss.
pub const CAUSES: Question = question!("job_causes");
/// Its first nodes.
pub const NODES: Question = question!("job_nodes");
/// Profiles of its episodes.
pub const PROFILES: Question = question!("job_profiles");
/// Seconds that running jobs lost.
pub const SLOWDOWN: Question = question!("jobs_slowdown");
/// Node-hours lost by hour and cause.
pub const COST: Question = question!("paid");

/// A job's series by the time of their last reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesCount {
    /// All of them.
    pub total: u64,
    /// Without a reading since the job began.
    pub without_readings: u64,
    /// With readings during the run, and silent before its end.
    pub fell_silent: u64,
}

/// What another job lost to a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CausedLoss {
    /// The job that lost.
    pub job_id: String,
    /// Share of its loss times its loss and both ends, in seconds.
    pub lost_s: Interval,
}

/// One thing that is compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedItem {
    /// What.
    pub item: String,
    /// Its unit; empty where it has none.
    pub unit: String,
    /// Of the first run; null if not known.
    pub a: Option<String>,
    /// Of the second run; null if not known.
    pub b: Option<String>,
    /// First minus second; null for words and where one is not known.
    pub difference: Option<f64>,
    /// What to make of it.
    pub note: Option<String>,
}

/// The job with this number as its scheduler writes it, or that users call so, and the end of its run: for a job without one the latest time known.
///
/// # Errors
/// When the store cannot be read.
pub fn named(from: &Reader<'_>, id: &str) -> Result<Option<(Job, Time)>, ReadError> {
    let id = job_number::name_or_label(id);
    let Some((mut job, until)) = from.first(question!("job_named"), &[&id.as_str()], run)? else {
        return Ok(None);
    };
    let nodes = from.rows(question!("job_all_nodes"), &[&job.job_id.as_str()], |row| row.get::<String>(0))?;
    job.nodes = nodes.iter().map(|node| Name::parse(node)).collect::<Result<_, _>>()?;
    Ok(Some((job, until)))
}

fn run(row: &Row<'_>) -> Result<(Job, Time), ReadError> {
    let job = Job {
        job_id: Name::parse(&row.get::<String>(0)?)?,
        user: row.get(1)?,
        name: row.get(2)?,
        nodes: Vec::new(),
        start: Time::from_seconds(row.get(3)?),
        end: row.get::<Option<f64>>(4)?.map(Time::from_seconds),
        app: row.get(5)?,
        label: row.get(6)?,
        end_presumed: row.get(7)?,
    };
    Ok((job, Time::from_seconds(row.get(8)?)))
}

/// Numbers of the latest jobs; the server does not name others' jobs.
///
/// # Errors
/// When the store cannot be read.
pub fn known(from: &Reader<'_>) -> Result<Vec<String>, ReadError> {
    match from {
        Reader::Sqlite(connection) => {
            let mut statement = connection.prepare(include_str!("../../sql/read/sqlite/known_jobs.sql"))?;
            let ids = statement.query_map([], |row| row.get(0))?;
            Ok(ids.collect::<rusqlite::Result<_>>()?)
        }
        Reader::Postgres(_) => Ok(Vec::new()),
    }
}

/// What a job lost, with its causes; `None` if no result was ever written.
///
/// # Errors
/// When the store cannot be read.
pub fn result(from: &Reader<'_>, id: &Name) -> Result<Option<JobResult>, ReadError> {
    let of_job: Parameters<'_> = &[&id.as_str()];
    let result = from.first(question!("job_result"), of_job, |row| {
        Ok::<_, ReadError>(JobResult {
            job_id: id.clone(),
            contended_s: row.get(0)?,
            slowdown_s: row.get(1)?,
            slowdown_lo_s: row.get(2)?,
            slowdown_hi_s: row.get(3)?,
            completeness: row.get(4)?,
            judged: row.get(5)?,
            causes: Vec::new(),
            progress: Vec::new(),
        })
    })?;
    let Some(mut result) = result else {
        return Ok(None);
    };
    result.causes = from.rows(question!("job_causes", "job_causes_shown"), of_job, cause_share)?;
    result.progress = progress(from, id)?;
    Ok(Some(result))
}

/// What its own reports of progress show, by name.
///
/// # Errors
/// When the store cannot be read.
pub fn progress(from: &Reader<'_>, id: &Name) -> Result<Vec<JobProgress>, ReadError> {
    from.rows(question!("job_progress"), &[&id.as_str()], progress_row)
}

/// Name and counts a second, without contention, of at most `most` reports of earlier runs of its configuration, the latest first.
///
/// # Errors
/// When the store cannot be read.
pub fn earlier_paces(from: &Reader<'_>, id: &Name, most: u32) -> Result<Vec<(String, f64)>, ReadError> {
    let parameters: Parameters<'_> = &[&id.as_str(), &i64::from(most)];
    from.rows(question!("earlier_paces"), parameters, |row| Ok((row.get(0)?, row.get(1)?)))
}

fn progress_row(row: &Row<'_>) -> Result<JobProgress, ReadError> {
    let state: String = row.get(5)?;
    let loss = match (state.as_str(), row.get::<Option<f64>>(6)?) {
        ("measured", Some(_)) => MeasuredLoss::Measured {
            lost_s: interval(row, 6)?,
            cost: row.get::<Option<f64>>(9)?.map(|_| interval(row, 9)).transpose()?,
        },
        _ => word(state)?,
    };
    Ok(JobProgress {
        name: Name::parse(&row.get::<String>(0)?)?,
        covered_s: row.get(1)?,
        contended_s: row.get(2)?,
        per_s: row.get(3)?,
        counters_s: row.get(4)?,
        loss,
    })
}

fn cause_share(row: &Row<'_>) -> Result<CauseShare, ReadError> {
    let (cause, kind) = (word(row.get(0)?)?, word(row.get(1)?)?);
    Ok(CauseShare { cause, kind, series_or_job: row.get(2)?, share: row.get(3)? })
}

/// What other jobs lost to it, the largest lower end first; the server counts those whose causes the account may see.
///
/// # Errors
/// When the store cannot be read.
pub fn caused(from: &Reader<'_>, id: &Name) -> Result<Vec<CausedLoss>, ReadError> {
    from.rows(question!("report_caused"), &[&id.as_str()], |row| {
        let lost_s = Interval { value: row.get(1)?, lo: row.get(2)?, hi: row.get(3)? };
        Ok(CausedLoss { job_id: row.get(0)?, lost_s })
    })
}

/// How many of its series reported.
///
/// # Errors
/// When the store cannot be read.
pub fn series(from: &Reader<'_>, id: &Name) -> Result<SeriesCount, ReadError> {
    from.one(question!("job_series_count"), &[&id.as_str()], |row| {
        let count = |column| row.get::<i64>(column).map(i64::cast_unsigned);
        Ok(SeriesCount { total: count(0)?, without_readings: count(1)?, fell_silent: count(2)? })
    })
}

/// What its loss is made of; `None` where nothing was learned of it.
///
/// # Errors
/// When the store cannot be read.
pub fn factors(from: &Reader<'_>, id: &Name) -> Result<Option<JobFactors>, ReadError> {
    from.first(question!("job_factors"), &[&id.as_str()], |row| {
        Ok(JobFactors {
            job_id: id.clone(),
            configuration: row.get(0)?,
            self_s: interval(row, 1)?,
            other_s: interval(row, 4)?,
            placement: row.get::<Option<f64>>(7)?.map(|_| interval(row, 7)).transpose()?,
            beta: interval(row, 10)?,
            beta_version: row.get::<i64>(13)? as u32,
            beta_runs: row.get::<i64>(14)? as u32,
            caveat: row.get(15)?,
        })
    })
}

fn interval(row: &Row<'_>, at: usize) -> Result<Interval, ReadError> {
    Ok(Interval { value: row.get(at)?, lo: row.get(at + 1)?, hi: row.get(at + 2)? })
}

/// Two runs side by side; both are known.
///
/// # Errors
/// When the store cannot be read.
pub fn compare(from: &Reader<'_>, a: &str, b: &str) -> Result<Vec<ComparedItem>, ReadError> {
    from.rows(question!("compare_jobs"), &[&a, &b], |row| {
        Ok(ComparedItem {
            item: row.get(0)?,
            unit: row.get(1)?,
            a: row.get::<Shown>(2)?.0,
            b: row.get::<Shown>(3)?.0,
            difference: row.get(4)?,
            note: row.get(5)?,
        })
    })
}

/// A figure or a word as text: numbers of the embedded store to three decimals, as the server has them.
struct Shown(Option<String>);

impl rusqlite::types::FromSql for Shown {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Shown> {
        Ok(Shown(match value {
            ValueRef::Null | ValueRef::Blob(_) => None,
            ValueRef::Integer(figure) => Some(figure.to_string()),
            ValueRef::Real(figure) => Some(((figure * 1e3).round() / 1e3).to_string()),
            ValueRef::Text(_) => Some(value.as_str()?.to_string()),
        }))
    }
}

impl<'a> FromSql<'a> for Shown {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Shown, Box<dyn Error + Sync + Send>> {
        Ok(Shown(Some(String::from_sql(of, raw)?)))
    }

    fn from_sql_null(_: &Type) -> Result<Shown, Box<dyn Error + Sync + Send>> {
        Ok(Shown(None))
    }

    fn accepts(of: &Type) -> bool {
        <String as FromSql>::accepts(of)
    }
}
