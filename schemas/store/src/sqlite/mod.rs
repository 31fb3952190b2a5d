//! The embedded store: results and model state in one SQLite file, in one transaction per commit.
//!
//! | file | what it holds |
//! |---|---|
//! | `open.rs` | opening, settings, the check of the file, migrations, closing out of WAL |
//! | `read_only.rs` | the readers' connection, also on media that may only be read |
//! | `commit.rs` | writing a [`ResultBatch`] with the state blobs |
//! | `regions.rs` | writing its regions and factors |
//! | `notices.rs` | writing its notices |
//! | `places.rs` | writing where nodes and links are |
//! | `learn.rs` | calibration from finished runs, and the factors of jobs |
//! | `load.rs` | what a restart reads back |
//! | `expire.rs` | retention: what goes, in slices, and giving space back |
//! | `error.rs` | [`StoreError`], by what to do next |
//!
//! The statements are `schemas/store/sql/sqlite/*.sql`, the tables `schemas/store/sql/migrations/sqlite/`.

mod commit;
mod error;
mod expire;
mod learn;
mod load;
mod notices;
mod open;
mod places;
mod read_only;
mod regions;
#[cfg(test)]
mod tests;

pub use error::{StoreError, is_of_other_build};
pub use open::{open_writer, put_metrics};
pub use read_only::{ReadConnection, open_reader, open_to_read};

use rusqlite::Connection;
use schemas::calibration::{Learnt, StoredRuns};
use schemas::{ResultBatch, SeriesInfo, Time};
use std::path::{Path, PathBuf};
use topology::{LinkPlace, NodePlace};

/// How long history is kept, and how large the file may become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retention {
    /// Age at which signals go, in seconds.
    pub signals_s: f64,
    /// Age at which ended episodes and ended jobs go, in seconds.
    pub episodes_s: f64,
    /// Size of the file above which the oldest signals go early; `None` for no limit.
    pub bytes_max: Option<u64>,
}

impl Default for Retention {
    /// Six hours of signals, ninety days of episodes, 2 GiB.
    fn default() -> Retention {
        Retention { signals_s: 6.0 * 3600.0, episodes_s: 90.0 * 86_400.0, bytes_max: Some(2 << 30) }
    }
}

/// A stage's state, or its position in the input: opaque to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateBlob<'a> {
    /// Owner of the state; a later blob of this name replaces it.
    pub name: &'a str,
    /// Version of the content's layout, for the reader to check.
    pub version: u32,
    /// The state itself.
    pub content: &'a [u8],
}

/// The file, open for the one writer.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    retention: Retention,
    /// Signals of a batch in the order of their key; kept to keep its memory.
    order: Vec<u32>,
}

impl Store {
    /// Removes the store at `path` with its WAL files, if there is one.
    ///
    /// # Errors
    /// [`StoreError`] if the file is another program's, or cannot be removed.
    pub fn remove(path: &Path) -> Result<(), StoreError> {
        open::remove(path)
    }

    /// Opens the store at `path`, creates it where there is none and brings its tables up to date.
    ///
    /// # Errors
    /// [`StoreError`] says whether to retry, or what prevents it.
    pub fn open(path: &Path, retention: Retention) -> Result<Store, StoreError> {
        Ok(Store { connection: open_writer(path)?, path: path.to_path_buf(), retention, order: Vec::new() })
    }

    /// Leaves everything in the one file, which is then read on media that may only be read, too. The store can be written
    /// further. `false` if another connection that is open prevented it.
    ///
    /// # Errors
    /// [`StoreError`]; what was committed stays.
    pub fn finish(&mut self) -> Result<bool, StoreError> {
        open::finish(&self.connection).map_err(|e| StoreError::from_sqlite(&self.path, e))
    }

    /// Writes a batch and the states that go with it: all of it, or after an error nothing of it.
    ///
    /// # Errors
    /// [`StoreError`]; after a retryable one the same call may be repeated.
    pub fn commit(&mut self, batch: &ResultBatch, states: &[StateBlob<'_>]) -> Result<(), StoreError> {
        commit::order_signals(&batch.signals, &mut self.order);
        commit::write(&mut self.connection, batch, &self.order, states)
            .map_err(|e| StoreError::from_sqlite(&self.path, e))
    }

    /// Replaces what the store knows of the switches that nodes hang on.
    ///
    /// # Errors
    /// [`StoreError`]; after a retryable one the same call may be repeated.
    pub fn put_places(&mut self, places: &[NodePlace]) -> Result<(), StoreError> {
        places::replace_nodes(&mut self.connection, places)
            .map_err(|e| StoreError::from_sqlite(&self.path, e))
    }

    /// Replaces what the store knows of links; without a topology there are none.
    ///
    /// # Errors
    /// [`StoreError`]; after a retryable one the same call may be repeated.
    pub fn put_links(&mut self, links: &[LinkPlace]) -> Result<(), StoreError> {
        places::replace_links(&mut self.connection, links).map_err(|e| StoreError::from_sqlite(&self.path, e))
    }

    /// Lets `learn` compute from runs that ended, then writes the factors of jobs; the number of new versions of `beta`,
    /// and of jobs written.
    ///
    /// # Errors
    /// [`StoreError`]; after a retryable one the same call may be repeated.
    pub fn learn(&mut self, learn: impl FnOnce(StoredRuns) -> Learnt) -> Result<(usize, usize), StoreError> {
        learn::learn(&mut self.connection, learn).map_err(|e| StoreError::from_sqlite(&self.path, e))
    }

    /// The state committed last under `name`, with its version.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn load_state(&self, name: &str) -> Result<Option<(u32, Vec<u8>)>, StoreError> {
        load::state(&self.connection, name).map_err(|e| StoreError::from_sqlite(&self.path, e))
    }

    /// All series in the order of their numbers.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if a row is no series or a number is missing.
    pub fn load_series(&self) -> Result<Vec<SeriesInfo>, StoreError> {
        load::series(&self.connection, &self.path)
    }

    /// Deletes what is older than the retention, or beyond its size, as of `now` in event time.
    /// One call is one short slice; `true` says that another call has more to do.
    ///
    /// # Errors
    /// [`StoreError`]; what was deleted before stays deleted.
    pub fn expire(&mut self, now: Time) -> Result<bool, StoreError> {
        expire::expire(&mut self.connection, &self.path, &self.retention, now)
            .map_err(|e| StoreError::from_sqlite(&self.path, e))
    }
}
