//! A connection: address, password, TLS, and the session's settings.

use super::address::Address;
use super::tls::{Attempt, Channel, Negotiator, TlsError};
use super::{PgError, PgSettings, TlsMode};
use std::path::Path;
use std::time::Duration;
use tokio_postgres::config::{SslMode, SslNegotiation};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Connection, Socket};

/// Connects; the task that serves the connection ends with it.
///
/// # Errors
/// [`PgError::is_retryable`] returns whether retrying helps.
pub async fn connect(settings: &PgSettings) -> Result<Client, PgError> {
    let (client, connection) = open(&address(settings)?).await?;
    // What ends the connection is seen by the next call on the client.
    tokio::spawn(async move { drop(connection.await) });
    let commit = if settings.synchronous_commit { "on" } else { "off" };
    client.batch_execute(&format!(include_str!("../../sql/postgres/session.sql"), commit = commit)).await?;
    Ok(client)
}

fn address(settings: &PgSettings) -> Result<Address, PgError> {
    let mut address = Address::parse(&settings.url, settings.tls_ca_file.as_deref())
        .map_err(|error| PgError::Stop(format!("the database URL is no PostgreSQL URL: {error}")))?;
    let config = &mut address.config;
    config.application_name("tailback").connect_timeout(settings.connect_timeout());
    // A server that went silent is noticed within half a minute, whether bytes are on the way or not.
    config.tcp_user_timeout(Duration::from_secs(25)).keepalives_idle(Duration::from_secs(10));
    config.keepalives_interval(Duration::from_secs(5)).keepalives_retries(3);
    if let Some(path) = &settings.password_file {
        config.password(first_line(path)?);
    }
    Ok(address)
}

/// Connects by `sslmode`, which may take two attempts.
async fn open(address: &Address) -> Result<(Client, Connection<Socket, Channel>), PgError> {
    // With `disable` the library does not ask the negotiator at all.
    let attempts = match address.mode {
        TlsMode::Allow => [Attempt::Clear, Attempt::Tls].as_slice(),
        TlsMode::Prefer => &[Attempt::TlsOrClear, Attempt::Clear],
        TlsMode::Disable | TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => &[Attempt::Tls],
    };
    let mut config = address.config.clone();
    if address.mode == TlsMode::Disable || address.is_local_socket() {
        config.ssl_mode(SslMode::Disable);
    } else {
        // So the library leaves the negotiation to the negotiator.
        config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
    }
    let (last, first) = attempts.split_last().map_or((Attempt::Tls, &[][..]), |(last, first)| (*last, first));
    for attempt in first {
        match config.connect(Negotiator::new(address, *attempt)?).await {
            Err(error) if may_try_otherwise(&error) => {}
            connected => return Ok(connected?),
        }
    }
    Ok(config.connect(Negotiator::new(address, last)?).await?)
}

/// Whether the server wants the connection encrypted, or not encrypted, against what was tried (`pg_hba.conf`), or both have no
/// version of TLS in common. A certificate that is refused is no reason for clear text.
fn may_try_otherwise(error: &tokio_postgres::Error) -> bool {
    let handshake = error.to_string().starts_with("error performing TLS handshake");
    let is_refused = error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION);
    let passes = PgError::from_server(error).is_retryable();
    is_refused || (handshake && !passes && TlsError::of(error).is_none())
}

fn first_line(path: &Path) -> Result<String, PgError> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| PgError::Stop(format!("{}: the password file cannot be read: {e}", path.display())))?;
    Ok(text.lines().next().unwrap_or_default().to_string())
}
