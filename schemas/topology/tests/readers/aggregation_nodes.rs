//! Aggregation nodes of SHARP: channel adapters inside switches, which are no hosts.

use super::{fixture, read};
use topology::PlainTopology;
use topology::readers::{TopologyReading, read_texts};

const LEAVES_AND_SPINES: [u64; 4] =
    [0x0002_c903_0000_0010, 0x0002_c903_0000_0020, 0x0002_c903_0000_0030, 0x0002_c903_0000_0040];

/// The fixture `fabric.ibnetdiscover` with an aggregation node on port 35 of each switch.
fn ibnetdiscover(description: &str) -> String {
    let mut text = fixture("fabric.ibnetdiscover");
    for (switch, lid) in LEAVES_AND_SPINES.iter().zip(50..) {
        let (key, node) = (format!("S-{switch:016x}"), switch + 8);
        let record = text.find(&format!("Switch\t36 \"{key}\"")).unwrap();
        let behind = record + text[record..].find('\n').unwrap() + 1;
        let port = format!("[35]\t\"H-{node:016x}\"[1]({node:x})\t# \"{description}\" lid {lid} 4xHDR\n");
        text.insert_str(behind, &port);
        text += &format!("\nCa\t1 \"H-{node:016x}\"\t# \"{description}\"\n");
        text += &format!("[1]({node:x})\t\"{key}\"[35]\t# lid {lid} lmc 0 \"switch\" lid 3 4xHDR\n");
    }
    text
}

/// The fixture `fabric.lst` with the same nodes.
fn lst(description: &str) -> String {
    let line = |(switch, lid): (&u64, u16)| {
        let node = switch + 8;
        format!(
            "{{ SW Ports:24 SystemGUID:{switch:016x} NodeGUID:{switch:016x} PortGUID:{switch:016x} {{}} LID:0000 PN:23 }} \
             {{ CA Ports:01 SystemGUID:{node:016x} NodeGUID:{node:016x} PortGUID:{node:016x} {{{description}}} LID:{lid:04X} PN:01 }} \
             PHY=4x LOG=ACT SPD=50\n"
        )
    };
    fixture("fabric.lst") + &LEAVES_AND_SPINES.iter().zip(50..).map(line).collect::<String>()
}

/// The fixture `fabric.fdbs` with ways to the LIDs of the nodes.
fn fdbs() -> String {
    let ways = (50..54).map(|lid| format!("0x{lid:04X} : 035  : 00   : yes\n")).collect::<String>();
    let lines = fixture("fabric.fdbs").lines().map(|line| format!("{line}\n")).collect::<Vec<String>>();
    let with_ways = lines.iter().map(|line| match line.starts_with("LID ") {
        true => format!("{line}{ways}"),
        false => line.clone(),
    });
    with_ways.collect()
}

fn read_with_tables(links: String) -> TopologyReading {
    read_texts(&[("net".to_string(), links), ("fdbs".to_string(), fdbs())]).unwrap()
}

#[test]
fn aggregation_nodes_are_left_out_with_their_links() {
    for description in [
        "Mellanox Technologies Aggregation Node",
        "Quantum Mellanox Technologies Aggregation Node",
        "MF0;leaf01:MQM8700/U1 Mellanox Technologies Aggregation  Node",
    ] {
        for (control, text) in
            [("fabric.ibnetdiscover", ibnetdiscover(description)), ("fabric.lst", lst(description))]
        {
            let found = read_with_tables(text);
            assert!(found.faults.is_empty(), "{description}: {:?}", found.faults.examples());
            let without = read(&[control, "fabric.fdbs"]).topology;
            assert_eq!(PlainTopology::of(&found.topology), PlainTopology::of(&without), "{description}");
        }
    }
}

#[test]
fn a_map_that_names_an_aggregation_node_does_not_make_it_a_host() {
    let links = ibnetdiscover("Mellanox Technologies Aggregation Node");
    let names = LEAVES_AND_SPINES.map(|switch| format!("0x{:016x} \"sharp{switch:x}\"\n", switch + 8));
    let files = [("net".to_string(), links), ("map".to_string(), names.concat())];
    let found = read_texts(&files).unwrap();
    assert!(found.faults.is_empty(), "{:?}", found.faults.examples());
    let without = read(&["fabric.ibnetdiscover"]).topology;
    assert_eq!(PlainTopology::of(&found.topology), PlainTopology::of(&without));
}

#[test]
fn routers_and_management_adapters_stay() {
    let text = fixture("fabric.ibnetdiscover");
    for (record, description) in [("Ca", "SB7800 UFM-HA"), ("Rt", "router01"), ("Ca", "aggregation01 mlx5_0")]
    {
        let changed = text
            .replace("Ca\t1 \"H-0002c90300000101\"", &format!("{record}\t1 \"H-0002c90300000101\""))
            .replace("node01 mlx5_0", description);
        let found = read_texts(&[("net".to_string(), changed)]).unwrap();
        assert!(found.faults.is_empty(), "{:?}", found.faults.examples());
        assert_eq!((found.topology.link_count(), found.topology.vertex_count()), (18, 8), "{description}");
    }
}
