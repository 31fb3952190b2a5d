//! Alerts: pending, firing, resolved, by rules that are data; reported as incidents through an outbox to receivers.
//!
//! The engine is pure: its input is updates of series, sources, regions and jobs, its clock the times of their rows. It runs
//! where regions and results of jobs are known, and its state is part of that stage's snapshot. Notices go into the outbox in
//! the transaction of the results, so that each is stored once; their delivery reads the outbox only.
//!
//! | module | what it holds |
//! |---|---|
//! | [`engine`] | [`Alerts`], the state of all alerts, and their transitions |
//! | [`rule`] | a rule, and what may be wrong with its file; the defaults are `detector/alerts/rules/*.toml` |
//! | `text` | its sentences |
//! | [`updates`] | [`Updates`]: what detectors and the roll-up report |
//! | `subject` | current state of series, regions, jobs, sources |
//! | `incident` | alerts that share their notices |
//! | `advise` | what a scheduler may do |
//! | [`silence`] | notices that people hold back for a while |
//! | [`receivers`] | the delivery of notices to Alertmanager, as signed JSON, to Slurm |
//! | [`listing`] | incidents, deliveries and silences as text |

mod advise;
pub mod engine;
mod incident;
pub mod listing;
pub mod receivers;
pub mod rule;
pub mod silence;
mod subject;
mod text;
pub mod updates;

pub use engine::{AlertSettings, Alerts, Route};
pub use updates::Updates;
