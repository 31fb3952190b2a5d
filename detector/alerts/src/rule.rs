//! Rules of alerts as data: one TOML file each. A rule that is wrong stops the start.

use super::text;
use schemas::{Cause, CauseKind, Metric, Severity, State};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The rules that hold without any file: name of the file and content.
pub const DEFAULTS: [(&str, &str); 5] = [
    ("region_contended.toml", include_str!("../rules/region_contended.toml")),
    ("link_contended.toml", include_str!("../rules/link_contended.toml")),
    ("storage_contended.toml", include_str!("../rules/storage_contended.toml")),
    ("job_slowed.toml", include_str!("../rules/job_slowed.toml")),
    ("data_missing.toml", include_str!("../rules/data_missing.toml")),
];
/// Longest duration a rule may ask for, in seconds: a day.
const DURATION_MAX_S: f64 = 86_400.0;
/// Largest file of a rule, in bytes.
const BYTES_MAX: u64 = 65_536;

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// One series: a link, or a node's writes.
    Series,
    /// A contended region.
    Region,
    /// A job.
    Job,
    /// A source of rows.
    Source,
}

/// What makes several of them one incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// The region.
    Region,
    /// The job.
    Job,
    /// The node, router or switch.
    Component,
    /// The mount of a file system, on whatever node.
    Mount,
    /// That they began together, at most ten seconds after each other.
    Onset,
}

/// What must hold. An empty list requires nothing.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// Any of these metrics.
    #[serde(default)]
    pub metric: Vec<Metric>,
    /// Any of these causes.
    #[serde(default)]
    pub cause: Vec<Cause>,
    /// Any of these kinds.
    #[serde(default)]
    pub kind: Vec<CauseKind>,
    /// `contended`, or `unknown` for a source that is silent.
    pub state: State,
    /// Seconds of event time that it must have lasted.
    #[serde(default)]
    pub least_duration_s: f64,
    /// Seconds that must be lost at least; of a job the lower end of its interval counts.
    #[serde(default)]
    pub least_slowdown_s: f64,
    /// Share of the data that must be there, 0 to 1.
    #[serde(default)]
    pub least_completeness: f64,
}

/// When it is over.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clear {
    /// Seconds of event time without the condition until it is resolved; if it returns earlier, the alert continues.
    pub after_s: f64,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name, as that of its file.
    pub name: String,
    /// Whether it counts; a file with `enabled = false` takes a default out.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// What it is about.
    pub about: About,
    /// How urgent an incident is.
    pub severity: Severity,
    /// What makes one incident.
    pub group_by: GroupBy,
    /// Rules whose alerts report it already, or make it unknown.
    #[serde(default)]
    pub inhibited_by: Vec<String>,
    /// One sentence; `{subject}` and its like are filled in.
    pub summary: String,
    /// Figures in sentences.
    pub description: String,
    /// What an operator can do.
    pub hint: String,
    /// Seconds of event time for which its advice holds.
    #[serde(default = "five_minutes")]
    pub advice_s: f64,
    /// What must hold.
    pub when: When,
    /// When it is over.
    pub clear: Clear,
}

fn yes() -> bool {
    true
}

fn five_minutes() -> f64 {
    300.0
}

/// A rule that cannot be used, in one sentence that names file and key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {text}")]
pub struct RuleError {
    /// The file.
    pub file: String,
    /// What is wrong with which key.
    pub text: String,
}

impl Rule {
    /// Reads a rule; `file` is named in errors, and its stem must be the rule's name.
    ///
    /// # Errors
    /// What is wrong, naming the key.
    pub fn parse(file: &str, content: &str) -> Result<Rule, RuleError> {
        let wrong = |text: String| RuleError { file: file.to_string(), text };
        let rule: Rule = toml::from_str(content).map_err(|error| {
            let line = error.span().map_or(1, |span| content[..span.start].matches('\n').count() + 1);
            let key = key_at(content, line);
            wrong(format!("line {line}: {key}{}", error.message().trim().replace('\n', ", ")))
        })?;
        let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if rule.name != stem || !is_word(&rule.name) {
            return Err(wrong(format!(
                "name must be the file's, in lower case letters, digits and `_`, not {:?}",
                rule.name
            )));
        }
        rule.check().map_err(wrong)?;
        Ok(rule)
    }

