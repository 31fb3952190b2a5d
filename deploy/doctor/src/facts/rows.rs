//! Sampled rows, decoded as the aggregator does it.

use super::sample::Raw;
use aggregator::confluent::{RegistryClient, RegistryError};
use aggregator::partial::{PartialMetric, partial_metrics};
use aggregator::{AvroSchemas, Decoded, Decoder, NodeNaming, Outcome, RowLocation, SOURCES_MAX};
use configuration::sections::SchemaRegistry;
use schemas::{DropReason, Name};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Most schemas that are requested from the registry.
const ASK_MAX: usize = 50;

/// Rows of a topic whose columns are compared with the catalogue.
const LOOKED_AT: usize = 20;

/// What became of a topic's sampled rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicRows {
    /// The topic.
    pub topic: String,
    /// Messages sampled.
    pub sampled: usize,
    /// Rows used.
    pub used: usize,
    /// Rows dropped: reason, how many, the first one.
    pub dropped: Vec<(DropReason, usize, String)>,
    /// Metrics that sampled rows have some counters of, but not all.
    pub partial: Vec<PartialMetric>,
    /// Schemas of Avro rows that could not be had: number, rows, why.
    pub waiting: BTreeMap<u32, (usize, String)>,
    /// Kafka's time of the newest message, in seconds since the epoch.
    pub newest_s: Option<f64>,
}

/// When a row was sampled and when Kafka got it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamp {
    /// The node that sampled it.
    pub producer: String,
    /// Its timestamp, in seconds since the epoch.
    pub row_s: f64,
    /// Kafka's, in seconds since the epoch.
    pub arrived_s: f64,
}

/// Everything that the sample shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowFacts {
    /// By topic.
    pub topics: Vec<TopicRows>,
    /// Of every row used.
    pub stamps: Vec<Stamp>,
    /// The first row without a producer.
    pub numbered: Option<Numbered>,
}

/// A node that a row names by its number alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// The row's `component_id`.
    pub component_id: u64,
    /// The name that it is given.
    pub node: Name,
    /// Whether the site file or the topology names it.
    pub is_known: bool,
}

/// Schemas of Avro rows, and where they come from.
pub struct Schemas {
    known: AvroSchemas,
    client: Option<RegistryClient>,
    failed: BTreeMap<u32, String>,
    timeout: Duration,
}

impl Schemas {
    /// Reads the folder of schemas, if there is one; nothing is written to it.
    ///
    /// # Errors
    /// A folder or an address that cannot be used.
    pub fn new(config: &SchemaRegistry, timeout: Duration) -> Result<Schemas, String> {
        let login =
            (!config.user.is_empty()).then_some((config.user.as_str(), config.password_file.as_path()));
        let client = match config.url.is_empty() {
            true => None,
            false => {
                Some(RegistryClient::new(config.url.reveal(), login).map_err(|error| error.to_string())?)
            }
        };
        let mut known = AvroSchemas::default();
        if config.cache_dir.is_dir() {
            known.load_dir(&config.cache_dir).map_err(|error| error.to_string())?;
        }
        Ok(Schemas { known, client, failed: BTreeMap::new(), timeout })
    }

    /// Requests a schema; whether it is known now, or known not to exist.
    async fn ask(&mut self, id: u32) -> bool {
        if self.failed.contains_key(&id) || self.failed.len() >= ASK_MAX {
            return false;
        }
        let Some(client) = &self.client else {
            self.failed.insert(id, "no schema_registry.url is set, and no file of the folder has it".into());
            return false;
        };
        match tokio::time::timeout(self.timeout, client.schema(id)).await {
            Ok(Ok(schema)) => {
                if let Err(error) = self.known.insert(id, &schema) {
                    self.known.refuse(id, DropReason::BadAvroSchema, &error.to_string());
                }
                return true;
            }
            Ok(Err(RegistryError::Drop { why, .. })) => {
                self.known.refuse(id, DropReason::UnknownSchemaId, &why);
                return true;
            }
            Ok(Err(error)) => self.failed.insert(id, error.to_string()),
            Err(_) => self.failed.insert(id, "the registry does not answer".into()),
        };
        false
    }
}

/// Decodes a sample, as the aggregator of a site with these `hosts`.
pub async fn decode(sample: &[Raw], schemas: &mut Schemas, hosts: &BTreeSet<Name>) -> RowFacts {
    let topics: BTreeSet<&str> = sample.iter().map(|raw| raw.topic.as_str()).collect();
    let mut facts = RowFacts::default();
    let naming = NodeNaming::default().corrected_by_hosts(hosts);
    for topic in topics {
        let rows = sample.iter().filter(|raw| raw.topic == topic);
        // One decoder a topic, so that each has its own first examples.
        let mut decoder = Decoder::new(naming.clone(), SOURCES_MAX);
        let decoded = decode_topic(topic, rows, &mut decoder, schemas, &mut facts.stamps).await;
        facts.topics.push(decoded);
        let numbered = |(component_id, node): &(u64, Name)| Numbered {
            component_id: *component_id,
            node: node.clone(),
            is_known: hosts.contains(node),
        };
        facts.numbered = facts.numbered.take().or_else(|| decoder.numbered().map(numbered));
    }
    facts
}

