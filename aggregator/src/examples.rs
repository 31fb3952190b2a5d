//! The first dropped row of each reason, kept to show to a person.

use schemas::DropReason;
use std::fmt;
use std::sync::Arc;

/// Longest value shown, in characters.
const VALUE_CHARACTERS_MAX: usize = 80;

/// Where the row that is decoded now comes from. The caller keeps it up to date.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowLocation {
    /// File or topic; empty if unknown.
    pub file: Arc<str>,
    /// Line number from 1, or offset in a partition.
    pub line: u64,
}

impl fmt::Display for RowLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// At most one example of each [`DropReason`]; later ones cost no formatting.
#[derive(Clone, Debug, Default)]
pub struct DropExamples {
    texts: Vec<Option<String>>,
}

impl DropExamples {
    /// The example of `reason` as `file:line: field value`.
    pub fn get(&self, reason: DropReason) -> Option<&str> {
        self.texts.get(reason as usize)?.as_deref()
    }

    /// All examples, in the order of the reasons.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, &str)> {
        let example = |reason: &DropReason| self.get(*reason).map(|text| (*reason, text));
        DropReason::ALL.iter().filter_map(example)
    }

    /// Keeps this one if it is the first of its reason.
    pub(crate) fn offer(&mut self, reason: DropReason, location: &RowLocation, field: &str, value: &[u8]) {
        let at = reason as usize;
        if self.texts.len() <= at {
            self.texts.resize(DropReason::ALL.len(), None);
        }
        if let Some(free @ None) = self.texts.get_mut(at) {
            *free = Some(format!("{location}: {field} {}", shown(value)));
        }
    }
}

fn shown(value: &[u8]) -> String {
    let head = &value[..value.len().min(4 * VALUE_CHARACTERS_MAX)];
    let text = String::from_utf8_lossy(head);
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = text.chars().take(VALUE_CHARACTERS_MAX).map(printable).collect();
    if shown.len() < value.len() {
        shown.push('…');
    }
    shown
}
