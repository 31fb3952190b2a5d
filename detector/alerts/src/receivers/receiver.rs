//! Receivers of notices: one TOML file each. One that is wrong stops the start.

use crate::engine::Route;
use reqwest::Url;
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
    /// Seconds between two sendings while it fires (Alertmanager).
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
    /// Content of `token_file`.
    #[serde(skip)]
    pub token: Option<Redacted>,
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
    /// Its route, for the outbox.
    pub fn route(&self) -> Route {
        Route { receiver: self.name.clone(), least_severity: self.least_severity, rules: self.rules.clone() }
    }

    /// Reads a receiver; its URL's host must be a loopback one or one of `hosts` (`host` or `host:port`).
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
        receiver.secret = secret("secret_file", &receiver.secret_file, read_secret).map_err(wrong)?;
        Ok(receiver)
    }

    fn check(&self, hosts: &[String]) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if !(1..=64).contains(&self.name.len()) || !self.name.chars().all(plain) {
            return Err(format!("name must be 1 to 64 letters, digits, `.`, `_`, `-`, not {:?}", self.name));
        }
        for (key, value, least, most) in [
            ("timeout_s", self.timeout_s, 0.1, 300.0),
            ("backoff_s", self.backoff_s, 0.01, 3_600.0),
            ("backoff_max_s", self.backoff_max_s, self.backoff_s, 86_400.0),
            ("give_up_h", self.give_up_h, 0.001, 8_760.0),
            ("resend_s", self.resend_s, 1.0, 3_600.0),
            ("max_per_minute", f64::from(self.max_per_minute), 1.0, 100_000.0),
        ] {
            if !(least..=most).contains(&value) {
                return Err(format!("{key} must be {least} to {most}, not {value}"));
            }
        }
        match self.kind {
            Kind::Slurm if !self.url.is_empty() => Err("url is not for kind = \"slurm\"".to_string()),
            Kind::Slurm if !self.scontrol.is_absolute() => Err(format!(
                "scontrol must be an absolute path, not {:?}",
                self.scontrol.display().to_string()
            )),
            Kind::Slurm => Ok(()),
            Kind::Alertmanager | Kind::Webhook => self.check_url(hosts),
        }
    }

    fn check_url(&self, hosts: &[String]) -> Result<(), String> {
        let url = Url::parse(&self.url).map_err(|_| "url must be https://host[:port]/path".to_string())?;
        let host = url.host_str().unwrap_or_default();
        let loopback = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        if !url.username().is_empty() || url.password().is_some() {
            return Err("url must not hold a password; use token_file".to_string());
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("url must begin with https://, not {}:", url.scheme()));
        }
        if url.scheme() == "http" && !loopback && !self.plain_http {
            return Err(format!(
                "url must begin with https://, or plain_http = true: {host} is another machine"
            ));
        }
        let port = url.port_or_known_default().unwrap_or_default();
        let with_port = format!("{host}:{port}");
        if !loopback && !hosts.iter().any(|known| *known == host || *known == with_port) {
            return Err(format!("url names {host}, which [alerts] hosts does not"));
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(content: &str) -> Result<Receiver, String> {
        let hosts = ["am.site".to_string(), "hooks.site:8443".to_string()];
        Receiver::parse("r.toml", content, &hosts, &|_, _| Err("is not there".to_string()))
            .map_err(|error| error.to_string())
    }

    fn webhook(url: &str) -> Result<Receiver, String> {
        parse(&format!("name = \"ops\"\nkind = \"webhook\"\nurl = {url:?}"))
    }

    #[test]
    fn urls_go_where_the_configuration_says_and_nowhere_else() {
        for allowed in
            ["http://127.0.0.1:9093", "https://am.site/x", "https://hooks.site:8443/", "http://[::1]:1/"]
        {
            assert!(webhook(allowed).is_ok(), "{allowed}: {:?}", webhook(allowed));
        }
        for (refused, part) in [
            ("https://evil.site/", "[alerts] hosts does not"),
            ("https://hooks.site/", "[alerts] hosts does not"),
            ("http://am.site/", "plain_http = true"),
            ("https://u:secret@am.site/", "token_file"),
            ("file:///etc/passwd", "must begin with https"),
            ("nonsense", "url must be https"),
        ] {
            let error = webhook(refused).unwrap_err();
            assert!(error.starts_with("r.toml: ") && error.contains(part), "{refused}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn slurm_receiver_changes_nothing_by_default() {
        let receiver = parse("name = \"slurm\"\nkind = \"slurm\"").unwrap();
        assert!(receiver.dry_run && receiver.allow.is_empty());
        let error = parse("name = \"slurm\"\nkind = \"slurm\"\nallow = [\"drain\"]").unwrap_err();
        assert!(error.contains("line 3: allow: unknown variant"), "{error}");
    }

    #[test]
    fn errors_name_file_and_key() {
        let error =
            parse("name = \"ops\"\nkind = \"webhook\"\nurl = \"http://[::1]/\"\ntimeout_s = 0").unwrap_err();
        assert_eq!(error, "r.toml: timeout_s must be 0.1 to 300, not 0");
        let error = parse("name = \"ops\"\nkind = \"webhook\"\ntimeouts = 1").unwrap_err();
        assert!(error.contains("timeouts"), "{error}");
    }
}
