//! Receivers of notices: one TOML file each. One that is wrong stops the start.

mod checks;
#[cfg(test)]
mod tests;

use super::client;
use crate::engine::Route;
use schemas::Severity;
use schemas::secret::Redacted;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Prometheus' Alertmanager, API v2.
    Alertmanager,
    /// Signed JSON: `schemas/alerts/notice.schema.json`.
    Webhook,
    /// Comments of jobs and nodes through `scontrol`.
    Slurm,
    /// Signed JSON at intervals while Tailback works; no notices.
    Heartbeat,
}

/// What a Slurm receiver may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// `AdminComment` of jobs that lose time.
    JobComment,
    /// `Comment` of nodes to avoid.
    NodeComment,
}

/// A receiver, as in its file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receiver {
    /// Its name, in the outbox and in metrics.
    pub name: String,
    /// What is spoken.
    pub kind: Kind,
    /// Where it listens; of an Alertmanager without `/api/v2/alerts`. Not for Slurm.
    #[serde(default)]
    pub url: String,
    /// Least severity that it gets.
    #[serde(default = "info")]
    pub least_severity: Severity,
    /// Rules that it gets; none for all.
    #[serde(default)]
    pub rules: Vec<String>,
    /// Whether `http://` to another machine is wanted.
    #[serde(default)]
    pub plain_http: bool,
    /// CA certificates (PEM) beside the system's.
    #[serde(default)]
    pub ca_file: PathBuf,
    /// File with a token, sent as `Authorization: Bearer …`.
    #[serde(default)]
    pub token_file: PathBuf,
    /// User of `Authorization: Basic …`; `password_file` has its password.
    #[serde(default)]
    pub user: String,
    /// File with the password of `user`.
    #[serde(default)]
    pub password_file: PathBuf,
    /// Certificate of this client (PEM), with its chain.
    #[serde(default)]
    pub cert_file: PathBuf,
    /// Its key (PEM, without a passphrase).
    #[serde(default)]
    pub key_file: PathBuf,
    /// Proxy for its requests: `http://host:port`.
    #[serde(default)]
    pub proxy: String,
    /// File with the key of the signature (webhook).
    #[serde(default)]
    pub secret_file: PathBuf,
    /// Seconds that a request or command may take.
    #[serde(default = "ten")]
    pub timeout_s: f64,
    /// Most notices a minute; what is beyond waits.
    #[serde(default = "hundred_twenty")]
    pub max_per_minute: u32,
    /// Seconds before the second try.
    #[serde(default = "one")]
    pub backoff_s: f64,
    /// Most seconds between two tries.
    #[serde(default = "five_minutes")]
    pub backoff_max_s: f64,
    /// Hours after the first try after which a notice is a dead letter.
    #[serde(default = "day")]
    pub give_up_h: f64,
    /// Seconds between two sendings while it fires (Alertmanager), and between two heartbeats.
    #[serde(default = "minute")]
    pub resend_s: f64,
    /// Whether nothing is changed, only logged (Slurm).
    #[serde(default = "yes")]
    pub dry_run: bool,
    /// What may be done (Slurm).
    #[serde(default)]
    pub allow: Vec<Mark>,
    /// The program (Slurm).
    #[serde(default = "scontrol")]
    pub scontrol: PathBuf,
    /// `SLURM_CONF` for it; "" for its own.
    #[serde(default)]
    pub slurm_conf: PathBuf,
    /// Address of the page, for links to it.
    #[serde(skip)]
    pub page: Option<String>,
    /// Content of `token_file`.
    #[serde(skip)]
    pub token: Option<Redacted>,
    /// Content of `password_file`.
    #[serde(skip)]
    pub password: Option<Redacted>,
    /// Content of `secret_file`.
    #[serde(skip)]
    pub secret: Option<Redacted>,
}

