//! The tables in the repository.

use super::goals::Resource;
use super::{Half, goals, scores, table};
use crate::calibration;
use std::path::Path;

/// Seeds of each kind: a second of a network takes less time to play.
fn seeds(on: Resource) -> u32 {
    match on {
        Resource::FileSystem => 8,
        Resource::Network => 16,
    }
}

fn document(on: Resource, title: &str, about: &str) -> String {
    let seeds = seeds(on);
    let mut kinds = goals::all().unwrap();
    kinds.retain(|kind| kind.on == on);
    let scores = scores(&kinds, Half::HeldOut, seeds, None, &|| {}).unwrap();
    let met = kinds.iter().zip(&scores).filter(|(kind, score)| table::meets(kind, score)).count();
    format!(
        "# {title}\n\n\
         Written by `UPDATE_ACCURACY=1 cargo test --release -p lab truth::`; the test compares it with what the code gives.\n\
         Each line is {seeds} held-out seeds of `tailback lab truth`; goals in brackets. docs/lab.md explains the scores.\n\
         {about}\n\
         {}\n{met} of {} kinds meet their goals.\n\n\
         ## Calibration\n\n\
         How many intervals hold the truth. docs/lab.md explains how those of 50% and 80% are derived.\n\n{}",
        table::markdown(&kinds, &scores),
        kinds.len(),
        calibration::markdown(&table::calibration(&kinds, &scores))
    )
}

fn assert_is_fresh(name: &str, written: &str) {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let path = Path::new(&folder).join("../../detector").join(name);
    if std::env::var_os("UPDATE_ACCURACY").is_some() {
        std::fs::write(&path, written).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == written, "stale; write it again with UPDATE_ACCURACY=1:\n{written}");
}

#[test]
fn table_of_file_systems_is_what_the_code_gives() {
    assert_is_fresh(
        "ACCURACY_FILE_SYSTEMS.md",
        &document(Resource::FileSystem, "Accuracy on file systems", ""),
    );
}

#[test]
fn table_of_networks_is_what_the_code_gives() {
    let about = "Machines are an Aries dragonfly, a fat tree of InfiniBand with tables and a dragonfly of switches. The truth is by the\n\
                 bytes that jobs move under max-min shares (`samplers/lab/src/truth/network/`), not by stalls. Those of\n\
                 `ACCURACY_LINKS.md` are labelled cases of the lab, whose truth is by stalls.\n";
    assert_is_fresh("ACCURACY_NETWORKS.md", &document(Resource::Network, "Accuracy on networks", about));
}
