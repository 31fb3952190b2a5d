//! HPE's list of Slingshot cables. The names and numbers are invented; the columns are those of the real file.

use crate::integration::readers::{fixture, read, read_text};
use schemas::{Metric, Name, SeriesInfo};
use topology::readers::TopologyKind;
use topology::{
    FaultKind, LinkClass, PlainTopology, PortUnknown, Shape, Topology, VertexKind, draw, link_places,
    node_places,
};

/// A line without preamble and header.
fn line(ends: [&str; 4], kind: &str, groups: [&str; 2]) -> String {
    let [a, b, c, d] = ends;
    format!("0,{a},{b},{c},{d},1,none,none,none,none,{kind},{},{},1,1,1,[]\n", groups[0], groups[1])
}

/// The links as `from[port] to[port] class`, of one direction.
fn links(net: &Topology) -> Vec<String> {
    let lower = net.links().filter(|link| *link < net.reverse(*link));
    let end =
        |link| format!("{}[{}]", net.name(net.from(link)), net.port_label(net.from(link), net.port(link)));
    lower.map(|link| format!("{} {} {}", end(link), end(net.reverse(link)), net.class(link).name())).collect()
}

/// The ends of the link that `<metric>/<component>/<part>` measures.
pub(super) fn measured(net: &Topology, series: &str) -> Result<[String; 2], PortUnknown> {
    let words: Vec<&str> = series.split('/').collect();
    let (component, part) = (Name::parse(words[1]).unwrap(), Name::parse(words[2]).ok());
    let metric = Metric::from_name(words[0]).unwrap();
    let link = net.link_of_series(&SeriesInfo { metric, component, part })?;
    Ok([net.from(link), net.to(link)].map(|end| net.name(end).to_string()))
}

/// The first fault of `text`, as `topology check` prints it.
fn first_fault(text: &str) -> String {
    let found = read_text(text);
    assert_eq!(found.faults.examples()[0].origin.line, 1, "{:?}", found.faults.examples());
    found.faults.examples()[0].to_string()
}

#[test]
fn cables_give_links_of_each_class_in_both_directions() {
    let found = read(&["pt_pt.csv"]);
    assert!(found.faults.is_empty(), "{:?}", found.faults.examples());
    let net = found.topology;
    assert_eq!((net.shape(), net.group_count(), net.rail_count()), (Shape::Dragonfly, 2, 1));
    let count = |class| net.links().filter(|link| net.class(*link) == class).count();
    assert_eq!([LinkClass::Host, LinkClass::Local, LinkClass::Global].map(count), [10, 6, 2]);
    assert_eq!(net.link_count(), 18, "the cable that is listed twice counts once");
    assert_eq!(
        links(&net)[..4],
        [
            "x1000c0r1[j1] x1000c0r3[j2] local",
            "x1000c0r1[j5] x1000c0r3[j6] local",
            "x1000c0r1[j7] x1000c0r3[j8] local",
            "x1000c0r1[j14p0] x1000c0s4b0n0[h0.1] host",
        ]
    );
}

#[test]
fn nodes_lead_to_switches_and_groups() {
    let net = read(&["pt_pt.csv"]).topology;
    let places: Vec<String> =
        node_places(&net).into_iter().map(|p| format!("{} {} {}", p.node, p.switch, p.group)).collect();
    assert_eq!(
        places,
        [
            "x1000c0s4b0n0 x1000c0r1 group 0",
            "x1000c0s4b0n0 x1000c0r3 group 0",
            "x1000c0s4b0n1 x1000c0r1 group 0",
            "x1000c0s4b0n1 x1000c0r3 group 0",
            "x1001c0s0n0 x1001c0r1 group 1",
        ]
    );
    let switch = net.vertex("x1000c0r3").unwrap();
    assert_eq!((net.kind(switch), net.port_count(switch)), (VertexKind::Switch, 64));
    let port = net.port_of_label(switch, "j100p1").unwrap();
    let link = net.link(switch, port).unwrap();
    assert_eq!(net.name(net.to(link)).as_str(), "x1000c0s4b0n1");
    assert_eq!(net.port_label(net.to(link), net.port(net.reverse(link))), "h1.1");
}

#[test]
fn the_kind_is_detected_behind_a_mark_a_preamble_and_without_header() {
    let text = fixture("pt_pt.csv");
    let header = text.find("cable_id").unwrap();
    let body = text[header..].split_once('\n').unwrap().1;
    let expected = links(&read_text(&text).topology);
    for text in [
        format!("\u{feff}{text}"),
        format!("\u{feff}{}", &text[header..]),
        body.to_string(),
        text.replace('\n', "\r\n"),
        text.replace("x1000", "X1000").replace("none", "NONE"),
        format!("{text},,,,,,,,,,,,,,,,\n"),
    ] {
        assert_eq!(TopologyKind::of(&text), Some(TopologyKind::PointToPoint), "{text}");
        let found = read_text(&text);
        assert!(found.faults.is_empty(), "{:?}", found.faults.examples());
        assert_eq!(links(&found.topology), expected);
    }
}