    fn check(&self) -> Result<(), String> {
        let within = |key: &str, value: f64, most: f64| {
            let fits = (0.0..=most).contains(&value);
            if fits { Ok(()) } else { Err(format!("{key} must be 0 to {most}, not {value}")) }
        };
        within("when.least_duration_s", self.when.least_duration_s, DURATION_MAX_S)?;
        within("when.least_slowdown_s", self.when.least_slowdown_s, 1e9)?;
        within("when.least_completeness", self.when.least_completeness, 1.0)?;
        within("clear.after_s", self.clear.after_s, DURATION_MAX_S)?;
        if !(10.0..=DURATION_MAX_S).contains(&self.advice_s) {
            return Err(format!("advice_s must be 10 to {DURATION_MAX_S}, not {}", self.advice_s));
        }
        self.check_state()?;
        self.check_group()?;
        for (key, template) in
            [("summary", &self.summary), ("description", &self.description), ("hint", &self.hint)]
        {
            text::check(template).map_err(|word| {
                format!(
                    "{key} has {{{word}}}; there are {}",
                    text::WORDS.map(|w| format!("{{{w}}}")).join(", ")
                )
            })?;
        }
        Ok(())
    }

    fn check_state(&self) -> Result<(), String> {
        let state = if self.about == About::Source { State::Unknown } else { State::Contended };
        if self.when.state != state {
            let about = format!("{:?}", self.about).to_lowercase();
            return Err(format!(
                "when.state must be {:?} for about = {about:?}, not {:?}",
                state.name(),
                self.when.state.name()
            ));
        }
        Ok(())
    }

    fn check_group(&self) -> Result<(), String> {
        let grouped = match self.group_by {
            GroupBy::Region => self.about == About::Region,
            GroupBy::Job => self.about == About::Job,
            GroupBy::Mount => self.about == About::Series,
            GroupBy::Component => matches!(self.about, About::Series | About::Source),
            GroupBy::Onset => self.about != About::Job,
        };
        if !grouped {
            let (by, about) = (format!("{:?}", self.group_by), format!("{:?}", self.about));
            return Err(format!(
                "group_by = {:?} does not go with about = {:?}",
                by.to_lowercase(),
                about.to_lowercase()
            ));
        }
        Ok(())
    }

    /// Whether a file must never be found there: words of rules stand in labels and tables.
    fn named_by(&self, others: &[Rule]) -> Result<(), String> {
        let known = |name: &&String| !others.iter().any(|rule| rule.name == **name);
        match self.inhibited_by.iter().find(known) {
            Some(name) => Err(format!("inhibited_by names {name:?}, which is no rule")),
            None => Ok(()),
        }
    }
}

fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// The key of a line, with its table, as it begins a sentence.
fn key_at(content: &str, line: usize) -> String {
    let lines: Vec<&str> = content.lines().take(line).collect();
    let table = lines.iter().rev().find_map(|line| line.trim().strip_prefix('[')?.strip_suffix(']'));
    let key = lines.last().and_then(|line| line.split_once('=')).map(|(key, _)| key.trim());
    match (table, key) {
        (Some(table), Some(key)) => format!("{table}.{key}: "),
        (None, Some(key)) => format!("{key}: "),
        _ => String::new(),
    }
}

