//! Input files: what a file is, told by its content, and its lines.

use crate::columns::base_schema;
use crate::csv::CsvFile;
use crate::kind::{Told, companion, sibling_header, tell};
use memchr::memchr;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest line; a longer one is dropped. The widest row known, a whole Aries router, has 46 kB.
pub const LINE_BYTES_MAX: usize = 1 << 20;
/// What is read to tell the kind of a file.
const HEAD_BYTES: usize = 64 << 10;

/// What stops reading an input.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The system refuses.
    #[error("{path}: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The system fails in the middle.
    #[error("{path}:{line}: cannot read on: {source}")]
    Read {
        /// The file.
        path: Arc<str>,
        /// The line that could not be read.
        line: u64,
        /// What the system says.
        source: std::io::Error,
    },
    /// Compressed.
    #[error("{0}: is compressed; decompress it first")]
    Compressed(PathBuf),
    /// Not text.
    #[error("{0}: is neither JSON-lines nor a CSV file of LDMS, but binary")]
    Binary(PathBuf),
    /// Text, but no rows.
    #[error("{path}:1: is neither JSON-lines nor a CSV file of LDMS: it begins with {begin:?}")]
    NoRows {
        /// The file.
        path: PathBuf,
        /// Its first characters.
        begin: String,
    },
}

/// A file named as an input that holds no rows and is passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// The file.
    pub path: PathBuf,
    /// What it is instead.
    pub note: &'static str,
}

/// What a path led to.
#[derive(Debug)]
pub enum Opened {
    /// A file of rows.
    Rows(InputFile),
    /// Something that goes along with rows.
    Skipped(SkippedFile),
}

/// How the rows of a file are written.
#[derive(Debug)]
pub enum Format {
    /// One JSON object a line.
    JsonLines,
    /// `store_csv`, with the state of its header.
    Csv(CsvFile),
}

/// What [`InputFile::read_line`] met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line with its newline.
    Whole,
    /// The last line, without newline.
    Unterminated,
    /// A line longer than [`LINE_BYTES_MAX`], of which only the beginning is given.
    TooLong,
    /// The end of the file.
    End,
}

/// An open file of rows.
#[derive(Debug)]
pub struct InputFile {
    /// Its path, for messages.
    pub path: Arc<str>,
    /// The LDMS schema that its name tells (see [`base_schema`]).
    pub schema: String,
    /// How its rows are written.
    pub format: Format,
    /// Its size in bytes when it was opened.
    pub size: u64,
    /// Bytes read so far.
    pub bytes_read: u64,
    /// Number of the line read last, from 1.
    pub line: u64,
    reader: BufReader<File>,
}

impl InputFile {
    /// Opens `path` and tells by its content what it is.
    ///
    /// # Errors
    /// [`InputError`] names the file and says why it cannot be used.
    pub fn open(path: &Path) -> Result<Opened, InputError> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let skipped = |note| Ok(Opened::Skipped(SkippedFile { path: path.to_path_buf(), note }));
        let failed = |source| InputError::Open { path: path.to_path_buf(), source };
        let file = File::open(path).map_err(failed)?;
        if let Some(note) = companion(&name) {
            return skipped(note);
        }
        let size = file.metadata().map_err(failed)?.len();
        let mut reader = BufReader::with_capacity(HEAD_BYTES, file);
        let head = reader.fill_buf().map_err(failed)?;
        let header = sibling_header(path).map_err(|(path, source)| InputError::Open { path, source })?;
        let schema = base_schema(&name).to_string();
        let format = match tell(path, head, header.is_some())? {
            Told::Json => Format::JsonLines,
            Told::Kinds => return skipped("types of the columns of a CSV file"),
            Told::Csv => {
                let mut csv = CsvFile::new(&schema);
                if let Some(header) = header {
                    csv.take_header(&header);
                }
                Format::Csv(csv)
            }
        };
        Ok(Opened::Rows(InputFile {
            path: path.to_string_lossy().into(),
            schema,
            format,
            size,
            bytes_read: 0,
            line: 0,
            reader,
        }))
    }

    /// Reads the next line into `line`, without its newline.
    ///
    /// # Errors
    /// [`InputError::Read`] when the system fails.
    pub fn read_line(&mut self, line: &mut Vec<u8>) -> Result<Line, InputError> {
        line.clear();
        self.line += 1;
        let mut length = 0;
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(source) => {
                    return Err(InputError::Read { path: Arc::clone(&self.path), line: self.line, source });
                }
            };
            if chunk.is_empty() {
                return Ok(if length == 0 { Line::End } else { of_length(length, Line::Unterminated) });
            }
            let newline = memchr(b'\n', chunk);
            let content = newline.unwrap_or(chunk.len());
            let kept = content.min(LINE_BYTES_MAX - line.len());
            line.extend_from_slice(&chunk[..kept]);
            length += content;
            let used = content + usize::from(newline.is_some());
            self.reader.consume(used);
            self.bytes_read += used as u64;
            if newline.is_some() {
                return Ok(of_length(length, Line::Whole));
            }
        }
    }
}

fn of_length(length: usize, line: Line) -> Line {
    if length > LINE_BYTES_MAX { Line::TooLong } else { line }
}
