//! Results against the truth.

use super::goals::Kind;
use super::play::{JobPlayed, Played};
use super::scenario::Scenario;
use crate::calibration::{Calibration, EDGE_S};
use serde::Serialize;

/// A job that lost at least so many seconds is a victim.
pub(super) const VICTIM_S: f64 = 5.0;
/// A job that lost less lost nothing.
pub(super) const NOTHING_S: f64 = 0.5;
/// Share of a loss from which a named job counts as blamed, and a true one as the culprit.
const BLAMED: f64 = 0.2;
/// Misses from which it shows whether they are on one side.
const MISSES_LEAST: usize = 4;
/// Share of the truth below which a job that is named took nothing.
pub(super) const INNOCENT: f64 = 0.02;

/// Scores of one scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CaseScore {
    /// Its seed.
    pub seed: u64,
    /// Victims among its subjects.
    pub victims: Vec<Victim>,
    /// Jobs that lost nothing, and those of them that are charged surely.
    pub unharmed: u32,
    /// See `unharmed`.
    pub charged: u32,
    /// Whether a job is surely blamed that took nothing.
    pub innocent_blamed: bool,
    /// Seconds in episodes, and seconds of all series.
    pub flagged_s: f64,
    /// See `flagged_s`.
    pub series_s: f64,
    /// Regions reported, and those on whose links no flow was slowed.
    pub regions: u32,
    /// See `regions`.
    pub false_regions: u32,
    /// Whether the largest region has the cause and kind that it was made to have; `None` where it was made to have none.
    pub verdict: Option<bool>,
}

/// A victim: the truth and the report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Victim {
    /// Its number.
    pub job_id: u64,
    /// What it lost, in seconds.
    pub truth_s: f64,
    /// What is reported: estimate, lower and upper end.
    pub found_s: [f64; 3],
    /// Whether the first cause is the true one; `None` where nothing is claimed.
    pub culprit: Option<bool>,
    /// What is named as causes, and their shares.
    pub causes: Vec<(String, f64)>,
    /// Whether a loss is reported.
    pub is_reported: bool,
    /// Seconds from the onset to the first report; `None` without a report, and for a loss that is too small in any second to have an
    /// onset.
    pub onset_s: Option<f64>,
}

impl Victim {
    /// Whether the interval holds the truth.
    pub fn is_covered(&self) -> bool {
        let [_, lo, hi] = self.found_s;
        (lo - EDGE_S..=hi + EDGE_S).contains(&self.truth_s)
    }

    /// Whether the report is that it lost next to nothing, for sure.
    pub fn is_missed(&self) -> bool {
        self.found_s[2] < 0.2 * self.truth_s
    }
}

impl CaseScore {
    /// Of a scenario that was played.
    pub fn of(seed: u64, scenario: &Scenario, played: &Played) -> CaseScore {
        let mut score = CaseScore {
            seed,
            flagged_s: played.flagged_s,
            series_s: played.series_s,
            ..CaseScore::default()
        };
        for (job, of) in scenario.jobs.iter().zip(&played.jobs) {
            let truth_s = of.lost.all_s();
            let is_subject = scenario.subjects.is_empty() || scenario.subjects.contains(&job.id);
            if truth_s >= VICTIM_S && is_subject {
                score.victims.push(victim(job.id, of));
            }
            if truth_s < NOTHING_S {
                score.unharmed += 1;
                let is_charged = of.result.as_ref().is_some_and(|result| result.slowdown_lo_s > EDGE_S);
                score.charged += u32::from(is_charged);
            }
            score.innocent_blamed |= blames_an_innocent(of);
        }
        score
    }
}

fn victim(job_id: u64, of: &JobPlayed) -> Victim {
    let found_s = of
        .result
        .as_ref()
        .map_or([0.0; 3], |result| [result.slowdown_s, result.slowdown_lo_s, result.slowdown_hi_s]);
    let onset_s = of.reported_s.zip(of.lost.onset_s).map(|(reported, onset)| reported - onset);
    let causes = named_causes(of.result.as_ref());
    let is_reported = found_s[0] > 0.0;
    Victim { job_id, truth_s: of.lost.all_s(), found_s, culprit: culprit(of), causes, is_reported, onset_s }
}

