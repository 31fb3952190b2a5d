//! What each job cost others: the causes of all jobs, inverted.

use schemas::{Cause, Interval, JobResult, Name};
use serde::Serialize;
use std::collections::BTreeMap;

/// What one other job lost to a job: share times loss, and share times the ends of its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Victim {
    /// The job that lost.
    pub job_id: Name,
    /// Seconds lost, estimated.
    pub slowdown_s: f64,
    /// Lower end, in seconds.
    pub lo_s: f64,
    /// Upper end, in seconds.
    pub hi_s: f64,
}

impl Victim {
    fn lost_s(&self) -> Interval {
        Interval { value: self.slowdown_s, lo: self.lo_s, hi: self.hi_s }
    }
}

/// A line of `jobs.jsonl`.
#[derive(Serialize)]
pub(super) struct JobLine<'a> {
    #[serde(flatten)]
    pub result: &'a JobResult,
    pub caused: &'a [Victim],
}

/// Victims of each job, largest lower end first.
pub(super) fn caused<'a>(results: impl IntoIterator<Item = &'a JobResult>) -> BTreeMap<String, Vec<Victim>> {
    let mut shares: BTreeMap<(&str, &Name), (f64, &JobResult)> = BTreeMap::new();
    for result in results {
        let of_others = |cause: &&schemas::CauseShare| {
            matches!(cause.cause, Cause::OtherJob | Cause::IoOnMpi | Cause::FailoverInduced)
                && cause.series_or_job != result.job_id.as_str()
        };
        for cause in result.causes.iter().filter(of_others) {
            let key = (cause.series_or_job.as_str(), &result.job_id);
            shares.entry(key).or_insert((0.0, result)).0 += cause.share;
        }
    }
    let mut caused: BTreeMap<String, Vec<Victim>> = BTreeMap::new();
    for ((aggressor, job_id), (share, result)) in shares {
        let victim = Victim {
            job_id: job_id.clone(),
            slowdown_s: share * result.slowdown_s,
            lo_s: share * result.slowdown_lo_s,
            hi_s: share * result.slowdown_hi_s,
        };
        caused.entry(aggressor.to_owned()).or_default().push(victim);
    }
    for victims in caused.values_mut() {
        victims.sort_by(|a, b| b.lost_s().by_lower_end(&a.lost_s()).then_with(|| a.job_id.cmp(&b.job_id)));
    }
    caused
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemas::{CauseKind, CauseShare};

    fn job(job_id: &str, [slowdown_s, lo, hi]: [f64; 3], causes: &[(Cause, &str, f64)]) -> JobResult {
        let share = |(cause, source, share): &(Cause, &str, f64)| CauseShare {
            cause: *cause,
            kind: CauseKind::Capacity,
            series_or_job: (*source).to_owned(),
            share: *share,
        };
        JobResult {
            job_id: Name::parse(job_id).unwrap(),
            contended_s: slowdown_s,
            slowdown_s,
            slowdown_lo_s: lo,
            slowdown_hi_s: hi,
            completeness: 1.0,
            judged: 1.0,
            causes: causes.iter().map(share).collect(),
            progress: Vec::new(),
        }
    }

    #[test]
    fn victims_are_ordered_by_lower_end_and_causes_of_one_job_add() {
        let jobs = [
            job("1", [100.0, 0.0, 150.0], &[(Cause::OtherJob, "9", 0.5)]),
            job("2", [40.0, 20.0, 60.0], &[(Cause::OtherJob, "9", 0.25), (Cause::IoOnMpi, "9", 0.5)]),
            job("3", [10.0, 0.0, 20.0], &[(Cause::FailoverInduced, "9", 1.0)]),
        ];
        let found = caused(&jobs);
        let of_9: Vec<_> =
            found["9"].iter().map(|v| (v.job_id.as_str(), v.slowdown_s, v.lo_s, v.hi_s)).collect();
        assert_eq!(of_9, [("2", 30.0, 15.0, 45.0), ("1", 50.0, 0.0, 75.0), ("3", 10.0, 0.0, 20.0)]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_job_causes_neither_its_own_loss_nor_that_of_a_server() {
        let own = [(Cause::SelfInflicted, "1", 0.5), (Cause::OtherJob, "1", 0.1), (Cause::Server, "2", 0.4)];
        assert!(caused(&[job("1", [10.0, 5.0, 15.0], &own)]).is_empty());
    }

    #[test]
    fn a_line_has_the_fields_of_a_result_and_what_it_caused() {
        let result = job("1", [0.0; 3], &[]);
        let mut line = serde_json::to_value(JobLine { result: &result, caused: &[] }).unwrap();
        assert_eq!(line.as_object_mut().unwrap().remove("caused"), Some(serde_json::json!([])));
        assert_eq!(line, serde_json::to_value(&result).unwrap());
    }
}
