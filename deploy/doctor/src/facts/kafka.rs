//! Facts of the brokers: brokers, topics, settings, groups, offsets. Nothing is changed, no group is joined.

use configuration::RunConfig;
use configuration::kafka::{Client, ErrorLog, Role, TopicNames};
use configuration::stage::Stage;
use rdkafka::admin::{AdminClient, AdminOptions, ResourceSpecifier};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::metadata::{Metadata, MetadataTopic};
use rdkafka::{Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::time::Duration;

/// Every stage, in the order of the rows' way.
pub const STAGES: [Stage; 3] = [Stage::Aggregator, Stage::Detector, Stage::Rollup];

/// A consumer that joins no group: partitions are assigned by hand, offsets are never committed. It carries the
/// aggregator's name of a group, since librdkafka wants one, and rights are given by it.
pub type Reader = Client<BaseConsumer<ErrorLog>>;

/// One partition of a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionFacts {
    /// Its number.
    pub number: i32,
    /// Whether a broker leads it.
    pub led: bool,
    /// Copies that should be.
    pub replicas: usize,
    /// Copies that are up to date.
    pub in_sync: usize,
    /// First offset kept.
    pub low: i64,
    /// Offset of the next message.
    pub high: i64,
}

/// One topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicFacts {
    /// Its name.
    pub name: String,
    /// Its partitions.
    pub partitions: Vec<PartitionFacts>,
    /// Its settings; `None` if the brokers do not return them.
    pub settings: Option<BTreeMap<String, String>>,
}

impl TopicFacts {
    /// Messages kept.
    pub fn messages(&self) -> i64 {
        self.partitions.iter().map(|partition| partition.high - partition.low).sum()
    }

    /// Copies of the partition that has fewest.
    pub fn copies(&self) -> usize {
        self.partitions.iter().map(|partition| partition.replicas).min().unwrap_or(0)
    }

    /// A partition by its number.
    pub fn partition(&self, number: i32) -> Option<&PartitionFacts> {
        self.partitions.iter().find(|partition| partition.number == number)
    }
}

/// A consumer group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupFacts {
    /// Its state at the brokers: `Stable`, `Empty`, `PreparingRebalance`…
    pub state: String,
    /// Machines of its members, one each.
    pub members: Vec<String>,
}

/// Everything that the brokers return.
#[derive(Clone, Debug, Default)]
pub struct KafkaFacts {
    /// Name of the cluster.
    pub cluster: Option<String>,
    /// Advertised addresses of the brokers.
    pub brokers: Vec<(i32, String)>,
    /// Protocol of the oldest brokers; `None` where they do not return it (Kafka 4 and later).
    pub protocol: Option<String>,
    /// Raw topics, then Tailback's own that exist.
    pub topics: Vec<TopicFacts>,
    /// Groups, by stage; `None` if the brokers do not return them.
    pub groups: BTreeMap<&'static str, Option<GroupFacts>>,
    /// Next raw offsets of the aggregators: topic, partition, offset.
    pub committed: Vec<(String, i32, i64)>,
}

impl KafkaFacts {
    /// A topic by its name.
    pub fn topic(&self, name: &str) -> Option<&TopicFacts> {
        self.topics.iter().find(|topic| topic.name == name)
    }

    /// Next offset of the aggregators in a raw partition.
    pub fn committed(&self, topic: &str, partition: i32) -> Option<i64> {
        let of = |(t, p, _): &&(String, i32, i64)| t == topic && *p == partition;
        self.committed.iter().find(of).map(|(.., next)| *next)
    }

    /// Topics with rows of LDMS.
    pub fn raw<'a>(&'a self, own: &'a [&str; 4]) -> impl Iterator<Item = &'a TopicFacts> {
        self.topics.iter().filter(|topic| !own.contains(&topic.name.as_str()))
    }
}

/// Names of Tailback's own topics: counters, partials, verdicts, posted jobs.
pub fn own_topics(config: &RunConfig) -> [&str; 4] {
    let kafka = &config.kafka;
    [&kafka.counters_topic, &kafka.partials_topic, &kafka.verdicts_topic, &kafka.jobs_topic]
}

/// Whether `topic` is one with rows of LDMS.
pub fn is_raw(config: &RunConfig, topic: &str) -> bool {
    !topic.starts_with("__") && TopicNames::of(&config.kafka.row_topics()).has(topic)
}

/// Queries the brokers.
///
/// # Errors
/// Why they do not answer, in one sentence.
pub async fn look(config: &RunConfig, timeout: Duration) -> Result<(Reader, KafkaFacts), String> {
    let errors = ErrorLog::default();
    let (reader, metadata, mut facts) = topics(config, &errors, timeout)?;
    settings(config, &metadata, &mut facts, timeout).await;
    for stage in STAGES {
        facts.groups.insert(stage.name(), group(&reader, &config.kafka.group_of(stage), timeout));
    }
    facts.committed = committed(&reader, &facts, &own_topics(config), timeout).unwrap_or_default();
    measure(&reader, &mut facts.topics, timeout).map_err(|error| cause(&reader, &errors, &error))?;
    Ok((reader, facts))
}

/// Topics with offsets alone: what was read, then where they end.
///
/// # Errors
/// As of [`look`]; also where the rights do not reach.
pub fn offsets(config: &RunConfig, timeout: Duration) -> Result<KafkaFacts, String> {
    let errors = ErrorLog::default();
    let (reader, _, mut facts) = topics(config, &errors, timeout)?;
    let cause = |error: KafkaError| cause(&reader, &errors, &error);
    facts.committed = committed(&reader, &facts, &own_topics(config), timeout).map_err(cause)?;
    measure(&reader, &mut facts.topics, timeout).map_err(cause)?;
    Ok(facts)
}

