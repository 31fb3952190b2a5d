//! A small HTTP server over TLS, which may demand certificates of its clients.

use openssl::ssl::{SslAcceptor, SslFiletype, SslMethod, SslStream, SslVerifyMode};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;

/// A request.
pub struct Request {
    /// Its first line and its headers.
    pub head: String,
    pub body: String,
}

impl Request {
    /// A header's text; empty without it.
    pub fn header(&self, name: &str) -> &str {
        header(&self.head, name)
    }
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

/// A server's certificate and key. It demands certificates of `authority` where that is given.
pub fn acceptor(certificate: &Path, key: &Path, authority: Option<&Path>) -> SslAcceptor {
    let mut acceptor = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls()).unwrap();
    acceptor.set_certificate_chain_file(certificate).unwrap();
    acceptor.set_private_key_file(key, SslFiletype::PEM).unwrap();
    if let Some(authority) = authority {
        acceptor.set_ca_file(authority).unwrap();
        acceptor.set_verify(SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT);
    }
    acceptor.build()
}

/// Serves on a free port of the loopback until the tests end. `answer` gives a status and JSON.
pub fn serve(
    acceptor: SslAcceptor,
    answer: impl Fn(&Request) -> (&'static str, String) + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // A client may break off, or refuse the certificate.
            let _ = accept(&acceptor, stream).and_then(|stream| one(stream, &answer));
        }
    });
    address
}

fn accept(acceptor: &SslAcceptor, stream: TcpStream) -> std::io::Result<SslStream<TcpStream>> {
    acceptor.accept(stream).map_err(std::io::Error::other)
}

fn one(
    stream: SslStream<TcpStream>,
    answer: &impl Fn(&Request) -> (&'static str, String),
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut head, mut line) = (String::new(), String::new());
    while stream.read_line(&mut line)? > 2 {
        head += &std::mem::take(&mut line);
    }
    let mut body = vec![0; header(&head, "content-length").parse().unwrap_or(0)];
    stream.read_exact(&mut body)?;
    let (status, text) = answer(&Request { head, body: String::from_utf8_lossy(&body).into_owned() });
    let length = text.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}");
    write!(stream.get_mut(), "{head}\r\nconnection: close\r\n\r\n{text}")?;
    stream.get_mut().shutdown().map(drop).map_err(std::io::Error::other)
}
