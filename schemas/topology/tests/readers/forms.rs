//! The readers return what the files contain.

use crate::integration::readers::{fixture, read, read_text};
use topology::readers::{TopologyError, TopologyKind, read_texts};
use topology::{LinkClass, Machine, PlainTopology, Shape, VertexKind};

#[test]
fn forms_are_distinguished_by_content() {
    for (name, kind) in [
        ("fabric.ibnetdiscover", TopologyKind::Ibnetdiscover),
        ("fabric.lst", TopologyKind::Lst),
        ("fabric.fdbs", TopologyKind::Fdbs),
        ("fabric.lfts", TopologyKind::Lfts),
        ("names.map", TopologyKind::Names),
        ("xc.interconnect", TopologyKind::Interconnect),
        ("xc.nodes", TopologyKind::Nodes),
        ("pt_pt.csv", TopologyKind::PointToPoint),
        ("pt_pt.hosts", TopologyKind::Hosts),
    ] {
        assert_eq!(TopologyKind::of(&fixture(name)), Some(kind), "{name}");
    }
    assert_eq!(TopologyKind::of("kind = \"aries\"\ngroups = 1\n"), Some(TopologyKind::Machine));
    assert_eq!(TopologyKind::of("{ \"format\": \"x\" }"), Some(TopologyKind::Plain));
    assert_eq!(TopologyKind::of("hello\n"), None);
}

#[test]
fn ibnetdiscover_gives_hosts_switches_ports_rates_and_lids() {
    let found = read(&["fabric.ibnetdiscover"]);
    assert!(found.faults.is_empty(), "{:?}", found.faults.examples());
    let net = found.topology;
    assert_eq!((net.shape(), net.link_count()), (Shape::FatTree, 18));
    assert_eq!(net.vertices_of(VertexKind::Host).count(), 4, "both adapters of node04 are one host");
    let leaf = net.vertex("leaf02").unwrap();
    assert_eq!((net.level(leaf), net.port_count(leaf)), (Some(1), 36));
    let up = net.link(leaf, 5).unwrap();
    assert_eq!((net.class(up), net.bytes_per_s(up)), (LinkClass::Leaf, 25e9));
    let down = net.link(leaf, 3).unwrap();
    assert_eq!(net.series_name(net.reverse(down)).as_deref(), Some("ib_wait_ratio/node04/mlx5_1.1"));
    assert_eq!(net.lids().owner(0, 11), Some((net.vertex("node04").unwrap(), 257)));
    assert_eq!(net.lids().owner(0, 4), Some((leaf, 0)));
}

#[test]
fn list_of_links_describes_the_same_network() {
    let plain = |name| {
        let mut plain = PlainTopology::of(&read(&[name]).topology);
        plain.vertices.sort_by(|a, b| a.name.cmp(&b.name));
        plain.cables.iter_mut().for_each(|cable| {
            let (a, b) = ((cable.a.clone(), cable.a_port.clone()), (cable.b.clone(), cable.b_port.clone()));
            ((cable.a, cable.a_port), (cable.b, cable.b_port)) = if a < b { (a, b) } else { (b, a) };
        });
        plain.cables.sort_by(|a, b| (&a.a, &a.a_port).cmp(&(&b.a, &b.a_port)));
        plain
    };
    assert_eq!(plain("fabric.lst"), plain("fabric.ibnetdiscover"));
}

#[test]
fn tables_of_either_form_lead_from_host_to_host() {
    for tables in ["fabric.fdbs", "fabric.lfts"] {
        // Tables may be named before the links they are about.
        let found = read(&[tables, "fabric.lst"]);
        assert!(found.faults.is_empty(), "{:?}", found.faults.examples());
        let net = &found.topology;
        let path = net.routes_at(None).walk(net.vertex("node01").unwrap(), 0, 10).unwrap();
        let names: Vec<&str> = path.iter().map(|link| net.name(net.to(*link)).as_str()).collect();
        assert_eq!(names, ["leaf01", "spine02", "leaf02", "node04"], "{tables}");
    }
}

