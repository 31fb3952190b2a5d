//! The smaller tables of a batch: a statement each, whose parameters are columns.

use super::series_ids::id;
use super::{PgError, regions};
use crate::alerts::outbox::put_pg;
use schemas::{
    CauseShare, Episode, Heard, Job, JobResult, Name, ResultBatch, SeriesIndex, Silence, SilenceEnd, Time,
};
use serde::Serialize;
use serde_json::json;
use std::borrow::Cow;
use tokio_postgres::Transaction;
use tokio_postgres::types::ToSql;

/// Whose rows they are.
#[derive(Clone, Copy)]
pub(super) struct Of<'a> {
    /// Name of the stage.
    pub(super) stage: &'a str,
    /// The partition.
    pub(super) partition: i32,
    /// Its series' numbers in the database.
    pub(super) ids: &'a [i32],
}

/// Writes everything of `batch` but the signals; tables that others refer to come first.
pub(super) async fn put(to: &Transaction<'_>, of: Of<'_>, batch: &ResultBatch) -> Result<(), PgError> {
    episodes(to, of, &batch.episodes).await?;
    jobs(to, &batch.jobs).await?;
    job_nodes(to, &batch.jobs).await?;
    job_results(to, &batch.job_results).await?;
    job_causes(to, &batch.job_results).await?;
    job_series(to, of, &batch.job_series).await?;
    dropped(to, of, batch).await?;
    heard(to, &batch.heard).await?;
    silences(to, &batch.silences).await?;
    regions::put_regions(to, &batch.regions).await?;
    regions::put_factors(to, &batch.factors).await?;
    put_pg(to, &batch.notices).await
}

pub(super) type Columns<'a> = [&'a (dyn ToSql + Sync)];

pub(super) async fn run(to: &Transaction<'_>, sql: &str, columns: &Columns<'_>) -> Result<(), PgError> {
    to.execute(sql, columns).await?;
    Ok(())
}

/// A column of what `of` says about each row.
pub(super) fn column<'a, T, U>(rows: &'a [T], of: impl Fn(&'a T) -> U) -> Vec<U> {
    rows.iter().map(of).collect()
}

/// Seconds since the epoch, within what a timestamp of the server holds.
pub(super) fn seconds(time: Time) -> f64 {
    time.seconds().clamp(-2e11, 9e12)
}

/// Bytes of a text from outside: an index of the server takes no row of more than 2,704, whatever does not compress.
const TEXT_BYTES_MAX: usize = 2_000;

/// Text from outside as the server takes it: without zero characters, and cut with an ellipsis where it is too long for an index.
pub(super) fn text(from: &str) -> Cow<'_, str> {
    let text = match from.contains('\0') {
        true => Cow::Owned(from.replace('\0', "\u{fffd}")),
        false => Cow::Borrowed(from),
    };
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    let most = TEXT_BYTES_MAX - "…".len();
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    Cow::Owned(text[..end].to_string() + "…")
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
        // A zero character is escaped in JSON, and jsonb refuses it like text.
        &column(rows, |e| json!(e.causes).to_string().replace("\\u0000", "\\ufffd")),
    ];
    run(to, include_str!("sql/put_episodes.sql"), columns).await
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
    run(to, include_str!("sql/put_jobs.sql"), columns).await
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
    run(to, include_str!("sql/clear_job_nodes.sql"), &[&column(rows, |j| j.job_id.as_str())]).await?;
    let pairs: Vec<(&str, &str)> =
        latest.iter().flat_map(|j| j.nodes.iter().map(|n| (j.job_id.as_str(), n.as_str()))).collect();
    run(to, include_str!("sql/put_job_nodes.sql"), &[&column(&pairs, |p| p.0), &column(&pairs, |p| p.1)])
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
    run(to, include_str!("sql/put_job_results.sql"), columns).await
}

/// Replaces the causes of each job: a cause that is no longer one must not stay.
async fn job_causes(to: &Transaction<'_>, rows: &[JobResult]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    run(to, include_str!("sql/clear_job_causes.sql"), &[&column(rows, |r| r.job_id.as_str())]).await?;
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
    run(to, include_str!("sql/put_job_causes.sql"), columns).await
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
    run(to, include_str!("sql/put_job_series.sql"), &[&column(rows, |(job, _)| job.as_str()), &ids]).await
}

async fn dropped(to: &Transaction<'_>, of: Of<'_>, batch: &ResultBatch) -> Result<(), PgError> {
    let rows: Vec<(&str, i64)> = batch.drops.nonzero().map(|(r, n)| (r.name(), n.cast_signed())).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let columns: &Columns<'_> = &[&of.stage, &of.partition, &column(&rows, |r| r.0), &column(&rows, |r| r.1)];
    run(to, include_str!("sql/put_dropped.sql"), columns).await
}

async fn heard(to: &Transaction<'_>, rows: &[Heard]) -> Result<(), PgError> {
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
    run(to, include_str!("sql/put_producers.sql"), columns).await
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
    run(to, include_str!("sql/put_silences.sql"), columns).await
}
