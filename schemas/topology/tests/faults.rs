//! Contradictions: named and counted; the rest is read.

use schemas::{Metric, Name, SeriesInfo};
use topology::{
    Draft, FaultKind, Faults, LinkClass, PortClaim, PortUnknown, Shape, Topology, VertexKind, unknown_ports,
};

/// Two hosts `h1`, `h2` on leaves `s1`, `s2`, and spine `s3`; claims and LIDs are added by the test.
struct Small(Draft);

impl Small {
    fn new() -> Small {
        let mut draft = Draft::new(Some(Shape::FatTree));
        draft.begin_file("net.out");
        for (name, kind) in [
            ("h1", VertexKind::Host),
            ("h2", VertexKind::Host),
            ("s1", VertexKind::Switch),
            ("s2", VertexKind::Switch),
            ("s3", VertexKind::Switch),
        ] {
            let vertex = draft.vertex(name, kind);
            draft.facts(vertex).name = Some(name.to_string());
            draft.facts(vertex).ports = 8;
        }
        let mut small = Small(draft);
        for (a, b) in [(("h1", 1), ("s1", 1)), (("h2", 1), ("s2", 1))] {
            small.both(a, b);
        }
        small.both(("s1", 2), ("s3", 1));
        small.both(("s2", 2), ("s3", 2));
        small
    }

    fn claim(&mut self, a: (&str, u16), b: (&str, u16), bytes_per_s: f64) {
        let (vertex, peer) = (self.0.known(a.0).unwrap(), self.0.known(b.0).unwrap());
        let (class, rail) = (None, None);
        self.0.claim(PortClaim { vertex, port: a.1, peer, peer_port: b.1, bytes_per_s, class, rail });
    }

    fn both(&mut self, a: (&str, u16), b: (&str, u16)) {
        self.claim(a, b, 1e9);
        self.claim(b, a, 1e9);
    }

    fn lids(mut self) -> Small {
        for (name, port, lid) in [("h1", 1, 1), ("h2", 1, 2)] {
            let vertex = self.0.known(name).unwrap();
            self.0.lid(vertex, port, lid, 0);
        }
        self
    }

    fn forward(&mut self, switch: &str, lid: u16, port: u8) {
        let vertex = self.0.known(switch).unwrap();
        self.0.forward(vertex, lid, port);
    }

    fn finish(self) -> (Topology, Faults) {
        self.0.finish()
    }
}

fn kinds(faults: &Faults) -> Vec<(FaultKind, u64)> {
    faults.nonzero().collect()
}

#[test]
fn a_network_without_contradictions_has_no_faults() {
    let (topology, faults) = Small::new().finish();
    assert_eq!(kinds(&faults), []);
    assert_eq!(topology.link_count(), 8);
    let leaf = topology.links().find(|link| topology.class(*link) == LinkClass::Leaf);
    assert!(leaf.is_some());
}

#[test]
fn link_with_one_end_is_taken_and_reported() {
    let mut small = Small::new();
    small.0.at_line(12);
    small.claim(("s1", 5), ("s3", 5), 1e9);
    let (topology, faults) = small.finish();
    assert_eq!(kinds(&faults), [(FaultKind::OneEnd, 1)]);
    assert_eq!(topology.link_count(), 10);
    let text = faults.examples()[0].to_string();
    assert!(text.starts_with("net.out:12: one_end: s1[5] to s3[5]"), "{text}");
}

#[test]
fn of_two_peers_the_one_that_agrees_is_taken() {
    let mut small = Small::new();
    small.claim(("s1", 2), ("s2", 7), 1e9);
    let (topology, faults) = small.finish();
    assert_eq!(kinds(&faults), [(FaultKind::TwoPeers, 1)]);
    let s1 = topology.vertex("s1").unwrap();
    assert_eq!(topology.name(topology.to(topology.link(s1, 2).unwrap())).as_str(), "s3");
    assert_eq!(topology.link_count(), 8);
}

#[test]
fn two_one_ended_links_cannot_share_a_port() {
    let mut small = Small::new();
    small.claim(("s1", 6), ("s3", 6), 1e9);
    small.claim(("s2", 6), ("s3", 6), 1e9);
    let (topology, faults) = small.finish();
    assert_eq!(kinds(&faults), [(FaultKind::OneEnd, 2), (FaultKind::TwoPeers, 1)]);
    assert_eq!(topology.link_count(), 10);
}

#[test]
fn a_vertex_cannot_be_its_own_peer() {
    let mut small = Small::new();
    small.both(("s1", 6), ("s1", 7));
    let (topology, faults) = small.finish();
    assert_eq!(kinds(&faults), [(FaultKind::SelfLink, 2)]);
    assert_eq!(topology.link_count(), 8);
}

#[test]
fn a_lid_given_twice_stays_with_the_first() {
    let mut small = Small::new().lids();
    let s1 = small.0.known("s1").unwrap();
    small.0.at_line(30);
    small.0.lid(s1, 0, 2, 0);
    let (topology, faults) = small.finish();
    assert_eq!(kinds(&faults), [(FaultKind::LidTwice, 1)]);
    assert_eq!(topology.lids().owner(0, 2), Some((topology.vertex("h2").unwrap(), 1)));
    assert!(faults.examples()[0].to_string().contains("net.out:30: lid_twice: lid 2 of h2 and s1"));
}

