//! `--sweep KEY=V1,V2,…`: a key of the configuration and the values to try.

use crate::config;
use std::fmt;
use toml::Table;

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
    pub fn parse(text: &str) -> anyhow::Result<Sweep> {
        let (key, values) = text.split_once('=').unwrap_or((text, ""));
        let mut sweep = Sweep { key: full_path(key.trim()), values: Vec::new() };
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
    pub fn parse_all(texts: &[String]) -> anyhow::Result<Vec<Sweep>> {
        let mut sweeps: Vec<Sweep> = Vec::new();
        for text in texts {
            let sweep = Sweep::parse(text)?;
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
fn full_path(key: &str) -> String {
    let section = key.split('.').next().unwrap_or_default();
    let known = toml::from_str::<Table>(config::DEFAULT).is_ok_and(|table| table.contains_key(section));
    if known { key.to_string() } else { format!("metric.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_before_a_key_is_understood() {
        for (given, want) in [
            ("lustre_write_rate.eta", "metric.lustre_write_rate.eta"),
            ("metric.lustre_write_rate.eta", "metric.lustre_write_rate.eta"),
            ("model", "model"),
            ("stream.tick_s", "stream.tick_s"),
        ] {
            assert_eq!(Sweep::parse(&format!("{given}=1, 2,1")).unwrap().key, want);
        }
    }

    #[test]
    fn a_sweep_without_a_value_or_a_key_is_refused() {
        for text in ["ib_wait_ratio.eta", "ib_wait_ratio.eta=", "ib_wait_ratio.eta=,", "=3"] {
            let error = Sweep::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("--sweep {text}: ")), "{error}");
        }
        let twice = ["model=robust", "model=published"].map(String::from);
        assert!(Sweep::parse_all(&twice).unwrap_err().to_string().contains("model is swept already"));
    }

    #[test]
    fn points_are_every_combination() {
        let sweeps = ["ib_wait_ratio.eta=1,2", "model=3,4"].map(|text| Sweep::parse(text).unwrap());
        let found: Vec<String> = points(&sweeps)
            .iter()
            .map(|p| p.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            found,
            [
                "ib_wait_ratio.eta=1 model=3",
                "ib_wait_ratio.eta=1 model=4",
                "ib_wait_ratio.eta=2 model=3",
                "ib_wait_ratio.eta=2 model=4"
            ]
        );
        assert_eq!(points(&[]), [Vec::<Assignment>::new()]);
    }
}
