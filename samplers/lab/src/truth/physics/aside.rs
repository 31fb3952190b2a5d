//! Jobs that set a write aside: they compute meanwhile, or wait, and write all of it later.

use super::super::scenario::Phase;
use super::{Run, World};

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doing {
    /// It writes.
    Writing {
        /// Since this second.
        from_s: f64,
        /// Bytes of each node that are left.
        left_bytes: f64,
        /// Whether it can compute before it writes the rest.
        can_compute: bool,
    },
    /// It computes or waits.
    Computing {
        /// Whether a write was set aside.
        owes: bool,
    },
    /// It has not started yet, or has ended.
    Nothing,
}

/// A write that was set aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aside {
    /// Bytes of each node.
    bytes: f64,
    /// Their demand, in bytes a second.
    rate: f64,
    /// Whether the job does nothing meanwhile.
    waits: bool,
}

impl World<'_> {
    /// The scheduler's number of a job.
    pub fn job_id(&self, job: usize) -> u64 {
        self.scenario.jobs[job].id
    }

    /// What a job does at the end of the last second.
    pub fn doing(&self, job: usize) -> Doing {
        let run = &self.runs[job];
        if !self.is_running(job, f64::from(self.second)) {
            return Doing::Nothing;
        }
        match run.phases.front() {
            Some(Phase::Write { bytes, .. }) => Doing::Writing {
                from_s: run.phase_from_s,
                left_bytes: bytes - run.phase_bytes,
                can_compute: matches!(run.phases.get(1), Some(Phase::Pause { .. })),
            },
            _ => Doing::Computing { owes: run.aside.is_some() },
        }
    }

    /// A job that writes sets the rest aside, and computes what comes next; or does nothing, if it `waits`.
    pub fn set_aside(&mut self, job: usize, waits: bool) {
        let (run, now_s) = (&mut self.runs[job], f64::from(self.second));
        if let Some(Phase::Write { bytes, rate }) = run.phases.front().copied() {
            run.aside = Some(Aside { bytes: bytes - run.phase_bytes, rate, waits });
            run.phases.pop_front();
            if waits {
                run.phases.push_front(Phase::Pause { seconds: f64::INFINITY });
            }
            run.begin(now_s);
        }
    }

    /// A job stops computing, or waiting, and writes what was set aside.
    pub fn write_aside(&mut self, job: usize) {
        let (run, now_s) = (&mut self.runs[job], f64::from(self.second));
        let Some(Aside { bytes, rate, waits }) = run.aside.take() else { return };
        if let Some(Phase::Pause { seconds }) = run.phases.pop_front()
            && !waits
        {
            run.phases.push_front(Phase::Pause { seconds: seconds - run.phase_s });
        }
        run.phases.push_front(Phase::Write { bytes, rate });
        run.begin(now_s);
    }
}

impl Run {
    /// The first phase begins.
    pub(super) fn begin(&mut self, at_s: f64) {
        (self.phase_s, self.phase_bytes, self.phase_from_s) = (0.0, 0.0, at_s);
    }

    /// After a phase: the next write, or the end of the job, comes after what was set aside.
    pub(super) fn write_next(&mut self) {
        match (self.phases.front_mut(), self.aside) {
            (Some(Phase::Write { bytes, .. }), Some(aside)) => *bytes += aside.bytes,
            (None, Some(Aside { bytes, rate, .. })) => self.phases.push_front(Phase::Write { bytes, rate }),
            _ => return,
        }
        self.aside = None;
    }
}
