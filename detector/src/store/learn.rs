//! Calibration from finished runs, and the factors of jobs: reads, computes with [`crate::factors::learnt`], writes.

use super::regions::put_factors;
use crate::factors::learnt::{Beta, FinishedRun, StoredLoss, factors, fit, placements};
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};
use schemas::{Interval, JobFactors, Name, Time};
use std::collections::{BTreeMap, HashMap};

/// Learns `beta`, then writes the factors of jobs; the number of new versions of `beta`, and of jobs written.
pub(super) fn learn(connection: &mut Connection) -> rusqlite::Result<(usize, usize)> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let runs = finished(&transaction)?;
    let mut betas = latest(&transaction)?;
    let new = learn_betas(&transaction, &runs, &mut betas)?;
    let placed = placements(&runs, &betas);
    let due = due(&transaction)?;
    let factors: Vec<JobFactors> = due
        .iter()
        .map(|job| {
            let placement = placed.get(&(job.configuration.clone(), job.groups)).copied();
            factors(job, betas.get(&job.configuration), placement)
        })
        .collect();
    put_factors(&transaction, &factors)?;
    transaction.commit()?;
    Ok((new, factors.len()))
}

fn learn_betas(
    to: &Transaction<'_>,
    runs: &[FinishedRun],
    betas: &mut HashMap<String, (Beta, u32)>,
) -> rusqlite::Result<usize> {
    let mut by_configuration: BTreeMap<&str, Vec<&FinishedRun>> = BTreeMap::new();
    runs.iter().for_each(|run| by_configuration.entry(&run.configuration).or_default().push(run));
    let mut put = to.prepare_cached(include_str!("../../sql/put_beta.sql"))?;
    let mut new = 0;
    for (configuration, runs) in by_configuration {
        let Some(beta) = fit(&runs) else { continue };
        let known = betas.get(configuration);
        if known.is_some_and(|(k, _)| (k.runs, k.learnt_until) == (beta.runs, beta.learnt_until)) {
            continue;
        }
        let version = known.map_or(0, |(_, version)| *version) + 1;
        let Interval { value, lo, hi } = beta.value;
        let until = beta.learnt_until.seconds();
        put.execute(params![configuration, version, value, lo, hi, beta.clear_s, beta.runs, until])?;
        betas.insert(configuration.to_string(), (beta, version));
        new += 1;
    }
    Ok(new)
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
    from.prepare_cached(include_str!("../../sql/learnable_runs.sql"))?.query_map([], read)?.collect()
}

fn latest(from: &Connection) -> rusqlite::Result<HashMap<String, (Beta, u32)>> {
    let read = |row: &Row<'_>| {
        let value = Interval { value: row.get(2)?, lo: row.get(3)?, hi: row.get(4)? };
        let (clear_s, runs) = (row.get(5)?, row.get(6)?);
        let beta = Beta { value, clear_s, runs, learnt_until: Time::from_seconds(row.get(7)?) };
        Ok((row.get(0)?, (beta, row.get(1)?)))
    };
    from.prepare_cached(include_str!("../../sql/latest_betas.sql"))?.query_map([], read)?.collect()
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
        }))
    };
    let mut statement = from.prepare_cached(include_str!("../../sql/factors_due.sql"))?;
    let rows = statement.query_map([], read)?;
    rows.filter_map(Result::transpose).collect()
}
