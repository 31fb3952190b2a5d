//! Drawing nodes, and rates that give links the load wanted.

use crate::lab::{LabJob, Noise, Routing, Setup, asked};
use crate::rng::Rng;
use std::sync::Arc;
use topology::{LinkIndex, Topology, VertexIndex, VertexKind};

/// A setup without jobs and events, with the usual noise.
pub(super) fn empty(topology: &Arc<Topology>, routing: Routing, seed: u64) -> Setup {
    let topology = Arc::clone(topology);
    Setup { topology, routing, jobs: Vec::new(), events: Vec::new(), noise: Noise::default(), seed }
}

/// The hosts of each leaf, in the order of the leaves.
pub(super) fn leaves(topology: &Topology) -> Vec<Vec<VertexIndex>> {
    let leaf = |switch: &VertexIndex| topology.level(*switch) == Some(1);
    let switches = topology.vertices_of(VertexKind::Switch).filter(leaf);
    let hosts = |switch: VertexIndex| {
        let ends = topology.links_from(switch).map(|link| topology.to(link));
        ends.filter(|end| topology.kind(*end) == VertexKind::Host).collect()
    };
    switches.map(hosts).collect()
}

/// Mixes a list.
pub(super) fn shuffle<T>(list: &mut [T], rng: &mut Rng) {
    for at in (1..list.len()).rev() {
        list.swap(at, rng.below(at + 1));
    }
}

/// Two lots of `count` hosts from each of `leaves`, no host in both.
pub(super) fn two_lots(
    leaves: &[Vec<VertexIndex>],
    count: usize,
    rng: &mut Rng,
) -> (Vec<VertexIndex>, Vec<VertexIndex>) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for leaf in leaves {
        let mut hosts = leaf.clone();
        shuffle(&mut hosts, rng);
        first.extend(hosts.iter().take(count));
        second.extend(hosts.iter().skip(count).take(count));
    }
    shuffle(&mut first, rng);
    shuffle(&mut second, rng);
    (first, second)
}

/// Utilisation of all links by one job, as far as it asks.
pub(super) fn asked_by(setup: &Setup, job: &LabJob) -> Vec<f64> {
    asked(&setup.topology, setup.routing, std::slice::from_ref(job), setup.seed)
}

/// The highest of `loads` on links that `counts`.
pub(super) fn peak(loads: &[f64], counts: impl Fn(LinkIndex) -> bool) -> f64 {
    let counted = loads.iter().zip(0..).filter(|(_, link)| counts(LinkIndex(*link)));
    counted.map(|(load, _)| *load).fold(0.0, f64::max)
}

/// Whether `link` connects switches.
pub(super) fn between_switches(topology: &Topology, link: LinkIndex) -> bool {
    [topology.from(link), topology.to(link)].iter().all(|end| topology.kind(*end) == VertexKind::Switch)
}

/// The job with the rate of its messages at which its most used link between switches has `utilisation`.
pub(super) fn at_peak(setup: &Setup, mut job: LabJob, utilisation: f64) -> LabJob {
    job.bytes_per_s = 1.0;
    let loads = asked_by(setup, &job);
    job.bytes_per_s = utilisation / peak(&loads, |link| between_switches(&setup.topology, link));
    job
}

/// By what the loads of `added` must be multiplied, so that the most used link between switches that carries at least
/// `least` of `base` has `utilisation`.
pub(super) fn factor(setup: &Setup, base: &[f64], added: &[f64], least: f64, utilisation: f64) -> f64 {
    let shared = |link: &u32| {
        let at = *link as usize;
        base[at] >= least && added[at] > 0.0 && between_switches(&setup.topology, LinkIndex(*link))
    };
    let links = (0..base.len() as u32).filter(shared).map(|link| link as usize);
    let factors = links.map(|link| (utilisation - base[link]) / added[link]);
    factors.fold(f64::INFINITY, f64::min)
}