/// The defaults, then the files: one with the name of a default replaces it. Folders stand for their `*.toml` files, in
/// the order of their names. Rules that are not enabled are left out.
///
/// # Errors
/// All that is wrong, a sentence each.
pub fn load(paths: &[PathBuf]) -> Result<Vec<Rule>, Vec<RuleError>> {
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    for (file, content) in DEFAULTS {
        match Rule::parse(file, content) {
            Ok(rule) => rules.push(rule),
            Err(error) => errors.push(error),
        }
    }
    for path in paths {
        match files_of(path) {
            Ok(files) => files.iter().for_each(|file| match read(file) {
                Ok(rule) => {
                    rules.retain(|known: &Rule| known.name != rule.name);
                    rules.push(rule);
                }
                Err(error) => errors.push(error),
            }),
            Err(error) => errors.push(error),
        }
    }
    for rule in &rules {
        if let Err(text) = rule.named_by(&rules) {
            errors.push(RuleError { file: format!("{}.toml", rule.name), text });
        }
    }
    rules.retain(|rule| rule.enabled);
    if errors.is_empty() { Ok(rules) } else { Err(errors) }
}

fn files_of(path: &Path) -> Result<Vec<PathBuf>, RuleError> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let wrong = |error: std::io::Error| RuleError {
        file: path.display().to_string(),
        text: format!("the folder cannot be read: {error}"),
    };
    let entries = std::fs::read_dir(path).map_err(wrong)?;
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(wrong)?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> Result<Rule, RuleError> {
    let name = file.display().to_string();
    let wrong = |text: String| RuleError { file: name.clone(), text };
    let bytes = std::fs::metadata(file).map_err(|error| wrong(format!("cannot be read: {error}")))?.len();
    if bytes > BYTES_MAX {
        return Err(wrong(format!("has {bytes} bytes, more than {BYTES_MAX}: no rule is so long")));
    }
    let content = std::fs::read_to_string(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    Rule::parse(&name, &content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_rules() {
        let rules = load(&[]).unwrap();
        assert_eq!(rules.len(), DEFAULTS.len());
    }

    #[test]
    fn errors_name_file_and_key() {
        let content = DEFAULTS[0].1;
        let cases = [
            (
                content.replace("least_completeness = 0.5", "least_completeness = 5"),
                "when.least_completeness",
            ),
            (content.replace("\"warning\"", "\"urgent\""), "severity: "),
            (content.replace("least_duration_s", "least_durations"), "least_durations"),
            (content.replace("{subject} is", "{who} is"), "summary has {who}"),
            (content.replace("\"contended\"", "\"unknown\""), "when.state must be \"contended\""),
            (content.replace("group_by = \"region\"", "group_by = \"job\""), "group_by = \"job\""),
            (content.replace("name = \"region", "name = \"another"), "name must be the file's"),
        ];
        for (content, part) in cases {
            let error = Rule::parse("region_contended.toml", &content).unwrap_err().to_string();
            assert!(error.starts_with("region_contended.toml: ") && error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_file_replaces_the_default_of_its_name_or_takes_it_out() {
        let folder = tempfile::tempdir().unwrap();
        let content = DEFAULTS[1].1.replace("\"info\"", "\"critical\"");
        std::fs::write(folder.path().join("link_contended.toml"), content).unwrap();
        let job = "enabled = false\n".to_string() + DEFAULTS[3].1;
        std::fs::write(folder.path().join("job_slowed.toml"), job).unwrap();
        let rules = load(&[folder.path().to_path_buf()]).unwrap();
        let severity = |name: &str| rules.iter().find(|rule| rule.name == name).map(|rule| rule.severity);
        assert_eq!(severity("link_contended"), Some(Severity::Critical));
        assert_eq!(severity("job_slowed"), None);
        assert_eq!(severity("region_contended"), Some(Severity::Warning));
    }

    #[test]
    fn rule_with_an_unknown_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let content = DEFAULTS[2].1.replace("\"data_missing\"", "\"data_mising\"");
        std::fs::write(folder.path().join("storage_contended.toml"), content).unwrap();
        let errors = load(&[folder.path().to_path_buf()]).unwrap_err();
        assert!(errors[0].to_string().contains("inhibited_by names \"data_mising\""), "{errors:?}");
    }
}
