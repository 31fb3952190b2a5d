//! An application that makes steps: how fast, and what a slow file system costs it.

use super::super::scenario::Steps;
use super::super::variation::Variation;
use samplers::rng::Rng;

/// As it runs.
pub(super) struct Application {
    steps: Steps,
    noise: Variation,
    /// Steps made so far.
    pub(super) made: f64,
    /// Its pace in this step of the second, as a part of that where nothing slows it.
    pace: f64,
}

impl Application {
    pub(super) fn new(steps: Steps, rng: Rng) -> Application {
        Application { steps, noise: Variation::new(rng), made: 0.0, pace: 1.0 }
    }

    /// Draws the noise of the coming second.
    pub(super) fn draw(&mut self) {
        self.noise.draw(&self.steps.noise);
    }

    /// What it loses, over what its file system loses, where that serves the part `served` of what it would alone.
    pub(super) fn cost(&mut self, served: f64) -> f64 {
        if !self.steps.beside {
            self.pace = 0.0;
            return 1.0;
        }
        let Steps { waits, .. } = self.steps;
        self.pace = 1.0 / (1.0 - waits + waits / served);
        if served < 1.0 { (1.0 - self.pace) / (1.0 - served) } else { 1.0 }
    }

    /// Makes the steps of so many seconds. Without `cost` since the last call it moves no bytes.
    pub(super) fn step(&mut self, seconds: f64) {
        self.made += self.steps.per_s * self.pace * self.noise.factor * seconds;
        self.pace = 1.0;
    }
}
