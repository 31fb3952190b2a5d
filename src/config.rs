//! The configuration file: TOML over the defaults of the chosen model. Unknown keys are errors.

use anyhow::Context;
use detector::equations::SlowdownForm;
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::Metric;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A configuration file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// `robust` or `published`.
    model: Option<ModelKind>,
    #[serde(default)]
    stream: StreamSection,
    /// Parameters by metric name.
    #[serde(default)]
    metric: BTreeMap<String, MetricSection>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamSection {
    tick_s: Option<f64>,
    lateness_s: Option<f64>,
    silence_s: Option<f64>,
    gap_s: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricSection {
    window: Option<usize>,
    eta: Option<f64>,
    slowdown: Option<SlowdownForm>,
    floor: Option<f64>,
    least_effect: Option<f64>,
    least_change: Option<f64>,
}

/// Settings from a file, if there is one, and from the command line, which goes before it.
///
/// # Errors
/// One sentence naming the file, the key and the value.
pub fn settings(
    file: Option<&Path>,
    model: Option<ModelKind>,
    window: Option<usize>,
    eta: Option<f64>,
) -> anyhow::Result<Settings> {
    let config = match file {
        None => ConfigFile::default(),
        Some(path) => read(path)?,
    };
    let settings = config.settings(model).with_context(|| {
        file.map_or("the configuration".to_string(), |path| format!("configuration {}", path.display()))
    })?;
    Ok(settings.with(window, eta)?)
}

fn read(path: &Path) -> anyhow::Result<ConfigFile> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("configuration {} cannot be read", path.display()))?;
    toml::from_str(&text).with_context(|| format!("configuration {} is not valid", path.display()))
}

impl ConfigFile {
    fn settings(&self, model: Option<ModelKind>) -> anyhow::Result<Settings> {
        let mut settings = Settings::of(model.or(self.model).unwrap_or(ModelKind::Robust));
        let stream = &mut settings.stream;
        let tick_s = in_range("tick_s", self.stream.tick_s.unwrap_or(stream.tick_s), 0.1, 60.0)?;
        // The rules of the stream are counted in ticks: where they are not set they grow with the tick.
        let of = |given: Option<f64>, default_s: f64| given.unwrap_or(default_s * tick_s.max(1.0));
        stream.tick_s = tick_s;
        stream.lateness_s =
            in_range("lateness_s", of(self.stream.lateness_s, stream.lateness_s), tick_s, 30.0 * tick_s)?;
        stream.silence_s =
            in_range("silence_s", of(self.stream.silence_s, stream.silence_s), 2.0 * tick_s, 60.0 * tick_s)?;
        stream.gap_s = in_range("gap_s", of(self.stream.gap_s, stream.gap_s), 2.0 * tick_s, 60.0 * tick_s)?;
        settings.params.iter_mut().for_each(|params| params.tick_s = tick_s);
        for (name, section) in &self.metric {
            let metric = Metric::from_name(name).with_context(|| {
                let known: Vec<&str> = Metric::ALL.iter().map(|m| m.name()).collect();
                format!("metric.{name} is no metric; there are {}", known.join(", "))
            })?;
            section.apply(&mut settings, metric);
        }
        Ok(settings)
    }
}

fn in_range(key: &str, given: f64, least: f64, most: f64) -> anyhow::Result<f64> {
    anyhow::ensure!(
        (least..=most).contains(&given),
        "stream.{key} must be between {least} and {most} seconds, not {given}"
    );
    Ok(given)
}

impl MetricSection {
    fn apply(&self, settings: &mut Settings, metric: Metric) {
        let params = &mut settings.params[metric as usize];
        params.window = self.window.unwrap_or(params.window);
        params.eta = self.eta.unwrap_or(params.eta);
        params.slowdown = self.slowdown.unwrap_or(params.slowdown);
        params.floor = self.floor.unwrap_or(params.floor);
        params.least_effect = self.least_effect.unwrap_or(params.least_effect);
        params.least_change = self.least_change.unwrap_or(params.least_change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> anyhow::Result<Settings> {
        toml::from_str::<ConfigFile>(text)?.settings(None)
    }

    #[test]
    fn a_file_sets_what_it_names_and_nothing_else() {
        let settings = parse("[metric.lustre_write_rate]\nwindow = 12").unwrap();
        assert_eq!(settings.params[Metric::LustreWriteRate as usize].window, 12);
        assert_eq!(settings.params[0], Settings::of(ModelKind::Robust).params[0]);
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_it() {
        let error = format!("{:#}", parse("[stream]\nlatness_s = 3").unwrap_err());
        assert!(error.contains("latness_s") && error.contains("lateness_s"), "{error}");
    }

    #[test]
    fn an_unknown_metric_is_an_error_that_names_the_known_ones() {
        let error = format!("{:#}", parse("[metric.lustre]\nwindow = 8").unwrap_err());
        assert!(error.contains("metric.lustre ") && error.contains("lustre_write_rate"), "{error}");
    }

    #[test]
    fn the_rules_of_the_stream_grow_with_the_tick() {
        let stream = parse("[stream]\ntick_s = 10").unwrap().stream;
        assert_eq!((stream.lateness_s, stream.silence_s, stream.gap_s), (30.0, 20.0, 50.0));
    }

    #[test]
    fn a_floor_of_zero_is_refused() {
        let settings = parse("[metric.ib_wait_ratio]\nfloor = 0.0").unwrap();
        assert_eq!(
            settings.with(None, None).unwrap_err().to_string(),
            "floor must be a number above 0 and at most 1e15, not 0"
        );
    }

    #[test]
    fn a_value_out_of_range_is_an_error_that_names_it() {
        let error = parse("[stream]\ntick_s = 0").unwrap_err().to_string();
        assert_eq!(error, "stream.tick_s must be between 0.1 and 60 seconds, not 0");
    }
}
