//! TLS with the server. The negotiation is done here, since what follows a refused TLS depends on it: a password does not go in
//! clear text over a connection that was meant to be encrypted.

use super::PgError;
use super::address::{Address, ClientFiles};
use super::cause::Cause;
use crate::private_key::pkcs8;
use native_tls::{Certificate, Identity};
use postgres_native_tls::{TlsConnector, TlsStream};
use std::error::Error;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{self, ChannelBinding, MakeTlsConnect, TlsConnect};

/// PostgreSQL's SSLRequest: length and code.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
/// Type, length and code of the first message about authentication.
const AUTHENTICATION_BYTES: usize = 9;
/// Code of AuthenticationCleartextPassword.
const CLEAR_TEXT_PASSWORD: [u8; 4] = [0, 0, 0, 3];

/// One way to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Clear text, without a request for TLS.
    Clear,
    /// TLS, or clear text where the server has none.
    TlsOrClear,
    /// TLS.
    Tls,
}

/// Why a connection was not used.
#[derive(Debug, thiserror::Error)]
pub(super) enum TlsError {
    #[error("the server offers no TLS, which sslmode demands")]
    NotOffered,
    #[error("the server demands the password in clear text over a connection without TLS; it was not sent")]
    ClearTextPassword,
    #[error("the server's certificate is refused: {0}")]
    Certificate(native_tls::Error),
}

impl TlsError {
    /// What to do about it.
    pub(super) fn cause(&self) -> Cause {
        match self {
            TlsError::NotOffered => Cause::NoTls,
            TlsError::ClearTextPassword => Cause::ClearTextPassword,
            TlsError::Certificate(_) => Cause::Certificate,
        }
    }

    /// Finds it among the causes of an error.
    pub(super) fn of(error: &tokio_postgres::Error) -> Option<&TlsError> {
        std::iter::successors(error.source(), |&cause| cause.source()).find_map(|cause| {
            let within = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            within.map_or(cause.downcast_ref(), |within| within.downcast_ref())
        })
    }
}

/// Verifies no certificate and shows none. OpenSSL reads all authorities of the system for each connector, which took a quarter
/// of the processor of an idle process.
static UNVERIFIED: OnceLock<native_tls::TlsConnector> = OnceLock::new();

/// Makes channels to servers.
#[derive(Clone)]
pub(super) struct Negotiator {
    connector: native_tls::TlsConnector,
    attempt: Attempt,
}

impl Negotiator {
    pub(super) fn new(address: &Address, attempt: Attempt) -> Result<Negotiator, PgError> {
        let is_plain = !address.is_verified() && address.ca_file.is_none() && address.client.is_none();
        if let Some(connector) = UNVERIFIED.get().filter(|_| is_plain) {
            return Ok(Negotiator { connector: connector.clone(), attempt });
        }
        let mut builder = native_tls::TlsConnector::builder();
        builder.danger_accept_invalid_certs(!address.is_verified());
        builder.danger_accept_invalid_hostnames(address.mode != super::TlsMode::VerifyFull);
        if let Some(path) = &address.ca_file {
            builder.disable_built_in_roots(true);
            for certificate in authorities(path).map_err(setting)? {
                builder.add_root_certificate(certificate);
            }
        }
        if let Some(files) = &address.client {
            builder.identity(identity(files).map_err(setting)?);
        }
        let connector = builder.build().map_err(|error| setting(format!("TLS cannot be set up: {error}")))?;
        if is_plain {
            // Another thread may have been first with its own.
            let _ = UNVERIFIED.set(connector.clone());
        }
        Ok(Negotiator { connector, attempt })
    }
}

fn setting(text: String) -> PgError {
    PgError::of(Cause::Setting, text)
}

/// The client's certificate, with those that link it to an authority, and its key.
///
/// # Errors
/// What is wrong with the files.
pub fn identity(files: &ClientFiles) -> Result<Identity, String> {
    let read = |path: &Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let (certificate, key) = (read(&files.certificate)?, read(&files.key)?);
    let file = files.key.display();
    let Some(key) = pkcs8(&key) else {
        return Err(match String::from_utf8_lossy(&key).contains("PRIVATE KEY-----") {
            true => format!(
                "{file}: the key must have no password; remove it: openssl pkcs8 -topk8 -nocrypt -in {file} -out NEW"
            ),
            false => format!("{file}: no private key (PEM) can be read"),
        });
    };
    let identity = Identity::from_pkcs8(&certificate, &key);
    // Whether they belong together is found when they are used.
    let usable = identity.and_then(|identity| {
        native_tls::TlsConnector::builder().identity(identity.clone()).build()?;
        Ok(identity)
    });
    usable.map_err(|error| {
        format!("{} and {file} are no certificate (PEM) and its key: {error}", files.certificate.display())
    })
}

