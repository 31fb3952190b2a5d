//! The configuration that results, with the origin of each value, secrets hidden.

use super::known::free_property;
use super::merge::Layers;
use super::problem::Origin;
use super::secrets::{is_secret, without_password};
use super::{metric, rules};
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::secret::HIDDEN;
use std::fmt::Write;
use toml::Value;

/// A key's value in the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// The table, empty for a top-level key.
    pub section: String,
    /// The key in it.
    pub key: String,
    /// Its value; `***` for a secret.
    pub value: Value,
    /// Where it was set: `default`, a file's line, an environment variable, or what it follows from.
    pub origin: String,
}

/// Every key in the order of `default.toml`, then the properties of librdkafka that are set.
pub fn list(layers: &Layers, settings: &Settings) -> Vec<Effective> {
    let mut keys: Vec<String> = rules::all().map(|(key, _)| key).collect();
    let after_kafka = keys.iter().position(|key| key.starts_with("schema_registry.")).unwrap_or(keys.len());
    for table in rules::FREE_TABLES.iter().rev() {
        let inside = layers
            .entries
            .keys()
            .filter(|path| free_property(path).is_some_and(|(found, _)| found == *table));
        keys.splice(after_kafka..after_kafka, inside.cloned().collect::<Vec<_>>());
    }
    keys.iter().filter_map(|path| effective(layers, settings, path)).collect()
}

fn effective(layers: &Layers, settings: &Settings, path: &str) -> Option<Effective> {
    let split = free_property(path).unwrap_or_else(|| path.rsplit_once('.').unwrap_or(("", path)));
    let (section, key) = (split.0.to_string(), split.1.to_string());
    let Some(entry) = layers.entries.get(path) else {
        let origin = match (section.as_str(), settings.model) {
            ("stream", _) => "follows stream.tick_s",
            (_, ModelKind::Robust) => "default of robust",
            (_, ModelKind::Published) => "default of published",
        };
        return Some(Effective {
            section,
            key,
            value: metric::value_of(settings, path)?,
            origin: origin.to_string(),
        });
    };
    let secret = free_property(path).is_some_and(|(_, name)| is_secret(name));
    let value = match (&entry.value, path) {
        (Value::String(_), _) if secret => Value::String(HIDDEN.to_string()),
        (Value::String(url), "database.url" | "schema_registry.url") => Value::String(without_password(url)),
        (value, _) => value.clone(),
    };
    Some(Effective { section, key, value, origin: entry.origin.to_string() })
}

/// As TOML, with a remark behind each value that is not plainly a default.
pub fn as_toml(values: &[Effective]) -> String {
    let mut text = String::new();
    let mut section = "";
    for effective in values {
        if effective.section != section {
            section = &effective.section;
            let _ = writeln!(text, "\n[{section}]");
        }
        // Properties of librdkafka have dots in their names.
        let key = match effective.key.contains('.') {
            true => format!("{:?}", effective.key),
            false => effective.key.clone(),
        };
        let line = format!("{key} = {}", effective.value);
        let _ = match effective.origin == Origin::Default.to_string() {
            true => writeln!(text, "{line}"),
            false => writeln!(text, "{line:<44} # {}", effective.origin),
        };
    }
    text
}
