//! Requests to receivers: to the configured address and to no other, within a time limit.

use super::receiver::Receiver;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Certificate, Client, RequestBuilder, StatusCode, redirect};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Bytes of a receiver's error text that are kept.
const SAID_BYTES: usize = 200;

/// Why a notice was not taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// One sentence.
    pub why: String,
    /// Seconds for which the receiver wants to be left alone.
    pub pause_s: Option<f64>,
    /// Whether the same notice will never be taken.
    pub hopeless: bool,
}

impl Refusal {
    /// One after which another try may help.
    pub fn passing(why: impl Into<String>) -> Refusal {
        Refusal { why: why.into(), pause_s: None, hopeless: false }
    }
}

/// Why there is no client for a receiver.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The file of its CA cannot be read.
    #[error("ca_file {file} cannot be read", file = .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// That file is another one by mistake.
    #[error("ca_file {file} holds no certificates", file = .0.display())]
    NoCertificates(PathBuf, #[source] reqwest::Error),
    /// The library refuses.
    #[error("requests to {0} cannot be made")]
    Refused(String, #[source] reqwest::Error),
}

/// A client for one receiver.
///
/// # Errors
/// A CA file that cannot be read.
pub fn client(receiver: &Receiver) -> Result<Client, ClientError> {
    let mut client = Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .timeout(Duration::from_secs_f64(receiver.timeout_s))
        .user_agent(concat!("tailback/", env!("CARGO_PKG_VERSION")));
    if !receiver.ca_file.as_os_str().is_empty() {
        let file = || receiver.ca_file.clone();
        let pem = std::fs::read(&receiver.ca_file).map_err(|error| ClientError::Unreadable(file(), error))?;
        let certificates = Certificate::from_pem_bundle(&pem);
        for certificate in certificates.map_err(|error| ClientError::NoCertificates(file(), error))? {
            client = client.add_root_certificate(certificate);
        }
    }
    client.build().map_err(|error| ClientError::Refused(receiver.name.clone(), error))
}

/// Sends; what does not end with a status of success was not taken.
///
/// # Errors
/// [`Refusal`].
pub async fn send(request: RequestBuilder, token: Option<&str>, now_s: f64) -> Result<(), Refusal> {
    let request = match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    let mut response = request.send().await.map_err(|error| Refusal::passing(cause(&error)))?;
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    if status.is_redirection() {
        return Err(Refusal::passing(format!("it redirects elsewhere ({status}), which is not followed")));
    }
    let pause_s = pause_s(response.headers(), now_s);
    let chunk = response.chunk().await.ok().flatten().unwrap_or_default();
    let said = String::from_utf8_lossy(&chunk[..chunk.len().min(SAID_BYTES)]).into_owned();
    let said: String = said.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let hopeless = matches!(
        status,
        StatusCode::BAD_REQUEST
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
            | StatusCode::UNPROCESSABLE_ENTITY
    );
    Err(Refusal { why: format!("it answers {status}: {}", said.trim()), pause_s, hopeless })
}

/// `Retry-After`, in seconds or as a date.
fn pause_s(headers: &HeaderMap, now_s: f64) -> Option<f64> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(f64::from(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    let date_s = date.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs_f64();
    Some((date_s - now_s).max(0.0))
}

/// The innermost causes say most; the address is known.
fn cause(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "it does not answer in time".to_string();
    }
    let mut text = String::new();
    let mut next: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = next {
        text = error.to_string();
        next = error.source();
    }
    let what = if error.is_connect() { "it cannot be connected to" } else { "the request broke off" };
    if text.is_empty() { what.to_string() } else { format!("{what}: {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            pause_s(&headers, 784_111_777.0)
        };
        assert_eq!(of("120"), Some(120.0));
        assert_eq!(of("Sun, 06 Nov 1994 08:50:37 GMT"), Some(60.0));
        assert_eq!(of("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0.0));
        assert_eq!(of("soon"), None);
    }
}
