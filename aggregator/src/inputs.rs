//! What is named as an input: files, and folders of files.

use crate::decode::{Decoded, Decoder, Outcome};
use crate::lines::Line;
use crate::source::{Format, InputError, InputFile, Opened, SkippedFile};
use schemas::DropReason;
use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folders within folders, at most, and files in all of them.
const DEPTH_MAX: usize = 16;
const FILES_MAX: usize = 100_000;
/// Rows of a file in a folder that are looked at to recognise it.
const HEAD_ROWS: usize = 32;

/// What inputs led to.
#[derive(Default)]
pub(crate) struct Inputs {
    pub files: Vec<InputFile>,
    pub skipped: Vec<SkippedFile>,
}

/// Opens files, and whatever has rows in folders; in the order of their paths, each once.
///
/// # Errors
/// [`InputError`] of the first named file that cannot be used, or if nothing in the folders can.
pub(crate) fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Inputs, InputError> {
    let mut named: BTreeSet<PathBuf> = BTreeSet::new();
    let mut found: BTreeSet<PathBuf> = BTreeSet::new();
    let mut inputs = Inputs::default();
    for path in paths.iter().map(AsRef::as_ref) {
        if path.is_dir() {
            let mut folders = BTreeSet::new();
            walk(path, DEPTH_MAX, &mut folders, &mut found, &mut inputs.skipped)?;
        } else {
            named.insert(path.to_path_buf());
        }
    }
    let all: BTreeSet<&PathBuf> = named.union(&found).collect();
    for path in all {
        match InputFile::open(path) {
            Ok(Opened::Rows(file)) => match (!named.contains(path)).then(|| no_rows(&file)).flatten() {
                Some(note) => inputs.skip(path, note.to_string()),
                None => inputs.files.push(file),
            },
            Ok(Opened::Skipped(file)) => inputs.skipped.push(file),
            Err(error) if named.contains(path) => return Err(error),
            Err(error) => {
                let note = error.to_string();
                let own = format!("{}:", path.display());
                let note = note
                    .strip_prefix(&own)
                    .map_or(note.as_str(), |rest| rest.trim_start_matches("1:").trim());
                inputs.skip(path, note.to_string());
            }
        }
    }
    if inputs.files.is_empty() && named.is_empty() {
        let first = inputs.skipped.first().map(|file| format!("{}: {}", file.path.display(), file.note));
        let first = first.unwrap_or_else(|| "the folder is empty".to_string());
        return Err(InputError::Nothing { files: inputs.skipped.len(), first });
    }
    Ok(inputs)
}

impl Inputs {
    fn skip(&mut self, path: &Path, note: String) {
        self.skipped.push(SkippedFile { path: path.to_path_buf(), note: note.into() });
    }
}

/// Files in `folder` and the folders in it. What is hidden is passed over, and a folder that leads back to itself.
fn walk(
    folder: &Path,
    depth: usize,
    folders: &mut BTreeSet<(u64, u64)>,
    found: &mut BTreeSet<PathBuf>,
    skipped: &mut Vec<SkippedFile>,
) -> Result<(), InputError> {
    let failed = |source| InputError::Open { path: folder.to_path_buf(), source };
    let identity = |data: Metadata| (data.dev(), data.ino());
    if !folders.insert(identity(std::fs::metadata(folder).map_err(failed)?)) {
        return Ok(());
    }
    let mut within = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if path.is_dir() {
            within.push(path);
        } else if !path.is_file() {
            skipped.push(SkippedFile { path, note: "no file".into() });
        } else if found.len() >= FILES_MAX {
            skipped.push(SkippedFile { path, note: "beyond the 100,000 files that are read".into() });
        } else {
            found.insert(path);
        }
    }
    for path in within {
        if depth == 0 {
            skipped.push(SkippedFile { path, note: "too many folders within folders".into() });
            continue;
        }
        walk(&path, depth - 1, folders, found, skipped)?;
    }
    Ok(())
}

/// What a file holds instead of rows, by its first ones.
fn no_rows(file: &InputFile) -> Option<&'static str> {
    if file.size == 0 {
        return Some("empty");
    }
    let mut lines = file.lines(0, file.size, 0);
    let (mut decoder, mut out, mut line) = (Decoder::default(), Decoded::default(), Vec::new());
    let mut table = file.tables.first().cloned().unwrap_or_default();
    let mut seen = false;
    for _ in 0..HEAD_ROWS {
        let met = lines.next(&mut line).ok()?;
        if met == Line::End {
            break;
        }
        if file.format != Format::Csv && is_job_of_a_file(&line) {
            return Some("a job file: name it with --jobs");
        }
        let outcome = match file.format {
            Format::Csv => decoder.csv_line(&mut table, &line, &mut out),
            _ => decoder.json_line(Some(&file.schema), &line, &mut out),
        };
        match outcome {
            Outcome::Skipped => {}
            Outcome::Dropped(DropReason::UnknownSchema | DropReason::InvalidJson) => seen = true,
            _ => return None,
        }
    }
    seen.then_some("no row has columns that Tailback knows")
}

fn is_job_of_a_file(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|text| schemas::jsonl::parse_job(text.trim()).is_ok())
}
