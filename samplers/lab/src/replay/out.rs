//! The folder of the results: what is there already, and whether it may be replaced.

use super::Request;
use crate::files::make;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use store::sqlite::Store;

/// Files of a replay beside its database.
const FILES: [&str; 4] = ["signals.jsonl", "episodes.jsonl", "jobs.jsonl", "dropped.json"];
/// The database.
pub(super) const DATABASE: &str = "tailback.db";

/// Makes the folder; results that are there are removed with `--force` and refused without it.
///
/// # Errors
/// A sentence with the folder, the files, and what to do.
pub(super) fn prepare(request: &Request) -> anyhow::Result<()> {
    let out = &request.out;
    let there: Vec<&str> = FILES
        .into_iter()
        .chain([DATABASE])
        .filter(|name| out.join(name).symlink_metadata().is_ok())
        .collect();
    let files = there.join(", ");
    if let Some(input) = input_among(request, &there) {
        bail!(
            "--out {} would replace {}, which is an input: name another folder",
            out.display(),
            input.display()
        );
    }
    if !there.is_empty() && !request.is_forced {
        bail!(
            "{} contains results ({files}): name another folder, or replace them with --force",
            out.display()
        );
    }
    for name in there {
        let path = out.join(name);
        let removed = match name {
            DATABASE => Store::remove(&path).map_err(anyhow::Error::from),
            _ => std::fs::remove_file(&path).map_err(anyhow::Error::from),
        };
        removed.with_context(|| format!("{} cannot be replaced", path.display()))?;
    }
    make(out)
}

/// An input that is one of the files `there`, or the folder that holds them.
fn input_among(request: &Request, there: &[&str]) -> Option<PathBuf> {
    let known = |path: &Path| path.canonicalize().ok();
    let folder = known(&request.out)?;
    let results: Vec<PathBuf> = there.iter().filter_map(|name| known(&folder.join(name))).collect();
    let inputs = request.inputs.iter().chain(&request.jobs).chain(&request.topology);
    let is_replaced = |path: &&PathBuf| {
        known(path).is_some_and(|path| results.contains(&path) || (!there.is_empty() && path == folder))
    };
    inputs.into_iter().find(is_replaced).cloned()
}
