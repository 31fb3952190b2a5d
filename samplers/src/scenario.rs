//! Scenarios as data: a machine, its jobs, noise and faults; and the built-in ones.

use crate::aries::{CHASSIS_MAX, Layout};
use crate::faults::Faults;
use crate::jobs::{Behaviour, JobSpec};

mod builtin;
mod ior;
mod series;

pub use builtin::{background, cth_against_imb, demo};
pub(crate) use ior::FIRST_NODE;
pub use ior::ior;
pub use series::{Quiet, quiet};

/// Everything that happens, but for the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// The machine.
    pub layout: Layout,
    /// Jobs in any order. The jobs of a node should not overlap; if they do, it names the one that started last.
    pub jobs: Vec<JobSpec>,
    /// Spread of the noise.
    pub noise: Noise,
    /// Seconds after which it is over; without it, [`TAIL_S`] seconds after the last job.
    pub duration_s: Option<u32>,
    /// Whether it begins again when it is over, with new job numbers.
    pub endless: bool,
    /// Nodes that report.
    pub reporting: Reporting,
    /// Faults between sampler and store.
    pub faults: Faults,
}

/// Seconds that a scenario without a duration continues after its last job.
pub const TAIL_S: f64 = 5.0;

/// Spread of log-normal noise with mean 1, drawn each second for each writer and each tile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Of write rates and link loads.
    pub rate: f64,
    /// Of stall ratios.
    pub ratio: f64,
}

impl Default for Noise {
    fn default() -> Noise {
        Noise { rate: 0.02, ratio: 0.05 }
    }
}

/// Whose rows are emitted; job rows always are.
#[derive(Clone, Debug, PartialEq)]
pub struct Reporting {
    /// Routers, by number; each is reported by its four nodes.
    pub routers: Chosen,
    /// Lustre clients, by number of the node.
    pub clients: Chosen,
    /// Network interfaces, by number of the node.
    pub interfaces: Chosen,
}

/// A choice of components.
#[derive(Clone, Debug, PartialEq)]
pub enum Chosen {
    /// Every one.
    All,
    /// Only these numbers.
    Only(Vec<u32>),
}

impl Chosen {
    /// Their numbers, out of `count`.
    pub(crate) fn numbers(&self, count: u32) -> Vec<u32> {
        match self {
            Chosen::All => (0..count).collect(),
            Chosen::Only(numbers) => numbers.clone(),
        }
    }
}

/// Why a scenario cannot be played.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScenarioError {
    /// A group has one to six chassis.
    #[error("{0} chassis: a group has 1 to {CHASSIS_MAX}")]
    Chassis(u32),
    /// A node or router that the machine does not have.
    #[error("{what} {number} does not exist: the machine has {count}")]
    Missing {
        /// Node or router.
        what: &'static str,
        /// Its number.
        number: u32,
        /// How many there are.
        count: u32,
    },
    /// A time, size or rate that is negative, or no number.
    #[error("job {job:?}: {what} must be a positive number")]
    Quantity {
        /// The job.
        job: String,
        /// Which quantity.
        what: &'static str,
    },
    /// Table 3.1 of the report has no such case.
    #[error("there is no IOR case {0}: the varied cases are 19 to 42")]
    Case(u32),
    /// No built-in scenario has this name.
    #[error("there is no scenario {0}; there are demo, cth-against-imb, background and ior-19 to ior-42")]
    Name(String),
}

/// Seconds of the built-in `background`.
const BACKGROUND_S: u32 = 300;

/// The built-in scenario of that name; `noise` is the spread of IOR schedules, as a part of the rate.
///
/// # Errors
/// [`ScenarioError::Name`] and [`ScenarioError::Case`].
pub fn named(name: &str, noise: f64) -> Result<Scenario, ScenarioError> {
    match (name, name.strip_prefix("ior-").and_then(|case| case.parse().ok())) {
        ("demo", _) => Ok(demo()),
        ("cth-against-imb", _) => Ok(cth_against_imb()),
        ("background", _) => Ok(background(BACKGROUND_S)),
        (_, Some(case)) => ior(case, noise),
        _ => Err(ScenarioError::Name(name.to_string())),
    }
}