/// The true cause as `causes` names it, and its seconds: the number of a job, or `server` or `node`.
fn true_causes(of: &JobPlayed) -> Vec<(String, f64)> {
    let jobs = of.lost.to_jobs.iter().map(|(job, lost_s)| (job.to_string(), *lost_s));
    let others = [("server".to_string(), of.lost.to_server_s), ("node".to_string(), of.lost.to_node_s)];
    jobs.chain(others).collect()
}

/// What a result names as causes, and their shares.
pub(super) fn named_causes(result: Option<&schemas::JobResult>) -> Vec<(String, f64)> {
    let causes = result.into_iter().flat_map(|result| &result.causes);
    causes.map(|cause| (named(cause), cause.share)).collect()
}

/// The words of a cause: the job, or else what it is.
fn named(cause: &schemas::CauseShare) -> String {
    match cause.cause {
        schemas::Cause::OtherJob => cause.series_or_job.clone(),
        other => other.name().to_string(),
    }
}

/// Whether the first cause is one that took nearly as much as the largest.
fn culprit(of: &JobPlayed) -> Option<bool> {
    let result = of.result.as_ref().filter(|result| result.slowdown_s >= 1.0)?;
    let causes = true_causes(of);
    let most_s = causes.iter().map(|(_, lost_s)| *lost_s).fold(0.0, f64::max);
    let Some(first) = result.causes.first() else { return Some(false) };
    let took_s =
        causes.iter().filter(|(name, _)| *name == named(first)).map(|(_, lost_s)| *lost_s).sum::<f64>();
    Some(took_s >= 0.7 * most_s)
}

fn blames_an_innocent(of: &JobPlayed) -> bool {
    let Some(result) = of.result.as_ref().filter(|result| result.slowdown_lo_s > EDGE_S) else {
        return false;
    };
    let causes = true_causes(of);
    let all_s = of.lost.all_s().max(NOTHING_S);
    let took_s =
        |name: &str| causes.iter().filter(|(of, _)| of == name).map(|(_, lost_s)| *lost_s).sum::<f64>();
    result.causes.iter().filter(|cause| cause.cause == schemas::Cause::OtherJob).any(|cause| {
        cause.share >= BLAMED
            && cause.share * result.slowdown_s > 1.0
            && took_s(&cause.series_or_job) < INNOCENT * all_s
    })
}

/// Scores of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KindScore {
    /// Its name.
    pub kind: String,
    /// Scenarios.
    pub cases: usize,
    /// Victims in them.
    pub victims: usize,
    /// Sum of errors over sum of truths.
    pub error: Option<f64>,
    /// How many of their intervals hold the truth, by what is said.
    pub calibration: Calibration,
    /// Share of victims whose interval holds the truth.
    pub coverage: Option<f64>,
    /// Median width of the interval, as a share of the truth.
    pub width: Option<f64>,
    /// Share of the misses of intervals on the side with more of them; 0 where there are fewer than 4.
    pub one_side: f64,
    /// Share of victims of which no loss is ever reported.
    pub never: Option<f64>,
    /// Share of scenarios whose largest region has the cause and kind that it was made to have.
    pub verdict: Option<f64>,
    /// Share of regions on whose links no flow was slowed; 0 without any.
    pub false_regions: f64,
    /// Share of victims of which nothing is reported.
    pub missed: Option<f64>,
    /// Share of jobs without a loss that are charged.
    pub charged: Option<f64>,
    /// Share of scenarios that blame a job that took nothing.
    pub innocents: f64,
    /// Share of victims with a claim whose first cause is the true one.
    pub culprit: Option<f64>,
    /// Seconds in episodes per hour of a series; only where no job lost anything.
    pub false_s_per_hour: Option<f64>,
    /// Median seconds from the onset to the first report; a victim without one counts as late as can be.
    pub onset_s: Option<f64>,
    /// The scenarios.
    pub of_cases: Vec<CaseScore>,
}

