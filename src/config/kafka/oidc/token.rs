//! A token, out of the answer of a token endpoint.

use super::settings::TokenSettings;
use alerts::receivers::no_answer;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Certificate, Client, Response, StatusCode, redirect};
use schemas::secret::{HIDDEN, Redacted};
use serde::Deserialize;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time for which an endpoint may take to answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Most bytes of an answer.
const ANSWER_MAX: usize = 1 << 20;
/// Most characters of an endpoint's own words in an error.
const SAID_MAX: usize = 200;

/// A token, and when it ends.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) value: Redacted,
    pub(super) expires: SystemTime,
}

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be used.
    #[error("https.ca.location {file} cannot be used: {1}", file = .0.display())]
    Authorities(PathBuf, String),
    /// There is no answer.
    #[error("the token endpoint {endpoint} gives no token: {why}; {remedy}")]
    Unreachable {
        /// Its URL.
        endpoint: String,
        /// What failed.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// An answer without a token.
    #[error("the token endpoint {endpoint} answers {status}: {said}; {remedy}")]
    Refused {
        /// Its URL.
        endpoint: String,
        /// The HTTP status.
        status: StatusCode,
        /// The endpoint's own words.
        said: String,
        /// What to do.
        remedy: &'static str,
    },
}

impl TokenError {
    /// Whether another try may help without a correction here.
    pub fn is_retryable(&self) -> bool {
        match self {
            TokenError::Authorities(..) => false,
            TokenError::Unreachable { .. } => true,
            TokenError::Refused { status, .. } => {
                status.is_server_error()
                    || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(status)
            }
        }
    }
}

/// What an endpoint answers: a token, or an error (RFC 6749, sections 5.1 and 5.2).
#[derive(Default, Deserialize)]
struct Answer {
    access_token: Option<String>,
    expires_in: Option<f64>,
    error: Option<String>,
    error_description: Option<String>,
}

/// Requests a token with the client's credentials.
pub(super) async fn request(settings: &TokenSettings) -> Result<Token, TokenError> {
    let unreachable = |error: reqwest::Error| {
        let why = no_answer(&error);
        TokenError::Unreachable { endpoint: settings.endpoint.to_string(), remedy: remedy_of(&why), why }
    };
    let mut form = vec![("grant_type", "client_credentials")];
    form.extend(settings.scope.iter().map(|scope| ("scope", scope.as_str())));
    let body: String = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    let request = client(settings, unreachable)?
        .post(settings.endpoint.clone())
        .basic_auth(&settings.client_id, Some(settings.secret.reveal()))
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(ACCEPT, "application/json")
        .body(body);
    let mut response = request.send().await.map_err(unreachable)?;
    let body = body_of(&mut response).await.map_err(unreachable)?;
    token_of(settings, response.status(), &body, SystemTime::now())
}

/// Proxies are those of the environment (`HTTPS_PROXY`, `NO_PROXY`), as libcurl takes them.
fn client(
    settings: &TokenSettings,
    unreachable: impl Fn(reqwest::Error) -> TokenError,
) -> Result<Client, TokenError> {
    let mut client = Client::builder()
        .redirect(redirect::Policy::none())
        .timeout(REQUEST_TIMEOUT)
        .user_agent(concat!("tailback/", env!("CARGO_PKG_VERSION")));
    if let Some(file) = &settings.authorities {
        let unusable = |reason: String| TokenError::Authorities(file.clone(), reason);
        let pem = std::fs::read(file).map_err(|error| unusable(error.to_string()))?;
        let found = Certificate::from_pem_bundle(&pem).map_err(|error| unusable(error.to_string()))?;
        if found.is_empty() {
            return Err(unusable("it holds no certificates".to_string()));
        }
        for certificate in found {
            client = client.add_root_certificate(certificate);
        }
    }
    client.build().map_err(unreachable)
}

async fn body_of(response: &mut Response) -> reqwest::Result<Vec<u8>> {
    let mut body = Vec::new();
    while body.len() < ANSWER_MAX {
        let Some(chunk) = response.chunk().await? else { break };
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn remedy_of(why: &str) -> &'static str {
    match why {
        _ if why.contains("hostname mismatch") || why.contains("IP address mismatch") => {
            "name the host in sasl.oauthbearer.token.endpoint.url as its certificate does"
        }
        _ if why.contains("certificate is not accepted") => {
            "set https.ca.location in [kafka.librdkafka] to the authority of its certificate"
        }
        _ => "start it, or correct sasl.oauthbearer.token.endpoint.url in [kafka.librdkafka]",
    }
}

fn token_of(
    settings: &TokenSettings,
    status: StatusCode,
    body: &[u8],
    now: SystemTime,
) -> Result<Token, TokenError> {
    let refused = |said: &str, remedy| TokenError::Refused {
        endpoint: settings.endpoint.to_string(),
        status,
        // An endpoint may repeat what it was sent.
        said: printable(&said.replace(settings.secret.reveal(), HIDDEN)),
        remedy,
    };
    let answer: Answer = serde_json::from_slice(body).unwrap_or_default();
    if !status.is_success() {
        let said = [answer.error.unwrap_or_default(), answer.error_description.unwrap_or_default()];
        let said = match said.iter().all(String::is_empty) {
            true => "no reason given".to_string(),
            false => said.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", "),
        };
        return Err(refused(&said, remedy_of_status(status, &said)));
    }
    const NO_ENDPOINT: &str = "correct sasl.oauthbearer.token.endpoint.url in [kafka.librdkafka]";
    let Some(value) = answer.access_token.filter(|token| token.bytes().all(|b| b.is_ascii_graphic())) else {
        return Err(refused("no access_token", NO_ENDPOINT));
    };
    let from_now = answer.expires_in.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let expires = from_now.and_then(|lifetime| now.checked_add(lifetime)).or_else(|| expiry_of(&value));
    match expires {
        Some(expires) if expires > now => Ok(Token { value: Redacted::new(value), expires }),
        Some(_) => Err(refused("a token that has expired", "correct a clock, here or there")),
        None => Err(refused("neither expires_in nor a JWT with exp", NO_ENDPOINT)),
    }
}

fn remedy_of_status(status: StatusCode, said: &str) -> &'static str {
    match status {
        _ if said.contains("invalid_scope") => "correct sasl.oauthbearer.scope in [kafka.librdkafka]",
        StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "correct sasl.oauthbearer.client.id in [kafka.librdkafka] and kafka.sasl_oauthbearer_client_secret_file"
        }
        _ if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => "see its log",
        _ => "correct sasl.oauthbearer.token.endpoint.url in [kafka.librdkafka]",
    }
}

/// `exp` of a JWT.
fn expiry_of(token: &str) -> Option<SystemTime> {
    #[derive(Deserialize)]
    struct Claims {
        exp: f64,
    }
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Claims = serde_json::from_slice(&payload).ok()?;
    UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(claims.exp).ok()?)
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SAID_MAX).collect()
}

#[cfg(test)]
mod tests;
