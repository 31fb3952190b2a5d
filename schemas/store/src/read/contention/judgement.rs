//! What a job is answered, made of rows of the store.

use super::{RunningJob, WaitedFor};
use schemas::Notice;
use serde::Serialize;

/// Share of a job's series that must be judged now for it to be called clear.
const JUDGED_LEAST: f64 = 0.5;
/// Age of the newest data from which on a job is not judged.
const DATA_AGE_MAX_S: f64 = 60.0;
/// Seconds of data after its start from which a job's series are its own: rows may be late by three, and one more begins them.
const YOUNG_S: f64 = 5.0;
/// Resources in an answer; the worst come first.
const RESOURCES_MAX: usize = 16;

/// Whether a job is contended now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Enough of its series are judged, and none is contended.
    Clear,
    /// At least one thing that it uses is contended.
    Contended,
    /// Too little is known.
    NotJudged,
}

/// The answer. Simple clients look for the first `"state":"` and `"lost_s":` of the text: these stand before all texts from outside.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobContention {
    /// Whether it is contended now.
    pub state: JobState,
    /// Seconds lost since its start; `null` before there is a result, as the next two.
    pub lost_s: Option<f64>,
    /// Lower end of the 95% interval.
    pub lost_lo_s: Option<f64>,
    /// Upper end of the 95% interval.
    pub lost_hi_s: Option<f64>,
    /// Since when it is contended without a pause on one of the resources; `null` if it is not.
    pub since_s: Option<f64>,
    /// Until when an incident's advice about one of the resources is valid: contention is expected to last so long. `null` if no
    /// estimate exists.
    pub until_s: Option<f64>,
    /// Time of the newest data, in seconds since the epoch.
    pub time_s: Option<f64>,
    /// Seconds for which a client should use this answer before it asks again: more where many jobs run.
    pub ask_again_s: u32,
    /// Share of its series that are judged now.
    pub judged_now: f64,
    /// Share of its series-seconds since its start that were judged; `null` before there is a result.
    pub judged: Option<f64>,
    /// Share of the data since its start that arrived; `null` before there is a result.
    pub completeness: Option<f64>,
    /// Its number.
    pub job_id: String,
    /// Why it is not judged; `null` if it is.
    pub reason: Option<String>,
    /// What is contended, the largest lower end of the loss first; at most 16.
    pub resources: Vec<Resource>,
    /// Number of all of them.
    pub resources_total: usize,
}

/// One thing that is contended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resource {
    /// What it is.
    #[serde(flatten)]
    pub waited_for: WaitedFor,
    /// Until when the advice of an incident about it is valid; `null` without one.
    pub until_s: Option<f64>,
}

/// What holds for all jobs.
pub struct Moment<'a> {
    /// Time of the newest data.
    pub data_s: Option<f64>,
    /// The machine's clock; `None` if the times of the store are not those of a clock.
    pub now_s: Option<f64>,
    /// Notices of incidents that fire.
    pub firing: &'a [Notice],
    /// Seconds for which a client should use its answer.
    pub ask_again_s: u32,
}

impl JobContention {
    /// The answer for `job`, which waits for `resources`.
    pub fn of(job: &RunningJob, mut resources: Vec<WaitedFor>, moment: &Moment<'_>) -> JobContention {
        let judged_now = judged_share(job);
        let reason = moment.age_reason().or_else(|| moment.youth_reason(job));
        if reason.is_some() {
            resources.clear();
        }
        let unjudged = || resources.is_empty().then(|| unjudged_reason(job, judged_now)).flatten();
        let reason = reason.or_else(unjudged);
        let resources_total = resources.len();
        let since_s = resources.iter().map(|resource| resource.since_s).reduce(f64::min);
        resources.truncate(RESOURCES_MAX);
        let resources: Vec<Resource> = resources
            .into_iter()
            .map(|waited_for| Resource { until_s: moment.until(&job.job_id, &waited_for), waited_for })
            .collect();
        let state = match reason {
            Some(_) => JobState::NotJudged,
            None if resources.is_empty() => JobState::Clear,
            None => JobState::Contended,
        };
        JobContention {
            state,
            lost_s: job.lost.map(|lost| lost.lost_s.value),
            lost_lo_s: job.lost.map(|lost| lost.lost_s.lo),
            lost_hi_s: job.lost.map(|lost| lost.lost_s.hi),
            since_s,
            until_s: resources.iter().filter_map(|resource| resource.until_s).reduce(f64::max),
            time_s: moment.data_s,
            ask_again_s: moment.ask_again_s,
            judged_now,
            judged: job.lost.map(|lost| lost.judged),
            completeness: job.lost.map(|lost| lost.completeness),
            job_id: job.job_id.clone(),
            reason,
            resources,
            resources_total,
        }
    }

