//! What alerts are about: series, regions, jobs and sources, in their latest state.

use super::rule::{About, When};
use super::updates::{self, EpisodeUpdate, JobUpdate, SilenceUpdate};
use schemas::{
    Cause, CauseKind, Interval, Metric, REGION_SERIES_MAX, Region, SilenceEnd, State, SufferingJob, Time,
};
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// Seconds that a job must have lost more to count as losing still.
const GROWTH_S: f64 = 1.0;
/// Seconds around the beginning of a silence in which what ends did so because of it.
const SILENCE_ENDS_S: std::ops::RangeInclusive<f64> = -5.0..=12.0;
/// Seconds by which a link's contention may begin before that of its region.
const BEFORE_REGION_S: f64 = 15.0;

/// Which one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Key {
    /// Name of a series.
    Series(String),
    /// Number of a region.
    Region(u64),
    /// Number of a job.
    Job(String),
    /// `<producer>/<schema>/<component>[/<part>]`.
    Source(String),
}

impl Key {
    /// What sort it is.
    pub fn about(&self) -> About {
        match self {
            Key::Series(_) => About::Series,
            Key::Region(_) => About::Region,
            Key::Job(_) => About::Job,
            Key::Source(_) => About::Source,
        }
    }

    /// The keys of one sort, which follow each other in their order.
    pub fn range(about: About) -> (Bound<Key>, Bound<Key>) {
        let (series, region) = (Key::Series(String::new()), Key::Region(0));
        let (job, source) = (Key::Job(String::new()), Key::Source(String::new()));
        match about {
            About::Series => (Bound::Included(series), Bound::Excluded(region)),
            About::Region => (Bound::Included(region), Bound::Excluded(job)),
            About::Job => (Bound::Included(job), Bound::Excluded(source)),
            About::Source => (Bound::Included(source), Bound::Unbounded),
        }
    }
}

/// Current state of one of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// What people call it.
    pub name: String,
    /// Detector partition whose progress is its time; of regions and jobs none.
    pub source: Option<i32>,
    /// What is measured.
    pub metric: Option<Metric>,
    /// The largest cause.
    pub cause: Cause,
    /// What could be done.
    pub kind: CauseKind,
    /// Contended, or unknown.
    pub state: State,
    /// When it began.
    pub since: Time,
    /// Up to when it is known to be ongoing.
    pub seen: Time,
    /// When it ended.
    pub until: Option<Time>,
    /// Seconds lost.
    pub slowdown_s: Interval,
    /// Seconds lost by a job when its loss last grew.
    pub grown_s: f64,
    /// Share of the data that was there, 0 to 1.
    pub completeness: f64,
    /// Share of a job's time that had a quiet baseline, 0 to 1.
    pub judged: f64,
    /// Links in it.
    pub links: u32,
    /// Share by which the worst load would fall if parallel links were even, 0 to 1.
    pub relief: f64,
    /// How sure cause and kind are, 0 to 1.
    pub confidence: f64,
    /// The node, router or switch; empty for regions and jobs.
    pub component: String,
    /// The port or mount; empty where there is none.
    pub part: String,
    /// Series in it, the worst first.
    pub series: Vec<String>,
    /// Series that were in it, and up to when, the latest [`REGION_SERIES_MAX`].
    pub former: Vec<(String, Time)>,
    /// Jobs that lose time in it.
    pub jobs: Vec<SufferingJob>,
    /// Jobs that cause it, with their shares.
    pub causes: Vec<(String, f64)>,
    /// Rules whose alert of it ended.
    pub done: Vec<String>,
}

impl Subject {
    fn new(name: String, since: Time, seen: Time) -> Subject {
        Subject {
            name,
            source: None,
            metric: None,
            cause: Cause::Unknown,
            kind: CauseKind::Unknown,
            state: State::Contended,
            since,
            seen,
            until: None,
            slowdown_s: Interval::default(),
            grown_s: 0.0,
            completeness: 1.0,
            judged: 1.0,
            links: 0,
            relief: 0.0,
            confidence: 0.0,
            component: String::new(),
            part: String::new(),
            series: Vec::new(),
            former: Vec::new(),
            jobs: Vec::new(),
            causes: Vec::new(),
            done: Vec::new(),
        }
    }

    /// A series in an episode.
    pub fn of_episode(updates: &EpisodeUpdate, source: i32) -> Subject {
        let (cause, kind, share) = updates::largest(&updates.causes);
        let name = updates.series.name();
        Subject {
            source: Some(source),
            metric: Some(updates.series.metric),
            cause,
            kind,
            until: (!updates.open).then_some(updates.end),
            slowdown_s: updates.slowdown_s,
            completeness: updates.completeness,
            links: u32::from(updates::is_of_links(updates.series.metric)),
            confidence: share,
            component: updates.series.component.to_string(),
            part: updates.series.part.as_ref().map_or(String::new(), ToString::to_string),
            series: vec![name.clone()],
            causes: jobs_of(&updates.causes),
            ..Subject::new(name, updates.start, updates.end)
        }
    }

    /// A region.
    pub fn of_region(region: &Region) -> Subject {
        let jobs =
            |victim: &schemas::RegionVictim| SufferingJob::new(victim.job_id.to_string(), victim.lost_s);
        let lost_s = region.victims.first().map_or_else(Interval::default, |victim| victim.lost_s);
        let by_job = region.causes.iter().filter(|cause| cause.cause.is_a_job());
        Subject {
            metric: Some(region.metric),
            cause: region.cause,
            kind: region.kind,
            until: (!region.open).then_some(region.end),
            slowdown_s: lost_s,
            completeness: region.completeness,
            links: if region.open { region.links } else { region.links_most },
            relief: region.relief,
            confidence: region.kind_confidence.min(region.confidence),
            series: region.series.clone(),
            former: region.left.iter().map(|name| (name.clone(), region.end)).collect(),
            jobs: region.victims.iter().map(jobs).collect(),
            causes: by_job.map(|cause| (cause.series_or_job.clone(), cause.share)).collect(),
            ..Subject::new(region.name.clone(), region.start, region.end)
        }
    }

