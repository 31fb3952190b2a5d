//! What a job lost on links, second by second.

use super::live::Hurt;
use super::progress::{Measured, Progress};
use crate::jobs::{CauseLoss, Cell, JobPart, MetricPart, grain};
use schemas::{Cause, CauseKind, Interval, Job, Metric, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Half width of the 95% interval as a part of a loss on links, for what the stalls do not show of how much slower
/// messages are: 95 of 100 errors in the lab are smaller (`ACCURACY_LINKS.md`). Whether a job waits for its slowest flow
/// or for the mean of them is a matter of its own, see [`LinkLosses::least_s`].
const UNSURE: f64 = 0.12;

/// Part of what stalls show beyond a job's progress that counts into the upper end.
const UNSEEN: f64 = 0.35;

/// Part of the width of the interval by stalls below which progress shows a loss more closely.
const NARROWER: f64 = 0.7;

/// Seconds without contention after its start from which a job is known to run without it.
const QUIET_BEFORE_S: f64 = 30.0;

/// The 95% interval of a loss on links: `least_s` is what the job lost if it waited for the mean of its flows.
pub(super) fn interval(lost_s: f64, least_s: f64) -> Interval {
    let unsure_s = UNSURE * lost_s;
    Interval { value: lost_s, lo: (least_s - unsure_s).max(0.0), hi: lost_s + unsure_s }
}

/// Losses of one job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkLosses {
    /// Seconds lost to its own traffic.
    pub own_s: f64,
    /// Seconds lost to others, to a failed link, and to an unknown source.
    pub others_s: f64,
    /// Seconds lost if it did not wait for its slowest flow, but for the mean of them.
    pub least_s: f64,
    /// Seconds of the loss that no stalls show, only that it sends less.
    pub by_falls_s: f64,
    /// Seconds in which one of its links was contended.
    pub contended_s: f64,
    /// Seconds lost that may lie outside a stretch of such seconds, since links' clocks disagree. It is one error of all
    /// stretches, so it adds up.
    pub shifted_s: f64,
    seconds: BTreeMap<i64, f64>,
    /// What it lost by its progress, and what it had lost by stalls when that was measured.
    measured: Option<(Measured, f64)>,
    /// What it may have lost besides, by falls of what it sends.
    unexplained_s: f64,
    causes: BTreeMap<(Cause, CauseKind, String), f64>,
    changed: bool,
}

/// A loss and its interval.
struct Loss {
    /// The loss over that by stalls.
    times: f64,
    variance_s2: f64,
    least_share: f64,
}

impl Loss {
    /// Of `point_s` between two ends, where stalls give `by_stalls_s`.
    fn between(by_stalls_s: f64, point_s: f64, [least_s, most_s]: [f64; 2]) -> Loss {
        let half_width_s = most_s - point_s;
        Loss {
            times: point_s / by_stalls_s,
            variance_s2: half_width_s.powi(2),
            least_share: ((least_s + half_width_s) / point_s.max(1e-9)).clamp(0.0, 1.0),
        }
    }
}

impl Default for LinkLosses {
    /// Nothing lost: a result too, which is not reported yet.
    fn default() -> LinkLosses {
        LinkLosses {
            own_s: 0.0,
            others_s: 0.0,
            least_s: 0.0,
            by_falls_s: 0.0,
            contended_s: 0.0,
            shifted_s: 0.0,
            seconds: BTreeMap::new(),
            measured: None,
            unexplained_s: 0.0,
            causes: BTreeMap::new(),
            changed: true,
        }
    }
}

impl LinkLosses {
    /// All seconds lost.
    pub fn lost_s(&self) -> f64 {
        self.own_s + self.others_s
    }

