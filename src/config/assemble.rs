//! The checked values as types, with the contents of the files that they name.

use super::host_name::host_name;
use super::merge::Layers;
use super::sections::Sections;
use super::{Origin, Problem, RunConfig, alerts, secrets, site};
use detector::fabric::FabricSettings;
use detector::settings::Settings;

/// The typed configuration; that it fits is noted, not assumed.
pub(super) fn assemble(
    layers: &mut Layers,
    settings: Settings,
    fabric: FabricSettings,
    warnings: &mut Vec<Problem>,
) -> Option<RunConfig> {
    let mut sections = sections(layers)?;
    read_files(&mut sections, layers, warnings);
    if sections.run.instance.is_empty() {
        sections.run.instance = format!("{}-{}", host_name(), std::process::id());
    }
    let Sections { kafka, schema_registry, database, run, limits, site, http, alerts, log, health, doctor } =
        sections;
    Some(RunConfig {
        kafka,
        schema_registry,
        database,
        run,
        limits,
        site,
        http,
        alerts,
        log,
        health,
        doctor,
        fabric,
        settings,
    })
}

/// The sections but for the detector's, which has types of its own.
fn sections(layers: &mut Layers) -> Option<Sections> {
    let mut tables = layers.tables();
    for detector in ["model", "metrics", "stream", "metric", "jobs", "fabric"] {
        tables.remove(detector);
    }
    let note = |error: &toml::de::Error| {
        let text = format!("the configuration does not fit together: {}", error.message());
        layers.problem(Origin::Default, "", text);
    };
    tables.try_into().inspect_err(note).ok()
}

/// Secrets, alerts and sources, out of the files that the sections name.
fn read_files(sections: &mut Sections, layers: &mut Layers, warnings: &mut Vec<Problem>) {
    let mut secret = |key: &str| secrets::read(layers, warnings, key);
    sections.kafka.sasl_password = secret("kafka.sasl_password_file");
    sections.kafka.sasl_oauthbearer_client_secret = secret("kafka.sasl_oauthbearer_client_secret_file");
    sections.kafka.ssl_key_password = secret("kafka.ssl_key_password_file");
    sections.kafka.message_key = secret("kafka.message_key_file");
    sections.schema_registry.password = secret("schema_registry.password_file");
    sections.database.password = secret("database.password_file");
    sections.http.token = secret("http.token_file");
    sections.http.silence_token = secret("http.silence_token_file");
    sections.http.jobs_token = secret("http.jobs_token_file");
    sections.http.job_token_keys = secret("http.job_token_key_file");
    alerts::read(layers, &mut sections.alerts, sections.http.page());
    sections.site.expected = site::expected(layers, warnings, &sections.site.file);
}
