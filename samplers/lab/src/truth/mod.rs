//! The truth suite: random scenarios whose losses are known exactly, and how far Tailback's results are from them.
//!
//! The physics shares bandwidth by demand and knows nothing of models, baselines or windows. Odd seeds are for tuning;
//! even seeds are the held-out half, which no parameter may be chosen by.
//!
//! | module | what it holds |
//! |---|---|
//! | [`goals`] | `truth.toml`: the kinds, what they are about, and the goals |
//! | [`kinds`] | a scenario of a kind, from its seed |
//! | [`physics`] | file systems, jobs, and what each lost to whom |
//! | [`play`] | a scenario through all stages |
//! | [`score`] | results against the truth, by kind |
//! | [`table`] | scores beside goals |

pub mod goals;
pub mod kinds;
pub mod physics;
pub mod play;
pub mod score;
pub mod table;
#[cfg(test)]
mod tests;

use crate::run::at_once;
use goals::Kind;
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

/// Plays the first `count` seeds of each kind, several at a time; `done` is called after each.
///
/// # Errors
/// A kind without a generator, or a scenario with a name that is none.
pub fn scores(
    kinds: &[Kind],
    half: Half,
    count: u32,
    threads: Option<u16>,
    done: &(dyn Fn() + Sync),
) -> anyhow::Result<Vec<KindScore>> {
    let cases: Vec<(&Kind, u64)> =
        kinds.iter().flat_map(|kind| half.seeds(count).map(move |seed| (kind, seed))).collect();
    let scored = at_once(threads, &cases, |(kind, seed)| {
        let scenario = kinds::scenario(&kind.name, *seed)?;
        let score = CaseScore::of(*seed, &scenario, &play::play(&scenario)?);
        done();
        anyhow::Ok(score)
    });
    let mut scored = scored.into_iter();
    kinds
        .iter()
        .map(|kind| {
            let cases = scored.by_ref().take(count as usize).collect::<anyhow::Result<_>>()?;
            Ok(KindScore::of(kind, cases))
        })
        .collect()
}
