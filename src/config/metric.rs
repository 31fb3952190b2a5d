//! The detector's settings: the defaults of the model, then what is set of `[stream]`, `[limits]`, `[jobs]` and `[metric.<name>]`.

use super::merge::Layers;
use detector::equations::SlowdownForm;
use detector::model::{ModelKind, Params};
use detector::settings::Settings;
use schemas::Metric;
use toml::Value;

/// What the command line sets; it goes before everything else.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overrides {
    /// The model.
    pub model: Option<ModelKind>,
    /// Window of all metrics, in readings.
    pub window: Option<usize>,
    /// Eta of all metrics, in standard deviations.
    pub eta: Option<f64>,
}

/// Settings from what is set; what is wrong is noted and left at its default.
pub fn settings(layers: &mut Layers, overrides: Overrides) -> Settings {
    let written = if layers.text("model") == "published" { ModelKind::Published } else { ModelKind::Robust };
    let mut settings = Settings::of(overrides.model.unwrap_or(written));
    stream(layers, &mut settings);
    settings.forget_after_s = layers.whole("stream.forget_after_days").map(|days| days as f64 * 86_400.0);
    let most = |key: &str| layers.whole(key).and_then(|most| usize::try_from(most).ok());
    settings.series_max = most("limits.series").unwrap_or(settings.series_max);
    settings.jobs_max = most("limits.jobs").unwrap_or(settings.jobs_max);
    let jobs = &mut settings.jobs;
    jobs.open_max_s = layers.whole("jobs.open_max_h").map_or(jobs.open_max_s, |hours| hours as f64 * 3_600.0);
    jobs.shared_nodes = layers.flag("jobs.shared_nodes").unwrap_or(jobs.shared_nodes);
    for metric in Metric::all() {
        for key in ["window", "eta", "slowdown", "floor", "least_effect", "least_change"] {
            let replaced =
                (key == "window" && overrides.window.is_some()) || (key == "eta" && overrides.eta.is_some());
            if !replaced {
                set(layers, &mut settings, metric, key);
            }
        }
    }
    settings
}

/// The rules of the stream are counted in ticks: where they are not set they grow with the tick.
fn stream(layers: &mut Layers, settings: &mut Settings) {
    let stream = &mut settings.stream;
    let tick_s = layers.number("stream.tick_s").unwrap_or(stream.tick_s);
    stream.tick_s = tick_s;
    settings.params.iter_mut().for_each(|params| params.tick_s = tick_s);
    let rules = [
        ("stream.lateness_s", &mut stream.lateness_s, 1.0, 30.0),
        ("stream.silence_s", &mut stream.silence_s, 2.0, 60.0),
        ("stream.gap_s", &mut stream.gap_s, 2.0, 60.0),
    ];
    for (key, value, least, most) in rules {
        *value *= tick_s.max(1.0);
        let Some(given) = layers.number(key) else { continue };
        let (least, most) = (least * tick_s, most * tick_s);
        if (least..=most).contains(&given) {
            *value = given;
        } else {
            let range = format!("a number from {least} to {most} s at a tick of {tick_s} s");
            layers.problem_of(key, format!("{key} must be {range}, not {given}"));
        }
    }
}

/// Sets one parameter if the model allows it.
fn set(layers: &mut Layers, settings: &mut Settings, metric: Metric, key: &str) {
    let path = format!("metric.{}.{key}", metric.name());
    let given = &mut settings.params[metric.at()].clone();
    if !put(given, layers, &path, key) {
        return;
    }
    if (given.slowdown == SlowdownForm::None) == metric.costs() {
        let text = format!("{path} must be \"none\" for metrics with costs = false, and for no others");
        return layers.problem_of(&path, text);
    }
    match given.checked(settings.model) {
        Ok(params) => settings.params[metric.at()] = params,
        // The sentence begins with the key's name.
        Err(error) => layers.problem_of(&path, format!("metric.{}.{error}", metric.name())),
    }
}

/// Puts what is set into `params`; whether there was something.
fn put(params: &mut Params, layers: &Layers, path: &str, key: &str) -> bool {
    let field = match key {
        "window" => {
            let given = layers.whole(path).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
            params.window = given.unwrap_or(params.window);
            return given.is_some();
        }
        "slowdown" => {
            params.slowdown = match layers.text(path) {
                "corrected" => SlowdownForm::Corrected,
                "published" => SlowdownForm::Published,
                "service_time" => SlowdownForm::ServiceTime,
                "none" => SlowdownForm::None,
                _ => return false,
            };
            return true;
        }
        "eta" => &mut params.eta,
        "floor" => &mut params.floor,
        "least_effect" => &mut params.least_effect,
        _ => &mut params.least_change,
    };
    let given = layers.number(path);
    *field = given.unwrap_or(*field);
    given.is_some()
}

/// What a key of the detector is in the end, for keys without a single default.
pub fn value_of(settings: &Settings, path: &str) -> Option<Value> {
    let (section, key) = path.rsplit_once('.')?;
    let stream = &settings.stream;
    let number = match (section, key) {
        ("stream", "lateness_s") => stream.lateness_s,
        ("stream", "silence_s") => stream.silence_s,
        ("stream", "gap_s") => stream.gap_s,
        _ => {
            let metric = Metric::from_name(section.strip_prefix("metric.")?)?;
            let params = &settings.params[metric.at()];
            match key {
                "window" => return Some(Value::Integer(i64::try_from(params.window).ok()?)),
                "slowdown" => return Value::try_from(params.slowdown).ok(),
                "eta" => params.eta,
                "floor" => params.floor,
                "least_effect" => params.least_effect,
                "least_change" => params.least_change,
                _ => return None,
            }
        }
    };
    Some(Value::Float(number))
}
