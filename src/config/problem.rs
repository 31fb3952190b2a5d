//! Where a value came from, and what is wrong with it.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where a value was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The embedded defaults.
    Default,
    /// A line, counted from 1, of the user's file; 0 where the file as a whole is meant.
    File {
        /// The file, as it was given.
        file: PathBuf,
        /// The line.
        line: usize,
    },
    /// An environment variable, by its name.
    Environment(String),
}

impl Origin {
    /// A path that was written there: relative ones count from the folder of the file that names them.
    pub fn resolve(&self, path: &str) -> PathBuf {
        match self {
            Origin::File { file, .. } => file.parent().unwrap_or(Path::new("")).join(path),
            Origin::Default | Origin::Environment(_) => PathBuf::from(path),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File { file, line: 0 } => write!(f, "{}", file.display()),
            Origin::File { file, line } => write!(f, "{}:{line}", file.display()),
            Origin::Environment(name) => f.write_str(name),
        }
    }
}

/// One thing that is wrong, or that should not stay so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where the value was set.
    pub origin: Origin,
    /// The key's full path; empty where a file as a whole is meant.
    pub key: String,
    /// A sentence that names the key; never a secret.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin {
            Origin::Default => f.write_str(&self.text),
            Origin::File { .. } | Origin::Environment(_) => write!(f, "{}: {}", self.origin, self.text),
        }
    }
}

/// All that is wrong with a configuration, one sentence a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ConfigError(pub Vec<Problem>);
