//! Requests to receivers: to the configured address and to no other, within a time limit.

use super::receiver::Receiver;
use super::remedy;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{RequestBuilder, Response, StatusCode};

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

/// Sends; what does not end with a status of success was not taken.
///
/// # Errors
/// [`Refusal`].
pub async fn send(request: RequestBuilder, receiver: &Receiver, now_s: f64) -> Result<(), Refusal> {
    let mut response = answer(request, receiver).await?;
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    if status.is_redirection() {
        return Err(Refusal::passing(format!(
            "it redirects elsewhere ({status}), which is not followed; set url to where it leads"
        )));
    }
    let pause_s = pause_s(response.headers(), now_s);
    let said = said(&mut response).await;
    let why = format!("it answers {status}: {said}");
    if let Some(remedy) = remedy::of_status(receiver, status, &said) {
        return Err(Refusal { pause_s, ..Refusal::passing(format!("{why}; {remedy}")) });
    }
    let hopeless = matches!(
        status,
        StatusCode::BAD_REQUEST
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
            | StatusCode::UNPROCESSABLE_ENTITY
    );
    Err(Refusal { why, pause_s, hopeless })
}

/// What a receiver answers to a request with its credentials.
///
/// # Errors
/// Why it does not answer, with the remedy.
pub async fn answer(request: RequestBuilder, receiver: &Receiver) -> Result<Response, Refusal> {
    let request = match (&receiver.token, &receiver.password) {
        (Some(token), _) => request.bearer_auth(token.reveal()),
        (None, Some(password)) => request.basic_auth(&receiver.user, Some(password.reveal())),
        (None, None) => request,
    };
    request.send().await.map_err(|error| Refusal::passing(remedy::of_error(receiver, &error)))
}

/// The beginning of an answer, in one line.
pub async fn said(response: &mut Response) -> String {
    let chunk = response.chunk().await.ok().flatten().unwrap_or_default();
    let said = String::from_utf8_lossy(&chunk[..chunk.len().min(SAID_BYTES)]).into_owned();
    let said: String = said.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    said.trim().to_string()
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
