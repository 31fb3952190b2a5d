//! Every row that was pushed is counted: among its producer's rows, or with the reason why it was not used.

use super::rows::{OF_JOBS, OF_SERVERS, Row};
use super::site::{PARTITIONS, Site};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use schemas::wire::{self, Message as Wire};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Time for which a broker may take to say something.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Schemas whose rows are of no source that is expected to report: jobs, and what servers count by job.
const NOT_COUNTED: [&str; 3] = ["slurm_jobs", OF_SERVERS, OF_JOBS];
/// Wait for a message.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// Reasons that count intervals between rows, which were used.
const OF_INTERVALS: &str = "'counter_reset', 'counter_saturated', 'implausible'";
/// Which rows were used, and how many rows of signals there are of each component.
const USED: &str = "SELECT schema, producer, component, part, rows, last_time,
    (SELECT count(*) FROM signal_rows JOIN series s USING (series_id) WHERE s.component = p.component)
    FROM producers p ORDER BY 1, 2, 3";

impl Site {
    /// Asserts that each of the `pushed` rows of a sampler is counted; prints where they got lost if not.
    pub fn accounts_for(&self, pushed: &[Row]) {
        let mut by_producer: BTreeMap<String, u64> = BTreeMap::new();
        for row in pushed.iter().filter(|row| !NOT_COUNTED.contains(&row.schema)) {
            let fields: serde_json::Value = serde_json::from_slice(&row.payload).unwrap_or_default();
            let producer = fields["producer"].as_str().unwrap_or("?");
            *by_producer.entry(format!("{} {producer}", row.schema)).or_default() += 1;
        }
        let pushed: u64 = by_producer.values().sum();
        let count = |query: &str| -> u64 { self.database.rows(query)[0].parse().unwrap() };
        let used = count("SELECT coalesce(sum(rows), 0)::bigint FROM producers");
        let not_used = count(&format!(
            "SELECT coalesce(sum(count), 0)::bigint FROM dropped_rows WHERE reason NOT IN ({OF_INTERVALS})"
        ));
        assert!(
            used + not_used == pushed,
            "of {pushed} rows {used} were used and {not_used} were not; in the raw topics are {}, in the counters {}\n\
             pushed: {by_producer:?}\nused: {:#?}\nnot used: {:?}",
            self.in_raw_topics(),
            self.in_counters(),
            self.database.rows(USED),
            self.database.rows("SELECT * FROM dropped_rows")
        );
    }

    fn reader(&self) -> BaseConsumer {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", &self.services.broker).set("group.id", "account").create().unwrap()
    }

    fn in_raw_topics(&self) -> i64 {
        let reader = self.reader();
        let metadata = reader.fetch_metadata(None, REQUEST_TIMEOUT).unwrap();
        let raw = |name: &str| {
            name.starts_with(&self.raw_topic("")) && !NOT_COUNTED.iter().any(|schema| name.ends_with(schema))
        };
        let of_topic =
            |name: &str, partition: i32| reader.fetch_watermarks(name, partition, REQUEST_TIMEOUT).unwrap().1;
        let topics = metadata.topics().iter().filter(|topic| raw(topic.name()));
        topics.flat_map(|topic| topic.partitions().iter().map(|p| of_topic(topic.name(), p.id()))).sum()
    }

    /// Raw messages of which rows are in the counters, each once.
    fn in_counters(&self) -> usize {
        let (reader, topic) = (self.reader(), format!("{}.counters", self.name));
        let (mut places, deadline) = (BTreeSet::new(), Instant::now() + REQUEST_TIMEOUT);
        for partition in 0..PARTITIONS {
            let end = reader.fetch_watermarks(&topic, partition, REQUEST_TIMEOUT).unwrap().1;
            let mut list = TopicPartitionList::new();
            list.add_partition_offset(&topic, partition, Offset::Beginning).unwrap();
            reader.assign(&list).unwrap();
            let mut next = 0;
            while next < end && Instant::now() < deadline {
                // A busy broker may fail a fetch, which librdkafka repeats.
                let Some(Ok(message)) = reader.poll(RETRY_DELAY) else { continue };
                next = message.offset() + 1;
                if let Ok(Wire::Counters(row)) = wire::read(message.payload().unwrap_or_default()) {
                    places.insert((row.origin.topic.to_string(), row.origin.partition, row.origin.offset));
                }
            }
        }
        places.len()
    }
}
