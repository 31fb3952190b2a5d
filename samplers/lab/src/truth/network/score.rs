//! Results on a network against the truth.

use super::super::score::{CaseScore, INNOCENT, NOTHING_S, VICTIM_S, Victim, named_causes};
use super::play::{JobPlayed, Played};
use super::world::Scenario;
use crate::calibration::EDGE_S;
use schemas::{Cause, CauseShare, JobResult, Region};

/// Share of its work that a job loses at most to have lost nothing.
const NOTHING: f64 = 0.01;
/// Share of a result from which a named job counts as blamed.
const BLAMED: f64 = 0.2;

impl CaseScore {
    /// Of a scenario on a network that was played.
    pub fn of_network(seed: u64, scenario: &Scenario, played: &Played) -> CaseScore {
        let mut score = CaseScore { seed, flagged_s: played.flagged_s, ..CaseScore::default() };
        for (job, of) in scenario.jobs.iter().zip(&played.jobs) {
            let truth_s = of.lost.all_s();
            let is_subject = scenario.subjects.is_empty() || scenario.subjects.contains(&job.job_id);
            if truth_s >= VICTIM_S && is_subject {
                score.victims.push(victim(job.job_id, of));
            }
            // Queues cost a little at any load.
            if truth_s < NOTHING_S.max(NOTHING * job.work_s) {
                score.unharmed += 1;
                score.charged += u32::from(found_s(of.result.as_ref())[1] > truth_s + EDGE_S);
            }
            score.innocent_blamed |= blames_an_innocent(of);
        }
        score.regions = played.regions.len() as u32;
        score.false_regions = played.regions.iter().filter(|(_, is_true)| !is_true).count() as u32;
        score.verdict = scenario.verdict.map(|(cause, kind)| {
            let largest = played
                .regions
                .iter()
                .map(|(region, _)| region)
                .max_by(|a, b| lost_s(a).total_cmp(&lost_s(b)));
            largest.is_some_and(|region| region.cause == cause && kind.is_none_or(|kind| region.kind == kind))
        });
        score
    }
}

fn lost_s(region: &Region) -> f64 {
    region.victims.iter().map(|victim| victim.lost_s.value).sum()
}

/// What is reported as lost to others and to failures: estimate, lower and upper end.
fn found_s(result: Option<&JobResult>) -> [f64; 3] {
    let Some(result) = result else { return [0.0; 3] };
    let own = result.causes.iter().filter(|cause| cause.cause == Cause::SelfInflicted);
    let others = (1.0 - own.map(|cause| cause.share).sum::<f64>()).max(0.0);
    [result.slowdown_s * others, result.slowdown_lo_s * others, result.slowdown_hi_s]
}

fn victim(job_id: u64, of: &JobPlayed) -> Victim {
    let onset_s = of.reported_s.zip(of.lost.onset_s).map(|(reported, onset)| reported - onset);
    let found_s = found_s(of.result.as_ref());
    Victim {
        job_id,
        truth_s: of.lost.all_s(),
        found_s,
        culprit: culprit(of),
        causes: named_causes(of.result.as_ref()),
        is_reported: found_s[0] > 0.0,
        onset_s,
    }
}

/// What a cause truly took, in seconds.
fn took_s(of: &JobPlayed, cause: &CauseShare) -> f64 {
    match cause.cause {
        Cause::FailoverInduced => of.lost.to_cables_s,
        Cause::OtherJob | Cause::IoOnMpi => of
            .lost
            .to_jobs
            .iter()
            .filter(|(job, _)| job.to_string() == cause.series_or_job)
            .map(|(_, s)| s)
            .sum(),
        _ => 0.0,
    }
}

/// Whether the first cause that is not the job itself took nearly as much as the largest.
fn culprit(of: &JobPlayed) -> Option<bool> {
    let result = of.result.as_ref().filter(|result| result.slowdown_s >= 1.0)?;
    let most_s = of.lost.to_jobs.values().copied().fold(of.lost.to_cables_s, f64::max);
    let first = result.causes.iter().find(|cause| cause.cause != Cause::SelfInflicted);
    Some(first.is_some_and(|cause| took_s(of, cause) >= 0.7 * most_s))
}

fn blames_an_innocent(of: &JobPlayed) -> bool {
    let Some(result) = of.result.as_ref().filter(|result| result.slowdown_lo_s > EDGE_S) else {
        return false;
    };
    let all_s = of.lost.all_s().max(NOTHING_S);
    result.causes.iter().filter(|cause| matches!(cause.cause, Cause::OtherJob | Cause::IoOnMpi)).any(
        |cause| {
            cause.share >= BLAMED
                && cause.share * result.slowdown_s > 1.0
                && took_s(of, cause) < INNOCENT * all_s
        },
    )
}
