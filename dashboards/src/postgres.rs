//! The database, over a few read-only connections. They are opened on demand and replaced after a loss.

use crate::answer::ApiError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::postgres::{PgError, PgSettings, connect_reader};
use store::read::{Reader, Session};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Maximum of concurrent requests, each with its own connection.
const CONNECTIONS_MAX: usize = 3;
/// Timeout for a free connection.
const SLOT_TIMEOUT: Duration = Duration::from_secs(15);
/// Timeout of a statement, in seconds.
const STATEMENT_S: u32 = 10;
/// Timeout for any response of the server, longer than the timeout of a statement. A proxy in front of a dead server
/// accepts a connection and sends nothing.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(STATEMENT_S as u64 + 5);

/// Timeout for a connection, in seconds.
const CONNECT_S_MAX: f64 = 5.0;

/// The database with its idle connections.
pub struct Server {
    settings: PgSettings,
    idle: Mutex<Vec<Session>>,
    places: Arc<Semaphore>,
}

impl Server {
    /// The database of `settings`, to which the first request connects.
    pub fn new(mut settings: PgSettings) -> Server {
        settings.connect_timeout_s = settings.connect_timeout_s.min(CONNECT_S_MAX);
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        Server { settings, idle: Mutex::default(), places }
    }

    /// Waits for a free connection.
    ///
    /// # Errors
    /// [`ApiError::Away`] if all are in use until the timeout.
    pub async fn place(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let place = timeout(SLOT_TIMEOUT, Arc::clone(&self.places).acquire_owned()).await;
        place
            .map_err(|_| ApiError::Away("all connections are busy".to_string()))?
            .map_err(|_| ApiError::Interrupted)
    }

    /// Runs `questions` in one transaction. Call it on a blocking thread of a runtime.
    ///
    /// # Errors
    /// [`ApiError::Away`] while the database does not answer, else what `questions` returns.
    pub fn read<T>(&self, questions: impl FnOnce(&Reader<'_>) -> Result<T, ApiError>) -> Result<T, ApiError> {
        let session = Handle::current().block_on(in_time(self.begun()))?;
        let answer = questions(&Reader::Postgres(&session));
        // After a database error the connection may be lost, or its statements may be of an older schema.
        let sound = !matches!(&answer, Err(ApiError::Store(_) | ApiError::Away(_)));
        let commit = async { Ok(session.commit().await?) };
        if sound && Handle::current().block_on(in_time(commit)).is_ok() {
            self.idle().push(session);
        }
        answer
    }

    /// A connection with a transaction. After a restart of the server the idle connections are dead.
    async fn begun(&self) -> Result<Session, ApiError> {
        loop {
            let kept = self.idle().pop();
            let Some(session) = kept else {
                break;
            };
            if session.begin().await.is_ok() {
                return Ok(session);
            }
        }
        let client = connect_reader(&self.settings).await.map_err(|error| match error {
            PgError::Retry(why) => ApiError::Away(why.to_string()),
            other => ApiError::Away(other.to_string()),
        })?;
        client.batch_execute(&settings()).await?;
        let session = Session::new(client, Some(RESPONSE_TIMEOUT));
        session.begin().await?;
        Ok(session)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of `query`, or an error after [`RESPONSE_TIMEOUT`].
async fn in_time<T>(query: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    let silent = |_| ApiError::Away(format!("no response for {} s", RESPONSE_TIMEOUT.as_secs()));
    timeout(RESPONSE_TIMEOUT, query).await.map_err(silent)?
}

/// Plans are made for the given parameters: unset filters and other tiers then cost nothing. Compiling plans saves
/// nothing for short queries. The latest signals of all series are sorted in memory.
fn settings() -> String {
    format!(
        "SET default_transaction_read_only = on; SET statement_timeout = '{STATEMENT_S}s'; SET lock_timeout = '3s'; \
         SET plan_cache_mode = force_custom_plan; SET jit = off; SET work_mem = '64MB'; \
         SET application_name = 'tailback page'"
    )
}
