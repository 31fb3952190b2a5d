//! The table in the repository.

use super::{Half, goals, scores, table};
use crate::calibration;
use std::path::Path;

const SEEDS: u32 = 8;

fn document() -> String {
    let kinds = goals::all().unwrap();
    let scores = scores(&kinds, Half::HeldOut, SEEDS, None, &|| {}).unwrap();
    let met = kinds.iter().zip(&scores).filter(|(kind, score)| table::meets(&kind.goal, score)).count();
    format!(
        "# Accuracy on file systems\n\n\
         Written by `UPDATE_ACCURACY=1 cargo test --release -p lab truth::`; the test compares it with what the code gives.\n\
         Each line is {SEEDS} held-out seeds of `tailback lab truth`; goals in brackets. docs/lab.md explains the scores.\n\n\
         {}\n{met} of {} kinds meet their goals.\n\n\
         ## Calibration\n\n\
         How many intervals hold the truth. docs/lab.md explains how those of 50% and 80% are derived.\n\n{}",
        table::markdown(&kinds, &scores),
        kinds.len(),
        calibration::markdown(&table::calibration(&kinds, &scores))
    )
}

#[test]
fn table_of_file_systems_is_what_the_code_gives() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let path = Path::new(&folder).join("../../detector/ACCURACY_FILE_SYSTEMS.md");
    let written = document();
    if std::env::var_os("UPDATE_ACCURACY").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == written, "stale; write it again with UPDATE_ACCURACY=1:\n{written}");
}