/// Certificates of authorities in a PEM file.
///
/// # Errors
/// What is wrong with the file.
pub fn authorities(path: &Path) -> Result<Vec<Certificate>, String> {
    let refuse = |reason: &dyn std::fmt::Display| {
        format!("{}: no certificate of an authority (PEM) can be read: {reason}", path.display())
    };
    let pem = std::fs::read(path).map_err(|error| refuse(&error))?;
    let found = Certificate::stack_from_pem(&pem).map_err(|error| refuse(&error))?;
    if found.is_empty() { Err(refuse(&"the file has none")) } else { Ok(found) }
}

impl MakeTlsConnect<Socket> for Negotiator {
    type Stream = Channel;
    type TlsConnect = Negotiation;
    type Error = native_tls::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Negotiation, native_tls::Error> {
        let tls = TlsConnector::new(self.connector.clone(), host);
        Ok(Negotiation { tls, attempt: self.attempt })
    }
}

/// The negotiation with one server.
pub(super) struct Negotiation {
    tls: TlsConnector,
    attempt: Attempt,
}

impl TlsConnect<Socket> for Negotiation {
    type Stream = Channel;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Channel, Self::Error>> + Send>>;

    fn connect(self, mut socket: Socket) -> Self::Future {
        Box::pin(async move {
            if self.attempt == Attempt::Clear {
                return Ok(Channel::clear(socket));
            }
            socket.write_all(&TLS_REQUEST).await?;
            match (socket.read_u8().await?, self.attempt) {
                (b'S', _) => match self.tls.connect(socket).await {
                    Ok(stream) => Ok(Channel::Tls(Box::new(stream))),
                    Err(error) if is_about_certificate(&error) => Err(TlsError::Certificate(error).into()),
                    Err(error) => Err(error.into()),
                },
                (_, Attempt::Tls) => Err(TlsError::NotOffered.into()),
                _ => Ok(Channel::clear(socket)),
            }
        })
    }
}

/// Whether OpenSSL refuses the certificate; its error has no kind for it.
fn is_about_certificate(error: &native_tls::Error) -> bool {
    error.to_string().contains("certificate verify failed")
}

/// A connection, encrypted or not.
pub(super) enum Channel<S = Socket> {
    Tls(Box<TlsStream<S>>),
    /// With the first bytes that the server sent.
    Clear(S, Vec<u8>),
}

impl<S> Channel<S> {
    pub(super) fn clear(socket: S) -> Channel<S> {
        Channel::Clear(socket, Vec::with_capacity(AUTHENTICATION_BYTES))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> tls::TlsStream for Channel<S> {
    fn channel_binding(&self) -> ChannelBinding {
        match self {
            Channel::Tls(stream) => stream.channel_binding(),
            Channel::Clear(..) => ChannelBinding::none(),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Channel<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        match &mut *self {
            Channel::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
            Channel::Clear(socket, first) => {
                let read = Pin::new(socket).poll_read(context, buffer);
                let lacking = AUTHENTICATION_BYTES - first.len();
                first.extend(buffer.filled()[before..].iter().take(lacking));
                let demands = first.first() == Some(&b'R') && first.get(5..) == Some(&CLEAR_TEXT_PASSWORD);
                if demands { Poll::Ready(Err(io::Error::other(TlsError::ClearTextPassword))) } else { read }
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Channel<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Channel::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
            Channel::Clear(socket, _) => Pin::new(socket).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Channel::Tls(stream) => Pin::new(stream).poll_flush(context),
            Channel::Clear(socket, _) => Pin::new(socket).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Channel::Tls(stream) => Pin::new(stream).poll_shutdown(context),
            Channel::Clear(socket, _) => Pin::new(socket).poll_shutdown(context),
        }
    }
}
