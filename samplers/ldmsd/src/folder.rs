//! Writing the folder: foreign files, and files that were edited, are left alone unless forced.

use crate::Files;
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Paths and digests of what was written last time.
const RECORD: &str = ".tailback-ldms-config.json";

/// Writes `files` below `folder`, all or none as far as the check goes.
///
/// # Errors
/// If a file is there that this command did not write, or that was changed since; if the disk refuses.
pub fn write(folder: &Path, files: &Files, force: bool) -> anyhow::Result<()> {
    let record = folder.join(RECORD);
    let mut written = match std::fs::read_to_string(&record) {
        Ok(text) => serde_json::from_str::<BTreeMap<PathBuf, String>>(&text)
            .with_context(|| format!("{} is damaged; remove it and use --force", record.display()))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", record.display())),
    };
    for path in files.keys().filter(|_| !force) {
        check(folder, path, written.get(path))?;
    }
    for (path, text) in files {
        let full = folder.join(path);
        let parent = full.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
        std::fs::write(&full, text).with_context(|| format!("{} cannot be written", full.display()))?;
        written.insert(path.clone(), digest(text.as_bytes()));
    }
    let text = serde_json::to_string_pretty(&written)? + "\n";
    std::fs::write(&record, text).with_context(|| format!("{} cannot be written", record.display()))
}

fn check(folder: &Path, path: &Path, recorded: Option<&String>) -> anyhow::Result<()> {
    let full = folder.join(path);
    let bytes = match std::fs::read(&full) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", full.display())),
    };
    match recorded {
        None => bail!("{} was not written by this command; --force writes over it", full.display()),
        Some(digest_then) if *digest_then != digest(&bytes) => {
            bail!("{} was changed since it was written; --force writes over it", full.display())
        }
        Some(_) => Ok(()),
    }
}

/// FNV-1a of 64 bits: it detects an edit, not an attack.
fn digest(bytes: &[u8]) -> String {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}
