//! Read-only access to a store, on blocking threads.

use crate::answer::ApiError;
use crate::postgres::Server;
use crate::sqlite::Embedded;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::postgres::PgSettings;
use store::read::Reader;

/// The store of a page.
#[derive(Clone, Debug)]
pub enum Source {
    /// The file of the embedded store; it may be created later than the page.
    File(PathBuf),
    /// A PostgreSQL database; it may be unreachable for a while.
    Database(Box<PgSettings>),
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Source {
        Source::File(path)
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Source {
        Source::File(path.to_path_buf())
    }
}

/// A store that can be queried.
pub struct StoreReader(Kind);

enum Kind {
    Embedded(Embedded),
    Server(Server),
}

impl StoreReader {
    /// A reader of `source`, which need not exist yet.
    pub fn new(source: impl Into<Source>) -> Arc<StoreReader> {
        Arc::new(StoreReader(match source.into() {
            Source::File(path) => Kind::Embedded(Embedded::new(path)),
            Source::Database(settings) => Kind::Server(Server::new(*settings)),
        }))
    }

    /// Runs `questions` on a blocking thread, in one transaction so that they see one state of the store.
    ///
    /// # Errors
    /// [`ApiError::Waiting`] while there is no store, [`ApiError::Away`] while the database does not answer, else what
    /// `questions` returns.
    pub async fn read<T, F>(self: &Arc<Self>, questions: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader<'_>) -> Result<T, ApiError> + Send + 'static,
    {
        let place = match &self.0 {
            Kind::Embedded(_) => None,
            Kind::Server(server) => Some(server.place().await?),
        };
        let reader = Arc::clone(self);
        let task = tokio::task::spawn_blocking(move || {
            // Held until the query ends, also if the client has disconnected.
            let _place = place;
            match &reader.0 {
                Kind::Embedded(store) => store.read(questions),
                Kind::Server(server) => server.read(questions),
            }
        });
        task.await.map_err(|_| ApiError::Interrupted)?
    }
}
