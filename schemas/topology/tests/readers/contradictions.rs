//! Contradictions in files: file, line and value are reported, the rest is read.

use crate::integration::readers::{fixture, read_text};
use topology::FaultKind;
use topology::readers::read_texts;

/// The faults of the `ibnetdiscover` fixture after `change`, as kinds with counts, and the first one's text.
fn faults(change: impl Fn(String) -> String) -> (Vec<(FaultKind, u64)>, String) {
    let found = read_text(&change(fixture("fabric.ibnetdiscover")));
    let first = found.faults.examples().first().map(ToString::to_string).unwrap_or_default();
    (found.faults.nonzero().collect(), first)
}

fn line_of(text: &str, words: &str) -> usize {
    text.lines().position(|line| line.contains(words)).unwrap() + 1
}

#[test]
fn a_link_that_one_record_lacks_has_one_end() {
    let text = fixture("fabric.ibnetdiscover");
    let lost = "[1]\t\"S-0002c90300000010\"[5]";
    let (kinds, first) = faults(|text| {
        let kept = text.lines().filter(|line| !line.starts_with(lost));
        kept.map(|line| format!("{line}\n")).collect()
    });
    assert_eq!(kinds, [(FaultKind::OneEnd, 1)]);
    let line = line_of(&text, "[5]\t\"S-0002c90300000030\"[1]");
    assert!(first.starts_with(&format!("net:{line}: one_end: leaf01[5] to spine01[1]")), "{first}");
}

#[test]
fn a_port_that_two_switches_claim_has_two_peers() {
    let change =
        |text: String| text.replace("[6]\t\"S-0002c90300000040\"[2]", "[6]\t\"S-0002c90300000040\"[1]");
    let (kinds, first) = faults(change);
    assert!(kinds.iter().any(|(kind, _)| *kind == FaultKind::TwoPeers), "{kinds:?}");
    assert!(first.contains("leaf02[6]") && first.starts_with("net:"), "{first}");
}

#[test]
fn lid_of_two_ports_is_reported_once() {
    let (kinds, first) = faults(|text| text.replace("lid 8", "lid 7"));
    assert_eq!(kinds, [(FaultKind::LidTwice, 1)]);
    assert!(first.contains("lid 7 of node01 and node02"), "{first}");
}

#[test]
fn an_unknown_rate_leaves_the_capacity_unknown() {
    let (kinds, _) = faults(|text| text.replacen("4xHDR", "4x???", 1));
    assert_eq!(kinds, [(FaultKind::UnknownRate, 1)]);
}

#[test]
fn a_node_without_description_is_named_by_its_guid() {
    let (kinds, first) = faults(|text| text.replace("\"leaf02\"", "\"\""));
    assert_eq!(kinds, [(FaultKind::NoName, 1)]);
    assert!(first.contains("guid-0002c90300000020"), "{first}");
}

#[test]
fn two_nodes_with_one_description_stay_two() {
    let found = read_text(&fixture("fabric.ibnetdiscover").replace("node02 mlx5_0", "node01 mlx5_0"));
    assert_eq!(found.faults.nonzero().collect::<Vec<_>>(), [(FaultKind::NameTwice, 1)]);
    assert_eq!(found.topology.link_count(), 18);
}

#[test]
fn malformed_lines_and_a_cut_end_are_reported() {
    let (kinds, _) = faults(|text| text.replacen("[1]\t\"S-", "[x]\t\"S-", 1) + "[9]\t\"S-00");
    assert!(kinds.contains(&(FaultKind::BadLine, 2)), "{kinds:?}");
    assert!(kinds.contains(&(FaultKind::Truncated, 1)), "{kinds:?}");
}

#[test]
fn tables_of_unknown_switches_are_reported_with_their_line() {
    let tables = fixture("fabric.fdbs")
        .replace("Switch 0x0002c90300000040", "Switch 0x0002c90300000099")
        .replacen("0x0009 : 005", "0x0009 : 035", 1);
    let files = [("net".to_string(), fixture("fabric.lst")), ("net.fdbs".to_string(), tables)];
    let found = read_texts(&files).unwrap();
    for kind in [FaultKind::UnknownSwitch, FaultKind::UnknownPort, FaultKind::Unreachable] {
        assert!(found.faults.count(kind) > 0, "{kind:?}: {:?}", found.faults.examples());
    }
    let unknown =
        found.faults.examples().iter().find(|fault| fault.kind == FaultKind::UnknownSwitch).unwrap();
    assert!(unknown.to_string().starts_with("net.fdbs:"), "{unknown}");
}

#[test]
fn colours_that_contradict_cnames_are_reported() {
    let text = fixture("xc.interconnect").replacen("green", "black", 1);
    let found = read_text(&text);
    assert_eq!(found.faults.count(FaultKind::ClassConflict), 1);
    let text = fixture("xc.interconnect").replace("a0l01(0:0:0) green", "a0l01(0:0:0) purple");
    assert_eq!(read_text(&text).faults.count(FaultKind::BadLine), 1);
}
