//! Models, stream rules and losses, from outside.
//!
//! | module | what it holds |
//! |---|---|
//! | `published`, `robust` | each model: equations by hand, limits, bytes per series |
//! | `accuracy` | both models compared with known truth; writes `ACCURACY.md` |
//! | `fabric` | regions, kinds, causes and losses on links compared with the lab; writes `ACCURACY_LINKS.md` |
//! | `quiet` | a machine that only lives: false regions a day |
//! | `strategies` | model then reduce, reduce then model |
//! | `stream_rules` | DESIGN 6, rule by rule: rows in, signals out |
//! | `silence`, `links_in_order` | sources that go silent; links whose rows come in another order |
//! | `clocks` | clocks that are wrong, and right again |
//! | `judged` | jobs: what had a quiet baseline, and what may be reported of the rest |
//! | `mounts` | one file system that a node has mounted more than once |
//! | `blame` | causes of a fall, and their shares |
//! | `served` | jobs that only servers show |
//! | `judgement` | falls: contention or a phase of the job itself |
//! | `machine`, `stream` | rows fed to a detector |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and print"
)]

mod accuracy;
mod blame;
mod clocks;
mod fabric;
mod judged;
mod judgement;
mod links_in_order;
mod machine;
mod mounts;
mod published;
mod quiet;
mod robust;
mod served;
mod silence;
mod strategies;
mod stream;
mod stream_rules;
