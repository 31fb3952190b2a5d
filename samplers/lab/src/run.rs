//! Plays experiments, several cases at a time, and judges what came out.

use super::adapting::Play;
use super::builtin;
use super::case::setup;
use super::experiment::{Case, Experiment};
use super::facts::Facts;
use super::measure::Measure;
use super::outcome::{CaseOutcome, Outcome};
use super::play;
use anyhow::Context;
use samplers::parallel::at_once;
use std::path::Path;

/// Which experiments, and which of their seeds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice {
    /// Only those of the quick subset.
    pub quick: bool,
    /// Replaces the seeds of all cases.
    pub seed: Option<u64>,
    /// Number of seeds of cases that are played with several.
    pub seeds: Option<u32>,
    /// Of these the odd ones, which parameters are chosen by.
    pub tuning: bool,
}

/// Built-in experiments by name, or those in files; all built-in ones without any.
///
/// # Errors
/// An experiment that cannot be read, or none that belongs to the quick subset.
pub fn chosen(names: &[String], choice: Choice) -> anyhow::Result<Vec<(String, Experiment)>> {
    let mut found = match names {
        [] => builtin::all()?,
        names => names.iter().map(|name| named(name)).collect::<anyhow::Result<_>>()?,
    };
    found.retain(|(_, experiment)| experiment.quick || !choice.quick);
    for (_, experiment) in &mut found {
        experiment.seed = choice.seed.unwrap_or(experiment.seed);
        for case in &mut experiment.cases {
            case.seed = choice.seed.or(case.seed);
            if let Some(system) = &mut case.file_system {
                system.seeds = choice.seeds.unwrap_or(system.seeds);
                system.tuning |= choice.tuning;
            }
        }
    }
    anyhow::ensure!(!found.is_empty(), "none of these experiments belongs to the quick subset");
    Ok(found)
}

/// A built-in experiment, or the one in a file.
pub(super) fn named(name: &str) -> anyhow::Result<(String, Experiment)> {
    let path = Path::new(name);
    if path.extension().is_none() && !path.exists() {
        return builtin::named(name);
    }
    let text =
        std::fs::read_to_string(path).with_context(|| format!("the experiment {name} cannot be read"))?;
    let stem = path.file_stem().map_or_else(|| name.to_string(), |stem| stem.to_string_lossy().into_owned());
    Ok((stem, Experiment::parse(name, &text)?))
}

/// All cases of all experiments.
pub struct Work<'e> {
    experiments: &'e [(String, Experiment)],
    /// Index of the experiment, case, whether it must be played; the longest first.
    cases: Vec<(usize, &'e Case, bool)>,
}

impl<'e> Work<'e> {
    /// Of these experiments; nothing is played yet.
    pub fn of(experiments: &'e [(String, Experiment)]) -> Work<'e> {
        let of_one = |(at, (_, experiment)): (usize, &'e (String, Experiment))| {
            experiment.cases.iter().map(move |case| (at, case, must_be_played(experiment, case)))
        };
        Work { experiments, cases: experiments.iter().enumerate().flat_map(of_one).collect() }
    }

    fn seconds_of(&self, (at, case, played): &(usize, &Case, bool)) -> u64 {
        let seeds = case.file_system.filter(|_| case.seed.is_none()).map_or(1, |system| system.seeds);
        let seconds = u64::from(seconds_of(&self.experiments[*at].1, case)) * u64::from(seeds);
        if *played { seconds } else { 1 }
    }

    /// Seconds that will be played.
    pub fn seconds(&self) -> u64 {
        self.cases.iter().map(|case| self.seconds_of(case)).sum()
    }

    /// Plays so many cases at a time, as many as there are processors without a number; calls `second` after each second.
    /// What came of each experiment.
    pub fn outcomes(&self, threads: Option<u16>, second: &(dyn Fn() + Sync)) -> Vec<anyhow::Result<Outcome>> {
        let played = self.experiments.iter().zip(self.play(threads, second));
        let outcome =
            |((name, experiment), facts): (&(String, Experiment), anyhow::Result<Vec<Facts<'e>>>)| {
                Ok(judge(name, experiment, facts.with_context(|| format!("experiment {name}"))?))
            };
        played.map(outcome).collect()
    }

    /// What came of them, by experiment; the first error of each stands for all of it.
    fn play(&self, threads: Option<u16>, second: &(dyn Fn() + Sync)) -> Vec<anyhow::Result<Vec<Facts<'e>>>> {
        let played = at_once(threads, &self.cases, |(at, case, played)| {
            let facts = facts(&self.experiments[*at].1, case, *played, second);
            facts.with_context(|| format!("case {}", case.name))
        });
        let mut played = played.into_iter();
        let of_one = |(_, experiment): &(String, Experiment)| {
            played.by_ref().take(experiment.cases.len()).collect::<anyhow::Result<_>>()
        };
        self.experiments.iter().map(of_one).collect()
    }
}

fn seconds_of(experiment: &Experiment, case: &Case) -> u32 {
    case.seconds.unwrap_or(experiment.seconds)
}

/// Without expectations there is nothing but what is played.
fn must_be_played(experiment: &Experiment, case: &Case) -> bool {
    let asked = || experiment.expectations.iter().flat_map(|expectation| expectation.measures());
    if case.file_system.is_some() {
        return true;
    }
    let of_case = || asked().filter(|measure| measure.case == case.name);
    case.has_network() && (of_case().next().is_none() || of_case().any(Measure::is_played))
}

fn facts<'e>(
    experiment: &'e Experiment,
    case: &'e Case,
    played: bool,
    second: &(dyn Fn() + Sync),
) -> anyhow::Result<Facts<'e>> {
    let seed = case.seed.unwrap_or(experiment.seed);
    let mut facts = Facts {
        case,
        setup: None,
        played: None,
        adapted: None,
        seed,
        specs: experiment.jobs_of(case).collect(),
    };
    if let Some(system) = &case.file_system {
        let (writers, seconds) = (experiment.writers_of(case).collect(), seconds_of(experiment, case));
        facts.adapted = Some(Play { system, writers, seconds, seed: case.seed }.run(second)?);
    } else if let Some(spec) = case.ior {
        facts.played = Some(play::ior(case, spec, seed, second)?);
    } else if case.has_network() {
        let setup = setup(experiment, case)?;
        if played {
            let seconds = seconds_of(experiment, case);
            facts.played = Some(play::network(case, &setup, seconds, second)?);
        }
        facts.setup = Some(setup);
    }
    Ok(facts)
}

fn judge(name: &str, experiment: &Experiment, facts: Vec<Facts<'_>>) -> Outcome {
    let measured = |measure: &Measure| {
        let of_case = facts.iter().find(|facts| facts.case.name == measure.case);
        of_case.context("there is no such case")?.measure(measure)
    };
    let judged = experiment.expectations.iter().map(|expectation| {
        let judged = expectation.judge(measured);
        judged.unwrap_or_else(|error| expectation.failed(&error))
    });
    let judged = judged.collect();
    let case = |facts: Facts<'_>| CaseOutcome {
        name: facts.case.name.clone(),
        played: facts.played,
        adapted: facts.adapted,
    };
    Outcome::of(name, experiment, facts.into_iter().map(case).collect(), judged)
}
