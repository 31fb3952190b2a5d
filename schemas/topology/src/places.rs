//! Where hosts stand: the switches or routers that they hang on. And where links are, by the series that measure them.

use super::class::VertexKind;
use super::cname::{CABINETS_PER_GROUP, Slot};
use super::graph::{LinkIndex, Topology, VertexIndex};
use super::parallel::{ParallelKind, ParallelLinks};
use schemas::xname::JackPort;
use schemas::{Name, SeriesInfo};
use std::collections::BTreeSet;

/// A host on a switch or router; a host with several rails has several.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodePlace {
    /// The host.
    pub node: Name,
    /// What it hangs on.
    pub switch: Name,
    /// The group or pod of the switch; empty where there is none.
    pub group: String,
}

/// Every host with every switch or router that it hangs on, each pair once.
pub fn node_places(topology: &Topology) -> Vec<NodePlace> {
    let place = |host: VertexIndex| {
        let ends = topology.links_from(host).map(|link| topology.to(link));
        let switches = ends.filter(|end| topology.kind(*end) != VertexKind::Host);
        switches.map(move |switch| NodePlace {
            node: topology.name(host).clone(),
            switch: topology.name(switch).clone(),
            group: group(topology, switch),
        })
    };
    let places: BTreeSet<NodePlace> = topology.vertices_of(VertexKind::Host).flat_map(place).collect();
    places.into_iter().collect()
}

/// A link that a series measures.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPlace {
    /// Name of the series.
    pub series: String,
    /// Its class in a word: `green`, `leaf`, `global`, `host`, ….
    pub class: &'static str,
    /// Transmitting end.
    pub from: Name,
    /// Receiving end.
    pub to: Name,
    /// The largest group of parallel links that it is in, in words; empty for none.
    pub bundle: String,
    /// Capacity in bytes per second; 0 where it is unknown.
    pub bytes_per_s: f64,
}

/// Every link that a metric is about, in the order of their numbers. A jack of Slingshot whose ports are not known has two
/// series, one for each of its ports.
pub fn link_places(topology: &Topology) -> Vec<LinkPlace> {
    let parallel = ParallelLinks::of(topology);
    let place = |(link, series): (LinkIndex, SeriesInfo)| LinkPlace {
        series: series.name(),
        class: topology.class(link).name(),
        from: topology.name(topology.from(link)).clone(),
        to: topology.name(topology.to(link)).clone(),
        bundle: bundle(topology, &parallel, link),
        bytes_per_s: topology.bytes_per_s(link),
    };
    let measured = topology.links().filter_map(|link| Some((link, topology.series(link)?)));
    let by_port =
        measured.flat_map(|(link, series)| ports(series).into_iter().map(move |series| (link, series)));
    by_port.map(place).collect()
}

/// The series itself, or those of the ports of its jack.
fn ports(series: SeriesInfo) -> Vec<SeriesInfo> {
    let jack = series.part.as_ref().and_then(|part| JackPort::parse(part.as_str()));
    let Some(jack) = jack.filter(|jack| !jack.is_port()) else { return vec![series] };
    let names = jack.halves().into_iter().filter_map(|port| Name::parse(&port.to_string()).ok());
    names.map(|part| SeriesInfo { part: Some(part), ..series.clone() }).collect()
}

fn bundle(topology: &Topology, parallel: &ParallelLinks, link: LinkIndex) -> String {
    let groups = parallel.groups_of(link).iter().map(|group| *group as usize);
    let Some(largest) = groups.max_by_key(|group| parallel.links(*group).len()) else { return String::new() };
    match parallel.kind(largest) {
        ParallelKind::Trunk(from, to) => format!("{} to {}", topology.name(from), topology.name(to)),
        ParallelKind::Uplinks(vertex) => format!("uplinks of {}", topology.name(vertex)),
        ParallelKind::Downlinks(vertex) => format!("downlinks to {}", topology.name(vertex)),
        ParallelKind::BetweenGroups(from, to) => format!("group {from} to group {to}"),
    }
}

fn group(topology: &Topology, switch: VertexIndex) -> String {
    match (Slot::parse(topology.name(switch).as_str()), topology.group(switch)) {
        (Some(slot), _) => cabinets(slot),
        (None, Some(number)) => format!("group {number}"),
        (None, None) => String::new(),
    }
}

/// The group of an Aries router, or of what is named after one; `None` for other names.
pub fn aries_group(component: &str) -> Option<String> {
    Slot::parse_prefix(component).map(|(slot, _)| cabinets(slot))
}

/// A group of an Aries machine is called by its two cabinets, as in the databases' `node_places`.
fn cabinets(slot: Slot) -> String {
    let first = slot.column - slot.column % CABINETS_PER_GROUP;
    format!("c{first}-{row}..c{second}-{row}", row = slot.row, second = first + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;
    use crate::generate::{Aries, FatTree};

    fn places(machine: Machine) -> Vec<[String; 3]> {
        let places = node_places(&machine.build().unwrap());
        places.into_iter().map(|p| [p.node.to_string(), p.switch.to_string(), p.group]).collect()
    }

    #[test]
    fn four_nodes_hang_on_an_aries_router_by_two_tiles_each() {
        let found =
            places(Machine::Aries(Aries { populated: vec!["c3-0c0s1".to_string()], ..Aries::new(2) }));
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(
            found.iter().all(|[_, router, group]| router == "c3-0c0s1" && group == "c2-0..c3-0"),
            "{found:?}"
        );
    }

    #[test]
    fn links_have_a_class_and_know_which_run_beside_them() {
        let places = link_places(&Machine::Aries(Aries::new(2)).build().unwrap());
        assert!(places.iter().all(|place| place.series.starts_with("aries_stall_ratio/")));
        let blue: Vec<_> = places.iter().filter(|place| place.class == "blue").collect();
        assert!(!blue.is_empty() && blue.iter().all(|place| place.bundle.starts_with("group ")), "{blue:?}");
        // The series of a link is named after the end that receives.
        assert!(places.iter().all(|place| place.series.contains(&format!("/{}/", place.to))), "{places:?}");
        let alone = places.iter().filter(|place| place.class == "green");
        assert!(alone.into_iter().all(|place| place.bundle.is_empty()));
    }

    #[test]
    fn a_host_with_two_rails_hangs_on_a_leaf_of_each() {
        let tree = |pods, rails| {
            let text = format!(
                "ports = 4\npods = {pods}\nleaves_per_pod = 2\nnodes_per_leaf = 2\nuplinks_per_leaf = 2\n\
                 uplinks_per_spine = {}\nrails = {rails}",
                if pods > 1 { 2 } else { 0 }
            );
            places(Machine::FatTree(toml::from_str::<FatTree>(&text).unwrap()))
        };
        assert_eq!(tree(2, 1).len(), 8);
        assert!(tree(2, 1).iter().any(|[_, _, group]| group == "group 1"));
        let two_rails = tree(1, 2);
        assert_eq!(two_rails.len(), 8);
        assert_eq!(two_rails[0][0], two_rails[1][0]);
        assert_ne!(two_rails[0][1], two_rails[1][1]);
        assert!(two_rails.iter().all(|[_, _, group]| group.is_empty()), "{two_rails:?}");
    }
}
