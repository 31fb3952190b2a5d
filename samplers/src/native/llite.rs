//! The `stats` file of a Lustre mount:
//!
//! ```text
//! snapshot_time             1795218448.837371587 secs.nsecs
//! write_bytes               5366826 samples [bytes] 1048576 1048576 5627524939776
//! open                      1242 samples [regs]
//! ```
//!
//! The columns are those of LDMS's `lustre_client`. A line comes when its first event does and goes with
//! `stats=clear`: a column without a line is 0, where LDMS keeps the value it had.

use super::set::{Failure, Reading, is_same_file};
use super::stats_file::{SUM, contents, decimal};
use crate::ldms_rows::put_number;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Columns in LDMS's order. With `.sum` the sum of the values, otherwise how many there were.
const COLUMNS: [&str; 35] = [
    "dirty_pages_hits",
    "dirty_pages_misses",
    "read_bytes.sum",
    WRITE_BYTES,
    "brw_read.sum",
    "brw_write.sum",
    "ioctl",
    "open",
    "close",
    "mmap",
    "page_fault",
    "page_mkwrite",
    "seek",
    "fsync",
    "readdir",
    "setattr",
    "truncate",
    "flock",
    "getattr",
    "create",
    "link",
    "unlink",
    "symlink",
    "mkdir",
    "rmdir",
    "mknod",
    "rename",
    "statfs",
    "alloc_inode",
    "setxattr",
    "getxattr",
    "getxattr_hits",
    "listxattr",
    "removexattr",
    "inode_permission",
];
/// The column without which a row has no use for contention.
const WRITE_BYTES: &str = "write_bytes.sum";

/// The open `stats` file of a mount.
#[derive(Debug)]
pub(crate) struct LliteStats {
    path: PathBuf,
    file: File,
}

/// What a column is in one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Number(u64),
    /// Its line cannot be understood.
    Bad,
}

impl LliteStats {
    /// Opens the file and reads it once.
    pub(crate) fn open(path: &Path) -> Result<LliteStats, Failure> {
        let file = File::open(path).map_err(|error| Failure::of(path, &error))?;
        let mut stats = LliteStats { path: path.to_path_buf(), file };
        match stats.read(&mut Vec::new(), &mut Vec::new())? {
            Reading::Unusable(reason) => Err(Failure(reason)),
            Reading::Whole | Reading::Partial(_) => Ok(stats),
        }
    }

    /// Whether the file that is open is the one that stands there now.
    pub(crate) fn is_current(&self) -> bool {
        is_same_file(&self.file, &self.path)
    }

    /// Appends the columns to `body`; the file goes through `raw`, which keeps its memory.
    pub(crate) fn read(&mut self, raw: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<Reading, Failure> {
        let length = contents(&self.file, raw).map_err(|error| Failure::of(&self.path, &error))?;
        let Some(cells) = cells(&raw[..length]) else {
            let begin = String::from_utf8_lossy(&raw[..length.min(24)]).into_owned();
            let reason = format!("{} begins with {begin:?}, not with snapshot_time", self.path.display());
            return Ok(Reading::Unusable(reason));
        };
        let mut reading = Reading::Whole;
        for (column, cell) in COLUMNS.iter().zip(cells) {
            match cell {
                Cell::Number(value) => {
                    body.extend_from_slice(b",\"");
                    body.extend_from_slice(column.as_bytes());
                    body.extend_from_slice(b"\":");
                    put_number(body, value);
                }
                Cell::Bad if *column == WRITE_BYTES => {
                    let reason = format!("{}: the line write_bytes has no sum", self.path.display());
                    return Ok(Reading::Unusable(reason));
                }
                Cell::Bad => reading = Reading::Partial(self.path.clone()),
            }
        }
        Ok(reading)
    }
}

/// The columns; `None` if this is no `stats` file.
fn cells(content: &[u8]) -> Option<[Cell; COLUMNS.len()]> {
    if !content.starts_with(b"snapshot_time") {
        return None;
    }
    let mut cells = [Cell::Number(0); COLUMNS.len()];
    // The kernel's order is nearly that of the columns: the search begins behind the last one found.
    let mut next = 0;
    for line in content.split(|b| *b == b'\n').skip(1) {
        let mut words = line.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let Some(name) = words.next() else { continue };
        let columns = (next..COLUMNS.len()).chain(0..next);
        let Some(at) = columns.into_iter().find(|at| is_of(COLUMNS[*at], name)) else { continue };
        next = at + 1;
        let position = if COLUMNS[at].len() == name.len() { 0 } else { SUM };
        cells[at] = words.nth(position).and_then(decimal).map_or(Cell::Bad, Cell::Number);
    }
    Some(cells)
}

/// Whether the line `name` gives `column`.
fn is_of(column: &str, name: &[u8]) -> bool {
    column.strip_suffix(".sum").unwrap_or(column).as_bytes() == name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(content: &str, column: &str) -> Cell {
        cells(content.as_bytes()).unwrap()[COLUMNS.iter().position(|c| *c == column).unwrap()]
    }

    #[test]
    fn counts_and_sums_are_distinguished() {
        let stats = "snapshot_time 1.5 secs.nsecs\nread_bytes 2 samples [bytes] 1 9 10\n\
                     write_bytes 5366826 samples [bytes] 1048576 1048576 5627524939776 99\nopen 1242 samples [usecs] 1 2 3 4\n";
        assert_eq!(cell(stats, "write_bytes.sum"), Cell::Number(5_627_524_939_776));
        assert_eq!(cell(stats, "read_bytes.sum"), Cell::Number(10));
        assert_eq!(cell(stats, "open"), Cell::Number(1242));
        assert_eq!(cell(stats, "close"), Cell::Number(0), "no line, no event yet");
    }

    #[test]
    fn lines_in_any_order_and_unknown_ones_are_borne() {
        let stats = "snapshot_time 1.5 secs.nsecs\nstart_time 1.0 secs.nsecs\nopen 3 samples [regs]\nxyz\n\n\
                     write_bytes 1 samples [bytes] 4 4 4\n";
        assert_eq!(cell(stats, "write_bytes.sum"), Cell::Number(4));
        assert_eq!(cell(stats, "open"), Cell::Number(3));
    }

    #[test]
    fn what_cannot_be_understood_is_never_a_number() {
        for line in [
            "write_bytes 1 samples [bytes] 4 4",
            "write_bytes",
            "write_bytes 1 samples [bytes] 4 4 -4",
            "write_bytes 1 samples [bytes] 4 4 18446744073709551616",
            "write_bytes 1 samples [bytes] 4 4 4x",
        ] {
            assert_eq!(cell(&format!("snapshot_time 1.5\n{line}\n"), "write_bytes.sum"), Cell::Bad, "{line}");
        }
        assert_eq!(cell("snapshot_time 1.5\nopen many\n", "open"), Cell::Bad);
        assert!(cells(b"").is_none() && cells(b"write_bytes 1 samples [bytes] 4 4 4\n").is_none());
    }
}
