//! A partition's dense numbers of series to the numbers of the database.

use super::{PartCommit, PgError, PgStore};
use schemas::{Name, SeriesIndex, SeriesInfo};
use std::collections::HashMap;
use tokio_postgres::Client;

/// Series per statement: their names fill a few megabytes.
const AT_ONCE: usize = 20_000;

/// No series of the database has this number: it was not asked for yet.
const NONE: i32 = 0;

/// The database's number of a series that has one.
pub(super) fn id(ids: &[i32], series: SeriesIndex) -> Result<i32, PgError> {
    ids.get(series.at())
        .copied()
        .filter(|id| *id != NONE)
        .ok_or_else(|| PgError::Stop(format!("a result is about series {}, which the table lacks", series.0)))
}

impl PgStore {
    /// Makes sure that every series of which rows will be written has a number: only those, so that the names of a machine that
    /// starts come over ten seconds, as its rows do, and hold up no commit for long. New ones are inserted before the
    /// transaction, each statement by itself: a name without signals does no harm, and no commit waits for another's.
    pub(super) async fn number_series(
        &mut self,
        stage: &str,
        parts: &[PartCommit<'_>],
    ) -> Result<(), PgError> {
        let mut new: Vec<(usize, usize)> = Vec::new();
        for (part, commit) in parts.iter().enumerate() {
            let partition = commit.partition;
            let kept =
                self.parts.get_mut(&(stage.to_string(), partition)).ok_or(PgError::Fenced { partition })?;
            kept.ids.resize(commit.table.len().max(kept.ids.len()), NONE);
            new.extend(unnumbered(commit, &kept.ids).into_iter().map(|at| (part, at)));
        }
        let client =
            self.client.as_ref().ok_or_else(|| PgError::Retry("the connection is closed".to_string()))?;
        for new in new.chunks(AT_ONCE) {
            let series: Vec<&SeriesInfo> = new.iter().map(|(part, at)| &parts[*part].table[*at]).collect();
            for ((part, at), number) in new.iter().zip(numbers(client, &series).await?) {
                let key = (stage.to_string(), parts[*part].partition);
                if let Some(kept) = self.parts.get_mut(&key) {
                    kept.ids[*at] = number;
                }
            }
        }
        Ok(())
    }
}

/// The series of a commit's rows that have no number yet, each once.
fn unnumbered(commit: &PartCommit<'_>, ids: &[i32]) -> Vec<usize> {
    let signals = commit.stored.signals.iter().map(|stored| stored.signal.series);
    let buckets = commit.stored.buckets.iter().map(|bucket| bucket.series);
    let episodes = commit.results.episodes.iter().map(|episode| episode.series);
    let of_jobs = commit.results.job_series.iter().map(|(_, series)| *series);
    let written = signals.chain(buckets).chain(episodes).chain(of_jobs).map(SeriesIndex::at);
    let mut new: Vec<usize> = written.filter(|at| ids.get(*at) == Some(&NONE)).collect();
    new.sort_unstable();
    new.dedup();
    new
}

/// The numbers of `series`, given to them now where they are new to the database.
async fn numbers(client: &Client, series: &[&SeriesInfo]) -> Result<Vec<i32>, PgError> {
    let names: Vec<String> = series.iter().map(|info| info.name()).collect();
    let mut numbers = look_up(client, &names).await?;
    let new: Vec<usize> = (0..series.len()).filter(|at| numbers[*at] == NONE).collect();
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
        new.iter().for_each(|at| numbers[*at] = given.get(names[*at].as_str()).copied().unwrap_or(NONE));
    }
    if numbers.contains(&NONE) {
        numbers = look_up(client, &names).await?;
    }
    match numbers.iter().position(|number| *number == NONE) {
        None => Ok(numbers),
        Some(i) => Err(PgError::Retry(format!("the series {} was deleted meanwhile", names[i]))),
    }
}

/// The number of each name, [`NONE`] for a name that the database does not know.
async fn look_up(client: &Client, names: &[String]) -> Result<Vec<i32>, PgError> {
    let mut numbers = vec![NONE; names.len()];
    for row in client.query(include_str!("sql/series_ids.sql"), &[&names]).await? {
        let place: i64 = row.get(0);
        if let Some(number) = usize::try_from(place - 1).ok().and_then(|at| numbers.get_mut(at)) {
            *number = row.get(1);
        }
    }
    Ok(numbers)
}
