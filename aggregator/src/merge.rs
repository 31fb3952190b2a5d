//! Replay of many files at once.
//!
//! A recording is complete, so its rows come in the order of their time, wherever they stand: a dump of Kafka has one
//! partition behind the other, and every file spans the whole recording. To examine lateness itself, use the order
//! of arrival instead: then the rows of a file stay in their order, and files are merged by the newest time that each has
//! shown.

use crate::decode::{Decoded, Decoder};
use crate::inputs;
use crate::lines::Line;
use crate::naming::NodePairs;
use crate::run::Run;
use crate::sort::{self, Limits, Row};
use crate::source::{Format, InputError, InputFile, SkippedFile};
use schemas::{DropReason, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::Arc;

/// Rows of a batch, about.
const BATCH_ROWS: usize = 1_000;
/// Lines of a batch: also where nothing is used the caller gets a chance to show progress.
const BATCH_LINES: usize = 4_000;
/// What is read of each file to learn which producers have which numbers.
const HEAD_LINES: usize = 1_024;
const HEAD_BYTES: usize = 2 << 20;

/// In which order rows come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// By their time.
    #[default]
    Time,
    /// As they stand in their file.
    Arrival,
}

/// Files being replayed.
#[derive(Debug)]
pub struct Replay {
    files: Vec<InputFile>,
    runs: Vec<Run>,
    /// The first row of each run that has one, by time, file and line.
    heads: BinaryHeap<Reverse<(Time, usize, u64, usize)>>,
    limits: Limits,
    skipped: Vec<SkippedFile>,
    pairs: Option<NodePairs>,
    total_bytes: u64,
    bytes_read: u64,
}

impl Replay {
    /// Opens all `paths`, files or folders of them, whose rows come in the order of their time. Rows that have to be
    /// sorted beyond 64 MiB are kept in the system's folder for temporary files meanwhile.
    ///
    /// # Errors
    /// [`InputError`] of the first file that cannot be used.
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Replay, InputError> {
        Replay::open_in(paths, RowOrder::Time, &std::env::temp_dir())
    }

    /// Opens all `paths`. Their order does not matter. Temporary files stand in `folder`.
    ///
    /// # Errors
    /// [`InputError`] of the first file that cannot be used.
    pub fn open_in<P: AsRef<Path>>(
        paths: &[P],
        order: RowOrder,
        folder: &Path,
    ) -> Result<Replay, InputError> {
        let inputs::Inputs { mut files, skipped } = inputs::open(paths)?;
        let limits = Limits::of(files.len());
        let pairs = Some(pairs(&files)?);
        let mut runs = Vec::new();
        let mut held = 0;
        for (at, file) in files.iter_mut().enumerate() {
            if order == RowOrder::Arrival {
                runs.push(Run::arrived(at, file, sort::whole(file)));
                continue;
            }
            match sort::pieces(file, &limits)? {
                Some(pieces) => runs.extend(pieces.into_iter().map(|piece| Run::ordered(at, file, piece))),
                None => {
                    let sorted = sort::sorted(file, folder, sort::SORT_BYTES, &mut held)?;
                    runs.extend(sorted.into_iter().map(|sorted| Run::sorted(at, sorted)));
                }
            }
        }
        let total_bytes = files.iter().map(|file| file.size).sum();
        let heads = BinaryHeap::new();
        let mut replay = Replay { files, runs, heads, limits, skipped, pairs, total_bytes, bytes_read: 0 };
        (0..replay.runs.len()).try_for_each(|at| replay.refill(at))?;
        Ok(replay)
    }

    /// Empties `out` and fills it with about 1,000 rows, files merged by time.
    /// `false` when all files are at their end and nothing was left to decode.
    /// The first call corrects the decoder's [`crate::NodeNaming`] by the heads of all files.
    ///
    /// # Errors
    /// [`InputError`] names file and line. The next call continues with the other files.
    pub fn next_batch(&mut self, decoder: &mut Decoder, out: &mut Decoded) -> Result<bool, InputError> {
        out.clear();
        if let Some(pairs) = self.pairs.take() {
            decoder.set_naming(decoder.naming().clone().corrected_by(&pairs));
        }
        let mut lines = 0;
        while lines < BATCH_LINES && out.len() < BATCH_ROWS {
            let Some(Reverse((_, _, _, at))) = self.heads.pop() else {
                break;
            };
            lines += 1;
            if let Some(row) = self.runs[at].pop() {
                self.bytes_read += row.bytes.len() as u64 + 1;
                decode(&mut self.files[self.runs[at].file], &row, decoder, out);
                self.runs[at].recycle(row.bytes);
            }
            self.refill(at)?;
        }
        Ok(lines > 0)
    }

    /// Reads on in a run, and notes which of its rows is next.
    fn refill(&mut self, at: usize) -> Result<(), InputError> {
        let run = &mut self.runs[at];
        let refilled = run.refill(&mut self.files[run.file], &self.limits);
        self.heads.extend(run.head().map(|(time, number)| Reverse((time, run.file, number, at))));
        refilled
    }

    /// Size of all files together.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// Bytes of the rows that were given so far.
    pub fn bytes_read(&self) -> u64 {
        if self.heads.is_empty() { self.total_bytes } else { self.bytes_read.min(self.total_bytes) }
    }

    /// Files that hold no rows and were passed over.
    pub fn skipped(&self) -> &[SkippedFile] {
        &self.skipped
    }
}

/// Which producers belong to which numbers, as far as the first rows of all files show.
fn pairs(files: &[InputFile]) -> Result<NodePairs, InputError> {
    let mut decoder = Decoder::default();
    let (mut out, mut bytes) = (Decoded::default(), Vec::new());
    for file in files {
        let mut lines = file.lines(0, file.size.min(HEAD_BYTES as u64), 0);
        let mut table = file.tables.first().cloned().unwrap_or_default();
        for _ in 0..HEAD_LINES {
            let met = lines.next(&mut bytes);
            let met = met.map_err(|source| InputError::Read {
                path: Arc::clone(&file.path),
                line: lines.number(),
                source,
            })?;
            // The last line may be cut by the limit.
            if met != Line::Whole && (met == Line::End || file.size > HEAD_BYTES as u64) {
                break;
            }
            match file.format {
                Format::Csv => decoder.csv_line(&mut table, &bytes, &mut out),
                _ => decoder.json_line(Some(&file.schema), &bytes, &mut out),
            };
            out.clear();
        }
    }
    Ok(decoder.nodes().clone())
}

fn decode(file: &mut InputFile, row: &Row, decoder: &mut Decoder, out: &mut Decoded) {
    if !Arc::ptr_eq(&decoder.location.file, &file.path) {
        decoder.location.file = Arc::clone(&file.path);
    }
    decoder.location.line = row.number;
    let line = row.bytes.as_slice();
    match (file.format, file.tables.get_mut(row.table)) {
        (Format::Csv, Some(table)) => {
            let cut = row.met == Line::Unterminated && table.last_column_matters();
            if cut || row.met == Line::TooLong {
                decoder.refuse(DropReason::InvalidCsv, "line cut or too long", line)
            } else {
                decoder.csv_line(table, line, out)
            }
        }
        _ if row.met == Line::TooLong => decoder.refuse(DropReason::InvalidJson, "line too long", line),
        _ => decoder.json_line(Some(&file.schema), line, out),
    };
}
