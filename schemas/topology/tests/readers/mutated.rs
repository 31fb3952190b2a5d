//! Files that are cut, mixed up or random: a topology, faults or an error, never a panic.

use crate::integration::readers::fixture;
use proptest::prelude::*;
use topology::readers::read_texts;

const FIXTURES: [&str; 9] = [
    "fabric.ibnetdiscover",
    "fabric.lst",
    "fabric.fdbs",
    "fabric.lfts",
    "names.map",
    "xc.interconnect",
    "xc.nodes",
    "pt_pt.csv",
    "pt_pt.hosts",
];

/// Replaces `length` bytes at `at` (a share of the text) by `with`.
fn mutated(text: &str, at: f64, length: usize, with: &str) -> String {
    let at = (at * text.len() as f64) as usize;
    let end = (at + length).min(text.len());
    let mut bytes = text.as_bytes().to_vec();
    bytes.splice(at..end, with.bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

fn survive(files: &[(String, String)]) {
    if let Ok(found) = read_texts(files) {
        for link in found.topology.links() {
            assert_eq!(found.topology.reverse(found.topology.reverse(link)), link);
            let _ = found.topology.series_name(link);
        }
        let _ = found.topology.routes_at(None).is_empty();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_are_survived(
        which in 0..FIXTURES.len(),
        second in 0..FIXTURES.len(),
        edits in prop::collection::vec((0.0..1.0f64, 0usize..20, "[\\PC]{0,6}|[0-9a-fx]{1,6}|[\\[\\]{}\"# :-]{1,3}"), 1..6),
        cut in 0.0..1.2f64,
    ) {
        let mut text = fixture(FIXTURES[which]);
        for (at, length, with) in edits {
            text = mutated(&text, at, length, &with);
        }
        let text: String = text.chars().take((cut * text.len() as f64) as usize).collect();
        survive(&[("a".into(), text), ("b".into(), fixture(FIXTURES[second]))]);
    }

    #[test]
    fn plain_documents_with_odd_numbers_are_survived(
        lid: u16, lmc: u8, port in "[0-9a-z_.]{0,8}", words in "[0-9: -]{0,24}", bytes: f64, rail: u8,
    ) {
        let document = serde_json::json!({
            "format": "tailback-topology-1",
            "vertices": [
                {"name": "s1", "kind": "switch", "lids": [{"lid": lid, "port": port, "lmc": lmc}]},
                {"name": "h1", "kind": "host", "adapters": ["", "mlx5_0"], "group": u32::MAX},
                {"name": "r1", "kind": "router", "guid": port},
            ],
            "cables": [
                {"a": "s1", "a_port": port, "b": "h1", "b_port": "mlx5_0.1", "bytes_per_s": bytes, "rail": rail},
                {"a": "s1", "a_port": "2", "b": "r1", "b_port": "r0c1"},
            ],
            "tables": [{"from": bytes, "switches": {"s1": words}}],
        });
        survive(&[("a".into(), document.to_string())]);
    }
}
