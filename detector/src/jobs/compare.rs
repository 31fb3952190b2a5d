//! Why a run took longer than an earlier one: contention or another configuration (Jha 2017; GUIDE section 5).
//!
//! Runs are compared within one configuration alone. A changed parameter can cost as much as contention does, but it
//! leaves no stalls: what the stalls of its links do not explain is not contention.

/// A run that takes longer by less than this part took as long.
const SLOWER_LEAST: f64 = 0.05;
/// Part of a slowdown that stalls must explain for it to be contention.
const EXPLAINED: f64 = 0.5;
/// Part of the data that must be there for low stalls to be used.
const COMPLETE: f64 = 0.5;

/// A run of an application.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What it ran with, see [`configuration`].
    pub configuration: String,
    /// Run time in seconds.
    pub run_s: f64,
    /// Seconds that it lost to stalls on its links and servers.
    pub stalled_s: f64,
    /// Part of the data on its links that was there, 0 to 1.
    pub completeness: f64,
}

/// What a difference between two runs is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The later one did not take longer.
    None,
    /// It stalled so much longer that this explains it, whatever else changed.
    Contention,
    /// It ran with another configuration and did not stall longer.
    Configuration,
    /// Neither is seen, or too little is known of its stalls.
    Unknown,
}

/// Configuration of a run: application, parameters in any order, and how the network routed, `None` where that is not
/// known. Two routing modes are two configurations (Brown 2018), and so is an unknown one.
pub fn configuration(app: &str, parameters: &[(&str, &str)], routing: Option<&str>) -> String {
    let mut parameters = parameters.to_vec();
    parameters.sort_unstable();
    let mut key = format!("{app:?}");
    for (name, value) in parameters {
        key.push_str(&format!(" {name:?}={value:?}"));
    }
    key.push_str(&routing.map_or(String::from(" routing?"), |routing| format!(" routing={routing:?}")));
    key
}

/// Run time in seconds that a run is measured by: the shortest of those of its own configuration.
pub fn baseline_s(earlier: &[Run], configuration: &str) -> Option<f64> {
    let alike = earlier.iter().filter(|run| run.configuration == configuration);
    alike.map(|run| run.run_s).min_by(f64::total_cmp)
}

/// What made `later` slower than `earlier`, a run of the same application.
pub fn difference(earlier: &Run, later: &Run) -> Difference {
    let slower_s = later.run_s - earlier.run_s;
    if slower_s < SLOWER_LEAST * earlier.run_s {
        return Difference::None;
    }
    let stalled_s = later.stalled_s - earlier.stalled_s;
    if stalled_s >= EXPLAINED * slower_s {
        return Difference::Contention;
    }
    let seen = earlier.completeness.min(later.completeness) >= COMPLETE;
    if seen && earlier.configuration != later.configuration {
        Difference::Configuration
    } else {
        Difference::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(run_s: f64, stalled_s: f64, completeness: f64) -> Run {
        Run { configuration: "a".to_string(), run_s, stalled_s, completeness }
    }

    #[test]
    fn low_stalls_say_nothing_where_links_were_not_seen() {
        let later = Run { configuration: "b".to_string(), ..run(120.0, 0.0, 0.2) };
        assert_eq!(difference(&run(100.0, 0.0, 1.0), &later), Difference::Unknown);
    }

    #[test]
    fn one_configuration_that_runs_longer_without_stalls_is_unexplained() {
        assert_eq!(difference(&run(100.0, 0.0, 1.0), &run(120.0, 1.0, 1.0)), Difference::Unknown);
        assert_eq!(difference(&run(100.0, 0.0, 1.0), &run(104.0, 4.0, 1.0)), Difference::None);
    }

    #[test]
    fn parameters_count_in_any_order_and_their_borders_are_kept() {
        let key = |parameters: &[(&str, &str)]| configuration("app", parameters, None);
        assert_eq!(key(&[("a", "1"), ("b", "2")]), key(&[("b", "2"), ("a", "1")]));
        assert_ne!(key(&[("a", "1 b=2")]), key(&[("a", "1"), ("b", "2")]));
    }
}
