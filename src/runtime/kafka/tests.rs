//! How librdkafka handles a new leader of a partition, with its mock cluster.

use super::*;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};
use rdkafka::{ClientConfig, Message};

/// What is in the topic after ten messages, of which the broker refused the first request.
fn arrived(in_flight: (&str, &str)) -> Vec<u8> {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("new", 1, 1).unwrap();
    let brokers = cluster.bootstrap_servers();
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", &brokers).set("group.id", "reader");
    let mut properties = config.clone();
    properties.set("enable.idempotence", "true").set("linger.ms", "0").set("batch.num.messages", "1");
    properties.set(in_flight.0, in_flight.1);
    let producer: BaseProducer = properties.create().unwrap();
    producer.client().fetch_metadata(Some("new"), Duration::from_secs(10)).unwrap();
    cluster.broker_round_trip_time(1, Duration::from_millis(100)).unwrap();
    cluster.request_errors(
        RDKafkaApiKey::Produce,
        &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION],
    );
    for number in 0..10_u8 {
        producer.send(BaseRecord::<(), [u8]>::to("new").partition(0).payload(&[number])).unwrap();
    }
    producer.flush(Duration::from_secs(30)).unwrap();
    let reader: BaseConsumer = config.create().unwrap();
    let mut list = TopicPartitionList::new();
    list.add_partition_offset("new", 0, Offset::Beginning).unwrap();
    reader.assign(&list).unwrap();
    let end = reader.fetch_watermarks("new", 0, Duration::from_secs(10)).unwrap().1;
    let mut found = Vec::new();
    while (found.len() as i64) < end {
        if let Some(Ok(message)) = reader.poll(Duration::from_secs(10)) {
            found.push(message.payload().unwrap()[0]);
        }
    }
    found
}

#[test]
fn one_request_in_flight_keeps_order_after_a_refusal() {
    assert_eq!(arrived(ONE_BY_ONE), (0..10).collect::<Vec<u8>>());
}
