//! The kind of a file, by its name and its first bytes.

use crate::csv::{is_header, is_kind};
use crate::decode::trimmed;
use crate::source::{InputError, LINE_BYTES_MAX};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Files that accompany rows, by their names: `lustre_client.HEADER`, also after a roll-over as
/// `lustre_client.HEADER-1795217419`, `lustre_client.KIND`, `ldms.lustre_client.meta.jsonl`.
pub(crate) fn companion(name: &str) -> Option<&'static str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['-', '.']);
    if name.ends_with(".HEADER") || stem.ends_with(".HEADER") {
        Some("column names of the CSV file beside it")
    } else if name.ends_with(".KIND") || stem.ends_with(".KIND") {
        Some("types of the columns of the CSV file beside it")
    } else if name.ends_with(".meta.jsonl") {
        Some("where Kafka kept the rows of the file beside it")
    } else {
        None
    }
}

/// The first line of `<file>.HEADER`, or of `<file>.HEADER-<time>` for a file `<file>-<time>` that was rolled over.
pub(crate) fn sibling_header(path: &Path) -> Result<Option<String>, (PathBuf, std::io::Error)> {
    let text = path.to_string_lossy();
    let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let mut candidates = vec![format!("{text}.HEADER")];
    if let Some(base) = stem.strip_suffix(['-', '.']).filter(|_| stem.len() < text.len()) {
        candidates.push(format!("{base}.HEADER{}", &text[base.len()..]));
    }
    for candidate in candidates.iter().map(PathBuf::from) {
        let mut bytes = Vec::new();
        match File::open(&candidate) {
            Ok(file) => file
                .take(LINE_BYTES_MAX as u64)
                .read_to_end(&mut bytes)
                .map_err(|error| (candidate, error))?,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err((candidate, error)),
        };
        let lines = bytes.split(|b| *b == b'\n').map(trimmed);
        let header = lines.into_iter().find(|line| is_header(line));
        return Ok(header.map(|line| String::from_utf8_lossy(line).into_owned()));
    }
    Ok(None)
}

/// How the lines of a file are written.
pub(crate) enum LineForm {
    Json,
    /// Objects in lists, or on several lines each.
    Objects,
    Csv,
    Kinds,
}

/// Detects the form by the first line that is unmistakable: its very first ones may be cut or spoilt.
pub(crate) fn detect(path: &Path, head: &[u8], header: bool) -> Result<LineForm, InputError> {
    if head.starts_with(b"\x1f\x8b") || head.starts_with(b"\x28\xb5\x2f\xfd") || head.starts_with(b"BZh9") {
        return Err(InputError::Compressed(path.to_path_buf()));
    }
    let lines = || head.split(|b| *b == b'\n').map(trimmed).filter(|line| !line.is_empty());
    let mut kinds = false;
    for line in lines() {
        // A byte that is no UTF-8 may stand in any text.
        if line.contains(&0) {
            continue;
        }
        if begins_object(line) {
            return Ok(LineForm::Json);
        }
        if begins_objects(line) {
            return Ok(LineForm::Objects);
        }
        if is_header(line) || begins_csv_row(line) {
            return Ok(LineForm::Csv);
        }
        kinds |= is_kind(line);
    }
    let Some(first) = lines().next() else {
        // An empty file has no rows of either kind.
        return Ok(if header { LineForm::Csv } else { LineForm::Json });
    };
    if kinds {
        return Ok(LineForm::Kinds);
    }
    if head.contains(&0) || !is_text(first) {
        return Err(InputError::Binary(path.to_path_buf()));
    }
    let begin = String::from_utf8_lossy(&first[..first.len().min(160)]);
    Err(InputError::NoRows { path: path.to_path_buf(), begin: begin.chars().take(40).collect() })
}

/// UTF-8, except that the end may be cut within a character.
fn is_text(line: &[u8]) -> bool {
    !line.contains(&0) && std::str::from_utf8(line).map_or_else(|error| error.error_len().is_none(), |_| true)
}

fn begins_object(line: &[u8]) -> bool {
    let inside = line.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    inside.is_some_and(|rest| matches!(rest.first(), Some(b'"' | b'}')))
}

/// A list of rows, or a row that continues in the next line.
fn begins_objects(line: &[u8]) -> bool {
    let listed = line.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    line == b"{" || listed.is_some_and(|rest| matches!(rest.first(), None | Some(b'{')))
}

fn begins_csv_row(line: &[u8]) -> bool {
    let field = line.split(|b| *b == b',').next().unwrap_or_default();
    field.len() < line.len() && crate::number::time(field).is_some()
}