    /// Whether a client that waits for changes should receive this answer after `earlier`. Losses and times change every second.
    pub fn differs(&self, earlier: &JobContention) -> bool {
        let resources = |answer: &JobContention| -> Vec<(String, String)> {
            answer.resources.iter().map(|r| (r.waited_for.about.clone(), r.waited_for.name.clone())).collect()
        };
        self.state != earlier.state
            || self.until_s != earlier.until_s
            || self.resources_total != earlier.resources_total
            || resources(self) != resources(earlier)
    }
}

impl Moment<'_> {
    /// Why no job can be judged, if the data are old.
    fn age_reason(&self) -> Option<String> {
        let Some(data_s) = self.data_s else { return Some("no data yet".to_string()) };
        let age_s = self.now_s? - data_s;
        (age_s > DATA_AGE_MAX_S).then(|| format!("the newest data are {age_s:.0} s old"))
    }

    /// Why a job that just began is not judged: its series still show what was on its nodes before.
    fn youth_reason(&self, job: &RunningJob) -> Option<String> {
        let is_young = self.data_s? < job.start + YOUNG_S;
        is_young.then(|| format!("it began less than {YOUNG_S:.0} s before the newest data"))
    }

    /// Until when the advice of an incident about `resource` of `job` is valid.
    fn until(&self, job: &str, resource: &WaitedFor) -> Option<f64> {
        let label = |notice: &Notice, name: &str, text: &str| {
            notice.labels.get(name).is_some_and(|label| label == text)
        };
        let is_about = |notice: &&Notice| match resource.about.as_str() {
            "region" => label(notice, "about", "region") && notice.subject == resource.name,
            "file_system" => {
                label(notice, "mount", &resource.name) && label(notice, "metric", &resource.metric)
            }
            _ => {
                label(notice, "metric", &resource.metric)
                    && notice.advice.jobs.iter().any(|suffering| suffering.job_id == job)
            }
        };
        let clock_s = self.now_s.or(self.data_s)?;
        let until = self.firing.iter().filter(is_about).map(|notice| notice.advice.valid_until_s);
        until.filter(|until_s| *until_s > clock_s).reduce(f64::max)
    }
}

/// The share of a job's series that is judged now. What it does not use shows nothing of what it does: idle series count as judged as
/// far as the active ones are.
fn judged_share(job: &RunningJob) -> f64 {
    let [series, active, idle] = [job.series, job.reporting - job.idle_now, job.idle_now].map(|n| n as f64);
    let judged = (job.judged_now - job.idle_now) as f64;
    let of_active = if active > 0.0 { judged / active } else { 1.0 };
    if series > 0.0 { (judged + idle * of_active) / series } else { 0.0 }
}

