//! Counts that the papers print.

use std::collections::BTreeMap;
use topology::generate::{Aries, DragonflyPlus, FatTree};
use topology::{LinkClass, Machine, Topology, VertexIndex, VertexKind};

pub fn brown(rails: u32) -> Topology {
    Machine::FatTree(FatTree::brown(rails)).build().unwrap()
}

fn mutrino() -> Topology {
    let populated = ["c0-0c0", "c0-0c1s0-11", "c1-0c0", "c1-0c1s0-11"].map(String::from).to_vec();
    Machine::Aries(Aries { populated, ..Aries::new(1) }).build().unwrap()
}

fn levels(topology: &Topology, rail: u8) -> BTreeMap<u8, usize> {
    let mut counts = BTreeMap::new();
    for vertex in topology.vertices() {
        if topology.links_from(vertex).any(|link| topology.rail(link) == rail) {
            *counts.entry(topology.level(vertex).unwrap()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn b1_the_fat_tree_has_the_printed_levels_and_links() {
    let tree = brown(1);
    assert_eq!(levels(&tree, 0), BTreeMap::from([(0, 1296), (1, 72), (2, 72), (3, 36)]));
    assert_eq!(tree.link_count(), 7776, "directed ends of 3,888 links");
    assert!(tree.links().all(|link| tree.level(tree.from(link)) != tree.level(tree.to(link))));
    assert!(tree.vertices_of(VertexKind::Switch).all(|switch| tree.links_from(switch).count() == 36));
}

#[test]
fn b1_the_second_rail_mirrors_the_first() {
    let (one, two) = (brown(1), brown(2));
    assert_eq!((two.rail_count(), two.link_count()), (2, 2 * 7776));
    for rail in [0, 1] {
        assert_eq!(levels(&two, rail), levels(&one, 0));
    }
    let wires = |rail: u8, prefix: &str| -> Vec<(String, String, u16)> {
        let links = two.links().filter(|link| two.rail(*link) == rail);
        let name = |vertex| two.name(vertex).as_str().replace(prefix, "");
        let mut all: Vec<_> =
            links.map(|link| (name(two.from(link)), name(two.to(link)), two.port(link) % 256)).collect();
        all.sort();
        all
    };
    assert_eq!(wires(0, "rail0-"), wires(1, "rail1-"));
}

/// Level of a vertex as a search from `start` alone finds it: hosts are met in another order, levels are the same.
fn level_by_search(topology: &Topology, start: VertexIndex) -> BTreeMap<VertexIndex, u32> {
    let mut seen = BTreeMap::from([(start, ())]);
    let mut order = vec![start];
    let mut at = 0;
    while at < order.len() {
        for link in topology.links_from(order[at]) {
            if seen.insert(topology.to(link), ()).is_none() {
                order.push(topology.to(link));
            }
        }
        at += 1;
    }
    // Relaxation in the order of discovery, repeated until nothing changes: no queue of all hosts is used.
    let mut level: BTreeMap<VertexIndex, u32> = BTreeMap::new();
    loop {
        let mut changed = false;
        for vertex in &order {
            let host = topology.kind(*vertex) == VertexKind::Host;
            let near = topology.links_from(*vertex).filter_map(|link| level.get(&topology.to(link))).min();
            let found = if host { Some(0) } else { near.map(|near| near + 1) };
            if let Some(found) = found {
                changed |= level.insert(*vertex, found) != Some(found);
            }
        }
        if !changed {
            return level;
        }
    }
}

#[test]
fn b1_levels_do_not_depend_on_the_node_where_the_search_begins() {
    let tree = brown(1);
    for start in [0, 700, 1295, 1300, 1475].map(VertexIndex) {
        let found = level_by_search(&tree, start);
        assert_eq!(found.len(), tree.vertex_count());
        assert!(found.iter().all(|(v, level)| tree.level(*v).map(u32::from) == Some(*level)), "{start:?}");
    }
}

#[test]
fn k1_the_dragonfly_plus_has_the_printed_global_links() {
    let machine = Machine::DragonflyPlus(DragonflyPlus::kang()).build().unwrap();
    assert_eq!(machine.vertices_of(VertexKind::Host).count(), 3456);
    assert_eq!((machine.group_count(), machine.vertices_of(VertexKind::Switch).count()), (9, 9 * 48));
    let mut pairs: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let mut by_spine: BTreeMap<(VertexIndex, u32), usize> = BTreeMap::new();
    for link in machine.links().filter(|link| machine.class(*link) == LinkClass::Global) {
        let (from, to) = (machine.from(link), machine.to(link));
        let (a, b) = (machine.group(from).unwrap(), machine.group(to).unwrap());
        assert_ne!(a, b);
        *pairs.entry((a, b)).or_default() += 1;
        *by_spine.entry((from, b)).or_default() += 1;
        assert_eq!(machine.bytes_per_s(link), 4.37 * f64::from(1 << 30));
    }
    assert_eq!(pairs.len(), 9 * 8);
    assert!(pairs.values().all(|count| *count == 48));
    assert_eq!(by_spine.len(), 9 * 24 * 8);
    assert!(by_spine.values().all(|count| *count == 2));
    let of_group = pairs.iter().filter(|((a, _), _)| *a == 0).map(|(_, count)| count).sum::<usize>();
    assert_eq!(of_group, 384);
}

/// Links of `router` of a class, and how many it would have if all its peers are counted in `topology`.
fn of_class(topology: &Topology, router: VertexIndex, class: LinkClass) -> usize {
    topology.links_from(router).filter(|link| topology.class(*link) == class).count()
}

#[test]
fn full_aries_router_has_15_green_and_15_black_links() {
    let group = Machine::Aries(Aries::new(1)).build().unwrap();
    assert_eq!(group.vertices_of(VertexKind::Router).count(), 96);
    for router in group.vertices_of(VertexKind::Router) {
        assert_eq!(of_class(&group, router, LinkClass::Green), 15);
        assert_eq!(of_class(&group, router, LinkClass::Black), 15);
        assert_eq!(of_class(&group, router, LinkClass::Host), 8);
    }
}

#[test]
fn populated_mutrino_has_15_green_and_black_links() {
    let mutrino = mutrino();
    let slots = |chassis: &str| -> Vec<usize> {
        let there = |slot: &usize| mutrino.vertex(&format!("{chassis}s{slot}")).is_some();
        (0..16).filter(there).collect()
    };
    let chassis = ["c0-0c0", "c0-0c1", "c0-0c2", "c1-0c0", "c1-0c1", "c1-0c2"];
    assert_eq!(chassis.map(|c| slots(c).len()), [16, 12, 0, 16, 12, 0]);
    for own in chassis {
        for slot in slots(own) {
            let router = mutrino.vertex(&format!("{own}s{slot}")).unwrap();
            let others = chassis.iter().filter(|c| **c != own && slots(c).contains(&slot)).count();
            assert_eq!(of_class(&mutrino, router, LinkClass::Green), slots(own).len() - 1, "{own}s{slot}");
            assert_eq!(of_class(&mutrino, router, LinkClass::Black), 3 * others, "{own}s{slot}");
        }
    }
    let full = mutrino.vertex("c0-0c0s3").unwrap();
    assert_eq!(of_class(&mutrino, full, LinkClass::Green), 15);
    assert_eq!(mutrino.vertices_of(VertexKind::Host).count(), 56 * 4);
}

#[test]
fn tiles_are_those_of_the_simulated_cluster() {
    let group = Machine::Aries(Aries::new(1)).build().unwrap();
    let router = group.vertex("c0-0c1s8").unwrap();
    let peer = |tile: u16| group.name(group.to(group.link(router, tile).unwrap())).to_string();
    assert_eq!(
        (peer(0), peer(7), peer(8), peer(14)),
        names(["c0-0c1s0", "c0-0c1s7", "c0-0c1s9", "c0-0c1s15"])
    );
    assert_eq!(
        (peer(15), peer(17), peer(18), peer(29)),
        names(["c0-0c0s8", "c0-0c0s8", "c0-0c2s8", "c1-0c2s8"])
    );
    assert_eq!(
        (peer(40), peer(41), peer(42), peer(47)),
        names(["nid00096", "nid00096", "nid00097", "nid00099"])
    );
}

fn names(of: [&str; 4]) -> (String, String, String, String) {
    let [a, b, c, d] = of.map(String::from);
    (a, b, c, d)
}

#[test]
fn trinity_has_at_most_ten_blue_ports_a_router() {
    let start = std::time::Instant::now();
    let trinity = Machine::Aries(Aries { cabinets_per_row: 22, ..Aries::new(55) }).build().unwrap();
    let mib = trinity.memory_bytes() as f64 / f64::from(1 << 20);
    println!(
        "Trinity: {} vertices, {} directed links in {:.2} s, {mib:.1} MiB",
        trinity.vertex_count(),
        trinity.link_count(),
        start.elapsed().as_secs_f64()
    );
    assert_eq!(trinity.vertices_of(VertexKind::Router).count(), 55 * 96);
    let mut pairs = BTreeMap::new();
    for router in trinity.vertices_of(VertexKind::Router) {
        assert!(of_class(&trinity, router, LinkClass::Blue) <= 10);
        assert_eq!(of_class(&trinity, router, LinkClass::Black), 15);
        for link in trinity.links_from(router).filter(|link| trinity.class(*link) == LinkClass::Blue) {
            *pairs.entry((trinity.group(router), trinity.group(trinity.to(link)))).or_insert(0) += 1;
        }
    }
    assert_eq!(pairs.len(), 55 * 54);
    assert!(pairs.values().all(|count| *count == 17), "960 ports over 54 other groups");
    assert!(mib < 32.0, "{mib} MiB");
    assert_eq!(trinity.name(trinity.to(trinity.link(VertexIndex(0), 0).unwrap())).as_str(), "c0-0c0s1");
    assert!(trinity.vertex("c21-4c2s15").is_some());
}

#[test]
fn series_names_lead_to_links_and_back() {
    for topology in [mutrino(), brown(2), Machine::DragonflyPlus(DragonflyPlus::kang()).build().unwrap()] {
        let mut named = 0;
        for link in topology.links() {
            if let Some(series) = topology.series(link) {
                assert_eq!(topology.link_of_series(&series), Ok(link), "{}", series.name());
                named += 1;
            }
        }
        let silent = topology.links().filter(|link| topology.series(*link).is_none());
        // Only the hosts of Aries receive without a counter.
        assert!(silent.clone().all(|link| topology.kind(topology.to(link)) == VertexKind::Host));
        assert_eq!(named + silent.count(), topology.link_count());
    }
}

#[test]
fn an_aries_series_is_the_link_into_its_tile() {
    let group = Machine::Aries(Aries::new(1)).build().unwrap();
    let (from, to) = (group.vertex("c0-0c1s3").unwrap(), group.vertex("c0-0c1s8").unwrap());
    let link = group.links_from(from).find(|link| group.to(*link) == to).unwrap();
    assert_eq!(group.series_name(link).as_deref(), Some("aries_stall_ratio/c0-0c1s8/r0c3"));
}

#[test]
fn an_infiniband_series_is_the_link_out_of_its_port() {
    let tree = brown(2);
    let host = tree.vertex("node0001").unwrap();
    let names: Vec<String> = tree.links_from(host).filter_map(|link| tree.series_name(link)).collect();
    assert_eq!(names, ["ib_wait_ratio/node0001/mlx5_0.1", "ib_wait_ratio/node0001/mlx5_1.1"]);
    let leaf = tree.vertex("rail1-pod1-leaf01").unwrap();
    let up = tree.link(leaf, 19).unwrap();
    assert_eq!(tree.series_name(up).as_deref(), Some("ib_wait_ratio/rail1-pod1-leaf01/19"));
    assert_eq!(tree.name(tree.to(up)).as_str(), "rail1-pod1-spine01");
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let message = |machine: Machine| machine.build().unwrap_err().to_string();
    let tree = FatTree::brown(1);
    for (machine, word) in [
        (Machine::FatTree(FatTree { nodes_per_leaf: 19, ..tree.clone() }), "nodes_per_leaf"),
        (Machine::FatTree(FatTree { pods: 0, ..tree.clone() }), "pods"),
        (Machine::FatTree(FatTree { lmc: 6, ..tree.clone() }), "lmc"),
        (Machine::FatTree(FatTree { pods: u32::MAX, ..tree.clone() }), "pods"),
        (Machine::FatTree(FatTree { bytes_per_s: f64::NAN, ..tree }), "bytes_per_s"),
        (Machine::Aries(Aries::new(0)), "groups"),
        (Machine::Aries(Aries::new(u32::MAX)), "would have"),
        (Machine::Aries(Aries { blue_per_pair: Some(99), ..Aries::new(55) }), "blue_per_pair"),
        (Machine::Aries(Aries { populated: vec!["c9-0c0".into()], ..Aries::new(1) }), "populated"),
        (Machine::Aries(Aries { populated: vec!["x".into()], ..Aries::new(1) }), "populated"),
        (Machine::DragonflyPlus(DragonflyPlus { leaves: 250, ..DragonflyPlus::kang() }), "leaves"),
        (Machine::DragonflyPlus(DragonflyPlus { groups: 1000, ..DragonflyPlus::kang() }), "groups"),
    ] {
        let text = message(machine.clone());
        assert!(text.contains(word), "{machine:?}: {text}");
    }
}
