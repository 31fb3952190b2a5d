//! Counts and sums over all series and jobs.

use crate::answer::ApiError;
use crate::map::MapCache;
use serde::Serialize;
use std::collections::BTreeMap;
use store::read::{self, Reader};

/// Counts and sums over all series, jobs and episodes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Totals {
    /// Clock of the store when they were read: of a large store up to ten seconds before that of the answer.
    pub at: Option<f64>,
    /// Number of series by state; states without series have 0.
    pub states: BTreeMap<&'static str, i64>,
    /// Number of series.
    pub series: i64,
    /// Series with a signal within the last 5 s.
    pub series_heard: i64,
    /// Links.
    pub links: PlaceTotals,
    /// Clients of file systems, by node and mount.
    pub clients: PlaceTotals,
    /// Seconds lost, summed over all series.
    pub series_slowdown_s: f64,
    /// Seconds lost, summed over all jobs with a result.
    pub jobs_slowdown_s: f64,
    /// Sum of the lower ends of the jobs' 95% intervals.
    pub jobs_slowdown_lo_s: f64,
    /// Sum of the upper ends.
    pub jobs_slowdown_hi_s: f64,
    /// Number of open episodes.
    pub open_episodes: i64,
    /// Share of series with a signal within the last 5 s; absent without series.
    pub completeness: Option<f64>,
}

/// Links or clients. One with several metrics counts once; a router as a whole counts only without series of its links.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PlaceTotals {
    /// All that are known.
    pub total: i64,
    /// Those with data.
    pub reporting: i64,
    /// Those of which at least one metric is contended.
    pub contended: i64,
}

/// Index of the first state in `totals.sql`, which has them in the order of [`schemas::State::ALL`].
const STATES_FROM: usize = 3;

/// Reads the totals.
///
/// # Errors
/// When the store cannot be read.
pub(crate) fn read_totals(store: &Reader<'_>, map: &MapCache) -> Result<Totals, ApiError> {
    let jobs: [f64; 3] = store
        .one(read::jobs::SLOWDOWN, &[], |row| Ok::<_, ApiError>([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    let [jobs_slowdown_s, jobs_slowdown_lo_s, jobs_slowdown_hi_s] = jobs;
    let open_episodes = store.one(read::episodes::OPEN_COUNT, &[], |row| row.get(0))?;
    let [links, clients] = map.latest(store)?.places();
    let at = store.clock()?;
    store.one(read::series::TOTALS, &[], |row| {
        let mut states = BTreeMap::new();
        for (place, state) in schemas::State::ALL.iter().enumerate() {
            states.insert(state.name(), row.get(STATES_FROM + place)?);
        }
        let (series, series_heard) = (row.get(0)?, row.get(1)?);
        Ok(Totals {
            at,
            states,
            series,
            series_heard,
            links,
            clients,
            series_slowdown_s: row.get(2)?,
            jobs_slowdown_s,
            jobs_slowdown_lo_s,
            jobs_slowdown_hi_s,
            open_episodes,
            completeness: (series > 0).then(|| series_heard as f64 / series as f64),
        })
    })
}
