//! The checked configuration of `tailback run`.

use super::{ConfigError, environment, examine, sections};
use detector::fabric::FabricSettings;
use detector::settings::Settings;
use std::path::Path;

/// The checked configuration of `tailback run`. Its `Debug` shows no secret.
#[derive(Clone, Debug, PartialEq)]
pub struct RunConfig {
    /// Brokers, topics, properties.
    pub kafka: crate::kafka::Kafka,
    /// Where Avro schemas come from.
    pub schema_registry: sections::SchemaRegistry,
    /// Where results go.
    pub database: sections::Database,
    /// Stages and limits of this process.
    pub run: sections::Run,
    /// Limits of what grows with the site.
    pub limits: sections::Limits,
    /// Expected sources.
    pub site: sections::Site,
    /// Metrics and health.
    pub http: sections::Http,
    /// Rules of alerts, and receivers.
    pub alerts: sections::Alerts,
    /// Messages.
    pub log: sections::Log,
    /// Limits of Tailback's own condition.
    pub health: schemas::HealthLimits,
    /// Limits of `tailback doctor`.
    pub doctor: sections::Doctor,
    /// Rules of the fabric.
    pub fabric: FabricSettings,
    pub(super) settings: Settings,
}

impl RunConfig {
    /// Defaults, a file if one is given, and this process' environment.
    ///
    /// # Errors
    /// All that is wrong, one sentence each.
    pub fn load(file: Option<&Path>) -> Result<RunConfig, ConfigError> {
        let examined = examine(file, environment());
        match examined.config {
            Some(config) => Ok(config),
            None => Err(ConfigError(examined.problems)),
        }
    }

    /// The detector's settings; all that SIGHUP may change stands here.
    pub fn settings(&self) -> Settings {
        self.settings.clone()
    }
}
