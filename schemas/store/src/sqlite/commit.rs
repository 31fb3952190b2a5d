//! Writing a batch: everything of it and the states, in one transaction.

use super::{StateBlob, notices, regions};
use rusqlite::{CachedStatement, Connection, Transaction, TransactionBehavior, params};
use schemas::{
    CauseShare, Episode, Interval, Job, JobProgress, JobResult, LastSeen, Name, ResultBatch, SeriesIndex,
    SeriesInfo, Signal, Silence, SilenceEnd,
};
use serde_json::json;

/// Microseconds of event time in one bucket of `signal_rows`.
pub(super) const BUCKET_US: i64 = 10_000_000;

/// The order in which signals are written: by key, so that each page is visited once.
pub(super) fn order_signals(signals: &[Signal], order: &mut Vec<u32>) {
    order.clear();
    order.extend(0..signals.len() as u32);
    // Stable, so that of two rows with one key the later one is written last and stays.
    order.sort_by_key(|i| {
        let signal = &signals[*i as usize];
        (bucket(signal), signal.series, signal.time)
    });
}

fn bucket(signal: &Signal) -> i64 {
    signal.time.0.div_euclid(BUCKET_US)
}

/// Writes `batch` and `states`; tables that others refer to come first.
pub(super) fn write(
    connection: &mut Connection,
    batch: &ResultBatch,
    order: &[u32],
    states: &[StateBlob<'_>],
) -> rusqlite::Result<()> {
    // Immediate: a transaction that began as a reader could not wait for another writer's lock.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    series(&transaction, &batch.series)?;
    signals(&transaction, &batch.signals, order)?;
    latest(&transaction, &batch.signals, order)?;
    episodes(&transaction, &batch.episodes)?;
    jobs(&transaction, &batch.jobs)?;
    job_results(&transaction, &batch.job_results)?;
    job_series(&transaction, &batch.job_series)?;
    drops(&transaction, batch)?;
    producers(&transaction, &batch.last_seen)?;
    silences(&transaction, &batch.silences)?;
    regions::put_regions(&transaction, &batch.regions)?;
    regions::put_factors(&transaction, &batch.factors)?;
    notices::put(&transaction, &batch.notices)?;
    state(&transaction, states)?;
    transaction.commit()
}

fn series(to: &Transaction<'_>, series: &[(SeriesIndex, SeriesInfo)]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_series.sql"))?;
    for (index, info) in series {
        let part = info.part.as_ref().map(Name::as_str);
        put.execute(params![index.0, info.name(), info.metric.name(), info.component.as_str(), part])?;
    }
    Ok(())
}

fn signals(to: &Transaction<'_>, signals: &[Signal], order: &[u32]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_signal.sql"))?;
    for i in order {
        let signal = &signals[*i as usize];
        put.raw_bind_parameter(1, bucket(signal))?;
        bind_signal(&mut put, 2, signal)?;
        put.raw_bind_parameter(10, finite_or_null(f64::from(signal.counts.passed_per_s)))?;
        put.raw_bind_parameter(11, finite_or_null(f64::from(signal.counts.waited_per_s)))?;
        put.raw_execute()?;
    }
    Ok(())
}

fn latest(to: &Transaction<'_>, signals: &[Signal], order: &[u32]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_latest.sql"))?;
    for (at, i) in order.iter().enumerate() {
        let signal = &signals[*i as usize];
        // Within a bucket a series' rows are adjacent; only the last of them can be the newest.
        let next = order.get(at + 1).map(|n| signals[*n as usize].series);
        if next != Some(signal.series) {
            bind_signal(&mut put, 1, signal)?;
            put.raw_execute()?;
        }
    }
    Ok(())
}

/// Binds the eight columns that both tables of signals have, from parameter `first` on.
fn bind_signal(put: &mut CachedStatement<'_>, first: usize, signal: &Signal) -> rusqlite::Result<()> {
    put.raw_bind_parameter(first, signal.series.0)?;
    put.raw_bind_parameter(first + 1, signal.time.seconds())?;
    put.raw_bind_parameter(first + 2, finite_or_null(signal.value))?;
    put.raw_bind_parameter(first + 3, finite_or_null(signal.mean))?;
    put.raw_bind_parameter(first + 4, finite_or_null(signal.baseline))?;
    put.raw_bind_parameter(first + 5, finite_or_null(signal.bound))?;
    put.raw_bind_parameter(first + 6, signal.state.name())?;
    put.raw_bind_parameter(first + 7, signal.slowdown_s)
}

/// NULL for a value that does not exist in this state.
pub(super) fn finite_or_null(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn episodes(to: &Transaction<'_>, episodes: &[Episode]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_episode.sql"))?;
    for e in episodes {
        put.execute(params![
            e.id.0 as i64,
            e.series.0,
            e.start.seconds(),
            e.end.seconds(),
            e.open,
            e.peak,
            e.baseline,
            e.slowdown_s,
            e.slowdown_lo_s,
            e.slowdown_hi_s,
            e.completeness,
            profile_json(e),
            json!(e.causes).to_string(),
        ])?;
    }
    Ok(())
}

fn profile_json(episode: &Episode) -> String {
    let points = episode.profile.iter();
    let pairs: Vec<[f64; 2]> = points.map(|p| [p.time.seconds(), p.slowdown_s]).collect();
    json!(pairs).to_string()
}

fn jobs(to: &Transaction<'_>, jobs: &[Job]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_job.sql"))?;
    let mut clear_nodes = to.prepare_cached(include_str!("../../sql/sqlite/clear_job_nodes.sql"))?;
    let mut put_node = to.prepare_cached(include_str!("../../sql/sqlite/put_job_node.sql"))?;
    for job in jobs {
        let (id, end) = (job.job_id.as_str(), job.end.map(|t| t.seconds()));
        let (start, presumed) = (job.start.seconds(), job.end_presumed);
        put.execute(params![id, job.user, job.name, start, end, job.app, job.label, presumed])?;
        clear_nodes.execute(params![id])?;
        for node in &job.nodes {
            put_node.execute(params![id, node.as_str()])?;
        }
    }
    Ok(())
}

fn job_results(to: &Transaction<'_>, results: &[JobResult]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_job_result.sql"))?;
    for r in results {
        put.execute(params![
            r.job_id.as_str(),
            r.contended_s,
            r.slowdown_s,
            r.slowdown_lo_s,
            r.slowdown_hi_s,
            r.completeness,
            r.judged,
        ])?;
        job_causes(to, r.job_id.as_str(), &r.causes)?;
        job_progress(to, r.job_id.as_str(), &r.progress)?;
    }
    Ok(())
}

/// Replaces the causes of a job: a cause that is no longer one must not stay.
fn job_causes(to: &Transaction<'_>, job_id: &str, causes: &[CauseShare]) -> rusqlite::Result<()> {
    to.prepare_cached(include_str!("../../sql/sqlite/clear_job_causes.sql"))?.execute(params![job_id])?;
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_job_cause.sql"))?;
    for (position, c) in causes.iter().enumerate() {
        let (cause, kind) = (word(json!(c.cause)), word(json!(c.kind)));
        put.execute(params![job_id, position as i64, cause, kind, c.series_or_job, c.share])?;
    }
    Ok(())
}

/// Replaces what a job's own reports show.
fn job_progress(to: &Transaction<'_>, job_id: &str, progress: &[JobProgress]) -> rusqlite::Result<()> {
    to.prepare_cached(include_str!("../../sql/sqlite/clear_job_progress.sql"))?.execute(params![job_id])?;
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_job_progress.sql"))?;
    for p in progress {
        let of = |interval: Option<Interval>| interval.map_or([None; 3], |i| [i.value, i.lo, i.hi].map(Some));
        let ([lost_s, lo_s, hi_s], [cost, cost_lo, cost_hi]) = (of(p.loss.lost_s()), of(p.loss.cost()));
        let (name, state) = (p.name.as_str(), p.loss.name());
        let (covered_s, contended_s) = (p.covered_s, p.contended_s);
        put.execute(params![
            job_id,
            name,
            covered_s,
            contended_s,
            p.per_s,
            p.counters_s,
            state,
            lost_s,
            lo_s,
            hi_s,
            cost,
            cost_lo,
            cost_hi
        ])?;
    }
    Ok(())
}

/// The word that serde writes for a unit variant, the same as in JSON.
pub(super) fn word(value: serde_json::Value) -> Option<String> {
    value.as_str().map(str::to_string)
}

fn job_series(to: &Transaction<'_>, pairs: &[(Name, SeriesIndex)]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_job_series.sql"))?;
    for (job_id, series) in pairs {
        put.execute(params![job_id.as_str(), series.0])?;
    }
    Ok(())
}

fn drops(to: &Transaction<'_>, batch: &ResultBatch) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_dropped.sql"))?;
    for (reason, count) in batch.drops.nonzero() {
        put.execute(params![reason.name(), count as i64])?;
    }
    Ok(())
}

fn producers(to: &Transaction<'_>, producers: &[LastSeen]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_producer.sql"))?;
    for h in producers {
        let (producer, schema, component) = (h.producer.as_str(), h.schema.as_str(), h.component.as_str());
        let part = h.part.as_ref().map_or("", Name::as_str);
        put.execute(params![producer, schema, component, part, h.last_time.seconds(), h.rows as i64])?;
    }
    Ok(())
}

fn silences(to: &Transaction<'_>, silences: &[Silence]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_silence.sql"))?;
    let mut revoke = to.prepare_cached(include_str!("../../sql/sqlite/revoke_silence.sql"))?;
    for s in silences {
        let (producer, schema, component) = (s.producer.as_str(), s.schema.as_str(), s.component.as_str());
        let (part, since_s) = (s.part.as_ref().map_or("", Name::as_str), s.since.seconds());
        match s.end {
            SilenceEnd::Revoked => revoke.execute(params![producer, schema, component, part, since_s])?,
            SilenceEnd::Open => {
                put.execute(params![producer, schema, component, part, since_s, None::<f64>])?
            }
            SilenceEnd::At(time) => {
                put.execute(params![producer, schema, component, part, since_s, time.seconds()])?
            }
        };
    }
    Ok(())
}

fn state(to: &Transaction<'_>, states: &[StateBlob<'_>]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_state.sql"))?;
    for blob in states {
        put.execute(params![blob.name, blob.version, blob.content])?;
    }
    Ok(())
}
