//! Where flows go: tables, walks, projection, validity, parallel links, regions.

use crate::integration::machines::brown;
use schemas::Time;
use std::collections::BTreeSet;
use topology::generate::{DragonflyPlus, FatTree};
use topology::{
    Flow, ForwardingTable, Imbalance, LinkClass, LinkIndex, Machine, ParallelKind, ParallelLinks, RouteError,
    Topology, VertexIndex, VertexKind, regions,
};

fn vishnu(lmc: u8) -> Topology {
    Machine::FatTree(FatTree::vishnu(lmc)).build().unwrap()
}

fn hosts(topology: &Topology) -> Vec<VertexIndex> {
    topology.vertices_of(VertexKind::Host).collect()
}

fn lid(topology: &Topology, rail: u8, host: VertexIndex) -> u16 {
    topology.lids().of_vertex(rail, host).next().unwrap()
}

#[test]
fn every_host_reaches_every_other_up_and_then_down() {
    for topology in [brown(1), vishnu(0)] {
        let routes = topology.routes_at(None);
        let hosts = hosts(&topology);
        let mut path = Vec::new();
        for from in hosts.iter().step_by(17) {
            for (number, to) in hosts.iter().enumerate() {
                path.clear();
                routes.walk_into(*from, 0, number as u16 + 1, &mut path).unwrap_or(());
                if from == to {
                    assert!(path.is_empty());
                    continue;
                }
                assert_eq!(topology.to(*path.last().unwrap()), *to);
                let levels: Vec<_> = path.iter().map(|l| topology.level(topology.to(*l)).unwrap()).collect();
                let top = levels.iter().position(|l| l == levels.iter().max().unwrap()).unwrap();
                assert!(
                    levels[..=top].is_sorted() && levels[top..].is_sorted_by(|a, b| a >= b),
                    "{levels:?}"
                );
            }
        }
    }
}

#[test]
fn destination_mod_k_balances_destinations_over_uplinks() {
    let tree = brown(1);
    let routes = tree.routes_at(None);
    for switch in tree.vertices_of(VertexKind::Switch).filter(|s| tree.level(*s) != Some(3)) {
        let mut uses = std::collections::BTreeMap::new();
        for host in hosts(&tree) {
            let next = routes.next(switch, lid(&tree, 0, host)).unwrap();
            if tree.level(tree.to(next)) > tree.level(switch) {
                *uses.entry(next).or_insert(0) += 1;
            }
        }
        assert_eq!(uses.len(), 18);
        let (least, most) = (uses.values().min().unwrap(), uses.values().max().unwrap());
        assert!(most - least <= 1, "{}: {uses:?}", tree.name(switch));
    }
}

#[test]
fn servers_on_port_18_use_four_second_level_switches() {
    let tree = brown(1);
    let routes = tree.routes_at(None);
    let hosts = hosts(&tree);
    let mut descended = BTreeSet::new();
    for server in hosts.iter().skip(17).step_by(18) {
        for from in hosts.iter().step_by(31) {
            for link in routes.walk(*from, 0, lid(&tree, 0, *server)).unwrap() {
                if tree.level(tree.from(link)) == Some(2) && tree.level(tree.to(link)) == Some(1) {
                    descended.insert(tree.from(link));
                }
            }
        }
    }
    assert_eq!(descended.len(), 4);
}

#[test]
fn both_rails_have_tables_and_lids_of_their_own() {
    let tree = brown(2);
    let routes = tree.routes_at(None);
    let hosts = hosts(&tree);
    for rail in [0, 1] {
        let path = routes.walk(hosts[0], rail, lid(&tree, rail, hosts[1000])).unwrap();
        assert_eq!(path.len(), 6);
        assert!(path.iter().all(|link| tree.rail(*link) == rail));
    }
}

#[test]
fn the_lids_of_one_host_are_paths_over_different_spines() {
    let tree = vishnu(2);
    let routes = tree.routes_at(None);
    let hosts = hosts(&tree);
    let lids: Vec<u16> = tree.lids().of_vertex(0, hosts[50]).collect();
    assert_eq!(lids.len(), 4);
    assert_eq!(tree.lids().lowest(0, tree.vertex_count())[hosts[50].at()], lids[0]);
    let spine = |lid| tree.to(routes.walk(hosts[0], 0, lid).unwrap()[1]);
    assert_eq!(lids.iter().map(|lid| spine(*lid)).collect::<BTreeSet<_>>().len(), 4);
}

#[test]
fn displaced_ring_loads_every_uplink_once() {
    let tree = vishnu(0);
    let routes = tree.routes_at(None);
    let hosts = hosts(&tree);
    let flows: Vec<Flow> = (0..12)
        .map(|rank| Flow { from: hosts[rank], rail: 0, lid: lid(&tree, 0, hosts[rank + 12]), bytes: 1.0 })
        .collect();
    let mut loads = vec![0.0; tree.link_count()];
    assert_eq!(routes.project(&flows, &mut loads), 0.0);
    let groups = ParallelLinks::of(&tree);
    let leaf = tree.to(tree.links_from(hosts[0]).next().unwrap());
    let uplinks = groups.find(ParallelKind::Uplinks(leaf)).unwrap();
    let of_uplinks = groups.links(uplinks).iter().map(|link| loads[link.at()]);
    assert_eq!(Imbalance::of(of_uplinks, 0.0).unwrap().max_over_mean(), 1.0);
    let busy = groups.links(uplinks)[0];
    assert_eq!(routes.crossing(&flows, busy).collect::<Vec<_>>(), [0], "destination 12 goes by spine 0");
}

