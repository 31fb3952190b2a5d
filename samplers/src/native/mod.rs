//! The native sampler: reads the counters of one node from the kernel's files once a second and writes them as
//! rows of the same shape as LDMS's. Clock, roots of the file systems and outputs are given from outside.
//!
//! | module | what it holds |
//! |---|---|
//! | [`node`] | [`Roots`] and [`Node`]: where to read, and whose rows these are |
//! | [`schedule`] | [`Schedule`]: when to sample |
//! | [`clock`] | [`Clock`]: the time and the wait, real or injected |
//! | [`selection`] | [`Selection`]: which counters; the lists stand in `*_counters.txt` |
//! | [`discovery`] | which devices and mounts there are now |
//! | `counter_files` | folders with one number a file: InfiniBand, Slingshot |
//! | `llite` | the `stats` file of a Lustre mount |
//! | `request_waits` | how long requests to the servers of a Lustre file system wait |
//! | `stats_file` | statistics files of Lustre |
//! | `set` | what one row is made of, and its unchanging beginning |
//! | [`sampler`] | [`Sampler`]: all sets of the node; devices come and go |
//! | [`tick_rows`] | [`TickRows`]: the lines of one tick |
//! | [`event`] | [`Event`]: what a person should know, one sentence each |
//! | [`sink`] | [`Sink`]: where rows go |
//! | [`outlet`] | [`Outlet`]: a sink that writes in the background from a bounded buffer |
//! | [`targets`] | files and sockets behind an outlet |
//! | [`kafka`] | a sink that publishes to Kafka |
//! | [`address`] | [`Address`] of a socket |
//! | [`looping`] | [`looping::run`]: tick after tick |
//! | [`processor_time`] | [`ProcessorTime`]: what the sampler costs |
//! | [`statistics`] | [`TickStatistics`]: jitter and length of ticks |

pub mod address;
pub mod clock;
mod counter_files;
pub mod discovery;
pub mod event;
pub mod kafka;
mod llite;
pub mod looping;
pub mod node;
pub mod outlet;
pub mod processor_time;
mod request_waits;
pub mod sampler;
pub mod schedule;
pub mod selection;
mod set;
pub mod sink;
pub mod statistics;
mod stats_file;
pub mod targets;
pub mod tick_rows;

pub use address::Address;
pub use clock::{Clock, SystemClock, Wake};
pub use event::Event;
pub use node::{Node, Roots};
pub use outlet::Outlet;
pub use processor_time::ProcessorTime;
pub use sampler::Sampler;
pub use schedule::Schedule;
pub use selection::Selection;
pub use sink::Sink;
pub use statistics::TickStatistics;
pub use tick_rows::{Kind, TickRows};
