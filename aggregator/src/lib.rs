//! From bytes of LDMS rows to counters, job events and counts of what was dropped.
//!
//! | module | what it holds |
//! |---|---|
//! | [`decode`] | [`Decoder`]: JSON rows to [`Decoded`], sources numbered, drops counted |
//! | `books` | sizes and end of what the decoder knows by name |
//! | [`csv`] | the same for lines of `store_csv` under a header |
//! | [`avro`] | the same for Avro messages, whose schemas [`AvroSchemas`] holds |
//! | [`confluent`] | [`RegistryClient`]: schemas from a Confluent-compatible registry |
//! | `table` | the fields of a line of CSV |
//! | `several` | messages that hold several rows |
//! | `nested` | rows with records and lists of records to flat rows |
//! | `fabric_telemetry`, `switch_port` | messages of HPE's fabric telemetry to flat rows |
//! | `layout` | the fast way: rows of one set differ only in their values |
//! | `json` | the general way: any JSON object |
//! | `plan` | what a list of columns means: parts, counters, or why it is of no use |
//! | `shape` | the counters of a row, in their order |
//! | `part_key` | the part that a column's name holds |
//! | `names` | spellings of column names |
//! | [`columns`] | column and schema names of LDMS |
//! | `sources` | the catalogue's LDMS schemas, compiled |
//! | `patterns` | patterns of columns, by what is the same in all of them |
//! | `role` | what a column of a row is for |
//! | `registry` | from the values that identify a row to its source |
//! | [`naming`] | [`NodeNaming`]: from `component_id` to a node |
//! | `number` | counters and timestamps, exact |
//! | `job_column` | jobs out of the `job_id` that rows carry |
//! | `job_rows` | job events out of rows |
//! | `slurm` | job events out of Slurm's messages and its scripts' |
//! | [`jobs`] | [`JobBook`]: job events to jobs; job files |
//! | [`examples`] | the first dropped row of each reason |
//! | `inputs` | files and folders that are named as inputs |
//! | [`source`] | a file of rows: what it is, and when its rows were sampled |
//! | `lines` | lines of a file, or JSON objects that stand on several |
//! | `sort` | rows of one file in the order of time, in bounded memory |
//! | `run` | rows of a file or of an ordered piece of it, with a look-ahead |
//! | `kind` | what a file is, by name and content |
//! | [`partial`] | metrics of which a row has some counters only |
//! | [`unused`] | what of the inputs was not used, in words |
//! | [`ldms`] | configuration of aggregator daemons, in pieces |
//! | [`merge`] | [`Replay`]: many files at once, in order of time or of arrival |

pub mod avro;
mod books;
pub mod columns;
pub mod confluent;
pub mod csv;
pub mod decode;
pub mod examples;
mod fabric_telemetry;
mod inputs;
mod job_column;
mod job_rows;
pub mod jobs;
mod json;
mod kind;
mod layout;
pub mod ldms;
mod lines;
pub mod merge;
mod names;
pub mod naming;
mod nested;
mod number;
mod part_key;
pub mod partial;
mod patterns;
mod plan;
mod registry;
mod role;
mod run;
mod several;
mod shape;
mod slurm;
mod sort;
pub mod source;
mod sources;
mod switch_port;
mod table;
pub mod unused;

pub use avro::{AvroSchemas, SchemaError};
pub use confluent::{RegistryClient, RegistryError};
pub use csv::CsvFile;
pub use decode::{Decoded, Decoder, Outcome, SOURCES_MAX};
pub use examples::{DropExamples, RowLocation};
pub use jobs::JobBook;
pub use merge::{Replay, RowOrder};
pub use names::WANTED;
pub use naming::NodeNaming;
pub use registry::NamingConflict;
pub use source::{InputError, SkippedFile};

#[cfg(test)]
extern crate self as aggregator;
#[cfg(test)]
#[path = "../tests/main.rs"]
mod integration;
