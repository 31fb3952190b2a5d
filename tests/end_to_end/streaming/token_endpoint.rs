//! A token endpoint (OAuth 2, client credentials) over TLS, whose tokens (JWT, RS256) the broker's listener `tokens` accepts.

use super::feed::since_epoch;
use crate::tls_server::{Request, acceptor, serve};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use openssl::hash::MessageDigest;
use openssl::pkey::{PKey, Private};
use openssl::sign::Signer;
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
        let file = |name: &str| services.dir.join("kafka/tls").join(name);
        let key = PKey::private_key_from_pem(&std::fs::read(file("token.key")).unwrap()).unwrap();
        let state =
            Arc::new(State { key, audience, issued: Mutex::default(), is_away: AtomicBool::new(false) });
        let serving = Arc::clone(&state);
        let acceptor = acceptor(&file("broker.crt"), &file("broker.key"), None);
        let address = serve(acceptor, move |request| serving.answer(request));
        TokenEndpoint { url: format!("https://{address}/token"), state }
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
    fn answer(&self, request: &Request) -> (&'static str, String) {
        let authorization = request.header("authorization");
        let credentials = format!("Basic {}", STANDARD.encode(format!("tailback:{SECRET}")));
        if self.is_away.load(Ordering::Relaxed) {
            ("503 Service Unavailable", String::new())
        } else if authorization != credentials {
            // As some do: the answer repeats what was sent.
            let sent = authorization.strip_prefix("Basic ").and_then(|sent| STANDARD.decode(sent).ok());
            let sent = String::from_utf8(sent.unwrap_or_default()).unwrap();
            let answer = format!(r#"{{"error":"invalid_client","error_description":"{sent} is unknown"}}"#);
            ("401 Unauthorized", answer)
        } else if !request.head.starts_with("POST /token ")
            || request.body != "grant_type=client_credentials&scope=kafka"
        {
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
