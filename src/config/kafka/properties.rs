//! Properties of librdkafka: what Tailback sets, over what a site sets, over the defaults.

use super::Kafka;
use crate::secrets::is_secret;
use crate::stage::Stage;
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

/// The name under which a property is kept here, so that two names of one property do not both reach librdkafka.
pub(crate) fn canonical(name: &str) -> &str {
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
        defaults(role, &mut set);
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
        for (name, secret) in [
            ("sasl.password", &self.sasl_password),
            ("sasl.oauthbearer.client.secret", &self.sasl_oauthbearer_client_secret),
            ("ssl.key.password", &self.ssl_key_password),
        ] {
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

/// Properties that a site may replace.
fn defaults(role: Role, set: &mut dyn FnMut(&str, &str)) {
    // librdkafka's 10 s would pass after a broker is back.
    set("reconnect.backoff.max.ms", "1000");
    match role {
        Role::Consumer(stage) => {
            set("auto.offset.reset", "earliest");
            // The partitions of a process that was killed wait for the end of its session. Kafka's brokers take no shorter one.
            set("session.timeout.ms", "6000");
            // Members learn of a rebalance by the next heartbeat.
            set("heartbeat.interval.ms", "1000");
            // A full queue is looked at again soon; librdkafka's second would be felt.
            set("fetch.queue.backoff.ms", "5");
            set("fetch.message.max.bytes", "1048576");
            fetches(stage, set);
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
}

/// When brokers answer a fetch. They answer a connection in order: a request for the end of an idle partition waits for the fetch
/// before it, which is librdkafka's 500 ms.
fn fetches(stage: Stage, set: &mut dyn FnMut(&str, &str)) {
    // The first: kilobytes fetched ahead, of each partition; librdkafka's 64 MB would be gigabytes on many.
    let (ahead, least, wait_ms) = match stage {
        // A second's rows come within some hundred milliseconds: an answer for every few of them costs broker and stage more
        // than what is in it.
        Stage::Aggregator => ("4096", "262144", "100"),
        // Stages before them send batches: what is there is worth an answer, and waiting for more would only delay it.
        Stage::Detector | Stage::Rollup => ("8192", "1", "250"),
    };
    set("queued.max.messages.kbytes", ahead);
    set("fetch.min.bytes", least);
    set("fetch.wait.max.ms", wait_ms);
}
