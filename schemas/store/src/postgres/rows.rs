//! The smaller tables of a batch: a statement each, whose parameters are columns.

use super::dividing::Dividing;
use super::series_ids::id;
use super::{PgError, notices, regions, rejected};
use crate::text::{json_text, text};
use schemas::{
    CauseShare, DropReason, Episode, Interval, Job, JobProgress, JobResult, LastSeen, Name, ResultBatch,
    SeriesIndex, Silence, SilenceEnd, Time,
};
use serde::Serialize;
use serde_json::json;
use std::collections::HashMap;
use tokio_postgres::Transaction;
use tokio_postgres::types::ToSql;

/// Whose rows they are.
#[derive(Clone, Copy)]
pub(super) struct Of<'a> {
    /// Name of the stage.
    pub(super) stage: &'a str,
    /// The partition.
    pub(super) partition: i32,
    /// Offset that the commit takes it to.
    pub(super) position: i64,
    /// Its series' numbers in the database.
    pub(super) ids: &'a [i32],
}

/// Writes everything of `batch` but the signals; tables that others refer to come first.
pub(super) async fn put(to: &mut Dividing<'_>, of: Of<'_>, batch: &ResultBatch) -> Result<(), PgError> {
    let b = batch;
    let drops: Vec<(DropReason, u64)> = b.drops.nonzero().collect();
    to.put("episodes", of, &b.episodes, |to, of, rows| Box::pin(episodes(to, of, rows))).await?;
    to.put("jobs", of, &b.jobs, |to, _, rows| Box::pin(jobs(to, rows))).await?;
    to.put("job_nodes", of, &b.jobs, |to, _, rows| Box::pin(job_nodes(to, rows))).await?;
    to.put("job_results", of, &b.job_results, |to, _, rows| Box::pin(job_results(to, rows))).await?;
    to.put("job_causes", of, &b.job_results, |to, _, rows| Box::pin(job_causes(to, rows))).await?;
    to.put("job_progress", of, &b.job_results, |to, _, rows| Box::pin(job_progress(to, rows))).await?;
    to.put("job_series", of, &b.job_series, |to, of, rows| Box::pin(job_series(to, of, rows))).await?;
    to.put("dropped_counts", of, &drops, |to, of, rows| Box::pin(dropped(to, of, rows))).await?;
    to.put("producers", of, &b.last_seen, |to, _, rows| Box::pin(producers(to, rows))).await?;
    to.put("event_sources", of, &b.event_sources, |to, _, rows| Box::pin(event_sources(to, rows))).await?;
    to.put("silences", of, &b.silences, |to, _, rows| Box::pin(silences(to, rows))).await?;
    to.put("regions", of, &b.regions, |to, _, rows| Box::pin(regions::put_regions(to, rows))).await?;
    to.put("job_factors", of, &b.factors, |to, _, rows| Box::pin(regions::put_factors(to, rows))).await?;
    to.put("alert_outbox", of, &b.notices, |to, _, rows| Box::pin(notices::put(to, rows))).await?;
    to.put("rejected_messages", of, &b.rejected, |to, _, rows| Box::pin(rejected::put(to, rows))).await
}

pub(super) type Columns<'a> = [&'a (dyn ToSql + Sync)];

pub(super) async fn run(to: &Transaction<'_>, sql: &str, columns: &Columns<'_>) -> Result<(), PgError> {
    to.execute(sql, columns).await?;
    Ok(())
}

/// A column with `of` of each row.
pub(super) fn column<'a, T, U>(rows: &'a [T], of: impl Fn(&'a T) -> U) -> Vec<U> {
    rows.iter().map(of).collect()
}

/// Seconds since the epoch, within what a timestamp of the server holds.
pub(super) fn seconds(time: Time) -> f64 {
    time.seconds().clamp(-2e11, 9e12)
}

