//! From what is known of an incident to what a scheduler may do: one action of a closed list.

use super::subject::Subject;
use schemas::metric::file::LinkEnd;
use schemas::{Action, Advice, Cause, CauseKind, Interval, Metric, SufferingJob};
use std::collections::{BTreeMap, BTreeSet};

/// Links, nodes and jobs that an advice names.
const NAMED_MAX: usize = 256;
/// Relief from which one contended link beside idle ones is a link to take out.
const ONE_BAD_LINK: f64 = 0.6;

/// What could be done about `subject`, and the share of load or loss that it would take away, 0 to 1.
///
/// I/O in the way of messages, and contended writes: hold it back. Load that a failed path left to its survivors, or that
/// has idle links beside it: other paths; of a single link: take it out. Capacity: the job in its own way closer together,
/// jobs that share it apart. At an endpoint, or where nothing is known, nothing but more of it helps.
pub fn action(subject: &Subject) -> (Action, f64) {
    let share = subject.causes.iter().map(|(_, share)| share).sum::<f64>().clamp(0.0, 1.0);
    let other_paths = match subject.metric {
        Some(metric) if metric.measured_at() == Some(LinkEnd::Sender) => Action::RerouteLids,
        _ => Action::UseAltPath,
    };
    let is_network = subject.metric.is_some_and(Metric::is_link);
    match (subject.kind, subject.cause) {
        (_, Cause::IoOnMpi) => (Action::ThrottleIo, share),
        (_, Cause::OtherJob) if subject.metric.is_some_and(Metric::is_progress) => {
            (Action::ThrottleIo, share)
        }
        (CauseKind::Avoidable, Cause::Unknown) if subject.links == 1 && subject.relief >= ONE_BAD_LINK => {
            (Action::DrainLink, subject.relief)
        }
        (_, Cause::FailoverInduced) | (CauseKind::Avoidable, _) if is_network => {
            (other_paths, subject.relief)
        }
        (CauseKind::Capacity, Cause::SelfInflicted) => (Action::CompactPlacement, share),
        (CauseKind::Capacity | CauseKind::Avoidable, Cause::OtherJob) => (Action::SpreadPlacement, share),
        _ => (Action::NoneCapacity, 0.0),
    }
}

/// The advice of an incident with these members. `nodes_of` maps a switch or router to its nodes.
pub fn advice(members: &[&Subject], valid_until_s: f64, nodes_of: &BTreeMap<String, Vec<String>>) -> Advice {
    let worst =
        members.iter().max_by(|a, b| a.slowdown_s.by_lower_end(&b.slowdown_s).then(b.since.cmp(&a.since)));
    let (action, expected_relief) = worst.map_or((Action::NoneCapacity, 0.0), |worst| action(worst));
    let of_links = members.iter().filter(|m| !m.metric.is_some_and(Metric::is_progress));
    let mut links: Vec<String> = Vec::new();
    for name in of_links.flat_map(|member| &member.series) {
        if links.len() < NAMED_MAX && !links.contains(name) {
            links.push(name.clone());
        }
    }
    let component = |series: &String| series.split('/').nth(1).map(str::to_string);
    let components: BTreeSet<String> = links.iter().filter_map(component).collect();
    let nodes: BTreeSet<&String> = components.iter().filter_map(|c| nodes_of.get(c)).flatten().collect();
    Advice {
        valid_until_s,
        links,
        nodes: nodes.into_iter().take(NAMED_MAX).cloned().collect(),
        jobs: jobs(members),
        causes: causes(members),
        action,
        expected_relief: expected_relief.clamp(0.0, 1.0),
        confidence: worst.map_or(0.0, |worst| worst.confidence).clamp(0.0, 1.0),
    }
}

/// Jobs by the lower end of their loss, the largest first; of a job that several members name, the most it loses in one.
fn jobs(members: &[&Subject]) -> Vec<SufferingJob> {
    let mut lost: BTreeMap<&str, Interval> = BTreeMap::new();
    for job in members.iter().flat_map(|member| &member.jobs) {
        let known = lost.entry(&job.job_id).or_default();
        if known.by_lower_end(&job.lost()).is_lt() {
            *known = job.lost();
        }
    }
    let of = |(job_id, lost_s): (&str, Interval)| SufferingJob::new(job_id.to_string(), lost_s);
    let mut jobs: Vec<SufferingJob> = lost.into_iter().map(of).collect();
    jobs.sort_by(|a, b| b.lost().by_lower_end(&a.lost()));
    jobs.truncate(NAMED_MAX);
    jobs
}

fn causes(members: &[&Subject]) -> Vec<String> {
    let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
    for (job, share) in members.iter().flat_map(|member| &member.causes) {
        *shares.entry(job).or_default() += share;
    }
    let mut jobs: Vec<(&str, f64)> = shares.into_iter().collect();
    jobs.sort_by(|a, b| b.1.total_cmp(&a.1));
    jobs.into_iter().take(NAMED_MAX).map(|(job, _)| job.to_string()).collect()
}
