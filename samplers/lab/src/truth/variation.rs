//! How what jobs and applications do varies from second to second.

use super::scenario::Noise;
use samplers::rng::Rng;

/// A factor that varies from second to second.
pub(super) struct Variation {
    /// Of this second.
    pub(super) factor: f64,
    state: f64,
    owed: f64,
    rng: Rng,
}

impl Variation {
    /// Before the first second.
    pub(super) fn new(rng: Rng) -> Variation {
        Variation { factor: 1.0, state: f64::NAN, owed: 0.0, rng }
    }

    /// Draws the noise of the coming second.
    pub(super) fn draw(&mut self, noise: &Noise) {
        let fresh = self.rng.normal();
        let kept = if self.state.is_nan() { 0.0 } else { noise.correlation };
        let scale = if self.state.is_nan() { 1.0 } else { (1.0 - kept * kept).sqrt() };
        self.state = if self.state.is_nan() { fresh } else { kept * self.state + scale * fresh };
        let factor = (noise.sigma * self.state - noise.sigma * noise.sigma / 2.0).exp();
        if noise.held_back > 0.0 && self.rng.uniform() < noise.held_back {
            self.owed += factor;
            self.factor = 0.0;
        } else {
            self.factor = factor + std::mem::take(&mut self.owed);
        }
    }
}
