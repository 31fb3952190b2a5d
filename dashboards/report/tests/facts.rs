//! Facts of one job: contended, quiet, without data, running.

use super::network::{factors, regions};
use crate::{PostMortem, Stamp};
use schemas::{
    Cause, CauseKind, CauseShare, Episode, EpisodeId, Interval, Job, JobResult, LossPoint, Metric, Name,
    SeriesIndex, Time,
};
use store::read::episodes::ResourceEpisode;
use store::read::jobs::{CausedLoss, SeriesCount};

pub(super) const START_S: f64 = 1_795_217_419.0;

pub(super) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub(super) fn at(seconds: f64) -> Time {
    Time::from_seconds(START_S + seconds)
}

pub(super) fn cause(cause: Cause, kind: CauseKind, who: &str, share: f64) -> CauseShare {
    CauseShare { cause, kind, series_or_job: who.to_string(), share }
}

pub(super) fn job() -> Job {
    Job {
        job_id: name("4711"),
        user: "alice".to_string(),
        name: "ior".to_string(),
        nodes: (1..=16).map(|n| name(&format!("nid{n:05}"))).collect(),
        start: at(0.0),
        end: Some(at(473.0)),
        end_presumed: false,
        label: String::new(),
        app: None,
    }
}

pub(super) fn result() -> JobResult {
    let link = "aries_stall_ratio/c0-0c1s8/r0c3";
    JobResult {
        job_id: name("4711"),
        contended_s: 277.0,
        slowdown_s: 213.0,
        slowdown_lo_s: 207.1,
        slowdown_hi_s: 219.4,
        completeness: 0.98,
        judged: 0.98,
        causes: vec![
            cause(Cause::OtherJob, CauseKind::Capacity, "4698", 0.62),
            cause(Cause::IoOnMpi, CauseKind::Avoidable, link, 0.2),
            cause(Cause::Unknown, CauseKind::Unknown, "", 0.1),
        ],
        progress: Vec::new(),
    }
}

/// An episode that loses little, then much, then little of its time.
fn episode(id: u64, from: f64, to: f64, lost: f64) -> Episode {
    let span = to - from;
    let point = |part: f64, share: f64| LossPoint { time: at(from + span * part), slowdown_s: lost * share };
    Episode {
        id: EpisodeId(id),
        series: SeriesIndex(id as u32 - 1),
        start: at(from),
        end: at(to),
        open: false,
        peak: 0.213e9,
        baseline: 1.5e9,
        slowdown_s: lost,
        slowdown_lo_s: lost * 0.96,
        slowdown_hi_s: lost * 1.05,
        completeness: 1.0,
        profile: vec![point(0.25, 0.1), point(0.75, 0.9), point(1.0, 1.0)],
        causes: vec![cause(Cause::OtherJob, CauseKind::Capacity, "4698", 0.8)],
    }
}

pub(super) fn episodes() -> Vec<ResourceEpisode> {
    let write = ResourceEpisode {
        resource: "lustre_write_rate/nid00012/snx11137".to_string(),
        metric: Some(Metric::from_name("lustre_write_rate").unwrap()),
        episode: episode(1, 40.0, 240.0, 165.0),
    };
    let mut stalls = ResourceEpisode {
        resource: "aries_stall_ratio/c0-0c1s8/r0c3".to_string(),
        metric: Some(Metric::from_name("aries_stall_ratio").unwrap()),
        episode: episode(2, 300.0, 377.0, 48.0),
    };
    (stalls.episode.baseline, stalls.episode.peak, stalls.episode.completeness) = (0.31, 6.4, 0.95);
    vec![write, stalls]
}

pub(super) fn stamp() -> Stamp {
    Stamp { version: "0.1.0", written: at(3_600.0), page: Some("https://tailback.example".to_string()) }
}

/// What jobs lost to this one.
pub(super) fn caused() -> Vec<CausedLoss> {
    let of = |job_id: &str, value: f64, lo: f64, hi: f64| CausedLoss {
        job_id: job_id.to_string(),
        lost_s: Interval { value, lo, hi },
    };
    vec![of("4698", 12.0, 9.0, 15.0), of("4700", 30.0, 0.0, 60.0)]
}

pub(super) fn contended() -> PostMortem {
    PostMortem {
        job: job(),
        until: at(473.0),
        result: Some(result()),
        episodes: episodes(),
        series: SeriesCount { total: 64, without_readings: 2, fell_silent: 0 },
        factors: Some(factors()),
        regions: regions(),
        caused: caused(),
        earlier_paces: Vec::new(),
    }
}

pub(super) fn quiet() -> PostMortem {
    PostMortem {
        result: Some(JobResult {
            contended_s: 0.0,
            slowdown_s: 0.0,
            slowdown_lo_s: 0.0,
            slowdown_hi_s: 0.0,
            completeness: 1.0,
            judged: 1.0,
            causes: Vec::new(),
            ..result()
        }),
        episodes: Vec::new(),
        series: SeriesCount { total: 64, ..SeriesCount::default() },
        factors: None,
        regions: Vec::new(),
        caused: Vec::new(),
        ..contended()
    }
}

pub(super) fn without_data() -> PostMortem {
    PostMortem {
        result: Some(JobResult {
            completeness: 0.0,
            judged: 0.0,
            slowdown_s: 0.0,
            causes: Vec::new(),
            ..result()
        }),
        series: SeriesCount::default(),
        ..quiet()
    }
}

pub(super) fn running_with_many_episodes() -> PostMortem {
    let one = episodes().remove(0);
    let many = (0..25).map(|n| {
        let mut next = one.clone();
        next.episode = episode(n + 1, 15.0 * n as f64, 15.0 * n as f64 + 10.0, 4.0 + (n * 7 % 5) as f64);
        next.episode.open = n == 24;
        next
    });
    let mut facts = PostMortem { episodes: many.collect(), ..contended() };
    facts.job.end = None;
    facts.job.user = "eve\x1b[2J".to_string();
    facts.until = at(372.0);
    facts
}
