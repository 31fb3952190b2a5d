//! Writing a savepoint.

use super::{End, Head, SavedState, SavepointError, StateHead, hex};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// Writes a savepoint to a file, state by state.
#[derive(Debug)]
pub struct SavepointWriter<W> {
    out: W,
    sum: Sha256,
    states: u64,
}

impl<W: Write> SavepointWriter<W> {
    /// Begins with the head.
    ///
    /// # Errors
    /// A disk that refuses.
    pub fn new(out: W, head: &Head) -> Result<SavepointWriter<W>, SavepointError> {
        let mut writer = SavepointWriter { out, sum: Sha256::new(), states: 0 };
        writer.line(head)?;
        Ok(writer)
    }

    /// Writes a state. Returns its head with length and checksum.
    ///
    /// # Errors
    /// A disk that refuses.
    pub fn state(&mut self, state: &SavedState) -> Result<StateHead, SavepointError> {
        let sha256 = hex(Sha256::digest(&state.content));
        let head = StateHead { bytes: state.content.len() as u64, sha256, ..state.head.clone() };
        self.line(&head)?;
        self.out.write_all(&state.content)?;
        self.states += 1;
        Ok(head)
    }

    /// Writes the last line; returns the file, which may have bytes in memory.
    ///
    /// # Errors
    /// A disk that refuses.
    pub fn finish(mut self) -> Result<W, SavepointError> {
        let sha256 = hex(self.sum.finalize_reset());
        self.line(&End { states: self.states, sha256 })?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.sum.update(&text);
        self.out.write_all(&text)
    }
}
