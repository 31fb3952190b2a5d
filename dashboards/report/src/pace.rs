//! Whether a job was slow without contention: its own pace beside that of earlier runs.

use crate::PostMortem;
use schemas::JobProgress;
use serde::Serialize;

/// Earlier runs from which on a pace is compared, and reports of them that are read.
const RUNS_LEAST: usize = 3;
pub(crate) const REPORTS_READ: u32 = 100;
/// A pace below this part of the usual one is slow.
const SLOW: f64 = 0.95;

/// The pace of a job without contention, over that of earlier runs of its configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Pace {
    /// What it counts.
    pub(crate) name: String,
    /// Over the median of the earlier runs.
    pub(crate) ratio: f64,
    /// The slowest and the fastest of them, over their median.
    pub(crate) usual: [f64; 2],
    /// How many they are.
    pub(crate) runs: usize,
}

impl Pace {
    /// Whether it is slower than each of the earlier runs, and by more than rounding.
    pub(crate) fn is_slow(&self) -> bool {
        self.ratio < SLOW && self.ratio < self.usual[0]
    }
}

/// One for each count of the job that enough earlier runs have, too.
pub(crate) fn paces(facts: &PostMortem) -> Vec<Pace> {
    let progress = facts.result.iter().flat_map(|result| &result.progress);
    progress.filter_map(|of| pace(of, &facts.earlier_paces)).collect()
}

fn pace(of: &JobProgress, earlier: &[(String, f64)]) -> Option<Pace> {
    let own = of.per_s?;
    let named = earlier.iter().filter(|(name, _)| name == of.name.as_str());
    let mut known: Vec<f64> = named.map(|(_, per_s)| *per_s).collect();
    known.sort_by(f64::total_cmp);
    let (slowest, fastest) = (*known.first()?, *known.last()?);
    let median = (known[(known.len() - 1) / 2] + known[known.len() / 2]) / 2.0;
    (known.len() >= RUNS_LEAST).then(|| Pace {
        name: of.name.to_string(),
        ratio: own / median,
        usual: [slowest, fastest].map(|per_s| per_s / median),
        runs: known.len(),
    })
}