    /// Measures what `job` lost by its progress, to be reported the next time.
    pub(super) fn measure(&mut self, job: &Job, progress: &Progress, tick_s: f64) {
        let start = (job.start.seconds() / tick_s).round() as i64;
        let by_stalls_s = self.lost_s();
        let before_s =
            std::mem::replace(&mut self.unexplained_s, progress.unexplained_s(start, &self.seconds, tick_s));
        self.changed |= self.unexplained_s != before_s;
        if by_stalls_s > 0.0 {
            self.measured = progress.lost(start, &self.seconds, tick_s).map(|found| (found, by_stalls_s));
            self.changed = true;
        }
    }

    /// Reports the losses the next time although nothing changed.
    pub(super) fn resend(&mut self) {
        self.changed = true;
    }

    /// Whether the losses changed since they were reported.
    pub(super) fn has_changed(&self) -> bool {
        self.changed
    }

    /// Charges `job` with the `ticks` that end at `tick`.
    pub(super) fn add(&mut self, job: &Job, tick: i64, ticks: i64, hurt: &Hurt, tick_s: f64) {
        for at in tick - ticks + 1..=tick {
            let end = Time::from_seconds(at as f64 * tick_s);
            if !job.overlaps(end.plus_seconds(-tick_s), end) || self.seconds.contains_key(&at) {
                continue;
            }
            if !self.seconds.contains_key(&(at - 1)) {
                self.shifted_s += hurt.lost.sum() * hurt.off_s;
            }
            self.own_s += hurt.lost.own * tick_s;
            self.others_s += hurt.lost.others() * tick_s;
            self.least_s += hurt.least * tick_s;
            self.by_falls_s += hurt.by_fall * tick_s;
            self.contended_s += tick_s;
            self.seconds.insert(at, hurt.lost.sum() * tick_s);
            for ((cause, source), lost) in &hurt.to {
                *self.causes.entry((*cause, hurt.kind, source.clone())).or_default() += lost * tick_s;
            }
            self.changed = true;
        }
    }

    /// Whether the job, which started at tick `start`, ran without contention before: of one that came with it nothing shows
    /// what it would do without the others.
    fn was_quiet(&self, start: i64, tick_s: f64) -> bool {
        let first = self.seconds.first_key_value();
        first.is_none_or(|(tick, _)| (tick - start) as f64 * tick_s >= QUIET_BEFORE_S)
    }

    /// The part of the job's loss on links of which stalls show `by_stalls_s`; `None` if it lost nothing. The ends are those of
    /// the whole loss, times the share.
    pub(super) fn part(&self, job: &Job, by_stalls_s: f64, tick_s: f64) -> Option<Interval> {
        let all_s = Some(self.lost_s()).filter(|lost_s| *lost_s > 0.0)?;
        let start = (job.start.seconds() / tick_s).round() as i64;
        let loss = self.by_stalls_or(self.was_quiet(start, tick_s));
        let (value, half_width_s) = (loss.times * all_s, loss.variance_s2.sqrt());
        let lo = (loss.least_share * value - half_width_s).max(0.0);
        let whole = Interval { value, lo, hi: value + half_width_s };
        Some(whole.times((by_stalls_s / all_s).min(1.0)))
    }

    /// What the job lost by its progress, where that shows it more closely than stalls. What stalls do not explain is
    /// not sure.
    fn by_stalls_or(&self, was_quiet: bool) -> Loss {
        let lost_s = self.lost_s().max(1e-9);
        let error_s = (UNSURE * lost_s).hypot(self.shifted_s);
        let surely_s = if was_quiet { lost_s } else { self.own_s };
        let least_s = self.least_s.min(surely_s);
        let width_s = 2.0 * error_s + lost_s - least_s;
        // What it lost since it was measured is taken to be as much more or less than by stalls.
        let measured = self.measured.map(|(found, of_s)| found.times(lost_s / of_s.max(1e-9)));
        let is_narrower = |found: &Measured| found.most_s - found.least_s < NARROWER * width_s;
        // Stalls that are too weak for what the job lost are not the whole reason: no more than they explain is sure.
        let exceeds = |found: &Measured| found.least_s > lost_s + error_s;
        let Some(found) = measured.filter(|found| is_narrower(found) || exceeds(found)) else {
            let point_s = self.likely_s(measured);
            let most_s = measured.map_or(0.0, |found| found.most_s).max(lost_s + error_s);
            return Loss::between(lost_s, point_s, [least_s - error_s, most_s]);
        };
        let point_s = found.lost_s.max(0.0);
        // Nor is what the job may as well have stopped to send by itself.
        let surely_s = found.least_s.min((lost_s - self.by_falls_s) * (1.0 + UNSURE));
        let surely_s = if is_narrower(&found) { surely_s } else { surely_s.min(least_s - error_s) };
        let most_s = found.most_s.max(point_s);
        // What seemed quiet may have been slowed too where stalls show more.
        let unseen_s = if was_quiet { 0.0 } else { UNSEEN * (lost_s - most_s).max(0.0) };
        Loss::between(lost_s, point_s, [surely_s.max(0.0), most_s + unseen_s])
    }