/// What the connection reported last, or the error itself.
fn cause(reader: &Reader, errors: &ErrorLog, error: &KafkaError) -> String {
    errors.poll(reader);
    errors.latest().unwrap_or_else(|| error.to_string())
}

fn topics(
    config: &RunConfig,
    errors: &ErrorLog,
    timeout: Duration,
) -> Result<(Reader, Metadata, KafkaFacts), String> {
    config.kafka.wait_for_token(timeout).map_err(|error| error.to_string())?;
    let reader = reader(config, errors)?;
    let metadata = reader.client().fetch_metadata(None, timeout);
    let metadata = metadata.map_err(|error| cause(&reader, errors, &error))?;
    let own = own_topics(config);
    let wanted = |topic: &&MetadataTopic| {
        topic.error().is_none() && (own.contains(&topic.name()) || is_raw(config, topic.name()))
    };
    let mut topics: Vec<_> = metadata.topics().iter().filter(wanted).map(topic_facts).collect();
    topics.sort_by_key(|topic| (own.contains(&topic.name.as_str()), topic.name.clone()));
    let facts = KafkaFacts {
        cluster: reader.client().fetch_cluster_id(timeout),
        brokers: metadata.brokers().iter().map(|b| (b.id(), format!("{}:{}", b.host(), b.port()))).collect(),
        topics,
        ..KafkaFacts::default()
    };
    Ok((reader, metadata, facts))
}

fn reader(config: &RunConfig, errors: &ErrorLog) -> Result<Reader, String> {
    let own = [("allow.auto.create.topics", "false"), ("queued.max.messages.kbytes", "16384")];
    let role = Role::Consumer(Stage::Aggregator);
    config.kafka.client(role, &own, errors.clone()).map_err(|error| error.to_string())
}

/// A topic whose partitions were not measured yet.
fn topic_facts(topic: &MetadataTopic) -> TopicFacts {
    let mut partitions: Vec<_> = topic
        .partitions()
        .iter()
        .map(|partition| PartitionFacts {
            number: partition.id(),
            led: partition.leader() >= 0,
            replicas: partition.replicas().len(),
            in_sync: partition.isr().len(),
            ..PartitionFacts::default()
        })
        .collect();
    partitions.sort_by_key(|partition| partition.number);
    TopicFacts { name: topic.name().to_string(), partitions, settings: None }
}

/// Where each partition begins and ends. Queried last: a stage that continues meanwhile would be past an end that was
/// read before its position.
fn measure(reader: &Reader, topics: &mut [TopicFacts], timeout: Duration) -> Result<(), KafkaError> {
    for topic in topics {
        for partition in topic.partitions.iter_mut().filter(|partition| partition.led) {
            (partition.low, partition.high) =
                reader.fetch_watermarks(&topic.name, partition.number, timeout)?;
        }
    }
    Ok(())
}

/// Settings of topics and of a broker; what the brokers do not return stays unknown.
async fn settings(config: &RunConfig, metadata: &Metadata, facts: &mut KafkaFacts, timeout: Duration) {
    let admin = config.kafka.client::<_, AdminClient<ErrorLog>>(Role::Admin, &[], ErrorLog::default());
    let Ok(admin) = admin else { return };
    let options = AdminOptions::new().request_timeout(Some(timeout));
    let names: Vec<String> = facts.topics.iter().map(|topic| topic.name.clone()).collect();
    let asked: Vec<ResourceSpecifier<'_>> = names.iter().map(|name| ResourceSpecifier::Topic(name)).collect();
    let answers = match asked.is_empty() {
        true => Vec::new(),
        false => admin.describe_configs(&asked, &options).await.unwrap_or_default(),
    };
    for (topic, answer) in facts.topics.iter_mut().zip(answers) {
        let Ok(resource) = answer else { continue };
        // Topics have no secret settings, but a broker might come to have.
        let known = resource.entries.into_iter().filter(|entry| !entry.is_sensitive);
        topic.settings = Some(known.filter_map(|entry| Some((entry.name, entry.value?))).collect());
    }
    let Some(broker) = metadata.brokers().first() else { return };
    let answers = admin.describe_configs(&[ResourceSpecifier::Broker(broker.id())], &options).await;
    let first = answers.ok().and_then(|answers| answers.into_iter().next()).and_then(Result::ok);
    facts.protocol = first.and_then(|resource| resource.get("inter.broker.protocol.version")?.value.clone());
}

fn group(reader: &Reader, name: &str, timeout: Duration) -> Option<GroupFacts> {
    let list = reader.client().fetch_group_list(Some(name), timeout).ok()?;
    let Some(group) = list.groups().iter().find(|group| group.name() == name) else {
        return Some(GroupFacts { state: "none".to_string(), members: Vec::new() });
    };
    let members =
        group.members().iter().map(|member| member.client_host().trim_start_matches('/').to_string());
    Some(GroupFacts { state: group.state().to_string(), members: members.collect() })
}

fn committed(
    reader: &Reader,
    facts: &KafkaFacts,
    own: &[&str; 4],
    timeout: Duration,
) -> Result<Vec<(String, i32, i64)>, KafkaError> {
    let mut asked = TopicPartitionList::new();
    for topic in facts.raw(own) {
        for partition in &topic.partitions {
            asked.add_partition(&topic.name, partition.number);
        }
    }
    if asked.count() == 0 {
        return Ok(Vec::new());
    }
    let answer = reader.committed_offsets(asked, timeout)?;
    let known = answer.elements().into_iter().filter_map(|element| match element.offset() {
        Offset::Offset(next) => Some((element.topic().to_string(), element.partition(), next)),
        _ => None,
    });
    Ok(known.collect())
}
