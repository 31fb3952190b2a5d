//! The aggregator stage against librdkafka's mock cluster: no broker, no Java, a second.

use super::ends::{PAUSE, RESUME_AFTER};
use super::raw::EndCheck;
use super::reading::arrived;
use super::*;
use crate::runtime::stop::Control;
use rdkafka::mocking::{MockCluster, MockCoordinator};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Message};
use schemas::wire::{self, Message as Wire, Reached};
use std::collections::BTreeMap;

mod slow_registry;

const PARTITIONS: i32 = 3;
const ROWS: i64 = 40;
/// Time between two turns.
const IDLE: Duration = Duration::from_millis(20);

fn row(node: i64, second: i64) -> String {
    format!(
        concat!(
            r#"{{"timestamp":{t}.002000,"producer":"nid{node:05}","component_id":{node},"job_id":0,"#,
            r#""instance":"nid{node:05}/lustre","fs_name":"snx11137","llite":"snx11137-ffff","#,
            r#""write_bytes.sum":{bytes}}}"#
        ),
        t = 1_795_000_000 + second,
        node = node,
        bytes = second * 1_000_000
    )
}

fn push(producer: &BaseProducer, partition: i32, payload: &[u8]) {
    push_to(producer, ("ldms.lustre_client", partition), payload);
}

fn push_to(producer: &BaseProducer, (topic, partition): (&str, i32), payload: &[u8]) {
    let record = BaseRecord::<(), [u8]>::to(topic).partition(partition).payload(payload);
    producer.send(record).unwrap();
    producer.poll(Duration::ZERO);
}

fn configured(brokers: &str) -> RunConfig {
    configured_with(brokers, "")
}

fn configured_with(brokers: &str, of_consumer: &str) -> RunConfig {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tailback.toml");
    std::fs::write(
        &file,
        format!(
            "[kafka]\nbrokers = {brokers:?}\n[kafka.consumer]\n\"session.timeout.ms\" = 6000\n{of_consumer}"
        ),
    )
    .unwrap();
    RunConfig::load(Some(&file)).unwrap()
}

/// Messages of the counters topic, by partition, until the aggregator has reported all raw rows.
fn read_back(brokers: &str) -> Vec<(i32, Vec<u8>)> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .set("group.id", "reader")
        .set("auto.offset.reset", "earliest")
        .create()
        .unwrap();
    consumer.subscribe(&["tailback.counters"]).unwrap();
    let (mut found, mut rows, mut reported) = (Vec::new(), 0, false);
    let deadline = Instant::now() + Duration::from_secs(30);
    while Instant::now() < deadline && !(rows == 2 * ROWS && reported) {
        let Some(Ok(message)) = consumer.poll(Duration::from_millis(100)) else { continue };
        let payload = message.payload().unwrap();
        rows += i64::from(matches!(wire::read(payload), Ok(Wire::Counters(_))));
        reported |= matches!(wire::read(payload), Ok(Wire::Dropped("ldms.lustre_client", 0, rows)) if rows.len() == 1);
        found.push((message.partition(), payload.to_vec()));
    }
    assert!(reported, "the dropped row is not reported");
    found
}

/// A cluster with rows in both partitions of a raw topic, and the topic of the counters.
fn cluster_with_rows() -> (MockCluster<'static, rdkafka::producer::DefaultProducerContext>, String) {
    let cluster = MockCluster::new(1).unwrap();
    let brokers = cluster.bootstrap_servers();
    cluster.create_topic("ldms.lustre_client", 2, 1).unwrap();
    cluster.create_topic("tailback.counters", PARTITIONS, 1).unwrap();
    let producer: BaseProducer = ClientConfig::new().set("bootstrap.servers", &brokers).create().unwrap();
    for second in 0..ROWS {
        push(&producer, (second % 2) as i32, row(1, second).as_bytes());
        push(&producer, (second / 2 % 2) as i32, row(2, second).as_bytes());
    }
    push(&producer, 0, b"{\"timestamp\":17");
    producer.flush(Duration::from_secs(10)).unwrap();
    (cluster, brokers)
}

/// A stage that reads.
fn started<'a>(
    config: &RunConfig,
    metrics: &'a StageMetrics,
    handle: &tokio::runtime::Handle,
) -> Aggregating<'a> {
    let mut stage = Aggregating::start(config, PARTITIONS, metrics, handle, &Control::default()).unwrap();
    stage.open(config, &Health::new(&config.health)).unwrap();
    stage
}

