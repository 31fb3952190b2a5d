//! Jobs as they start, communicate, compute, write and end.

use super::job::{LabJob, TrafficClass};
use super::losses::LossRate;
use super::truth::{LabJobTruth, Lost};

/// The state of a job.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub started: bool,
    /// End in seconds from the start of the lab.
    pub end_s: Option<f64>,
    /// Seconds of work done.
    done_s: f64,
    /// Seconds of work until the next pause.
    until_pause_s: f64,
    /// Seconds of computing left.
    pause_s: u32,
    pub lost: Lost,
    /// Whether its messages and its writes were under way in the last second.
    pub active: [bool; 2],
}

impl Run {
    pub(super) fn new(job: &LabJob) -> Run {
        Run {
            started: false,
            end_s: None,
            done_s: 0.0,
            until_pause_s: job.phases.map_or(f64::INFINITY, |phases| phases.on_s),
            pause_s: 0,
            lost: Lost::default(),
            active: [false; 2],
        }
    }

    pub(super) fn runs(&self) -> bool {
        self.started && self.end_s.is_none()
    }

    /// Which of its traffic, by class, is under way during `second`.
    pub(super) fn activity(&self, job: &LabJob, second: u32) -> [bool; 2] {
        let writes = job.io.as_ref().is_some_and(|io| io.writes(second - job.start_s.min(second)));
        [self.runs() && self.pause_s == 0, self.runs() && writes]
    }

    /// Lets `second` pass; `name` returns the number of the job of an index. True if the job ends in it.
    pub(super) fn pass(
        &mut self,
        job: &LabJob,
        second: u32,
        rate: &LossRate,
        name: impl Fn(u32) -> u64,
    ) -> bool {
        if self.pause_s > 0 {
            self.pause_s -= 1;
            return false;
        }
        let speed = (1.0 - rate.longer()).max(0.0);
        let left_s = job.work_s - self.done_s;
        let ends = speed > 0.0 && left_s <= speed * (1.0 + 1e-9);
        let took_s = if ends { left_s / speed } else { 1.0 };
        self.lost.self_s += rate.own * took_s;
        self.lost.failover_s += rate.failover * took_s;
        for ((job_index, class), part) in &rate.to {
            *self.lost.to.entry((name(*job_index), *class)).or_default() += part * took_s;
        }
        self.done_s += speed * took_s;
        self.until_pause_s -= speed * took_s;
        if ends {
            self.end_s = Some(f64::from(second) + took_s);
        } else if let Some(phases) = job.phases.filter(|_| self.until_pause_s <= 1e-9) {
            self.until_pause_s += phases.on_s;
            self.pause_s = phases.off_s;
        }
        ends
    }

    pub(super) fn truth(&self, job: &LabJob) -> LabJobTruth {
        LabJobTruth {
            job_id: job.job_id,
            known: job.known,
            start_s: f64::from(job.start_s),
            end_s: self.end_s,
            alone_s: job.alone_s(),
            lost: self.lost.clone(),
        }
    }
}

/// Both classes, in the order of their numbers.
pub(super) const CLASSES: [TrafficClass; 2] = [TrafficClass::Mpi, TrafficClass::Io];
