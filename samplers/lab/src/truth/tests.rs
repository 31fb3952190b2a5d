//! The tables in the repository.

use super::goals::Resource;
use super::kinds::scenario;
use super::physics::World;
use super::{Half, goals, scores, table};
use crate::calibration;
use std::path::Path;

/// Seeds of each kind: a second of a network takes less time to play.
fn seeds(on: Resource) -> u32 {
    match on {
        Resource::FileSystem => 24,
        Resource::Network => 60,
    }
}

fn document(on: Resource, title: &str, about: &str) -> String {
    let seeds = seeds(on);
    let mut kinds = goals::all().unwrap();
    kinds.retain(|kind| kind.on == on);
    let seeds_of = |kind: &goals::Kind| kind.seeds.unwrap_or(seeds);
    let scores = scores(&kinds, Half::HeldOut, seeds_of, None, &|| {}).unwrap();
    let met = kinds.iter().zip(&scores).filter(|(kind, score)| table::meets(kind, score)).count();
    format!(
        "# {title}\n\n\
         Written by `UPDATE_ACCURACY=1 cargo test --release -p lab truth::`; the test compares it with what the code gives.\n\
         Each line is {seeds} held-out seeds of `tailback lab truth`, or more where chance would decide about a goal; goals in\n\
         brackets. docs/lab.md explains the scores.\n\
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

/// What each job of a scenario loses.
fn lost_s(kind: &str, seed: u64) -> Vec<f64> {
    let scenario = scenario(kind, seed).unwrap();
    let mut world = World::new(&scenario);
    while world.step() {}
    (0..scenario.jobs.len()).map(|job| world.lost(job).all_s()).collect()
}

#[test]
fn each_kind_has_scenarios_that_its_seed_fixes() {
    let kinds = goals::all().unwrap();
    let is_short = |kind: &&goals::Kind| kind.on == Resource::FileSystem && kind.name != "daily_cycle";
    for kind in kinds.iter().filter(is_short) {
        assert_eq!(lost_s(&kind.name, 3), lost_s(&kind.name, 3), "{}", kind.name);
        let is_quiet = kind.goal.charged == Some(0.0);
        assert_eq!(lost_s(&kind.name, 5).iter().sum::<f64>() == 0.0, is_quiet, "{}", kind.name);
    }
    assert!(scenario("stormy", 1).is_err());
}
