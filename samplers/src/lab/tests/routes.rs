//! Where flows go by each kind of routing.

use crate::lab::drawn::vishnu_drawn;
use crate::lab::flows::{Flows, Paths};
use crate::lab::placement::Choices;
use crate::lab::{Lab, LabError, LabJob, Noise, Pattern, Routing, Setup, Striping, asked, flow_bandwidths};
use schemas::Cause;
use std::collections::BTreeSet;
use std::sync::Arc;
use topology::generate::FatTree;
use topology::machines::{aries, brown_two_rails, dragonfly_plus_small, three_level_small, two_level};
use topology::{LinkIndex, Machine, Topology, VertexIndex, VertexKind};

const ADAPTIVE: Routing = Routing::Adaptive { threshold_percent: 50 };
const STRIPED: Routing = Routing::Striped(Striping::Even);
const WEIGHED: Routing = Routing::Striped(Striping::Adaptive { alpha_percent: 50 });

fn hosts(topology: &Topology) -> Vec<VertexIndex> {
    topology.vertices_of(VertexKind::Host).collect()
}

/// Sends from each of `hosts` to each other.
fn all_to_all(hosts: Vec<VertexIndex>, bytes_per_s: f64) -> LabJob {
    LabJob::new(1, hosts, Pattern::AllToAll, bytes_per_s)
}

fn placed(topology: &Topology, routing: Routing, job: &LabJob) -> (Flows, Arc<Paths>) {
    let flows = Flows::of(topology, std::slice::from_ref(job), 1);
    let numbers: Vec<u32> = (0..flows.all.len() as u32).collect();
    let placed = Choices::of(topology, routing, &flows, &[]).place(&numbers, topology.capacities());
    (flows, placed.paths)
}

fn groups_of(topology: &Topology, path: &[LinkIndex]) -> BTreeSet<u32> {
    path.iter().filter_map(|link| topology.group(topology.to(*link))).collect()
}

#[test]
fn paths_lead_from_end_to_end_and_take_no_link_twice() {
    let machines = [
        aries(3).unwrap(),
        dragonfly_plus_small().unwrap(),
        three_level_small().unwrap(),
        two_level(3, 4, 4).unwrap(),
    ];
    for topology in machines {
        let some = hosts(&topology).into_iter().step_by(11).collect();
        let job = all_to_all(some, 1e9);
        for routing in [Routing::Valiant, ADAPTIVE] {
            let (flows, paths) = placed(&topology, routing, &job);
            for (number, flow) in (0..).zip(flows.all.iter()) {
                let path = paths.of(number);
                let mut at = flow.from;
                for link in path {
                    assert_eq!(topology.from(*link), at);
                    at = topology.to(*link);
                }
                assert_eq!(at, flow.to);
                assert_eq!(path.iter().collect::<BTreeSet<_>>().len(), path.len(), "{routing:?} {path:?}");
            }
        }
    }
}

#[test]
fn valiant_goes_over_a_third_group_and_is_minimal_inside_one() {
    for topology in [aries(3).unwrap(), dragonfly_plus_small().unwrap()] {
        let some: Vec<VertexIndex> = hosts(&topology).into_iter().step_by(7).collect();
        let job = all_to_all(some, 1e9);
        let (flows, paths) = placed(&topology, Routing::Valiant, &job);
        let (_, minimal) = placed(&topology, Routing::Minimal, &job);
        let mut over = BTreeSet::new();
        for (number, flow) in (0..).zip(flows.all.iter()) {
            let ends = [topology.group(flow.from).unwrap(), topology.group(flow.to).unwrap()];
            let groups = groups_of(&topology, paths.of(number));
            if ends[0] == ends[1] {
                assert_eq!(paths.of(number), minimal.of(number));
            } else {
                assert_eq!(groups.len(), 3, "{groups:?}");
                over.extend(groups.into_iter().filter(|group| !ends.contains(group)));
            }
        }
        assert_eq!(over.len(), topology.group_count());
    }
}

#[test]
fn valiant_in_a_tree_draws_its_way_up_and_stays_shortest() {
    let topology = three_level_small().unwrap();
    let job = all_to_all(hosts(&topology), 1e9);
    let (flows, paths) = placed(&topology, Routing::Valiant, &job);
    let (_, usual) = placed(&topology, Routing::Tables, &job);
    let mut tops = BTreeSet::new();
    for number in 0..flows.all.len() as u32 {
        assert_eq!(paths.of(number).len(), usual.of(number).len());
        let highest = paths.of(number).iter().map(|link| topology.to(*link));
        tops.extend(highest.filter(|vertex| topology.level(*vertex) == Some(3)));
    }
    let all = topology.vertices().filter(|vertex| topology.level(*vertex) == Some(3)).count();
    assert_eq!(tops.len(), all);
}