#[test]
fn comment_limits_the_validity_of_tables() {
    let early = format!("# valid until 1000\n{}", fixture("fabric.fdbs"));
    let late = format!("# valid from 1000\n{}", fixture("fabric.lfts"));
    let text = |name: &str, text: String| (name.to_string(), text);
    let files = [text("late", late), text("early", early), text("lst", fixture("fabric.lst"))];
    let tables: Vec<_> = read_texts(&files).unwrap().topology.forwarding().to_vec();
    let seconds = |time: Option<schemas::Time>| time.map(|time| time.seconds());
    let valid: Vec<_> = tables.iter().map(|table| (seconds(table.from), seconds(table.until))).collect();
    assert_eq!(valid, [(None, Some(1000.0)), (Some(1000.0), None)]);
}

#[test]
fn names_of_the_map_replace_descriptions() {
    let found = read(&["fabric.ibnetdiscover", "names.map"]);
    assert!(found.topology.vertex("rack7-leaf01").is_some());
    assert!(found.topology.vertex("rack8-leaf-02").is_some(), "what may not stand in a name is replaced");
    assert!(found.topology.vertex("leaf01").is_none());
}

#[test]
fn interconnect_file_gives_routers_tiles_and_nodes() {
    let found = read(&["xc.interconnect", "xc.nodes"]);
    assert!(found.faults.is_empty(), "{:?}", found.faults.examples());
    let net = found.topology;
    assert_eq!((net.shape(), net.group_count()), (Shape::Aries, 2));
    let count = |class| net.links().filter(|link| net.class(*link) == class).count();
    assert_eq!(
        [LinkClass::Green, LinkClass::Black, LinkClass::Blue, LinkClass::Host].map(count),
        [6, 6, 2, 80]
    );
    let router = net.vertex("c0-0c0s1").unwrap();
    let host = net.to(net.link(router, 40).unwrap());
    assert_eq!(net.name(host).as_str(), "nid00012");
    // Tile row 2, column 1 of c1-0c1s1 receives what c0-0c0s1 sends there.
    let black = net.link(router, 17).unwrap();
    assert_eq!(net.series_name(black).as_deref(), Some("aries_stall_ratio/c1-0c1s1/r2c1"));
    let unused = schemas::SeriesInfo {
        metric: schemas::Metric::from_name("aries_stall_ratio").unwrap(),
        component: schemas::Name::parse("c0-0c0s1").unwrap(),
        part: Some(schemas::Name::parse("r4c7").unwrap()),
    };
    assert_eq!(net.link_of_series(&unused), Err(topology::PortUnknown::Unconnected));
}

#[test]
fn without_a_list_of_nodes_cnames_name_them() {
    let found = read(&["xc.interconnect"]);
    assert!(found.topology.vertex("c0-0c0s1n3").is_some());
}

#[test]
fn examples_of_machines_and_of_the_plain_form_are_read() {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let mut read_files = 0;
    for entry in std::fs::read_dir(format!("{root}/machines")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let found = topology::readers::read(std::slice::from_ref(&path)).unwrap();
            assert!(found.faults.is_empty(), "{}: {:?}", path.display(), found.faults.examples());
            assert!(found.topology.link_count() > 0);
            read_files += 1;
        }
    }
    assert!(read_files >= 8, "{read_files}");
}

#[test]
fn the_plain_form_is_the_same_in_toml_and_json() {
    let tree = topology::generate::FatTree::vishnu(1);
    let plain = PlainTopology::of(&Machine::FatTree(tree).build().unwrap());
    let as_toml = read_text(&toml::to_string(&plain).unwrap());
    let as_json = read_text(&serde_json::to_string_pretty(&plain).unwrap());
    assert_eq!(PlainTopology::of(&as_toml.topology), plain);
    assert_eq!(PlainTopology::of(&as_json.topology), plain);
}

#[test]
fn what_is_nothing_known_is_refused_with_its_name() {
    let refused = |text: &str| read_texts(&[("net".to_string(), text.to_string())]).unwrap_err().to_string();
    for (text, words) in [
        ("", "net: neither"),
        ("kind = \"torus\"\n", "net: "),
        ("kind = \"aries\"\ngroups = 1\ncolour = 3\n", "colour"),
        ("kind = \"aries\"\ngroups = 0\n", "net: groups = 0"),
        ("format = \"tailback-topology-7\"\n", "tailback-topology-7"),
        ("{\"format\": 3}", "line 1"),
    ] {
        assert!(refused(text).contains(words), "{text:?}: {}", refused(text));
    }
    assert!(matches!(read_texts(&[]), Err(TopologyError::NoFile)));
}
