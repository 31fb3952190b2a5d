//! A partition's dense numbers of series to the numbers of the database.

use super::{PartCommit, PgError, PgStore};
use crate::place_sums::{NONE as NO_PLACE, PLACES_OF_SERIES};
use schemas::{Name, SeriesIndex, SeriesInfo};
use std::pin::pin;
use tokio_postgres::Client;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

/// Series per statement: their names fill a few megabytes.
const AT_ONCE: usize = 20_000;

/// How often names are looked up and written where other processes write the same ones.
const ATTEMPTS: usize = 4;

/// No series of the database has this number: it was not looked up yet.
const NONE: i32 = 0;

/// The database's number of a series that has one.
pub(super) fn id(ids: &[i32], series: SeriesIndex) -> Result<i32, PgError> {
    ids.get(series.at()).copied().filter(|id| *id != NONE).ok_or_else(|| {
        PgError::Refused(format!("a result is about series {}, which has no number", series.0))
    })
}

impl PgStore {
    /// A series of a partition is another one from here on: its number is looked up again.
    pub fn forget_number(&mut self, stage: &str, partition: i32, series: SeriesIndex) {
        let part = self.parts.get_mut(&(stage.to_string(), partition));
        if let Some(number) = part.and_then(|part| part.ids.get_mut(series.at())) {
            *number = NONE;
        }
    }

