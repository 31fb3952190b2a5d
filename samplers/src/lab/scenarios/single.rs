//! Cases of one job, or of none.

use super::calibrate::{at_peak, empty, leaves, shuffle, two_lots};
use super::{Expected, Labelled, LabelledError, ONSET_S, ScenarioKind};
use crate::lab::{Change, Event, LabJob, Pattern, Routing, Setup};
use crate::rng::Rng;
use schemas::{Cause, CauseKind};
use topology::machines::{two_level, vishnu};
use topology::{ParallelKind, ParallelLinks, VertexIndex};

/// Runs `job` at a fifth of its rate up to the onset, as a job of its own, then in full.
pub(super) fn light_first(job: LabJob) -> Vec<LabJob> {
    let mut light = job.clone();
    light.job_id += 100;
    light.bytes_per_s *= 0.2;
    light.work_s = f64::from(ONSET_S - 5);
    vec![light, LabJob { start_s: ONSET_S, work_s: 200.0, ..job }]
}

pub(super) fn self_overload(seed: u64) -> Result<Labelled, LabelledError> {
    let mut rng = Rng::new(seed, 0x5E1F);
    let topology = two_level(12, 12, 24)?;
    let mut setup = empty(&topology, Routing::Tables, seed);
    let first = rng.below(9);
    let used = leaves(&topology);
    // All hosts of some leaves, so that destinations spread evenly over the spines.
    let mut nodes: Vec<VertexIndex> = used[first..first + 3 + rng.below(2)].concat();
    shuffle(&mut nodes, &mut rng);
    let job = LabJob::new(1, nodes, Pattern::AllToAll, 1.0);
    let job = at_peak(&setup, job, rng.between(1.1, 1.25));
    setup.jobs = light_first(job);
    let expected = Expected {
        cause: Some(Cause::SelfInflicted),
        kind: Some(CauseKind::Capacity),
        victim: Some(1),
        aggressor: Some(1),
    };
    Ok(Labelled { kind: ScenarioKind::SelfOverload, setup, expected })
}

pub(super) fn failover(seed: u64) -> Result<Labelled, LabelledError> {
    let mut rng = Rng::new(seed, 0xFA11);
    let topology = two_level(6, 4, 8)?;
    let mut setup = empty(&topology, Routing::Tables, seed);
    let mut nodes = leaves(&topology).concat();
    shuffle(&mut nodes, &mut rng);
    let mut job = at_peak(&setup, LabJob::new(1, nodes, Pattern::AllToAll, 1.0), rng.between(0.62, 0.75));
    job.work_s = 350.0;
    setup.jobs = vec![job];
    let groups = ParallelLinks::of(&topology);
    let uplinks = (0..groups.len()).filter(|g| matches!(groups.kind(*g), ParallelKind::Uplinks(_)));
    let uplinks: Vec<usize> = uplinks.collect();
    let mut links = groups.links(uplinks[rng.below(uplinks.len())]).to_vec();
    shuffle(&mut links, &mut rng);
    // With two of four gone the others carry twice their load.
    let down = |link: &topology::LinkIndex| Event { at_s: ONSET_S, change: Change::Down(*link) };
    setup.events = links.iter().take(2).map(down).collect();
    let expected = Expected {
        cause: Some(Cause::FailoverInduced),
        // The two that are left are full, while links of other leaves are full beside idle ones.
        kind: None,
        victim: Some(1),
        aggressor: None,
    };
    Ok(Labelled { kind: ScenarioKind::FailoverInduced, setup, expected })
}

/// The loads of check T1: of twelve flows from one leaf, four have destinations that share an uplink, three
/// another one, two a third; three links have one flow each and six none.
pub(super) fn avoidable(seed: u64) -> Result<Labelled, LabelledError> {
    const LOADS: [usize; 6] = [4, 3, 2, 1, 1, 1];
    let mut rng = Rng::new(seed, 0xA501D);
    let topology = vishnu()?;
    let mut setup = empty(&topology, Routing::Tables, seed);
    let mut used = leaves(&topology);
    shuffle(&mut used, &mut rng);
    let mut positions: Vec<usize> = (0..12).collect();
    shuffle(&mut positions, &mut rng);
    let mut nodes = used[0].clone();
    // Destinations at one position of their leaves have the same remainder.
    for (position, load) in positions.into_iter().zip(LOADS) {
        nodes.extend(used[1..=load].iter().map(|leaf| leaf[position]));
    }
    let mut job = LabJob::new(1, nodes, Pattern::Ring { step: 12 }, 1.0);
    job = at_peak(&setup, job, rng.between(1.3, 1.9));
    setup.jobs = light_first(job);
    let expected = Expected {
        cause: Some(Cause::SelfInflicted),
        kind: Some(CauseKind::Avoidable),
        victim: Some(1),
        aggressor: Some(1),
    };
    Ok(Labelled { kind: ScenarioKind::Avoidable, setup, expected })
}

pub(super) fn quiet(seed: u64) -> Result<Labelled, LabelledError> {
    let setup = empty(&vishnu()?, Routing::Tables, seed);
    Ok(Labelled { kind: ScenarioKind::Quiet, setup, expected: Expected::default() })
}

/// Three jobs, each with three leaves of its own.
pub(super) fn traffic(seed: u64) -> Result<Labelled, LabelledError> {
    let mut rng = Rng::new(seed, 0x7AF1C);
    let topology = two_level(12, 12, 24)?;
    let mut setup: Setup = empty(&topology, Routing::Tables, seed);
    let used = leaves(&topology);
    for number in 0..3 {
        let count = 8 + rng.below(16);
        let (nodes, _) = two_lots(&used[3 * number..3 * number + 3], count, &mut rng);
        let mut job = LabJob::new(number as u64 + 1, nodes, Pattern::AllToAll, 1.0);
        job.start_s = 20 * number as u32;
        let mut job = at_peak(&setup, job, rng.between(0.65, 0.72));
        // Few nodes would use up their own links before the uplinks.
        job.bytes_per_s = job.bytes_per_s.min(0.72e9);
        setup.jobs.push(job);
    }
    Ok(Labelled { kind: ScenarioKind::TrafficWithoutStalls, setup, expected: Expected::default() })
}
