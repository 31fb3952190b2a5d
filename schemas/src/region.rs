//! Contended regions: links that touch and stall alike, as one thing with a history, a kind and causes.

use crate::{Cause, CauseKind, Metric, Name, Time};
use serde::{Deserialize, Serialize};

/// Number of a region within one store or replay, from 1, in order of event time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RegionId(pub u64);

/// A contended region as it stands; the same region is reported again under its number until it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Its number.
    pub id: RegionId,
    /// What its links measure.
    pub metric: Metric,
    /// Readable name: `uplinks of leaf-03`, `group 4 to group 7`, `router c0-0c1s8`.
    pub name: String,
    /// When its first link became contended.
    pub start: Time,
    /// When its last link became clear; while it is open, the latest tick.
    pub end: Time,
    /// Whether contention is ongoing.
    pub open: bool,
    /// Links in it now; of a region that ended, at its end.
    pub links: u32,
    /// Most links it ever had.
    pub links_most: u32,
    /// Series that belong to it now, the worst first, at most [`REGION_SERIES_MAX`].
    pub series: Vec<String>,
    /// Series that were among `series` since the last report, and are not any more; in the order of their names.
    pub left: Vec<String>,
    /// The worst windowed ratio ever seen in it, in the metric's unit.
    pub peak: f64,
    /// What could be done about it.
    pub kind: CauseKind,
    /// How sure `kind` is, 0 to 1.
    pub kind_confidence: f64,
    /// By which share the worst load would fall if parallel links carried the same, 0 to 1: `1 - mean/max`.
    pub relief: f64,
    /// The largest sort of cause.
    pub cause: Cause,
    /// How sure the largest source of `cause` is, 0 to 1: the confidence of the first of `causes`.
    pub confidence: f64,
    /// Sources of the load, those of `cause` first, then by share; shares sum to at most 1.
    pub causes: Vec<RegionCause>,
    /// Affected jobs, the largest loss first.
    pub victims: Vec<RegionVictim>,
    /// Share of its links' data that was there, 0 to 1.
    pub completeness: f64,
    /// Its timeline since the last report, in order of time.
    pub steps: Vec<RegionStep>,
}

impl Region {
    /// One that began at `start` and of which nothing is known at `now`.
    pub fn begun(id: RegionId, metric: Metric, start: Time, now: Time) -> Region {
        Region {
            id,
            metric,
            name: String::new(),
            start,
            end: now,
            open: true,
            links: 0,
            links_most: 0,
            series: Vec::new(),
            left: Vec::new(),
            peak: 0.0,
            kind: CauseKind::Unknown,
            kind_confidence: 0.0,
            relief: 0.0,
            cause: Cause::Unknown,
            confidence: 0.0,
            causes: Vec::new(),
            victims: Vec::new(),
            completeness: 1.0,
            steps: Vec::new(),
        }
    }

    /// Names the series that belong to it now, the worst first; those that belong to it no longer have left.
    pub fn name_series(&mut self, series: Vec<String>) {
        if series == self.series {
            return;
        }
        let before = std::mem::replace(&mut self.series, series);
        self.left.extend(before.into_iter().filter(|name| !self.series.contains(name)));
        self.left.retain(|name| !self.series.contains(name));
        self.left.sort();
        self.left.dedup();
    }
}

/// Series of a region that are named; the worst ones.
pub const REGION_SERIES_MAX: usize = 64;

/// A source of the load of a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegionCause {
    /// What sort of cause.
    pub cause: Cause,
    /// The job, or the series where no job is known.
    pub series_or_job: String,
    /// Share of the load on the region's worst links, 0 to 1.
    pub share: f64,
    /// How sure it is, 0 to 1: the share, times 0.7 where the ways of the traffic are assumed.
    pub confidence: f64,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
}

/// What a cause rests on, the strongest first (DESIGN section 4, verdict).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Measured: its nodes hang on a router or switch of the region.
    NodesOnRouter,
    /// Inferred: its flows cross the links by the forwarding tables valid then, its nodes' traffic being measured.
    FlowsCross,
    /// Measured: its nodes write to Lustre.
    LustreBytes,
    /// Inferred: I/O servers' links are among those contended.
    IoEndpoint,
    /// Measured: its traffic rose when the region began.
    ChangePoint,
    /// Inferred: adaptive routing takes foreign traffic through the group.
    ForeignTraffic,
    /// Measured: a parallel link went down before.
    LinkDown,
    /// Measured: a link stalls although it carries less than before the region began, and less than its capacity.
    LinkNarrowed,
}

