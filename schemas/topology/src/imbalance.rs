//! How unevenly a group of parallel links is loaded (Vishnu 2007; GUIDE section 4).

/// Imbalance of the loads of parallel links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imbalance {
    /// Mean load, in the unit of the loads.
    pub mean: f64,
    /// Highest load, in the unit of the loads.
    pub max: f64,
    /// Share of links with no load at all, 0 to 1.
    pub idle_share: f64,
    /// Jain's index: 1 if all are equal, 1/n if one carries everything.
    pub jain: f64,
}

impl Imbalance {
    /// Of `loads`, which are at least 0; `None` without links, or where their sum is below `floor`.
    pub fn of(loads: impl IntoIterator<Item = f64>, floor: f64) -> Option<Imbalance> {
        let (mut n, mut idle, mut sum, mut squares, mut max) = (0.0, 0.0, 0.0, 0.0, 0.0f64);
        for load in loads {
            n += 1.0;
            idle += f64::from(u8::from(load <= 0.0));
            sum += load;
            squares += load * load;
            max = max.max(load);
        }
        if sum.is_nan() || sum <= 0.0 || sum < floor {
            return None;
        }
        Some(Imbalance { mean: sum / n, max, idle_share: idle / n, jain: sum * sum / (n * squares) })
    }

    /// Highest load over mean load, at least 1.
    pub fn max_over_mean(&self) -> f64 {
        self.max / self.mean
    }

    /// By which share the highest load would fall if all links carried the same: `1 - mean / max`.
    pub fn relief_bound(&self) -> f64 {
        1.0 - self.mean / self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_twelve_of_the_displaced_ring_has_the_printed_figures() {
        let loads = [4.0, 3.0, 2.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let found = Imbalance::of(loads, 0.0).unwrap();
        assert_eq!((found.max_over_mean(), found.relief_bound(), found.idle_share), (4.0, 0.75, 0.5));
        assert!((found.jain - 144.0 / (12.0 * 32.0)).abs() < 1e-12);
    }

    #[test]
    fn equal_loads_are_balanced_and_quiet_links_say_nothing() {
        let found = Imbalance::of([2.0; 12], 0.0).unwrap();
        assert_eq!((found.max_over_mean(), found.relief_bound(), found.jain), (1.0, 0.0, 1.0));
        assert_eq!(Imbalance::of([0.0; 3], 0.0), None);
        assert_eq!(Imbalance::of([1.0; 3], 10.0), None);
        assert_eq!(Imbalance::of([f64::NAN, 1.0], 0.0), None);
        assert_eq!(Imbalance::of([], 0.0), None);
    }
}