fn peak(topology: &Topology, loads: &[f64]) -> f64 {
    let switch = |vertex| topology.kind(vertex) != VertexKind::Host;
    let between = |link: &LinkIndex| switch(topology.from(*link)) && switch(topology.to(*link));
    topology.links().filter(between).map(|link| loads[link.at()]).fold(0.0, f64::max)
}

#[test]
fn adaptive_is_minimal_under_light_load_and_spreads_a_heavy_one() {
    for topology in [dragonfly_plus_small().unwrap(), aries(3).unwrap(), two_level(4, 4, 4).unwrap()] {
        // All of one group or leaf to the next: minimal paths share few links.
        let group = hosts(&topology).iter().filter(|host| topology.group(**host) == Some(0)).count();
        let shift = if group == 0 { 4 } else { group };
        let some = hosts(&topology)[..2 * shift].to_vec();
        let loads = |routing: Routing, bytes_per_s: f64| {
            let job = LabJob::new(1, some.clone(), Pattern::Ring { step: shift }, bytes_per_s);
            asked(&topology, routing, &[job], 1)
        };
        let one = peak(&topology, &loads(Routing::Minimal, 1.0));
        assert_eq!(loads(ADAPTIVE, 0.49 / one), loads(Routing::Minimal, 0.49 / one));
        let (minimal, adaptive) = (loads(Routing::Minimal, 1.2 / one), loads(ADAPTIVE, 1.2 / one));
        assert!(peak(&topology, &adaptive) < 0.9 * peak(&topology, &minimal));
        assert!(peak(&topology, &adaptive) > 0.0);
    }
}

fn play(lab: &mut Lab, seconds: u32) {
    for _ in 0..seconds {
        lab.step();
    }
}

#[test]
fn adaptive_flows_choose_again_when_another_job_starts() {
    let topology = dragonfly_plus_small().unwrap();
    let all = hosts(&topology);
    // Both jobs send from the first group to the second.
    let job = |id: u64, first: usize, start_s: u32| {
        let nodes: Vec<VertexIndex> =
            all[first..first + 8].iter().chain(&all[16 + first..24 + first]).copied().collect();
        let mut job = LabJob::new(id, nodes, Pattern::Ring { step: 8 }, 2e9);
        job.start_s = start_s;
        job
    };
    let peak_at = |routing: Routing, seconds: u32| {
        let jobs = vec![job(1, 0, 0), job(2, 8, 5)];
        let topology = Arc::clone(&topology);
        let noise = Noise::default();
        let setup = Setup { topology, routing, jobs, events: Vec::new(), noise, seed: 1 };
        let mut lab = Lab::new(setup).unwrap();
        play(&mut lab, seconds);
        peak(lab.topology(), &lab.utilisations())
    };
    assert!(peak_at(Routing::Minimal, 7) > 1.0);
    assert!(peak_at(ADAPTIVE, 7) < 1.0);
}

/// Over the 23 steps of a displaced ring of 24 ranks on two leaves, as a part of what a host can send.
fn mean_bandwidth(routing: Routing, lmc: u8, seeds: u64) -> f64 {
    let mut bandwidths = Vec::new();
    for seed in 0..seeds {
        let topology = vishnu_drawn(lmc, seed).unwrap();
        let ranks = hosts(&topology)[..24].to_vec();
        for step in 1..24 {
            let job = LabJob::new(1, ranks.clone(), Pattern::Ring { step }, 1e9);
            bandwidths.extend(flow_bandwidths(&topology, routing, &[job], 1));
        }
    }
    bandwidths.iter().sum::<f64>() / bandwidths.len() as f64 / 1e9
}

/// Check T2: with paths drawn at random, a reckoning beside the paper gives 0.872, 0.895, 0.955 and 0.991.
/// Here it is 0.872, 0.904, 0.933 and 0.985.
#[test]
fn more_paths_carry_more_and_weighed_ones_most() {
    let one = mean_bandwidth(Routing::Tables, 0, 10);
    let even = mean_bandwidth(STRIPED, 2, 10);
    let two = mean_bandwidth(WEIGHED, 1, 10);
    let four = mean_bandwidth(WEIGHED, 2, 5);
    assert!(one < even && even < two && two < four, "{one} {even} {two} {four}");
    assert!((0.85..0.89).contains(&one) && four > 0.97, "{one} {even} {two} {four}");
}

