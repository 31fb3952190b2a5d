//! Reading a job's facts from the store, through a connection that cannot write.

use super::compare::ComparedItem;
use super::{JobRegion, PostMortem, ResourceEpisode, SeriesCount, nearest};
use anyhow::{Context, Result, anyhow};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params};
use schemas::{
    CauseShare, Episode, EpisodeId, Interval, Job, JobFactors, JobResult, LossPoint, Metric, Name,
    SeriesIndex, Time,
};
use serde::de::DeserializeOwned;
use std::path::Path;
use store::sqlite::open_reader;

/// The facts of job `id` in the store at `path`.
pub(super) fn load(path: &Path, id: &str) -> Result<PostMortem> {
    let mut connection = open_reader(path)?;
    let unreadable = || format!("{}: job {id:?} cannot be read", path.display());
    // One transaction: all answers are of the same commit, although the writer continues.
    let store = connection.transaction().with_context(unreadable)?;
    match job(&store, id).with_context(unreadable)? {
        Some(job) => facts(&store, job).with_context(unreadable),
        None => {
            let known = known_jobs(&store).with_context(unreadable)?;
            Err(anyhow!("{}: {}", path.display(), nearest::unknown_job(id, &known)))
        }
    }
}

fn facts(store: &Connection, job: Job) -> Result<PostMortem> {
    let until = match job.end {
        Some(end) => end,
        None => clock(store)?.unwrap_or(job.start).max(job.start),
    };
    Ok(PostMortem {
        until,
        result: result(store, &job.job_id)?,
        episodes: episodes(store, &job, until)?,
        series: series(store, &job, until)?,
        factors: factors(store, &job.job_id)?,
        regions: regions(store, &job, until)?,
        job,
    })
}

fn job(store: &Connection, id: &str) -> Result<Option<Job>> {
    let read = |row: &Row<'_>| {
        let end: Option<f64> = row.get(4)?;
        let known_as: (String, bool) = (row.get(6)?, row.get(7)?);
        Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?, seconds(row, 3)?, end, row.get(5)?, known_as))
    };
    let found = store.query_row(include_str!("job.sql"), params![id], read).optional()?;
    let Some((job_id, user, name, start, end, app, (label, end_presumed))) = found else {
        return Ok(None);
    };
    Ok(Some(Job {
        nodes: nodes(store, &job_id)?,
        job_id: Name::parse(&job_id)?,
        user,
        name,
        start,
        end: end.map(Time::from_seconds),
        end_presumed,
        label,
        app,
    }))
}

fn nodes(store: &Connection, id: &str) -> Result<Vec<Name>> {
    let mut statement = store.prepare(include_str!("job_nodes.sql"))?;
    let nodes = statement.query_map(params![id], |row| row.get::<_, String>(0))?;
    nodes.map(|node| Ok(Name::parse(&node?)?)).collect()
}

fn result(store: &Connection, id: &Name) -> Result<Option<JobResult>> {
    let read = |row: &Row<'_>| {
        Ok(JobResult {
            job_id: id.clone(),
            contended_s: row.get(0)?,
            slowdown_s: row.get(1)?,
            slowdown_lo_s: row.get(2)?,
            slowdown_hi_s: row.get(3)?,
            completeness: row.get(4)?,
            judged: row.get(5)?,
            causes: Vec::new(),
        })
    };
    let statement = include_str!("job_result.sql");
    let result = store.query_row(statement, params![id.as_str()], read).optional()?;
    let Some(mut result) = result else {
        return Ok(None);
    };
    result.causes = causes(store, id)?;
    Ok(Some(result))
}

fn causes(store: &Connection, id: &Name) -> Result<Vec<CauseShare>> {
    let mut statement = store.prepare(include_str!("job_causes.sql"))?;
    let mut rows = statement.query(params![id.as_str()])?;
    let mut causes = Vec::new();
    while let Some(row) = rows.next()? {
        causes.push(CauseShare {
            cause: word(row.get(0)?)?,
            kind: word(row.get(1)?)?,
            series_or_job: row.get(2)?,
            share: row.get(3)?,
        });
    }
    Ok(causes)
}

fn episodes(store: &Connection, job: &Job, until: Time) -> Result<Vec<ResourceEpisode>> {
    let mut statement = store.prepare(include_str!("job_episodes.sql"))?;
    let parameters = params![job.job_id.as_str(), job.start.seconds(), until.seconds()];
    let mut rows = statement.query(parameters)?;
    let mut episodes = Vec::new();
    while let Some(row) = rows.next()? {
        episodes.push(ResourceEpisode {
            resource: row.get(0)?,
            metric: Metric::from_name(&row.get::<_, String>(1)?),
            episode: episode(row)?,
        });
    }
    Ok(episodes)
}

