//! The thread that keeps a token fresh. Clients with the same settings share it.

use super::registration::{Handle, Registration};
use super::settings::TokenSettings;
use super::token::{self, Token, TokenError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Sources of this process: one, unless its configuration has several sets of credentials.
static SOURCES: Mutex<Vec<Arc<Source>>> = Mutex::new(Vec::new());
/// Who reports what became of requests.
static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Takes the outcome of a request for a token.
pub type Observer = fn(Result<(), &TokenError>);

/// Wait after a first failure; it doubles up to [`RETRY_MAX`].
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Longest wait after a failure.
const RETRY_MAX: Duration = Duration::from_secs(30);
/// Shortest time between two requests.
const RENEW_LEAST: Duration = Duration::from_secs(1);
/// A token is renewed after this part of its time, as librdkafka does.
const RENEW_AFTER: f64 = 0.8;

/// Gives every outcome of later requests to `observer`; the first one stays.
pub fn observe(observer: Observer) {
    let _ = OBSERVER.set(observer);
}

/// A token endpoint with the credentials for it, and the clients that use its token.
#[derive(Debug)]
pub struct Source {
    settings: TokenSettings,
    state: Mutex<State>,
    answered: Condvar,
}

#[derive(Debug, Default)]
struct State {
    token: Option<Token>,
    /// Why the latest request failed.
    error: Option<TokenError>,
    clients: Vec<Handle>,
}

impl State {
    fn valid_token(&self) -> Option<&Token> {
        self.token.as_ref().filter(|token| token.expires > SystemTime::now())
    }
}

impl Source {
    /// The source with these settings; its thread begins with the first call.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn of(settings: TokenSettings) -> std::io::Result<Arc<Source>> {
        let mut sources = SOURCES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = sources.iter().find(|source| source.settings == settings) {
            return Ok(Arc::clone(known));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let source = Arc::new(Source { settings, state: Mutex::default(), answered: Condvar::new() });
        let renewed = Arc::clone(&source);
        let renew = move || renewed.renew_always(&runtime);
        std::thread::Builder::new().name("kafka token".to_string()).spawn(renew)?;
        sources.push(Arc::clone(&source));
        Ok(source)
    }

    /// Gives the token to a client, now and whenever it is renewed, until the registration is dropped.
    pub(super) fn add(self: &Arc<Source>, client: Handle) -> Registration {
        let mut state = self.state();
        if let Some(token) = state.valid_token() {
            self.give(token, &client);
        }
        if let Some(error) = &state.error {
            client.fail(&error.to_string());
        }
        state.clients.push(client.clone());
        Registration::new(Arc::clone(self), client)
    }

    /// After its end the client is not touched.
    pub(super) fn remove(&self, client: &Handle) {
        self.state().clients.retain(|known| known != client);
    }

    /// Waits for the outcome of the first request. A timeout is no error: the brokers' answer will show it.
    ///
    /// # Errors
    /// Why there is no token.
    pub fn wait(&self, timeout: Duration) -> Result<(), TokenError> {
        let is_open = |state: &mut State| state.token.is_none() && state.error.is_none();
        let waited = self.answered.wait_timeout_while(self.state(), timeout, is_open);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        match (state.valid_token(), &state.error) {
            (None, Some(error)) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn renew_always(&self, runtime: &tokio::runtime::Runtime) {
        let mut delay = RETRY_DELAY;
        loop {
            let begun = Instant::now();
            let answer = runtime.block_on(token::request(&self.settings));
            let wait = match &answer {
                Ok(token) => {
                    delay = RETRY_DELAY;
                    let left = token.expires.duration_since(SystemTime::now()).unwrap_or_default();
                    left.mul_f64(RENEW_AFTER).max(RENEW_LEAST)
                }
                Err(_) => {
                    let longer = (delay * 2).min(RETRY_MAX);
                    std::mem::replace(&mut delay, longer)
                }
            };
            self.use_answer(answer);
            std::thread::sleep(wait.saturating_sub(begun.elapsed()).max(RENEW_LEAST));
        }
    }

    fn use_answer(&self, answer: Result<Token, TokenError>) {
        if let Some(observer) = OBSERVER.get() {
            observer(answer.as_ref().map(|_| ()));
        }
        let mut state = self.state();
        match answer {
            Ok(token) => {
                state.clients.iter().for_each(|client| self.give(&token, client));
                (state.token, state.error) = (Some(token), None);
            }
            Err(error) => {
                state.clients.iter().for_each(|client| client.fail(&error.to_string()));
                state.error = Some(error);
            }
        }
        self.answered.notify_all();
    }

    fn give(&self, token: &Token, client: &Handle) {
        if let Err(error) = client.set_token(token, &self.settings) {
            tracing::warn!(error, "a Kafka client does not take its token");
        }
    }
}
