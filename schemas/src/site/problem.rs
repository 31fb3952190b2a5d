//! What is wrong with a site file.

use std::fmt;
use toml::de::{DeTable, DeValue};

/// One thing that is wrong, or that should not stay so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteProblem {
    /// Line of the file, counted from 1; 0 if the file as a whole is meant.
    pub line: usize,
    /// The key's path: `hosts[1].ports`; empty if the file as a whole is meant.
    pub key: String,
    /// A sentence with the value.
    pub text: String,
}

impl fmt::Display for SiteProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.text)
    }
}

/// All that is wrong with a site file, one sentence a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct SiteError(pub Vec<SiteProblem>);

/// Line of the byte at `offset`.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|b| **b == b'\n').count() + 1
}

/// Line on which `key` is set; that of the table around it where the key is not set, 0 where neither is.
pub(super) fn line_of(text: &str, key: &str) -> usize {
    let Ok(spanned) = DeTable::parse(text) else { return 0 };
    let mut table = spanned.get_ref();
    let mut line = 0;
    for step in key.split('.') {
        let (name, index) = match step.trim_end_matches(']').split_once('[') {
            Some((name, index)) => (name, index.parse::<usize>().ok()),
            None => (step, None),
        };
        let Some((written, value)) = table.iter().find(|(written, _)| written.get_ref() == name) else {
            break;
        };
        line = line_at(text, written.span().start);
        let value = match (index, value.get_ref()) {
            (Some(index), DeValue::Array(items)) => match items.get(index) {
                Some(item) => {
                    line = line_at(text, item.span().start);
                    item.get_ref()
                }
                None => break,
            },
            (_, value) => value,
        };
        let DeValue::Table(inner) = value else { break };
        table = inner;
    }
    line
}