#[test]
fn forwarding_loops_are_reported_once_a_destination() {
    let mut small = Small::new().lids();
    // LID 1: s3 sends to a port without cable. LID 2: s1 and s3 send to each other.
    for (switch, lid, port) in
        [("s1", 1, 1), ("s2", 1, 2), ("s3", 1, 7), ("s1", 2, 2), ("s3", 2, 1), ("s2", 2, 1)]
    {
        small.forward(switch, lid, port);
    }
    let (topology, faults) = small.finish();
    let expected = [(FaultKind::UnknownPort, 1), (FaultKind::Loop, 1), (FaultKind::Unreachable, 1)];
    assert_eq!(kinds(&faults), expected);
    let routes = topology.routes_at(None);
    let h1 = topology.vertex("h1").unwrap();
    assert!(routes.walk(h1, 0, 2).is_err());
    let mut loads = vec![0.0; topology.link_count()];
    let flow = topology::Flow { from: h1, rail: 0, lid: 2, bytes: 5.0 };
    assert_eq!(routes.project(&[flow], &mut loads), 5.0);
    assert!(loads.iter().all(|load| *load == 0.0));
}

#[test]
fn forwarding_to_an_unknown_lid_is_reported() {
    let mut small = Small::new().lids();
    for (switch, lid, port) in
        [("s1", 1, 1), ("s2", 1, 2), ("s3", 1, 1), ("s1", 2, 2), ("s3", 2, 2), ("s2", 2, 1)]
    {
        small.forward(switch, lid, port);
    }
    small.forward("s1", 9, 1);
    let (_, faults) = small.finish();
    assert_eq!(kinds(&faults), [(FaultKind::UnknownLid, 1)]);
}

#[test]
fn link_within_a_level_of_a_tree_is_reported() {
    let mut small = Small::new();
    small.both(("s1", 8), ("s2", 8));
    let (_, faults) = small.finish();
    assert_eq!(kinds(&faults), [(FaultKind::WithinLevel, 1)]);
}

#[test]
fn capacities_that_differ_by_direction_are_reported() {
    let mut small = Small::new();
    small.claim(("s1", 8), ("s3", 8), 1e9);
    small.claim(("s3", 8), ("s1", 8), 2.5e8);
    let (topology, faults) = small.finish();
    assert_eq!(kinds(&faults), [(FaultKind::AsymmetricCapacity, 1)]);
    let link = topology.link(topology.vertex("s3").unwrap(), 8).unwrap();
    assert_eq!((topology.bytes_per_s(link), topology.bytes_per_s(topology.reverse(link))), (2.5e8, 1e9));
}

#[test]
fn vertices_without_names_or_with_bad_ones_get_usable_ones() {
    let mut small = Small::new();
    for (key, name, guid) in
        [("a", None, 0xbeef), ("b", Some("sw <1>;/etc"), 0), ("c", Some("s1"), 0x77), ("d", Some("é"), 0)]
    {
        let vertex = small.0.vertex(key, VertexKind::Switch);
        let facts = small.0.facts(vertex);
        (facts.name, facts.guid) = (name.map(String::from), guid);
    }
    let (topology, faults) = small.finish();
    for name in ["guid-000000000000beef", "sw-1-etc", "s1-0000000000000077", "unnamed-8"] {
        assert!(topology.vertex(name).is_some(), "{name}");
    }
    let expected = [
        (FaultKind::Unconnected, 4),
        (FaultKind::NoName, 1),
        (FaultKind::NameTwice, 1),
        (FaultKind::BadName, 2),
    ];
    assert_eq!(kinds(&faults), expected);
}

#[test]
fn a_port_that_reports_but_stands_nowhere_is_named() {
    let (topology, _) = Small::new().finish();
    let series = |component: &str, part: &str, metric| SeriesInfo {
        metric,
        component: Name::parse(component).unwrap(),
        part: Some(Name::parse(part).unwrap()),
    };
    let reported = [
        series("s1", "1", Metric::from_name("ib_wait_ratio").unwrap()),
        series("s1", "8", Metric::from_name("ib_wait_ratio").unwrap()),
        series("s1", "9", Metric::from_name("ib_wait_ratio").unwrap()),
        series("s9", "1", Metric::from_name("ib_wait_ratio").unwrap()),
        series("h1", "mlx5_0.1", Metric::from_name("ib_wait_ratio").unwrap()),
        series("h1", "snx11137", Metric::from_name("lustre_write_rate").unwrap()),
    ];
    let found: Vec<(String, PortUnknown)> =
        unknown_ports(&topology, &reported).into_iter().map(|port| (port.series, port.unknown)).collect();
    let expected = [
        ("ib_wait_ratio/s1/8", PortUnknown::Unconnected),
        ("ib_wait_ratio/s1/9", PortUnknown::Port),
        ("ib_wait_ratio/s9/1", PortUnknown::Component),
    ];
    assert_eq!(found, expected.map(|(name, unknown)| (name.to_string(), unknown)));
}
