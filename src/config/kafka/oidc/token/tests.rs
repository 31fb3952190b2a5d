//! Answers of token endpoints. Requests are made in `tests/end_to_end/streaming`.

use super::*;
use std::collections::BTreeMap;

fn settings() -> TokenSettings {
    let given = [
        ("sasl.mechanisms", "OAUTHBEARER"),
        ("sasl.oauthbearer.method", "oidc"),
        ("sasl.oauthbearer.token.endpoint.url", "https://login.example/token"),
        ("sasl.oauthbearer.client.id", "tailback"),
        ("sasl.oauthbearer.client.secret", "s3cr3t"),
    ];
    let mut properties: BTreeMap<_, _> =
        given.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    TokenSettings::take(&mut properties).unwrap().unwrap()
}

fn answer(status: u16, body: &str) -> Result<Token, TokenError> {
    let now = UNIX_EPOCH + Duration::from_secs(1_000);
    token_of(&settings(), StatusCode::from_u16(status).unwrap(), body.as_bytes(), now)
}

#[test]
fn token_ends_by_expires_in_or_by_its_own_claim() {
    let payload = URL_SAFE_NO_PAD.encode(r#"{"sub":"tailback","exp":1600}"#);
    for (body, expires_s) in [
        (r#"{"access_token":"opaque","expires_in":300,"token_type":"Bearer"}"#.to_string(), 1_300),
        (format!(r#"{{"access_token":"e30.{payload}.c2ln"}}"#), 1_600),
    ] {
        let token = answer(200, &body).unwrap();
        assert_eq!(token.expires, UNIX_EPOCH + Duration::from_secs(expires_s), "{body}");
        assert!(!format!("{token:?}").contains("opaque"), "{token:?}");
    }
}

#[test]
fn answer_without_a_token_names_endpoint_status_and_remedy() {
    for (status, body, part, is_retryable) in [
        (401, r#"{"error":"invalid_client"}"#, "sasl_oauthbearer_client_secret_file", false),
        (
            400,
            r#"{"error":"invalid_scope","error_description":"no scope x"}"#,
            "sasl.oauthbearer.scope",
            false,
        ),
        (404, "<html>", "sasl.oauthbearer.token.endpoint.url", false),
        (503, "", "see its log", true),
        (200, "<html>", "no access_token", false),
        (200, r#"{"access_token":"a b"}"#, "no access_token", false),
        (200, r#"{"access_token":"opaque"}"#, "neither expires_in nor", false),
        (200, r#"{"access_token":"opaque","expires_in":0}"#, "correct a clock", false),
    ] {
        let error = answer(status, body).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("https://login.example/token answers") && text.contains(part), "{text}");
        assert!(text.contains(&status.to_string()) && error.is_retryable() == is_retryable, "{text}");
    }
}

#[test]
fn secret_that_an_endpoint_repeats_is_hidden() {
    let error = answer(401, r#"{"error":"invalid_client","error_description":"s3cr3t is wrong"}"#);
    let text = error.unwrap_err().to_string();
    assert!(text.contains("*** is wrong") && !text.contains("s3cr3t"), "{text}");
}
