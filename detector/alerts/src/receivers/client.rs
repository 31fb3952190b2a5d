//! The client of one receiver: time limit, authorities, its own certificate, a proxy; no redirects.

use super::receiver::Receiver;
use reqwest::{Certificate, Client, ClientBuilder, Identity, Proxy, redirect};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::private_key::pkcs8;

/// Why there is no client for a receiver.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// A file cannot be read.
    #[error("{0} {file} cannot be read: {2}", file = .1.display())]
    Unreadable(&'static str, PathBuf, #[source] io::Error),
    /// That file is another one by mistake.
    #[error("ca_file {file} holds no certificates", file = .0.display())]
    NoCertificates(PathBuf, #[source] reqwest::Error),
    /// The key has a passphrase, or there is none.
    #[error(
        "key_file {file} holds no private key (PEM) without a passphrase; run `openssl pkcs8 -topk8 -nocrypt -in {file} -out NEW`",
        file = .0.display()
    )]
    OtherKey(PathBuf),
    /// Certificate and key do not make an identity.
    #[error("cert_file {certificate} and key_file {key} cannot be used: {2}", certificate = .0.display(), key = .1.display())]
    NoIdentity(PathBuf, PathBuf, String),
    /// The library refuses.
    #[error("requests to {0} cannot be made: {1}")]
    Refused(String, #[source] reqwest::Error),
}

/// A client for one receiver.
///
/// # Errors
/// A file that cannot be read or is another one by mistake.
pub fn client(receiver: &Receiver) -> Result<Client, ClientError> {
    let refused = |error| ClientError::Refused(receiver.name.clone(), error);
    let mut client = Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .timeout(Duration::from_secs_f64(receiver.timeout_s))
        .user_agent(concat!("tailback/", env!("CARGO_PKG_VERSION")));
    if !receiver.proxy.is_empty() {
        client = client.proxy(Proxy::all(&receiver.proxy).map_err(refused)?);
    }
    if !receiver.ca_file.as_os_str().is_empty() {
        client = trusting(client, &receiver.ca_file)?;
    }
    if !receiver.cert_file.as_os_str().is_empty() {
        client = client.identity(identity(&receiver.cert_file, &receiver.key_file)?);
    }
    client.build().map_err(refused)
}

fn read(key: &'static str, file: &Path) -> Result<Vec<u8>, ClientError> {
    std::fs::read(file).map_err(|error| ClientError::Unreadable(key, file.to_path_buf(), error))
}

fn trusting(mut client: ClientBuilder, ca_file: &Path) -> Result<ClientBuilder, ClientError> {
    let pem = read("ca_file", ca_file)?;
    let none = |error| ClientError::NoCertificates(ca_file.to_path_buf(), error);
    for certificate in Certificate::from_pem_bundle(&pem).map_err(none)? {
        client = client.add_root_certificate(certificate);
    }
    Ok(client)
}

fn identity(cert_file: &Path, key_file: &Path) -> Result<Identity, ClientError> {
    let (certificate, key) = (read("cert_file", cert_file)?, read("key_file", key_file)?);
    let key = pkcs8(&key).ok_or_else(|| ClientError::OtherKey(key_file.to_path_buf()))?;
    Identity::from_pkcs8_pem(&certificate, &key).map_err(|error| {
        let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        ClientError::NoIdentity(cert_file.to_path_buf(), key_file.to_path_buf(), cause)
    })
}
