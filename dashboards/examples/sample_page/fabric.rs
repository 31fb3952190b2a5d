//! Where the made-up links are, and made-up regions of them.

use crate::cluster::{Cluster, SLOTS, chassis_name};
use rusqlite::{Transaction, params};
use topology::generate::Aries;
use topology::{Machine, Topology, link_places, node_places};

/// The region that never ends.
const OPEN: i64 = 2;

/// An Aries of the routers of `cluster`, in one row of cabinets.
fn topology(routers: usize) -> Result<Topology, Box<dyn std::error::Error>> {
    let (full, rest) = (routers / SLOTS, routers % SLOTS);
    let mut populated: Vec<String> = (0..full).map(chassis_name).collect();
    if rest > 0 {
        populated.push(format!("{}s0-{}", chassis_name(full), rest - 1));
    }
    let groups = routers.div_ceil(96) as u32;
    Ok(Machine::Aries(Aries { populated, ..Aries::new(groups) }).build()?)
}

/// Writes links and nodes as a topology has them.
pub fn write_links(to: &Transaction<'_>, cluster: &Cluster) -> Result<(), Box<dyn std::error::Error>> {
    let topology = topology(cluster.routers)?;
    let mut put = to.prepare("INSERT INTO link_places VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for link in link_places(&topology) {
        let ends = (link.from.as_str(), link.to.as_str());
        put.execute(params![link.series, link.class, ends.0, ends.1, link.bundle, link.bytes_per_s])?;
    }
    let mut put = to.prepare("INSERT INTO node_switches VALUES (?1, ?2, ?3)")?;
    for place in node_places(&topology) {
        put.execute(params![place.node.as_str(), place.switch.as_str(), place.group])?;
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
