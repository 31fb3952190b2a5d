//! Rows of one file in the order of time, in bounded memory.
//!
//! Most recordings are in order, or are a few ordered pieces one behind the other: Kafka's partitions, days. So a file is
//! read twice: the first time for the times alone, which gives its ordered pieces ([`pieces`]); then all pieces are read
//! side by side, and nothing is copied. Only a file of very many pieces is sorted in memory and, where that does not
//! suffice, in temporary files ([`sorted`]).

use crate::lines::{Line, Lines};
use crate::source::{InputError, InputFile};
use schemas::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// Rows that are sorted at once, and rows of all sorted files that stay in memory. The rest is written to temporary files.
pub(crate) const SORT_BYTES: usize = 64 << 20;
/// What a row in memory costs beside its bytes.
const ROW_BYTES: usize = size_of::<Row>() + 16;
/// What is read of a sorted run at once.
const RUN_BUFFER_BYTES: usize = 64 << 10;
/// Bytes before the text of a row in a temporary file.
const HEAD_BYTES: usize = 8 + 8 + 4 + 1 + 4;

/// What is held in memory of each file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Look-ahead within a piece, lines and bytes, whichever is reached first: so far rows may be out of order in it.
    pub ahead_lines: usize,
    pub ahead_bytes: usize,
    /// Pieces that are read side by side; a file of more is sorted.
    pub pieces: usize,
}

impl Limits {
    /// For so many files at once.
    pub(crate) fn of(files: usize) -> Limits {
        let share = |of: usize, least: usize, most: usize| (of / files.max(1)).clamp(least, most);
        Limits {
            ahead_lines: 1_024,
            ahead_bytes: share(128 << 20, 64 << 10, 1 << 20),
            pieces: share(1_024, 16, 256),
        }
    }

    /// Whether a look-ahead gives away its first row before it takes another.
    pub(crate) fn is_full(&self, lines: usize, bytes: usize) -> bool {
        lines >= self.ahead_lines || (bytes >= self.ahead_bytes && lines > 1)
    }
}

/// A line that waits for its turn: ordered by time, then by its line in the file.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    pub time: Time,
    pub number: u64,
    /// Index of its table in [`InputFile::tables`].
    pub table: usize,
    pub met: Line,
    pub bytes: Vec<u8>,
}

/// An ordered part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub from: u64,
    pub end: u64,
    /// Number of the line before it, and the table that holds at its beginning.
    pub number: u64,
    pub table: usize,
}

/// The whole file as one piece, ordered or not.
pub(crate) fn whole(file: &InputFile) -> Piece {
    Piece { from: 0, end: file.size, number: 0, table: 0 }
}

fn failed(file: &InputFile, lines: &Lines, source: std::io::Error) -> InputError {
    InputError::Read { path: Arc::clone(&file.path), line: lines.number(), source }
}

/// The ordered pieces of a file; `None` if there are too many.
pub(crate) fn pieces(file: &mut InputFile, limits: &Limits) -> Result<Option<Vec<Piece>>, InputError> {
    let mut lines = file.lines(0, file.size, 0);
    let mut pieces = vec![whole(file)];
    let (mut table, mut last, mut passed) = (0, Time::MIN, Time::MIN);
    let (mut ahead, mut ahead_bytes) = (BinaryHeap::new(), 0);
    let mut line = Vec::new();
    loop {
        let (from, number) = (lines.offset(), lines.number());
        let met = lines.next(&mut line).map_err(|source| failed(file, &lines, source))?;
        if met == Line::End {
            return Ok(Some(pieces));
        }
        if let Some(next) = file.table(&line) {
            table = next;
            continue;
        }
        // A row without a time follows the row before it.
        let time = file.time_of(table, &line).unwrap_or(last);
        if time < passed {
            if let Some(before) = pieces.last_mut() {
                before.end = from;
            }
            if pieces.len() >= limits.pieces {
                return Ok(None);
            }
            pieces.push(Piece { from, end: file.size, number, table });
            ahead.clear();
            (ahead_bytes, passed) = (0, Time::MIN);
        }
        last = time;
        ahead.push(Reverse((time, line.len())));
        ahead_bytes += line.len();
        while limits.is_full(ahead.len(), ahead_bytes) {
            let Some(Reverse((time, length))) = ahead.pop() else { break };
            ahead_bytes -= length;
            passed = time;
        }
    }
}