    /// Makes sure that every series of which rows will be written has a number: only those, so that the names of a machine that
    /// starts come over ten seconds, as its rows do, and hold up no commit for long. New ones are inserted before the
    /// transaction, each statement by itself: a name without signals does no harm, and no commit waits for another's. If it
    /// `divides`, series that the server refuses stay without a number.
    pub(super) async fn number_series(
        &mut self,
        stage: &str,
        parts: &[PartCommit<'_>],
        divides: bool,
    ) -> Result<(), PgError> {
        let keys: Vec<_> = parts.iter().map(|commit| (stage.to_string(), commit.partition)).collect();
        let mut new: Vec<(usize, usize)> = Vec::new();
        for (part, commit) in parts.iter().enumerate() {
            let partition = commit.partition;
            let kept = self.parts.get_mut(&keys[part]).ok_or(PgError::Fenced { partition })?;
            kept.ids.resize(commit.table.len().max(kept.ids.len()), NONE);
            kept.places.resize(kept.ids.len(), [NO_PLACE; PLACES_OF_SERIES]);
            new.extend(unnumbered(commit, &kept.ids).into_iter().map(|at| (part, at)));
        }
        let client = self.client.as_ref().ok_or_else(|| PgError::retry("the connection is closed"))?;
        for new in new.chunks(AT_ONCE) {
            let series: Vec<&SeriesInfo> = new.iter().map(|(part, at)| &parts[*part].table[*at]).collect();
            let given = match divides {
                false => numbers(client, &series).await?,
                true => numbers_divided(client, &series).await?,
            };
            for ((part, at), number) in new.iter().zip(given).filter(|(_, number)| *number != NONE) {
                if let Some(kept) = self.parts.get_mut(&keys[*part]) {
                    kept.ids[*at] = number;
                    kept.places[*at] = self.sums.places_of(&parts[*part].table[*at]);
                }
            }
        }
        Ok(())
    }
}

/// The series of a commit's rows that have no number yet, each once.
fn unnumbered(commit: &PartCommit<'_>, ids: &[i32]) -> Vec<usize> {
    let signals = commit.stored.signals.iter().map(|stored| stored.signal.series);
    let stored = commit.stored;
    let tiers = [&stored.buckets, &stored.minutes, &stored.hours];
    let buckets = tiers.into_iter().flatten().map(|bucket| bucket.series);
    let episodes = commit.results.episodes.iter().map(|episode| episode.series);
    let of_jobs = commit.results.job_series.iter().map(|(_, series)| *series);
    let written = signals.chain(buckets).chain(episodes).chain(of_jobs).map(SeriesIndex::at);
    let mut new: Vec<usize> = written.filter(|at| ids.get(*at) == Some(&NONE)).collect();
    new.sort_unstable();
    new.dedup();
    new
}

/// The numbers of `series`; those that are new to the database get one now. Another process may have numbered the same
/// names at the same time: then these are looked up again.
async fn numbers(client: &Client, series: &[&SeriesInfo]) -> Result<Vec<i32>, PgError> {
    let names: Vec<String> = series.iter().map(|info| info.name()).collect();
    for _ in 0..ATTEMPTS {
        let mut numbers = look_up(client, &names).await?;
        let mut new: Vec<usize> = (0..series.len()).filter(|at| numbers[*at] == NONE).collect();
        // All writers use one order, so that they cannot deadlock. The indices are filled in their order.
        new.sort_unstable_by(|a, b| names[*a].cmp(&names[*b]));
        new.dedup_by(|a, b| names[*a] == names[*b]);
        if new.is_empty() {
            return Ok(numbers);
        }
        match put(client, &new, &names, series).await? {
            Some(given) if given.len() == numbers.iter().filter(|number| **number == NONE).count() => {
                new.iter().zip(given).for_each(|(at, number)| numbers[*at] = number);
                return Ok(numbers);
            }
            _ => {}
        }
    }
    Err(PgError::retry("other processes keep numbering and deleting the same series"))
}

/// The same with [`NONE`] for series that the server refuses.
async fn numbers_divided(client: &Client, series: &[&SeriesInfo]) -> Result<Vec<i32>, PgError> {
    let (mut found, mut left) = (Vec::with_capacity(series.len()), vec![series]);
    while let Some(series) = left.pop() {
        match numbers(client, series).await {
            Ok(numbers) => found.extend(numbers),
            Err(PgError::Refused(_)) if series.len() > 1 => {
                let (first, second) = series.split_at(series.len() / 2);
                left.extend([second, first]);
            }
            Err(PgError::Refused(_)) => found.push(NONE),
            Err(other) => return Err(other),
        }
    }
    Ok(found)
}

/// Writes the series at the places `new` and returns their numbers; `None` if one of them is there meanwhile. COPY into the
/// table takes half as long as statements that pass over what is there.
async fn put(
    client: &Client,
    new: &[usize],
    names: &[String],
    series: &[&SeriesInfo],
) -> Result<Option<Vec<i32>>, PgError> {
    let rows =
        client.query(include_str!("../../sql/postgres/next_series.sql"), &[&(new.len() as i64)]).await?;
    let numbers: Vec<i32> = rows.iter().map(|row| row.get(0)).collect();
    let sink = client.copy_in(include_str!("../../sql/postgres/copy_series.sql")).await?;
    let mut writer =
        pin!(BinaryCopyInWriter::new(sink, &[Type::INT4, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT]));
    for (at, number) in new.iter().zip(&numbers) {
        let info = series[*at];
        let (metric, component) = (info.metric.name(), info.component.as_str());
        let part = info.part.as_ref().map(Name::as_str);
        writer.as_mut().write(&[number, &names[*at], &metric, &component, &part]).await?;
    }
    match writer.as_mut().finish().await {
        Ok(_) => Ok(Some(numbers)),
        Err(e) if e.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// The number of each name, [`NONE`] for a name that the database does not know.
async fn look_up(client: &Client, names: &[String]) -> Result<Vec<i32>, PgError> {
    let mut numbers = vec![NONE; names.len()];
    for row in client.query(include_str!("../../sql/postgres/series_ids.sql"), &[&names]).await? {
        let place: i64 = row.get(0);
        if let Some(number) = usize::try_from(place - 1).ok().and_then(|at| numbers.get_mut(at)) {
            *number = row.get(1);
        }
    }
    Ok(numbers)
}
