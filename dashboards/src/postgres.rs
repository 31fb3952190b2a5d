//! The server's store: a few connections that may only read, made when they are needed and anew when they are lost.

use crate::answer::ApiError;
use crate::store::Store;
use std::cell::RefCell;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

/// Questions that the server is asked at the same time, each over a connection of its own.
const CONNECTIONS_MAX: usize = 3;
/// For how long a question waits for one of them.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long one statement may take.
const STATEMENT_S: u32 = 10;
/// For how long anything is waited for that the server should have ended by itself: a statement, a connection. A proxy before
/// a dead server takes a connection and says nothing.
const SILENCE: Duration = Duration::from_secs(STATEMENT_S as u64 + 5);
/// One state of the database for all questions of an answer.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A connection that comes about, or why not in one sentence.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Client, String>> + Send + 'a>>;

/// How a database is reached.
pub trait Connect: Send + Sync {
    /// A new connection, to a database whose schema is this version's.
    fn connect(&self) -> Connecting<'_>;
}

/// The database, and connections to it that nobody uses at present.
pub struct Server {
    connect: Arc<dyn Connect>,
    idle: Mutex<Vec<Session>>,
    places: Arc<Semaphore>,
}

impl Server {
    /// The database that `connect` reaches.
    pub fn new(connect: Arc<dyn Connect>) -> Server {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        Server { connect, idle: Mutex::default(), places }
    }

    /// Waits until a connection may be used.
    ///
    /// # Errors
    /// [`ApiError::Away`] when all are used for too long.
    pub async fn place(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let place = timeout(PATIENCE, Arc::clone(&self.places).acquire_owned()).await;
        place
            .map_err(|_| ApiError::Away("it is still busy with earlier questions".to_string()))?
            .map_err(|_| ApiError::Interrupted)
    }

    /// Runs `questions` in one transaction. To be called on a blocking thread of a runtime.
    ///
    /// # Errors
    /// [`ApiError::Away`] while the database does not answer, else what `questions` returns.
    pub fn read<T>(&self, questions: impl FnOnce(&Store<'_>) -> Result<T, ApiError>) -> Result<T, ApiError> {
        let session = Handle::current().block_on(in_time(self.begun()))?;
        let answer = questions(&Store::Postgres(&session));
        // After an error of the database the connection may be lost, or its statements be those of an older schema.
        let sound = !matches!(&answer, Err(ApiError::Store(_) | ApiError::Away(_)));
        let commit = async { Ok(session.client.batch_execute("COMMIT").await?) };
        if sound && Handle::current().block_on(in_time(commit)).is_ok() {
            self.idle().push(session);
        }
        answer
    }

    /// A connection with a transaction. A server that was restarted has left dead ones behind.
    async fn begun(&self) -> Result<Session, ApiError> {
        loop {
            let kept = self.idle().pop();
            let Some(session) = kept else {
                break;
            };
            if session.client.batch_execute(BEGIN).await.is_ok() {
                return Ok(session);
            }
        }
        let client = self.connect.connect().await.map_err(ApiError::Away)?;
        client.batch_execute(&settings()).await?;
        client.batch_execute(BEGIN).await?;
        Ok(Session { client, prepared: RefCell::default() })
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What `asked` gives, unless it takes so long that nobody answers.
async fn in_time<T>(asked: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    let silent = |_| ApiError::Away(format!("it said nothing for {} s", SILENCE.as_secs()));
    timeout(SILENCE, asked).await.map_err(silent)?
}

/// Plans are made for the parameters that are asked for: a filter that is not set, and a tier that does not fit, then cost
/// nothing. Compiling plans saves nothing for answers that are short. The latest words of all series are sorted in memory.
fn settings() -> String {
    format!(
        "SET default_transaction_read_only = on; SET statement_timeout = '{STATEMENT_S}s'; SET lock_timeout = '3s'; \
         SET plan_cache_mode = force_custom_plan; SET jit = off; SET work_mem = '64MB'; \
         SET application_name = 'tailback serve'"
    )
}

/// A connection within a transaction, and the statements that it knows.
pub struct Session {
    client: Client,
    prepared: RefCell<HashMap<&'static str, Statement>>,
}

impl Session {
    /// The rows of an answer. To be called on a blocking thread of a runtime.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn ask(&self, sql: &'static str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, ApiError> {
        Handle::current().block_on(in_time(async {
            let known = self.prepared.borrow().get(sql).cloned();
            let statement = match known {
                Some(statement) => statement,
                None => self.client.prepare(sql).await?,
            };
            let rows = self.client.query(&statement, parameters).await?;
            // The plan of a statement without parameters is kept with it, whatever is set, and the time in it stands still.
            if !parameters.is_empty() {
                self.prepared.borrow_mut().insert(sql, statement);
            }
            Ok(rows)
        }))
    }
}
