//! Bare series without contention, for tests of false alarms.

use crate::rng::Rng;

/// Kinds of series on which nothing may be flagged. All but the spikes are write rates in bytes a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quiet {
    /// 1 GB/s.
    Constant,
    /// 1 GB/s at first, a fifth more each hour.
    DriftUp,
    /// 1 GB/s at first, a fifth less each hour.
    DriftDown,
    /// A stall ratio between 0.05 and 1, one sample of 10 to 50 times that each 20 to 60 s, as CTH's load balance gives.
    RatioSpikes,
    /// Checkpoints: 1 GB/s for 20 to 60 s, nothing for 60 to 180 s; the edges lie inside ticks.
    Checkpoints,
    /// 1 GB/s in one tick of ten, nothing in the others.
    OneTickInTen,
    /// 1 GB/s for 3 s in each 30 s.
    BurstEveryThirty,
}

impl Quiet {
    /// All kinds.
    pub const ALL: [Quiet; 7] = [
        Quiet::Constant,
        Quiet::DriftUp,
        Quiet::DriftDown,
        Quiet::RatioSpikes,
        Quiet::Checkpoints,
        Quiet::OneTickInTen,
        Quiet::BurstEveryThirty,
    ];
}

const RATE: f64 = 1e9;
const DRIFT_PER_S: f64 = 0.2 / 3600.0;

/// One reading a second of a series of that kind, with log-normal noise of spread `noise` and mean 1.
pub fn quiet(kind: Quiet, noise: f64, seed: u64, seconds: usize) -> Vec<f64> {
    let mut rng = Rng::new(seed, 0x9017E7 ^ kind as u64);
    let level = levels(kind, seconds, &mut rng);
    level.into_iter().map(|value| value * rng.factor(noise)).collect()
}

fn levels(kind: Quiet, seconds: usize, rng: &mut Rng) -> Vec<f64> {
    let when = |on: &dyn Fn(usize) -> bool| (0..seconds).map(|t| if on(t) { RATE } else { 0.0 }).collect();
    let drift = |per_s: f64| (0..seconds).map(|t| RATE * (1.0 + per_s).powf(t as f64)).collect();
    match kind {
        Quiet::Constant => vec![RATE; seconds],
        Quiet::DriftUp => drift(DRIFT_PER_S),
        Quiet::DriftDown => drift(-DRIFT_PER_S),
        Quiet::OneTickInTen => when(&|t| t % 10 == 3),
        Quiet::BurstEveryThirty => when(&|t| (7..10).contains(&(t % 30))),
        Quiet::RatioSpikes => spikes(seconds, rng),
        Quiet::Checkpoints => checkpoints(seconds, rng),
    }
}

fn spikes(seconds: usize, rng: &mut Rng) -> Vec<f64> {
    let ratio = rng.log_between(0.05, 1.0);
    let mut series = vec![ratio; seconds];
    let mut at = rng.between(20.0, 60.0);
    while let Some(sample) = series.get_mut(at as usize) {
        *sample *= rng.between(10.0, 50.0);
        at += rng.between(20.0, 60.0);
    }
    series
}

fn checkpoints(seconds: usize, rng: &mut Rng) -> Vec<f64> {
    let mut series = vec![0.0; seconds];
    let mut at = rng.between(0.0, 30.0);
    while (at as usize) < seconds {
        let end = at + rng.between(20.0, 60.0);
        for (tick, sample) in series.iter_mut().enumerate().skip(at as usize) {
            let covered = end.min(tick as f64 + 1.0) - at.max(tick as f64);
            if covered <= 0.0 {
                break;
            }
            *sample += RATE * covered;
        }
        at = end + rng.between(60.0, 180.0);
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_have_the_shape_they_claim() {
        let of = |kind| quiet(kind, 0.0, 3, 3601);
        assert!(of(Quiet::Constant).iter().all(|v| *v == RATE));
        assert!((of(Quiet::DriftUp)[3600] / RATE - 0.2_f64.exp()).abs() < 1e-3);
        assert!((of(Quiet::DriftDown)[3600] / RATE - (-0.2_f64).exp()).abs() < 1e-3);
        assert_eq!(of(Quiet::OneTickInTen).iter().filter(|v| **v > 0.0).count(), 360);
        assert_eq!(of(Quiet::BurstEveryThirty).iter().filter(|v| **v > 0.0).count(), 360);
        let partial = |v: &f64| *v > 0.0 && *v < RATE;
        assert!(of(Quiet::Checkpoints).iter().filter(|v| partial(v)).count() >= 20);
        let ratio = of(Quiet::RatioSpikes);
        let spikes = ratio.iter().filter(|v| **v > 9.0 * ratio[0]).count();
        assert!((60..180).contains(&spikes), "{spikes}");
        assert!(ratio.windows(2).all(|w| w[0] == ratio[0] || w[1] == ratio[0]));
    }

    #[test]
    fn a_seed_fixes_a_series() {
        for kind in Quiet::ALL {
            assert_eq!(quiet(kind, 0.1, 1, 500), quiet(kind, 0.1, 1, 500));
            assert_ne!(quiet(kind, 0.1, 1, 500), quiet(kind, 0.1, 2, 500));
        }
    }
}
