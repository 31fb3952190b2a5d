//! Site files of `tests/sites`: good ones with the expected sources, bad ones with their error.
//!
//! `UPDATE_GOLDEN=1 cargo test --release -p schemas site::` writes the `.expected` files and the sentences again.

use schemas::Site;
use schemas::site::{Expected, Half};
use std::fmt::Write;
use std::path::PathBuf;

fn sites(kind: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("tests/sites").join(kind);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

fn good(name: &str) -> Site {
    let path = sites("good").into_iter().find(|path| path.ends_with(name)).unwrap();
    Site::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn line(expected: &Expected) -> String {
    let Expected { producer, schema, source_schema, component, copies, event_driven } = expected;
    let when = if *event_driven { "events" } else { "ticks" };
    format!("{producer} {schema} ({source_schema}) {component} x{copies} {when}\n")
}

#[test]
fn good_sites_expect_what_stands_beside_them() {
    for path in sites("good") {
        let site = Site::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let mut text: String = site.expected().iter().map(line).collect();
        for warning in &site.warnings {
            writeln!(text, "warning: {warning}").unwrap();
        }
        let golden = path.with_extension("expected");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&golden, &text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(&golden).unwrap(), "{}", path.display());
    }
}

#[test]
fn bad_site_error_names_line_key_and_value() {
    for path in sites("bad") {
        let mut text = std::fs::read_to_string(&path).unwrap();
        let error = Site::parse(&text).expect_err(&path.display().to_string()).to_string();
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            let kept = text.lines().filter(|line| !line.starts_with("# wrong: ")).map(str::to_string);
            let lines: Vec<String> =
                kept.chain(error.lines().map(|line| format!("# wrong: {line}"))).collect();
            text = lines.join("\n") + "\n";
            std::fs::write(&path, &text).unwrap();
        }
        let wanted: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# wrong: ")).collect();
        assert_eq!(error.lines().collect::<Vec<_>>(), wanted, "{}", path.display());
    }
}

#[test]
fn every_tile_of_a_router_has_two_reporters() {
    let site = good("aries.toml");
    let halves = site.router_halves();
    assert_eq!(halves.len(), 10);
    for router in ["c0-0c0s0", "c0-0c0s1", "c0-0c0s2"] {
        for column in 0..8 {
            let reporters =
                halves.values().filter(|p| p.router.as_str() == router && p.half.columns().contains(&column));
            assert_eq!(reporters.count(), 2, "{router} column {column}");
        }
    }
    let half = |host: &str| halves.iter().find(|(name, _)| name.as_str() == host).unwrap().1.half;
    assert_eq!(
        [half("nid00004"), half("nid00005"), half("nid00010")],
        [Half::Left, Half::Right, Half::Whole]
    );
}

#[test]
fn with_a_redundancy_of_one_the_others_leave_the_router_alone() {
    let path = sites("good").into_iter().find(|path| path.ends_with("aries.toml")).unwrap();
    let text = std::fs::read_to_string(path).unwrap().replace("redundancy = 2", "redundancy = 1");
    let site = Site::parse(&text).unwrap();
    let reporters: Vec<String> = site.router_halves().keys().map(ToString::to_string).collect();
    assert_eq!(reporters, ["nid00000", "nid00001", "nid00004", "nid00005", "nid00009"]);
    assert!(
        site.expected().iter().filter(|e| e.source_schema.as_str() == "aries_rtr").all(|e| e.copies == 1)
    );
}

#[test]
fn a_number_in_component_id_stands_for_one_host() {
    let ids = good("slingshot.toml").component_ids();
    assert_eq!(
        ids.values().copied().collect::<Vec<_>>(),
        [0, 1, 2, 0, 0],
        "mds1 comes after oss1; two names end in 0, the second gets none"
    );
    let ids = good("infiniband.toml").component_ids();
    assert_eq!(ids.values().copied().collect::<Vec<_>>(), [0, 1, 2, 3], "fabric1 comes after n1");
}
