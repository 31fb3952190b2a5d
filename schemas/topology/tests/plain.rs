//! The plain form: what is written is read again, whatever it is.

use proptest::prelude::*;
use topology::generate::{Aries, Dragonfly, DragonflyPlus, FatTree};
use topology::{Machine, PlainTopology, Topology};

fn machines() -> impl Strategy<Value = Machine> {
    let tree = (1u32..4, 1u32..5, 1u32..5, 1u32..4, 1u32..4, 1u32..3, 0u8..3);
    let tree = tree.prop_map(|(pods, leaves, nodes, up, spine_up, rails, lmc)| {
        Machine::FatTree(FatTree {
            ports: 12,
            pods,
            leaves_per_pod: leaves,
            nodes_per_leaf: nodes,
            uplinks_per_leaf: up,
            uplinks_per_spine: if pods > 1 { spine_up } else { 0 },
            rails,
            lmc,
            ..FatTree::brown(1)
        })
    });
    let plus =
        (1u32..5, 1u32..4, 1u32..4, 1u32..4, 0u32..3).prop_map(|(groups, leaves, spines, nodes, links)| {
            Machine::DragonflyPlus(DragonflyPlus {
                groups,
                leaves,
                spines,
                nodes_per_leaf: nodes,
                links_per_spine_and_group: links,
                ..DragonflyPlus::kang()
            })
        });
    let fly = (1u32..5, 1u32..4, 1u32..3, 0u32..3).prop_map(|(groups, routers, nodes, links)| {
        Machine::Dragonfly(Dragonfly {
            groups,
            routers_per_group: routers,
            nodes_per_router: nodes,
            links_per_group_pair: links,
            global_bytes_per_s: 1e9,
            local_bytes_per_s: 2e9,
            host_bytes_per_s: 3.5e9,
        })
    });
    let aries = (1u32..3, 0u32..16, 0u32..16).prop_map(|(groups, slot, last)| {
        let populated = vec!["c0-0c1".to_string(), format!("c1-0c2s{}-{}", slot.min(last), slot.max(last))];
        Machine::Aries(Aries { populated, ..Aries::new(groups) })
    });
    prop_oneof![tree, plus, fly, aries]
}

/// A machine, or a refusal where the numbers do not go together.
fn built(machine: &Machine) -> Option<Topology> {
    machine.build().ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_plain_form_of_any_machine_reads_as_the_same_machine(machine in machines()) {
        let Some(topology) = built(&machine) else { return Ok(()) };
        let plain = PlainTopology::of(&topology);
        let text = serde_json::to_string(&plain).unwrap();
        let read: PlainTopology = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &plain);
        let (again, _) = read.build().unwrap();
        prop_assert_eq!(PlainTopology::of(&again), plain);
        for link in topology.links() {
            prop_assert_eq!(topology.reverse(link), again.reverse(link));
            prop_assert_eq!(topology.level(topology.to(link)), again.level(again.to(link)));
        }
        for rail in 0..topology.lids().rail_count() as u8 {
            prop_assert!(topology.lids().of_rail(rail).eq(again.lids().of_rail(rail)));
        }
    }

    #[test]
    fn generated_tables_have_no_faults(machine in machines()) {
        let Some(topology) = built(&machine) else { return Ok(()) };
        let (_, faults) = PlainTopology::of(&topology).build().unwrap();
        let of_tables = faults.examples().iter().filter(|fault| {
            let word = fault.kind.name();
            word.starts_with("unknown") || word == "loop" || word == "one_end" || word == "two_peers"
        });
        prop_assert_eq!(of_tables.count(), 0, "{:?}", faults.examples());
    }

    #[test]
    fn parameters_survive_being_written(machine in machines()) {
        let text = serde_json::to_string(&machine).unwrap();
        prop_assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), machine);
    }
}

#[test]
fn missing_facts_follow_from_the_rest() {
    let machine = Machine::FatTree(FatTree::brown(2)).build().unwrap();
    let mut plain = PlainTopology::of(&machine);
    plain.shape = None;
    plain.vertices.iter_mut().for_each(|vertex| vertex.group = None);
    for cable in &mut plain.cables {
        (cable.class, cable.rail) = (None, None);
    }
    let (found, faults) = plain.build().unwrap();
    assert!(faults.is_empty(), "{:?}", faults.examples().first());
    assert_eq!(PlainTopology::of(&found), PlainTopology::of(&machine));
}

#[test]
fn a_document_of_another_version_is_refused() {
    let text = r#"{"format": "tailback-topology-9"}"#;
    let error = serde_json::from_str::<PlainTopology>(text).unwrap().build().unwrap_err();
    assert!(error.to_string().contains("tailback-topology-9"), "{error}");
}

#[test]
fn the_json_schema_names_the_keys_that_are_written() {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let text = std::fs::read_to_string(format!("{root}/machines/topology.schema.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    let tree =
        Machine::FatTree(FatTree { pods: 1, uplinks_per_spine: 0, ..FatTree::brown(1) }).build().unwrap();
    let mut plain = PlainTopology::of(&tree);
    plain.vertices[0].guid = Some("0x1".into());
    plain.vertices[0].group = Some(0);
    plain.vertices[0].aliases = vec!["x1000c0s0b0n0".into()];
    plain.vertices[0].lids[0].lmc = 1;
    plain.cables[0].back_bytes_per_s = Some(1.0);
    (plain.tables[0].from, plain.tables[0].until) = (Some(1.0), Some(2.0));
    let document = serde_json::to_value(&plain).unwrap();
    let keys = |value: &serde_json::Value| {
        value.as_object().unwrap().keys().cloned().collect::<std::collections::BTreeSet<_>>()
    };
    for (part, pointer) in [
        ("/properties", ""),
        ("/$defs/vertex/properties", "/vertices/0"),
        ("/$defs/lid/properties", "/vertices/0/lids/0"),
        ("/$defs/cable/properties", "/cables/0"),
        ("/$defs/table/properties", "/tables/0"),
    ] {
        let written = keys(document.pointer(pointer).unwrap());
        assert_eq!(keys(schema.pointer(part).unwrap()), written, "{part}");
    }
}
