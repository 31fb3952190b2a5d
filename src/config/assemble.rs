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
