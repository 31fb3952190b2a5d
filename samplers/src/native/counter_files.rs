//! Folders in which every file holds one number.

use super::selection::Wanted;
use super::set::{Failure, Reading, is_same_file};
use crate::ldms_rows::put_number;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Longest content: 20 digits, `@`, seconds and nanoseconds. What fills it is no number.
const CONTENT_BYTES_MAX: usize = 64;

/// Open counter files of one set. Reading an attribute of sysfs at offset 0 asks the driver again, so that files stay
/// open from tick to tick.
#[derive(Debug)]
pub(crate) struct CounterFiles {
    counters: Vec<Counter>,
    /// Some files are there and could not be read.
    incomplete: bool,
}

#[derive(Debug)]
struct Counter {
    path: PathBuf,
    file: File,
    /// `,"port_xmit_wait#mlx5_0.1":`
    key: Vec<u8>,
    needed: bool,
}

impl CounterFiles {
    /// Opens what is there of `wanted` in `folder` and reads it once; `key` makes the column's name. Files that the
    /// driver does not have are left out, and those that it refuses to read.
    pub(crate) fn open(
        folder: &Path,
        wanted: &[Wanted],
        key: impl Fn(&str) -> String,
    ) -> Result<CounterFiles, Failure> {
        let mut files = CounterFiles { counters: Vec::new(), incomplete: false };
        for wanted in wanted {
            let path = folder.join(&wanted.file);
            let opened =
                File::open(&path).and_then(|file| read(&file, &mut [0; CONTENT_BYTES_MAX]).map(|_| file));
            match opened {
                Ok(file) => {
                    let key = format!(",\"{}\":", key(&wanted.column)).into_bytes();
                    files.counters.push(Counter { path, file, key, needed: wanted.needed });
                }
                Err(error) if wanted.needed => return Err(Failure::of(&path, &error)),
                Err(error) => files.incomplete |= error.kind() != ErrorKind::NotFound,
            }
        }
        match files.counters.is_empty() {
            true => Err(Failure(format!("{} has none of the counters", folder.display()))),
            false => Ok(files),
        }
    }

    /// Whether the files that are open are those that stand there now.
    pub(crate) fn is_current(&self) -> bool {
        self.counters.first().is_some_and(|counter| is_same_file(&counter.file, &counter.path))
    }

    /// Whether opening again may find more.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Appends the columns to `body`. A counter that cannot be read is left out, unless it is needed, or no other one can be read.
    pub(crate) fn read(&self, body: &mut Vec<u8>) -> Result<Reading, Failure> {
        let mut content = [0; CONTENT_BYTES_MAX];
        let (mut bad, mut failed, before) = (None, None, body.len());
        for counter in &self.counters {
            let length = match read(&counter.file, &mut content) {
                Ok(length) => length,
                Err(error) if counter.needed => return Err(Failure::of(&counter.path, &error)),
                Err(error) => {
                    failed = failed.or(Some((counter, error)));
                    continue;
                }
            };
            match number(&content[..length]) {
                Some(value) => {
                    body.extend_from_slice(&counter.key);
                    put_number(body, value);
                }
                None if counter.needed => {
                    return Ok(Reading::Unusable(shown(&counter.path, &content[..length])));
                }
                None => bad = bad.or(Some(counter)),
            }
        }
        if let Some((counter, error)) = failed {
            if body.len() == before {
                return Err(Failure::of(&counter.path, &error));
            }
            bad = bad.or(Some(counter));
        }
        // The sentence is written only for the first of a run of ticks.
        Ok(bad.map_or(Reading::Whole, |counter| Reading::Partial(counter.path.clone())))
    }
}

fn read(file: &File, content: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read_at(content, 0) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// A decimal number, perhaps with the time of its reading behind `@`.
fn number(content: &[u8]) -> Option<u64> {
    if content.len() == CONTENT_BYTES_MAX {
        return None;
    }
    let digits = content.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 || !content[digits..].first().is_none_or(|b| b"\n@ ".contains(b)) {
        return None;
    }
    content[..digits]
        .iter()
        .try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

/// Where a bad content stands, and how it begins.
fn shown(path: &Path, content: &[u8]) -> String {
    let begin = String::from_utf8_lossy(&content[..content.len().min(24)]);
    format!("{} holds {:?} where a number should be", path.display(), begin.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_both_drivers_are_read() {
        for (content, value) in [
            ("2025178768\n", Some(2_025_178_768)),
            ("0", Some(0)),
            ("18446744073709551615\n", Some(u64::MAX)),
            ("103060429480@1743569213.088677609\n", Some(103_060_429_480)),
            ("18446744073709551616\n", None),
            ("", None),
            ("\n", None),
            ("-1\n", None),
            ("12x\n", None),
            ("0x12\n", None),
            ("N/A (no PMA)\n", None),
            (&"1".repeat(64), None),
        ] {
            assert_eq!(number(content.as_bytes()), value, "{content:?}");
        }
    }
}