impl Scenario {
    /// A machine with no jobs, on which everything reports but network interfaces.
    pub fn empty(name: &str, chassis: u32) -> Scenario {
        Scenario {
            name: name.to_string(),
            layout: Layout { chassis },
            jobs: Vec::new(),
            noise: Noise::default(),
            duration_s: None,
            endless: false,
            reporting: Reporting {
                routers: Chosen::All,
                clients: Chosen::All,
                interfaces: Chosen::Only(Vec::new()),
            },
            faults: Faults::default(),
        }
    }

    /// The same, beginning again whenever it is over.
    pub fn endless(mut self) -> Scenario {
        self.endless = true;
        self
    }

    /// Checks what the types leave open.
    ///
    /// # Errors
    /// [`ScenarioError`] names what does not fit.
    pub fn check(&self) -> Result<(), ScenarioError> {
        if !(1..=CHASSIS_MAX).contains(&self.layout.chassis) {
            return Err(ScenarioError::Chassis(self.layout.chassis));
        }
        let nodes = self.layout.nodes();
        let routers = self.layout.routers();
        for job in &self.jobs {
            exist("node", &job.nodes, nodes)?;
            check_quantities(job)?;
        }
        exist("router", &self.reporting.routers.numbers(routers), routers)?;
        exist("node", &self.reporting.clients.numbers(nodes), nodes)?;
        exist("node", &self.reporting.interfaces.numbers(nodes), nodes)?;
        let reset = self.faults.reset_at.iter().map(|(node, _)| *node);
        exist("node", &reset.collect::<Vec<u32>>(), nodes)
    }
}

fn exist(what: &'static str, numbers: &[u32], count: u32) -> Result<(), ScenarioError> {
    match numbers.iter().find(|number| **number >= count) {
        Some(number) => Err(ScenarioError::Missing { what, number: *number, count }),
        None => Ok(()),
    }
}

fn check_quantities(job: &JobSpec) -> Result<(), ScenarioError> {
    let mut wanted = vec![("start_s", job.start_s + f64::MIN_POSITIVE)];
    match &job.behaviour {
        Behaviour::Write { bytes_per_node, limit_bytes_per_s } => {
            wanted.extend([("bytes_per_node", *bytes_per_node), ("limit_bytes_per_s", *limit_bytes_per_s)])
        }
        Behaviour::CheckpointWriter(checkpoint) => wanted.extend([
            ("bytes_per_s", checkpoint.bytes_per_s),
            ("run_s", checkpoint.run_s),
            ("on_s", checkpoint.on_s.start),
            ("off_s", checkpoint.off_s.start),
        ]),
        Behaviour::HaloExchange(halo) => wanted.extend([
            ("flow_bytes_per_s", halo.flow_bytes_per_s),
            ("work_s", halo.work_s),
            ("balance_every_s", halo.balance_every_s.start),
        ]),
        Behaviour::AllToAll { node_bytes_per_s, work_s } => {
            wanted.extend([("node_bytes_per_s", *node_bytes_per_s), ("work_s", *work_s)])
        }
    }
    match wanted.iter().find(|(_, value)| value.is_nan() || *value <= 0.0) {
        Some((what, _)) => Err(ScenarioError::Quantity { job: job.name.clone(), what }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_that_cannot_be_played_is_refused_with_the_reason() {
        let mut scenario = demo();
        assert_eq!(scenario.check(), Ok(()));
        scenario.jobs[0].nodes.push(4000);
        let error = scenario.check().unwrap_err();
        assert_eq!(error.to_string(), "node 4000 does not exist: the machine has 128");
        let mut scenario = demo();
        scenario.jobs[0].behaviour = Behaviour::Write { bytes_per_node: f64::NAN, limit_bytes_per_s: 1.0 };
        let error = scenario.check().unwrap_err().to_string();
        assert!(error.contains("bytes_per_node"), "{error}");
        assert_eq!(Scenario::empty("x", 7).check(), Err(ScenarioError::Chassis(7)));
    }
}
