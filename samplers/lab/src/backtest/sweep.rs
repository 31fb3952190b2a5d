//! `--sweep KEY=V1,V2,…`: a key of the configuration and the values to try.

use super::configuration::Configuration;
use std::fmt;

/// A key and its values, as on the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The key's full path.
    pub key: String,
    /// Values to try, at least one, each once, as text.
    pub values: Vec<String>,
}

/// A key set to one of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The key's full path.
    pub key: String,
    /// Its value as text.
    pub value: String,
}

impl fmt::Display for Assignment {
    /// As it is written after `--sweep`: `metric.` is understood.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key.strip_prefix("metric.").unwrap_or(&self.key), self.value)
    }
}

impl Sweep {
    /// Reads `KEY=V1,V2,…`. The configuration validates key and values.
    ///
    /// # Errors
    /// A sentence that names what is missing.
    pub fn parse(text: &str, by: &dyn Configuration) -> anyhow::Result<Sweep> {
        let (key, values) = text.split_once('=').unwrap_or((text, ""));
        let mut sweep = Sweep { key: full_path(key.trim(), by), values: Vec::new() };
        anyhow::ensure!(!key.trim().is_empty(), "--sweep {text}: there is no key before the `=`");
        for value in values.split(',').map(str::trim).filter(|value| !value.is_empty()) {
            if !sweep.values.iter().any(|known| known == value) {
                sweep.values.push(value.to_string());
            }
        }
        anyhow::ensure!(
            !sweep.values.is_empty(),
            "--sweep {text}: the grid is empty, since no value follows; write for example {key}=4,8"
        );
        Ok(sweep)
    }

    /// Reads all options.
    ///
    /// # Errors
    /// That of the first that is wrong, or a sentence on a key that stands there twice.
    pub fn parse_all(texts: &[String], by: &dyn Configuration) -> anyhow::Result<Vec<Sweep>> {
        let mut sweeps: Vec<Sweep> = Vec::new();
        for text in texts {
            let sweep = Sweep::parse(text, by)?;
            let twice = sweeps.iter().any(|known| known.key == sweep.key);
            anyhow::ensure!(
                !twice,
                "--sweep {text}: {} is swept already; give all values at once",
                sweep.key
            );
            sweeps.push(sweep);
        }
        Ok(sweeps)
    }
}

/// Every combination of values, the last key changing first; one empty combination where nothing is swept.
pub fn points(sweeps: &[Sweep]) -> Vec<Vec<Assignment>> {
    let mut points = vec![Vec::new()];
    for sweep in sweeps {
        let with = |point: &Vec<Assignment>, value: &String| {
            let set = Assignment { key: sweep.key.clone(), value: value.clone() };
            point.iter().cloned().chain([set]).collect::<Vec<_>>()
        };
        points =
            points.iter().flat_map(|point| sweep.values.iter().map(|value| with(point, value))).collect();
    }
    points
}

/// A key whose first word is no section of the configuration is one of a metric.
fn full_path(key: &str, by: &dyn Configuration) -> String {
    let section = key.split('.').next().unwrap_or_default();
    if by.has_section(section) { key.to_string() } else { format!("metric.{key}") }
}
