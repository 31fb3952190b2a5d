//! Answers about the examples and about fixtures of the readers, as people get them.

use serde_json::Value;
use std::path::{Path, PathBuf};
use topology::answers::{self, AnswerError};
use topology::draw;
use topology::readers::{TopologyReading, read};

fn root() -> PathBuf {
    PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap())
}

fn example(name: &str) -> TopologyReading {
    of(&[&root().join("machines").join(name)])
}

fn fixture(name: &str) -> PathBuf {
    root().join("tests/readers/fixtures").join(name)
}

fn of(files: &[&Path]) -> TopologyReading {
    read(&files.iter().map(|file| file.to_path_buf()).collect::<Vec<_>>()).unwrap()
}

/// What is printed, and whether it is no fault.
fn printed(answer: impl FnOnce(&mut Vec<u8>) -> Result<(), AnswerError>) -> (String, Result<(), String>) {
    let mut out = Vec::new();
    let result = answer(&mut out).map_err(|error| error.to_string());
    (String::from_utf8(out).unwrap(), result)
}

#[test]
fn summary_counts_levels_and_classes() {
    let (text, result) = printed(|out| Ok(answers::summary(&example("brown.toml"), false, out)?));
    assert_eq!(result, Ok(()));
    for words in
        ["fat_tree: 1296 hosts, 180 switches, 3888 cables", "    3  36 switch", "leaf              2592"]
    {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let two_rails = example("brown_two_rails.toml");
    let (json, _) = printed(|out| Ok(answers::summary(&two_rails, true, out)?));
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&answer["rails"], &answer["directed_links"]), (&2.into(), &15552.into()));
}

#[test]
fn summary_has_no_rate_of_a_class_without_known_rates() {
    let (text, _) = printed(|out| Ok(answers::summary(&of(&[&fixture("pt_pt.csv")]), false, out)?));
    let rates = |text: &str, class: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.starts_with(class)).unwrap();
        line.split_whitespace().skip(2).map(String::from).collect()
    };
    assert_eq!(rates(&text, "local"), ["-", "-"], "{text}");
    let (text, _) = printed(|out| Ok(answers::summary(&of(&[&fixture("fabric.lst")]), false, out)?));
    assert_eq!(rates(&text, "leaf"), ["25.00", "GB/s", "200.00", "GB/s"], "{text}");
}

#[test]
fn ports_are_listed_with_peers() {
    let mutrino = example("mutrino.toml");
    let (text, _) = printed(|out| answers::ports(&mutrino, "c0-0c1s8", false, out));
    assert!(text.contains("r0c0") && text.contains("c0-0c1s0") && text.contains("green"), "{text}");
    assert!(text.contains("aries_stall_ratio/c0-0c1s0/r0c7"), "{text}");
    let (_, error) = printed(|out| answers::ports(&mutrino, "c0-0c1s88", false, out));
    assert!(error.unwrap_err().contains("did you mean c0-0c1s8?"));
}

#[test]
fn path_walks_the_tables_of_each_rail_or_reports_none() {
    let two_rails = example("brown_two_rails.toml");
    let (text, result) = printed(|out| answers::path(&two_rails, "node0001", "node1296", false, out));
    assert_eq!(result, Ok(()));
    assert!(
        text.contains("rail 0, LID 1296: 6 links") && text.contains("rail 1, LID 1296: 6 links"),
        "{text}"
    );
    let mutrino = example("mutrino.toml");
    let (text, _) = printed(|out| answers::path(&mutrino, "nid00000", "nid00004", false, out));
    assert!(text.starts_with("no forwarding tables; one of the shortest paths: 3 links"), "{text}");
}

#[test]
fn faults_are_listed_and_an_error() {
    let sound = of(&[&fixture("fabric.lst"), &fixture("fabric.fdbs")]);
    let (text, result) = printed(|out| answers::faults(&sound, None, false, out));
    assert!(result.is_ok() && text.starts_with("no faults"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.out");
    let text = std::fs::read_to_string(fixture("fabric.ibnetdiscover")).unwrap().replace("lid 8", "lid 7");
    std::fs::write(&broken, text).unwrap();
    let broken = of(&[&broken]);
    let (text, result) = printed(|out| answers::faults(&broken, None, false, out));
    assert_eq!(result, Err("the topology has 1 fault".to_string()));
    assert!(text.contains("lid_twice, 1 times") && text.contains("lid 7 of node01 and node02"), "{text}");
    let (json, _) = printed(|out| answers::faults(&broken, None, true, out));
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["counts"]["lid_twice"], 1);
    assert_eq!(answer["faults"][0]["kind"], "lid_twice");
    assert!(answer["faults"][0]["origin"]["line"].as_u64().unwrap() > 0);
}

#[test]
fn ports_that_report_but_stand_nowhere_are_faults() {
    let folder = tempfile::tempdir().unwrap();
    let series = folder.path().join("signals.jsonl");
    let lines =
        "{\"series\": \"ib_wait_ratio/leaf01/1\"}\nib_wait_ratio/leaf01/99\nlustre_write_rate/node01/snx1\n";
    std::fs::write(&series, lines).unwrap();
    let fabric = of(&[&fixture("fabric.lst")]);
    let (text, result) = printed(|out| answers::faults(&fabric, Some(&series), false, out));
    assert_eq!(result, Err("the topology has 1 fault".to_string()));
    assert!(text.contains("ib_wait_ratio/leaf01/99 reports"), "{text}");
}

#[test]
fn the_plain_form_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    for json in [true, false] {
        let (text, result) = printed(|out| answers::plain_form(&example("vishnu.toml"), json, out));
        assert_eq!(result, Ok(()));
        let file = folder.path().join("exported");
        std::fs::write(&file, &text).unwrap();
        let (again, _) = printed(|out| answers::plain_form(&of(&[&file]), json, out));
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
        let svg = draw::picture(&example(name));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(svg.len() < bytes_max, "{name}: {} bytes", svg.len());
    }
    let topology = topology::Machine::Aries(topology::generate::Aries::new(1)).build().unwrap();
    let svg = draw::svg(&topology, "<script>alert(1)</script>");
    assert!(!svg.contains("<script>") && svg.contains("&lt;script&gt;"));
}