    /// What the job lost most likely. Whether it waits for its slowest flow or for the mean of them is as likely the one as the
    /// other where others slow it, unless its progress shows it; that counts by its error. A job that slows itself does so on
    /// its slowest flow.
    fn likely_s(&self, measured: Option<Measured>) -> f64 {
        let lost_s = self.lost_s().max(1e-9);
        let mean_s = self.least_s.min(lost_s);
        let of_others = (self.others_s / lost_s).min(1.0);
        let middle_s = lost_s - of_others * (lost_s - mean_s) / 2.0;
        let Some(found) = measured else { return middle_s };
        let sd_s = of_others * (lost_s - mean_s) / 12.0_f64.sqrt();
        let by_stalls_s2 = sd_s.powi(2) + (UNSURE * lost_s / 2.0).powi(2);
        let by_progress_s2 = ((found.most_s - found.least_s) / 4.0).powi(2);
        let point_s =
            (middle_s * by_progress_s2 + found.lost_s * by_stalls_s2) / (by_stalls_s2 + by_progress_s2);
        point_s.clamp(mean_s, lost_s)
    }

    /// The part of the job's result that comes from links, if it changed.
    pub(super) fn take_part(&mut self, job: &Job, now: i64, tick_s: f64) -> Option<JobPart> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        // Losses on all links are one part: under which of the links' metrics does not matter.
        let of_links = Metric::all().rfind(|metric| metric.is_link())?;
        let now = Time::from_seconds(now as f64 * tick_s);
        let until = job.end.unwrap_or(now).min(now);
        let grain = grain(job.start, until);
        let start = (job.start.seconds() / tick_s).round() as i64;
        let Loss { times, variance_s2, least_share } = self.by_stalls_or(self.was_quiet(start, tick_s));
        let mut cells: BTreeMap<i64, Cell> = BTreeMap::new();
        for (tick, lost_s) in &self.seconds {
            // A tick belongs to the second in which it lies, not to the one at whose beginning it ends.
            let second = ((*tick as f64 - 0.5) * tick_s).floor() as i64;
            let cell = cells.entry(second >> grain).or_default();
            cell.lost_s += times * lost_s;
            cell.worst_s += times * lost_s;
            cell.contended_s += tick_s;
        }
        let causes = self.causes.iter().map(|((cause, kind, source), lost_s)| CauseLoss {
            cause: *cause,
            kind: *kind,
            series_or_job: source.clone(),
            lost_s: times * lost_s,
        });
        let metric = MetricPart {
            metric: of_links,
            suspected_s: 0.0,
            unexplained_s: self.unexplained_s,
            used: 1,
            unknown: 0,
            cells: cells.into_iter().collect(),
            variance_s2,
            least_share,
            causes: causes.collect(),
        };
        Some(JobPart {
            start: job.start,
            until,
            series: 0,
            completeness_sum: 0.0,
            judged_sum: 0.0,
            known_nodes: Vec::new(),
            grain,
            metrics: vec![metric],
            of_links: true,
            progress: Vec::new(),
            active: Vec::new(),
        })
    }
}
