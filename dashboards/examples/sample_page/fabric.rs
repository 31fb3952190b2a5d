//! Where the made-up links are, and made-up regions of them.

use crate::cluster::{Cluster, Series};
use rusqlite::{Transaction, params};

/// The region that never ends.
const OPEN: i64 = 2;

/// Tiles are wired as in an Aries router: a chassis, a group, other groups, and hosts.
fn class_of(series: &Series) -> Option<(&'static str, String)> {
    let (row, column) = series.part.as_deref()?.strip_prefix('r')?.split_once('c')?;
    let (row, column): (u32, u32) = (row.parse().ok()?, column.parse().ok()?);
    Some(match row * 8 + column {
        0..15 => ("green", String::new()),
        15..30 => ("black", format!("chassis {} to {}", (row + column) % 3, series.component)),
        _ => ("blue", format!("group {} to group 0", 1 + column % 4)),
    })
}

/// Writes the tiles as a topology would.
pub fn write_links(to: &Transaction<'_>, cluster: &Cluster) -> rusqlite::Result<()> {
    let mut put = to.prepare("INSERT INTO link_places VALUES (?1, ?2, ?3, ?4, ?5, 5.25e9)")?;
    for series in cluster.series.iter().filter(|series| series.metric == "aries_stall_ratio") {
        let Some((class, bundle)) = class_of(series) else { continue };
        let from =
            if bundle.is_empty() { "neighbour" } else { bundle.split(" to ").next().unwrap_or_default() };
        put.execute(params![series.name(), class, from, series.component, bundle])?;
    }
    Ok(())
}

/// Writes one region that went into another one, and the other one.
pub fn write_regions(to: &Transaction<'_>, start: f64) -> rusqlite::Result<()> {
    for (id, name, from, until, open, links, most) in [
        (1, "router c0-0c0s10", start - 160.0, start - 90.0, 0, 0, 4),
        (OPEN, "group 2 to group 0", start - 190.0, start, 1, 9, 11),
    ] {
        to.execute(
            "INSERT INTO regions VALUES (?1, 'aries_stall_ratio', ?2, ?3, ?4, ?5, ?6, ?7, 1.9, 'avoidable', 0.8, 0.45,
                                         'other_job', 0.7, 0.99)",
            params![id, name, from, until, open, links, most],
        )?;
    }
    let (one, two) = ("aries_stall_ratio/c0-0c0s10/r2c1", "aries_stall_ratio/c0-0c0s9/r1c2");
    for (id, at, change, other, links, series, worst) in [
        (1, -160.0, "began", 0, 2, one, 0.9),
        (1, -130.0, "grew", 0, 4, one, 1.2),
        (1, -90.0, "went_into", OPEN, 0, one, 1.2),
        (OPEN, -190.0, "began", 0, 3, two, 0.8),
        (OPEN, -150.0, "grew", 0, 8, two, 1.4),
        (OPEN, -90.0, "took_up", 1, 11, one, 1.9),
        (OPEN, -40.0, "shrank", 0, 9, two, 1.6),
    ] {
        let step = params![id, start + at, change, other, links, series, worst];
        to.execute("INSERT INTO region_steps VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", step)?;
    }
    to.execute_batch(
        r#"INSERT INTO region_series
           SELECT 2, name, iif(series_id % 7 = 0, NULL, row_number() OVER (ORDER BY series_id) - 1) FROM series
           WHERE component IN ('c0-0c0s9', 'c0-0c0s10') AND part LIKE 'r1%';
           INSERT INTO region_series SELECT 1, series, position FROM region_series WHERE series LIKE '%c0-0c0s10/%';
           INSERT INTO region_causes VALUES
               (2, 0, 'other_job', '4711', 0.62, 0.8, '["nodes_on_router", "change_point"]'),
               (2, 1, 'io_on_mpi', '4710', 0.21, 0.5, '["lustre_bytes"]');
           INSERT INTO region_victims VALUES (2, '4712', 0, 41.5, 36.2, 46.8, 0.9), (2, '4698', 1, 4.6, 0.0, 5.2, 0.1);"#,
    )
}

/// The open region lasts until now.
pub fn write_now(to: &Transaction<'_>, now: f64) -> rusqlite::Result<()> {
    to.execute("UPDATE regions SET end_time = ?1 WHERE open", [now])?;
    Ok(())
}
