//! A broker that asks for TLS, a user and a password (SASL_SSL, SCRAM-SHA-256): the same tables, and a clear sentence
//! where it does not let us in.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::rows;
use super::site::Site;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use support::stack::turn;

/// What the broker is given instead of the password.
const WRONG: &str = "hunter2-is-not-it";
/// Time within which a wrong password is reported: far more than brokers take to refuse it.
const REPORT_TIMEOUT: Duration = Duration::from_secs(120);

/// Leads the site to another listener of the broker, with these keys of `[kafka]` and properties of librdkafka.
pub fn lead(site: &Site, listener: &str, keys: &str, properties: &str) {
    let (open, closed) = (&site.services.broker, site.services.listener(listener));
    let text = std::fs::read_to_string(&site.config).unwrap();
    assert!(text.contains(open.as_str()));
    let text = text
        .replace(open.as_str(), &closed)
        .replace("[kafka]\n", &format!("[kafka]\n{keys}\n"))
        .replace("[kafka.librdkafka]\n", &format!("[kafka.librdkafka]\n{properties}\n"));
    std::fs::write(&site.config, text).unwrap();
}

/// Leads the site to the broker's secure listener, with the authority and the password in these files.
pub fn secure(site: &Site, authority: &Path, password: &Path) {
    let properties = format!(
        r#""security.protocol" = "SASL_SSL"
"ssl.ca.location" = {authority:?}
"sasl.mechanism" = "SCRAM-SHA-256"
"sasl.username" = "tailback""#
    );
    lead(site, "secure", &format!("sasl_password_file = {password:?}"), &properties);
}

/// Findings of `tailback doctor` about the brokers: level, sentence, remedy.
pub fn doctor(site: &Site) -> Vec<[String; 3]> {
    let mut command = Command::new(crate::TAILBACK);
    let output = command.args(["doctor", "--json", "--config"]).arg(&site.config).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let findings = report["findings"].as_array().unwrap().iter().filter(|one| one["check"] == "brokers");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    findings.map(|one| ["level", "what", "mend"].map(|key| text(&one[key]))).collect()
}

#[test]
fn rows_through_tls_and_a_password_give_the_same_tables() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "secure");
    let tls = services.dir.join("kafka/tls");
    secure(&site, &tls.join("ca.pem"), &tls.join("password"));
    Feed::to(&site).all(&rows::undisturbed());
    let process = site.start();
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    let (log, password) = (process.log(), std::fs::read_to_string(tls.join("password")).unwrap());
    process.finish();
    assert!(password.len() > 20 && !log.contains(&password), "the password is in the log");
}

#[test]
fn refused_password_is_reported_without_the_password() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "refused");
    let password = services.dir.join("wrong-password");
    std::fs::write(&password, WRONG).unwrap();
    std::fs::set_permissions(&password, std::fs::Permissions::from_mode(0o600)).unwrap();
    secure(&site, &services.dir.join("kafka/tls/ca.pem"), &password);
    let mut process = site.start();
    let ended = process.ended_within(REPORT_TIMEOUT);
    let log = process.log();
    assert_eq!(ended.and_then(|status| status.code()), Some(1), "{log}");
    let last = log.trim_end().lines().last().unwrap_or_default();
    assert!(last.contains("do not let Tailback in") && last.contains("sasl_password_file"), "{log}");
    assert_eq!(log.matches("do not let Tailback in").count(), 1, "{log}");
    assert!(!log.contains(WRONG), "the password is in the log: {log}");
}

#[test]
fn broker_with_another_authority_is_refused_and_reported() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "stranger");
    let tls = services.dir.join("kafka/tls");
    // The broker's own certificate is none of an authority that signed it.
    secure(&site, &tls.join("broker.crt"), &tls.join("password"));
    let mut process = site.start();
    process.wait_for("certificate verify failed");
    process.wait_for("Kafka: connection failed; retrying");
    let log = process.log();
    assert!(!log.contains("topic created") && !log.contains("assigned"), "{log}");
}
