//! Properties of librdkafka: what Tailback sets, what a site may set, what must not be changed.

use super::merge::Layers;
use super::rules;
use super::secrets::is_secret;
use super::sections::{Kafka, Stage};
use rdkafka::ClientConfig;
use rdkafka::error::KafkaError;
use schemas::secret::HIDDEN;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// The role of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A consumer in the group of a stage.
    Consumer(Stage),
    /// A producer.
    Producer,
    /// Creates and checks topics.
    Admin,
}

/// Properties as librdkafka names them; `Debug` hides those that are secret.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Properties(pub BTreeMap<String, String>);

impl fmt::Debug for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(name, value)| (name, if is_secret(name) { HIDDEN } else { value });
        f.debug_map().entries(self.0.iter().map(|(name, value)| shown((name, value.as_str())))).finish()
    }
}

/// Properties with two names: what one is also called, and the name that is kept here.
const ALIASES: [(&str, &str); 12] = [
    ("metadata.broker.list", "bootstrap.servers"),
    ("max.in.flight.requests.per.connection", "max.in.flight"),
    ("sasl.mechanism", "sasl.mechanisms"),
    ("sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.client.id"),
    ("sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.client.secret"),
    ("max.partition.fetch.bytes", "fetch.message.max.bytes"),
    ("queue.buffering.max.ms", "linger.ms"),
    ("message.send.max.retries", "retries"),
    ("compression.type", "compression.codec"),
    ("request.required.acks", "acks"),
    ("message.timeout.ms", "delivery.timeout.ms"),
    ("auto.commit.enable", "enable.auto.commit"),
];

/// What a site must not set, with what to do instead.
const OURS: [(&str, &str); 10] = [
    ("bootstrap.servers", "set kafka.brokers"),
    ("client.id", "set kafka.client_id"),
    ("group.id", "set kafka.group"),
    ("message.max.bytes", "set kafka.message_max_bytes"),
    ("enable.auto.commit", "Tailback keeps offsets with its results, so that nothing counts twice"),
    ("enable.auto.offset.store", "Tailback keeps offsets with its results, so that nothing counts twice"),
    ("isolation.level", "Tailback reads committed messages only"),
    ("enable.idempotence", "without it a message may be written twice"),
    ("acks", "Tailback waits for all copies, so that nothing is lost"),
    ("transactional.id", "it is made from kafka.group and run.instance"),
];

/// Properties that sites set most; librdkafka cannot list all of them.
const COMMON: [&str; 19] = [
    "security.protocol",
    "sasl.mechanisms",
    "sasl.username",
    "sasl.password",
    "sasl.kerberos.service.name",
    "sasl.kerberos.keytab",
    "sasl.kerberos.principal",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    "enable.ssl.certificate.verification",
    "client.rack",
    "compression.codec",
    "linger.ms",
    "fetch.wait.max.ms",
    "session.timeout.ms",
    "socket.keepalive.enable",
];

/// The name under which a property is kept here, so that two names of one property do not both reach librdkafka.
fn canonical(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, kept)| kept)
}

impl Kafka {
    /// The consumer group of a stage.
    pub fn group_of(&self, stage: Stage) -> String {
        format!("{}.{}", self.group, stage.name())
    }

    /// Every property for a connection. Some are secret: not for the log.
    pub fn properties(&self, role: Role) -> Vec<(String, String)> {
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        let mut set = |name: &str, value: &str| {
            all.insert(canonical(name).to_string(), value.to_string());
        };
        // Defaults of a site.
        match role {
            Role::Consumer(stage) => {
                set("auto.offset.reset", "earliest");
                // Detectors wait half a minute for a raw partition without a reader: the next one must begin before.
                set("session.timeout.ms", "10000");
                // Kilobytes fetched ahead, of each partition: librdkafka's 64 MB would be gigabytes on many.
                let ahead = if stage == Stage::Aggregator { "4096" } else { "8192" };
                set("queued.max.messages.kbytes", ahead);
                // A full queue is looked at again soon; librdkafka's second would be felt.
                set("fetch.queue.backoff.ms", "5");
                set("fetch.message.max.bytes", "1048576");
                // A second's rows come within some hundred milliseconds: an answer for every few of them costs broker and
                // stages more than what is in it.
                set("fetch.min.bytes", "262144");
                // A smaller answer waits this long. A broker answers a connection in order: a request for the end of an idle
                // partition waits for the fetch before, which is librdkafka's 500 ms.
                set("fetch.wait.max.ms", "50");
            }
            Role::Producer => {
                set("compression.codec", "lz4");
                // Fewer and larger batches of a burst: each costs the broker and the reader.
                set("linger.ms", "50");
                set("queue.buffering.max.kbytes", "65536");
                // Brokers may be away for long: what was decoded waits.
                set("delivery.timeout.ms", "0");
            }
            Role::Admin => {}
        }
        let of_role = match role {
            Role::Consumer(_) => Some(&self.consumer),
            Role::Producer => Some(&self.producer),
            Role::Admin => None,
        };
        for (name, value) in
            [Some(&self.librdkafka), of_role].into_iter().flatten().flat_map(|given| &given.0)
        {
            set(name, value);
        }
        set("bootstrap.servers", &self.brokers.join(","));
        set("client.id", &self.client_id);
        set("message.max.bytes", &self.message_max_bytes.to_string());
        for (name, secret) in
            [("sasl.password", &self.sasl_password), ("ssl.key.password", &self.ssl_key_password)]
        {
            if let Some(secret) = secret {
                set(name, secret.reveal());
            }
        }
        self.own_properties(role, &mut set);
        all.into_iter().collect()
    }

