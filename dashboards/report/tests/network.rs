//! Regions and factors of the job.

use super::facts::{START_S, at, name};
use schemas::{
    Cause, CauseKind, Evidence, Interval, JobFactors, Metric, Region, RegionCause, RegionId, RegionVictim,
};
use store::read::regions::JobRegion;

fn interval(value: f64) -> Interval {
    Interval { value, lo: value * 0.75, hi: value * 1.25 }
}

pub(super) fn factors() -> JobFactors {
    JobFactors {
        job_id: name("4711"),
        configuration: "ior <16 nodes>".to_string(),
        self_s: interval(40.0),
        other_s: interval(160.0),
        placement: Some(interval(1.25)),
        beta: interval(0.8),
        beta_version: 3,
        beta_runs: 12,
        caveat: "It never saw a quiet second.".to_string(),
    }
}

pub(super) fn regions() -> Vec<JobRegion> {
    let waits = JobRegion {
        id: 7,
        name: "uplinks of <leaf-03>".to_string(),
        waits: true,
        from: START_S + 40.0,
        until: START_S + 340.0,
        open: false,
        links_most: 12,
        peak: Some(6.4),
        lost_s: Some(48.0),
        lost_lo_s: Some(40.0),
        lost_hi_s: Some(54.0),
        share: 0.6,
        cause: Cause::OtherJob,
        kind: CauseKind::Avoidable,
        source: "4698".to_string(),
        confidence: 0.9,
        completeness: 0.95,
    };
    let loads = JobRegion {
        id: 8,
        waits: false,
        lost_s: None,
        lost_lo_s: None,
        lost_hi_s: None,
        cause: Cause::SelfInflicted,
        source: "4711".to_string(),
        ..waits.clone()
    };
    vec![waits, loads]
}

/// A region of [`regions`] as the detector would report it.
pub(super) fn region(id: u64, cause: &str, victim: Option<&str>) -> Region {
    let of = regions().remove(0);
    let cause = RegionCause {
        cause: if victim.is_some() { Cause::OtherJob } else { Cause::SelfInflicted },
        series_or_job: cause.to_string(),
        share: 0.6,
        confidence: 0.9,
        evidence: vec![Evidence::NodesOnRouter],
    };
    let waits = |job: &str| RegionVictim {
        job_id: name(job),
        lost_s: Interval { value: 48.0, lo: 40.0, hi: 54.0 },
        share: 0.6,
    };
    Region {
        id: RegionId(id),
        metric: Metric::from_name("aries_stall_ratio").unwrap(),
        name: of.name,
        start: at(40.0),
        end: at(340.0),
        open: false,
        links: 0,
        links_most: 12,
        series: vec!["aries_stall_ratio/c0-0c1s8/r0c3".to_string()],
        left: Vec::new(),
        peak: 6.4,
        kind: of.kind,
        kind_confidence: 0.9,
        relief: 0.5,
        cause: Cause::OtherJob,
        confidence: 0.9,
        causes: vec![cause],
        victims: victim.map(waits).into_iter().collect(),
        completeness: 0.95,
        steps: Vec::new(),
    }
}
