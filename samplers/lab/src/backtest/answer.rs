//! The answer as a whole, and as JSON.

use super::candidate::Candidate;
use super::choice::{Choice, Fold};
use super::labels::Judged;
use super::sweep::Assignment;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// All that was found out.
#[derive(Debug)]
pub struct Answer {
    /// What was scored, the default first.
    pub candidates: Vec<Candidate>,
    /// What was judged.
    pub judged: Judged,
    /// Scores, order and verdict.
    pub choice: Choice,
    /// Rows of counters read.
    pub rows: u64,
    /// The limit of false seconds per series and hour.
    pub false_seconds_max: f64,
    /// Sentences on rows and truth that were not used.
    pub warnings: Vec<String>,
    /// Lines of the configuration that the best candidate needs over its file; empty for none.
    pub toml: String,
}

impl Answer {
    /// For programs; every figure as it is.
    pub fn json(&self) -> Value {
        let (best, judged) = (self.choice.best(), &self.judged);
        let candidates = self.choice.order.iter().map(|at| {
            let mut fields = self.named(*at);
            fields.insert("best".to_string(), json!(*at == best));
            fields.insert("scores".to_string(), json!(self.choice.scores[*at]));
            Value::Object(fields)
        });
        let mut proposal = self.named(best);
        proposal.insert("verdict".to_string(), json!(self.choice.verdict));
        proposal.insert("toml".to_string(), json!(self.toml));
        json!({
            "rows": self.rows,
            "start": judged.span.0.seconds(),
            "end": judged.span.1.seconds(),
            "series": judged.series.len(),
            "jobs": judged.jobs.len(),
            "from_start": judged.from_start,
            "false_seconds_max": self.false_seconds_max,
            "warnings": self.warnings,
            "candidates": candidates.collect::<Vec<_>>(),
            "folds": self.choice.folds.each_ref().map(|fold| self.fold(fold)),
            "proposal": proposal,
        })
    }

    fn named(&self, at: usize) -> Map<String, Value> {
        let candidate = &self.candidates[at];
        let keys: Map<String, Value> =
            candidate.keys.iter().map(|set| (set.key.clone(), json!(set.value))).collect();
        let fields =
            [("name", json!(candidate.name)), ("file", json!(candidate.file)), ("keys", Value::Object(keys))];
        fields.map(|(field, value)| (field.to_string(), value)).into_iter().collect()
    }

    fn fold(&self, fold: &Fold) -> Value {
        json!({
            "chosen": self.candidates[fold.chosen].name,
            "there": fold.there,
            "elsewhere": fold.elsewhere,
            "default_elsewhere": fold.default_elsewhere,
        })
    }
}

/// Keys as lines of a configuration, by section.
pub fn toml(keys: &[Assignment]) -> String {
    let mut sections: BTreeMap<&str, String> = BTreeMap::new();
    for set in keys {
        let (section, key) = set.key.rsplit_once('.').unwrap_or(("", &set.key));
        let is_value = toml::from_str::<toml::Table>(&format!("value = {}", set.value)).is_ok();
        let value = if is_value { set.value.clone() } else { format!("{:?}", set.value) };
        *sections.entry(section).or_default() += &format!("{key} = {value}\n");
    }
    let with_head = |(section, lines): (&str, String)| match section {
        "" => lines,
        section => format!("[{section}]\n{lines}"),
    };
    sections.into_iter().map(with_head).collect()
}