    /// What exactly-once rests on.
    fn own_properties(&self, role: Role, set: &mut dyn FnMut(&str, &str)) {
        match role {
            Role::Consumer(stage) => {
                set("group.id", &self.group_of(stage));
                set("enable.auto.commit", "false");
                set("enable.auto.offset.store", "false");
                set("isolation.level", "read_committed");
            }
            Role::Producer => {
                set("enable.idempotence", "true");
                set("acks", "all");
            }
            Role::Admin => {}
        }
    }
}

/// Checks brokers, topics and properties.
pub(super) fn check(layers: &mut Layers) {
    for broker in layers.texts("kafka.brokers") {
        let port = broker.rsplit_once(':').map(|(host, port)| (!host.is_empty(), port.parse::<u16>()));
        if !matches!(port, Some((true, Ok(1..)))) {
            layers
                .problem_of("kafka.brokers", format!("kafka.brokers must be host:port each, not {broker:?}"));
        }
    }
    let own = check_own_topics(layers);
    for key in ["kafka.raw_topics", "kafka.slurm_topics"] {
        for topic in layers.texts(key) {
            if let Some(reason) = wrong_topic(&topic, &own) {
                layers.problem_of(key, format!("{key} {topic:?} {reason}"));
            }
        }
    }
    check_properties(layers);
}

/// Topics that are written must differ, also for Kafka's metrics, which take `.` and `_` for the same.
fn check_own_topics(layers: &mut Layers) -> Vec<String> {
    let keys = ["kafka.counters_topic", "kafka.jobs_topic", "kafka.partials_topic", "kafka.verdicts_topic"];
    let names = keys.map(|key| layers.text(key).to_string());
    for (i, name) in names.iter().enumerate() {
        if let Some(j) = (0..i).find(|&j| names[j].replace('.', "_") == name.replace('.', "_")) {
            let text = format!("{} must differ from {} ({}), not {name:?}", keys[i], keys[j], names[j]);
            layers.problem_of(keys[i], text);
        }
    }
    names.to_vec()
}

fn wrong_topic(topic: &str, own: &[String]) -> Option<String> {
    if !topic.starts_with('^') {
        return match rules::is_name(topic, 249) {
            true => {
                own.iter().any(|name| name == topic).then(|| "is a topic that Tailback writes".to_string())
            }
            false => Some("is no name of a topic; a regular expression begins with ^".to_string()),
        };
    }
    if let Some(perl) = ["\\d", "\\D", "(?", "*?", "+?"].into_iter().find(|perl| topic.contains(perl)) {
        return Some(format!("has {perl}, which POSIX expressions have not; [0-9] stands for a digit"));
    }
    match regex::Regex::new(topic) {
        Ok(regex) => {
            let found = own.iter().find(|name| regex.is_match(name))?;
            Some(format!("also matches {found}, which Tailback writes: it would read its own output"))
        }
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or("").trim_start_matches("error: ");
            Some(format!("is no regular expression: {reason}"))
        }
    }
}

/// librdkafka itself lists its properties; no connection is made.
fn check_properties(layers: &mut Layers) {
    let given: Vec<(String, String, String)> = layers
        .entries
        .iter()
        .filter_map(|(path, entry)| {
            let (_, name) = super::known::free_property(path)?;
            Some((path.clone(), name.to_string(), entry.value.as_str()?.to_string()))
        })
        .collect();
    for (path, name, value) in given {
        if let Some((_, instead)) = OURS.iter().find(|(ours, _)| *ours == canonical(&name)) {
            layers.problem_of(&path, format!("{path} cannot be set: {instead}"));
        } else if let Some(reason) = refused(&name, &value) {
            layers.problem_of(&path, format!("{path} {reason}"));
        }
    }
}

fn refused(name: &str, value: &str) -> Option<String> {
    let accepts = |name: &str, value: &str| ClientConfig::new().set(name, value).create_native_config().err();
    let KafkaError::ClientConfig(_, reason, ..) = accepts(name, value)? else {
        return Some("is not accepted by librdkafka".to_string());
    };
    if reason.starts_with("No such configuration property") {
        let dotted = name.replace(['_', '-'], ".");
        let nearest = match dotted != name && accepts(&dotted, value).is_none() {
            true => Some(dotted.as_str()),
            false => COMMON.into_iter().find(|known| strsim::damerau_levenshtein(known, name) <= 2),
        };
        let hint = nearest.map_or(String::new(), |nearest| format!("; the nearest is {nearest:?}"));
        return Some(format!("is no property of librdkafka{hint}"));
    }
    // The reason may repeat the value.
    if is_secret(name) {
        Some("is not accepted by librdkafka".to_string())
    } else {
        Some(format!("is refused: {reason}"))
    }
}
