//! What to do about librdkafka's errors of TLS and logins.

/// What to correct; `None` where an error has another cause.
pub fn remedy(why: &str) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|word| why.contains(word));
    if has(&["certificate verify failed", "unable to get local issuer"]) {
        Some(
            "give the authority that signed the broker's certificate in ssl.ca.location of [kafka.librdkafka]",
        )
    } else if has(&["certificate required", "bad certificate", "alert certificate", "unknown ca"]) {
        Some(
            "give a certificate of an authority that the broker trusts in ssl.certificate.location and ssl.key.location of [kafka.librdkafka]",
        )
    } else if has(&["SASL authentication error", "Authentication failed", "Unsupported SASL mechanism"]) {
        Some(
            "correct the properties sasl.* in [kafka.librdkafka], and kafka.sasl_password_file or kafka.sasl_oauthbearer_client_secret_file",
        )
    } else if has(&["SSL handshake failed", "wrong version number"]) {
        Some(
            "correct security.protocol in [kafka.librdkafka], or the port in kafka.brokers: the listener may want TLS or a password, or none",
        )
    } else {
        None
    }
}