async fn episodes(to: &Transaction<'_>, of: Of<'_>, rows: &[Episode]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    let columns: &Columns<'_> = &[
        &of.partition,
        &column(rows, |e| e.id.0.cast_signed()),
        &rows.iter().map(|e| id(of.ids, e.series)).collect::<Result<Vec<i32>, PgError>>()?,
        &column(rows, |e| seconds(e.start)),
        &column(rows, |e| seconds(e.end)),
        &column(rows, |e| e.open),
        &column(rows, |e| e.peak),
        &column(rows, |e| e.baseline),
        &column(rows, |e| e.slowdown_s),
        &column(rows, |e| e.slowdown_lo_s),
        &column(rows, |e| e.slowdown_hi_s),
        &column(rows, |e| e.completeness),
        &column(rows, profile_json),
        &column(rows, |e| json_text(json!(e.causes).to_string())),
    ];
    run(to, include_str!("../../sql/postgres/put_episodes.sql"), columns).await
}

fn profile_json(episode: &Episode) -> String {
    let points = episode.profile.iter();
    let pairs: Vec<[f64; 2]> = points.map(|p| [p.time.seconds(), p.slowdown_s]).collect();
    json!(pairs).to_string()
}

async fn jobs(to: &Transaction<'_>, rows: &[Job]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    let columns: &Columns<'_> = &[
        &column(rows, |j| j.job_id.as_str()),
        &column(rows, |j| text(&j.user)),
        &column(rows, |j| text(&j.name)),
        &column(rows, |j| seconds(j.start)),
        &column(rows, |j| j.end.map(seconds)),
        &column(rows, |j| j.app.as_deref().map(text)),
        &column(rows, |j| text(&j.label)),
        &column(rows, |j| j.end_presumed),
    ];
    run(to, include_str!("../../sql/postgres/put_jobs.sql"), columns).await
}

/// Replaces the nodes of each job by those it was given last.
async fn job_nodes(to: &Transaction<'_>, rows: &[Job]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut latest: Vec<&Job> = Vec::with_capacity(rows.len());
    for (at, job) in rows.iter().enumerate() {
        if !rows[at + 1..].iter().any(|later| later.job_id == job.job_id) {
            latest.push(job);
        }
    }
    run(to, include_str!("../../sql/postgres/clear_job_nodes.sql"), &[&column(rows, |j| j.job_id.as_str())])
        .await?;
    let pairs: Vec<(&str, &str)> =
        latest.iter().flat_map(|j| j.nodes.iter().map(|n| (j.job_id.as_str(), n.as_str()))).collect();
    run(
        to,
        include_str!("../../sql/postgres/put_job_nodes.sql"),
        &[&column(&pairs, |p| p.0), &column(&pairs, |p| p.1)],
    )
    .await
}

async fn job_results(to: &Transaction<'_>, rows: &[JobResult]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    let columns: &Columns<'_> = &[
        &column(rows, |r| r.job_id.as_str()),
        &column(rows, |r| r.contended_s),
        &column(rows, |r| r.slowdown_s),
        &column(rows, |r| r.slowdown_lo_s),
        &column(rows, |r| r.slowdown_hi_s),
        &column(rows, |r| r.completeness),
        &column(rows, |r| r.judged),
    ];
    run(to, include_str!("../../sql/postgres/put_job_results.sql"), columns).await
}

/// Replaces the causes of each job: a cause that is no longer one must not stay.
async fn job_causes(to: &Transaction<'_>, rows: &[JobResult]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    run(to, include_str!("../../sql/postgres/clear_job_causes.sql"), &[&column(rows, |r| r.job_id.as_str())])
        .await?;
    let mut causes: Vec<(&str, i32, &CauseShare)> = Vec::new();
    for (at, result) in rows.iter().enumerate() {
        if !rows[at + 1..].iter().any(|later| later.job_id == result.job_id) {
            let numbered = (0_i32..).zip(&result.causes);
            causes.extend(numbered.map(|(position, cause)| (result.job_id.as_str(), position, cause)));
        }
    }
    let columns: &Columns<'_> = &[
        &column(&causes, |c| c.0),
        &column(&causes, |c| c.1),
        &column(&causes, |c| word(c.2.cause)),
        &column(&causes, |c| word(c.2.kind)),
        &column(&causes, |c| text(&c.2.series_or_job)),
        &column(&causes, |c| c.2.share),
    ];
    run(to, include_str!("../../sql/postgres/put_job_causes.sql"), columns).await
}

