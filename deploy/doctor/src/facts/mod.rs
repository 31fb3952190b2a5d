//! What can be learnt of an installation. Each question is bounded by `doctor.timeout_s`; nothing is changed anywhere.
//!
//! | module | facts of |
//! |---|---|
//! | [`database`] | server, tiers, positions, producers |
//! | [`kafka`] | brokers, topics, groups, offsets |
//! | [`broker_addresses`] | whether brokers can be reached from here |
//! | [`sample`] | a few messages, read without a group |
//! | [`rows`] | what became of sampled rows |
//! | [`stages`] | what each stage has read, and what waits |
//! | [`registry`] | the schema registry |
//! | [`endpoints`] | `/metrics` and `/readyz` of this machine |
//! | [`receivers`] | whether receivers of alerts accept our credentials |

pub mod broker_addresses;
pub mod database;
pub mod endpoints;
pub mod kafka;
pub mod receivers;
pub mod registry;
pub mod rows;
pub mod sample;
pub mod stages;

use ::schemas::Name;
use configuration::RunConfig;
use database::{DatabaseFacts, Refusal};
use endpoints::Endpoint;
use kafka::{KafkaFacts, Reader};
use receivers::Probed;
use rows::{RowFacts, Schemas};
use stages::StageFacts;
use std::collections::BTreeSet;
use std::time::Duration;
use store::read::doctor::Position;
use topology::node_places;
use topology::readers::read;

/// Why facts of the brokers are not known.
const NO_BROKER: &str = "the broker does not answer";
/// Why facts of the database are not known.
const NO_DATABASE: &str = "the database does not answer";

/// What could be learnt of an installation; an error is the reason why not.
pub struct Site<'a> {
    /// Its configuration.
    pub config: &'a RunConfig,
    /// Bound of each question.
    pub timeout: Duration,
    /// This machine's clock when rows had been sampled, in seconds since the epoch.
    pub now_s: f64,
    /// The database.
    pub database: Result<DatabaseFacts, Refusal>,
    /// Brokers and topics.
    pub kafka: Result<KafkaFacts, String>,
    /// Advertised addresses of brokers that do not answer from here, with the reason.
    pub unreachable: Vec<(String, String)>,
    /// Sampled rows.
    pub rows: Result<RowFacts, String>,
    /// Tailback's stages.
    pub stages: Result<Vec<StageFacts>, String>,
    /// Subjects of the schema registry; `None` where none is configured.
    pub registry: Option<Result<usize, String>>,
    /// What answers at `http.listen`.
    pub endpoint: Endpoint,
    /// Receivers of alerts.
    pub receivers: Vec<Probed>,
}

impl<'a> Site<'a> {
    /// Asks everything once.
    pub async fn look(config: &'a RunConfig) -> Site<'a> {
        let timeout = Duration::from_secs_f64(config.doctor.timeout_s);
        // First where the stages are, then where the topics end: the other way round, working stages seem ahead.
        let database = database::look(config, timeout).await;
        let brokers = kafka::look(config, timeout).await;
        let rows = match &brokers {
            Ok((reader, facts)) => sampled(config, reader, facts, timeout).await,
            Err(_) => Err(NO_BROKER.to_string()),
        };
        let now_s = now_s();
        let positions = database.as_ref().ok().and_then(|facts| facts.positions.as_ref().ok());
        let positions: &[Position] = positions.map_or(&[], Vec::as_slice);
        let stages = match &brokers {
            Ok((reader, facts)) => Ok(stages::gather(config, facts, positions, reader, timeout)),
            Err(_) => Err(NO_BROKER.to_string()),
        };
        let kafka = brokers.map(|(_, facts)| facts);
        let unreachable = match &kafka {
            Ok(facts) => broker_addresses::unreachable(facts, timeout).await,
            Err(_) => Vec::new(),
        };
        let registry = registry::subjects(&config.schema_registry, timeout).await;
        let endpoint = endpoints::look(&config.http, timeout).await;
        let receivers = receivers::look(&config.alerts.receivers, timeout).await;
        Site {
            config,
            timeout,
            now_s,
            database,
            kafka,
            unreachable,
            rows,
            stages,
            registry,
            endpoint,
            receivers,
        }
    }

    /// A part of what the database returns, or why it is not known.
    ///
    /// # Errors
    /// The reason, in one sentence.
    pub fn of_database<T>(
        &self,
        part: impl FnOnce(&DatabaseFacts) -> &Result<T, String>,
    ) -> Result<&T, &str> {
        match &self.database {
            Ok(facts) => part(facts).as_ref().map_err(String::as_str),
            Err(_) => Err(NO_DATABASE),
        }
    }
}

async fn sampled(
    config: &RunConfig,
    reader: &Reader,
    facts: &KafkaFacts,
    timeout: Duration,
) -> Result<RowFacts, String> {
    let own = kafka::own_topics(config);
    let wants = sample::tails(facts.raw(&own));
    let sample =
        sample::read(reader, &wants, timeout).map_err(|error| format!("rows cannot be read: {error}"))?;
    match (wants.is_empty(), sample.is_empty()) {
        (true, _) => return Err("there are no rows in the raw topics".to_string()),
        (false, true) => return Err(format!("no row came within {} s", timeout.as_secs_f64())),
        (false, false) => {}
    }
    let mut schemas = Schemas::new(&config.schema_registry, timeout)?;
    Ok(rows::decode(&sample, &mut schemas, &hosts(config)).await)
}

/// Hosts of the site file and the topology; a topology that cannot be read is a finding of its own.
fn hosts(config: &RunConfig) -> BTreeSet<Name> {
    let expected = config.site.expected.iter().map(|expected| expected.producer.clone());
    let places = match config.site.topology.is_empty() {
        true => Vec::new(),
        false => {
            read(&config.site.topology).map_or_else(|_| Vec::new(), |reading| node_places(&reading.topology))
        }
    };
    expected.chain(places.into_iter().map(|place| place.node)).collect()
}

/// The clock of this machine, in seconds since the epoch.
fn now_s() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
