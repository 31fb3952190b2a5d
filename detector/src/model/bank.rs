//! A bank of either model, for all series of one metric.

use super::published::PublishedBank;
use super::robust::RobustBank;
use super::{Closing, Judgement, Knowledge, ModelEvent, ModelKind, Params, Reading};
use schemas::Time;
use serde::{Deserialize, Serialize};

/// One model's state of all series of one metric.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Bank {
    /// SAND2016-9525 as printed.
    Published(PublishedBank),
    /// The default.
    Robust(RobustBank),
}

impl Bank {
    /// An empty bank.
    pub fn new(model: ModelKind, params: Params) -> Bank {
        match model {
            ModelKind::Published => Bank::Published(PublishedBank::new(params)),
            ModelKind::Robust => Bank::Robust(RobustBank::new(params)),
        }
    }

    /// Judges by other thresholds from here on; windows keep their length, since the readings in them were
    /// kept for it.
    pub fn set_thresholds(&mut self, params: Params) {
        let own = match self {
            Bank::Published(bank) => &mut bank.params,
            Bank::Robust(bank) => &mut bank.params,
        };
        *own = Params { window: own.window, tick_s: own.tick_s, ..params };
    }

    /// Adds a series; its number is the count of those before it.
    pub fn add(&mut self) {
        match self {
            Bank::Published(bank) => bank.add(),
            Bank::Robust(bank) => bank.add(),
        }
    }

    /// Makes series `i` one without readings.
    pub fn reset(&mut self, i: usize) {
        match self {
            Bank::Published(bank) => bank.reset(i),
            Bank::Robust(bank) => bank.reset(i),
        }
    }

    /// Takes one reading of series `i`.
    pub fn update(&mut self, i: usize, reading: &Reading) -> ModelEvent {
        match self {
            Bank::Published(bank) => bank.update(i, reading),
            Bank::Robust(bank) => bank.update(i, reading),
        }
    }

    /// Decides a suspicion about series `i`.
    pub fn judge(&mut self, i: usize, judgement: Judgement) -> ModelEvent {
        match self {
            Bank::Published(_) => ModelEvent::Nothing,
            Bank::Robust(bank) => bank.judge(i, judgement),
        }
    }

    /// Lets the warm-up of series `i` make its baseline.
    pub fn accept(&mut self, i: usize) -> ModelEvent {
        match self {
            Bank::Published(_) => ModelEvent::Nothing,
            Bank::Robust(bank) => bank.accept(i),
        }
    }

    /// The baseline that the open episode of series `i` is compared with has at least this relative error.
    pub fn doubt_baseline(&mut self, i: usize, error: f64) {
        if let Bank::Robust(bank) = self {
            bank.doubt_baseline(i, error);
        }
    }

    /// Whether series `i` has no baseline.
    pub fn awaits_baseline(&self, i: usize) -> bool {
        match self {
            Bank::Published(bank) => bank.awaits_baseline(i),
            Bank::Robust(bank) => bank.awaits_baseline(i),
        }
    }

    /// Readings of which a first baseline is made.
    pub fn warm_up_readings(&self) -> usize {
        match self {
            Bank::Published(bank) => bank.params.window,
            Bank::Robust(bank) => bank.warm_up_readings(),
        }
    }

    /// When the warm-up of series `i` began that gave its present baseline; `None` where something else gave it.
    pub fn warmed_since(&self, i: usize) -> Option<Time> {
        match self {
            Bank::Published(_) => None,
            Bank::Robust(bank) => bank.warmed_since(i),
        }
    }

    /// Restarts series `i` with its readings since `since`. Those before show the others what it did; `published` has none.
    pub fn restart_since(&mut self, i: usize, since: Time) -> ModelEvent {
        match self {
            Bank::Published(bank) => bank.restart(i),
            Bank::Robust(bank) => bank.restart_since(i, since),
        }
    }

    /// Of a series that warms up, only readings since `since` count from here on.
    pub fn warm_since(&mut self, i: usize, since: Time) {
        if let Bank::Robust(bank) = self {
            bank.warm_since(i, since);
        }
    }

    /// Restarts series `i` without readings; its open episode ends at its last reading.
    pub fn restart(&mut self, i: usize) -> ModelEvent {
        match self {
            Bank::Published(bank) => bank.restart(i),
            Bank::Robust(bank) => bank.restart(i),
        }
    }

    /// Series `i` was not seen for a while: it warms up again; `robust` remembers its baseline.
    pub fn pause(&mut self, i: usize) -> ModelEvent {
        match self {
            Bank::Published(bank) => bank.restart(i),
            Bank::Robust(bank) => bank.pause(i),
        }
    }

    /// What is known of series `i`.
    pub fn knowledge(&self, i: usize) -> Knowledge {
        match self {
            Bank::Published(bank) => bank.knowledge(i),
            Bank::Robust(bank) => bank.knowledge(i),
        }
    }

    /// The open episode of series `i` so far.
    pub fn open_episode(&self, i: usize) -> Option<Closing> {
        match self {
            Bank::Published(bank) => bank.open_episode(i),
            Bank::Robust(bank) => bank.open_episode(i),
        }
    }

    /// Noise of series `i` as a part of its baseline; 0 for `published`, which does not judge.
    pub fn noise(&self, i: usize) -> f64 {
        match self {
            Bank::Published(_) => 0.0,
            Bank::Robust(bank) => bank.noise(i),
        }
    }

    /// Mean of series `i` from its first reading between two times until the later one, idle ticks as 0: the rate of a
    /// client whose first ticks are missing, since its job had just begun. 0 without a reading; `published` has none.
    pub fn level_between(&self, i: usize, from: Time, to: Time) -> f64 {
        match self {
            Bank::Published(_) => 0.0,
            Bank::Robust(bank) => bank.level_between(i, from, to),
        }
    }

    /// The same mean, and the ticks of its readings: those in which it was active.
    pub fn moved_between(&self, i: usize, from: Time, to: Time) -> [f64; 2] {
        match self {
            Bank::Published(_) => [0.0; 2],
            Bank::Robust(bank) => bank.moved_between(i, from, to),
        }
    }

    /// Mean reading of series `i` between two times of the recent past, idle ticks as 0; `published` has none.
    pub fn mean_between(&self, i: usize, from: Time, to: Time) -> f64 {
        match self {
            Bank::Published(_) => 0.0,
            Bank::Robust(bank) => bank.mean_between(i, from, to),
        }
    }
}
