//! The command on the examples and on fixtures of the readers.

use super::{TopologyArgs, run};
use clap::Parser;
use serde_json::Value;
use std::path::PathBuf;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    args: TopologyArgs,
}

fn root() -> PathBuf {
    PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap())
}

fn example(name: &str) -> String {
    root().join("schemas/topology/machines").join(name).display().to_string()
}

fn fixture(name: &str) -> String {
    root().join("schemas/topology/tests/readers/fixtures").join(name).display().to_string()
}

/// What the command prints, and whether it succeeds.
fn tailback(words: &[&str]) -> (String, Result<(), String>) {
    let line = Line::parse_from(std::iter::once(&"topology").chain(words));
    let mut out = Vec::new();
    let result = run(&line.args, &mut out).map_err(|error| crate::cli::sentence(&error));
    (String::from_utf8(out).unwrap(), result)
}

#[test]
fn show_counts_levels_and_classes() {
    let (text, result) = tailback(&["show", &example("brown.toml")]);
    assert_eq!(result, Ok(()));
    for words in
        ["fat_tree: 1296 hosts, 180 switches, 3888 cables", "    3  36 switch", "leaf              2592"]
    {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let (json, _) = tailback(&["show", "--json", &example("brown_two_rails.toml")]);
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&answer["rails"], &answer["directed_links"]), (&2.into(), &15552.into()));
}

#[test]
fn show_at_lists_ports_and_peers() {
    let (text, _) = tailback(&["show", &example("mutrino.toml"), "--at", "c0-0c1s8"]);
    assert!(text.contains("r0c0") && text.contains("c0-0c1s0") && text.contains("green"), "{text}");
    assert!(text.contains("aries_stall_ratio/c0-0c1s0/r0c7"), "{text}");
    let (_, error) = tailback(&["show", &example("mutrino.toml"), "--at", "c0-0c1s88"]);
    assert!(error.unwrap_err().contains("did you mean c0-0c1s8?"));
}

#[test]
fn show_path_walks_the_tables_of_each_rail_or_reports_none() {
    let (text, result) =
        tailback(&["show", &example("brown_two_rails.toml"), "--path", "node0001", "node1296"]);
    assert_eq!(result, Ok(()));
    assert!(
        text.contains("rail 0, LID 1296: 6 links") && text.contains("rail 1, LID 1296: 6 links"),
        "{text}"
    );
    let (text, _) = tailback(&["show", &example("mutrino.toml"), "--path", "nid00000", "nid00004"]);
    assert!(text.starts_with("no forwarding tables; one of the shortest paths: 3 links"), "{text}");
}

#[test]
fn check_succeeds_without_faults_and_fails_with_them() {
    let (text, result) = tailback(&["check", &fixture("fabric.lst"), &fixture("fabric.fdbs")]);
    assert!(result.is_ok() && text.starts_with("no faults"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.out");
    let text = std::fs::read_to_string(fixture("fabric.ibnetdiscover")).unwrap().replace("lid 8", "lid 7");
    std::fs::write(&broken, text).unwrap();
    let broken = broken.display().to_string();
    let (text, result) = tailback(&["check", &broken]);
    assert_eq!(result, Err("the topology has 1 fault".to_string()));
    assert!(text.contains("lid_twice, 1 times") && text.contains("lid 7 of node01 and node02"), "{text}");
    let (json, _) = tailback(&["check", "--json", &broken]);
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["counts"]["lid_twice"], 1);
    assert_eq!(answer["faults"][0]["kind"], "lid_twice");
    assert!(answer["faults"][0]["origin"]["line"].as_u64().unwrap() > 0);
}

#[test]
fn check_names_ports_that_report_but_stand_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let series = folder.path().join("signals.jsonl");
    let lines =
        "{\"series\": \"ib_wait_ratio/leaf01/1\"}\nib_wait_ratio/leaf01/99\nlustre_write_rate/node01/snx1\n";
    std::fs::write(&series, lines).unwrap();
    let series = series.display().to_string();
    let (text, result) = tailback(&["check", &fixture("fabric.lst"), "--series", &series]);
    assert_eq!(result, Err("the topology has 1 fault".to_string()));
    assert!(text.contains("ib_wait_ratio/leaf01/99 reports"), "{text}");
}

#[test]
fn what_is_exported_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    for json in [&["--json"][..], &[]] {
        let (text, result) = tailback(&[&["export", &example("vishnu.toml")], json].concat());
        assert_eq!(result, Ok(()));
        let file = folder.path().join("exported");
        std::fs::write(&file, &text).unwrap();
        let (again, _) = tailback(&[&["export", &file.display().to_string()], json].concat());
        assert_eq!(again, text);
    }
}

#[test]
fn drawings_escape_names_and_stay_small() {
    for (name, bytes_max) in [
        ("trinity.toml", 1_500_000),
        ("brown_two_rails.toml", 300_000),
        ("kang.toml", 200_000),
        ("dragonfly.toml", 60_000),
    ] {
        let (svg, result) = tailback(&["draw", &example(name)]);
        assert_eq!(result, Ok(()));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(svg.len() < bytes_max, "{name}: {} bytes", svg.len());
    }
    let topology = topology::Machine::Aries(topology::generate::Aries::new(1)).build().unwrap();
    let svg = topology::draw::svg(&topology, "<script>alert(1)</script>");
    assert!(!svg.contains("<script>") && svg.contains("&lt;script&gt;"));
}
