//! Files that are written; an error names the path.

use anyhow::Context;
use schemas::{Job, Time};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Makes a folder and those above it.
///
/// # Errors
/// The disk's.
pub fn make(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("the folder {} cannot be made", folder.display()))
}

/// Opens a file to write; one that is there is replaced.
///
/// # Errors
/// The disk's.
pub fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(BufWriter::with_capacity(1 << 20, file))
}

/// Writes a whole text.
///
/// # Errors
/// The disk's.
pub fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

/// Writes a job file, as `--jobs` takes it.
pub(crate) fn write_jobs<'a>(jobs: impl IntoIterator<Item = &'a Job>, path: &Path) -> anyhow::Result<()> {
    let mut file = create(path)?;
    for job in jobs {
        let line = serde_json::json!({
            "job_id": job.job_id, "user": job.user, "name": job.name, "nodes": job.nodes,
            "start": job.start.seconds(), "end": job.end.map(Time::seconds), "app": job.app,
        });
        writeln!(file, "{line}")?;
    }
    Ok(file.flush()?)
}
