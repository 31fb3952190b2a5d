//! A token endpoint (OAuth 2, client credentials) over TLS, whose tokens (JWT, RS256) the broker's listener `tokens` accepts.

use super::feed::since_epoch;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use native_tls::{Identity, TlsAcceptor};
use openssl::hash::MessageDigest;
use openssl::pkey::{PKey, Private};
use openssl::sign::Signer;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use support::stack::Services;

/// Secret of its one client, `tailback`.
pub const SECRET: &str = "9f1c-the-clients-own";
/// Seconds for which its tokens are valid.
const LIFETIME_S: u64 = 12;

/// An endpoint with a thread of its own, until the tests end.
pub struct TokenEndpoint {
    /// Where it listens.
    pub url: String,
    state: Arc<State>,
}

struct State {
    key: PKey<Private>,
    audience: &'static str,
    issued: Mutex<Vec<String>>,
    is_away: AtomicBool,
}

impl TokenEndpoint {
    /// Its tokens are for `audience`.
    pub fn start(services: &Services, audience: &'static str) -> TokenEndpoint {
        let read = |name: &str| std::fs::read(services.dir.join("kafka/tls").join(name)).unwrap();
        let identity = Identity::from_pkcs8(&read("broker.crt"), &read("broker.key")).unwrap();
        let acceptor = TlsAcceptor::new(identity).unwrap();
        let key = PKey::private_key_from_pem(&read("token.key")).unwrap();
        let state =
            Arc::new(State { key, audience, issued: Mutex::default(), is_away: AtomicBool::new(false) });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/token", listener.local_addr().unwrap());
        let serving = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A client may break off.
                let _ = serving.serve(&acceptor, stream);
            }
        });
        TokenEndpoint { url, state }
    }

    /// Whether it answers 503 from now on.
    pub fn set_away(&self, is_away: bool) {
        self.state.is_away.store(is_away, Ordering::Relaxed);
    }

    /// All tokens that it gave.
    pub fn issued(&self) -> Vec<String> {
        self.state.issued.lock().unwrap().clone()
    }
}

impl State {
    fn serve(&self, acceptor: &TlsAcceptor, stream: TcpStream) -> std::io::Result<()> {
        let mut stream = BufReader::new(acceptor.accept(stream).map_err(std::io::Error::other)?);
        let (mut head, mut line) = (String::new(), String::new());
        while stream.read_line(&mut line)? > 2 {
            head += &std::mem::take(&mut line);
        }
        let header = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
        };
        let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
        stream.read_exact(&mut body)?;
        let (status, answer) = self.answer(&head, header("authorization"), &String::from_utf8_lossy(&body));
        let length = answer.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}");
        write!(stream.get_mut(), "{head}\r\nconnection: close\r\n\r\n{answer}")?;
        stream.get_mut().shutdown()
    }

    fn answer(&self, head: &str, authorization: &str, body: &str) -> (&'static str, String) {
        let credentials = format!("Basic {}", STANDARD.encode(format!("tailback:{SECRET}")));
        if self.is_away.load(Ordering::Relaxed) {
            ("503 Service Unavailable", String::new())
        } else if authorization != credentials {
            // As some do: the answer repeats what was sent.
            let sent = authorization.strip_prefix("Basic ").and_then(|sent| STANDARD.decode(sent).ok());
            let sent = String::from_utf8(sent.unwrap_or_default()).unwrap();
            let answer = format!(r#"{{"error":"invalid_client","error_description":"{sent} is unknown"}}"#);
            ("401 Unauthorized", answer)
        } else if !head.starts_with("POST /token ") || body != "grant_type=client_credentials&scope=kafka" {
            ("400 Bad Request", r#"{"error":"invalid_request"}"#.to_string())
        } else {
            let token = self.token();
            self.issued.lock().unwrap().push(token.clone());
            (
                "200 OK",
                format!(r#"{{"access_token":"{token}","expires_in":{LIFETIME_S},"token_type":"Bearer"}}"#),
            )
        }
    }

    fn token(&self) -> String {
        let (now, audience) = (since_epoch().as_secs(), self.audience);
        let claims = format!(
            r#"{{"iss":"https://login.tests","sub":"tailback","aud":"{audience}","iat":{now},"exp":{}}}"#,
            now + LIFETIME_S
        );
        let head = r#"{"alg":"RS256","typ":"JWT","kid":"tests"}"#;
        let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(head), URL_SAFE_NO_PAD.encode(claims));
        let mut signer = Signer::new(MessageDigest::sha256(), &self.key).unwrap();
        let signature = signer.sign_oneshot_to_vec(text.as_bytes()).unwrap();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}
