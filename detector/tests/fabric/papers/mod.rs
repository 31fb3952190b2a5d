//! Checks of the papers; each is named by its label. "Order" checks assert an order or a class, not a value.
//!
//! | module | checks |
//! |---|---|
//! | `paths` | T1, T9 to T11: parallel paths |
//! | `failures` | T6: links that fail and return |
//! | `jobs` | S2, K5 to K8: jobs that share a network |
//! | `storage` | B5, B8, B9, J8: routes, I/O and messages |
//! | `sharing` | B6, B7: links that I/O and messages share; when I/O waits for itself |
//! | `figures` | B4, K4, J9: rules without a network |
//!
//! T6 to T8 and T12 are also in `fabric::lifecycle`, T12 in `fabric::regions`, B3 in `fabric::flows`, B4 in
//! `fabric::kind`.

mod failures;
mod figures;
mod jobs;
mod paths;
mod sharing;
mod storage;

use crate::integration::fabric::play::{Played, play_altered};
use samplers::lab::scenarios::ONSET_S;
use samplers::lab::{LabJob, Noise, Routing, Setup, asked};
use schemas::{Cause, CounterBatch, Region};
use std::collections::BTreeSet;
use std::sync::Arc;
use topology::{LinkIndex, Topology, VertexIndex, VertexKind};

/// A network with the usual noise and these jobs.
fn setup(topology: &Arc<Topology>, jobs: Vec<LabJob>) -> Setup {
    let topology = Arc::clone(topology);
    Setup { topology, routing: Routing::Tables, jobs, events: vec![], noise: Noise::default(), seed: 7 }
}

/// What detector and fabric report of it.
fn found(setup: &Setup) -> Played {
    play_altered(setup, true, CounterBatch::clone)
}

/// The hosts of each leaf or router, in their order.
fn leaves(topology: &Topology) -> Vec<Vec<VertexIndex>> {
    let hosts = |switch: VertexIndex| -> Vec<VertexIndex> {
        let ends = topology.links_from(switch).map(|link| topology.to(link));
        ends.filter(|end| topology.kind(*end) == VertexKind::Host).collect()
    };
    let switches = topology.vertices().filter(|vertex| topology.kind(*vertex) != VertexKind::Host);
    let of_each = switches.map(hosts).filter(|hosts| !hosts.is_empty());
    // A node of an Aries hangs on its router by two links.
    of_each.map(|hosts| hosts.into_iter().collect::<BTreeSet<_>>().into_iter().collect()).collect()
}

/// `count` of `hosts` from all over, other ones for another seed.
fn scattered(hosts: &[VertexIndex], count: usize, seed: u64) -> Vec<VertexIndex> {
    let mixed = |host: &VertexIndex| {
        let at = (u64::from(host.0) + 1).wrapping_mul(2 * seed + 0x9E37_79B9_7F4A_7C15);
        (at ^ (at >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    };
    let mut hosts = hosts.to_vec();
    hosts.sort_by_key(mixed);
    hosts.truncate(count);
    hosts
}

/// Whether `link` connects switches or routers.
fn is_inner(topology: &Topology, link: LinkIndex) -> bool {
    [topology.from(link), topology.to(link)].iter().all(|end| topology.kind(*end) != VertexKind::Host)
}

/// Utilisation that `job` alone demands of each link, by number.
fn asked_by(topology: &Topology, job: &LabJob) -> Vec<f64> {
    asked(topology, Routing::Tables, std::slice::from_ref(job), 7)
}

/// The highest of `loads` on the links that `counts`.
fn peak(topology: &Topology, loads: &[f64], counts: impl Fn(LinkIndex) -> bool) -> f64 {
    topology.links().filter(|link| counts(*link)).map(|link| loads[link.at()]).fold(0.0, f64::max)
}

/// `job` with the rate at which its most used link between switches has `utilisation`.
fn at_peak(topology: &Topology, mut job: LabJob, utilisation: f64) -> LabJob {
    job.bytes_per_s = 1.0;
    job.bytes_per_s =
        utilisation / peak(topology, &asked_by(topology, &job), |link| is_inner(topology, link));
    job
}

/// `job` at a fifth of its rate up to the onset, as a job of its own, then in full.
fn light_first(job: LabJob) -> Vec<LabJob> {
    let mut light = job.clone();
    light.job_id += 100;
    light.bytes_per_s *= 0.2;
    light.work_s = f64::from(ONSET_S - 5);
    vec![light, LabJob { start_s: ONSET_S, work_s: 200.0, ..job }]
}

/// Share of a region's blame that falls on a cause of this sort and job.
fn share_of(region: &Region, cause: Cause, job_id: u64) -> f64 {
    let of = |c: &&schemas::RegionCause| c.cause == cause && c.series_or_job == job_id.to_string();
    region.causes.iter().filter(of).map(|c| c.share).sum()
}

/// Name of a link's series.
fn name(played: &Played, link: LinkIndex) -> String {
    played.network.topology.series_name(link).unwrap()
}
