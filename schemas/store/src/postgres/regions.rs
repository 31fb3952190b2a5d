//! Regions and the factors of jobs: a statement a table, as in `rows`.

use super::PgError;
use super::rows::{Columns, column, run, seconds, word};
use crate::text::{json_text, text};
use schemas::{JobFactors, Region, RegionCause, RegionStep, RegionVictim};
use serde_json::json;
use std::collections::HashMap;
use tokio_postgres::Transaction;

/// Writes the regions of a batch; of a region that occurs several times all steps, of everything else the last state.
pub(super) async fn put_regions(to: &Transaction<'_>, batch: &[Region]) -> Result<(), PgError> {
    if batch.is_empty() {
        return Ok(());
    }
    steps(to, batch).await?;
    let last: HashMap<u64, usize> = batch.iter().enumerate().map(|(at, r)| (r.id.0, at)).collect();
    let rows: Vec<&Region> =
        batch.iter().enumerate().filter(|(at, r)| last.get(&r.id.0) == Some(at)).map(|(_, r)| r).collect();
    regions(to, &rows).await?;
    series(to, &rows).await?;
    run(to, include_str!("../../sql/postgres/clear_region_parts.sql"), &[&column(&rows, |r| id(r))]).await?;
    causes(to, &rows).await?;
    victims(to, &rows).await
}

fn id(region: &Region) -> i64 {
    region.id.0.cast_signed()
}

async fn regions(to: &Transaction<'_>, rows: &[&Region]) -> Result<(), PgError> {
    let columns: &Columns<'_> = &[
        &column(rows, |r| id(r)),
        &column(rows, |r| r.metric.name()),
        &column(rows, |r| text(&r.name)),
        &column(rows, |r| seconds(r.start)),
        &column(rows, |r| seconds(r.end)),
        &column(rows, |r| r.open),
        &column(rows, |r| r.links.cast_signed()),
        &column(rows, |r| r.links_most.cast_signed()),
        &column(rows, |r| r.peak),
        &column(rows, |r| word(r.kind)),
        &column(rows, |r| r.kind_confidence),
        &column(rows, |r| r.relief),
        &column(rows, |r| word(r.cause)),
        &column(rows, |r| r.confidence),
        &column(rows, |r| r.completeness),
    ];
    run(to, include_str!("../../sql/postgres/put_regions.sql"), columns).await
}

async fn steps(to: &Transaction<'_>, batch: &[Region]) -> Result<(), PgError> {
    let rows: Vec<(i64, &RegionStep)> =
        batch.iter().flat_map(|r| r.steps.iter().map(move |s| (id(r), s))).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let columns: &Columns<'_> = &[
        &column(&rows, |s| s.0),
        &column(&rows, |s| seconds(s.1.time)),
        &column(&rows, |s| word(s.1.change)),
        &column(&rows, |s| s.1.other.map_or(0, |other| other.0.cast_signed())),
        &column(&rows, |s| s.1.links.cast_signed()),
        &column(&rows, |s| text(&s.1.worst_series)),
        &column(&rows, |s| s.1.worst),
    ];
    run(to, include_str!("../../sql/postgres/put_region_steps.sql"), columns).await
}

async fn series(to: &Transaction<'_>, regions: &[&Region]) -> Result<(), PgError> {
    let mut rows: Vec<(i64, &str, Option<i32>)> = Vec::new();
    for region in regions {
        let here = region.series.iter().zip((0_i32..).map(Some));
        rows.extend(here.map(|(series, position)| (id(region), series.as_str(), position)));
        rows.extend(region.left.iter().map(|series| (id(region), series.as_str(), None)));
    }
    let columns: &Columns<'_> = &[
        &column(regions, |r| id(r)),
        &column(&rows, |s| s.0),
        &column(&rows, |s| text(s.1)),
        &column(&rows, |s| s.2),
    ];
    run(to, include_str!("../../sql/postgres/put_region_series.sql"), columns).await
}

async fn causes(to: &Transaction<'_>, regions: &[&Region]) -> Result<(), PgError> {
    let rows: Vec<(i64, i32, &RegionCause)> = regions
        .iter()
        .flat_map(|r| (0_i32..).zip(&r.causes).map(move |(at, cause)| (id(r), at, cause)))
        .collect();
    let columns: &Columns<'_> = &[
        &column(&rows, |c| c.0),
        &column(&rows, |c| c.1),
        &column(&rows, |c| word(c.2.cause)),
        &column(&rows, |c| text(&c.2.series_or_job)),
        &column(&rows, |c| c.2.share),
        &column(&rows, |c| c.2.confidence),
        &column(&rows, |c| json_text(json!(c.2.evidence).to_string())),
    ];
    run(to, include_str!("../../sql/postgres/put_region_causes.sql"), columns).await
}

async fn victims(to: &Transaction<'_>, regions: &[&Region]) -> Result<(), PgError> {
    let rows: Vec<(i64, i32, &RegionVictim)> =
        regions.iter().flat_map(|r| (0_i32..).zip(&r.victims).map(move |(at, v)| (id(r), at, v))).collect();
    let columns: &Columns<'_> = &[
        &column(&rows, |v| v.0),
        &column(&rows, |v| v.2.job_id.as_str()),
        &column(&rows, |v| v.1),
        &column(&rows, |v| v.2.lost_s.value),
        &column(&rows, |v| v.2.lost_s.lo),
        &column(&rows, |v| v.2.lost_s.hi),
        &column(&rows, |v| v.2.share),
    ];
    run(to, include_str!("../../sql/postgres/put_region_victims.sql"), columns).await
}

/// Writes what the losses of jobs are made of.
pub(super) async fn put_factors(to: &Transaction<'_>, rows: &[JobFactors]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    let columns: &Columns<'_> = &[
        &column(rows, |f| f.job_id.as_str()),
        &column(rows, |f| text(&f.configuration)),
        &column(rows, |f| f.self_s.value),
        &column(rows, |f| f.self_s.lo),
        &column(rows, |f| f.self_s.hi),
        &column(rows, |f| f.other_s.value),
        &column(rows, |f| f.other_s.lo),
        &column(rows, |f| f.other_s.hi),
        &column(rows, |f| f.placement.map(|p| p.value)),
        &column(rows, |f| f.placement.map(|p| p.lo)),
        &column(rows, |f| f.placement.map(|p| p.hi)),
        &column(rows, |f| f.beta.value),
        &column(rows, |f| f.beta.lo),
        &column(rows, |f| f.beta.hi),
        &column(rows, |f| f.beta_version.cast_signed()),
        &column(rows, |f| f.beta_runs.cast_signed()),
        &column(rows, |f| text(&f.caveat)),
    ];
    run(to, include_str!("../../sql/postgres/put_job_factors.sql"), columns).await
}