/// Why a job that waits for nothing is not called clear; `None` if it is.
fn unjudged_reason(job: &RunningJob, judged_now: f64) -> Option<String> {
    if job.series == 0 {
        return Some("no series of its nodes is known yet".to_string());
    }
    if job.reporting == 0 {
        return Some(format!("none of its {} series has data now", job.series));
    }
    let (judged, series, idle) = (job.judged_now, job.series, job.idle_now);
    (judged_now < JUDGED_LEAST).then(|| match idle {
        0 => format!("{judged} of its {series} series have a baseline and data now"),
        _ => {
            let (active, judged) = (job.reporting - idle, judged - idle);
            format!(
                "{judged} of its {active} active series have a baseline now; {idle} of its {series} are idle"
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::JobLoss;
    use super::*;
    use schemas::Interval;

    const NOW: f64 = 1_000.0;

    fn job(series: i64, reporting: i64, judged_now: i64, idle_now: i64) -> RunningJob {
        let lost_s = Interval { value: 4.0, lo: 3.0, hi: 5.0 };
        let lost = Some(JobLoss { lost_s, completeness: 1.0, judged: 0.9 });
        let (job_id, user) = ("1".to_string(), "ann".to_string());
        RunningJob { job_id, user, start: 0.0, lost, series, reporting, judged_now, idle_now }
    }

    fn on(name: &str, since_s: f64) -> WaitedFor {
        WaitedFor {
            about: "file_system".to_string(),
            name: name.to_string(),
            metric: "lustre_write_rate".to_string(),
            since_s,
            members: 2,
            lost_s: Some(2.0),
            lost_lo_s: Some(1.0),
            lost_hi_s: Some(3.0),
            cause: Some("other_job".to_string()),
            kind: None,
        }
    }

    fn moment(firing: &[Notice]) -> Moment<'_> {
        Moment { data_s: Some(NOW), now_s: Some(NOW), firing, ask_again_s: 1 }
    }

    fn notice(mount: &str, valid_until_s: f64) -> Notice {
        let text = serde_json::json!({
            "version": 1, "key": "1.1", "kind": "firing", "incident": "1", "sequence": 1, "rule": "storage_contended",
            "severity": "warning", "subject": mount, "labels": { "mount": mount, "metric": "lustre_write_rate" },
            "started_s": 0.0, "fired_s": 0.0, "resolved_s": null, "summary": "", "description": "", "hint": "", "members": 1,
            "slowdown_s": 0.0, "slowdown_lo_s": 0.0, "slowdown_hi_s": 0.0, "completeness": 1.0,
            "advice": { "valid_until_s": valid_until_s, "links": [], "nodes": [], "jobs": [], "causes": [],
                        "action": "throttle_io", "expected_relief": 0.0, "confidence": 0.0 },
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn a_job_is_clear_only_where_half_of_its_series_are_judged() {
        let warming_up = "0 of its 1 active series have a baseline now; 2 of its 3 are idle";
        for (series, reporting, judged, idle, state, reason) in [
            (4, 4, 2, 0, JobState::Clear, None),
            (4, 4, 1, 0, JobState::NotJudged, Some("1 of its 4 series have a baseline and data now")),
            (4, 0, 0, 0, JobState::NotJudged, Some("none of its 4 series has data now")),
            (0, 0, 0, 0, JobState::NotJudged, Some("no series of its nodes is known yet")),
            (3, 3, 3, 3, JobState::Clear, None),
            (3, 3, 3, 2, JobState::Clear, None),
            (3, 3, 2, 2, JobState::NotJudged, Some(warming_up)),
        ] {
            let answer = JobContention::of(&job(series, reporting, judged, idle), Vec::new(), &moment(&[]));
            assert_eq!((answer.state, answer.reason.as_deref()), (state, reason));
        }
    }

    #[test]
    fn a_contended_job_names_resources_and_the_earliest_start() {
        let resources = vec![on("scratch", 900.0), on("home", 800.0)];
        let answer = JobContention::of(&job(4, 4, 1, 0), resources, &moment(&[]));
        assert_eq!((answer.state, answer.since_s, answer.until_s), (JobState::Contended, Some(800.0), None));
        assert_eq!((answer.lost_s, answer.resources[0].waited_for.name.as_str()), (Some(4.0), "scratch"));
        let many = (0..40).map(|number| on(&number.to_string(), 900.0)).collect();
        let answer = JobContention::of(&job(4, 4, 1, 0), many, &moment(&[]));
        assert_eq!((answer.resources.len(), answer.resources_total), (RESOURCES_MAX, 40));
    }

    #[test]
    fn it_lasts_as_long_as_the_advice_about_the_resource_is_valid() {
        let firing = [notice("home", 5_000.0), notice("scratch", 1_200.0), notice("scratch", 900.0)];
        let until = |name: &str| {
            JobContention::of(&job(4, 4, 4, 0), vec![on(name, 900.0)], &moment(&firing)).resources[0].until_s
        };
        assert_eq!([until("scratch"), until("home"), until("other")], [Some(1_200.0), Some(5_000.0), None]);
    }

    #[test]
    fn old_data_judge_no_job() {
        let moments = [
            (
                Moment { data_s: Some(NOW), now_s: Some(NOW + 61.0), firing: &[], ask_again_s: 1 },
                "the newest data are 61 s old",
            ),
            (Moment { data_s: None, now_s: Some(NOW), firing: &[], ask_again_s: 1 }, "no data yet"),
        ];
        for (moment, reason) in moments {
            let answer = JobContention::of(&job(4, 4, 4, 0), vec![on("scratch", 900.0)], &moment);
            assert_eq!((answer.state, answer.reason.as_deref()), (JobState::NotJudged, Some(reason)));
            assert_eq!((answer.resources_total, answer.since_s), (0, None));
        }
        let simulated = Moment { data_s: Some(NOW), now_s: None, firing: &[], ask_again_s: 1 };
        assert_eq!(JobContention::of(&job(4, 4, 4, 0), Vec::new(), &simulated).state, JobState::Clear);
    }

    #[test]
    fn what_was_on_its_nodes_before_judges_no_job() {
        let of_age = |age_s: f64, resources: Vec<WaitedFor>| {
            let job = RunningJob { start: NOW - age_s, ..job(4, 4, 4, 0) };
            JobContention::of(&job, resources, &moment(&[])).state
        };
        assert_eq!(of_age(4.0, Vec::new()), JobState::NotJudged);
        assert_eq!(of_age(4.0, vec![on("scratch", 900.0)]), JobState::NotJudged);
        assert_eq!(of_age(YOUNG_S, Vec::new()), JobState::Clear);
    }

    #[test]
    fn what_grows_every_second_is_no_change() {
        let answer = |since: f64, names: &[&str]| {
            let resources = names.iter().map(|name| on(name, since)).collect();
            JobContention::of(&job(4, 4, 4, 0), resources, &moment(&[]))
        };
        let first = answer(900.0, &["scratch"]);
        let mut later = first.clone();
        (later.lost_s, later.time_s) = (Some(5.0), Some(NOW + 1.0));
        assert!(!later.differs(&first));
        assert!(answer(900.0, &[]).differs(&first) && answer(900.0, &["scratch", "home"]).differs(&first));
    }
}
