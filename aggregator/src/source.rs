//! Input files: what a file is, by its content, and when its rows were sampled.

use crate::columns::base_schema;
use crate::csv::{CsvFile, is_header};
use crate::decode::trimmed;
use crate::fabric_telemetry;
use crate::json;
use crate::kind::{LineForm, companion, detect, sibling_header};
use crate::lines::Lines;
use crate::names::{Base, WANTED, plain};
use crate::number::{leading_time, time};
use crate::table;
use memchr::memmem;
use schemas::Time;
use std::borrow::Cow;
use std::fs::File;
use std::io::Seek;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use crate::lines::{LINE_BYTES_MAX, Line};

/// Bytes that are read to detect the kind of a file.
const HEAD_BYTES: usize = 64 << 10;
/// Headers of one file that are kept; of further ones the latest.
const TABLES_MAX: usize = 4_096;

/// What stops reading an input.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The system refuses.
    #[error("{path}: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The system fails in the middle.
    #[error("{path}:{line}: cannot read on: {source}")]
    Read {
        /// The file.
        path: Arc<str>,
        /// The line that could not be read.
        line: u64,
        /// The system's error.
        source: std::io::Error,
    },
    /// Rows that are out of order need room on a disk.
    #[error("rows cannot be sorted in {folder}: {source}")]
    Sort {
        /// Where temporary files are.
        folder: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Compressed.
    #[error("{0}: is compressed; decompress it first")]
    Compressed(PathBuf),
    /// Not text.
    #[error("{0}: is neither JSON-lines nor a CSV file of LDMS, but binary")]
    Binary(PathBuf),
    /// Text, but no rows.
    #[error(
        "{path}:1: is neither JSON-lines nor a CSV file of LDMS: it begins with {begin:?}; a header has to name {WANTED}"
    )]
    NoRows {
        /// The file.
        path: PathBuf,
        /// Its first characters.
        begin: String,
    },
    /// Folders in which nothing has rows.
    #[error("none of the {files} files has rows that Tailback knows: {first}")]
    Nothing {
        /// Files looked at.
        files: usize,
        /// The first, and what it is instead.
        first: String,
    },
}

/// A file named as an input that holds no rows and is passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// The file.
    pub path: PathBuf,
    /// What it is instead.
    pub note: Cow<'static, str>,
}

/// What a path led to.
#[derive(Debug)]
pub(crate) enum Opened {
    /// A file of rows.
    Rows(InputFile),
    /// A file that accompanies rows.
    Skipped(SkippedFile),
}

/// How the rows of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// One JSON object a line.
    JsonLines,
    /// JSON objects in lists, or on several lines each.
    JsonObjects,
    /// A table under a header.
    Csv,
}

/// An open file of rows.
#[derive(Debug)]
pub(crate) struct InputFile {
    /// Its path, for messages.
    pub path: Arc<str>,
    /// The LDMS schema in its name (see [`base_schema`]).
    pub schema: String,
    /// How its rows are written.
    pub format: Format,
    /// Its size in bytes when it was opened.
    pub size: u64,
    /// Headers met so far, the first as the file begins.
    pub tables: Vec<CsvFile>,
    headers: Vec<Vec<u8>>,
    file: Arc<File>,
    /// The key of the time in the latest JSON row, with its quotes.
    time_key: Vec<u8>,
}