/// Sorted rows, in memory or in a temporary file.
#[derive(Debug)]
pub(crate) enum Sorted {
    Memory(std::vec::IntoIter<Row>),
    Disk(Disk),
}

/// A sorted run in a temporary file.
#[derive(Debug)]
pub(crate) struct Disk {
    file: Arc<File>,
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    from: usize,
}

/// Sorts a file in runs of `most` bytes; temporary files without a name stand in `folder`. `held` are the bytes of sorted
/// rows that stay in memory, of all files: `most` at most.
pub(crate) fn sorted(
    file: &mut InputFile,
    folder: &Path,
    most: usize,
    held: &mut usize,
) -> Result<Vec<Sorted>, InputError> {
    let no_room = |source| InputError::Sort { folder: folder.to_path_buf(), source };
    let mut lines = file.lines(0, file.size, 0);
    let (mut rows, mut bytes, mut table, mut last) = (Vec::new(), 0, 0, Time::MIN);
    let mut spill = Spill::default();
    let mut runs = Vec::new();
    loop {
        let mut line = Vec::new();
        let met = lines.next(&mut line).map_err(|source| failed(file, &lines, source))?;
        let ended = met == Line::End;
        let stays = ended && runs.is_empty() && *held + bytes <= most;
        if bytes > most || (ended && !stays && !rows.is_empty()) {
            runs.push(Sorted::Disk(spill.write(folder, &mut rows).map_err(no_room)?));
            bytes = 0;
        }
        if ended {
            if stays {
                *held += bytes;
                rows.sort_unstable_by_key(|row: &Row| (row.time, row.number));
                runs.push(Sorted::Memory(rows.into_iter()));
            }
            return Ok(runs);
        }
        if let Some(next) = file.table(&line) {
            table = next;
            continue;
        }
        last = file.time_of(table, &line).unwrap_or(last);
        line.shrink_to_fit();
        bytes += line.len() + ROW_BYTES;
        rows.push(Row { time: last, number: lines.number(), table, met, bytes: line });
    }
}

/// The temporary file of one sort, made when it is needed.
#[derive(Default)]
struct Spill(Option<(Arc<File>, u64)>);

impl Spill {
    /// Sorts `rows` behind what it holds, and empties them.
    fn write(&mut self, folder: &Path, rows: &mut Vec<Row>) -> std::io::Result<Disk> {
        let (file, at) = match self.0.take() {
            Some(known) => known,
            None => (Arc::new(tempfile::tempfile_in(folder)?), 0),
        };
        let run = write(&file, at, rows)?;
        self.0 = Some((file, run.end));
        Ok(run)
    }
}

/// Sorts `rows` into `file` from `at` on, and empties them.
fn write(file: &Arc<File>, at: u64, rows: &mut Vec<Row>) -> std::io::Result<Disk> {
    rows.sort_unstable_by_key(|row| (row.time, row.number));
    let mut end = at;
    let mut out = BufWriter::with_capacity(1 << 20, file.as_ref());
    for row in rows.drain(..) {
        let met: u8 = match row.met {
            Line::Whole | Line::End => 0,
            Line::Unterminated => 1,
            Line::TooLong => 2,
        };
        out.write_all(&row.time.0.to_le_bytes())?;
        out.write_all(&row.number.to_le_bytes())?;
        out.write_all(&(row.table as u32).to_le_bytes())?;
        out.write_all(&[met])?;
        out.write_all(&(row.bytes.len() as u32).to_le_bytes())?;
        out.write_all(&row.bytes)?;
        end += (HEAD_BYTES + row.bytes.len()) as u64;
    }
    out.flush()?;
    drop(out);
    Ok(Disk { file: Arc::clone(file), next: at, end, buffer: Vec::new(), from: 0 })
}

impl Sorted {
    /// The next row.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<Row>> {
        match self {
            Sorted::Memory(rows) => Ok(rows.next()),
            Sorted::Disk(disk) => disk.next(),
        }
    }
}