impl KindScore {
    /// Of the scenarios of a kind.
    pub fn of(kind: &Kind, cases: Vec<CaseScore>) -> KindScore {
        let victims: Vec<&Victim> = cases.iter().flat_map(|case| &case.victims).collect();
        let share = |which: &dyn Fn(&Victim) -> bool| {
            ratio(victims.iter().filter(|v| which(v)).count(), victims.len())
        };
        let truth_s: f64 = victims.iter().map(|v| v.truth_s).sum();
        let off_s: f64 = victims.iter().map(|v| (v.found_s[0] - v.truth_s).abs()).sum();
        let claims: Vec<bool> = victims.iter().filter_map(|v| v.culprit).collect();
        let sum = |of: &dyn Fn(&CaseScore) -> f64| cases.iter().map(of).fold(0.0, |sum, of| sum + of);
        let unharmed: u32 = cases.iter().map(|case| case.unharmed).sum();
        let mut calibration = Calibration::default();
        victims.iter().for_each(|victim| calibration.add(victim.truth_s, victim.found_s));
        KindScore {
            kind: kind.name.clone(),
            cases: cases.len(),
            victims: victims.len(),
            error: (truth_s > 0.0).then(|| off_s / truth_s),
            calibration,
            coverage: share(&|v| v.is_covered()),
            width: median(victims.iter().map(|v| (v.found_s[2] - v.found_s[1]) / v.truth_s)),
            one_side: one_side(&victims),
            never: share(&|v| !v.is_reported),
            verdict: ratio(
                cases.iter().filter(|case| case.verdict == Some(true)).count(),
                cases.iter().filter(|case| case.verdict.is_some()).count(),
            ),
            false_regions: sum(&|case| f64::from(case.false_regions))
                / sum(&|case| f64::from(case.regions)).max(1.0),
            missed: share(&|v| v.is_missed()),
            charged: ratio(cases.iter().map(|case| case.charged as usize).sum(), unharmed as usize),
            innocents: sum(&|case| f64::from(u8::from(case.innocent_blamed))) / cases.len().max(1) as f64,
            culprit: ratio(claims.iter().filter(|named| **named).count(), claims.len()),
            false_s_per_hour: (truth_s == 0.0)
                .then(|| 3_600.0 * sum(&|case| case.flagged_s) / sum(&|case| case.series_s))
                .filter(|false_s| false_s.is_finite()),
            onset_s: median(
                victims.iter().filter_map(|v| v.onset_s.or((!v.is_reported).then_some(f64::INFINITY))),
            ),
            of_cases: cases,
        }
    }
}

/// The part of the misses that are on the side with more of them.
fn one_side(victims: &[&Victim]) -> f64 {
    let missed = || victims.iter().filter(|victim| !victim.is_covered());
    let above = missed().filter(|victim| victim.truth_s > victim.found_s[0]).count();
    let all = missed().count();
    if all < MISSES_LEAST { 0.0 } else { above.max(all - above) as f64 / all as f64 }
}

fn ratio(part: usize, all: usize) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    (!values.is_empty()).then(|| values[values.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::super::goals::{Goal, Resource};
    use super::*;

    fn victim(truth_s: f64, found_s: [f64; 3]) -> Victim {
        Victim {
            truth_s,
            found_s,
            culprit: Some(true),
            is_reported: true,
            onset_s: Some(3.0),
            ..Victim::default()
        }
    }

    fn kind() -> Kind {
        Kind {
            name: "any".to_string(),
            about: "any".to_string(),
            on: Resource::FileSystem,
            goal: Goal::default(),
            reason: None,
            oracle: None,
            seeds: None,
        }
    }

    #[test]
    fn error_is_of_the_sums_and_an_interval_has_half_a_second_to_spare() {
        let victims = vec![victim(100.0, [90.0, 80.0, 99.6]), victim(20.0, [0.0, 0.0, 3.0])];
        let case = CaseScore { victims, ..CaseScore::default() };
        let score = KindScore::of(&kind(), vec![case]);
        assert_eq!((score.error, score.coverage, score.missed), (Some(0.25), Some(0.5), Some(0.5)));
    }

    #[test]
    fn a_victim_that_is_never_reported_is_the_latest() {
        let mut late = victim(9.0, [9.0, 8.0, 10.0]);
        (late.is_reported, late.onset_s) = (false, None);
        let case = CaseScore { victims: vec![late], ..CaseScore::default() };
        assert_eq!(KindScore::of(&kind(), vec![case]).onset_s, Some(f64::INFINITY));
    }
}
