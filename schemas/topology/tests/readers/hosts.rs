//! Hosts files beside HPE's list of Slingshot cables.

use super::point_to_point::measured;
use super::{fixture, read, read_text};
use topology::readers::{TopologyReading, read_texts};
use topology::{FaultKind, PlainTopology, VertexKind};

/// The list of cables with these lines of a hosts file.
fn with_hosts(lines: &str) -> TopologyReading {
    let hosts = ("etc.hosts".to_string(), lines.to_string());
    read_texts(&[hosts, ("net".to_string(), fixture("pt_pt.csv"))]).unwrap()
}

#[test]
fn nodes_are_called_as_in_the_hosts_file() {
    let found = read(&["pt_pt.hosts", "pt_pt.csv"]);
    assert!(found.faults.is_empty(), "{:?}", found.faults.examples());
    let net = found.topology;
    let names: Vec<&str> = net.vertices_of(VertexKind::Host).map(|host| net.name(host).as_str()).collect();
    assert_eq!(names, ["nid000001", "nid000002", "x1001c0s0n0"]);
    let link = Ok(["nid000001", "x1000c0r1"].map(String::from));
    for name in ["nid000001", "NID000001", "nid000001.site.example", "x1000c0s4b0n0", "x1000c0s4b0n0.local"] {
        assert_eq!(measured(&net, &format!("slingshot_tx_pause_ratio/{name}/cxi0")), link, "{name}");
    }
    for name in ["nid000003", "ncn-m001", "localhost", "x1000c0r1.local", ".", ""] {
        assert_eq!(net.vertex(name), None, "{name}");
    }
}

#[test]
fn contradicting_lines_of_a_hosts_file_are_faults() {
    let found = with_hosts(
        "10.1.1.5 nid000001 x1000c0s4b0n0\n\
         10.1.1.6 nid000001 x1000c0s4b0n1\n\
         10.1.1.7 nid000007 x1000c0s4b0n0h1\n\
         10.1.1.8 NID000001 x1000c0s4b0n0\n\
         10.1.1.9 nid000007 x1001c0s0n0\n",
    );
    let faults: Vec<String> = found.faults.examples().iter().map(ToString::to_string).collect();
    assert_eq!((found.faults.count(FaultKind::NameConflict), faults.len()), (2, 2), "{faults:?}");
    for (fault, begin) in faults.iter().zip([
        "etc.hosts:2: name_conflict: \"nid000001\" for x1000c0s4b0n1, but an earlier line gives it to x1000c0s4b0n0.",
        "etc.hosts:3: name_conflict: \"nid000007\" for x1000c0s4b0n0, but an earlier line names it \"nid000001\".",
    ]) {
        assert!(fault.starts_with(begin), "{fault}");
    }
    let named = |name| found.topology.vertex(name).map(|host| found.topology.name(host).to_string());
    assert_eq!(named("x1000c0s4b0n0").as_deref(), Some("nid000001"));
    assert_eq!(named("x1000c0s4b0n1").as_deref(), Some("x1000c0s4b0n1"));
    assert_eq!(named("x1001c0s0n0").as_deref(), Some("nid000007"));
}

#[test]
fn both_names_of_a_node_survive_the_plain_form() {
    let plain = PlainTopology::of(&read(&["pt_pt.csv", "pt_pt.hosts"]).topology);
    for text in [toml::to_string(&plain).unwrap(), serde_json::to_string(&plain).unwrap()] {
        let again = read_text(&text).topology;
        assert_eq!(PlainTopology::of(&again), plain);
        assert_eq!(again.vertex("x1000c0s4b0n0"), again.vertex("nid000001"));
        assert!(again.vertex("x1000c0s4b0n0").is_some());
    }
}
