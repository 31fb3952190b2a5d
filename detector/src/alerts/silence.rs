//! Silences hold back notices for a while; they do not lose them.

use schemas::Notice;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Notices whose labels match all of it, between two times, stay unsent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlertSilence {
    /// Its number.
    pub id: String,
    /// Label and the text it must have; `*` at its end stands for anything.
    pub matchers: BTreeMap<String, String>,
    /// From when, in seconds since the epoch, by the deliverer's clock.
    pub from_s: f64,
    /// Until when.
    pub until_s: f64,
    /// Author.
    pub author: String,
    /// Why.
    pub comment: String,
}

/// A matcher that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a matcher must be LABEL=TEXT, as alertname=link_contended or subject=leaf-*, not {0:?}")]
pub struct MatcherError(pub String);

/// Reads `LABEL=TEXT`.
///
/// # Errors
/// [`MatcherError`].
pub fn matcher(text: &str) -> Result<(String, String), MatcherError> {
    let word = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    match text.split_once('=') {
        Some((label, value)) if word(label) && !value.is_empty() && value.len() <= 256 => {
            Ok((label.to_string(), value.to_string()))
        }
        _ => Err(MatcherError(text.to_string())),
    }
}

impl AlertSilence {
    /// Whether it holds a notice back at `now_s`.
    pub fn holds(&self, notice: &Notice, now_s: f64) -> bool {
        let matches = |(label, wanted): (&String, &String)| {
            let Some(value) = notice.labels.get(label) else { return false };
            match wanted.strip_suffix('*') {
                Some(beginning) => value.starts_with(beginning),
                None => value == wanted,
            }
        };
        (self.from_s..self.until_s).contains(&now_s)
            && !self.matchers.is_empty()
            && self.matchers.iter().all(matches)
    }
}

/// Until when silences hold a notice back; `None` if none does.
pub fn held_until(silences: &[AlertSilence], notice: &Notice, now_s: f64) -> Option<f64> {
    silences.iter().filter(|s| s.holds(notice, now_s)).map(|s| s.until_s).reduce(f64::max)
}