fn episode(row: &Row<'_>) -> Result<Episode> {
    let points: Vec<[f64; 2]> = serde_json::from_str(&row.get::<_, String>(13)?)?;
    let point = |[time, slowdown_s]: [f64; 2]| LossPoint { time: Time::from_seconds(time), slowdown_s };
    Ok(Episode {
        id: EpisodeId(row.get::<_, i64>(2)? as u64),
        series: SeriesIndex(row.get(3)?),
        start: seconds(row, 4)?,
        end: seconds(row, 5)?,
        open: row.get(6)?,
        peak: row.get(7)?,
        baseline: row.get(8)?,
        slowdown_s: row.get(9)?,
        slowdown_lo_s: row.get(10)?,
        slowdown_hi_s: row.get(11)?,
        completeness: row.get(12)?,
        profile: points.into_iter().map(point).collect(),
        causes: serde_json::from_str(&row.get::<_, String>(14)?)?,
    })
}

fn series(store: &Connection, job: &Job, until: Time) -> Result<SeriesCount> {
    let parameters = params![job.job_id.as_str(), job.start.seconds(), until.seconds()];
    let count = |row: &Row<'_>, column| row.get::<_, i64>(column).map(|n| n as u64);
    let read = |row: &Row<'_>| {
        Ok(SeriesCount {
            total: count(row, 0)?,
            without_readings: count(row, 1)?,
            fell_silent: count(row, 2)?,
        })
    };
    Ok(store.query_row(include_str!("job_series.sql"), parameters, read)?)
}

fn interval(row: &Row<'_>, at: usize) -> rusqlite::Result<Interval> {
    Ok(Interval { value: row.get(at)?, lo: row.get(at + 1)?, hi: row.get(at + 2)? })
}

fn factors(store: &Connection, id: &Name) -> Result<Option<JobFactors>> {
    let read = |row: &Row<'_>| {
        Ok(JobFactors {
            job_id: id.clone(),
            configuration: row.get(0)?,
            self_s: interval(row, 1)?,
            other_s: interval(row, 4)?,
            placement: row.get::<_, Option<f64>>(7)?.map(|_| interval(row, 7)).transpose()?,
            beta: interval(row, 10)?,
            beta_version: row.get(13)?,
            beta_runs: row.get(14)?,
            caveat: row.get(15)?,
        })
    };
    Ok(store.query_row(include_str!("job_factors.sql"), params![id.as_str()], read).optional()?)
}

fn regions(store: &Connection, job: &Job, until: Time) -> Result<Vec<JobRegion>> {
    let mut statement = store.prepare(include_str!("job_regions.sql"))?;
    let mut rows = statement.query(params![job.job_id.as_str(), job.start.seconds(), until.seconds()])?;
    let mut regions = Vec::new();
    while let Some(row) = rows.next()? {
        regions.push(JobRegion {
            id: row.get::<_, i64>(0)?.cast_unsigned(),
            name: row.get(1)?,
            waits: row.get(2)?,
            from: row.get(3)?,
            until: row.get(4)?,
            open: row.get(5)?,
            links_most: row.get(6)?,
            peak: row.get(7)?,
            lost_s: row.get(8)?,
            share: row.get(9)?,
            cause: word(row.get(10)?)?,
            kind: word(row.get(11)?)?,
            source: row.get(12)?,
            confidence: row.get(13)?,
            completeness: row.get(14)?,
        });
    }
    Ok(regions)
}

/// Two runs side by side; both are known.
pub(super) fn compare(path: &Path, a: &str, b: &str) -> Result<Vec<ComparedItem>> {
    let store = open_reader(path)?;
    let mut statement = store.prepare(include_str!("compare.sql"))?;
    let text = |value: Value| match value {
        Value::Null | Value::Blob(_) => None,
        Value::Integer(figure) => Some(figure.to_string()),
        Value::Real(figure) => Some(((figure * 1e3).round() / 1e3).to_string()),
        Value::Text(text) => Some(text),
    };
    let rows = statement.query_map(params![a, b], |row| {
        Ok(ComparedItem {
            item: row.get(0)?,
            unit: row.get(1)?,
            a: text(row.get(2)?),
            b: text(row.get(3)?),
            difference: row.get(4)?,
            note: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn clock(store: &Connection) -> Result<Option<Time>> {
    let now: Option<f64> = store.query_row(include_str!("clock.sql"), [], |row| row.get(0))?;
    Ok(now.map(Time::from_seconds))
}

fn known_jobs(store: &Connection) -> Result<Vec<String>> {
    let mut statement = store.prepare(include_str!("known_jobs.sql"))?;
    let ids = statement.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

fn seconds(row: &Row<'_>, column: usize) -> rusqlite::Result<Time> {
    row.get(column).map(Time::from_seconds)
}

/// A cause or kind from its word in the tables, which is its word in JSON.
pub(super) fn word<T: DeserializeOwned>(text: String) -> Result<T> {
    Ok(serde_json::from_value(serde_json::Value::String(text))?)
}
