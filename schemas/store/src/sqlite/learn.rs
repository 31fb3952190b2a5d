//! Calibration from finished runs, and the factors of jobs: reads, calls what learns, writes.

use super::regions::put_factors;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};
use schemas::calibration::{Beta, FinishedRun, Learnt, Measured, MeasuredRun, StoredLoss, StoredRuns};
use schemas::{Interval, Name, Time};
use std::collections::HashMap;

/// Passes what is stored to `learn`, and writes what it returns; the number of new versions of `beta`, and of jobs written.
pub(super) fn learn(
    connection: &mut Connection,
    learn: impl FnOnce(StoredRuns) -> Learnt,
) -> rusqlite::Result<(usize, usize)> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (runs, measured) = (finished(&transaction)?, measured(&transaction)?);
    let (betas, losses) = (latest(&transaction)?, due(&transaction)?);
    let learnt = learn(StoredRuns { runs, measured, betas, losses });
    put_betas(&transaction, &learnt.betas)?;
    put_factors(&transaction, &learnt.factors)?;
    transaction.commit()?;
    Ok((learnt.betas.len(), learnt.factors.len()))
}

fn put_betas(to: &Transaction<'_>, betas: &[(String, u32, Beta)]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_beta.sql"))?;
    for (configuration, version, beta) in betas {
        let Interval { value, lo, hi } = beta.value;
        let until = beta.learnt_until.seconds();
        put.execute(params![configuration, version, value, lo, hi, beta.clear_s, beta.runs, until])?;
    }
    Ok(())
}

fn finished(from: &Connection) -> rusqlite::Result<Vec<FinishedRun>> {
    let read = |row: &Row<'_>| {
        Ok(FinishedRun {
            configuration: row.get(0)?,
            groups: row.get(1)?,
            run_s: row.get(2)?,
            slowdown_s: row.get(3)?,
            end: Time::from_seconds(row.get(4)?),
        })
    };
    from.prepare_cached(include_str!("../../sql/sqlite/learnable_runs.sql"))?.query_map([], read)?.collect()
}

fn measured(from: &Connection) -> rusqlite::Result<Vec<MeasuredRun>> {
    let read = |row: &Row<'_>| {
        let Some(measured) = measured_at(row, 3)? else { return Ok(None) };
        let (configuration, run_s, end) = (row.get(0)?, row.get(1)?, Time::from_seconds(row.get(2)?));
        Ok(Some(MeasuredRun { configuration, run_s, end, measured }))
    };
    let mut statement = from.prepare_cached(include_str!("../../sql/sqlite/measured_runs.sql"))?;
    let rows = statement.query_map([], read)?;
    rows.filter_map(Result::transpose).collect()
}

/// Loss and cost by a job's own reports, in the six columns from `at` on.
fn measured_at(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Measured>> {
    let interval = |at: usize| -> rusqlite::Result<Option<Interval>> {
        let Some(value) = row.get(at)? else { return Ok(None) };
        Ok(Some(Interval { value, lo: row.get(at + 1)?, hi: row.get(at + 2)? }))
    };
    let Some(lost_s) = interval(at)? else { return Ok(None) };
    Ok(Some(Measured { lost_s, cost: interval(at + 3)? }))
}

fn latest(from: &Connection) -> rusqlite::Result<HashMap<String, (Beta, u32)>> {
    let read = |row: &Row<'_>| {
        let value = Interval { value: row.get(2)?, lo: row.get(3)?, hi: row.get(4)? };
        let (clear_s, runs) = (row.get(5)?, row.get(6)?);
        let beta = Beta { value, clear_s, runs, learnt_until: Time::from_seconds(row.get(7)?) };
        Ok((row.get(0)?, (beta, row.get(1)?)))
    };
    from.prepare_cached(include_str!("../../sql/sqlite/latest_betas.sql"))?.query_map([], read)?.collect()
}

fn due(from: &Connection) -> rusqlite::Result<Vec<StoredLoss>> {
    let read = |row: &Row<'_>| {
        let job_id: String = row.get(0)?;
        // An invalid name was not written by this program; its factors are not written.
        let Ok(job_id) = Name::parse(&job_id) else { return Ok(None) };
        Ok(Some(StoredLoss {
            job_id,
            configuration: row.get(1)?,
            groups: row.get(2)?,
            end_presumed: row.get(3)?,
            run_s: row.get(4)?,
            lost_s: Interval { value: row.get(5)?, lo: row.get(6)?, hi: row.get(7)? },
            contended_s: row.get(8)?,
            completeness: row.get(9)?,
            own: row.get(10)?,
            others: row.get(11)?,
            measured: measured_at(row, 12)?,
        }))
    };
    let mut statement = from.prepare_cached(include_str!("../../sql/sqlite/factors_due.sql"))?;
    let rows = statement.query_map([], read)?;
    rows.filter_map(Result::transpose).collect()
}
