//! What a job does with its answer: it continues to write, or sets the rest aside for a while.

use super::asking::Answer;
use super::spec::{Adapts, PostponeSpec};
use crate::truth::physics::Doing;
use samplers::rng::Rng;

/// Contention that was dated to at most so many seconds after the beginning of a write was there before it.
const ONSET_OFF_S: f64 = 5.0;
/// Of the random numbers of a job, those by which it retries.
const RETRIES: u64 = 0xA5C;

/// What a job does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// What it does.
    Continue,
    /// It sets the rest of its write aside.
    SetAside {
        /// Whether it does nothing meanwhile.
        waits: bool,
    },
    /// It writes what was set aside.
    WriteAside,
}

/// A job that asks.
#[derive(Clone, Debug)]
pub struct Behaviour {
    spec: PostponeSpec,
    rng: Rng,
    /// When the write began that is not finished.
    began_s: Option<f64>,
    retry_at_s: f64,
    waits_since_s: Option<f64>,
    /// Longest from the beginning of a write to its end, in seconds.
    pub late_s: f64,
    /// Seconds in which the job did nothing because it waited.
    pub waited_s: f64,
}

impl Behaviour {
    /// A job that has not asked yet.
    pub fn new(spec: PostponeSpec, job: u64, seed: u64) -> Behaviour {
        let rng = Rng::new(seed, job ^ (RETRIES << 32));
        Behaviour {
            spec,
            rng,
            began_s: None,
            retry_at_s: 0.0,
            waits_since_s: None,
            late_s: 0.0,
            waited_s: 0.0,
        }
    }

    /// What the job does at the end of a second, by the answer that it has.
    pub fn decide(&mut self, doing: Doing, now_s: f64, answer: Option<Answer>) -> Step {
        match doing {
            Doing::Nothing | Doing::Computing { owes: false } => {
                if let Some(began_s) = self.began_s.take() {
                    self.late_s = self.late_s.max(now_s - began_s);
                }
                Step::Continue
            }
            Doing::Computing { owes: true } => self.compute(now_s),
            Doing::Writing { from_s, left_bytes, can_compute } => {
                let began_s = *self.began_s.get_or_insert(from_s);
                let is_fresh = |answer: &Answer| answer.is_contended && answer.made_s > from_s;
                let Some(answer) = answer.filter(is_fresh) else { return Step::Continue };
                if now_s - began_s >= self.spec.longest_s || !self.yields(from_s, answer) {
                    return Step::Continue;
                }
                let computes = can_compute && left_bytes <= self.spec.buffer_bytes;
                if computes || self.spec.waits { self.set_aside(now_s, !computes) } else { Step::Continue }
            }
        }
    }

    fn compute(&mut self, now_s: f64) -> Step {
        let last_s = self.began_s.unwrap_or(now_s) + self.spec.longest_s;
        if now_s < self.retry_at_s.min(last_s) {
            return Step::Continue;
        }
        if let Some(since_s) = self.waits_since_s.take() {
            self.waited_s += now_s - since_s;
        }
        Step::WriteAside
    }

    fn set_aside(&mut self, now_s: f64, waits: bool) -> Step {
        self.retry_at_s = now_s + self.spec.retry_s * self.rng.between(0.5, 1.5);
        self.waits_since_s = waits.then_some(now_s);
        Step::SetAside { waits }
    }

    fn yields(&self, from_s: f64, answer: Answer) -> bool {
        match self.spec.adapts {
            Adapts::DelayIo => true,
            Adapts::TakeTurns => answer.since_s.is_none_or(|since_s| since_s <= from_s + ONSET_OFF_S),
        }
    }
}
