//! What came of an experiment, as it is kept in a file.

use super::adapting::saved::Adapted;
use super::expect::Judged;
use super::experiment::Experiment;
use super::files;
use super::play::Played;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One experiment that was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of its file, without the ending.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Labels of the checks that it shows.
    pub checks: Vec<String>,
    /// Paper and section.
    pub source: String,
    /// What the paper found.
    pub paper: String,
    /// Where the physics is too simple.
    pub limits: String,
    /// Cases, in the order of the file.
    pub cases: Vec<CaseOutcome>,
    /// Expectations, in the order of the file.
    pub judged: Vec<Judged>,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseOutcome {
    /// Its name.
    pub name: String,
    /// What came of it; `null` where nothing had to be played.
    pub played: Option<Played>,
    /// What jobs that ask saved; only of a case with a file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapted: Option<Adapted>,
}

impl Outcome {
    /// Of an experiment and its cases.
    pub fn of(name: &str, experiment: &Experiment, cases: Vec<CaseOutcome>, judged: Vec<Judged>) -> Outcome {
        Outcome {
            name: name.to_string(),
            title: experiment.title.clone(),
            checks: experiment.checks.clone(),
            source: experiment.source.clone(),
            paper: experiment.paper.clone(),
            limits: experiment.limits.clone(),
            cases,
            judged,
        }
    }

    /// Whether everything came out as expected.
    pub fn held(&self) -> bool {
        self.judged.iter().all(|judged| judged.held)
    }

    /// Writes `NAME.json` into a folder.
    ///
    /// # Errors
    /// A disk that refuses, naming the file.
    pub fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let path = folder.join(format!("{}.json", self.name));
        let text = serde_json::to_string(self)? + "\n";
        files::write(&path, &text)
    }

    /// Reads all outcomes of a folder, by name.
    ///
    /// # Errors
    /// No folder, or a file that is no outcome, naming it.
    pub fn read_all(folder: &Path) -> anyhow::Result<Vec<Outcome>> {
        let listed =
            std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
        let mut outcomes = Vec::new();
        for entry in listed {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                let outcome: Outcome = serde_json::from_str(&text)
                    .with_context(|| format!("{} is no outcome of `tailback lab run`", path.display()))?;
                outcomes.push(outcome);
            }
        }
        outcomes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(outcomes)
    }
}
