//! A connection: address, password, TLS, and the session's settings.

use super::address::{Address, TlsFiles};
use super::cause::{Cause, is_cut};
use super::pooler::refuse_shared_session;
use super::tls::{Attempt, Channel, Negotiator, TlsError};
use super::{PgError, PgSettings, TlsMode};
use std::path::Path;
use std::time::Duration;
use tokio_postgres::config::{SslMode, SslNegotiation};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Connection, Socket};

/// Attempts until the server gives its reason to refuse a certificate.
const REASON_TRIES: u32 = 5;

/// Connects to a server that may be written, of several the first that is; the task that serves the connection ends with it.
///
/// # Errors
/// [`PgError::is_retryable`] returns whether retrying helps.
pub async fn connect(settings: &PgSettings) -> Result<Client, PgError> {
    let mut address = address(settings)?;
    address.prefer_primary();
    session(&address, settings).await
}

/// Connects to any server of the URL, to read.
///
/// # Errors
/// As [`connect`].
pub async fn connect_to_read(settings: &PgSettings) -> Result<Client, PgError> {
    session(&address(settings)?, settings).await
}

async fn session(address: &Address, settings: &PgSettings) -> Result<Client, PgError> {
    let client = serve(open(address).await?);
    // Before the first setting: behind a pooler it may become another client's.
    refuse_shared_session(&client, address, settings.connect_timeout()).await?;
    let commit = if settings.synchronous_commit { "on" } else { "off" };
    client.batch_execute(&format!(include_str!("../../sql/postgres/session.sql"), commit = commit)).await?;
    Ok(client)
}

/// Serves a connection by a task of its own; the next call on the client sees what ends it.
pub(super) fn serve((client, connection): (Client, Connection<Socket, Channel>)) -> Client {
    tokio::spawn(async move { drop(connection.await) });
    client
}

fn address(settings: &PgSettings) -> Result<Address, PgError> {
    let files = TlsFiles {
        ca: settings.tls_ca_file.as_deref(),
        certificate: settings.tls_cert_file.as_deref(),
        key: settings.tls_key_file.as_deref(),
    };
    let mut address = Address::parse(&settings.url, files)
        .map_err(|error| PgError::of(Cause::Setting, format!("database.url cannot be used: {error}")))?;
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
pub(super) async fn open(address: &Address) -> Result<(Client, Connection<Socket, Channel>), PgError> {
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
    let mut refused = None;
    for attempt in first {
        match try_once(&config, address, *attempt).await? {
            Err(error) if may_try_otherwise(&error) => refused = Some(error),
            connected => return Ok(connected?),
        }
    }
    let connected = try_once(&config, address, last).await?;
    connected.map_err(|error| match refused {
        // Where the server admits neither, the reason is not that the connection was not encrypted.
        Some(first) if last == Attempt::Clear && is_refused(&first) && is_refused(&error) => first.into(),
        _ => error.into(),
    })
}

type Connected = Result<(Client, Connection<Socket, Channel>), tokio_postgres::Error>;

/// One attempt. A server that refuses the client's certificate closes the connection at once, and its reason may be lost by that:
/// the attempt is repeated.
async fn try_once(config: &Config, address: &Address, attempt: Attempt) -> Result<Connected, PgError> {
    let negotiator = Negotiator::new(address, attempt)?;
    let tries = if address.client.is_some() { REASON_TRIES } else { 1 };
    for _ in 1..tries {
        match config.connect(negotiator.clone()).await {
            Err(error) if is_cut(&error) => {}
            connected => return Ok(connected),
        }
    }
    Ok(config.connect(negotiator).await)
}

/// Whether the server wants the connection encrypted, or not encrypted, against what was tried (`pg_hba.conf`), or both have no
/// version of TLS in common. A certificate that is refused is no reason for clear text.
fn may_try_otherwise(error: &tokio_postgres::Error) -> bool {
    let handshake = error.to_string().starts_with("error performing TLS handshake");
    let passes = PgError::from_server(error).is_retryable();
    is_refused(error) || (handshake && !passes && TlsError::of(error).is_none())
}

fn is_refused(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
}

fn first_line(path: &Path) -> Result<String, PgError> {
    let text = std::fs::read_to_string(path).map_err(|e| {
        PgError::of(Cause::Setting, format!("{}: the password file cannot be read: {e}", path.display()))
    })?;
    Ok(text.lines().next().unwrap_or_default().to_string())
}
