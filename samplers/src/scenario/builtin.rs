//! Built-in scenarios other than the IOR cases.

use super::{Chosen, Scenario, ior};
use crate::jobs::{Behaviour, Halo, JobSpec};

/// The chassis of both MPI jobs.
const CHASSIS: u32 = 1;
/// Slots whose routers carry both jobs; those of slots 0 to 7 carry CTH alone. IMB uses the same slots of the other
/// chassis, so that no minimal route of it crosses a router that CTH has for itself.
const SHARED_SLOTS: std::ops::Range<u32> = 8..16;

/// Nodes `positions` of the router in a slot.
fn nodes(chassis: u32, slots: impl IntoIterator<Item = u32>, positions: std::ops::Range<u32>) -> Vec<u32> {
    let routers = slots.into_iter().map(|slot| chassis * 16 + slot);
    routers.flat_map(|router| positions.clone().map(move |position| router * 4 + position)).collect()
}

fn mpi_jobs() -> Vec<JobSpec> {
    let mut imb = nodes(CHASSIS, SHARED_SLOTS, 2..4);
    imb.extend(nodes(0, SHARED_SLOTS, 0..4));
    vec![
        JobSpec {
            name: "cth".to_string(),
            user: "erin".to_string(),
            nodes: nodes(CHASSIS, 0..16, 0..2),
            start_s: 0.0,
            behaviour: Behaviour::HaloExchange(Halo::like_cth(1.2e9, 300.0)),
        },
        JobSpec {
            name: "imb_alltoall".to_string(),
            user: "frank".to_string(),
            nodes: imb,
            start_s: 58.0,
            behaviour: Behaviour::AllToAll { node_bytes_per_s: 8e9, work_s: 100.0 },
        },
    ]
}

/// CTH on two nodes of each router of a chassis; from 58 s on IMB on the other two of half of these routers and on
/// thirty-two nodes of the other chassis, for about 100 s. The other half of the routers carries CTH alone.
///
/// IMB alone loads the green links of the other chassis to 0.78, and those that it shares with CTH to 0.39; there
/// CTH adds 0.23 or 0.46. So each link that both use is contended by a clear margin: 2.7 or 4.5 times CTH's ratio.
pub fn cth_against_imb() -> Scenario {
    let mut scenario = Scenario::empty("cth-imb", 2);
    scenario.jobs = mpi_jobs();
    scenario.reporting.clients = Chosen::Only(Vec::new());
    scenario.reporting.interfaces = Chosen::All;
    scenario
}

/// No jobs, background traffic only, for `seconds`.
pub fn background(seconds: u32) -> Scenario {
    let mut scenario = Scenario::empty("background", 2);
    scenario.duration_s = Some(seconds);
    scenario
}

/// IOR case 25 on the file system and, at the same time, [`cth_against_imb`] on the network; 480 s.
///
/// The routers of the MPI jobs' chassis report, and of the other chassis one that is idle (slot 0), the one of
/// IOR's first process (slot 3) and one that only IMB uses (slot 8); so does every Lustre client and network interface.
pub fn demo() -> Scenario {
    let mut scenario = Scenario::empty("demo", 2);
    scenario.jobs = ior::jobs(25).unwrap_or_default();
    scenario.jobs.extend(mpi_jobs());
    scenario.duration_s = Some(480);
    let others = [0, 3, 8];
    scenario.reporting.routers = Chosen::Only(others.into_iter().chain(16..32).collect());
    scenario.reporting.interfaces = Chosen::All;
    scenario
}
