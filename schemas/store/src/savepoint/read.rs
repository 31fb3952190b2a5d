//! Reading a savepoint, which may be any file.

use super::{End, FORMAT, Head, LINE_MAX, SavedState, SavepointError, StateHead, hex};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::io::{BufRead, Read};

/// Reads a savepoint, state by state.
#[derive(Debug)]
pub struct SavepointReader<R> {
    input: R,
    sum: Sha256,
    states: u64,
    /// What it is of.
    pub head: Head,
}

/// A line after the first.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    State(StateHead),
    End(End),
}

/// The part of the head that every layout has.
#[derive(Deserialize)]
struct Layout {
    tailback_savepoint: u32,
    written_by: String,
}

impl<R: BufRead> SavepointReader<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// A file that is no savepoint, or one of a newer layout.
    pub fn new(mut input: R) -> Result<SavepointReader<R>, SavepointError> {
        let line = line(&mut input)?;
        let layout: Layout = serde_json::from_slice(&line).map_err(|_| SavepointError::NotOurs)?;
        if layout.tailback_savepoint > FORMAT {
            return Err(SavepointError::Newer { written_by: layout.written_by });
        }
        let head = serde_json::from_slice(&line).map_err(|error| altered("its first line", &error))?;
        let sum = Sha256::new_with_prefix(&line);
        Ok(SavepointReader { input, sum, states: 0, head })
    }

    /// The next state; `None` after the last one, when everything was checked.
    ///
    /// # Errors
    /// A file that is truncated or was altered.
    pub fn next_state(&mut self) -> Result<Option<SavedState>, SavepointError> {
        let before = self.sum.clone();
        let line = line(&mut self.input)?;
        if line.last() != Some(&b'\n') {
            return Err(SavepointError::Truncated);
        }
        match serde_json::from_slice(&line).map_err(|error| altered("a line between states", &error))? {
            Line::State(head) => {
                self.sum.update(&line);
                self.content(head).map(Some)
            }
            Line::End(end) => self.end(&end, before).map(|()| None),
        }
    }

    fn content(&mut self, head: StateHead) -> Result<SavedState, SavepointError> {
        let mut content = Vec::new();
        (&mut self.input).take(head.bytes).read_to_end(&mut content)?;
        if content.len() as u64 != head.bytes {
            return Err(SavepointError::Truncated);
        }
        self.states += 1;
        if hex(Sha256::digest(&content)) != head.sha256 {
            let of = format!("the state of {}/{} has another checksum", head.stage, head.partition);
            return Err(SavepointError::Altered(of));
        }
        Ok(SavedState { head, content })
    }

    /// Checks the last line, and that nothing follows.
    fn end(&mut self, end: &End, before: Sha256) -> Result<(), SavepointError> {
        if end.states != self.states || end.sha256 != hex(before.finalize()) {
            return Err(SavepointError::Altered("its checksum is another one".to_string()));
        }
        match self.input.fill_buf()?.is_empty() {
            true => Ok(()),
            false => Err(SavepointError::Altered("bytes follow its end".to_string())),
        }
    }
}

/// A line with its end, which may be missing at the end of the file.
fn line(input: &mut impl BufRead) -> Result<Vec<u8>, SavepointError> {
    let mut line = Vec::new();
    input.take(LINE_MAX).read_until(b'\n', &mut line)?;
    Ok(line)
}

fn altered(what: &str, error: &serde_json::Error) -> SavepointError {
    SavepointError::Altered(format!("{what} cannot be read: {error}"))
}
