//! The truth suite: random scenarios whose losses are known exactly, and how far Tailback's results are from them.
//!
//! The physics shares bandwidth by demand and knows nothing of models, baselines or windows. Odd seeds are for tuning;
//! even seeds are the held-out half, which no parameter may be chosen by.
//!
//! | module | what it holds |
//! |---|---|
//! | [`goals`] | `truth.toml`: the kinds, what they are about, and the goals |
//! | [`kinds`] | a scenario of a kind, from its seed |
//! | [`scenario`] | file systems, jobs, and which rows are missing |
//! | [`physics`] | what the jobs move, and what each lost to whom |
//! | `reported` | what jobs report of their steps |
//! | `servers` | what servers count by job |
//! | `variation` | noise |
//! | [`play`] | a scenario through all stages |
//! | [`score`] | results against the truth, by kind |
//! | [`table`] | scores beside goals |
//! | [`network`] | the same of networks: jobs on links |

pub mod goals;
pub mod kinds;
pub mod network;
pub mod physics;
pub mod play;
mod reported;
pub mod scenario;
pub mod score;
mod servers;
pub mod table;
#[cfg(test)]
mod tests;
mod variation;

use goals::Kind;
use samplers::parallel::at_once;
use score::{CaseScore, KindScore};

/// Which half of the seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Odd seeds: parameters are tuned on them.
    Tuning,
    /// Even seeds: what is reported.
    HeldOut,
}

impl Half {
    /// The first `count` seeds of this half.
    pub fn seeds(self, count: u32) -> impl Iterator<Item = u64> {
        let first = match self {
            Half::Tuning => 1,
            Half::HeldOut => 2,
        };
        (0..u64::from(count)).map(move |number| first + 2 * number)
    }
}

/// Plays the first `count` seeds of each kind, which may differ by kind, several at a time; `done` is called after each.
///
/// # Errors
/// A kind without a generator, or a scenario with a name that is none.
pub fn scores(
    kinds: &[Kind],
    half: Half,
    count: impl Fn(&Kind) -> u32,
    threads: Option<u16>,
    done: &(dyn Fn() + Sync),
) -> anyhow::Result<Vec<KindScore>> {
    let cases: Vec<(&Kind, u64)> =
        kinds.iter().flat_map(|kind| half.seeds(count(kind)).map(move |seed| (kind, seed))).collect();
    let scored = at_once(threads, &cases, |(kind, seed)| {
        let score = score_of(&kind.name, *seed)?;
        done();
        anyhow::Ok(score)
    });
    let mut scored = scored.into_iter();
    kinds
        .iter()
        .map(|kind| {
            let cases = scored.by_ref().take(count(kind) as usize).collect::<anyhow::Result<_>>()?;
            Ok(KindScore::of(kind, cases))
        })
        .collect()
}

/// Plays the scenario of a kind and seed.
fn score_of(kind: &str, seed: u64) -> anyhow::Result<CaseScore> {
    if let Some(scenario) = network::draw::scenario(kind, seed)? {
        return Ok(CaseScore::of_network(seed, &scenario, &network::play::play(&scenario)?));
    }
    let scenario = kinds::scenario(kind, seed)?;
    Ok(CaseScore::of(seed, &scenario, &play::play(&scenario)?))
}