#[test]
fn striped_flow_is_as_slow_as_its_slowest_part() {
    let topology = Machine::FatTree(FatTree::vishnu(2)).build().unwrap();
    let all = hosts(&topology);
    let flow = |from: usize, to: usize, bytes_per_s: f64| {
        LabJob::new(from as u64 + 1, vec![all[from], all[to]], Pattern::Broadcast, bytes_per_s)
    };
    // Four LIDs of host 13 lead over four spines; to host 25, in the same position, over the same ones.
    let loads = asked(&topology, STRIPED, &[flow(0, 12, 0.8e9)], 1);
    assert_eq!(loads.iter().filter(|load| (**load - 0.2).abs() < 1e-9).count(), 8);
    assert_eq!(loads.iter().filter(|load| (**load - 0.8).abs() < 1e-9).count(), 2);
    // One of its uplinks is full of others: each part of the first flow there gets what is left.
    let one_way = vishnu_drawn(2, 3).unwrap();
    let jobs: Vec<LabJob> = (0..12).map(|from| flow(from, 12 + from, 1e9)).collect();
    for (even, weighed) in
        flow_bandwidths(&one_way, STRIPED, &jobs, 1).iter().zip(flow_bandwidths(&one_way, WEIGHED, &jobs, 1))
    {
        assert!(weighed >= 0.95 * even, "{even} {weighed}");
    }
}

#[test]
fn rerouted_flow_is_no_contention_on_its_new_link() {
    let topology = two_level(2, 4, 4).unwrap();
    let all = hosts(&topology);
    let job = |at: usize| LabJob::new(at as u64 + 1, vec![all[at], all[4 + at]], Pattern::Broadcast, 0.6e9);
    let setup = Setup {
        topology: Arc::clone(&topology),
        routing: ADAPTIVE,
        jobs: (0..4).map(job).collect(),
        events: Vec::new(),
        noise: Noise::default(),
        seed: 1,
    };
    let mut lab = Lab::new(setup).unwrap();
    play(&mut lab, 2);
    for link in lab.contended() {
        assert!(lab.utilisations()[link.root.at()] > 0.7, "{link:?}");
        assert_ne!(link.cause, Cause::Unknown, "{link:?}");
    }
}

#[test]
fn striped_flows_lose_to_flows_on_one_of_their_paths() {
    let topology = vishnu_drawn(2, 1).unwrap();
    let all = hosts(&topology);
    for routing in [STRIPED, WEIGHED] {
        let job = |id: u64, first: usize, bytes_per_s: f64| {
            let nodes = all[first..first + 6].iter().chain(&all[12 + first..18 + first]).copied().collect();
            LabJob::new(id, nodes, Pattern::Ring { step: 6 }, bytes_per_s)
        };
        let setup = Setup {
            topology: Arc::clone(&topology),
            routing,
            jobs: vec![job(1, 0, 0.6e9), job(2, 6, 0.95e9)],
            events: Vec::new(),
            noise: Noise::default(),
            seed: 1,
        };
        let mut lab = Lab::new(setup).unwrap();
        play(&mut lab, 20);
        let lost = lab.truth().job(1).unwrap().lost.clone();
        assert!(lost.to_others_s() > 0.1 && lost.failover_s == 0.0, "{routing:?} {lost:?}");
    }
}

#[test]
fn flows_by_tables_use_both_rails() {
    let topology = brown_two_rails().unwrap();
    let some = hosts(&topology).into_iter().step_by(40).collect();
    let job = all_to_all(some, 1e9);
    for routing in [Routing::Tables, STRIPED] {
        let loads = asked(&topology, routing, std::slice::from_ref(&job), 1);
        let of_rail = |rail| -> f64 {
            topology.links().filter(|l| topology.rail(*l) == rail).map(|l| loads[l.at()]).sum()
        };
        let (first, second) = (of_rail(0), of_rail(1));
        assert!((first / second - 1.0).abs() < 0.2, "{routing:?} {first} {second}");
    }
}

#[test]
fn routing_by_impossible_numbers_is_refused() {
    let topology = two_level(3, 3, 3).unwrap();
    let refused = |routing| {
        let job = all_to_all(hosts(&topology), 1e8);
        let topology = Arc::clone(&topology);
        let noise = Noise::default();
        Lab::new(Setup { topology, routing, jobs: vec![job], events: Vec::new(), noise, seed: 1 })
            .is_err_and(|error| matches!(error, LabError::Routing(_)))
    };
    assert!(refused(Routing::Adaptive { threshold_percent: 101 }));
    assert!(refused(Routing::Striped(Striping::Adaptive { alpha_percent: 0 })));
    assert!(refused(Routing::Striped(Striping::Adaptive { alpha_percent: 101 })));
    assert!(!refused(ADAPTIVE) && !refused(WEIGHED));
}
