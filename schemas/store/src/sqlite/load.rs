//! What a restart reads back.

use super::StoreError;
use rusqlite::{Connection, OptionalExtension, Row, params};
use schemas::{Metric, Name, SeriesInfo};
use std::path::Path;

/// The state of that name, with its version.
pub(super) fn state(connection: &Connection, name: &str) -> rusqlite::Result<Option<(u32, Vec<u8>)>> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/load_state.sql"))?
        .query_row(params![name], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// All series; their numbers are their places, so none may be missing.
pub(super) fn series(connection: &Connection, path: &Path) -> Result<Vec<SeriesInfo>, StoreError> {
    let error = |e| StoreError::from_sqlite(path, e);
    let corrupt = |number: usize| StoreError::Corrupt {
        path: path.to_path_buf(),
        detail: format!("series {number} is missing or is no series"),
    };
    let mut statement =
        connection.prepare_cached(include_str!("../../sql/sqlite/load_series.sql")).map_err(error)?;
    let mut rows = statement.query([]).map_err(error)?;
    let mut series = Vec::new();
    while let Some(row) = rows.next().map_err(error)? {
        let (number, info) = read(row).map_err(error)?;
        let info = info.filter(|_| number == series.len() as i64);
        series.push(info.ok_or_else(|| corrupt(series.len()))?);
    }
    Ok(series)
}

fn read(row: &Row<'_>) -> rusqlite::Result<(i64, Option<SeriesInfo>)> {
    let (metric, component): (String, String) = (row.get(1)?, row.get(2)?);
    let part: Option<String> = row.get(3)?;
    Ok((row.get(0)?, info(&metric, &component, part.as_deref())))
}

fn info(metric: &str, component: &str, part: Option<&str>) -> Option<SeriesInfo> {
    Some(SeriesInfo {
        metric: Metric::from_name(metric)?,
        component: Name::parse(component).ok()?,
        part: part.map(Name::parse).transpose().ok()?,
    })
}
