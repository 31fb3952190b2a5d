//! The configuration: embedded defaults, then the user's file, then the environment; every mistake is named with
//! its file and line or its variable.
//!
//! | file | what it holds |
//! |---|---|
//! | `default.toml` | every key with its default, unit, range and meaning |
//! | `rules.rs` | every key with what it may be |
//! | `known.rs` | which keys there are, and which one was meant |
//! | `merge.rs` | the layers and how they lie on each other |
//! | `problem.rs` | where a value came from, what is wrong with it |
//! | `sections.rs` | the sections as types |
//! | `kafka.rs` | topics, brokers, properties of librdkafka |
//! | `metric.rs` | the detector's settings |
//! | `metrics.rs` | the folder of a site's metrics |
//! | `fabric.rs` | what regions are made of |
//! | `checks.rs` | checks beyond the rule of a single key |
//! | `secrets.rs` | secrets and the files that hold them |
//! | `site.rs` | the site file |
//! | `alerts.rs` | rules of alerts, and receivers |
//! | `effective.rs` | what results, with origins |

pub mod effective;
pub mod kafka;
pub mod problem;
pub mod secrets;
pub mod sections;

mod alerts;
mod checks;
mod fabric;
mod known;
mod merge;
mod metric;
pub mod metrics;
#[cfg(test)]
mod reference;
mod rules;
mod site;
#[cfg(test)]
mod tests;

use detector::fabric::FabricSettings;
use detector::model::ModelKind;
use detector::settings::Settings;
use effective::Effective;
use kafka::Role;
use merge::Layers;
use metric::Overrides;
pub use problem::{ConfigError, Origin, Problem};
use sections::Sections;
use std::path::Path;

/// The default file: complete, with comments.
pub const DEFAULT: &str = include_str!("default.toml");

/// The checked configuration of `tailback run`. Its `Debug` shows no secret.
#[derive(Clone, Debug, PartialEq)]
pub struct RunConfig {
    /// Brokers, topics, properties.
    pub kafka: sections::Kafka,
    /// Where Avro schemas come from.
    pub schema_registry: sections::SchemaRegistry,
    /// Where results go.
    pub database: sections::Database,
    /// Stages and limits of this process.
    pub run: sections::Run,
    /// Expected sources.
    pub site: sections::Site,
    /// Metrics and health.
    pub http: sections::Http,
    /// Rules of alerts, and receivers.
    pub alerts: sections::Alerts,
    /// Messages.
    pub log: sections::Log,
    /// Limits of `tailback doctor`.
    pub doctor: sections::Doctor,
    /// Rules of the fabric.
    pub fabric: FabricSettings,
    settings: Settings,
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

    /// Properties of librdkafka for a connection, secrets among them.
    pub fn kafka_properties(&self, role: Role) -> Vec<(String, String)> {
        self.kafka.properties(role)
    }
}

/// A configuration that was looked at.
#[derive(Debug)]
pub struct Examined {
    /// The configuration, if nothing is wrong.
    pub config: Option<RunConfig>,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What should not stay so.
    pub warnings: Vec<Problem>,
    /// What results, if nothing is wrong.
    pub values: Vec<Effective>,
}

/// Looks at a configuration as a whole; reads its secret files, but uses no network.
pub fn examine(file: Option<&Path>, variables: impl IntoIterator<Item = (String, String)>) -> Examined {
    let variables: Vec<(String, String)> = variables.into_iter().collect();
    let folder = metrics::choose(file, &variables);
    let mut layers = layers(file);
    layers.add_environment(variables);
    layers.problems.extend(folder);
    let settings = metric::settings(&mut layers, Overrides::default());
    checks::check(&mut layers);
    kafka::check(&mut layers);
    let mut warnings = checks::warn_of_open_secrets(&layers);
    warnings.extend(checks::warn_of_open_database(&layers));
    let fabric = fabric::settings(&mut layers, settings.stream.tick_s);
    let config = assemble(&mut layers, settings.clone(), fabric, &mut warnings);
    // What is wrong must change anyway.
    warnings.retain(|warning| layers.problems.iter().all(|problem| problem.key != warning.key));
    in_order(&mut layers.problems);
    in_order(&mut warnings);
    let sound = layers.problems.is_empty();
    let values = if sound { effective::list(&layers, &settings) } else { Vec::new() };
    Examined { config: config.filter(|_| sound), problems: layers.problems, warnings, values }
}

/// This process' environment; variables that are no text are not Tailback's.
pub fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The settings of detector and fabric from a file, if there is one, and from the command line, which goes before it. A
/// replay depends on its arguments alone: the environment is left out, and secret files are not read.
///
/// # Errors
/// All that is wrong, one sentence each.
pub fn settings(
    file: Option<&Path>,
    model: Option<ModelKind>,
    window: Option<usize>,
    eta: Option<f64>,
) -> anyhow::Result<(Settings, FabricSettings)> {
    let folder = metrics::choose(file, &[]);
    let mut layers = layers(file);
    layers.problems.extend(folder);
    let settings = metric::settings(&mut layers, Overrides { model, window, eta });
    let fabric = fabric::settings(&mut layers, settings.stream.tick_s);
    in_order(&mut layers.problems);
    match layers.problems.is_empty() {
        true => Ok((settings.with(window, eta)?, fabric)),
        false => Err(ConfigError(layers.problems).into()),
    }
}

fn layers(file: Option<&Path>) -> Layers {
    let mut layers = Layers::default();
    layers.add_text(DEFAULT, &|_| Origin::Default);
    if let Some(file) = file {
        layers.add_file(file);
    }
    layers
}

/// The typed configuration; that it fits is noted, not assumed.
fn assemble(
    layers: &mut Layers,
    settings: Settings,
    fabric: FabricSettings,
    warnings: &mut Vec<Problem>,
) -> Option<RunConfig> {
    let mut tables = layers.tables();
    for detector in ["model", "metrics", "stream", "metric", "jobs", "fabric"] {
        tables.remove(detector);
    }
    let sections: Sections = match tables.try_into() {
        Ok(sections) => sections,
        Err(error) => {
            let text = format!("the configuration does not fit together: {}", error.message());
            layers.problem(Origin::Default, "", text);
            return None;
        }
    };
    let Sections {
        mut kafka,
        mut schema_registry,
        mut database,
        mut run,
        mut site,
        mut http,
        mut alerts,
        log,
        doctor,
    } = sections;
    let mut secret = |key: &str| secrets::read(layers, warnings, key);
    kafka.sasl_password = secret("kafka.sasl_password_file");
    kafka.ssl_key_password = secret("kafka.ssl_key_password_file");
    schema_registry.password = secret("schema_registry.password_file");
    database.password = secret("database.password_file");
    http.token = secret("http.token_file");
    http.jobs_token = secret("http.jobs_token_file");
    alerts::read(layers, &mut alerts);
    site.expected = site::expected(layers, warnings, &site.file);
    if run.instance.is_empty() {
        run.instance = format!("{}-{}", host_name(), std::process::id());
    }
    Some(RunConfig {
        kafka,
        schema_registry,
        database,
        run,
        site,
        http,
        alerts,
        log,
        doctor,
        fabric,
        settings,
    })
}

/// The name of this machine.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "tailback".to_string() } else { name.to_string() }
}

/// As a person mends them: the file from top to bottom, then the environment.
fn in_order(problems: &mut [Problem]) {
    problems.sort_by_key(|problem| match &problem.origin {
        Origin::File { line, .. } => (0, *line),
        Origin::Environment(_) => (1, 0),
        Origin::Default => (2, 0),
    });
}
