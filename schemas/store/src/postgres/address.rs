//! The server's address: libpq's parameters of TLS and of several hosts, which tokio-postgres knows in part or not at all.

use std::error::Error as _;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, SslNegotiation, TargetSessionAttrs};

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
    /// A parameter has a value that is not allowed.
    #[error("{0}")]
    Parameter(String),
}

/// Files of TLS in PEM, as the configuration names them.
#[derive(Clone, Copy, Debug, Default)]
pub struct TlsFiles<'a> {
    /// Authorities that may sign the server's certificate.
    pub ca: Option<&'a Path>,
    /// The client's certificate.
    pub certificate: Option<&'a Path>,
    /// Its key.
    pub key: Option<&'a Path>,
}

/// The client's certificate and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFiles {
    /// The certificate; those that link it to an authority may follow it.
    pub certificate: PathBuf,
    /// Its key, without a password.
    pub key: PathBuf,
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
    /// `sslcert` and `sslkey`.
    pub client: Option<ClientFiles>,
    /// Whether the URL has `target_session_attrs`.
    is_target_chosen: bool,
}

impl Address {
    /// Parses a URL. Files that it names take precedence over `files`.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn parse(url: &str, files: TlsFiles<'_>) -> Result<Address, AddressError> {
        let Own { rest, mode, root, certificate, key, target } = own(url)?;
        let mut config: Config = rest.parse()?;
        if let Some(target) = target {
            config.target_session_attrs(target);
        }
        let mode = mode.unwrap_or(match config.get_ssl_mode() {
            SslMode::Disable => TlsMode::Disable,
            SslMode::Require => TlsMode::Require,
            _ => TlsMode::Prefer,
        });
        if config.get_ssl_negotiation() != SslNegotiation::Postgres {
            return Err(AddressError::Parameter("sslnegotiation must be postgres".to_string()));
        }
        if root.as_deref() == Some("system") && mode != TlsMode::VerifyFull {
            let text = format!("sslrootcert=system needs sslmode=verify-full, not {mode}");
            return Err(AddressError::Parameter(text));
        }
        let ca_file = match root.as_deref() {
            Some("system") => None,
            Some(path) => Some(PathBuf::from(path)),
            None => files.ca.map(Path::to_path_buf),
        };
        let client = client_files(certificate, key, files)?;
        // A certificate may name an address as well as a host.
        if config.get_hosts().is_empty() {
            for address in config.get_hostaddrs().to_vec() {
                config.host(address.to_string());
            }
        }
        Ok(Address { config, mode, ca_file, client, is_target_chosen: target.is_some() })
    }

    /// Of several hosts takes the one that may be written, unless the URL chooses.
    pub(super) fn prefer_primary(&mut self) {
        if !self.is_target_chosen && self.config.get_hosts().len() > 1 {
            self.config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
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

/// The client's certificate with its key: those of the URL, else those of the configuration.
fn client_files(
    certificate: Option<String>,
    key: Option<String>,
    files: TlsFiles<'_>,
) -> Result<Option<ClientFiles>, AddressError> {
    let either =
        |own: Option<String>, other: Option<&Path>| own.map(PathBuf::from).or(other.map(Path::to_path_buf));
    match (either(certificate, files.certificate), either(key, files.key)) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => Ok(Some(ClientFiles { certificate, key })),
        (Some(_), None) => {
            let text = "a client certificate needs its key: sslkey, or database.tls_key_file";
            Err(AddressError::Parameter(text.to_string()))
        }
        (None, Some(_)) => {
            let text = "a client's key needs its certificate: sslcert, or database.tls_cert_file";
            Err(AddressError::Parameter(text.to_string()))
        }
    }
}

/// Parameters that are parsed here, and the URL without them.
#[derive(Default)]
struct Own {
    rest: String,
    mode: Option<TlsMode>,
    root: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
    target: Option<TargetSessionAttrs>,
}

fn own(url: &str) -> Result<Own, AddressError> {
    let is_url = url.starts_with("postgres://") || url.starts_with("postgresql://");
    // A password may contain a question mark; tokio-postgres, too, takes the first `@` as its end.
    let host_at = url.find('@').map_or(0, |at| at + 1);
    let Some(at) = url[host_at..].find('?').filter(|_| is_url) else {
        return Ok(Own { rest: url.to_string(), ..Own::default() });
    };
    let (address, query) = url.split_at(host_at + at);
    let (mut own, mut kept) = (Own::default(), Vec::new());
    let named = |value: &str| Ok::<_, AddressError>(Some(decoded(value)?).filter(|name| !name.is_empty()));
    for parameter in query[1..].split('&') {
        match parameter.split_once('=') {
            Some(("sslmode", value)) => own.mode = Some(tls_mode(&decoded(value)?)?),
            Some(("sslrootcert", value)) => own.root = named(value)?,
            Some(("sslcert", value)) => own.certificate = named(value)?,
            Some(("sslkey", value)) => own.key = named(value)?,
            Some(("target_session_attrs", value)) => own.target = Some(target(&decoded(value)?)?),
            _ => kept.push(parameter),
        }
    }
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    own.rest = format!("{address}{query}");
    Ok(own)
}

/// Which of several hosts is taken. A primary is a server that may be written.
fn target(name: &str) -> Result<TargetSessionAttrs, AddressError> {
    match name {
        "any" => Ok(TargetSessionAttrs::Any),
        "read-write" | "primary" => Ok(TargetSessionAttrs::ReadWrite),
        "read-only" => Ok(TargetSessionAttrs::ReadOnly),
        "standby" => Err(AddressError::Parameter(
            "target_session_attrs=standby is not known; read-only takes a server that may only be read"
                .to_string(),
        )),
        "prefer-standby" => Err(AddressError::Parameter(
            "target_session_attrs=prefer-standby is not known; name the standby first and use any"
                .to_string(),
        )),
        other => Err(AddressError::Parameter(format!(
            "target_session_attrs must be one of any, read-write, primary, read-only, not {other:?}"
        ))),
    }
}

fn tls_mode(name: &str) -> Result<TlsMode, AddressError> {
    MODES.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode).ok_or_else(|| {
        let known = MODES.map(|(known, _)| known).join(", ");
        AddressError::Parameter(format!("sslmode must be one of {known}, not {name:?}"))
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
        Address::parse(&format!("postgres://me:a?b@db.example:5433/site{query}"), TlsFiles::default())
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
        let words = Address::parse("host=db user=me sslmode=disable", TlsFiles::default()).unwrap();
        assert_eq!(words.mode, TlsMode::Disable);
    }

    #[test]
    fn the_url_names_the_authority_before_the_configuration() {
        let own = Some(Path::new("/etc/own.pem"));
        let files = TlsFiles { ca: own, ..TlsFiles::default() };
        let url = "postgres://db/site?sslmode=verify-full";
        assert_eq!(Address::parse(url, files).unwrap().ca_file.as_deref(), own);
        let with = |root: &str| Address::parse(&format!("{url}&sslrootcert={root}"), files).unwrap().ca_file;
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
                let url = format!("postgres://me@{here}/site?sslmode={name}");
                let address = Address::parse(&url, TlsFiles::default());
                assert_eq!(address.unwrap().warning(), None);
            }
        }
    }

    #[test]
    fn a_client_certificate_comes_with_its_key() {
        let own =
            |certificate: &str, key: &str| ClientFiles { certificate: certificate.into(), key: key.into() };
        let files = TlsFiles {
            certificate: Some(Path::new("/c")),
            key: Some(Path::new("/k")),
            ..TlsFiles::default()
        };
        let with = |query: &str| Address::parse(&format!("postgres://db/site{query}"), files).unwrap().client;
        assert_eq!(with(""), Some(own("/c", "/k")));
        assert_eq!(with("?sslcert=/a%20b&sslkey=/d"), Some(own("/a b", "/d")));
        assert_eq!(parse("").unwrap().client, None);
        for (query, lacks) in
            [("?sslcert=/c", "database.tls_key_file"), ("?sslkey=/k", "database.tls_cert_file")]
        {
            let error = parse(query).unwrap_err().to_string();
            assert!(error.contains(lacks), "{error}");
        }
    }

    #[test]
    fn several_hosts_mean_the_one_that_may_be_written() {
        let chosen = |hosts: &str, query: &str| {
            let url = format!("postgres://me@{hosts}/site{query}");
            let mut address = Address::parse(&url, TlsFiles::default()).unwrap();
            address.prefer_primary();
            address.config.get_target_session_attrs()
        };
        assert_eq!(chosen("a", ""), TargetSessionAttrs::Any);
        assert_eq!(chosen("a,b", ""), TargetSessionAttrs::ReadWrite);
        assert_eq!(chosen("a:1,b:2", "?target_session_attrs=any"), TargetSessionAttrs::Any);
        assert_eq!(chosen("a", "?target_session_attrs=primary"), TargetSessionAttrs::ReadWrite);
        assert_eq!(chosen("a,b", "?target_session_attrs=read-only"), TargetSessionAttrs::ReadOnly);
        for (name, instead) in [("standby", "read-only"), ("prefer-standby", "use any"), ("x", "primary")] {
            let error = parse(&format!("?target_session_attrs={name}")).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(instead), "{error}");
        }
    }
}
