//! A partition's dense numbers of series to the numbers of the database.

use super::{PgError, PgStore};
use schemas::{Name, SeriesInfo};
use std::collections::HashMap;
use tokio_postgres::Client;

/// Series per statement: their names fill a few megabytes.
const AT_ONCE: usize = 20_000;

impl PgStore {
    /// Makes sure that every series of `table` has a number. New ones are inserted before the transaction, each
    /// statement by itself: a name without signals does no harm, and no commit waits for another's.
    pub(super) async fn number_series(
        &mut self,
        stage: &str,
        partition: i32,
        table: &[SeriesInfo],
    ) -> Result<(), PgError> {
        let part =
            self.parts.get_mut(&(stage.to_string(), partition)).ok_or(PgError::Fenced { partition })?;
        let client =
            self.client.as_ref().ok_or_else(|| PgError::Retry("the connection is closed".to_string()))?;
        while part.ids.len() < table.len() {
            let from = part.ids.len();
            let to = table.len().min(from + AT_ONCE);
            part.ids.extend(numbers(client, &table[from..to]).await?);
        }
        Ok(())
    }
}

/// The numbers of `series`, given to them now where they are new to the database.
async fn numbers(client: &Client, series: &[SeriesInfo]) -> Result<Vec<i32>, PgError> {
    let names: Vec<String> = series.iter().map(SeriesInfo::name).collect();
    let mut numbers = look_up(client, &names).await?;
    let new: Vec<usize> = (0..series.len()).filter(|at| numbers[*at] == 0).collect();
    if !new.is_empty() {
        let columns = (
            new.iter().map(|at| names[*at].as_str()).collect::<Vec<_>>(),
            new.iter().map(|at| series[*at].metric.name()).collect::<Vec<_>>(),
            new.iter().map(|at| series[*at].component.as_str()).collect::<Vec<_>>(),
            new.iter().map(|at| series[*at].part.as_ref().map(Name::as_str)).collect::<Vec<_>>(),
        );
        let (name, metric, component, part) = &columns;
        let rows = client.query(include_str!("sql/new_series.sql"), &[name, metric, component, part]).await?;
        let given: HashMap<&str, i32> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        new.iter().for_each(|at| numbers[*at] = given.get(names[*at].as_str()).copied().unwrap_or(0));
    }
    if numbers.contains(&0) {
        numbers = look_up(client, &names).await?;
    }
    match numbers.iter().position(|number| *number == 0) {
        None => Ok(numbers),
        Some(i) => Err(PgError::Retry(format!("the series {} was deleted meanwhile", names[i]))),
    }
}

/// The number of each name, 0 for a name that the database does not know.
async fn look_up(client: &Client, names: &[String]) -> Result<Vec<i32>, PgError> {
    let mut numbers = vec![0; names.len()];
    for row in client.query(include_str!("sql/series_ids.sql"), &[&names]).await? {
        let place: i64 = row.get(0);
        if let Some(number) = usize::try_from(place - 1).ok().and_then(|at| numbers.get_mut(at)) {
            *number = row.get(1);
        }
    }
    Ok(numbers)
}
