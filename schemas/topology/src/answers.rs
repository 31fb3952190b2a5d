//! Answers about a topology as text or JSON, as `tailback topology` prints them.
//!
//! | module | what it writes |
//! |---|---|
//! | `summary` | what there is of each level and class, and what it carries |
//! | `ports` | one switch, router or host: its ports and peers |
//! | `path` | the way from one host to another |
//! | `faults` | every contradiction, by kind, with file, line and value |
//! | `plain_form` | the plain form, as TOML or JSON |

mod faults;
mod path;
mod plain_form;
mod ports;
mod summary;

pub use faults::faults;
pub use path::path;
pub use plain_form::plain_form;
pub use ports::ports;
pub use summary::summary;

use crate::graph::VertexIndex;
use crate::readers::TopologyReading;
use std::io;
use std::path::PathBuf;

/// Why there is no answer, or what the answer found wrong.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The answer cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The same for JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The same for TOML.
    #[error("the topology cannot be written as TOML: {0}")]
    Toml(#[source] toml::ser::Error),
    /// No vertex has the name.
    #[error("no switch, router or host is called {name:?}{}", near.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default())]
    NoVertex {
        /// Name that was asked for.
        name: String,
        /// The most similar name.
        near: Option<String>,
    },
    /// Forwarding tables have no entry for a host.
    #[error("{0} has no LID: it is not in the forwarding tables")]
    NoLid(String),
    /// Paths that end before the host.
    #[error("{lost} of {all} ways do not arrive")]
    Lost {
        /// How many.
        lost: usize,
        /// Of how many.
        all: usize,
    },
    /// The topology contradicts itself, or reporting ports are missing from it.
    #[error("the topology has {count} fault{}", if *count == 1 { "" } else { "s" })]
    Faults {
        /// How many.
        count: u64,
    },
    /// The list of series cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line of it is no JSON.
    #[error("{location}: {source}")]
    Line {
        /// File and line.
        location: String,
        /// Why.
        source: serde_json::Error,
    },
    /// A line of it names no series.
    #[error("{0}: no key \"series\"")]
    NoKey(String),
    /// A word in it is no name of a series.
    #[error("{path}: {name:?} is not <metric>/<component>/<part>", path = path.display())]
    NoSeries {
        /// Which file.
        path: PathBuf,
        /// Which word.
        name: String,
    },
}

/// The vertex called `name`, or an error with the most similar name.
fn vertex_called(reading: &TopologyReading, name: &str) -> Result<VertexIndex, AnswerError> {
    let topology = &reading.topology;
    if let Some(vertex) = topology.vertex(name) {
        return Ok(vertex);
    }
    let near = topology
        .vertices()
        .map(|vertex| (strsim::damerau_levenshtein(topology.name(vertex).as_str(), name), vertex))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, vertex)| topology.name(vertex).to_string());
    Err(AnswerError::NoVertex { name: name.to_string(), near })
}
