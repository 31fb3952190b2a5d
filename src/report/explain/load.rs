//! Reading an episode's facts. On a server it takes the rights of a reader: episodes name others' jobs.

use super::super::source::Source;
use super::facts::{AROUND_S, Explained};
use anyhow::{Result, anyhow};
use store::read::{Reader, episodes, regions};

/// The facts of the episode `id` of a partition; the embedded store has one partition.
pub(super) fn load(source: &Source<'_>, partition: i32, id: i64) -> Result<Explained> {
    let found = source.read(&format!("episode {id}"), |from| facts(from, partition, id))?;
    let unknown = || match source {
        Source::Store(path) => anyhow!("{}: episode {id} is not known", path.display()),
        Source::Server(_) => anyhow!("episode {partition}:{id} is not known"),
    };
    found.ok_or_else(unknown)
}

fn facts(from: &Reader<'_>, partition: i32, id: i64) -> Result<Option<Explained>> {
    let Some(stored) = episodes::by_number(from, partition, id)? else {
        return Ok(None);
    };
    let (first, last) = (stored.start - AROUND_S, stored.start + AROUND_S);
    Ok(Some(Explained {
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
