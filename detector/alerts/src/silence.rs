//! Silences hold back notices for a while; they do not lose them.

use schemas::{AlertSilence, Notice};

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

/// Until when silences hold a notice back; `None` if none does.
pub fn held_until(silences: &[AlertSilence], notice: &Notice, now_s: f64) -> Option<f64> {
    silences.iter().filter(|s| s.holds(notice, now_s)).map(|s| s.until_s).reduce(f64::max)
}
