//! Writes the made-up cluster into a store, as the detector's sink would.

use crate::cluster::{Cluster, HISTORY_S, Nature, Series, Span};
use crate::fabric::{write_links, write_now, write_regions};
use rusqlite::{Connection, Transaction, params};
use std::path::Path;
use store::migrations::SQLITE_MIGRATIONS;
use store::sqlite::put_metrics;

/// Tiles are many: their history is shorter, and of a large machine very short.
const TILE_HISTORY_S: f64 = 240.0;
const MANY_TILES_HISTORY_S: f64 = 12.0;
const MANY_ROUTERS: usize = 200;

pub struct SampleStore {
    connection: Connection,
    cluster: Cluster,
}

type Outcome<T = ()> = rusqlite::Result<T>;

impl SampleStore {
    /// A store with history up to the start of `cluster`.
    pub fn create(path: &Path, cluster: Cluster) -> Result<SampleStore, Box<dyn std::error::Error>> {
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "off")?;
        for migration in SQLITE_MIGRATIONS {
            connection.execute_batch(migration)?;
        }
        put_metrics(&connection)?;
        let transaction = connection.transaction()?;
        write_series(&transaction, &cluster)?;
        write_jobs(&transaction, &cluster)?;
        write_history(&transaction, &cluster)?;
        write_links(&transaction, &cluster)?;
        write_regions(&transaction, cluster.start)?;
        transaction.commit()?;
        Ok(SampleStore { connection, cluster })
    }

    /// Raw rows that a tick stands for: one per router and client.
    pub fn rows_per_tick(&self) -> usize {
        self.cluster.series.iter().filter(|s| s.part.as_deref().is_none_or(|p| p == "snx11137")).count()
    }

    /// Everything that one second changes.
    pub fn write_tick(&mut self, now: f64) -> Outcome {
        let transaction = self.connection.transaction()?;
        for (id, series) in self.cluster.series.iter().enumerate() {
            if series.nature != Nature::Silent {
                write_signal(&transaction, id, series, now)?;
            }
            for span in series.spans.iter().filter(|s| s.start < now && s.end + 2.0 >= now) {
                write_episode(&transaction, id, series, span, now)?;
            }
        }
        write_results(&transaction, &self.cluster, now)?;
        write_heard(&transaction, &self.cluster, now)?;
        write_now(&transaction, now)?;
        let before = ((now - HISTORY_S - 300.0) / 10.0) as i64;
        transaction.execute("DELETE FROM signal_rows WHERE bucket < ?1", [before])?;
        transaction.commit()
    }
}

fn write_series(to: &Transaction<'_>, cluster: &Cluster) -> Outcome {
    for (id, s) in cluster.series.iter().enumerate() {
        to.execute(
            "INSERT INTO series VALUES (?1, ?2, ?3, ?4, ?5)",
            params![id as i64, s.name(), s.metric, s.component, s.part],
        )?;
    }
    Ok(())
}

fn write_history(to: &Transaction<'_>, cluster: &Cluster) -> Outcome {
    for (id, series) in cluster.series.iter().enumerate() {
        let tile = series.metric == "aries_stall_ratio";
        let of_tiles = if cluster.routers > MANY_ROUTERS { MANY_TILES_HISTORY_S } else { TILE_HISTORY_S };
        let mut time = cluster.start - if tile { of_tiles } else { HISTORY_S };
        // The silent one reported until 90 s ago.
        let until = cluster.start - if series.nature == Nature::Silent { 90.0 } else { 0.0 };
        while time < until {
            write_signal(to, id, series, time)?;
            time += 1.0;
        }
        for span in series.spans.iter().filter(|s| s.start < cluster.start) {
            write_episode(to, id, series, span, cluster.start)?;
        }
    }
    Ok(())
}

fn write_signal(to: &Transaction<'_>, id: usize, series: &Series, time: f64) -> Outcome {
    let r = series.reading(time);
    let row = params![id as i64, time, r.value, r.mean, r.baseline, r.bound, r.state, r.slowdown_s];
    for sql in [
        "INSERT OR REPLACE INTO signal_rows VALUES (CAST(?2 / 10.0 AS INTEGER), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, iif(?3 < 1e6, 4e8, NULL), iif(?3 < 1e6, 4e8 * ?3, NULL))",
        "INSERT OR REPLACE INTO series_latest VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    ] {
        to.prepare_cached(sql)?.execute(row)?;
    }
    Ok(())
}

