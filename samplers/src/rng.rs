//! SplitMix64, written out here so that a seed gives the same cluster in every version.
//!
//! A crate's generator may change its stream with a release; recorded truths would then no longer fit their rows.

/// A stream of pseudo-random numbers. Every simulated thing owns one, so that one more draw
/// in one place (a fault, a new job) does not shift the numbers of all others.
#[derive(Clone, Debug)]
pub struct Rng(u64);

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Rng {
    /// The stream of one thing: `stream` distinguishes it from the others of the same seed.
    pub fn new(seed: u64, stream: u64) -> Rng {
        let mut mixed = Rng(seed);
        let start = mixed.next_u64() ^ stream.wrapping_mul(GOLDEN).rotate_left(31);
        let mut mixed = Rng(start);
        Rng(mixed.next_u64())
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// At least 0, below 1, in steps of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Evenly spread between two numbers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Evenly spread over the orders of magnitude between two positive numbers.
    pub fn log_between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.uniform())
    }

    /// An index below `count`; 0 if `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.uniform() * count as f64) as usize
    }

    /// True with that probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.uniform() < probability
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A log-normal factor whose mean is 1, so that noise does not change how much work gets done.
    pub(crate) fn factor(&mut self, sigma: f64) -> f64 {
        if sigma > 0.0 { (sigma * self.normal() - sigma * sigma / 2.0).exp() } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix64_and_stays_so() {
        let mut rng = Rng(1_234_567);
        assert_eq!(rng.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(rng.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn noise_has_mean_one_and_the_spread_asked_for() {
        let mut rng = Rng::new(1, 2);
        let factors: Vec<f64> = (0..20_000).map(|_| rng.factor(0.1)).collect();
        let mean = factors.iter().sum::<f64>() / factors.len() as f64;
        let spread = factors.iter().map(|f| (f.ln() + 0.005).powi(2)).sum::<f64>() / factors.len() as f64;
        assert!((mean - 1.0).abs() < 0.003, "{mean}");
        assert!((spread.sqrt() - 0.1).abs() < 0.003, "{spread}");
    }
}
