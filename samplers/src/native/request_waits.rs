//! How long a client's requests to the servers of a Lustre file system wait: the line `req_waittime` of `stats` in the folders of
//! its connections, one to each server:
//!
//! ```text
//! req_waittime              2193784 samples [usec] 31 19323671 22792548119 2825876578353643
//! ```
//!
//! A row has the sum over the connections, so that a file system of a thousand servers is one series. The line comes with the first
//! request.

use super::set::{Failure, Reading, is_same_file};
use super::stats_file::{SUM, contents, decimal};
use crate::ldms_rows::put_number;
use std::fs::File;
use std::path::PathBuf;

/// The open files of the connections of one file system.
#[derive(Debug)]
pub(crate) struct RequestWaits {
    files: Vec<(PathBuf, File)>,
}

impl RequestWaits {
    /// Opens the files and reads them once.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<RequestWaits, Failure> {
        let open = |path: &PathBuf| {
            File::open(path).map(|file| (path.clone(), file)).map_err(|error| Failure::of(path, &error))
        };
        let waits = RequestWaits { files: paths.iter().map(open).collect::<Result<_, _>>()? };
        match waits.read(&mut Vec::new(), &mut Vec::new())? {
            Reading::Unusable(reason) => Err(Failure(reason)),
            Reading::Whole | Reading::Partial(_) => Ok(waits),
        }
    }

    /// Whether the files that are open are those of `paths` now.
    pub(crate) fn is_current(&self, paths: &[PathBuf]) -> bool {
        self.files.len() == paths.len()
            && self.files.iter().zip(paths).all(|((path, file), now)| path == now && is_same_file(file, path))
    }

    /// Appends the columns to `body`; a file goes through `raw`, which keeps its memory.
    pub(crate) fn read(&self, raw: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<Reading, Failure> {
        let (mut requests, mut waited_us) = (0_u64, 0_u64);
        for (path, file) in &self.files {
            let length = contents(file, raw).map_err(|error| Failure::of(path, &error))?;
            let Some([count, sum]) = waits(&raw[..length]) else {
                return Ok(Reading::Unusable(format!(
                    "{}: the line req_waittime has no sum",
                    path.display()
                )));
            };
            requests = requests.wrapping_add(count);
            waited_us = waited_us.wrapping_add(sum);
        }
        for (column, value) in [
            ("connections", self.files.len() as u64),
            ("req_waittime__count", requests),
            ("req_waittime__sum", waited_us),
        ] {
            body.extend_from_slice(b",\"");
            body.extend_from_slice(column.as_bytes());
            body.extend_from_slice(b"\":");
            put_number(body, value);
        }
        Ok(Reading::Whole)
    }
}

/// Requests and the microseconds that they waited; `None` if the line is not what it should be.
fn waits(content: &[u8]) -> Option<[u64; 2]> {
    let mut lines = content
        .split(|b| *b == b'\n')
        .map(|line| line.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty()));
    let Some(mut words) = lines.find_map(|mut words| (words.next()? == b"req_waittime").then_some(words))
    else {
        return Some([0, 0]);
    };
    let count = decimal(words.next()?)?;
    let unit = words.nth(1)?;
    let sum = decimal(words.nth(SUM - 3)?)?;
    matches!(unit, b"[usec]" | b"[usecs]").then_some([count, sum])
}

#[cfg(test)]
mod tests {
    use super::waits;

    #[test]
    fn requests_and_their_waits_are_read() {
        for (content, found) in [
            ("snapshot_time 1.5\nreq_waittime 21 samples [usec] 31 193 2279 28258\n", Some([21, 2279])),
            ("req_waittime   21 samples [usecs] 31 193 2279\nping 3 samples [reqs]\n", Some([21, 2279])),
            ("snapshot_time 1.5\n", Some([0, 0])),
            ("req_waittime 21 samples [usec] 31 193\n", None),
            ("req_waittime 21 samples [sec] 31 193 2279\n", None),
            ("req_waittime x samples [usec] 31 193 2279\n", None),
        ] {
            assert_eq!(waits(content.as_bytes()), found, "{content}");
        }
    }
}
