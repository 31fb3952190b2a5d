//! What the descriptions of InfiniBand's nodes mean, in every file that has them.

use super::point_to_point::measured;
use super::read_text;
use topology::readers::{TopologyReading, read_texts};
use topology::{PortUnknown, Topology, VertexKind};

const LEAF: u64 = 0x10;

/// The adapter with this description, by its place in a list.
fn guid(at: usize) -> u64 {
    0x101 + at as u64
}

/// Output of `ibnetdiscover`: adapters with these descriptions on one switch, as its ports 1, 2, ….
fn ibnetdiscover(descriptions: &[&str]) -> String {
    let mut text = format!("Switch\t40 \"S-{LEAF:016x}\"\t# \"leaf01\" enhanced port 0 lid 1 lmc 0\n");
    for (at, description) in descriptions.iter().enumerate() {
        let (port, guid, lid) = (at + 1, guid(at), at + 2);
        text += &format!("[{port}]\t\"H-{guid:016x}\"[1]({guid:x})\t# \"{description}\" lid {lid} 4xHDR\n");
    }
    for (at, description) in descriptions.iter().enumerate() {
        let (port, guid, lid) = (at + 1, guid(at), at + 2);
        text += &format!("Ca\t1 \"H-{guid:016x}\"\t# \"{description}\"\n");
        text +=
            &format!("[1]({guid:x})\t\"S-{LEAF:016x}\"[{port}]\t# lid {lid} lmc 0 \"leaf01\" lid 1 4xHDR\n");
    }
    text
}

/// The same as `ibdiagnet.lst`.
fn lst(descriptions: &[&str]) -> String {
    let line = |(at, description): (usize, &&str)| {
        let (port, guid, lid) = (at + 1, guid(at), at + 2);
        format!(
            "{{ SW Ports:28 SystemGUID:{LEAF:016x} NodeGUID:{LEAF:016x} PortGUID:{LEAF:016x} {{leaf01}} LID:0001 PN:{port:02X} }} \
             {{ CA Ports:01 SystemGUID:{guid:016x} NodeGUID:{guid:016x} PortGUID:{guid:016x} {{{description}}} LID:{lid:04X} PN:01 }} \
             PHY=4x LOG=ACT SPD=50\n"
        )
    };
    descriptions.iter().enumerate().map(line).collect()
}

/// Both forms, and a node name map that gives nameless nodes these descriptions.
fn readings(descriptions: &[&str]) -> Vec<TopologyReading> {
    let names: Vec<String> = descriptions
        .iter()
        .enumerate()
        .map(|(at, name)| format!("0x{:016x} \"{name}\"\n", guid(at)))
        .collect();
    let nameless = ibnetdiscover(&vec![""; descriptions.len()]);
    let mapped = [("net".to_string(), nameless), ("map".to_string(), names.concat())];
    let both = [ibnetdiscover(descriptions), lst(descriptions)];
    let both = both.iter().map(|text| read_text(text));
    both.chain([read_texts(&mapped).unwrap()]).collect()
}

/// Name and adapters of every host.
fn hosts(net: &Topology) -> Vec<(String, Vec<&str>)> {
    let adapters = |host| net.adapters(host).iter().map(schemas::Name::as_str).collect();
    net.vertices_of(VertexKind::Host).map(|host| (net.name(host).to_string(), adapters(host))).collect()
}

#[test]
fn device_is_the_word_behind_the_host_whatever_its_name() {
    for (first, second) in [
        ("mlx5_0", "mlx5_1"),
        ("HCA-1", "HCA-2"),
        ("ibp65s0", "ibp161s0"),
        ("hfi1_0", "hfi1_1"),
        ("bnxt_re0", "rocep1s0"),
        ("compute", "hsn0"),
    ] {
        let descriptions = [first, second].map(|device| format!("node01 {device}"));
        for found in readings(&descriptions.each_ref().map(String::as_str)) {
            assert!(found.faults.is_empty(), "{:?}", found.faults.examples());
            let net = found.topology;
            assert_eq!(hosts(&net), [("node01".to_string(), vec![first, second])]);
            for device in [first, second] {
                let series = format!("ib_wait_ratio/node01/{device}.1");
                assert_eq!(measured(&net, &series), Ok(["node01", "leaf01"].map(String::from)), "{series}");
                assert!(net.links().any(|link| net.series_name(link).as_ref() == Some(&series)), "{series}");
            }
        }
    }
}

#[test]
fn quotes_and_remarks_are_no_part_of_host_and_device() {
    for description in ["'node01 HCA-1'", "node01 HCA-1 (spare)", "  node01   HCA-1 ", "'node01 HCA-1' "] {
        for found in readings(&[description, "node02 HCA-1"]) {
            assert_eq!(hosts(&found.topology)[0], ("node01".to_string(), vec!["HCA-1"]), "{description}");
        }
    }
}

#[test]
fn descriptions_without_a_device_are_names_as_a_whole() {
    for (description, name) in [
        ("node01", "node01"),
        ("'node01'", "node01"),
        ("node01 (spare)", "node01-spare"),
        ("MT4123 ConnectX6 Mellanox Technologies", "MT4123-ConnectX6-Mellanox-Technologies"),
        ("MT4123 ConnectX6", "MT4123-ConnectX6"),
        ("Mellanox Technologies", "Mellanox-Technologies"),
    ] {
        for found in readings(&[description, "node02 mlx5_0"]) {
            assert_eq!(hosts(&found.topology)[0], (name.to_string(), vec![]), "{description}");
        }
    }
}

#[test]
fn nodes_with_one_description_stay_apart() {
    for found in readings(&["localhost ibp65s0", "localhost ibp65s0"]) {
        let names: Vec<String> = hosts(&found.topology).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["localhost", "localhost-0000000000000102"]);
    }
}

#[test]
fn series_of_either_spelling_of_a_host_find_its_link() {
    for (in_fabric, in_rows) in [
        ("node01.cluster.example", "node01"),
        ("node01", "node01.cluster.example"),
        ("NODE01.cluster.example", "node01"),
        ("Node01", "NODE01"),
    ] {
        let net = read_text(&ibnetdiscover(&[&format!("{in_fabric} mlx5_0"), "node02 mlx5_0"])).topology;
        let found = measured(&net, &format!("ib_wait_ratio/{in_rows}/mlx5_0.1"));
        assert_eq!(found, Ok([in_fabric, "leaf01"].map(String::from)), "{in_rows}");
    }
    let net = read_text(&ibnetdiscover(&["node01.a mlx5_0", "node01.b mlx5_0"])).topology;
    assert_eq!(measured(&net, "ib_wait_ratio/node01/mlx5_0.1"), Err(PortUnknown::Component));
}
