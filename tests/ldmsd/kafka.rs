//! The same through Kafka: JSON, and Avro with a schema registry.

use crate::daemon::{self, ldmsd};
use crate::seen::Seen;
use crate::site::Installed;
use aggregator::{AvroSchemas, Decoded, Decoder, Outcome, RegistryClient};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message};
use schemas::DropReason;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A service of `tests/services`; it is stopped when dropped.
struct Service {
    what: &'static str,
    folder: tempfile::TempDir,
    /// What clients need to find it.
    address: String,
}

fn script(what: &str, command: &str, folder: &Path) -> String {
    let script = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("tests/services").join(what);
    let output = Command::new(script).arg(command).arg(folder).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{what} {command} failed; TAILBACK_SKIP_SERVICES=1 leaves it out: {told}"
    );
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

impl Service {
    fn start(what: &'static str) -> Service {
        let folder = tempfile::tempdir().unwrap();
        let address = script(what, "start", folder.path());
        Service { what, folder, address }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        script(self.what, "stop", self.folder.path());
    }
}

#[test]
fn rows_go_to_kafka_as_json_and_as_avro() {
    let Some(program) = ldmsd() else { return };
    if std::env::var_os("TAILBACK_SKIP_SERVICES").is_some_and(|skip| skip == "1") {
        println!("TAILBACK_SKIP_SERVICES=1: rows do not go to Kafka");
        return;
    }
    if !daemon::has_plugin(&program, "store_avro_kafka") {
        println!("skipped: this ldmsd has no store_avro_kafka (it needs librdkafka, avro-c and libserdes)");
        return;
    }
    let aries = daemon::has_plugin(&program, "aries_rtr_mmr");
    let [kafka, registry] = ["kafka", "registry"].map(Service::start);
    for (format, topic) in [("json", "ldms.json.%S"), ("avro", "ldms.avro.%S")] {
        let keys = format!(
            "format = \"{format}\"\nbrokers = [\"{}\"]\nregistry = \"{}\"\ntopic = \"{topic}\"",
            kafka.address, registry.address
        );
        let installed = Installed::lab(aries, &keys);
        let daemons = crate::start(&program, &installed);
        let mut received = Received::of(&kafka.address, &registry.address, &topic.replace("%S", ""));
        let begin = Instant::now();
        while !received.seen.enough(aries) {
            received.poll();
            daemons.iter().for_each(daemon::Daemon::assert_running);
            assert!(
                begin.elapsed() < crate::PATIENCE,
                "only {:?} came as {format}:\n{}",
                received.seen.series,
                daemon::logs(&daemons)
            );
        }
        let drops: Vec<(DropReason, u64)> = received.decoder.drops().nonzero().collect();
        // Slingshot, which no metric of Tailback uses yet.
        assert!(matches!(&drops[..], [(DropReason::UnusedSchema, _)]), "{format}: {drops:?}");
        assert_eq!(received.avro > 0, format == "avro", "{format}: {} messages of Avro", received.avro);
        println!("as {format}:");
        received.seen.check();
    }
}

/// A consumer, and what it got.
struct Received {
    consumer: BaseConsumer,
    registry: RegistryClient,
    runtime: tokio::runtime::Runtime,
    schemas: AvroSchemas,
    decoder: Decoder,
    seen: Seen,
    avro: usize,
}

impl Received {
    fn of(broker: &str, registry: &str, prefix: &str) -> Received {
        let consumer: BaseConsumer = ClientConfig::new()
            .set("bootstrap.servers", broker)
            .set("group.id", prefix)
            .set("auto.offset.reset", "earliest")
            .set("topic.metadata.refresh.interval.ms", "500")
            .create()
            .unwrap();
        consumer.subscribe(&[&format!("^{}.*", prefix.replace('.', "\\."))]).unwrap();
        Received {
            consumer,
            registry: RegistryClient::new(registry, None).unwrap(),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
            schemas: AvroSchemas::default(),
            decoder: Decoder::default(),
            seen: Seen::default(),
            avro: 0,
        }
    }

    fn poll(&mut self) {
        let Some(Ok(message)) = self.consumer.poll(Duration::from_millis(200)) else { return };
        let payload = message.payload().unwrap_or_default();
        self.avro += usize::from(payload.first() == Some(&0));
        let mut out = Decoded::default();
        let mut outcome = self.decoder.message(None, payload, &self.schemas, &mut out);
        if let Outcome::NeedsSchema(id) = outcome {
            let schema = self.runtime.block_on(self.registry.schema(id)).unwrap();
            self.schemas.insert(id, &schema).unwrap();
            outcome = self.decoder.message(None, payload, &self.schemas, &mut out);
        }
        assert!(!matches!(outcome, Outcome::NeedsSchema(_)));
        self.seen.take(&self.decoder, &out);
    }
}
