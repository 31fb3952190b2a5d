//! Stalls, shares, losses and failures, on networks small enough to reckon by hand.

use crate::lab::stalls::{BACK_PRESSURE, UNLOADED, own_ratio};
use crate::lab::{
    Change, Event, Lab, LabIo, LabJob, LabTruth, LinkTruth, Noise, Pattern, Phases, Routing, Setup, Striping,
    TrafficClass,
};
use schemas::{Cause, CauseKind};
use std::sync::Arc;
use topology::machines::{aries_chassis, dragonfly_plus_small, three_level_small, two_level, vishnu};
use topology::{LinkIndex, Topology, VertexIndex, VertexKind};

/// What a link of [`two_level`] carries.
const CAPACITY: f64 = 1e9;

fn setup(topology: Arc<Topology>, jobs: Vec<LabJob>) -> Setup {
    Setup { topology, routing: Routing::Tables, jobs, events: Vec::new(), noise: Noise::default(), seed: 1 }
}

fn host(topology: &Topology, number: u32) -> VertexIndex {
    topology.vertex(&format!("node{number:04}")).unwrap()
}

/// The link into or out of a host.
fn host_link(topology: &Topology, number: u32, out: bool) -> LinkIndex {
    let link = topology.links_from(host(topology, number)).next().unwrap();
    if out { link } else { topology.reverse(link) }
}

/// One sends to the other.
fn pair(topology: &Topology, job_id: u64, from: u32, to: u32, part: f64) -> LabJob {
    let nodes = vec![host(topology, from), host(topology, to)];
    LabJob::new(job_id, nodes, Pattern::Broadcast, part * CAPACITY)
}