/// Replaces what each job's own reports show.
async fn job_progress(to: &Transaction<'_>, rows: &[JobResult]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    let ids = column(rows, |r| r.job_id.as_str());
    run(to, include_str!("../../sql/postgres/clear_job_progress.sql"), &[&ids]).await?;
    let latest: HashMap<&Name, &JobResult> = rows.iter().map(|result| (&result.job_id, result)).collect();
    let mut found: Vec<(&str, &JobProgress)> = Vec::new();
    for result in latest.into_values() {
        found.extend(result.progress.iter().map(|progress| (result.job_id.as_str(), progress)));
    }
    if found.is_empty() {
        return Ok(());
    }
    let lost = |of: fn(Interval) -> f64| column(&found, |(_, p)| p.loss.lost_s().map(of));
    let cost = |of: fn(Interval) -> f64| column(&found, |(_, p)| p.loss.cost().map(of));
    let columns: &Columns<'_> = &[
        &column(&found, |(job_id, _)| *job_id),
        &column(&found, |(_, p)| p.name.as_str()),
        &column(&found, |(_, p)| p.covered_s),
        &column(&found, |(_, p)| p.contended_s),
        &column(&found, |(_, p)| p.per_s),
        &column(&found, |(_, p)| p.counters_s),
        &column(&found, |(_, p)| p.loss.name()),
        &lost(|i| i.value),
        &lost(|i| i.lo),
        &lost(|i| i.hi),
        &cost(|i| i.value),
        &cost(|i| i.lo),
        &cost(|i| i.hi),
    ];
    run(to, include_str!("../../sql/postgres/put_job_progress.sql"), columns).await
}

/// The word that serde writes for a unit variant, the same as in JSON.
pub(super) fn word(value: impl Serialize) -> Option<String> {
    json!(value).as_str().map(str::to_string)
}

async fn job_series(to: &Transaction<'_>, of: Of<'_>, rows: &[(Name, SeriesIndex)]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    let ids = rows.iter().map(|(_, series)| id(of.ids, *series)).collect::<Result<Vec<i32>, PgError>>()?;
    run(
        to,
        include_str!("../../sql/postgres/put_job_series.sql"),
        &[&column(rows, |(job, _)| job.as_str()), &ids],
    )
    .await
}

async fn dropped(to: &Transaction<'_>, of: Of<'_>, rows: &[(DropReason, u64)]) -> Result<(), PgError> {
    let columns: &Columns<'_> = &[
        &of.stage,
        &of.partition,
        &column(rows, |(reason, _)| reason.name()),
        &column(rows, |(_, count)| count.cast_signed()),
    ];
    run(to, include_str!("../../sql/postgres/put_dropped.sql"), columns).await
}

async fn producers(to: &Transaction<'_>, rows: &[LastSeen]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    let columns: &Columns<'_> = &[
        &column(rows, |h| h.producer.as_str()),
        &column(rows, |h| h.schema.as_str()),
        &column(rows, |h| h.component.as_str()),
        &column(rows, |h| h.part.as_ref().map_or("", Name::as_str)),
        &column(rows, |h| seconds(h.last_time)),
        &column(rows, |h| h.rows.cast_signed()),
    ];
    run(to, include_str!("../../sql/postgres/put_producers.sql"), columns).await
}

async fn event_sources(to: &Transaction<'_>, rows: &[LastSeen]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    let columns: &Columns<'_> = &[
        &column(rows, |h| h.producer.as_str()),
        &column(rows, |h| h.schema.as_str()),
        &column(rows, |h| h.component.as_str()),
        &column(rows, |h| seconds(h.last_time)),
        &column(rows, |h| h.rows.cast_signed()),
    ];
    run(to, include_str!("../../sql/postgres/put_event_sources.sql"), columns).await
}

async fn silences(to: &Transaction<'_>, rows: &[Silence]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    let until = |s: &Silence| match s.end {
        SilenceEnd::At(time) => Some(seconds(time)),
        SilenceEnd::Open | SilenceEnd::Revoked => None,
    };
    let columns: &Columns<'_> = &[
        &column(rows, |s| s.producer.as_str()),
        &column(rows, |s| s.schema.as_str()),
        &column(rows, |s| s.component.as_str()),
        &column(rows, |s| s.part.as_ref().map_or("", Name::as_str)),
        &column(rows, |s| seconds(s.since)),
        &column(rows, until),
        &column(rows, |s| s.end == SilenceEnd::Revoked),
    ];
    run(to, include_str!("../../sql/postgres/put_silences.sql"), columns).await
}
