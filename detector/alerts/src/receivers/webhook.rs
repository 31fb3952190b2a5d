//! Signed JSON to any receiver.
//!
//! The body is a notice (`schemas/alerts/notice.schema.json`). `Idempotency-Key` is the same for each try of a notice.
//! `Tailback-Signature` is `v1=` and the HMAC-SHA256, in hexadecimal digits, of `Tailback-Timestamp`, a dot and the body. A
//! receiver that checks it and refuses old timestamps accepts no forged and no replayed notice.

use super::http::{self, Refusal};
use super::receiver::Receiver;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Client;
use schemas::Notice;
use serde::Serialize;
use sha2::Sha256;
use std::fmt::Write;

/// The signature of a body that is sent at a time, in whole seconds since the epoch.
pub fn signature(secret: &[u8], timestamp_s: u64, body: &[u8]) -> String {
    // A key of any length will do for HMAC.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return String::new() };
    mac.update(timestamp_s.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    let mut text = "v1=".to_string();
    for byte in mac.finalize().into_bytes() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A notice, with the address of its incident on the page where that is configured.
#[derive(Serialize)]
struct Linked<'a> {
    #[serde(flatten)]
    notice: &'a Notice,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// Sends a notice.
///
/// # Errors
/// [`Refusal`].
pub async fn send(client: &Client, receiver: &Receiver, notice: &Notice, now_s: f64) -> Result<(), Refusal> {
    let body = serde_json::to_vec(&Linked { notice, url: receiver.link_to(&notice.incident) })
        .map_err(|error| Refusal { hopeless: true, ..Refusal::passing(error.to_string()) })?;
    post(client, receiver, (&notice.key, notice.version), body, now_s).await
}

/// Posts a signed body with its idempotency key and version.
///
/// # Errors
/// [`Refusal`].
pub async fn post(
    client: &Client,
    receiver: &Receiver,
    (key, version): (&str, u32),
    body: Vec<u8>,
    now_s: f64,
) -> Result<(), Refusal> {
    let timestamp_s = now_s.max(0.0) as u64;
    let mut request = client
        .post(&receiver.url)
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", key)
        .header("Tailback-Version", version.to_string())
        .header("Tailback-Timestamp", timestamp_s.to_string());
    if let Some(secret) = &receiver.secret {
        request =
            request.header("Tailback-Signature", signature(secret.reveal().as_bytes(), timestamp_s, &body));
    }
    http::send(request.body(body), receiver, now_s).await
}

#[cfg(test)]
mod tests {
    use super::signature;

    /// Computed with `printf '1700000000.{}' | openssl dgst -sha256 -hmac key`.
    #[test]
    fn the_signature_is_the_hmac_of_timestamp_and_body() {
        let expected = "v1=9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae";
        assert_eq!(signature(b"key", 1_700_000_000, b"{}"), expected);
    }
}