    /// A job that loses time. It ends, until more is lost, with the latest loss.
    pub fn of_job(updates: &JobUpdate, known: Option<&Subject>) -> Subject {
        let (cause, kind, share) = updates::largest(&updates.causes);
        let grew = known.is_none_or(|known| updates.slowdown_s.value >= known.grown_s + GROWTH_S);
        let seen = known.filter(|_| !grew).map_or(updates.until, |known| known.seen);
        let grown_s = known.filter(|_| !grew).map_or(updates.slowdown_s.value, |known| known.grown_s);
        Subject {
            cause,
            kind,
            until: Some(seen),
            slowdown_s: updates.slowdown_s,
            grown_s,
            completeness: updates.completeness,
            judged: updates.judged,
            confidence: share,
            jobs: vec![SufferingJob::new(updates.job_id.to_string(), updates.slowdown_s)],
            causes: jobs_of(&updates.causes),
            ..Subject::new(updates.job_id.to_string(), updates.start, seen)
        }
    }

    /// A source that is silent; `None` if it never was.
    pub fn of_silence(updates: &SilenceUpdate, source: i32) -> Option<Subject> {
        let until = match updates.end {
            SilenceEnd::Open => None,
            SilenceEnd::At(time) => Some(time),
            SilenceEnd::Revoked => return None,
        };
        Some(Subject {
            source: Some(source),
            state: State::Unknown,
            until,
            component: updates.component.to_string(),
            ..Subject::new(updates.source.clone(), updates.since, until.unwrap_or(updates.since))
        })
    }

    /// Takes a newer state. An ended subject stays ended, unless it begins again or lasts longer than a change of its dates
    /// explains.
    pub fn replace(&mut self, newer: Subject) {
        const DATED_AGAIN_S: f64 = 5.0;
        let continues = match (self.until, newer.until) {
            (_, None) => true,
            (Some(then), Some(now)) => now.seconds_since(then) > DATED_AGAIN_S,
            (None, Some(_)) => false,
        };
        let done = if continues { Vec::new() } else { std::mem::take(&mut self.done) };
        let former = self.former_with(&newer);
        *self = Subject { done, former, ..newer };
    }

    /// What was in it before `newer` or left with that, the latest last.
    fn former_with(&mut self, newer: &Subject) -> Vec<(String, Time)> {
        let is_in = |name: &String, among: &[(String, Time)]| among.iter().any(|(known, _)| known == name);
        let mut former = std::mem::take(&mut self.former);
        former.retain(|(name, _)| !is_in(name, &newer.former));
        former.extend(newer.former.iter().cloned());
        former.drain(..former.len().saturating_sub(REGION_SERIES_MAX));
        former
    }

    /// Whether all but the duration holds.
    pub fn matches(&self, when: &When) -> bool {
        let any = |wanted: bool, is_free: bool| wanted || is_free;
        self.state == when.state
            && any(self.metric.is_some_and(|metric| when.metric.contains(&metric)), when.metric.is_empty())
            && any(when.cause.contains(&self.cause), when.cause.is_empty())
            && any(when.kind.contains(&self.kind), when.kind.is_empty())
            && self.slowdown_s.lo >= when.least_slowdown_s
            && self.completeness >= when.least_completeness
    }

    /// Whether this one reports `other` already (a region and its links), or makes it unknown (a silent source).
    pub fn covers(&self, key: &Key, other: &Subject, other_key: &Key) -> bool {
        match (key, other_key) {
            (Key::Region(_), Key::Series(name)) => self.has_link(name, other),
            (Key::Source(_), Key::Series(_)) => {
                self.until.is_none()
                    && self.component == other.component
                    && other.seen.seconds_since(self.since) <= *SILENCE_ENDS_S.end()
            }
            _ => false,
        }
    }

    /// Of a router as a whole one link is enough. The region reports an episode that began while the link was in the
    /// region, even if the link left since. A region names its worst links alone; the others of a large one are recognised
    /// by metric and time of onset.
    fn has_link(&self, name: &str, link: &Subject) -> bool {
        let large = self.links as usize > REGION_SERIES_MAX;
        let began_in_it = link.since.seconds_since(self.since) >= -BEFORE_REGION_S
            && self.until.is_none_or(|until| link.since <= until);
        let is_of = |series: &String| {
            series.strip_prefix(name).is_some_and(|part| part.is_empty() || part.starts_with('/'))
        };
        let was_in = |(series, until): &(String, Time)| is_of(series) && link.since <= *until;
        self.series.iter().any(is_of)
            || self.former.iter().any(was_in)
            || (large && link.metric == self.metric && began_in_it)
    }

    /// Whether `silence`, which is ongoing, is why this one ended.
    pub fn ended_by(&self, silence: &Subject) -> bool {
        self.component == silence.component
            && self.until.is_some_and(|until| SILENCE_ENDS_S.contains(&until.seconds_since(silence.since)))
    }
}

fn jobs_of(causes: &[schemas::CauseShare]) -> Vec<(String, f64)> {
    let is_job = |cause: &&schemas::CauseShare| cause.cause.is_a_job() && !cause.series_or_job.contains('/');
    causes.iter().filter(is_job).map(|cause| (cause.series_or_job.clone(), cause.share)).collect()
}
