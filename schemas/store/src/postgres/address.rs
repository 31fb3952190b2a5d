//! The server's address: libpq's `sslmode` and `sslrootcert`, which tokio-postgres knows in part or not at all.

use std::error::Error as _;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, SslNegotiation};

/// When TLS is used, and what of the server's certificate is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsMode {
    /// Clear text.
    Disable,
    /// Clear text; TLS where the server demands it.
    Allow,
    /// TLS; clear text where the server has none.
    Prefer,
    /// TLS. The certificate is verified only where a file of certificate authorities is configured.
    Require,
    /// TLS with a certificate that a known authority signed.
    VerifyCa,
    /// The same, for the host's own name.
    VerifyFull,
}

const MODES: [(&str, TlsMode); 6] = [
    ("disable", TlsMode::Disable),
    ("allow", TlsMode::Allow),
    ("prefer", TlsMode::Prefer),
    ("require", TlsMode::Require),
    ("verify-ca", TlsMode::VerifyCa),
    ("verify-full", TlsMode::VerifyFull),
];

impl fmt::Display for TlsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = MODES.iter().find(|(_, mode)| mode == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

/// What is wrong with an address.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// Not a PostgreSQL URL. The text may repeat a part of the password.
    #[error("{}", .0.source().map_or_else(|| .0.to_string(), ToString::to_string))]
    Url(#[from] tokio_postgres::Error),
    /// A parameter of TLS has a value that is not allowed.
    #[error("{0}")]
    Tls(String),
}

/// A parsed address.
#[derive(Clone, Debug)]
pub struct Address {
    /// What tokio-postgres knows of it.
    pub(super) config: Config,
    /// `sslmode`; `prefer` where the URL has none, as in libpq.
    pub mode: TlsMode,
    /// `sslrootcert`: the authorities that count; without one, those of the system.
    pub ca_file: Option<PathBuf>,
}

impl Address {
    /// Parses a URL. An `sslrootcert` in it takes precedence over `ca_file`.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn parse(url: &str, ca_file: Option<&Path>) -> Result<Address, AddressError> {
        let (rest, mode, root) = without_tls(url)?;
        let mut config: Config = rest.parse()?;
        let mode = mode.unwrap_or(match config.get_ssl_mode() {
            SslMode::Disable => TlsMode::Disable,
            SslMode::Require => TlsMode::Require,
            _ => TlsMode::Prefer,
        });
        if config.get_ssl_negotiation() != SslNegotiation::Postgres {
            return Err(AddressError::Tls("sslnegotiation must be postgres".to_string()));
        }
        if root.as_deref() == Some("system") && mode != TlsMode::VerifyFull {
            let text = format!("sslrootcert=system needs sslmode=verify-full, not {mode}");
            return Err(AddressError::Tls(text));
        }
        let ca_file = match root.as_deref() {
            Some("system") => None,
            Some(path) => Some(PathBuf::from(path)),
            None => ca_file.map(Path::to_path_buf),
        };
        // A certificate may name an address as well as a host.
        if config.get_hosts().is_empty() {
            for address in config.get_hostaddrs().to_vec() {
                config.host(address.to_string());
            }
        }
        Ok(Address { config, mode, ca_file })
    }

    /// Whether all servers are reached through sockets of this machine's file system, which know no TLS.
    pub(super) fn is_local_socket(&self) -> bool {
        self.config.get_hosts().iter().all(|host| !matches!(host, Host::Tcp(_)))
    }

    /// Whether the certificate is verified, by which authorities whatsoever.
    pub(super) fn is_verified(&self) -> bool {
        self.mode >= TlsMode::VerifyCa || self.ca_file.is_some()
    }

    /// What an attacker on the network could do with the connection, and the remedy; `None` on this machine and with `verify-full`.
    pub fn warning(&self) -> Option<String> {
        let is_remote = |host: &&Host| matches!(host, Host::Tcp(name) if !is_loopback(name));
        let host = self.config.get_hosts().iter().find(is_remote)?;
        let Host::Tcp(host) = host else { return None };
        let risk = match self.mode {
            TlsMode::VerifyFull => return None,
            TlsMode::Disable | TlsMode::Allow => format!("the connection to {host} is not encrypted"),
            TlsMode::Prefer => format!("the connection to {host} may be neither encrypted nor verified"),
            TlsMode::Require if self.ca_file.is_none() => {
                format!("the certificate of {host} is not verified")
            }
            TlsMode::Require | TlsMode::VerifyCa => {
                format!("that the certificate is for {host} is not verified")
            }
        };
        Some(format!(
            "{risk} with sslmode={}; recommended: sslmode=verify-full, with database.tls_ca_file for a site's own authority",
            self.mode
        ))
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A URL without `sslmode` and `sslrootcert`, and these.
fn without_tls(url: &str) -> Result<(String, Option<TlsMode>, Option<String>), AddressError> {
    let (mut mode, mut root, mut kept) = (None, None, Vec::new());
    let is_url = url.starts_with("postgres://") || url.starts_with("postgresql://");
    // A password may contain a question mark; tokio-postgres, too, takes the first `@` as its end.
    let host_at = url.find('@').map_or(0, |at| at + 1);
    let Some(at) = url[host_at..].find('?').filter(|_| is_url) else {
        return Ok((url.to_string(), None, None));
    };
    let (address, query) = url.split_at(host_at + at);
    for parameter in query[1..].split('&') {
        match parameter.split_once('=') {
            Some(("sslmode", value)) => mode = Some(tls_mode(&decoded(value)?)?),
            Some(("sslrootcert", value)) => root = Some(decoded(value)?).filter(|root| !root.is_empty()),
            _ => kept.push(parameter),
        }
    }
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    Ok((format!("{address}{query}"), mode, root))
}

fn tls_mode(name: &str) -> Result<TlsMode, AddressError> {
    MODES.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode).ok_or_else(|| {
        let known = MODES.map(|(known, _)| known).join(", ");
        AddressError::Tls(format!("sslmode must be one of {known}, not {name:?}"))
    })
}

/// A parameter's value without percent signs, as tokio-postgres decodes those that it knows.
fn decoded(value: &str) -> Result<String, AddressError> {
    let config: Config = format!("postgres://host?application_name={value}").parse()?;
    Ok(config.get_application_name().unwrap_or_default().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> Result<Address, AddressError> {
        Address::parse(&format!("postgres://me:a?b@db.example:5433/site{query}"), None)
    }

    #[test]
    fn every_mode_of_libpq_is_understood() {
        for (name, mode) in MODES {
            let address = parse(&format!("?connect_timeout=3&sslmode={name}&application_name=x")).unwrap();
            assert_eq!(address.mode, mode);
            assert_eq!(address.config.get_password(), Some(&b"a?b"[..]));
            assert_eq!(address.config.get_application_name(), Some("x"));
        }
        assert_eq!(parse("").unwrap().mode, TlsMode::Prefer);
        let error = parse("?sslmode=verify").unwrap_err().to_string();
        assert!(error.contains("verify-full") && error.contains("\"verify\""), "{error}");
        let words = Address::parse("host=db user=me sslmode=disable", None).unwrap();
        assert_eq!(words.mode, TlsMode::Disable);
    }

    #[test]
    fn the_url_names_the_authority_before_the_configuration() {
        let own = Some(Path::new("/etc/own.pem"));
        let url = "postgres://db/site?sslmode=verify-full";
        assert_eq!(Address::parse(url, own).unwrap().ca_file.as_deref(), own);
        let with = |root: &str| Address::parse(&format!("{url}&sslrootcert={root}"), own).unwrap().ca_file;
        assert_eq!(with("/etc/site%20ca.pem"), Some(PathBuf::from("/etc/site ca.pem")));
        assert_eq!(with("system"), None);
        parse("?sslmode=require&sslrootcert=system").unwrap_err();
    }

    #[test]
    fn only_a_verified_remote_name_has_no_warning() {
        for (name, mode) in MODES {
            let warning = parse(&format!("?sslmode={name}")).unwrap().warning();
            assert_eq!(warning.is_none(), mode == TlsMode::VerifyFull, "{warning:?}");
            for here in ["localhost", "127.0.0.1", "[::1]", "%2Frun%2Fpostgresql"] {
                let address = Address::parse(&format!("postgres://me@{here}/site?sslmode={name}"), None);
                assert_eq!(address.unwrap().warning(), None);
            }
        }
    }
}
