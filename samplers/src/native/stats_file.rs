//! Statistics files of Lustre: lines `<name> <samples> samples [<unit>] <least> <greatest> <sum>`, of which the numbers behind the
//! unit may be missing.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;

/// Position of the sum behind the name.
pub(super) const SUM: usize = 5;
/// A file longer than this is not what it should be; real ones have 2 to 6 kB.
const STATS_BYTES_MAX: usize = 1 << 20;

/// Reads the whole file into `raw`; the kernel gives a page of it at a time.
pub(super) fn contents(file: &File, raw: &mut Vec<u8>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        if raw.len() < length + 4096 {
            raw.resize((2 * raw.len()).max(8192), 0);
        }
        match file.read_at(&mut raw[length..], length as u64) {
            Ok(0) => return Ok(length),
            Ok(read) => length += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if length > STATS_BYTES_MAX {
            return Err(io::Error::other("it is longer than 1 MiB"));
        }
    }
}

/// A whole number.
pub(super) fn decimal(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}
