//! The kinds of scenarios and their goals, as `truth.toml` lists them.

use anyhow::Context;
use serde::Deserialize;

/// A kind of scenario.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// Its name on the command line.
    pub name: String,
    /// What happens in it.
    pub about: String,
    /// What jobs share in it.
    #[serde(default)]
    pub on: Resource,
    /// What Tailback should reach.
    #[serde(default)]
    pub goal: Goal,
    /// Why a goal is missed; shown only where one is.
    pub reason: Option<String>,
    /// The best that is known to be possible.
    pub oracle: Option<Oracle>,
    /// Seeds of its line in the tables, where with the usual number chance decides about a goal.
    pub seeds: Option<u32>,
}

/// A score with knowledge that no monitor has.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oracle {
    /// What it knows.
    pub knows: String,
    /// Which score, as in the head of its column.
    pub score: String,
    /// Its value, as a share.
    pub value: f64,
    /// Seeds that it was measured with.
    pub seeds: u32,
    /// When, as year, month and day.
    pub date: String,
}

impl Kind {
    /// Why a goal is missed, and the best that is known to be possible, as sentences.
    pub fn remark(&self) -> String {
        let oracle = self.oracle.as_ref().map(|oracle| {
            let Oracle { knows, score, value, seeds, date } = oracle;
            format!("With {knows}: {score} {:.0}% ({seeds} seeds, {date}).", 100.0 * value)
        });
        self.reason.iter().cloned().chain(oracle).collect::<Vec<_>>().join(" ")
    }
}

/// What jobs share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// The bandwidth of file systems.
    #[default]
    FileSystem,
    /// The links of a network.
    Network,
}

/// Goals of a kind; one that is not given does not matter for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// Most error of the loss, as a share of the truth.
    pub error: Option<f64>,
    /// Least share of intervals that hold the truth.
    pub coverage: Option<f64>,
    /// Most median width of the interval, as a share of the truth.
    pub width: Option<f64>,
    /// Most share of the misses that are on one side, where there are several.
    pub one_side: Option<f64>,
    /// Most share of victims that nothing is reported of.
    pub missed: Option<f64>,
    /// Most share of jobs without a loss that are charged with one.
    pub charged: Option<f64>,
    /// Most share of scenarios in which a job is blamed that took nothing.
    pub innocents: Option<f64>,
    /// Least share of victims whose first cause is the true one.
    pub culprit: Option<f64>,
    /// Most false seconds per series and hour.
    pub false_s_per_hour: Option<f64>,
    /// Most seconds from the onset to the first report, median.
    pub onset_s: Option<f64>,
    /// Most share of victims of which no loss is ever reported.
    pub never: Option<f64>,
    /// Least share of scenarios whose largest region has the cause and kind that it was made to have.
    pub verdict: Option<f64>,
    /// Most share of regions on whose links no flow was slowed.
    pub false_regions: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: Vec<Kind>,
}

/// All kinds, in the order of the file.
///
/// # Errors
/// `truth.toml` is wrong, which a test excludes.
pub fn all() -> anyhow::Result<Vec<Kind>> {
    let file: File = toml::from_str(include_str!("truth.toml")).context("truth.toml")?;
    Ok(file.kind)
}

/// The kinds of these names; all of them without any.
///
/// # Errors
/// There is no kind of that name; those there are are listed.
pub fn named(names: &[String]) -> anyhow::Result<Vec<Kind>> {
    let all = all()?;
    for name in names {
        let known = || all.iter().map(|kind| kind.name.as_str()).collect::<Vec<_>>().join(", ");
        anyhow::ensure!(
            all.iter().any(|kind| kind.name == *name),
            "there is no kind {name}; there are {}",
            known()
        );
    }
    Ok(all.into_iter().filter(|kind| names.is_empty() || names.contains(&kind.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_kind_is_refused_with_the_known_ones() {
        let error = named(&["stedy".to_string()]).unwrap_err().to_string();
        assert!(error.contains("stedy") && error.contains("steady"), "{error}");
        assert_eq!(named(&["busy".to_string()]).unwrap().len(), 1);
    }
}