fn played(setup: Setup, seconds: u32) -> (Lab, LabTruth) {
    let mut lab = Lab::new(setup).unwrap();
    for _ in 0..seconds {
        lab.step();
    }
    let truth = lab.truth();
    (lab, truth)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn stalls_never_fall_with_load() {
    let points: Vec<f64> = (0..500).map(|i| own_ratio(f64::from(i) / 100.0)).collect();
    assert!(points.windows(2).all(|w| w[0] <= w[1]));
    assert_eq!(own_ratio(0.0), UNLOADED);
    assert!(near(own_ratio(0.97), own_ratio(1.5)) && near(own_ratio(4.0), 3.0));
}

#[test]
fn a_job_alone_takes_its_time_and_loses_only_to_itself() {
    let topology = vishnu().unwrap();
    let mut job = pair(&topology, 1, 1, 13, 0.9);
    job.work_s = 40.5;
    let (_, truth) = played(setup(topology, vec![job]), 60);
    let truth = truth.job(1).unwrap();
    assert_eq!((truth.end_s, truth.run_s(), truth.alone_s), (Some(40.5), Some(40.5), 40.5));
    let part = 1.0 - (1.0 + UNLOADED) / (1.0 + own_ratio(0.9));
    assert!(near(truth.lost.self_s, 40.5 * part) && truth.lost.longer_s() == 0.0, "{truth:?}");
}

#[test]
fn two_jobs_on_one_uplink_lose_by_the_formula() {
    let topology = vishnu().unwrap();
    // Hosts 13 and 25 have the first position of their leaves, so both flows take the first uplink.
    let mut jobs = vec![pair(&topology, 1, 1, 13, 0.2), pair(&topology, 2, 2, 25, 0.7)];
    jobs[0].work_s = 50.0;
    jobs[1].work_s = 500.0;
    let (_, truth) = played(setup(topology, jobs), 200);
    let part = 1.0 - (1.0 + own_ratio(0.2)) / (1.0 + own_ratio(0.9));
    let first = truth.job(1).unwrap();
    let longer = 50.0 / (1.0 - part) - 50.0;
    assert!((first.run_s().unwrap() - 50.0 - longer).abs() < 1e-6, "{first:?}");
    assert!((first.lost.to[&(2, TrafficClass::Mpi)] - longer).abs() < 1e-6, "{first:?}");
    let rise = 1.0 - (1.0 + own_ratio(0.7)) / (1.0 + own_ratio(0.9));
    let second = &truth.job(2).unwrap().lost;
    assert!((second.to_others_s() - rise * first.end_s.unwrap()).abs() < 0.5, "{second:?}");
}

#[test]
fn coupling_is_between_the_slowest_flow_and_the_mean() {
    let lost = |coupling| {
        let topology = vishnu().unwrap();
        // The first node sends to 13 and to 14; the other job is in the way of the flow to 13 alone.
        let nodes = vec![host(&topology, 1), host(&topology, 13), host(&topology, 14)];
        let mut job = LabJob::new(1, nodes, Pattern::Broadcast, 0.2 * CAPACITY);
        job.coupling = coupling;
        let other = pair(&topology, 2, 2, 25, 0.8);
        let (_, truth) = played(setup(topology, vec![job, other]), 50);
        truth.job(1).unwrap().lost.longer_s()
    };
    let (mean, half, slowest) = (lost(0.0), lost(0.5), lost(1.0));
    assert!(slowest > 1.0 && near(mean * 2.0, slowest), "{mean} {slowest}");
    assert!(near(half, (mean + slowest) / 2.0), "{mean} {half} {slowest}");
}

#[test]
fn full_link_is_max_min_shared_and_stalls_spread_upstream() {
    let topology = vishnu().unwrap();
    // Three flows from three leaves into host 13: 0.2, 0.6 and 0.9 of its link get 0.2, 0.4 and 0.4.
    let jobs = vec![
        pair(&topology, 1, 25, 13, 0.2),
        pair(&topology, 2, 37, 13, 0.6),
        pair(&topology, 3, 49, 13, 0.9),
    ];
    let (from, into) = (host_link(&topology, 49, true), host_link(&topology, 13, false));
    let unheld = host_link(&topology, 25, true);
    let (lab, _) = played(setup(Arc::clone(&topology), jobs), 1);
    // The downlink to the leaf has the same capacity: it fills first, and the host's own link is just full.
    let down = topology.links_from(topology.vertex("spine01").unwrap());
    let down = down.filter(|link| topology.to(*link) == topology.from(into)).last().unwrap();
    assert!(near(lab.utilisations()[down.at()], 1.7) && near(lab.utilisations()[into.at()], 1.0));
    let excess = own_ratio(1.7) - UNLOADED;
    assert!(near(lab.ratios()[down.at()], own_ratio(1.7)));
    assert!(near(lab.ratios()[from.at()], own_ratio(0.9) + BACK_PRESSURE * excess));
    assert!(near(lab.ratios()[unheld.at()], own_ratio(0.2)), "a flow that has enough holds no other back");
}

fn incast(topology: &Topology, job_id: u64, first: u32, senders: u32, part: f64) -> LabJob {
    let mut nodes = vec![host(topology, 13)];
    nodes.extend((0..senders).map(|n| host(topology, first + 12 * n)));
    LabJob::new(job_id, nodes, Pattern::Incast, part * CAPACITY)
}

fn link(truth: &LabTruth, link: LinkIndex) -> &LinkTruth {
    truth.link_at(link, 0).unwrap()
}

#[test]
fn an_incast_is_an_endpoint_wherever_its_stalls_show() {
    let topology = vishnu().unwrap();
    let job = incast(&topology, 1, 25, 8, 0.5);
    let (lab, truth) = played(setup(Arc::clone(&topology), vec![job]), 1);
    let contended = truth.links_at(0);
    assert!(!contended.is_empty());
    for link in contended {
        assert_eq!((link.cause, link.kind), (Cause::SelfInflicted, CauseKind::Endpoint), "{link:?}");
    }
    assert!(lab.ratios().iter().copied().fold(0.0, f64::max) > 2.9);
}

#[test]
fn victim_upstream_of_a_full_link_finds_the_root() {
    let topology = vishnu().unwrap();
    let hog = incast(&topology, 2, 25, 8, 0.4);
    // Host 26 sends over the uplink of host 25's flow, to the same position of another leaf: 133.
    let victim = pair(&topology, 1, 26, 133, 0.1);
    let (_, truth) = played(setup(Arc::clone(&topology), vec![hog, victim]), 10);
    let lost = &truth.job(1).unwrap().lost;
    assert!(lost.to[&(2, TrafficClass::Mpi)] > 1.0, "{lost:?}");
    let shared = truth.links_at(0).iter().find(|l| l.victim == 1).unwrap();
    assert_eq!((shared.cause, shared.kind), (Cause::OtherJob, CauseKind::Endpoint), "{shared:?}");
    assert_ne!(shared.root, shared.link);
}

#[test]
fn a_broadcast_saturates_the_link_of_its_root_alone() {
    let topology = vishnu().unwrap();
    let nodes = (0..40).map(|n| host(&topology, 1 + 3 * n)).collect();
    let job = LabJob::new(1, nodes, Pattern::Broadcast, 0.99 * CAPACITY);
    let (_, truth) = played(setup(Arc::clone(&topology), vec![job]), 1);
    let contended: Vec<LinkIndex> = truth.links_at(0).iter().map(|link| link.link).collect();
    assert_eq!(contended, [host_link(&topology, 1, true)]);
    let link = link(&truth, contended[0]);
    assert_eq!((link.cause, link.kind), (Cause::SelfInflicted, CauseKind::Endpoint));
}

#[test]
fn one_direction_of_a_cable_does_not_heat_the_other() {
    let topology = vishnu().unwrap();
    let jobs = vec![pair(&topology, 1, 1, 13, 0.5), pair(&topology, 2, 2, 25, 0.5)];
    let (lab, truth) = played(setup(Arc::clone(&topology), jobs), 1);
    assert!(!truth.links_at(0).is_empty());
    for link in truth.links_at(0) {
        assert_eq!(lab.ratios()[topology.reverse(link.link).at()], UNLOADED);
    }
}

#[test]
fn io_of_the_own_job_is_self_and_io_of_another_is_io_on_mpi() {
    let topology = vishnu().unwrap();
    let io = |from_s| LabIo {
        bytes_per_s: 0.7 * CAPACITY,
        writers: 1,
        targets: vec![host(&topology, 25)],
        from_s,
        every_s: 20,
        for_s: 5,
        on_osts: false,
    };
    let victim = pair(&topology, 1, 1, 13, 0.25);
    let mut writer = pair(&topology, 2, 2, 25, 0.0);
    writer.io = Some(io(10));
    let (_, truth) = played(setup(Arc::clone(&topology), vec![victim.clone(), writer]), 40);
    let busy = truth.links_at(10);
    assert!(busy.iter().any(|l| l.victim == 1 && l.cause == Cause::IoOnMpi), "{busy:?}");
    assert!(truth.links_at(9).is_empty() && truth.links_at(15).is_empty() && !truth.links_at(34).is_empty());
    assert!(truth.job(1).unwrap().lost.to[&(2, TrafficClass::Io)] > 1.0);
    let mut both = victim;
    both.io = Some(io(10));
    let (_, truth) = played(setup(Arc::clone(&topology), vec![both]), 20);
    assert_eq!(truth.job(1).unwrap().lost.longer_s(), 0.0);
}

#[test]
fn phases_stretch_while_others_are_in_the_way() {
    let topology = vishnu().unwrap();
    let mut job = pair(&topology, 1, 1, 13, 0.2);
    (job.work_s, job.phases) = (30.0, Some(Phases { on_s: 10.0, off_s: 5 }));
    let (_, alone) = played(setup(Arc::clone(&topology), vec![job.clone()]), 60);
    assert_eq!((job.alone_s(), alone.job(1).unwrap().run_s()), (40.0, Some(40.0)));
    let (_, both) = played(setup(Arc::clone(&topology), vec![job, pair(&topology, 2, 2, 25, 0.75)]), 200);
    let truth = both.job(1).unwrap();
    // A phase ends with the second in which its work is done, so pauses keep whole seconds.
    assert!(near(truth.run_s().unwrap() - 40.0, truth.lost.longer_s()), "{truth:?}");
    assert!(truth.lost.longer_s() > 10.0);
}

#[test]
fn remaining_uplinks_carry_the_load_of_failed_ones() {
    let topology = two_level(4, 4, 4).unwrap();
    let nodes: Vec<VertexIndex> = topology.vertices_of(VertexKind::Host).collect();
    let job = LabJob::new(1, nodes, Pattern::AllToAll, 0.9 * CAPACITY);
    let leaf = topology.vertex("leaf01").unwrap();
    let up: Vec<LinkIndex> =
        topology.links_from(leaf).filter(|l| topology.kind(topology.to(*l)) == VertexKind::Switch).collect();
    let mut setup = setup(Arc::clone(&topology), vec![job]);
    let event = |at_s, change| Event { at_s, change };
    setup.events = vec![event(20, Change::Up(up[0])), event(10, Change::Down(up[0]))];
    let mut lab = Lab::new(setup).unwrap();
    for second in 0..30 {
        lab.step();
        let loads: f64 = up.iter().map(|link| lab.utilisations()[link.at()]).sum();
        assert!(
            (loads - 4.0 * 0.9 * 12.0 / 15.0).abs() < 1e-6,
            "nothing is lost on the way: {second} {loads}"
        );
        assert_eq!(lab.utilisations()[up[0].at()] == 0.0, (10..20).contains(&second));
    }
    let truth = lab.truth();
    let lost = &truth.job(1).unwrap().lost;
    assert!(lost.failover_s > 1.0 && lost.to.is_empty(), "{lost:?}");
    assert!(truth.links_at(9).is_empty() && truth.links_at(20).is_empty());
    assert!(truth.links_at(15).iter().all(|link| link.cause == Cause::FailoverInduced));
}

#[test]
fn a_host_without_its_link_stands_still_until_it_returns() {
    let topology = vishnu().unwrap();
    let mut job = pair(&topology, 1, 1, 13, 0.2);
    job.work_s = 20.0;
    let link = host_link(&topology, 13, true);
    let mut setup = setup(topology, vec![job]);
    setup.events =
        vec![Event { at_s: 5, change: Change::Down(link) }, Event { at_s: 12, change: Change::Up(link) }];
    let (_, truth) = played(setup, 40);
    let job = truth.job(1).unwrap();
    assert!(near(job.run_s().unwrap(), 27.0) && near(job.lost.failover_s, 7.0), "{job:?}");
}

#[test]
fn trunks_stand_in_for_their_failed_links() {
    let topology = three_level_small().unwrap();
    let groups = topology::ParallelLinks::of(&topology);
    let trunk = |g: &usize| matches!(groups.kind(*g), topology::ParallelKind::Trunk(..));
    let trunk = groups.links((0..groups.len()).find(trunk).unwrap()).to_vec();
    let nodes: Vec<VertexIndex> = topology.vertices_of(VertexKind::Host).collect();
    let job = LabJob::new(1, nodes, Pattern::Tornado, 1e9);
    let mut setup = setup(Arc::clone(&topology), vec![job]);
    setup.events = vec![Event { at_s: 1, change: Change::Down(trunk[0]) }];
    let mut lab = Lab::new(setup).unwrap();
    lab.step();
    let before: Vec<f64> = lab.utilisations();
    lab.step();
    let after = lab.utilisations();
    let moved: Vec<usize> = (0..before.len()).filter(|l| !near(before[*l], after[*l])).collect();
    let ends = |l: &usize| (topology.from(LinkIndex(*l as u32)), topology.to(LinkIndex(*l as u32)));
    let (from, to) = (topology.from(trunk[0]), topology.to(trunk[0]));
    assert!(moved.iter().all(|l| ends(l) == (from, to) || ends(l) == (to, from)), "{moved:?}");
}

#[test]
fn every_pair_of_every_machine_has_a_way() {
    for topology in [aries_chassis().unwrap(), dragonfly_plus_small().unwrap(), three_level_small().unwrap()]
    {
        for routing in [
            Routing::Tables,
            Routing::Minimal,
            Routing::Valiant,
            Routing::Adaptive { threshold_percent: 50 },
            Routing::Striped(Striping::Even),
            Routing::Striped(Striping::Adaptive { alpha_percent: 50 }),
        ] {
            let nodes: Vec<VertexIndex> = topology.vertices_of(VertexKind::Host).collect();
            let job = LabJob::new(1, nodes, Pattern::AllToAll, 1e8);
            let mut lab = Lab::new(Setup { routing, ..setup(Arc::clone(&topology), vec![job]) }).unwrap();
            lab.step();
            let host =
                topology.links().find(|l| topology.kind(topology.from(*l)) == VertexKind::Host).unwrap();
            let out = topology.links_from(topology.from(host));
            let sent: f64 = out.map(|l| lab.utilisations()[l.at()] * topology.bytes_per_s(l)).sum();
            assert!((sent / 1e8 - 1.0).abs() < 1e-9, "{sent}");
        }
    }
}
