//! Tokens, and the sessions that browsers make with them: a browser cannot send a token with each request.

use axum::http::header::{AUTHORIZATION, COOKIE, HOST};
use axum::http::{HeaderMap, HeaderValue};
use schemas::secret::Redacted;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use tokio::sync::watch;

/// Length of a session.
pub const SESSION_LENGTH: Duration = Duration::from_secs(12 * 3600);
/// Sessions at once; a further one replaces the oldest.
const SESSIONS_MAX: usize = 256;
/// Random bytes of a session's id.
const ID_BYTES: usize = 32;
/// Wrong tokens that the form takes at once.
const FAILURES_MAX: f64 = 10.0;
/// Time after which it takes one more.
const FAILURE_PAUSE: Duration = Duration::from_secs(3);

/// What the holder of a token may do; each right includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// Read everything.
    Read,
    /// Change state: set and end silences.
    Change,
}

/// Why a token makes no session.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// This server has no token.
    #[error(
        "this server has no token to log in with: set http.token_file of tailback run, or start tailback serve or demo \
         with --token-file or --silence-token-file"
    )]
    NoToken,
    /// Another token.
    #[error("wrong token")]
    Wrong,
    /// Many wrong tokens.
    #[error("too many wrong tokens: try again in {} s", FAILURE_PAUSE.as_secs())]
    TooMany,
    /// The operating system has no random numbers.
    #[error("the session has no id: {0}")]
    Random(String),
}

struct Session {
    right: Right,
    ends: Instant,
    /// Dropped with the session: what waits for its end is released.
    life: watch::Sender<()>,
}

impl Session {
    fn new(right: Right, ends: Instant) -> Session {
        Session { right, ends, life: watch::Sender::new(()) }
    }
}

/// The end of a session, for an answer that may last longer.
#[derive(Clone)]
pub struct SessionEnd {
    at: Instant,
    life: watch::Receiver<()>,
}

impl SessionEnd {
    /// Waits until the session is over: by its length, by a log-out, or because another one replaced it.
    pub async fn wait(&mut self) {
        // Nothing is sent: an answer means that the sender is gone.
        let _ = tokio::time::timeout_at(self.at.into(), self.life.changed()).await;
    }
}

/// Wrong tokens of late; one is forgotten every [`FAILURE_PAUSE`].
struct Failures {
    count: f64,
    since: Instant,
}

/// The tokens of a server and its sessions.
pub struct Login {
    tokens: Vec<(Redacted, Right)>,
    sessions: Mutex<HashMap<String, Session>>,
    failures: Mutex<Failures>,
}

impl Login {
    /// A server with these tokens and no session.
    pub fn new(tokens: Vec<(Redacted, Right)>) -> Login {
        let failures = Mutex::new(Failures { count: 0.0, since: Instant::now() });
        Login { tokens, sessions: Mutex::default(), failures }
    }

    /// The highest right that a token of this server gives.
    pub fn highest_right(&self) -> Option<Right> {
        self.tokens.iter().map(|(_, right)| *right).max()
    }

    /// The right of a request: that of its token or of its session.
    pub fn right_of(&self, headers: &HeaderMap) -> Option<Right> {
        let token = bearer(headers).and_then(|given| self.right_of_token(given));
        token.max(self.session_of(headers).map(|(right, _)| right))
    }

    /// The end of a session that a request has its right from; `None` where its token gives it.
    pub fn end_of(&self, headers: &HeaderMap, needed: Right) -> Option<SessionEnd> {
        let by_token = bearer(headers).and_then(|given| self.right_of_token(given));
        if by_token.is_some_and(|right| right >= needed) {
            return None;
        }
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.get(cookie(headers)?)?;
        Some(SessionEnd { at: session.ends, life: session.life.subscribe() })
    }

    /// The right of the session of a request, and the time that is left.
    pub fn session_of(&self, headers: &HeaderMap) -> Option<(Right, Duration)> {
        let id = cookie(headers)?;
        let now = Instant::now();
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.get(id).filter(|session| session.ends > now)?;
        Some((session.right, session.ends - now))
    }

    /// Makes a session; returns its id.
    ///
    /// # Errors
    /// [`LoginError`].
    pub fn start(&self, token: &str) -> Result<String, LoginError> {
        if self.tokens.is_empty() {
            return Err(LoginError::NoToken);
        }
        self.check_failures()?;
        let Some(right) = self.right_of_token(token) else {
            self.failures.lock().unwrap_or_else(PoisonError::into_inner).count += 1.0;
            return Err(LoginError::Wrong);
        };
        let id = random_id()?;
        self.keep(id.clone(), Session::new(right, Instant::now() + SESSION_LENGTH));
        Ok(id)
    }

    /// Ends the session of a request.
    pub fn end(&self, headers: &HeaderMap) {
        if let Some(id) = cookie(headers) {
            self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        }
    }

    fn right_of_token(&self, given: &str) -> Option<Right> {
        let rights = self.tokens.iter().filter(|(token, _)| is_same(given, token.reveal()));
        rights.map(|(_, right)| *right).max()
    }

