//! A flow in parts over several paths, as LID mask control allows (Vishnu 2007).

/// How the parts of a flow are weighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Striping {
    /// All paths carry the same.
    Even,
    /// Each path carries by what it got through before.
    Adaptive {
        /// What the latest bandwidths count against the weights before, in percent, 1 to 100.
        alpha_percent: u8,
    },
}

/// Adaptive striping after one message: `w <- (1 - alpha) w + alpha W b / sum(b)`, `W` being the sum of the weights
/// (Vishnu 2007, equation 7.4). `bandwidths` are what the parts reached, in any unit, one for each weight; `alpha` is
/// between 0 and 1.
///
/// No weight falls below `floor` x `W` (0 as in the paper; less than one over the number of paths). Without a floor,
/// a path that carried nothing once with `alpha` 1 is never tried again, for what carries nothing has no bandwidth.
/// The sum of the weights stays. If nothing got through at all, nothing changes.
pub fn reweigh(weights: &mut [f64], bandwidths: &[f64], alpha: f64, floor: f64) {
    let whole: f64 = weights.iter().sum();
    let through: f64 = bandwidths.iter().sum();
    if whole <= 0.0 || through <= 0.0 {
        return;
    }
    for (weight, bandwidth) in weights.iter_mut().zip(bandwidths) {
        *weight = (1.0 - alpha) * *weight + alpha * whole * bandwidth / through;
    }
    if floor > 0.0 {
        lift(weights, whole, floor * whole);
    }
}

/// Raises weights to `least` and takes it from the others, in proportion to what they have above it.
fn lift(weights: &mut [f64], whole: f64, least: f64) {
    let above = |weight: &f64| (weight - least).max(0.0);
    let spare = whole - least * weights.len() as f64;
    let all: f64 = weights.iter().map(above).sum();
    if spare > 0.0 && all > 0.0 {
        weights.iter_mut().for_each(|weight| *weight = least + above(weight) * spare / all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(weights: &[f64], fourth: f64) -> bool {
        (weights[3] - fourth).abs() < 0.005 && (weights.iter().sum::<f64>() - 100.0).abs() < 1e-9
    }

    /// Check T3.
    #[test]
    fn a_slow_path_gets_its_part_at_once_or_step_by_step() {
        let bandwidths = [1.0, 1.0, 1.0, 0.25];
        let mut weights = [25.0; 4];
        reweigh(&mut weights, &bandwidths, 1.0, 0.0);
        assert!(near(&weights, 7.69), "{weights:?}");
        let mut weights = [25.0; 4];
        for fourth in [16.35, 12.02, 9.86, 8.77] {
            reweigh(&mut weights, &bandwidths, 0.5, 0.0);
            assert!(near(&weights, fourth), "{weights:?}");
        }
    }

    #[test]
    fn a_dead_path_returns_only_if_its_weight_has_a_floor() {
        let fourth = |floor: f64| {
            let mut weights = [25.0; 4];
            reweigh(&mut weights, &[1.0, 1.0, 1.0, 0.0], 1.0, floor);
            assert!((weights.iter().sum::<f64>() - 100.0).abs() < 1e-9);
            // The path works again, but only what is sent has a bandwidth.
            for _ in 0..20 {
                let bandwidths = weights.map(|weight| if weight > 0.0 { 1.0 } else { 0.0 });
                reweigh(&mut weights, &bandwidths, 1.0, floor);
            }
            weights[3]
        };
        assert_eq!(fourth(0.0), 0.0);
        assert!((fourth(0.01) - 25.0).abs() < 1e-9);
    }

    /// Check T4.
    #[test]
    fn paths_that_are_equally_slow_keep_their_weights() {
        let mut weights = [25.0; 4];
        for _ in 0..10 {
            reweigh(&mut weights, &[0.1; 4], 0.7, 0.0);
        }
        assert!(weights.iter().all(|weight| (weight - 25.0).abs() < 1e-9), "{weights:?}");
        reweigh(&mut weights, &[0.0; 4], 0.7, 0.0);
        assert!(weights.iter().all(|weight| (weight - 25.0).abs() < 1e-9), "{weights:?}");
    }
}