async fn decode_topic<'a>(
    topic: &str,
    sample: impl Iterator<Item = &'a Raw>,
    decoder: &mut Decoder,
    schemas: &mut Schemas,
    stamps: &mut Vec<Stamp>,
) -> TopicRows {
    let mut rows = TopicRows { topic: topic.to_string(), ..TopicRows::default() };
    let mut out = Decoded::default();
    for raw in sample {
        rows.sampled += 1;
        let arrived_s = raw.arrived_ms.map(|ms| ms as f64 / 1e3);
        rows.newest_s = rows.newest_s.into_iter().chain(arrived_s).reduce(f64::max);
        match decode_message(topic, raw, decoder, schemas, &mut out).await {
            Outcome::Row | Outcome::Rows(..) | Outcome::Jobs(_) | Outcome::Skipped => rows.used += 1,
            Outcome::Dropped(_) => {}
            Outcome::NeedsSchema(id) => {
                let why = schemas.failed.get(&id).cloned().unwrap_or_default();
                rows.waiting.entry(id).or_insert((0, why)).0 += 1;
            }
        }
        // Rows of one topic are of one schema, mostly: a few show it.
        if rows.sampled <= LOOKED_AT {
            add_partial(&mut rows.partial, partial_metrics(&raw.payload, &schemas.known));
        }
        for (source, time, _) in out.counters.rows() {
            let Some((source, arrived_s)) = decoder.sources().get(source).zip(arrived_s) else { continue };
            let producer = source.producer.as_str().to_string();
            stamps.push(Stamp { producer, row_s: time.seconds(), arrived_s });
        }
    }
    let example = |reason| decoder.examples().get(reason).unwrap_or_default().to_string();
    rows.dropped = decoder.drops().nonzero().map(|(r, count)| (r, count as usize, example(r))).collect();
    rows
}

fn add_partial(known: &mut Vec<PartialMetric>, found: Vec<PartialMetric>) {
    for partial in found {
        if known.iter().all(|other| other.metric != partial.metric) {
            known.push(partial);
        }
    }
}

/// Decodes one message; a schema that it needs is requested once.
async fn decode_message(
    topic: &str,
    raw: &Raw,
    decoder: &mut Decoder,
    schemas: &mut Schemas,
    out: &mut Decoded,
) -> Outcome {
    let file = format!("{topic}/{}", raw.partition).into();
    decoder.location = RowLocation { file, line: raw.offset.max(0) as u64 };
    loop {
        out.clear();
        match decoder.message(Some(topic), &raw.payload, &schemas.known, out) {
            Outcome::NeedsSchema(id) if schemas.ask(id).await => {}
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(offset: i64, payload: &str) -> Raw {
        let payload = payload.as_bytes().to_vec();
        Raw { topic: "ldms.x".into(), partition: 0, offset, arrived_ms: Some(2_000), payload }
    }

    #[tokio::test]
    async fn rows_are_counted_by_what_became_of_them() {
        let config = configuration::RunConfig::load(None).unwrap();
        let mut schemas = Schemas::new(&config.schema_registry, Duration::from_secs(1)).unwrap();
        let avro = Raw { payload: vec![0, 0, 0, 0, 7, 1], ..raw(2, "") };
        let facts =
            decode(&[raw(0, "{nan"), raw(1, "{\"vmstat\":1}"), avro], &mut schemas, &BTreeSet::new()).await;
        let rows = &facts.topics[0];
        assert_eq!((rows.sampled, rows.used), (3, 0));
        assert_eq!(rows.dropped.len(), 2);
        assert!(rows.dropped[0].2.starts_with("ldms.x/0:0: "), "{rows:?}");
        assert_eq!(rows.waiting[&7].0, 1);
        assert_eq!(rows.newest_s, Some(2.0));
    }

    #[tokio::test]
    async fn row_without_a_producer_is_named_as_the_sites_hosts() {
        let config = configuration::RunConfig::load(None).unwrap();
        let mut schemas = Schemas::new(&config.schema_registry, Duration::from_secs(1)).unwrap();
        let row = raw(
            0,
            "{\"timestamp\":1795217400.5,\"component_id\":1,\"fs_name\":\"home\",\"llite\":\"home-1\",\"write_bytes.sum\":7}",
        );
        let hosts: BTreeSet<Name> = ["nid0001", "nid0002"].map(|host| Name::parse(host).unwrap()).into();
        let numbered = decode(std::slice::from_ref(&row), &mut schemas, &hosts).await.numbered.unwrap();
        assert!(numbered.is_known && numbered.node.as_str() == "nid0001", "{numbered:?}");
        let numbered = decode(&[row], &mut schemas, &BTreeSet::new()).await.numbered.unwrap();
        assert!(!numbered.is_known && numbered.component_id == 1, "{numbered:?}");
    }
}