#[test]
fn a_dragonfly_plus_routes_over_one_global_link_at_most() {
    let machine = Machine::DragonflyPlus(DragonflyPlus::kang()).build().unwrap();
    let routes = machine.routes_at(None);
    let hosts = hosts(&machine);
    for from in hosts.iter().step_by(191) {
        for to in hosts.iter().step_by(37).filter(|to| *to != from) {
            let path = routes.walk(*from, 0, lid(&machine, 0, *to)).unwrap();
            let global = path.iter().filter(|link| machine.class(**link) == LinkClass::Global).count();
            let other_group = machine.group(*from) != machine.group(*to);
            assert_eq!(global, usize::from(other_group));
            assert!(path.len() <= 5);
        }
    }
}

#[test]
fn flows_are_looked_up_in_the_tables_valid_at_their_time() {
    let plain = topology::PlainTopology::of(&vishnu(0));
    let mut early = plain.tables[0].clone();
    (early.from, early.until) = (None, Some(1000.0));
    let mut late = plain.tables[0].clone();
    late.from = Some(1000.0);
    // From 1000 s on the first leaf sends everything for the second leaf over its last spine.
    late.switches.insert("leaf01".to_string(), "13-24:24".to_string());
    let tables = vec![late, early];
    let (tree, faults) = topology::PlainTopology { tables, ..plain }.build().unwrap();
    let hosts = hosts(&tree);
    let spine_at = |time: f64| {
        let routes = tree.routes_at(Some(Time::from_seconds(time)));
        tree.name(tree.to(routes.walk(hosts[0], 0, 13).unwrap()[1])).to_string()
    };
    assert_eq!((spine_at(999.9), spine_at(1000.0)), ("spine01".to_string(), "spine12".to_string()));
    assert!(faults.count(topology::FaultKind::Unreachable) > 0, "other leaves are not in the late row");
    let none = tree.routes_at(Some(Time::from_seconds(1000.0)));
    assert!(matches!(none.walk(hosts[0], 0, 30), Err(RouteError::NoEntry(_))));
}

#[test]
fn a_table_grows_by_rows_and_forgets_nothing() {
    let mut table = ForwardingTable::new(3, 10, None, None);
    table.set(VertexIndex(2), 9, 4);
    table.set(VertexIndex(0), 1, 7);
    table.set(VertexIndex(0), 10, 7);
    assert_eq!((table.port(VertexIndex(2), 9), table.port(VertexIndex(0), 1)), (Some(4), Some(7)));
    assert_eq!((table.port(VertexIndex(0), 10), table.port(VertexIndex(1), 1)), (None, None));
}

#[test]
fn black_lanes_are_a_trunk_and_the_directions_are_apart() {
    let machine = topology::generate::Aries::new(2);
    let machine = Machine::Aries(machine).build().unwrap();
    let groups = ParallelLinks::of(&machine);
    let (a, b) = (machine.vertex("c0-0c0s5").unwrap(), machine.vertex("c0-0c1s5").unwrap());
    let there = groups.links(groups.find(ParallelKind::Trunk(a, b)).unwrap());
    let back = groups.links(groups.find(ParallelKind::Trunk(b, a)).unwrap());
    assert_eq!((there.len(), back.len()), (3, 3));
    assert!(there.iter().all(|link| back.contains(&machine.reverse(*link)) && !back.contains(link)));
    let blue = groups.links(groups.find(ParallelKind::BetweenGroups(0, 1)).unwrap());
    assert_eq!(blue.len(), 960);
    assert!(blue.iter().all(|link| groups.groups_of(*link).len() <= 2));
}

#[test]
fn links_that_touch_and_are_alike_are_one_region() {
    let tree = vishnu(0);
    let leaves: Vec<VertexIndex> = ["leaf01", "leaf02"].iter().map(|n| tree.vertex(n).unwrap()).collect();
    let up = |leaf: usize, port: u16| tree.link(leaves[leaf], port).unwrap();
    let chosen = [up(0, 13), up(0, 14), up(1, 15), up(1, 14), up(0, 13)];
    let all = regions(&tree, &chosen, |_, _| true);
    assert_eq!(all.len(), 1, "spine 2 connects both leaves");
    assert_eq!(all[0].len(), 4);
    let apart = regions(&tree, &chosen, |a, b| tree.from(a) == tree.from(b));
    assert_eq!(apart, vec![vec![up(0, 13), up(0, 14)], vec![up(1, 14), up(1, 15)]]);
    assert!(regions(&tree, &[] as &[LinkIndex], |_, _| true).is_empty());
}

#[test]
fn a_shortest_path_is_found_where_there_are_no_tables() {
    let machine = Machine::Aries(topology::generate::Aries::new(2)).build().unwrap();
    let end = |name: &str| machine.vertex(name).unwrap();
    let path = |a, b| topology::shortest::shortest_path(&machine, end(a), end(b)).unwrap();
    assert_eq!(path("nid00000", "nid00001").len(), 2);
    assert_eq!(path("nid00000", "nid00004").len(), 3);
    assert!(path("nid00000", "nid00767").len() <= 7);
    assert!(path("nid00000", "nid00000").is_empty());
}
