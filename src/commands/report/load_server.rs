//! Reading a job's facts from the server, by the views that a user may read: others' jobs are not named.

use super::compare::ComparedItem;
use super::load::word;
use super::{JobRegion, PostMortem, ResourceEpisode, SeriesCount};
use anyhow::{Result, anyhow};
use schemas::{
    CauseShare, Episode, EpisodeId, Interval, Job, JobFactors, JobResult, LossPoint, Metric, Name,
    SeriesIndex, Time,
};
use store::postgres::{PgSettings, connect};
use tokio_postgres::{Client, Row};

/// The facts of job `id` in the database.
pub(super) fn load(settings: &PgSettings, id: &str) -> Result<PostMortem> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = connect(settings).await?;
        // One transaction: all answers are of the same commit, although the writers continue.
        client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        facts(&client, id).await
    })
}

/// Two runs side by side.
pub(super) fn compare(settings: &PgSettings, a: &str, b: &str) -> Result<Vec<ComparedItem>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = connect(settings).await?;
        let rows = client.query(include_str!("server/compare.sql"), &[&a, &b]).await?;
        let item = |row: &Row| ComparedItem {
            item: row.get(0),
            unit: row.get(1),
            a: row.get(2),
            b: row.get(3),
            difference: row.get(4),
            note: row.get(5),
        };
        Ok(rows.iter().map(item).collect())
    })
}

async fn facts(from: &Client, id: &str) -> Result<PostMortem> {
    let row = from.query_opt(include_str!("server/job.sql"), &[&id]).await?;
    let row = row.ok_or_else(|| anyhow!("job {id:?} is not known, or not to this login"))?;
    let job_id: String = row.get(0);
    let nodes = from.query(include_str!("server/job_nodes.sql"), &[&job_id]).await?;
    let job = Job {
        job_id: Name::parse(&job_id)?,
        label: row.get(6),
        user: row.get(1),
        name: row.get(2),
        nodes: nodes.iter().map(|n| Ok(Name::parse(n.get(0))?)).collect::<Result<_>>()?,
        start: seconds(&row, 3),
        end: row.get::<_, Option<f64>>(4).map(Time::from_seconds),
        end_presumed: row.get(7),
        app: row.get(5),
    };
    let total: i64 = from.query_one(include_str!("server/job_series.sql"), &[&job_id]).await?.get(0);
    Ok(PostMortem {
        until: seconds(&row, 8),
        result: result(from, &job.job_id).await?,
        episodes: episodes(from, &job_id).await?,
        series: SeriesCount { total: total.cast_unsigned(), ..SeriesCount::default() },
        factors: factors(from, &job.job_id).await?,
        regions: regions(from, &job_id).await?,
        job,
    })
}

fn seconds(row: &Row, column: usize) -> Time {
    Time::from_seconds(row.get(column))
}

async fn result(from: &Client, id: &Name) -> Result<Option<JobResult>> {
    let row = from.query_opt(include_str!("server/job_result.sql"), &[&id.as_str()]).await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let causes = from.query(include_str!("server/job_causes.sql"), &[&id.as_str()]).await?;
    let share = |row: &Row| {
        Ok(CauseShare {
            cause: word(row.get(0))?,
            kind: word(row.get(1))?,
            series_or_job: row.get(2),
            share: row.get(3),
        })
    };
    Ok(Some(JobResult {
        job_id: id.clone(),
        contended_s: row.get(0),
        slowdown_s: row.get(1),
        slowdown_lo_s: row.get(2),
        slowdown_hi_s: row.get(3),
        completeness: row.get(4),
        judged: row.get(5),
        causes: causes.iter().map(share).collect::<Result<_>>()?,
    }))
}

/// Cut to the run; the loss within each is taken as even.
async fn episodes(from: &Client, id: &str) -> Result<Vec<ResourceEpisode>> {
    let rows = from.query(include_str!("server/job_episodes.sql"), &[&id]).await?;
    let episode = |row: &Row| ResourceEpisode {
        resource: row.get(0),
        metric: Metric::from_name(row.get(1)),
        episode: Episode {
            id: EpisodeId(row.get::<_, i64>(2).cast_unsigned()),
            series: SeriesIndex(row.get::<_, i32>(12).cast_unsigned()),
            start: seconds(row, 3),
            end: seconds(row, 4),
            open: row.get(5),
            peak: row.get(6),
            baseline: row.get(7),
            slowdown_s: row.get(8),
            slowdown_lo_s: row.get(9),
            slowdown_hi_s: row.get(10),
            completeness: row.get(11),
            profile: vec![LossPoint { time: seconds(row, 4), slowdown_s: row.get(8) }],
            causes: Vec::new(),
        },
    };
    Ok(rows.iter().map(episode).collect())
}

async fn factors(from: &Client, id: &Name) -> Result<Option<JobFactors>> {
    let row = from.query_opt(include_str!("server/job_factors.sql"), &[&id.as_str()]).await?;
    let interval =
        |row: &Row, at: usize| Interval { value: row.get(at), lo: row.get(at + 1), hi: row.get(at + 2) };
    Ok(row.map(|row| JobFactors {
        job_id: id.clone(),
        configuration: row.get(0),
        self_s: interval(&row, 1),
        other_s: interval(&row, 4),
        placement: row.get::<_, Option<f64>>(7).map(|_| interval(&row, 7)),
        beta: interval(&row, 10),
        beta_version: row.get::<_, i32>(13).cast_unsigned(),
        beta_runs: row.get::<_, i32>(14).cast_unsigned(),
        caveat: row.get(15),
    }))
}

async fn regions(from: &Client, id: &str) -> Result<Vec<JobRegion>> {
    let rows = from.query(include_str!("server/job_regions.sql"), &[&id]).await?;
    let region = |row: &Row| {
        Ok(JobRegion {
            id: row.get::<_, i64>(0).cast_unsigned(),
            name: row.get(1),
            waits: row.get(2),
            from: row.get(3),
            until: row.get(4),
            open: row.get(5),
            links_most: row.get::<_, i32>(6).into(),
            peak: row.get(7),
            lost_s: row.get(8),
            share: row.get(9),
            cause: word(row.get(10))?,
            kind: word(row.get(11))?,
            source: row.get(12),
            confidence: row.get(13),
            completeness: row.get(14),
        })
    };
    rows.iter().map(region).collect()
}
