//! Checks of `[kafka]`: brokers, names of topics, properties of librdkafka.

use super::oidc::{TokenSettings, is_property};
use super::properties::canonical;
use crate::known::free_property;
use crate::merge::Layers;
use crate::rules;
use crate::secrets::is_secret;
use rdkafka::ClientConfig;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError;
use rdkafka::producer::BaseProducer;
use std::collections::BTreeMap;

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
const COMMON: [&str; 22] = [
    "security.protocol",
    "sasl.mechanisms",
    "sasl.username",
    "sasl.password",
    "sasl.oauthbearer.method",
    "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.scope",
    "sasl.oauthbearer.token.endpoint.url",
    "https.ca.location",
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

/// Checks brokers, topics and properties.
pub(crate) fn check(layers: &mut Layers) {
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

/// Topics that are written must differ, also for Kafka's metrics, which take `.` and `_` for the same. Returns those that are read as no
/// raw topic.
fn check_own_topics(layers: &mut Layers) -> Vec<String> {
    let keys = [
        "kafka.counters_topic",
        "kafka.jobs_topic",
        "kafka.partials_topic",
        "kafka.verdicts_topic",
        "kafka.progress_topic",
    ];
    let names = keys.map(|key| layers.text(key).to_string());
    for (i, name) in names.iter().enumerate() {
        if let Some(j) = (0..i).find(|&j| names[j].replace('.', "_") == name.replace('.', "_")) {
            let text = format!("{} must differ from {} ({}), not {name:?}", keys[i], keys[j], names[j]);
            layers.problem_of(keys[i], text);
        }
    }
    // The progress of jobs is rows, as in a raw topic.
    names[..keys.len() - 1].to_vec()
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
    match regex_lite::Regex::new(topic) {
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
            let (_, name) = free_property(path)?;
            Some((path.clone(), name.to_string(), entry.value.as_str()?.to_string()))
        })
        .collect();
    for (path, name, value) in &given {
        if let Some((_, instead)) = OURS.iter().find(|(ours, _)| *ours == canonical(name)) {
            layers.problem_of(path, format!("{path} cannot be set: {instead}"));
        } else if is_property(canonical(name)) {
            // Checked together below.
        } else if let Some(reason) = refused(name, value) {
            layers.problem_of(path, format!("{path} {reason}"));
        } else if canonical(name) == "sasl.mechanisms" && !has_mechanism(value) {
            let text =
                format!("{path} {value:?} is not in this build, which has {}", mechanisms().join(", "));
            layers.problem_of(path, text);
        }
    }
    check_tokens(layers, &given);
}

/// The properties of tokens, where the mechanism is OAUTHBEARER.
fn check_tokens(layers: &mut Layers, given: &[(String, String, String)]) {
    let mut properties: BTreeMap<String, String> =
        given.iter().map(|(_, name, value)| (canonical(name).to_string(), value.clone())).collect();
    if !layers.text("kafka.sasl_oauthbearer_client_secret_file").is_empty() {
        properties.insert("sasl.oauthbearer.client.secret".to_string(), "-".to_string());
    }
    let Some(Err((wrong, reason))) = TokenSettings::take(&mut properties) else { return };
    let path_of = |wanted: &str| given.iter().find(|(_, name, _)| canonical(name) == wanted);
    match path_of(wrong) {
        Some((path, ..)) => layers.problem_of(path, format!("{path} {reason}")),
        None => {
            let path = path_of("sasl.mechanisms").map_or("kafka.librdkafka", |(path, ..)| path);
            let missing = match wrong {
                "sasl.oauthbearer.client.secret" => "kafka.sasl_oauthbearer_client_secret_file".to_string(),
                "sasl.oauthbearer.method" => format!("{wrong:?} = \"oidc\""),
                other => format!("{other:?}"),
            };
            layers.problem_of(path, format!("{path} \"OAUTHBEARER\" needs {missing}"));
        }
    }
}

/// SASL mechanisms that Tailback knows to serve, where the build has them.
const MECHANISMS: [&str; 5] = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI"];

/// What this build of librdkafka can authenticate with, beside client certificates.
pub fn mechanisms() -> Vec<&'static str> {
    MECHANISMS.into_iter().filter(|mechanism| has_mechanism(mechanism)).collect()
}

/// Whether this build has a mechanism: librdkafka accepts every name as a property. No connection is made.
fn has_mechanism(mechanism: &str) -> bool {
    let mut client = ClientConfig::new();
    client.set("security.protocol", "sasl_plaintext").set("sasl.mechanisms", mechanism);
    client.set("sasl.username", "-").set("sasl.password", "-").set_log_level(RDKafkaLogLevel::Emerg);
    if mechanism == "GSSAPI" {
        // Else kinit would be run at once.
        client.set("sasl.kerberos.min.time.before.relogin", "0");
    }
    client.create::<BaseProducer>().is_ok()
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
