//! From bytes of LDMS rows to counters, job events and counts of what was dropped.
//!
//! | module | what it holds |
//! |---|---|
//! | [`decode`] | [`Decoder`]: JSON rows to [`Decoded`], sources numbered, drops counted |
//! | [`csv`] | the same for lines of `store_csv` under a header |
//! | [`avro`] | the same for Avro messages, whose schemas [`AvroSchemas`] holds |
//! | [`confluent`] | [`RegistryClient`]: schemas from a Confluent-compatible registry |
//! | `layout` | the fast way: rows of one set differ only in their values |
//! | `json` | the general way: any JSON object |
//! | `plan` | what a list of columns means: parts, counters, or why it is of no use |
//! | [`columns`] | column and schema names of LDMS |
//! | `family` | the schemas used, with metric and rank |
//! | `registry` | from the values that identify a row to its source |
//! | [`naming`] | [`NodeNaming`]: from `component_id` to a node |
//! | `number` | counters and timestamps, exact |
//! | `job_rows` | job events out of rows |
//! | `slurm` | job events out of Slurm's messages and its scripts' |
//! | [`jobs`] | [`JobBook`]: job events to jobs; job files |
//! | [`examples`] | the first dropped row of each reason |
//! | [`source`] | [`InputFile`]: a file of rows and its lines |
//! | `kind` | what a file is, by name and content |
//! | [`topology`] | [`topology::read`]: fabric tools' output, cnames, parameters of machines to a topology |
//! | [`ldms`] | configuration of aggregator daemons, in pieces |
//! | [`merge`] | [`Replay`]: many files at once, in order of time |

pub mod avro;
pub mod columns;
pub mod confluent;
pub mod csv;
pub mod decode;
pub mod examples;
mod family;
mod job_rows;
pub mod jobs;
mod json;
mod kind;
mod layout;
pub mod ldms;
pub mod merge;
pub mod naming;
mod number;
mod plan;
mod registry;
mod slurm;
pub mod source;
pub mod topology;

pub use avro::{AvroSchemas, SchemaError};
pub use confluent::{RegistryClient, RegistryError};
pub use csv::CsvFile;
pub use decode::{Decoded, Decoder, Outcome, SOURCES_MAX};
pub use examples::{DropExamples, Place};
pub use jobs::JobBook;
pub use merge::Replay;
pub use naming::NodeNaming;
pub use registry::NamingConflict;
pub use source::{InputError, InputFile};
pub use topology::{TopologyError, TopologyReading};

#[cfg(test)]
extern crate self as aggregator;
#[cfg(test)]
#[path = "../tests/main.rs"]
mod integration;