#[test]
fn spellings_of_a_cable_and_its_reverse_count_once() {
    let text = line(["x1.c0.r01.j2", "none", "x1c0r3j4", ""], "local", ["0", "0"])
        + &line(["x1c0r3j04", "n/a", "X1C0R1J2", "none"], "local", ["0", "0"]);
    let found = read_text(&text);
    assert!(found.faults.count(FaultKind::TwoPeers) == 0, "{:?}", found.faults.examples());
    assert_eq!(links(&found.topology), ["x1c0r1[j2] x1c0r3[j4] local"]);
}

#[test]
fn ports_of_a_jack_are_kept_where_they_are_given() {
    let text = line(["x1c0r1j2p1", "none", "x1c0s0b0n0h0", "x1c0s0b0n1h0"], "edge", ["0", "none"])
        + &line(["x1c0s0b0n2h0", "x1c0s0b0n3h0", "x1c0r1j3", "none"], "edge", ["none", "0"]);
    let found = read_text(&text);
    assert!(found.faults.is_empty(), "{:?}", found.faults.examples());
    assert_eq!(
        links(&found.topology),
        [
            "x1c0r1[j2p0] x1c0s0b0n1[h0.1] host",
            "x1c0r1[j2p1] x1c0s0b0n0[h0.1] host",
            "x1c0r1[j3p0] x1c0s0b0n2[h0.1] host",
            "x1c0r1[j3p1] x1c0s0b0n3[h0.1] host",
        ]
    );
    assert!(found.topology.vertices().all(|vertex| found.topology.group(vertex) == Some(0)));
}

#[test]
fn a_bad_line_is_skipped_with_file_line_column_and_value() {
    let [jack, other] = ["x1c0r1j1", "x1c0r3j1"];
    let good = line([jack, "none", other, "none"], "local", ["0", "0"]);
    for (bad, words) in [
        (
            line(["x1q1", "none", other, "none"], "local", ["0", "0"]),
            "src_conn_a \"x1q1\" is neither a jack (",
        ),
        (
            line([jack, "none", other, "none"], "blue", ["0", "0"]),
            "link_type \"blue\" is not edge, local or global.",
        ),
        (
            line([jack, "none", other, "none"], "local", ["0", "-1"]),
            "dst_group \"-1\" is not the number of a group",
        ),
        (line(["none", "none", "", "n/a"], "local", ["0", "0"]), "src_conn_a to dst_conn_b name no end."),
        (
            line([jack, "x1c0r1j2", "x1c0s0b0n0h0", "none"], "edge", ["0", "none"]),
            "dst_conn_a \"x1c0s0b0n0h0\" is a NIC with one port, but the other side has two ends.",
        ),
        (format!("0,{jack},none\n"), "the line has 3 columns, not 17."),
        (
            "cable_id,src_conn_a,dst_conn_a\n".to_string(),
            "column 3 of the header is \"dst_conn_a\", not \"src_conn_b\".",
        ),
    ] {
        let fault = first_fault(&format!("{bad}{good}"));
        assert!(fault.starts_with(&format!("net:1: bad_cable: {words}")), "{fault}");
        assert!(fault.ends_with(" The line is skipped; correct it or generate the file again."), "{fault}");
        assert!(!fault.contains('…'), "{fault}");
        assert_eq!(links(&read_text(&format!("{bad}{good}")).topology).len(), 1, "the other lines are read");
    }
}

#[test]
fn groups_and_types_that_contradict_are_reported() {
    let text = line(["x1c0r1j1", "none", "x1c0r3j1", "none"], "global", ["0", "0"]);
    let found = read_text(&text);
    assert_eq!(links(&found.topology).len(), 1);
    assert!(first_fault(&text).contains(
        "link_type \"global\" does not fit x1c0r1 (switch, group 0) and x1c0r3 (switch, group 0). The colour or type"
    ));
    let later = line(["x1c0r1j2", "none", "x2c0r3j1", "none"], "global", ["2", "1"]);
    let found = read_text(&format!("{}{later}", text.replace("global", "local")));
    let conflict =
        found.faults.examples().iter().find(|fault| fault.kind == FaultKind::GroupConflict).unwrap();
    assert_eq!(conflict.value, "src_group \"2\", but an earlier line gives group 0 to x1c0r1.");
    assert_eq!(found.topology.group(found.topology.vertex("x1c0r1").unwrap()), Some(0));
}

