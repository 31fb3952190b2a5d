//! Cases in which jobs share links between switches.

use super::calibrate::{asked_by, at_peak, empty, factor, leaves, shuffle, two_lots};
use super::{Expected, Labelled, LabelledError, ONSET_S, ScenarioKind};
use crate::lab::{LabIo, LabJob, Pattern, Routing};
use crate::rng::Rng;
use schemas::{Cause, CauseKind};
use topology::VertexIndex;
use topology::machines::two_level;

/// Hosts all over some leaves: the victim has some, the aggressor, which begins at the onset, others.
/// Unless it is `known`, the scheduler does not report the aggressor.
pub(super) fn other_job(seed: u64, known: bool) -> Result<Labelled, LabelledError> {
    let mut rng = Rng::new(seed, 0x07E6);
    let topology = two_level(12, 12, 24)?;
    let mut setup = empty(&topology, Routing::Tables, seed);
    let first = rng.below(8);
    let used = leaves(&topology);
    let (mine, theirs) = two_lots(&used[first..first + 3 + rng.below(2)], 12, &mut rng);
    let mut victim = at_peak(&setup, LabJob::new(1, mine, Pattern::AllToAll, 1.0), rng.between(0.35, 0.45));
    victim.work_s = 250.0;
    let mut other = LabJob::new(2, theirs, Pattern::AllToAll, 1.0);
    let base = asked_by(&setup, &victim);
    let added = asked_by(&setup, &other);
    // Together they fill the links where both are; alone the other job fills none.
    let together = factor(&setup, &base, &added, 0.15, rng.between(1.05, 1.2));
    other.bytes_per_s = together.min(at_peak(&setup, other.clone(), 0.93).bytes_per_s);
    (other.start_s, other.work_s, other.known) = (ONSET_S, 150.0, known);
    setup.jobs = vec![victim, other];
    let cause = if known { Cause::OtherJob } else { Cause::Unknown };
    let kind = if known { ScenarioKind::OtherJob } else { ScenarioKind::Unknown };
    let expected = Expected { cause: Some(cause), kind: None, victim: Some(1), aggressor: Some(2) };
    Ok(Labelled { kind, setup, expected })
}

/// A job writes to twelve servers on one leaf, one at each position, and crosses the downlinks of a job that has
/// nodes there.
pub(super) fn io_on_mpi(seed: u64) -> Result<Labelled, LabelledError> {
    let mut rng = Rng::new(seed, 0x10);
    let topology = two_level(12, 12, 24)?;
    let mut setup = empty(&topology, Routing::Tables, seed);
    let mut used = leaves(&topology);
    shuffle(&mut used, &mut rng);
    let servers: Vec<VertexIndex> = used[0].drain(0..12).collect();
    let (mine, theirs) = two_lots(&used[0..4], 12, &mut rng);
    let mut victim = at_peak(&setup, LabJob::new(1, mine, Pattern::AllToAll, 1.0), rng.between(0.4, 0.5));
    victim.work_s = 280.0;
    let base = asked_by(&setup, &victim);
    // The hosts beside the servers belong to the victim.
    let mut writer = LabJob::new(2, theirs, Pattern::AllToAll, 0.0);
    let io = LabIo {
        bytes_per_s: 1.0,
        writers: 24,
        targets: servers,
        from_s: ONSET_S - 30,
        every_s: 60,
        for_s: 25 + rng.below(20) as u32,
        on_osts: false,
    };
    writer.io = Some(io.clone());
    let added = asked_by(&setup, &writer);
    let rate = factor(&setup, &base, &added, 0.15, rng.between(1.0, 1.12));
    // Two writers share a server, whose own link must not be what holds them back.
    writer.io = Some(LabIo { bytes_per_s: rate.min(0.47e9), ..io });
    (writer.start_s, writer.work_s) = (30, 300.0);
    setup.jobs = vec![victim, writer];
    let expected = Expected { cause: Some(Cause::IoOnMpi), kind: None, victim: Some(1), aggressor: Some(2) };
    Ok(Labelled { kind: ScenarioKind::IoOnMpi, setup, expected })
}

/// Four jobs with six hosts on every leaf each. The first runs from the start; with the others all uplinks are full.
pub(super) fn capacity(seed: u64) -> Result<Labelled, LabelledError> {
    let mut rng = Rng::new(seed, 0xCA9);
    let topology = two_level(12, 12, 24)?;
    let mut setup = empty(&topology, Routing::Tables, seed);
    let mut lots: [Vec<VertexIndex>; 4] = Default::default();
    for leaf in leaves(&topology) {
        // Hosts 12 positions apart share a downlink, so they belong to different jobs.
        let mut halves = leaf.chunks(12).map(<[VertexIndex]>::to_vec);
        for (lots, hosts) in lots.chunks_mut(2).zip(&mut halves) {
            let mut hosts = hosts;
            shuffle(&mut hosts, &mut rng);
            for (lot, hosts) in lots.iter_mut().zip(hosts.chunks(6)) {
                lot.extend(hosts);
            }
        }
    }
    let rate = rng.between(0.55e9, 0.62e9);
    for (number, nodes) in (1..).zip(lots) {
        let mut job = LabJob::new(number, nodes, Pattern::AllToAll, rate * rng.between(0.95, 1.05));
        job.start_s = if number == 1 { 0 } else { ONSET_S };
        job.work_s = if number == 1 { 200.0 } else { 120.0 };
        setup.jobs.push(job);
    }
    let expected = Expected {
        cause: Some(Cause::OtherJob),
        kind: Some(CauseKind::Capacity),
        victim: Some(1),
        aggressor: None,
    };
    Ok(Labelled { kind: ScenarioKind::Capacity, setup, expected })
}
