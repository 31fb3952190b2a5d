//! Reading an episode's facts. On a server it takes the rights of a reader: episodes name others' jobs.

use super::{AROUND_S, number};
use crate::{Explanation, ReportError, Source};
use store::read::{ReadError, Reader, episodes, regions};

impl Source {
    /// Why the stretch of this episode was called contended. `episode` is its number, in a database `partition:number`, or
    /// the id of the page's address.
    ///
    /// # Errors
    /// When the text is no number, the store cannot be read, or does not have the episode.
    pub fn explanation(&self, episode: &str) -> Result<Explanation, ReportError> {
        let (partition, id) = number::parse(episode)?;
        let found = self.read(&format!("episode {id}"), |from| facts(from, partition, id))?;
        found.ok_or_else(|| match self {
            Source::Store(path) => ReportError::UnknownEpisode { path: path.clone(), id },
            Source::Server(_) => ReportError::UnknownEpisodeOfPartition { partition, id },
        })
    }
}

impl Explanation {
    /// The same within a transaction of the caller; `None` where there is no such episode.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(from: &Reader<'_>, partition: i32, id: i64) -> Result<Option<Explanation>, ReadError> {
        facts(from, partition, id)
    }
}

fn facts(from: &Reader<'_>, partition: i32, id: i64) -> Result<Option<Explanation>, ReadError> {
    let Some(stored) = episodes::by_number(from, partition, id)? else {
        return Ok(None);
    };
    let (first, last) = (stored.start - AROUND_S, stored.start + AROUND_S);
    Ok(Some(Explanation {
        episode: match from {
            Reader::Sqlite(_) => id.to_string(),
            Reader::Postgres(_) => format!("{partition}:{id}"),
        },
        samples: episodes::samples(from, stored.series_id, first, last)?,
        region: regions::of_series(from, &stored.series, stored.start, stored.end)?,
        silences: episodes::silences(from, &stored)?,
        series: stored.series,
        metric: stored.metric,
        start: stored.start,
        end: stored.end,
        open: stored.open,
        peak: stored.peak,
        baseline: stored.baseline,
        slowdown_s: stored.slowdown_s,
        slowdown_lo_s: stored.slowdown_lo_s,
        slowdown_hi_s: stored.slowdown_hi_s,
        completeness: stored.completeness,
        causes: stored.causes,
    }))
}
