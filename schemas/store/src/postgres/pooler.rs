//! Poolers between Tailback and the server. One that gives each transaction another session of the server breaks what belongs to a
//! session: settings, named statements, locks. Such a pooler is recognised when a connection is made.

use super::PgError;
use super::address::Address;
use super::cause::Cause;
use super::connect::{open, serve};
use super::tls::Channel;
use std::future::{Ready, ready};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use tokio::io::{AsyncReadExt, DuplexStream, duplex};
use tokio_postgres::tls::TlsConnect;
use tokio_postgres::{Client, SimpleQueryMessage};

/// Bytes of a request to cancel: length, code, number of the process, secret.
const CANCEL_BYTES: usize = 16;
/// Rounds of the probe. Each leaves open whether the session is shared only where another client took it in between.
const ROUNDS: u32 = 16;

/// Refuses a connection behind a pooler that gives each transaction another session.
///
/// A server announces the number of its own process; a pooler announces a number of its own. Where they differ, a second
/// connection finds out whether the session of the first stays with it.
pub(super) async fn refuse_shared_session(
    client: &Client,
    address: &Address,
    timeout: Duration,
) -> Result<(), PgError> {
    let process = first(client, include_str!("../../sql/postgres/backend_pid.sql")).await?;
    if announced_process(client).await.map(|number| number.to_string()) == process {
        return Ok(());
    }
    // A pooler with too few sessions for a second connection lets it wait: the first may be used then.
    match tokio::time::timeout(timeout, is_shared(client, address)).await {
        Ok(Ok(true)) => {
            let text = "a connection pooler gives each transaction another session of the server (PgBouncer with \
                        pool_mode = transaction or statement), which Tailback cannot use";
            Err(PgError::of(Cause::Pooler, text))
        }
        _ => Ok(()),
    }
}

/// Whether a second connection gets the session of the first, or the first loses it, while neither is within a transaction.
async fn is_shared(client: &Client, address: &Address) -> Result<bool, PgError> {
    let mark = format!("{:016x}", RandomState::new().hash_one(0));
    let put = format!(include_str!("../../sql/postgres/put_session_mark.sql"), mark = mark);
    let second = serve(open(address).await?);
    for _ in 0..ROUNDS {
        client.batch_execute(&put).await?;
        // It takes a session and keeps it. A pooler of single statements refuses.
        match second.batch_execute("BEGIN").await {
            Err(error) if is_statement_mode(&error) => return Ok(true),
            begun => begun?,
        }
        let taken = marked(&second).await?.as_ref() == Some(&mark);
        if taken || marked(client).await?.as_ref() != Some(&mark) {
            return Ok(true);
        }
        second.batch_execute("ROLLBACK").await?;
    }
    Ok(false)
}

fn is_statement_mode(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|said| said.message().contains("statement pooling"))
}

async fn marked(client: &Client) -> Result<Option<String>, PgError> {
    first(client, include_str!("../../sql/postgres/session_mark.sql")).await
}

/// The first value of a result, without a named statement.
async fn first(client: &Client, sql: &str) -> Result<Option<String>, PgError> {
    let messages = client.simple_query(sql).await?;
    Ok(messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(String::from),
        _ => None,
    }))
}

/// The number of the server's process as it was announced when the connection was made. The library keeps it for requests to
/// cancel alone: one is written to a pipe, and read there.
async fn announced_process(client: &Client) -> Option<i32> {
    let (end, mut other) = duplex(2 * CANCEL_BYTES);
    client.cancel_token().cancel_query_raw(end, Plain).await.ok()?;
    let mut request = [0; CANCEL_BYTES];
    other.read_exact(&mut request).await.ok()?;
    Some(i32::from_be_bytes(request[8..12].try_into().ok()?))
}

/// A pipe within this process needs no TLS.
struct Plain;

impl TlsConnect<DuplexStream> for Plain {
    type Stream = Channel<DuplexStream>;
    type Error = std::io::Error;
    type Future = Ready<Result<Channel<DuplexStream>, std::io::Error>>;

    fn connect(self, stream: DuplexStream) -> Self::Future {
        ready(Ok(Channel::clear(stream)))
    }
}