    fn check_failures(&self) -> Result<(), LoginError> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let forgotten = failures.since.elapsed().as_secs_f64() / FAILURE_PAUSE.as_secs_f64();
        *failures = Failures { count: (failures.count - forgotten).max(0.0), since: Instant::now() };
        if failures.count > FAILURES_MAX - 1.0 { Err(LoginError::TooMany) } else { Ok(()) }
    }

    fn keep(&self, id: String, session: Session) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        sessions.retain(|_, session| session.ends > now);
        if sessions.len() >= SESSIONS_MAX {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.ends).map(|(id, _)| id.clone());
            oldest.and_then(|id| sessions.remove(&id));
        }
        sessions.insert(id, session);
    }
}

/// The token in the header of a request.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Compares in a time that does not depend on how much was right.
pub fn is_same(given: &str, token: &str) -> bool {
    given.as_bytes().ct_eq(token.as_bytes()).into()
}

/// The name of the cookie. Browsers share cookies between the ports of a host, so it contains the port.
pub fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').map(|(_, port)| port);
    let port = port.filter(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    port.map_or("tailback_session".to_string(), |port| format!("tailback_session_{port}"))
}

/// The id of the session of a request.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let name = cookie_name(headers);
    let lines = headers.get_all(COOKIE).iter().filter_map(|line: &HeaderValue| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(given, _)| *given == name).map(|(_, id)| id)
}

fn random_id() -> Result<String, LoginError> {
    let mut bytes = [0_u8; ID_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| LoginError::Random(error.to_string()))?;
    Ok(bytes.iter().fold(String::new(), |mut id, byte| {
        // Writing to a String cannot fail.
        let _ = write!(id, "{byte:02x}");
        id
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const TOKEN: &str = "0123456789abcdef";

    fn login(right: Right) -> Login {
        Login::new(vec![(Redacted::new(TOKEN.into()), right)])
    }

    fn with(id: &str) -> HeaderMap {
        let cookie = format!("other=1; tailback_session_9464={id}");
        HeaderMap::from_iter([
            (HOST, HeaderValue::from_static("localhost:9464")),
            (COOKIE, HeaderValue::from_str(&cookie).unwrap()),
        ])
    }

    #[test]
    fn a_session_has_the_right_of_its_token_until_it_ends() {
        let login = login(Right::Read);
        let id = login.start(TOKEN).unwrap();
        assert_eq!(id.len(), 2 * ID_BYTES);
        assert_eq!(login.right_of(&with(&id)), Some(Right::Read));
        let mut elsewhere = with(&id);
        elsewhere.insert(HOST, HeaderValue::from_static("localhost:8642"));
        assert_eq!(login.right_of(&elsewhere), None);
        login.end(&with(&id));
        assert_eq!(login.right_of(&with(&id)), None);
        login.keep("expired".into(), Session::new(Right::Change, Instant::now()));
        assert_eq!(login.right_of(&with("expired")), None);
    }

    #[tokio::test]
    async fn what_reads_by_a_session_sees_its_end() {
        let login = login(Right::Read);
        let id = login.start(TOKEN).unwrap();
        let mut end = login.end_of(&with(&id), Right::Read).unwrap();
        assert!(end.wait().now_or_never().is_none());
        login.end(&with(&id));
        end.wait().await;
        login.keep("expired".into(), Session::new(Right::Read, Instant::now()));
        login.end_of(&with("expired"), Right::Read).unwrap().wait().await;
        let mut with_token = with(&login.start(TOKEN).unwrap());
        with_token.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {TOKEN}")).unwrap());
        assert!(login.end_of(&with_token, Right::Read).is_none());
    }

    #[test]
    fn sessions_are_limited_in_number() {
        let login = login(Right::Change);
        let first = login.start(TOKEN).unwrap();
        let last: Vec<_> = (0..SESSIONS_MAX).map(|_| login.start(TOKEN).unwrap()).collect();
        assert_eq!(login.right_of(&with(&first)), None);
        assert!(last.iter().all(|id| login.right_of(&with(id)) == Some(Right::Change)));
        assert_eq!(login.sessions.lock().unwrap().len(), SESSIONS_MAX);
    }

    #[test]
    fn wrong_tokens_are_limited_and_sessions_continue() {
        let login = login(Right::Read);
        let id = login.start(TOKEN).unwrap();
        for _ in 0..FAILURES_MAX as usize {
            assert_eq!(login.start("0123456789abcdeg"), Err(LoginError::Wrong));
        }
        assert_eq!(login.start(TOKEN), Err(LoginError::TooMany));
        assert_eq!(login.right_of(&with(&id)), Some(Right::Read));
        login.failures.lock().unwrap().since -= 2 * FAILURE_PAUSE;
        assert!(login.start(TOKEN).is_ok());
        assert_eq!(Login::new(Vec::new()).start(""), Err(LoginError::NoToken));
    }
}
