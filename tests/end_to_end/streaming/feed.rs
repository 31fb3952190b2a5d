//! Rows to Kafka: no key, the partition and the time of the row.

use super::rows::Row;
use super::site::Site;
use rdkafka::ClientConfig;
use rdkafka::client::ClientContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tailback::runtime::brokers::add;

/// Time for which a broker may be away.
const WAIT_TIMEOUT: Duration = Duration::from_secs(240);

/// Time after which the rows of a second are pushed: until then they are sampled.
const SAMPLED: Duration = Duration::from_millis(10);

pub fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

/// Error of the first failed delivery.
#[derive(Clone, Default)]
struct GivenUp(Arc<Mutex<Option<KafkaError>>>);

impl ClientContext for GivenUp {}

impl ProducerContext for GivenUp {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        if let Err((error, _)) = result {
            self.0.lock().unwrap().get_or_insert(error.clone());
        }
    }
}

/// A producer for one scenario.
pub struct Feed<'a> {
    site: &'a Site,
    producer: BaseProducer<GivenUp>,
    given_up: GivenUp,
}

impl Feed<'_> {
    pub fn to(site: &Site) -> Feed<'_> {
        let given_up = GivenUp::default();
        let producer = ClientConfig::new()
            .set("bootstrap.servers", &site.services.broker)
            .set("linger.ms", "1")
            .set("enable.idempotence", "true")
            .set("max.in.flight.requests.per.connection", "1")
            .set("reconnect.backoff.max.ms", "500")
            .create_with_context(given_up.clone())
            .unwrap();
        Feed { site, producer, given_up }
    }

    /// Pushes all rows as fast as it goes.
    pub fn all(&self, rows: &[Row]) {
        rows.iter().for_each(|row| self.row(row));
        self.flush();
    }

    /// Pushes rows at `speed` times the samplers' pace. What arrives in one second of the clock is in Kafka before the next
    /// second's rows set out, as it would be at the samplers' own pace. `each` is called after each second.
    pub fn paced(&self, rows: &[Row], speed: f64, each: impl FnMut(u32)) {
        let step = Duration::from_secs_f64(1.0 / speed);
        let mut due = Instant::now();
        let wait = |_| {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            // After an outage the pace is the same: nothing is made up for.
            due = due.max(Instant::now() - step) + step;
        };
        self.by_second(rows, wait, each);
    }

    /// Pushes rows that are sampled from `start_s` on, seconds since the epoch, when they are. After an outage all that were
    /// sampled meanwhile are pushed at once.
    pub fn live(&self, rows: &[Row], start_s: i64, each: impl FnMut(u32)) {
        let begin = Duration::from_secs(start_s as u64) + SAMPLED;
        let wait = |second: u32| {
            let due = begin + Duration::from_secs(u64::from(second));
            std::thread::sleep(due.saturating_sub(since_epoch()));
        };
        self.by_second(rows, wait, each);
    }

    /// Pushes the rows of each second after `wait`, and calls `each` once Kafka has them.
    fn by_second(&self, rows: &[Row], mut wait: impl FnMut(u32), mut each: impl FnMut(u32)) {
        let Some(first) = rows.first() else { return };
        let whole_s = |row: &Row| row.arrival_us.div_euclid(1_000_000);
        let second_of = |row: &Row| (whole_s(row) - whole_s(first)) as u32;
        for rows in rows.chunk_by(|a, b| second_of(a) == second_of(b)) {
            let second = second_of(&rows[0]);
            wait(second);
            rows.iter().for_each(|row| self.row(row));
            self.flush();
            each(second);
        }
    }

    /// Pushes one row.
    pub fn row(&self, row: &Row) {
        self.payload(&self.site.raw_topic(row.schema), row.partition, row.arrival_us / 1000, &row.payload);
    }

    /// Pushes any bytes.
    pub fn payload(&self, topic: &str, partition: i32, time_ms: i64, payload: &[u8]) {
        let mut record =
            BaseRecord::<(), [u8]>::to(topic).partition(partition).timestamp(time_ms).payload(payload);
        loop {
            match self.producer.send(record) {
                Ok(()) => return,
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back)) => {
                    record = back;
                    self.producer.poll(Duration::from_millis(5));
                }
                Err((error, _)) => panic!("a row cannot be pushed: {error}"),
            }
        }
    }

    /// Waits until Kafka has everything.
    pub fn flush(&self) {
        let (begun, brokers) = (Instant::now(), [self.site.services.broker.clone()]);
        while let Err(error) = self.producer.flush(Duration::from_secs(2)) {
            assert!(begun.elapsed() < WAIT_TIMEOUT, "Kafka does not take rows: {error}");
            add(self.producer.client(), &brokers);
        }
        let given_up = self.given_up.0.lock().unwrap();
        assert!(given_up.is_none(), "a row did not come to Kafka: {given_up:?}");
    }
}
