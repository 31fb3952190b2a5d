//! The configurations that are scored: files, and the grid that `--sweep` makes of each.
//!
//! A swept key is the configuration's own, with or without `metric.` before it. Its values lie over the file as
//! environment variables would, so that [`crate::config`] alone defines keys and their values.

use super::sweep::{Assignment, Sweep, points};
use crate::config::{self, Origin, Problem};
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
pub fn candidates(wanted: &Wanted<'_>) -> anyhow::Result<Vec<Candidate>> {
    let files = wanted.files.len().max(1);
    let asked = wanted.sweeps.iter().fold(files, |all, sweep| all.saturating_mul(sweep.values.len()));
    anyhow::ensure!(
        asked < CANDIDATES_MAX,
        "the grid has {asked} points, more than {}: sweep fewer values at once",
        CANDIDATES_MAX - 1
    );
    let mut all = vec![of_file("default".to_string(), None, None)?];
    if wanted.files.is_empty() && wanted.sweeps.is_empty() && wanted.model.is_none() {
        all.push(of_file("published".to_string(), None, Some(ModelKind::Published))?);
    }
    let files: Vec<Option<&Path>> = match wanted.files {
        [] => vec![None],
        files => files.iter().map(|file| Some(file.as_path())).collect(),
    };
    for file in files {
        let base = of_file(name(file, wanted.model, &[]), file, wanted.model)?;
        for keys in points(wanted.sweeps) {
            let candidate = if keys.is_empty() { base.clone() } else { swept(file, wanted.model, keys)? };
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
fn of_file(name: String, file: Option<&Path>, model: Option<ModelKind>) -> anyhow::Result<Candidate> {
    let (settings, fabric) = config::settings(file, model, None, None)?;
    let keys = model.map(|model| Assignment { key: "model".to_string(), value: word(model).to_string() });
    let keys = keys.into_iter().collect();
    Ok(Candidate { name, file: file.map(Path::to_path_buf), keys, settings, fabric })
}

/// The candidate of a file with keys over it.
fn swept(file: Option<&Path>, model: Option<ModelKind>, keys: Vec<Assignment>) -> anyhow::Result<Candidate> {
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
    let variables = given.iter().map(|(key, value)| (variable(key), value.clone()));
    let examined = config::examine(None, variables);
    let problem = examined.problems.first().map(|problem| in_words(problem, &keys));
    let Some(config) = examined.config else {
        anyhow::bail!("{}", problem.unwrap_or_else(|| format!("{name} is no valid configuration")));
    };
    let file = file.map(Path::to_path_buf);
    Ok(Candidate { name, file, keys, settings: config.settings(), fabric: config.fabric })
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

/// The environment variable of a key.
fn variable(key: &str) -> String {
    format!("TAILBACK_{}", key.to_uppercase().replace('.', "__"))
}

/// A problem in terms of the command line: its variables are internal.
fn in_words(problem: &Problem, keys: &[Assignment]) -> String {
    let text = problem.text.split(" (TAILBACK_").next().unwrap_or_default();
    let set = |set: &&Assignment| problem.origin == Origin::Environment(variable(&set.key));
    match keys.iter().find(set) {
        Some(set) => format!("--sweep {set}: {text}"),
        None => text.to_string(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[PathBuf], model: Option<ModelKind>, sweeps: &[&str]) -> Result<Vec<Candidate>, String> {
        let sweeps: Vec<Sweep> = sweeps.iter().map(|text| Sweep::parse(text).unwrap()).collect();
        candidates(&Wanted { files, model, sweeps: &sweeps }).map_err(|error| crate::cli::sentence(&error))
    }

    fn names(candidates: &[Candidate]) -> Vec<&str> {
        candidates.iter().map(|candidate| candidate.name.as_str()).collect()
    }

    #[test]
    fn without_anything_both_models_stand_side_by_side() {
        let both = of(&[], None, &[]).unwrap();
        assert_eq!(names(&both), ["default", "published"]);
        assert_eq!(both[1].settings, Settings::of(ModelKind::Published));
        assert_eq!(names(&of(&[], Some(ModelKind::Robust), &[]).unwrap()), ["default"]);
    }

    #[test]
    fn grid_contains_each_combination_and_the_default_once() {
        let grid =
            of(&[], None, &["lustre_write_rate.window=8,12", "metric.lustre_write_rate.eta=4,5"]).unwrap();
        let want = ["window=8 eta=4", "window=12 eta=4", "window=12 eta=5"];
        assert_eq!(grid.len(), 4);
        assert_eq!(grid[0].name, "default");
        for end in want {
            assert!(
                grid.iter().any(|candidate| candidate.name == format!("lustre_write_rate.{end}")),
                "{grid:?}"
            );
        }
        let last = grid.last().unwrap().settings.params
            [schemas::Metric::from_name("lustre_write_rate").unwrap().at()];
        assert_eq!((last.window, last.eta), (12, 5.0));
    }

    #[test]
    fn swept_keys_override_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("site.toml");
        let text = "model = \"published\"\n[site]\nfile = \"not/here.toml\"\n[metric.lustre_write_rate]\nwindow = 40\neta = 2\n";
        std::fs::write(&file, text).unwrap();
        let found = of(&[file], None, &["lustre_write_rate.eta=3"]).unwrap();
        let params = found[1].settings.params[schemas::Metric::from_name("lustre_write_rate").unwrap().at()];
        assert_eq!((params.window, params.eta, found[1].settings.model), (40, 3.0, ModelKind::Published));
    }

    #[test]
    fn what_is_wrong_is_one_sentence_that_names_the_nearest_key() {
        for (sweep, want) in [
            (
                "lustre_write_rate.windw=8",
                "--sweep lustre_write_rate.windw=8: metric.lustre_write_rate.windw is no key; the nearest is metric.lustre_write_rate.window",
            ),
            (
                "lustre_write_rate.window=99",
                "--sweep lustre_write_rate.window=99: metric.lustre_write_rate.window must lie between 4 and 16",
            ),
            ("model=robst", "--sweep model=robst: model must be one of robust, published"),
            ("kafka.group=a", "--sweep kafka.group=a: kafka.group changes nothing of what rows become"),
        ] {
            let error = of(&[], None, &[sweep]).unwrap_err();
            assert!(error.starts_with(want) && !error.contains(['\n', '(']), "{error}");
        }
    }

    #[test]
    fn a_grid_beyond_the_limit_is_refused_with_its_size() {
        let many: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
        let (eta, change) = (
            format!("ib_wait_ratio.eta={}", many.join(",")),
            format!("aries_stall_ratio.eta={}", many.join(",")),
        );
        let error = of(&[], None, &[&eta, &change]).unwrap_err();
        assert_eq!(error, "the grid has 400 points, more than 255: sweep fewer values at once");
    }
}
