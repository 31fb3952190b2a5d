//! Files that are written; an error names the path.

use anyhow::Context;
use schemas::{Job, Time};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Makes a folder and those above it.
///
/// # Errors
/// The disk's.
pub fn make(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("the folder {} cannot be made", folder.display()))
}

/// Rights of files, which may name users' jobs: the own account and its group read them. The umask may narrow them.
const MODE: u32 = 0o640;

/// Opens a file to write; one that is there is replaced, and its rights are narrowed.
///
/// # Errors
/// The disk's.
pub fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = open(path).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(BufWriter::with_capacity(1 << 20, file))
}

fn open(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(MODE).open(path)?;
    let known = file.metadata()?;
    let mode = known.permissions().mode() & 0o777;
    // A device or a pipe keeps its rights.
    if known.is_file() && mode & !MODE != 0 {
        file.set_permissions(Permissions::from_mode(mode & MODE))?;
    }
    Ok(file)
}

/// Writes a whole text.
///
/// # Errors
/// The disk's.
pub fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let written = open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("{} cannot be written", path.display()))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn files_are_not_readable_by_everyone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs.jsonl");
        drop(create(&path).unwrap());
        assert_eq!(mode(&path) & !MODE, 0);
        // One that an earlier run left with other rights, too.
        std::fs::set_permissions(&path, Permissions::from_mode(0o664)).unwrap();
        write(&path, "{}").unwrap();
        assert_eq!(mode(&path), 0o640);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}");
        // A device is written as it is.
        write(Path::new("/dev/null"), "text").unwrap();
        assert_eq!(mode(Path::new("/dev/null")), 0o666);
    }
}
