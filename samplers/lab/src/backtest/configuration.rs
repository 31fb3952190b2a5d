//! What a backtest needs of the program's configuration.

use detector::fabric::FabricSettings;
use detector::model::ModelKind;
use detector::settings::Settings;
use std::collections::BTreeMap;
use std::path::Path;

/// What results from a configuration: the detector's settings and the fabric's.
pub type Configured = (Settings, FabricSettings);

/// The program's configuration, which defines keys and their values.
pub trait Configuration {
    /// Whether a key may begin with this word.
    fn has_section(&self, section: &str) -> bool;

    /// Of a file, or of none, with this model instead of its own.
    ///
    /// # Errors
    /// All that is wrong, one sentence each.
    fn of_file(&self, file: Option<&Path>, model: Option<ModelKind>) -> anyhow::Result<Configured>;

    /// Of values of keys, by their full path.
    ///
    /// # Errors
    /// What is wrong first, if that is known.
    fn of_values(&self, values: &BTreeMap<String, String>) -> Result<Configured, Option<WrongValue>>;
}

/// What is wrong with values of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongValue {
    /// The key that has the value, if it is one of those that were given.
    pub key: Option<String>,
    /// A sentence.
    pub text: String,
}
