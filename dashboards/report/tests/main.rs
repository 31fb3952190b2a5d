//! Reports against golden files, and the way from the store to them.
//! `UPDATE_GOLDEN=1 cargo test` writes the golden files again.
//!
//! | module | what it holds |
//! |---|---|
//! | `facts`, `network` | facts of one job, its regions and factors |
//! | `store_file` | the same facts in an embedded store |
//! | `pages` | post-mortems as text, JSON and HTML |
//! | `paces` | the pace of a job beside earlier runs |
//! | `post_mortems` | post-mortems and comparisons read from a store |
//! | `job_lists` | lists of jobs read from a store |
//! | `explanations` | explanations read from a store |
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod explanations;
mod facts;
mod job_lists;
mod network;
mod paces;
mod pages;
mod post_mortems;
mod store_file;

use std::path::Path;

/// Compares with a file of the folder `golden`.
fn check(golden: &str, text: &str) {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let path = Path::new(&folder).join("tests/golden").join(golden);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, want, "\n{}:\n{text}", path.display());
}
