//! Secrets in memory.

use serde::Deserialize;
use std::fmt;

/// What stands for a secret wherever a configuration is shown.
pub const HIDDEN: &str = "***";

/// A text that is never shown: `Debug` hides it, and there is no `Display`.
#[derive(Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(transparent)]
pub struct Redacted(String);

impl Redacted {
    /// Hides a text.
    pub fn new(text: String) -> Redacted {
        Redacted(text)
    }

    /// The text, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}
