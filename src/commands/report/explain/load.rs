//! Reading an episode's facts from the store.

use super::super::load::word;
use super::facts::{AROUND_S, Explained, ExplainedRegion, Gainer, MissingData, Sample};
use anyhow::{Context, Result, anyhow};
use rusqlite::{Connection, OptionalExtension, Row, params};
use schemas::Metric;
use std::path::Path;
use store::sqlite::open_reader;

/// The facts of episode `id` in the store at `path`.
pub(super) fn load(path: &Path, id: i64) -> Result<Explained> {
    let mut connection = open_reader(path)?;
    let unreadable = || format!("{}: episode {id} cannot be read", path.display());
    let store = connection.transaction().with_context(unreadable)?;
    let found = episode(&store, id).with_context(unreadable)?;
    let (mut facts, component, series_id) =
        found.ok_or_else(|| anyhow!("{}: episode {id} is not known", path.display()))?;
    let around = (facts.start - AROUND_S, facts.start + AROUND_S);
    facts.samples = samples(&store, series_id, around).with_context(unreadable)?;
    facts.region = region(&store, &facts).with_context(unreadable)?;
    facts.silences = silences(&store, &component, &facts).with_context(unreadable)?;
    Ok(facts)
}

fn episode(store: &Connection, id: i64) -> Result<Option<(Explained, String, u32)>> {
    let read = |row: &Row<'_>| {
        let facts = Explained {
            episode: id.to_string(),
            series: row.get(0)?,
            metric: Metric::from_name(&row.get::<_, String>(1)?),
            start: row.get(4)?,
            end: row.get(5)?,
            open: row.get(6)?,
            peak: row.get(7)?,
            baseline: row.get(8)?,
            slowdown_s: row.get(9)?,
            slowdown_lo_s: row.get(10)?,
            slowdown_hi_s: row.get(11)?,
            completeness: row.get(12)?,
            causes: Vec::new(),
            samples: Vec::new(),
            region: None,
            silences: Vec::new(),
        };
        Ok((facts, row.get::<_, String>(2)?, row.get::<_, u32>(3)?, row.get::<_, String>(13)?))
    };
    let found = store.query_row(include_str!("episode.sql"), params![id], read).optional()?;
    let Some((mut facts, component, series_id, causes)) = found else {
        return Ok(None);
    };
    facts.causes = serde_json::from_str(&causes)?;
    Ok(Some((facts, component, series_id)))
}

fn samples(store: &Connection, series_id: u32, (from, to): (f64, f64)) -> Result<Vec<Sample>> {
    let mut statement = store.prepare(include_str!("samples.sql"))?;
    let rows = statement.query_map(params![series_id, from, to], |row| {
        Ok(Sample {
            time: row.get(0)?,
            value: row.get(1)?,
            mean: row.get(2)?,
            baseline: row.get(3)?,
            bound: row.get(4)?,
            state: row.get(5)?,
            ticks: row.get(6)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn region(store: &Connection, of: &Explained) -> Result<Option<ExplainedRegion>> {
    let read = |row: &Row<'_>| {
        let words: (String, String) = (row.get(3)?, row.get(4)?);
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, words, row.get(5)?))
    };
    let parameters = params![of.series, of.start, of.end];
    let found = store.query_row(include_str!("region.sql"), parameters, read).optional()?;
    let Some((id, name, links_most, (cause, kind), confidence)) = found else {
        return Ok(None);
    };
    let (cause, kind, gainers) = (word(cause)?, word(kind)?, gainers(store, id)?);
    Ok(Some(ExplainedRegion { id, name, links_most, cause, kind, confidence, gainers }))
}

fn gainers(store: &Connection, region: i64) -> Result<Vec<Gainer>> {
    let mut statement = store.prepare(include_str!("gainers.sql"))?;
    let mut rows = statement.query(params![region])?;
    let mut gainers = Vec::new();
    while let Some(row) = rows.next()? {
        gainers.push(Gainer {
            cause: word(row.get(0)?)?,
            series_or_job: row.get(1)?,
            share: row.get(2)?,
            confidence: row.get(3)?,
            evidence: serde_json::from_str(&row.get::<_, String>(4)?)?,
        });
    }
    Ok(gainers)
}

fn silences(store: &Connection, component: &str, of: &Explained) -> Result<Vec<MissingData>> {
    let mut statement = store.prepare(include_str!("silences.sql"))?;
    let rows = statement.query_map(params![component, of.start, of.end, of.series], |row| {
        Ok(MissingData { producer: row.get(0)?, schema: row.get(1)?, from: row.get(2)?, until: row.get(3)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
