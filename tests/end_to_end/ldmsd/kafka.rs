//! The same through Kafka: JSON, and Avro with a schema registry.

use super::daemon::{self, ldmsd};
use super::seen::Seen;
use super::site::Installed;
use aggregator::{AvroSchemas, Decoded, Decoder, Outcome, RegistryClient};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message};
use schemas::DropReason;
use std::time::{Duration, Instant};
use support::service::Service;
use support::skip::skip;

#[test]
fn rows_go_to_kafka_as_json_and_as_avro() {
    let Some(program) = ldmsd() else { return };
    let has = super::has(&program);
    if !has.kafka {
        return skip("this ldmsd has no store_avro_kafka");
    }
    let Some(kafka) = Service::start("kafka") else { return };
    let Some(registry) = Service::start("registry") else { return };
    for (format, topic) in [("json", "ldms.json.%S"), ("avro", "ldms.avro.%S")] {
        let keys = format!(
            "format = \"{format}\"\nbrokers = [\"{}\"]\nregistry = \"{}\"\ntopic = \"{topic}\"",
            kafka.address, registry.address
        );
        let installed = Installed::lab(has, &keys);
        let daemons = super::start(&program, &installed);
        let mut received = Received::of(&kafka.address, &registry.address, &topic.replace("%S", ""));
        let begin = Instant::now();
        while !received.seen.enough(has) {
            received.poll();
            daemons.iter().for_each(daemon::Daemon::assert_running);
            assert!(
                begin.elapsed() < super::TIMEOUT,
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

/// A consumer, and what it received.
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