impl InputFile {
    /// Opens `path` and recognises it by its content.
    ///
    /// # Errors
    /// [`InputError`] names the file and the reason.
    pub(crate) fn open(path: &Path) -> Result<Opened, InputError> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let skipped = |note: &'static str| {
            Ok(Opened::Skipped(SkippedFile { path: path.to_path_buf(), note: note.into() }))
        };
        let failed = |source| InputError::Open { path: path.to_path_buf(), source };
        let file = File::open(path).map_err(failed)?;
        if let Some(note) = companion(&name) {
            return skipped(note);
        }
        let file = seekable(file).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let mut head = vec![0; HEAD_BYTES.min(usize::try_from(size).unwrap_or(HEAD_BYTES))];
        let read = file.read_at(&mut head, 0).map_err(failed)?;
        head.truncate(read);
        let header = sibling_header(path).map_err(|(path, source)| InputError::Open { path, source })?;
        let schema = base_schema(&name).to_string();
        let mut table = CsvFile::new(&schema);
        let format = match detect(path, &head, header.is_some())? {
            LineForm::Json => Format::JsonLines,
            LineForm::Objects => Format::JsonObjects,
            LineForm::Kinds => return skipped("types of the columns of a CSV file"),
            LineForm::Csv => {
                if let Some(header) = header {
                    table.take_header(&header);
                }
                Format::Csv
            }
        };
        Ok(Opened::Rows(InputFile {
            path: path.to_string_lossy().into(),
            schema,
            format,
            size,
            tables: vec![table],
            headers: vec![Vec::new()],
            file: Arc::new(file),
            time_key: b"\"timestamp\"".to_vec(),
        }))
    }

    /// Its lines from `offset` to `end`, the first with the number behind `number`.
    pub(crate) fn lines(&self, offset: u64, end: u64, number: u64) -> Lines {
        let objects = self.format == Format::JsonObjects;
        Lines::new(Arc::clone(&self.file), objects, offset, end, number)
    }

    /// The table that begins with `line`, if that is a header: its index in [`InputFile::tables`].
    pub(crate) fn table(&mut self, line: &[u8]) -> Option<usize> {
        let line = table::trimmed(line);
        if self.format != Format::Csv || !is_header(line) {
            return None;
        }
        if let Some(known) = self.headers.iter().position(|header| header == line) {
            return Some(known);
        }
        if self.tables.len() < TABLES_MAX {
            self.tables.push(CsvFile::new(&self.schema));
            self.headers.push(Vec::new());
        }
        let at = self.tables.len() - 1;
        self.tables[at].take_header(&String::from_utf8_lossy(line));
        self.headers[at] = line.to_vec();
        Some(at)
    }

    /// When a row of the table at `at` was sampled, if that is clear without decoding it.
    pub(crate) fn time_of(&mut self, at: usize, line: &[u8]) -> Option<Time> {
        if self.format == Format::Csv {
            return self.tables.get(at)?.time_of(table::trimmed(line));
        }
        let line = trimmed(line);
        const LDMS: &[u8] = b"{\"timestamp\":";
        let number = match line.strip_prefix(LDMS) {
            Some(number) => Some(number.trim_ascii_start()),
            None => behind(&self.time_key, line),
        };
        let found = number.and_then(leading_time).map(|(time, _)| time);
        found.or_else(|| self.time_by_name(line))
    }

    /// The time of a JSON row under any of its names; remembers the name.
    fn time_by_name(&mut self, line: &[u8]) -> Option<Time> {
        let text = String::from_utf8_lossy(line);
        let fields = json::fields(&text)
            .or_else(|| json::items(&text).and_then(|rows| json::fields(rows.first()?)))?;
        let times = fields.0.iter().filter_map(|(name, raw)| match Base::of(&plain(name)) {
            Some((Base::Time | Base::TimeMsec, far)) => Some((far, name, *raw)),
            _ => None,
        });
        let Some((_, name, raw)) = times.min_by_key(|(far, _, _)| *far) else {
            return fabric_telemetry::time_of(&fields);
        };
        self.time_key = json::quoted(name).into_bytes();
        time(raw.as_bytes()).or_else(|| fabric_telemetry::time_of(&fields))
    }
}

/// `file`, or what it gives until its end if it is a pipe: rows are read from several offsets.
fn seekable(mut file: File) -> std::io::Result<File> {
    let kind = file.metadata()?.file_type();
    if kind.is_file() || kind.is_dir() {
        return Ok(file);
    }
    let mut copy = tempfile::tempfile()?;
    std::io::copy(&mut file, &mut copy)?;
    copy.rewind()?;
    Ok(copy)
}

/// What stands behind `key` of a row that LDMS did not write itself: its columns have another order.
fn behind<'l>(key: &[u8], line: &'l [u8]) -> Option<&'l [u8]> {
    memmem::find_iter(line, key).find_map(|at| {
        let value = line[at + key.len()..].trim_ascii_start().strip_prefix(b":")?;
        Some(value.trim_ascii_start())
    })
}
