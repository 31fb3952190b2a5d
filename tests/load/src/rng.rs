//! SplitMix64: one multiplication chain a number, as 1.8 million counters a second need little more than noise.

/// A stream of pseudo-random numbers; the same seed gives the same rows.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The stream number `stream` of `seed`.
    pub fn new(seed: u64, stream: u64) -> Rng {
        let mut mixed = Rng(seed ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03));
        Rng(mixed.next_u64())
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// At least 0, below 1.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// At least `low`, below `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Evenly spread over the orders of magnitude between two positive numbers.
    pub fn log_between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.uniform())
    }

    /// A whole number below `count`; 0 if `count` is 0.
    pub fn below(&mut self, count: u32) -> u32 {
        (((self.next_u64() >> 32) * u64::from(count)) >> 32) as u32
    }

    /// Two factors around 1 with these standard deviations, never below 0.1: sums of two even distributions, which
    /// costs one draw where exact normals cost two logarithms.
    pub fn factors(&mut self, first: f32, second: f32) -> (f32, f32) {
        let bits = self.next_u64();
        let quarter = |shift: u32| ((bits >> shift) & 0xffff) as f32 * (1.0 / 65_536.0);
        // The sum of two numbers below 1 has the standard deviation 1 / sqrt(6).
        let around = |sum: f32, sigma: f32| (1.0 + (sum - 1.0) * sigma * 2.449_49).max(0.1);
        (around(quarter(0) + quarter(16), first), around(quarter(32) + quarter(48), second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_have_mean_one_and_the_spread_asked_for() {
        let mut rng = Rng::new(1, 2);
        let draws: Vec<(f32, f32)> = (0..20_000).map(|_| rng.factors(0.05, 0.2)).collect();
        let spread = |values: &[f32]| {
            let mean = values.iter().sum::<f32>() / values.len() as f32;
            let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / values.len() as f32;
            (mean, square.sqrt())
        };
        let (first, second): (Vec<f32>, Vec<f32>) = draws.into_iter().unzip();
        for (values, sigma) in [(first, 0.05), (second, 0.2)] {
            let (mean, deviation) = spread(&values);
            assert!(
                (mean - 1.0).abs() < 0.01 && (deviation / sigma - 1.0).abs() < 0.05,
                "{mean} {deviation}"
            );
        }
    }

    #[test]
    fn numbers_below_a_bound_reach_all_of_them() {
        let mut rng = Rng::new(3, 0);
        let mut seen = [false; 12];
        (0..1_000).for_each(|_| seen[rng.below(12) as usize] = true);
        assert!(seen.iter().all(|s| *s) && rng.below(0) == 0);
    }
}