fn write_episode(to: &Transaction<'_>, id: usize, series: &Series, span: &Span, now: f64) -> Outcome {
    let (end, open) = (span.end.min(now), now < span.end);
    let lost = series.lost_in(span, end);
    let profile = format!("[[{}, 0.0], [{end}, {lost}]]", span.start);
    to.prepare_cached(
        "INSERT OR REPLACE INTO episodes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(params![
        span.id,
        id as i64,
        span.start,
        end,
        open,
        series.peak(),
        series.baseline,
        lost,
        lost * 0.94,
        lost * 1.05,
        0.99,
        profile,
        span.causes
    ])?;
    Ok(())
}

fn write_jobs(to: &Transaction<'_>, cluster: &Cluster) -> Outcome {
    let start = cluster.start;
    // A name as users give them: the page must show it as it is.
    for (id, user, name, from, end, app) in [
        ("4710", "amelie", "hacc checkpoint", start - 600.0, None, Some("hacc_io")),
        ("4711", "bo", "ior-easy-write", start - 420.0, None, Some("ior")),
        ("4712", "chidi", "milc <b>su3</b> & \"rmd\"", start - 800.0, None, None),
        ("4698", "amelie", "hacc checkpoint", start - 870.0, Some(start - 610.0), Some("hacc_io")),
    ] {
        to.execute(
            "INSERT INTO jobs (job_id, user_name, name, start_time, end_time, app) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![id, user, name, from, end, app],
        )?;
    }
    write_job_nodes(to)
}

fn write_job_nodes(to: &Transaction<'_>) -> Outcome {
    for (job, node) in [("4710", "nid00012"), ("4711", "nid00040"), ("4698", "nid00012")] {
        to.execute("INSERT INTO job_nodes VALUES (?1, ?2)", [job, node])?;
        to.execute(
            "INSERT INTO job_series SELECT ?1, series_id FROM series WHERE component = ?2",
            [job, node],
        )?;
    }
    for number in 0..12 {
        to.execute("INSERT INTO job_nodes VALUES ('4712', ?1)", [format!("nid{:05}", 100 + number)])?;
    }
    to.execute(
        "INSERT INTO job_series SELECT '4712', series_id FROM series
         WHERE metric = 'ib_wait_ratio' OR component IN ('c0-0c0s9', 'c0-0c0s10', 'c0-0c0s11')",
        [],
    )?;
    Ok(())
}

fn write_results(to: &Transaction<'_>, cluster: &Cluster, now: f64) -> Outcome {
    let spans = |component: &str| -> f64 {
        let of_it = cluster.series.iter().filter(|s| s.component == component);
        of_it.map(|s| s.reading(now).slowdown_s).fold(0.0, f64::max)
    };
    for (job, lost, causes) in [
        (
            "4710",
            spans("nid00012"),
            vec![("other_job", "endpoint", "4711", 0.81), ("unknown", "unknown", "", 0.12)],
        ),
        ("4711", 2.1, vec![("self", "endpoint", "4711", 0.7)]),
        (
            "4712",
            spans("c0-0c0s9") * 0.8,
            vec![("self", "capacity", "4712", 0.64), ("io_on_mpi", "avoidable", "4711", 0.28)],
        ),
    ] {
        to.execute(
            "INSERT OR REPLACE INTO job_results VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
            params![job, lost * 3.0, lost, lost * 0.93, lost * 1.06, 0.985],
        )?;
        for (position, (cause, kind, whom, share)) in causes.into_iter().enumerate() {
            to.execute(
                "INSERT OR REPLACE INTO job_causes VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![job, position as i64, cause, kind, whom, share],
            )?;
        }
    }
    Ok(())
}

fn write_heard(to: &Transaction<'_>, cluster: &Cluster, now: f64) -> Outcome {
    let age = now - cluster.start + HISTORY_S;
    for series in cluster.series.iter().filter(|s| s.part.as_deref().is_none_or(|p| p == "snx11137")) {
        let schema = if series.part.is_some() { "lustre_client" } else { "aries_rtr" };
        let last = if series.nature == Nature::Silent { cluster.start - 90.0 } else { now };
        let producer =
            if series.part.is_some() { series.component.clone() } else { format!("{}n0", series.component) };
        to.prepare_cached("INSERT OR REPLACE INTO producers VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?.execute(
            params![
                producer,
                schema,
                series.component,
                series.part.as_deref().unwrap_or_default(),
                last,
                (age - (now - last)) as i64
            ],
        )?;
    }
    for (reason, count) in
        [("late", 12.0 + (age / 40.0).floor()), ("duplicate", 3.0 * age), ("counter_reset", 1.0)]
    {
        to.execute("INSERT OR REPLACE INTO dropped_rows VALUES (?1, ?2)", params![reason, count as i64])?;
    }
    Ok(())
}