fn info() -> Severity {
    Severity::Info
}
fn one() -> f64 {
    1.0
}
fn ten() -> f64 {
    10.0
}
fn minute() -> f64 {
    60.0
}
fn five_minutes() -> f64 {
    300.0
}
fn day() -> f64 {
    24.0
}
fn hundred_twenty() -> u32 {
    120
}
fn yes() -> bool {
    true
}
fn scontrol() -> PathBuf {
    PathBuf::from("/usr/bin/scontrol")
}

/// Reads the secret in the file that a key names: the key, the file; an error continues the file's name.
pub type ReadSecret<'r> = &'r dyn Fn(&str, &Path) -> Result<Redacted, String>;

/// A receiver that cannot be used, in one sentence that names file and key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {text}")]
pub struct ReceiverError {
    /// The file.
    pub file: String,
    /// What is wrong with which key.
    pub text: String,
}

impl Receiver {
    /// Its route, for the outbox; `None` if it gets no notices.
    pub fn route(&self) -> Option<Route> {
        let (receiver, least_severity) = (self.name.clone(), self.least_severity);
        (self.kind != Kind::Heartbeat).then(|| Route { receiver, least_severity, rules: self.rules.clone() })
    }

    /// The address of an incident on the page; `None` where that of the page is not configured.
    pub fn link_to(&self, incident: &str) -> Option<String> {
        self.page.as_ref().map(|page| format!("{page}/#/alerts?all=true&incident={incident}"))
    }

    /// Reads a receiver; the hosts of its URL and proxy must be loopback ones or of `hosts` (`host` or `host:port`).
    ///
    /// # Errors
    /// What is wrong, naming the key.
    pub fn parse(
        file: &str,
        content: &str,
        hosts: &[String],
        read_secret: ReadSecret<'_>,
    ) -> Result<Receiver, ReceiverError> {
        let wrong = |text: String| ReceiverError { file: file.to_string(), text };
        let mut receiver: Receiver = toml::from_str(content).map_err(|error| {
            let line = error.span().map_or(1, |span| content[..span.start].matches('\n').count() + 1);
            let key = content.lines().nth(line - 1).and_then(|line| line.split_once('='));
            let key = key.map_or(String::new(), |(key, _)| format!("{}: ", key.trim()));
            wrong(format!("line {line}: {key}{}", error.message().trim().replace('\n', ", ")))
        })?;
        receiver.check(hosts).map_err(wrong)?;
        receiver.token = secret("token_file", &receiver.token_file, read_secret).map_err(wrong)?;
        receiver.password = secret("password_file", &receiver.password_file, read_secret).map_err(wrong)?;
        receiver.secret = secret("secret_file", &receiver.secret_file, read_secret).map_err(wrong)?;
        if receiver.needs_files() {
            client::client(&receiver).map_err(|error| wrong(error.to_string()))?;
        }
        Ok(receiver)
    }
}

fn secret(key: &str, path: &Path, read_secret: ReadSecret<'_>) -> Result<Option<Redacted>, String> {
    if path.as_os_str().is_empty() {
        return Ok(None);
    }
    let read = read_secret(key, path).map(Some);
    read.map_err(|reason| format!("{key} {} {reason}", path.display()))
}

/// Reads the files; names are unique.
///
/// # Errors
/// All that is wrong, a sentence each.
pub fn load(
    paths: &[PathBuf],
    hosts: &[String],
    read_secret: ReadSecret<'_>,
) -> Result<Vec<Receiver>, Vec<ReceiverError>> {
    let (mut receivers, mut errors): (Vec<Receiver>, Vec<ReceiverError>) = (Vec::new(), Vec::new());
    for path in paths {
        let file = path.display().to_string();
        let content = std::fs::read_to_string(path)
            .map_err(|error| ReceiverError { file: file.clone(), text: format!("cannot be read: {error}") });
        match content.and_then(|content| Receiver::parse(&file, &content, hosts, read_secret)) {
            Ok(receiver) if receivers.iter().any(|known| known.name == receiver.name) => {
                errors.push(ReceiverError {
                    file,
                    text: format!("name {:?} is another receiver's", receiver.name),
                });
            }
            Ok(receiver) => receivers.push(receiver),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(receivers) } else { Err(errors) }
}
