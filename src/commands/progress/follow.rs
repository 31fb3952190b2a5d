//! Counts in the lines of a log that grows.

use anyhow::Context;
use regex_lite::Regex;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Longest line that is compared; of a longer one the beginning is.
const LINE_BYTES_MAX: usize = 4_096;
/// Bytes that are read at once.
const PART_BYTES: usize = 64 << 10;

/// A log, and what was counted in it so far.
pub struct Log {
    path: PathBuf,
    pattern: Regex,
    /// `None` until it exists.
    file: Option<File>,
    /// The beginning of a line whose end was not written yet.
    line: Vec<u8>,
    count: u64,
}

impl Log {
    /// The log at `path`, from its beginning. The first group of `pattern` is the count; without a group each line that matches is counted.
    ///
    /// # Errors
    /// A pattern that is no regular expression.
    pub fn new(path: &Path, pattern: &str) -> anyhow::Result<Log> {
        let pattern = Regex::new(pattern).with_context(|| {
            format!("--pattern {pattern:?} is no regular expression of Rust's crate regex-lite")
        })?;
        Ok(Log { path: path.to_path_buf(), pattern, file: None, line: Vec::new(), count: 0 })
    }

    /// Reads the lines that were added; the count if one of them has it. A log that was replaced or emptied is read from its beginning.
    ///
    /// # Errors
    /// The log cannot be read. One that does not exist yet is no error.
    pub fn read(&mut self) -> io::Result<Option<u64>> {
        let mut found = self.read_added()?;
        if self.is_replaced()? {
            self.line.clear();
            self.file = Some(File::open(&self.path)?);
            found |= self.read_added()?;
        }
        Ok(found.then_some(self.count))
    }

    /// Whether another file is at the path than the open one, or it is shorter than what was read.
    fn is_replaced(&mut self) -> io::Result<bool> {
        let now = match fs::metadata(&self.path) {
            Ok(now) => now,
            // It was moved away, and its successor is not there yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let Some(file) = &mut self.file else { return Ok(true) };
        let identity = |file: &Metadata| (file.dev(), file.ino());
        Ok(identity(&file.metadata()?) != identity(&now) || now.len() < file.stream_position()?)
    }

    fn read_added(&mut self) -> io::Result<bool> {
        let (mut part, mut found) = (vec![0; PART_BYTES], false);
        loop {
            let Some(file) = &mut self.file else { return Ok(found) };
            match file.read(&mut part)? {
                0 => return Ok(found),
                read => found |= self.take(&part[..read]),
            }
        }
    }

    /// Whether a line of `part` has a count.
    fn take(&mut self, part: &[u8]) -> bool {
        let mut found = false;
        for piece in part.split_inclusive(|byte| *byte == b'\n') {
            let end = piece.strip_suffix(b"\n");
            let text = end.unwrap_or(piece);
            let room = LINE_BYTES_MAX - self.line.len();
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if end.is_some() {
                found |= self.count_line();
                self.line.clear();
            }
        }
        found
    }

    fn count_line(&mut self) -> bool {
        let line = String::from_utf8_lossy(&self.line);
        let Some(found) = self.pattern.captures(&line) else { return false };
        let counted = match self.pattern.captures_len() {
            1 => Some(self.count + 1),
            _ => found.get(1).and_then(|group| group.as_str().parse().ok()),
        };
        self.count = counted.unwrap_or(self.count);
        counted.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write;

    fn append(path: &Path, text: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn the_first_group_is_the_count_and_lines_are_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::new(&path, "^step +([0-9]+)").unwrap();
        assert_eq!(log.read().unwrap(), None, "there is no file yet");
        append(&path, "begin\nstep 1 of 9\nstep   2 of 9\nste");
        assert_eq!(log.read().unwrap(), Some(2));
        assert_eq!(log.read().unwrap(), None);
        append(&path, "p 3 of 9\nstep 99999999999999999999\nend\n");
        assert_eq!(log.read().unwrap(), Some(3));
    }

    #[test]
    fn without_a_group_lines_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::new(&path, "iteration done").unwrap();
        append(&path, &"iteration done\nother\n".repeat(10_000));
        assert_eq!(log.read().unwrap(), Some(10_000));
        append(&path, "iteration done\n");
        assert_eq!(log.read().unwrap(), Some(10_001));
    }

    #[test]
    fn a_log_that_is_replaced_or_emptied_is_read_from_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::new(&path, "step ([0-9]+)").unwrap();
        append(&path, "step 1\nstep 2");
        assert_eq!(log.read().unwrap(), Some(1));
        append(&path, "0\nstep 21\n");
        fs::rename(&path, folder.path().join("log.1")).unwrap();
        assert_eq!(log.read().unwrap(), Some(21), "the rest of the old file");
        append(&path, "step 22\n");
        assert_eq!(log.read().unwrap(), Some(22));
        fs::write(&path, "").unwrap();
        assert_eq!(log.read().unwrap(), None);
        append(&path, "step 5\n");
        assert_eq!(log.read().unwrap(), Some(5));
    }

    #[test]
    fn a_line_without_an_end_takes_bounded_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::new(&path, "^step ([0-9]+)").unwrap();
        append(&path, &format!("step 7 {}", "x".repeat(1 << 20)));
        assert_eq!(log.read().unwrap(), None);
        assert_eq!(log.line.len(), LINE_BYTES_MAX);
        append(&path, "\nstep 8\n");
        assert_eq!(log.read().unwrap(), Some(8));
    }
}