#[test]
fn one_jack_with_two_peers_is_named_by_its_label() {
    let text = line(["x1c0r1j1", "none", "x1c0r3j1", "none"], "local", ["0", "0"])
        + &line(["x1c0r1j1", "none", "x1c0r5j1", "none"], "local", ["0", "0"]);
    let found = read_text(&text);
    let fault = found.faults.examples().iter().find(|fault| fault.kind == FaultKind::TwoPeers).unwrap();
    assert!(fault.value.contains("x1c0r1[j1] to x1c0r5[j1]"), "{fault}");
}

#[test]
fn jacks_survive_the_plain_form_and_are_drawn() {
    let found = read(&["pt_pt.csv"]);
    let plain = PlainTopology::of(&found.topology);
    let again = read_text(&toml::to_string(&plain).unwrap());
    assert!(again.faults.is_empty(), "{:?}", again.faults.examples());
    assert_eq!(PlainTopology::of(&again.topology), plain);
    assert!(draw::picture(&found).contains("group 2: 1 hosts"));
}

#[test]
fn port_in_telemetry_finds_the_cable_of_its_jack() {
    let net = read(&["pt_pt.csv"]).topology;
    for (port, from) in [
        ("x1000c0r1/j14p1", "x1000c0s4b0n1"),
        ("x1000c0r1/j31p0", "x1001c0r1"),
        ("x1000c0r1/j31p1", "x1001c0r1"),
        ("x1000c0r1/j31", "x1001c0r1"),
    ] {
        let to = "x1000c0r1".to_string();
        let found = measured(&net, &format!("slingshot_congestion_rate/{port}"));
        assert_eq!(found, Ok([from.to_string(), to]), "{port}");
    }
    for port in ["x1000c0r1/j14", "x1000c0r1/j32p0"] {
        let found = measured(&net, &format!("slingshot_congestion_rate/{port}"));
        assert_eq!(found, Err(PortUnknown::Unconnected), "{port}");
    }
}

#[test]
fn interface_is_found_by_each_of_its_names() {
    let net = read(&["pt_pt.csv"]).topology;
    for (part, to) in
        [("cxi0", "x1000c0r1"), ("hsn0", "x1000c0r1"), ("h0", "x1000c0r1"), ("cxi1", "x1000c0r3")]
    {
        let found = measured(&net, &format!("slingshot_tx_pause_ratio/x1000c0s4b0n0/{part}"));
        assert_eq!(found, Ok(["x1000c0s4b0n0", to].map(String::from)), "{part}");
        let found = measured(&net, &format!("slingshot_rx_pause_ratio/x1000c0s4b0n0/{part}"));
        assert_eq!(found, Ok([to, "x1000c0s4b0n0"].map(String::from)), "{part}");
    }
    for part in ["cxi2", "hsn", "cxi+0", "host0", "mlx5_0"] {
        let found = measured(&net, &format!("slingshot_tx_pause_ratio/x1000c0s4b0n0/{part}"));
        assert_eq!(found, Err(PortUnknown::Port), "{part}");
    }
}

#[test]
fn links_of_slingshot_are_named_by_its_own_metrics() {
    let net = read(&["pt_pt.csv"]).topology;
    let from = |switch: &str, port: &str| {
        let switch = net.vertex(switch).unwrap();
        net.link(switch, net.port_of_label(switch, port).unwrap()).unwrap()
    };
    let link = from("x1000c0r1", "j14p0");
    for (link, name) in [
        (from("x1000c0r1", "j1"), "slingshot_congestion_rate/x1000c0r3/j2"),
        (net.reverse(link), "slingshot_tx_pause_ratio/x1000c0s4b0n0/cxi0"),
        (link, "slingshot_rx_pause_ratio/x1000c0s4b0n0/cxi0"),
        (from("x1001c0r1", "j5"), "slingshot_rx_pause_ratio/x1001c0s0n0/cxi11"),
    ] {
        assert_eq!(net.series_name(link).as_deref(), Some(name));
        assert_eq!(net.link_of_series(&net.series(link).unwrap()), Ok(link));
    }
}

#[test]
fn ports_of_a_jack_are_places_of_its_cable() {
    let places = link_places(&read(&["pt_pt.csv"]).topology);
    let ends = |series: &str| -> Vec<[&str; 2]> {
        let of_series = places.iter().filter(|place| place.series == series);
        of_series.map(|place| [place.from.as_str(), place.to.as_str()]).collect()
    };
    for (series, from) in [
        ("slingshot_congestion_rate/x1001c0r1/j3p0", "x1000c0r1"),
        ("slingshot_congestion_rate/x1001c0r1/j3p1", "x1000c0r1"),
        ("slingshot_rx_pause_ratio/x1001c0s0n0/cxi11", "x1001c0r1"),
    ] {
        let to = series.split('/').nth(1).unwrap();
        assert_eq!(ends(series), [[from, to]], "{series}");
    }
    assert!(ends("slingshot_congestion_rate/x1001c0r1/j3").is_empty());
}
