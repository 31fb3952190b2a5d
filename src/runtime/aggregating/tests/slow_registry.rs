//! A schema registry that answers slowly.

use super::*;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

const DELAY: Duration = Duration::from_secs(4);
const AVRO_TOPIC: &str = "ldms.avro";
/// A message with schema 9 and no content.
const AVRO_ROW: [u8; 5] = [0, 0, 0, 0, 9];

/// Answers each request after [`DELAY`]: it knows no schema.
fn slow_registry() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            assert!(lines.take_while(|line| !line.is_empty()).count() > 0);
            std::thread::sleep(DELAY);
            let answer = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    url
}

/// One turn of the loop, and how long it took.
fn turn_once(stage: &mut Aggregating<'_>) -> Duration {
    let begun = Instant::now();
    stage.turn().unwrap();
    stage.announce().unwrap();
    stage.commit().unwrap();
    stage.serve(IDLE).unwrap();
    begun.elapsed()
}

fn turn_until(stage: &mut Aggregating<'_>, is_reached: impl Fn(&Aggregating<'_>) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_reached(stage) {
        assert!(Instant::now() < deadline, "not reached in time");
        turn_once(stage);
    }
}

fn raw_of<'a>(stage: &'a Aggregating<'_>, topic: &str) -> &'a RawPartition {
    stage.raws.iter().find(|raw| raw.is(topic, 0)).unwrap()
}

#[test]
fn slow_schema_registry_delays_only_its_own_topic() {
    let (cluster, brokers) = cluster_with_rows();
    cluster.create_topic(AVRO_TOPIC, 1, 1).unwrap();
    let registry = format!("[schema_registry]\nurl = {:?}\n", slow_registry());
    let config = configured_with(&brokers, &registry);
    let (metrics, runtime) = (StageMetrics::of("aggregator"), tokio::runtime::Runtime::new().unwrap());
    let mut stage = started(&config, &metrics, runtime.handle());
    turn_until(&mut stage, |stage| {
        stage.raws.len() == 3 && stage.raws.iter().all(|raw| raw.end.is_reached())
    });
    let producer: BaseProducer = ClientConfig::new().set("bootstrap.servers", &brokers).create().unwrap();
    push_to(&producer, (AVRO_TOPIC, 0), &AVRO_ROW);
    push_to(&producer, (AVRO_TOPIC, 0), &AVRO_ROW);
    turn_until(&mut stage, |stage| !raw_of(stage, AVRO_TOPIC).pending.is_empty());
    let (begun, mut slowest) = (Instant::now(), Duration::ZERO);
    let before = raw_of(&stage, "ldms.lustre_client").position.next.unwrap();
    let mut second = ROWS;
    while begun.elapsed() < DELAY / 2 {
        push(&producer, 0, row(1, second).as_bytes());
        second += 1;
        slowest = slowest.max(turn_once(&mut stage));
    }
    assert!(slowest < DELAY / 2, "the loop waited {slowest:?}");
    let read = raw_of(&stage, "ldms.lustre_client").position.next.unwrap() - before;
    assert!(read > 0, "no rows of the other topic are read");
    let waiting = raw_of(&stage, AVRO_TOPIC);
    assert!(waiting.position.next.is_none() && !waiting.end.is_valid(Instant::now()), "the row is lost");
    turn_until(&mut stage, |stage| {
        let raw = raw_of(stage, AVRO_TOPIC);
        raw.position.next == Some(2) && raw.end.is_reached()
    });
}
