//! A connection: address, password, TLS, and the session's settings.

use super::{PgError, PgSettings};
use native_tls::{Certificate, TlsConnector};
use postgres_native_tls::MakeTlsConnector;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;
use tokio_postgres::{Client, Config};

/// Connects; the task that serves the connection ends with it.
///
/// # Errors
/// [`PgError`] says whether trying again helps.
pub async fn connect(settings: &PgSettings) -> Result<Client, PgError> {
    let config = config(settings)?;
    let tls = tls(settings.tls_ca_file.as_deref())?;
    let (client, connection) = config.connect(tls).await?;
    // What ends the connection is seen by the next call on the client.
    tokio::spawn(async move { drop(connection.await) });
    let commit = if settings.synchronous_commit { "on" } else { "off" };
    client
        .batch_execute(&format!(
            "SET synchronous_commit = {commit}; SET TimeZone = 'UTC'; SET client_min_messages = warning; \
             SET search_path = public; SET lock_timeout = '30s'; SET idle_in_transaction_session_timeout = '60s'"
        ))
        .await?;
    Ok(client)
}

fn config(settings: &PgSettings) -> Result<Config, PgError> {
    let mut config = Config::from_str(&settings.url)
        .map_err(|e| PgError::Stop(format!("the database URL is no PostgreSQL URL: {e}")))?;
    config.application_name("tailback").connect_timeout(settings.connect_timeout());
    // A server that went silent is noticed within half a minute, whether bytes are on the way or not.
    config.tcp_user_timeout(Duration::from_secs(25)).keepalives_idle(Duration::from_secs(10));
    config.keepalives_interval(Duration::from_secs(5)).keepalives_retries(3);
    if let Some(path) = &settings.password_file {
        config.password(first_line(path)?);
    }
    Ok(config)
}

fn first_line(path: &Path) -> Result<String, PgError> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| PgError::Stop(format!("{}: the password file cannot be read: {e}", path.display())))?;
    Ok(text.lines().next().unwrap_or_default().to_string())
}

fn tls(ca_file: Option<&Path>) -> Result<MakeTlsConnector, PgError> {
    let mut builder = TlsConnector::builder();
    if let Some(path) = ca_file {
        let refuse = |e: &dyn std::fmt::Display| {
            PgError::Stop(format!("{}: no certificate authority can be read: {e}", path.display()))
        };
        let pem = std::fs::read(path).map_err(|e| refuse(&e))?;
        builder.add_root_certificate(Certificate::from_pem(&pem).map_err(|e| refuse(&e))?);
    }
    let connector = builder.build().map_err(|e| PgError::Stop(format!("TLS cannot be set up: {e}")))?;
    Ok(MakeTlsConnector::new(connector))
}
