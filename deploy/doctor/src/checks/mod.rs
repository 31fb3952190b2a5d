//! Judgements of facts: functions without network, clock or database.
//!
//! | module | what it judges |
//! |---|---|
//! | [`configuration`] | the configuration |
//! | [`brokers`], [`raw_topics`], [`own_topics`], `leaders` | Kafka |
//! | [`arrival`], [`rows`], [`registry`] | rows from ldmsd, and the schemas of Avro rows |
//! | [`samplers`], [`clocks`] | samplers that are silent or missing, clocks of producers |
//! | [`topology`] | the network's links and peers |
//! | [`server`], [`tiers`] | the database server; its migrations, policies and tables |
//! | [`lag`], [`conditions`], [`positions`], [`rejected`], [`endpoint`] | Tailback's stages |
//! | [`receivers`] | receivers of alerts |
//! | [`versions`] | versions |

pub mod arrival;
pub mod brokers;
pub mod clocks;
pub mod conditions;
pub mod configuration;
pub mod endpoint;
#[cfg(test)]
mod example_stage;
pub mod lag;
mod leaders;
pub mod own_topics;
pub mod positions;
pub mod raw_topics;
pub mod receivers;
pub mod registry;
pub mod rejected;
pub mod rows;
pub mod samplers;
pub mod server;
pub mod tiers;
pub mod topology;
pub mod versions;
