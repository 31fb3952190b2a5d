//! Writing regions and the factors of jobs, as a part of a batch.

use super::commit::{finite_or_null, word};
use rusqlite::{Transaction, params};
use schemas::{JobFactors, Region, RegionCause, RegionStep, RegionVictim};
use serde_json::json;

/// Writes regions; one that is reported again keeps its history; its causes and victims are replaced as a whole.
pub(super) fn put_regions(to: &Transaction<'_>, regions: &[Region]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_region.sql"))?;
    for r in regions {
        let id = r.id.0.cast_signed();
        put.execute(params![
            id,
            r.metric.name(),
            r.name,
            r.start.seconds(),
            r.end.seconds(),
            r.open,
            r.links,
            r.links_most,
            finite_or_null(r.peak),
            word(json!(r.kind)),
            r.kind_confidence,
            r.relief,
            word(json!(r.cause)),
            r.confidence,
            r.completeness,
        ])?;
        steps(to, id, &r.steps)?;
        series(to, id, r)?;
        causes(to, id, &r.causes)?;
        victims(to, id, &r.victims)?;
    }
    Ok(())
}

fn steps(to: &Transaction<'_>, region: i64, steps: &[RegionStep]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_region_step.sql"))?;
    for s in steps {
        let other = s.other.map_or(0, |other| other.0.cast_signed());
        let (time_s, change) = (s.time.seconds(), word(json!(s.change)));
        put.execute(params![
            region,
            time_s,
            change,
            other,
            s.links,
            s.worst_series,
            finite_or_null(s.worst)
        ])?;
    }
    Ok(())
}

fn series(to: &Transaction<'_>, region: i64, of: &Region) -> rusqlite::Result<()> {
    to.prepare_cached(include_str!("../../sql/sqlite/leave_region_series.sql"))?.execute(params![region])?;
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_region_series.sql"))?;
    for (position, name) in (0_i64..).zip(&of.series) {
        put.execute(params![region, name, position])?;
    }
    for name in &of.left {
        put.execute(params![region, name, None::<i64>])?;
    }
    Ok(())
}

fn causes(to: &Transaction<'_>, region: i64, causes: &[RegionCause]) -> rusqlite::Result<()> {
    to.prepare_cached(include_str!("../../sql/sqlite/clear_region_causes.sql"))?.execute(params![region])?;
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_region_cause.sql"))?;
    for (position, c) in causes.iter().enumerate() {
        let (cause, evidence) = (word(json!(c.cause)), json!(c.evidence).to_string());
        put.execute(params![
            region,
            position as i64,
            cause,
            c.series_or_job,
            c.share,
            c.confidence,
            evidence
        ])?;
    }
    Ok(())
}

fn victims(to: &Transaction<'_>, region: i64, victims: &[RegionVictim]) -> rusqlite::Result<()> {
    to.prepare_cached(include_str!("../../sql/sqlite/clear_region_victims.sql"))?.execute(params![region])?;
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_region_victim.sql"))?;
    for (position, v) in victims.iter().enumerate() {
        let lost = v.lost_s;
        put.execute(params![
            region,
            v.job_id.as_str(),
            position as i64,
            lost.value,
            lost.lo,
            lost.hi,
            v.share
        ])?;
    }
    Ok(())
}

/// Writes what the losses of jobs are made of.
pub(super) fn put_factors(to: &Transaction<'_>, factors: &[JobFactors]) -> rusqlite::Result<()> {
    let mut put = to.prepare_cached(include_str!("../../sql/sqlite/put_job_factors.sql"))?;
    for f in factors {
        put.execute(params![
            f.job_id.as_str(),
            f.configuration,
            f.self_s.value,
            f.self_s.lo,
            f.self_s.hi,
            f.other_s.value,
            f.other_s.lo,
            f.other_s.hi,
            f.placement.map(|p| p.value),
            f.placement.map(|p| p.lo),
            f.placement.map(|p| p.hi),
            f.beta.value,
            f.beta.lo,
            f.beta.hi,
            f.beta_version,
            f.beta_runs,
            f.caveat,
        ])?;
    }
    Ok(())
}