impl Disk {
    fn next(&mut self) -> std::io::Result<Option<Row>> {
        if self.from == self.buffer.len() && self.next == self.end {
            return Ok(None);
        }
        let head = self.take(HEAD_BYTES)?;
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| head[at + byte])) as usize;
        let met = match head[20] {
            0 => Line::Whole,
            1 => Line::Unterminated,
            _ => Line::TooLong,
        };
        let bytes = self.take(half(21))?;
        Ok(Some(Row { time: Time(word(0).cast_signed()), number: word(8), table: half(16), met, bytes }))
    }

    fn take(&mut self, length: usize) -> std::io::Result<Vec<u8>> {
        let mut taken = Vec::with_capacity(length);
        while taken.len() < length {
            if self.from == self.buffer.len() {
                let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
                self.buffer.resize(left.min(RUN_BUFFER_BYTES), 0);
                self.file.read_exact_at(&mut self.buffer, self.next)?;
                self.next += self.buffer.len() as u64;
                self.from = 0;
                if self.buffer.is_empty() {
                    return Err(std::io::ErrorKind::UnexpectedEof.into());
                }
            }
            let piece = (length - taken.len()).min(self.buffer.len() - self.from);
            taken.extend_from_slice(&self.buffer[self.from..self.from + piece]);
            self.from += piece;
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Opened;

    /// Rows of these seconds, each as long as the others.
    fn file(seconds: &[u32]) -> (tempfile::TempDir, InputFile) {
        let folder = tempfile::tempdir().unwrap();
        let row = |second: &u32| format!("{{\"timestamp\":{}.5,\"x\":1}}\n", 1_795_217_000 + second);
        let path = folder.path().join("rows.jsonl");
        std::fs::write(&path, seconds.iter().map(row).collect::<String>()).unwrap();
        let Opened::Rows(file) = InputFile::open(&path).unwrap() else { panic!("no rows") };
        (folder, file)
    }

    const FEW: Limits = Limits { ahead_lines: 3, ahead_bytes: 1 << 20, pieces: 3 };

    fn lengths(seconds: &[u32]) -> Option<Vec<u64>> {
        let (_folder, mut file) = file(seconds);
        let pieces = pieces(&mut file, &FEW).unwrap()?;
        assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].from));
        assert_eq!((pieces[0].from, pieces[pieces.len() - 1].end), (0, file.size));
        let bytes = |piece: &Piece| piece.end - piece.from;
        Some(pieces.iter().map(|piece| bytes(piece) / (file.size / seconds.len() as u64)).collect())
    }

    #[test]
    fn a_file_falls_into_its_ordered_pieces() {
        assert_eq!(lengths(&[1, 2, 3, 4, 5, 6]), Some(vec![6]));
        assert_eq!(lengths(&[2, 1, 4, 3, 6, 5]), Some(vec![6]), "the look-ahead suffices");
        assert_eq!(lengths(&[5, 6, 7, 8, 1, 2, 3, 4]), Some(vec![4, 4]));
        assert_eq!(
            lengths(&[9, 1, 2, 3, 4, 5, 6]),
            Some(vec![7]),
            "one clock that is ahead is no end of a piece"
        );
        assert_eq!(lengths(&[7, 8, 9, 4, 5, 6, 1, 2, 3, 0, 0, 0]), None, "too many pieces");
    }

    #[test]
    fn sorted_rows_are_the_same_in_memory_and_in_temporary_files() {
        let seconds: Vec<u32> = (0..500).map(|at| at * 7_919 % 500).collect();
        let mut found = Vec::new();
        for (most, disk) in [(1 << 20, false), (2_000, true)] {
            let (folder, mut file) = file(&seconds);
            let mut held = 0;
            let runs = sorted(&mut file, folder.path(), most, &mut held).unwrap();
            assert_eq!(runs.len() > 5, disk);
            assert!(held <= most && runs.iter().all(|run| matches!(run, Sorted::Disk(_)) == disk));
            let mut rows = Vec::new();
            for mut run in runs {
                let from = rows.len();
                while let Some(row) = run.next().unwrap() {
                    rows.push(row);
                }
                assert!(rows[from..].is_sorted(), "a run is in order");
            }
            rows.sort();
            found.push(rows);
        }
        assert_eq!(found[0].len(), 500);
        assert!(found[0].windows(2).all(|pair| pair[1].time - pair[0].time == 1_000_000));
        assert_eq!(found[0], found[1]);
    }
}