/// Turns until both raw partitions are at their end; whether that came about in time.
fn reaches_the_end(stage: &mut Aggregating<'_>) -> bool {
    let deadline = Instant::now() + Duration::from_secs(30);
    let over =
        |stage: &Aggregating<'_>| stage.raws.len() == 2 && stage.raws.iter().all(|raw| raw.end.is_reached());
    while !over(stage) && Instant::now() < deadline {
        stage.turn().unwrap();
        stage.announce().unwrap();
        stage.commit().unwrap();
        stage.serve(IDLE).unwrap();
    }
    over(stage)
}

#[test]
fn empty_partition_reaches_its_end_after_a_pause() {
    let (_cluster, brokers) = cluster_with_rows();
    let (config, metrics) = (configured(&brokers), StageMetrics::of("aggregator"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let start = || started(&config, &metrics, runtime.handle());
    let mut first = start();
    assert!(reaches_the_end(&mut first), "the rows are not read");
    first.end(Ok(()), Duration::from_secs(10), Duration::from_secs(10)).unwrap();
    let mut second = start();
    assert!(reaches_the_end(&mut second), "the first end is not reported");
    assert!(second.raws.iter().all(|raw| raw.position.next.is_none()), "rows were read again");
    std::thread::sleep(PAUSE + Duration::from_millis(100));
    second.end_checks.check(&second.consumer, &mut second.raws);
    assert!(reaches_the_end(&mut second), "the end is lost after a pause");
    // An end of which no word came.
    second.raws.iter_mut().for_each(|raw| raw.end.note(EndEvent::Paused, Instant::now()));
    let more = EndCheck {
        begin: 0,
        high: i64::MAX,
        is_created_again: false,
        read: None,
        started: now(),
        is_fresh: true,
    };
    second.raws.iter_mut().for_each(|raw| raw.check_end(more, Instant::now()));
    assert!(reaches_the_end(&mut second), "the end is not reached by silence");
}

#[test]
fn partition_that_stays_paused_is_resumed() {
    let (_cluster, brokers) = cluster_with_rows();
    let (config, metrics) = (configured(&brokers), StageMetrics::of("aggregator"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut stage = started(&config, &metrics, runtime.handle());
    let deadline = Instant::now() + Duration::from_secs(30);
    while stage.raws.len() < 2 && Instant::now() < deadline {
        stage.serve(IDLE).unwrap();
    }
    // As if the resume had been lost.
    let mut all = TopicPartitionList::new();
    for raw in &stage.raws {
        all.add_partition(&raw.topic, raw.partition);
    }
    stage.consumer.pause(&all).unwrap();
    assert!(reaches_the_end(&mut stage), "the rows are not read");
    assert!(stage.raws.iter().all(|raw| raw.position.next.is_some()), "partitions have rows");
}

#[test]
fn end_is_not_announced_while_the_broker_has_more() {
    let (_cluster, brokers) = cluster_with_rows();
    let (config, metrics) = (configured(&brokers), StageMetrics::of("aggregator"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut stage = started(&config, &metrics, runtime.handle());
    assert!(reaches_the_end(&mut stage), "the rows are not read");
    let producer: BaseProducer = ClientConfig::new().set("bootstrap.servers", &brokers).create().unwrap();
    push(&producer, 1, row(1, ROWS).as_bytes());
    producer.flush(Duration::from_secs(10)).unwrap();
    // The stage's own queries, without its turns: as if the fetch were late.
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut behind_s = || {
        stage.end_checks.check(&stage.consumer, &mut stage.raws);
        let clock = now();
        let unread = stage.raws.iter_mut().find(|raw| raw.partition == 1).unwrap();
        clock.seconds_since(unread.progress(clock, Instant::now()).time)
    };
    while behind_s() == 0.0 {
        assert!(Instant::now() < deadline, "the end is announced although the broker has more");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(reaches_the_end(&mut stage), "the row is not read");
}

#[test]
fn partition_of_another_aggregator_is_announced_unread() {
    let (_cluster, brokers) = cluster_with_rows();
    let (config, metrics) = (configured(&brokers), StageMetrics::of("aggregator"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut stage = started(&config, &metrics, runtime.handle());
    assert!(reaches_the_end(&mut stage), "the rows are not read");
    stage.unassigned.assigned();
    stage.announced -= ANNOUNCE_IDLE;
    let chunk = stage.chunk;
    stage.announce().unwrap();
    assert_eq!(stage.chunk, chunk, "progress is announced before all partitions are known");
    let deadline = Instant::now() + Duration::from_secs(30);
    while !stage.unassigned.look(&stage.consumer) {
        assert!(Instant::now() < deadline, "the topics are not listed");
        stage.serve(IDLE).unwrap();
    }
    let own = stage.raws.iter().position(|raw| raw.partition == 0).unwrap();
    let unread = Reached { topic: "ldms.lustre_client".into(), partition: 1, time: Time::MIN };
    assert_eq!(stage.unassigned.take(&stage.raws[own..=own]), [unread]);
    assert_eq!(stage.unassigned.take(&stage.raws), [], "they are announced once");
}

#[test]
fn no_row_is_read_before_all_partitions_are_announced() {
    let (_cluster, brokers) = cluster_with_rows();
    let (config, metrics) = (configured(&brokers), StageMetrics::of("aggregator"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut stage = started(&config, &metrics, runtime.handle());
    let deadline = Instant::now() + Duration::from_secs(30);
    while stage.raws.is_empty() || !stage.unassigned.are_known() {
        assert!(Instant::now() < deadline, "the topics are not listed");
        stage.turn().unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    for _ in 0..50 {
        assert!(
            !stage.turn().unwrap(),
            "a detector that knows this partition alone would not wait for others"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    stage.announce().unwrap();
    assert!(stage.unassigned.are_announced());
    assert!(reaches_the_end(&mut stage), "the rows are not read");
}

#[test]
fn latest_offset_reset_never_reads_old_rows() {
    let (_cluster, brokers) = cluster_with_rows();
    let config = configured_with(&brokers, "\"auto.offset.reset\" = \"latest\"\n");
    let (metrics, runtime) = (StageMetrics::of("aggregator"), tokio::runtime::Runtime::new().unwrap());
    let mut stage = started(&config, &metrics, runtime.handle());
    assert!(reaches_the_end(&mut stage), "an empty partition is not at its end");
    let since = Instant::now();
    while since.elapsed() < RESUME_AFTER + Duration::from_secs(2) {
        stage.raws.iter_mut().for_each(|raw| raw.end.note(EndEvent::Paused, Instant::now()));
        stage.end_checks.check(&stage.consumer, &mut stage.raws);
        assert!(reaches_the_end(&mut stage), "the end is lost after a while");
        std::thread::sleep(Duration::from_millis(500));
    }
    assert!(stage.raws.iter().all(|raw| raw.position.next.is_none()), "old rows are read");
}

#[test]
fn rows_of_a_file_system_share_a_partition_and_drops_are_sent() {
    let (_cluster, brokers) = cluster_with_rows();
    let (config, control) = (configured(&brokers), Control::default());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (handle, stop) = (runtime.handle().clone(), control.clone());
    let stage = std::thread::spawn(move || {
        let metrics = StageMetrics::of("aggregator");
        run(&config, PARTITIONS, &stop, &Health::new(&config.health), &metrics, &handle).unwrap();
    });
    let found = read_back(&brokers);
    control.stop();
    stage.join().unwrap();
    for partition in 0..PARTITIONS {
        let first = found.iter().find(|(of, _)| *of == partition).map(|(_, payload)| wire::read(payload));
        let is_word = |word: Wire<'_>| matches!(word, Wire::Progress(_, _, reached) if reached.is_empty());
        assert!(
            is_word(first.unwrap().unwrap()),
            "partition {partition} begins with what must keep its order"
        );
    }
    let mut partitions: BTreeMap<i32, i64> = BTreeMap::new();
    for (partition, payload) in &found {
        if let Ok(Wire::Counters(row)) = wire::read(payload) {
            *partitions.entry(*partition).or_default() += 1;
            let metrics = wire::read_source(row.source).unwrap().metrics;
            assert_eq!(metrics, [schemas::Metric::from_name("lustre_write_rate").unwrap()]);
        }
    }
    assert_eq!(partitions.len(), 1, "{partitions:?}");
    assert_eq!(partitions.values().sum::<i64>(), 2 * ROWS);
}

/// The stage's turns for `wait`; then by how much the word of each raw partition is behind the clock, in their order.
fn turn_for(stage: &mut Aggregating<'_>, wait: Duration) -> Vec<(i32, f64)> {
    let begun = Instant::now();
    while begun.elapsed() < wait {
        stage.turn().unwrap();
        stage.announce().unwrap();
        stage.commit().unwrap();
        stage.serve(IDLE).unwrap();
    }
    let clock = now();
    let mut behind_s: Vec<(i32, f64)> = stage
        .raws
        .iter_mut()
        .map(|raw| (raw.partition, clock.seconds_since(raw.progress(clock, Instant::now()).time)))
        .collect();
    behind_s.sort_by_key(|(partition, _)| *partition);
    behind_s
}

/// Seconds by which a partition without any row is behind at least, when nothing is known of its end.
const OF_NO_ROW_S: f64 = 1e9;

/// Two brokers, of which one has one of the raw partitions.
#[test]
fn unverified_end_expires_until_the_broker_returns() {
    let cluster = MockCluster::new(2).unwrap();
    let brokers = cluster.bootstrap_servers();
    cluster.create_topic("ldms.lustre_client", 2, 1).unwrap();
    cluster.create_topic("tailback.counters", PARTITIONS, 1).unwrap();
    cluster.partition_leader("ldms.lustre_client", 0, Some(1)).unwrap();
    cluster.partition_leader("ldms.lustre_client", 1, Some(2)).unwrap();
    (0..PARTITIONS)
        .for_each(|partition| cluster.partition_leader("tailback.counters", partition, Some(1)).unwrap());
    let (config, metrics) = (configured(&brokers), StageMetrics::of("aggregator"));
    let group = MockCoordinator::Group(config.kafka.group_of(Stage::Aggregator));
    cluster.coordinator(group, 1).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut stage = started(&config, &metrics, runtime.handle());
    assert!(reaches_the_end(&mut stage), "an empty partition is not at its end");
    let both = turn_for(&mut stage, Duration::from_secs(4));
    assert!(both.iter().all(|(_, behind_s)| *behind_s == 0.0), "a silence that is confirmed: {both:?}");
    cluster.broker_down(2).unwrap();
    let one = turn_for(&mut stage, Duration::from_secs(8));
    assert!(one[0].1 == 0.0 && one[1].1 > OF_NO_ROW_S, "a clock's word is not withdrawn: {one:?}");
    cluster.broker_up(2).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while turn_for(&mut stage, Duration::from_millis(200))[1].1 > 0.0 {
        assert!(Instant::now() < deadline, "the end is not valid again");
    }
}

/// librdkafka reports no error for a minute when a broker does not answer.
#[test]
fn frozen_broker_and_later_assignments_are_not_trusted() {
    let (cluster, brokers) = cluster_with_rows();
    let (config, metrics) = (configured(&brokers), StageMetrics::of("aggregator"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut stage = started(&config, &metrics, runtime.handle());
    assert!(reaches_the_end(&mut stage), "an empty partition is not at its end");
    let mut turn_until = |wanted: fn(f64) -> bool| {
        let deadline = Instant::now() + Duration::from_secs(40);
        loop {
            let behind_s = turn_for(&mut stage, Duration::from_millis(500));
            if behind_s.iter().all(|(_, behind_s)| wanted(*behind_s)) {
                return;
            }
            assert!(Instant::now() < deadline, "{behind_s:?}");
        }
    };
    turn_until(|behind_s| behind_s == 0.0);
    cluster.broker_round_trip_time(1, Duration::from_secs(600)).unwrap();
    turn_until(|behind_s| behind_s > 4.0);
    let deadline = Instant::now() + Duration::from_secs(40);
    while !stage.end_checks.is_aftermath() {
        turn_for(&mut stage, Duration::from_millis(500));
        assert!(Instant::now() < deadline, "an unanswered query is no broker error");
    }
    let queue = stage.consumer.split_partition_queue("ldms.lustre_client", 0).unwrap();
    let mut assigned = RawPartition::new("ldms.lustre_client", 0, queue);
    assigned.end.note(EndEvent::BrokerReturned, Instant::now());
    assigned.end.note(EndEvent::Eof, Instant::now());
    let clock = now();
    assert!(
        assigned.progress(clock, Instant::now()).time < clock,
        "rows that waited for the broker are yet to come"
    );
    // A consumer that is dropped waits until the broker answers, which is in ten minutes.
    drop(assigned);
    stage.end(Ok(()), Duration::ZERO, Duration::from_secs(1)).unwrap();
}

#[test]
fn arrival_time_is_that_of_kafka() {
    let said = Time::from_seconds(1_795_000_000.0);
    let kafka_ms = Some(said.0 / 1000);
    for read in [-0.9, 0.0, 5.0, 3_600.0] {
        assert_eq!(arrived(kafka_ms, said.plus_seconds(read)), said);
    }
    let read = said.plus_seconds(-3_600.0);
    assert_eq!([arrived(kafka_ms, read), arrived(None, read)], [read; 2], "a clock that is an hour ahead");
}
