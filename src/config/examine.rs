//! From the layers to a checked configuration, with all that is wrong and all that is unwise.

use super::assemble::assemble;
use super::effective::{self, Effective};
use super::merge::Layers;
use super::metric::{self, Overrides};
use super::{ConfigError, DEFAULT, Origin, Problem, RunConfig, checks, fabric, kafka, metrics};
use detector::fabric::FabricSettings;
use detector::model::ModelKind;
use detector::model::params::ParamsError;
use detector::settings::Settings;
use std::path::Path;

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

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is not valid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A value of the command line is out of its range.
    #[error(transparent)]
    Params(#[from] ParamsError),
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
) -> Result<(Settings, FabricSettings), SettingsError> {
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

/// As a person mends them: the file from top to bottom, then the environment.
fn in_order(problems: &mut [Problem]) {
    problems.sort_by_key(|problem| match &problem.origin {
        Origin::File { line, .. } => (0, *line),
        Origin::Environment(_) => (1, 0),
        Origin::Default => (2, 0),
    });
}
