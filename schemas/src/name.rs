//! Words from outside: producers, components, mounts, ports, jobs.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Longest name accepted, in bytes; LDMS producers and sets are shorter.
pub const NAME_BYTES_MAX: usize = 128;

/// A validated word: 1 to 128 of `A-Z a-z 0-9 . _ - : @ + #`, so that it may stand in a path, a topic,
/// a series name or SQL without quoting. It never holds the separator `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(Arc<str>);

/// Why a word is no [`Name`]. The row that carries it is dropped and counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing between the quotes.
    #[error("the name is empty")]
    Empty,
    /// Longer than [`NAME_BYTES_MAX`].
    #[error("the name has {0} bytes, more than {NAME_BYTES_MAX}")]
    TooLong(usize),
    /// A character outside the set of [`Name`], or a name of dots alone.
    #[error("the name {0:?} has a character other than letters, digits and . _ - : @ + #")]
    Character(String),
}

impl Name {
    /// Validates `text`.
    ///
    /// # Errors
    /// [`NameError`] names the error.
    pub fn parse(text: &str) -> Result<Name, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.len() > NAME_BYTES_MAX {
            return Err(NameError::TooLong(text.len()));
        }
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._-:@+#".contains(&b);
        if !text.bytes().all(allowed) || text.bytes().all(|b| b == b'.') {
            return Err(NameError::Character(text.to_string()));
        }
        Ok(Name(text.into()))
    }

    /// Whether another copy of this value exists: copies share one text.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// The word itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;
    fn try_from(text: String) -> Result<Name, NameError> {
        Name::parse(&text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0.as_ref().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_field_are_accepted() {
        for name in ["nid00012", "c0-0c1s8a0", "snx11168-ffff88103d6bd000", "mlx5_0.1", "1234_5", "1234+0"] {
            assert_eq!(Name::parse(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn names_that_could_leave_a_path_or_a_query_are_refused() {
        for name in ["", "..", "a/b", "x'; DROP TABLE jobs;--", "a b", "a\0", "é", &"x".repeat(129)] {
            assert!(Name::parse(name).is_err(), "{name:?}");
        }
    }
}