impl Evidence {
    /// Whether it was measured; else it was inferred.
    pub fn is_measured(self) -> bool {
        !matches!(self, Evidence::FlowsCross | Evidence::IoEndpoint | Evidence::ForeignTraffic)
    }
}

/// A job that waits in a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegionVictim {
    /// Which job.
    pub job_id: Name,
    /// Seconds it lost there so far: its part of what it lost on links. What its hosts send after contention shows that better
    /// than stalls do, so it may change for a while after the region's end.
    pub lost_s: Interval,
    /// Its share of the seconds that all victims lost, 0 to 1.
    pub share: f64,
}

/// What became of a region at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegionStep {
    /// When.
    pub time: Time,
    /// What.
    pub change: RegionChange,
    /// The region that it came from, or that came of it.
    pub other: Option<RegionId>,
    /// Links from then on.
    pub links: u32,
    /// The worst series.
    pub worst_series: String,
    /// Its windowed ratio, in the metric's unit.
    pub worst: f64,
}

/// What can become of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionChange {
    /// It began; with another one given, it split off from that.
    Began,
    /// It has more links.
    Grew,
    /// It has fewer links.
    Shrank,
    /// It took another one up.
    TookUp,
    /// It went into another one, and ended so.
    WentInto,
    /// A part of it became another one.
    Split,
    /// It ended.
    Ended,
}

/// How a job's loss comes about: factors, never one number (Kang 2019; GUIDE section 3). A factor of 1 costs nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobFactors {
    /// Which job.
    pub job_id: Name,
    /// Signature of the application and its configuration; runs are compared within one alone.
    pub configuration: String,
    /// Seconds that it loses to its own traffic.
    pub self_s: Interval,
    /// Seconds that it loses to others.
    pub other_s: Interval,
    /// Run time at this placement over that at the best known one, without others; `None` without such runs.
    pub placement: Option<Interval>,
    /// Seconds of run time that a second of contention on its worst link costs, 0 to 1.
    pub beta: Interval,
    /// Version of `beta`: it grows with every run that it is learnt from; 0 where nothing was learnt.
    pub beta_version: u32,
    /// Runs of this configuration that `beta` rests on.
    pub beta_runs: u32,
    /// What should be known of the answer, for a person; empty if nothing.
    pub caveat: String,
}

/// An estimate with its 95% interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

impl Interval {
    /// A part of it: the ends are those of the whole, times the share.
    pub fn times(&self, share: f64) -> Interval {
        Interval { value: share * self.value, lo: share * self.lo, hi: share * self.hi }
    }

    /// The order of rankings: what is larger for certain is larger; of equal lower ends the larger estimate.
    pub fn by_lower_end(&self, other: &Interval) -> std::cmp::Ordering {
        self.lo.total_cmp(&other.lo).then(self.value.total_cmp(&other.value))
    }
}

/// The ends of a sum are the sums of the ends: errors of one machine are not independent.
impl std::iter::Sum for Interval {
    fn sum<I: Iterator<Item = Interval>>(all: I) -> Interval {
        all.fold(Interval::default(), |sum, of| Interval {
            value: sum.value + of.value,
            lo: sum.lo + of.lo,
            hi: sum.hi + of.hi,
        })
    }
}

/// Seconds with the interval behind them: `213.0 s [207.0, 219.0]`.
impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} s [{:.1}, {:.1}]", self.value, self.lo, self.hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn series_that_left_are_reported_with_the_next_report() {
        let mut region =
            Region::begun(RegionId(1), Metric::from_name("aries_stall_ratio").unwrap(), Time(0), Time(0));
        for series in [["a", "b"], ["b", "c"], ["c", "d"], ["a", "d"]] {
            region.name_series(names(&series));
        }
        assert_eq!((region.series, region.left), (names(&["a", "d"]), names(&["b", "c"])));
    }
}
