//! The configurations that are scored: files, and the grid that `--sweep` makes of each.
//!
//! A swept key is the configuration's own, with or without `metric.` before it. Its values lie over the file as
//! environment variables would, so that the program's configuration alone defines keys and their values.

use super::configuration::{Configuration, WrongValue};
use super::sweep::{Assignment, Sweep, points};
use detector::fabric::FabricSettings;
use detector::model::ModelKind;
use detector::settings::Settings;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Candidates at most, the default among them: each keeps a state of every series.
pub const CANDIDATES_MAX: usize = 256;
/// Sections that decide what becomes of rows; `model` stands beside them.
const SECTIONS: [&str; 5] = ["model", "stream", "metric", "jobs", "fabric"];

/// One configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// `default`, or what differs from it: the file, the model of the command line, the swept keys.
    pub name: String,
    /// The file that it lies over.
    pub file: Option<PathBuf>,
    /// Keys of the configuration that the command line sets, by their full path.
    pub keys: Vec<Assignment>,
    /// The detector's settings.
    pub settings: Settings,
    /// The fabric's settings.
    pub fabric: FabricSettings,
}

/// The command line's request.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Files of configurations; none for the default.
    pub files: &'a [PathBuf],
    /// The model of all of them, instead of their own.
    pub model: Option<ModelKind>,
    /// Keys with their values.
    pub sweeps: &'a [Sweep],
}

/// All candidates, the default first; one whose settings are those of an earlier one is left out.
///
/// # Errors
/// A sentence on the first configuration that is not valid, or on a grid that is too large.
pub fn candidates(wanted: &Wanted<'_>, by: &dyn Configuration) -> anyhow::Result<Vec<Candidate>> {
    let files = wanted.files.len().max(1);
    let asked = wanted.sweeps.iter().fold(files, |all, sweep| all.saturating_mul(sweep.values.len()));
    anyhow::ensure!(
        asked < CANDIDATES_MAX,
        "the grid has {asked} points, more than {}: sweep fewer values at once",
        CANDIDATES_MAX - 1
    );
    let mut all = vec![of_file(by, "default".to_string(), None, None)?];
    if wanted.files.is_empty() && wanted.sweeps.is_empty() && wanted.model.is_none() {
        all.push(of_file(by, "published".to_string(), None, Some(ModelKind::Published))?);
    }
    let files: Vec<Option<&Path>> = match wanted.files {
        [] => vec![None],
        files => files.iter().map(|file| Some(file.as_path())).collect(),
    };
    for file in files {
        let base = of_file(by, name(file, wanted.model, &[]), file, wanted.model)?;
        for keys in points(wanted.sweeps) {
            let candidate = if keys.is_empty() { base.clone() } else { swept(by, file, wanted.model, keys)? };
            let alike =
                |known: &Candidate| known.settings == candidate.settings && known.fabric == candidate.fabric;
            if !all.iter().any(alike) {
                all.push(candidate);
            }
        }
    }
    Ok(all)
}

/// The candidate of a file as it is.
fn of_file(
    by: &dyn Configuration,
    name: String,
    file: Option<&Path>,
    model: Option<ModelKind>,
) -> anyhow::Result<Candidate> {
    let (settings, fabric) = by.of_file(file, model)?;
    let keys = model.map(|model| Assignment { key: "model".to_string(), value: word(model).to_string() });
    let keys = keys.into_iter().collect();
    Ok(Candidate { name, file: file.map(Path::to_path_buf), keys, settings, fabric })
}

/// The candidate of a file with keys over it.
fn swept(
    by: &dyn Configuration,
    file: Option<&Path>,
    model: Option<ModelKind>,
    keys: Vec<Assignment>,
) -> anyhow::Result<Candidate> {
    // Of other sections nothing is read: their files may be elsewhere.
    for set in &keys {
        let section = set.key.split('.').next().unwrap_or_default();
        anyhow::ensure!(
            SECTIONS.contains(&section),
            "--sweep {set}: {} changes nothing of what rows become; what does are {}",
            set.key,
            SECTIONS.join(", ")
        );
    }
    let name = name(file, model, &keys);
    let mut given = file.map_or(Ok(BTreeMap::new()), values_of)?;
    let of_model = model.filter(|_| keys.iter().all(|set| set.key != "model"));
    let of_model =
        of_model.map(|model| Assignment { key: "model".to_string(), value: word(model).to_string() });
    let keys: Vec<Assignment> = of_model.into_iter().chain(keys).collect();
    given.extend(keys.iter().map(|set| (set.key.clone(), set.value.clone())));
    let (settings, fabric) = by.of_values(&given).map_err(|wrong| match wrong {
        Some(wrong) => anyhow::Error::msg(in_words(wrong, &keys)),
        None => anyhow::anyhow!("{name} is no valid configuration"),
    })?;
    Ok(Candidate { name, file: file.map(Path::to_path_buf), keys, settings, fabric })
}

/// What a file sets of the sections that matter, by full path, as TOML values. The file is valid: it was read before.
fn values_of(file: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let table: Table = toml::from_str(&std::fs::read_to_string(file)?)?;
    let mut values = BTreeMap::new();
    for section in SECTIONS {
        if let Some(value) = table.get(section) {
            flatten(section, value, &mut values);
        }
    }
    Ok(values)
}

fn flatten(path: &str, value: &Value, values: &mut BTreeMap<String, String>) {
    match value.as_table() {
        Some(table) => table.iter().for_each(|(key, inner)| flatten(&format!("{path}.{key}"), inner, values)),
        None => drop(values.insert(path.to_string(), value.to_string())),
    }
}

/// What is wrong, in terms of the command line.
fn in_words(wrong: WrongValue, keys: &[Assignment]) -> String {
    let set = |set: &&Assignment| wrong.key.as_ref() == Some(&set.key);
    match keys.iter().find(set) {
        Some(set) => format!("--sweep {set}: {}", wrong.text),
        None => wrong.text,
    }
}

fn name(file: Option<&Path>, model: Option<ModelKind>, keys: &[Assignment]) -> String {
    let file = file.map(|file| file.display().to_string());
    let model = model.map(|model| word(model).to_string());
    let parts: Vec<String> = file.into_iter().chain(model).chain(in_short(keys)).collect();
    if parts.is_empty() { "default".to_string() } else { parts.join(" ") }
}

/// Keys as they are swept; the section is written once where the next key is of the same.
fn in_short(keys: &[Assignment]) -> Vec<String> {
    let section = |set: &Assignment| set.key.rsplit_once('.').map(|(section, _)| section.to_string());
    let alike =
        |at: usize| at > 0 && section(&keys[at]).is_some() && section(&keys[at]) == section(&keys[at - 1]);
    let text = |(at, set): (usize, &Assignment)| match set.key.rsplit_once('.') {
        Some((_, key)) if alike(at) => format!("{key}={}", set.value),
        _ => set.to_string(),
    };
    keys.iter().enumerate().map(text).collect()
}

fn word(model: ModelKind) -> &'static str {
    match model {
        ModelKind::Published => "published",
        ModelKind::Robust => "robust",
    }
}
