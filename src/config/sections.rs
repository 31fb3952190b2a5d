//! The sections as types. What a key means, its unit and its range stand in `default.toml`.

#![allow(missing_docs, reason = "default.toml documents every key; a copy here would drift")]

use super::kafka::Kafka;
use super::secrets::SecretUrl;
use super::stage::Stage;
use schemas::secret::Redacted;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// `[schema_registry]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaRegistry {
    pub url: SecretUrl,
    pub user: String,
    pub password_file: PathBuf,
    pub cache_dir: PathBuf,
    /// What stands in `password_file`.
    #[serde(skip)]
    pub password: Option<Redacted>,
}

/// Which signals become rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Storage {
    Changes,
    All,
}

/// Whether to use what only some servers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Use {
    Auto,
    On,
    Off,
}

/// `[database]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    pub url: SecretUrl,
    pub password_file: PathBuf,
    pub tls_ca_file: PathBuf,
    pub tls_cert_file: PathBuf,
    pub tls_key_file: PathBuf,
    pub storage: Storage,
    pub direct_columnstore: Use,
    pub commit_interval_ms: u64,
    pub snapshot_interval_s: u64,
    pub synchronous_commit: bool,
    pub raw_days: u32,
    pub ten_second_days: u32,
    pub minute_days: u32,
    pub episode_days: u32,
    pub connect_timeout_s: u64,
    /// What stands in `password_file`; goes before a password in the URL.
    #[serde(skip)]
    pub password: Option<Redacted>,
}

/// `[run]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub stages: Vec<Stage>,
    /// Never empty: `<host name>-<process id>` where none is set.
    pub instance: String,
    pub threads: usize,
    pub max_rows_in_flight: usize,
    pub max_buffer_mb: usize,
    pub drain_s: u64,
}

impl Run {
    /// Time that a stage may take to commit what is in flight: nine tenths of [`Run::drain_s`], since the process has to end
    /// within that, and to let go of Kafka first, which may not answer.
    pub fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_s).mul_f64(0.9)
    }

    /// Time after which a stage that stops does not wait for Kafka any more: what is left of [`Run::drain_s`] is the process's own.
    pub fn close_timeout(&self) -> Duration {
        Duration::from_secs(self.drain_s).mul_f64(0.95)
    }
}

/// `[limits]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    pub sources: usize,
    pub series: usize,
    pub jobs: usize,
    pub http_connections: usize,
    pub post_bytes: usize,
    pub post_events: usize,
    pub progress_bytes: usize,
    pub progress_reports: usize,
    pub progress_per_s: usize,
    pub progress_names: usize,
    pub progress_ranks: usize,
    pub progress_jobs: usize,
    pub metric_topics: usize,
}

/// `[site]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    pub file: PathBuf,
    pub topology: Vec<PathBuf>,
    /// What stands in `file`.
    #[serde(skip)]
    pub expected: Vec<schemas::site::Expected>,
}

/// `[http]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    pub listen: SocketAddr,
    pub token_file: PathBuf,
    pub silence_token_file: PathBuf,
    pub jobs_token_file: PathBuf,
    pub job_token_key_file: PathBuf,
    pub socket: PathBuf,
    pub socket_users: Vec<String>,
    pub job_hosts_max: usize,
    pub hosts: Vec<String>,
    pub public_url: String,
    pub frame_ancestors: Vec<String>,
    /// What stands in `token_file`.
    #[serde(skip)]
    pub token: Option<Redacted>,
    /// The token in `silence_token_file`.
    #[serde(skip)]
    pub silence_token: Option<Redacted>,
    /// What stands in `jobs_token_file`.
    #[serde(skip)]
    pub jobs_token: Option<Redacted>,
    /// The keys in `job_token_key_file`, one a line.
    #[serde(skip)]
    pub job_token_keys: Option<Redacted>,
}

impl Http {
    /// The address of the page, without a slash at its end; `None` where it is not configured.
    pub fn page(&self) -> Option<String> {
        let page = self.public_url.trim_end_matches('/');
        (!page.is_empty()).then(|| page.to_string())
    }
}

/// `[alerts]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alerts {
    #[serde(rename = "rules")]
    pub rule_files: Vec<PathBuf>,
    #[serde(rename = "receivers")]
    pub receiver_files: Vec<PathBuf>,
    pub hosts: Vec<String>,
    pub heartbeat: bool,
    pub poll_ms: u64,
    pub keep_days: u32,
    /// The defaults and what stands in `rule_files`.
    #[serde(skip)]
    pub rules: Vec<alerts::rule::Rule>,
    /// What stands in `receiver_files`.
    #[serde(skip)]
    pub receivers: Vec<alerts::receivers::Receiver>,
}

/// How important a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl From<LogLevel> for tracing::Level {
    fn from(level: LogLevel) -> tracing::Level {
        match level {
            LogLevel::Error => tracing::Level::ERROR,
            LogLevel::Warn => tracing::Level::WARN,
            LogLevel::Info => tracing::Level::INFO,
            LogLevel::Debug => tracing::Level::DEBUG,
            LogLevel::Trace => tracing::Level::TRACE,
        }
    }
}

/// How a message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    Text,
    Json,
}

/// `[log]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub level: LogLevel,
    pub format: LogFormat,
}

/// `[doctor]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Doctor {
    pub silent_after_s: f64,
    pub skew_warn_s: f64,
    pub timeout_s: f64,
}

/// All sections but those of the detector, which become its settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sections {
    pub kafka: Kafka,
    pub schema_registry: SchemaRegistry,
    pub database: Database,
    pub run: Run,
    pub limits: Limits,
    pub site: Site,
    pub http: Http,
    pub alerts: Alerts,
    pub log: Log,
    pub health: schemas::HealthLimits,
    pub doctor: Doctor,
}
