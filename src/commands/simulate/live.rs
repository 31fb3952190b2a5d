//! A simulated cluster that publishes to Kafka second by second, as a machine's own ldmsd would: for trying out a site's
//! whole installation before its samplers are connected.

use crate::runtime::brokers::Lost;
use crate::runtime::{clock, kafka};
use crate::shutdown;
use anyhow::Context;
use configuration::RunConfig;
use configuration::kafka::{Client, Role};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use samplers::{Cluster, Rows, Scenario};
use schemas::{Name, Time};
use std::time::{Duration, Instant};

/// Timeout for the delivery of sent rows at the end.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of brokers that take no rows.
const SEND_TIMEOUT: Duration = Duration::from_secs(60);
/// A second that comes later than this is not made up for: the machine was asleep or too slow.
const LATE_S: f64 = 5.0;

/// Where rows go, and for how long.
pub(super) struct Live<'a> {
    /// Brokers and properties.
    pub(super) config: &'a RunConfig,
    /// What stands before the schema in the name of a topic.
    pub(super) prefix: &'a str,
    /// Seconds after which it ends; `None` for never.
    pub(super) seconds: Option<u64>,
}

/// Publishes the rows of a cluster, each second's when that second is over, until a stop is requested.
///
/// # Errors
/// A prefix that is none, brokers whose properties are wrong, rows that did not arrive.
pub(super) fn publish(scenario: Scenario, seed: u64, live: &Live<'_>) -> anyhow::Result<()> {
    Name::parse(&format!("{}x", live.prefix)).context("--topic-prefix")?;
    let properties = [("enable.idempotence", "true"), kafka::ONE_BY_ONE];
    let lost = Lost::default();
    let producer: Client<BaseProducer<Lost>> =
        live.config.kafka.client(Role::Producer, &properties, lost.clone())?;
    let way = Way { producer, lost, brokers: &live.config.kafka.brokers, prefix: live.prefix };
    let start = Time::from_seconds(clock::now().seconds().ceil());
    let mut cluster = Cluster::new(scenario, start, seed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    eprintln!("rows go to {}, topics {}*", live.config.kafka.brokers.join(","), live.prefix);
    runtime.block_on(async {
        let mut end = std::pin::pin!(shutdown::requested());
        let (mut rows, mut seconds, mut sent) = (Rows::default(), 0, 0_u64);
        while live.seconds.is_none_or(|limit| seconds < limit) && cluster.tick(&mut rows) {
            seconds += 1;
            let ahead_s = cluster.time().seconds_since(clock::now());
            if ahead_s < -LATE_S {
                continue;
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs_f64(ahead_s.max(0.0))) => {}
                () = &mut end => break,
            }
            sent += way.send(&rows)?;
        }
        way.producer.flush(FLUSH_TIMEOUT).context("rows did not arrive")?;
        eprintln!("{sent} rows in {seconds} s");
        Ok(())
    })
}

/// The way of rows to the brokers.
struct Way<'a> {
    producer: Client<BaseProducer<Lost>>,
    lost: Lost,
    brokers: &'a [String],
    prefix: &'a str,
}

impl Way<'_> {
    /// Hands a second's rows to the producer; how many there were.
    fn send(&self, rows: &Rows) -> anyhow::Result<u64> {
        let mut sent = 0;
        for (schema, line) in rows.lines() {
            self.give(&format!("{}{}", self.prefix, schema.name()), line)?;
            sent += 1;
        }
        self.producer.poll(Duration::ZERO);
        self.lost.add_again(self.producer.client(), self.brokers);
        Ok(sent)
    }

    /// Hands over a row; waits for brokers that take none just now.
    fn give(&self, topic: &str, line: &[u8]) -> anyhow::Result<()> {
        let (begun, mut record) = (Instant::now(), BaseRecord::<(), [u8]>::to(topic).payload(line));
        loop {
            match self.producer.send(record) {
                Ok(()) => return Ok(()),
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back))
                    if begun.elapsed() < SEND_TIMEOUT =>
                {
                    record = back;
                    self.producer.poll(Duration::from_millis(50));
                    self.lost.add_again(self.producer.client(), self.brokers);
                }
                Err((error, _)) => return Err(error).context("a row cannot be sent"),
            }
        }
    }
}
