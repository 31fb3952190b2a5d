//! Reading a few messages at given offsets, without a group.

use super::kafka::{Reader, TopicFacts};
use rdkafka::consumer::Consumer;
use rdkafka::error::KafkaError;
use rdkafka::{Message, Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Newest messages of a partition that are sampled at most.
const EACH: i64 = 200;
/// Fewest, where there are many partitions.
const EACH_LEAST: i64 = 5;
/// Messages sampled in all, roughly.
const ALL: i64 = 20_000;
/// Most bytes that are kept of a sample.
const BYTES_MAX: usize = 256 << 20;

/// Messages to read: those of a partition from one offset up to before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// Topic.
    pub topic: String,
    /// Partition.
    pub partition: i32,
    /// First offset.
    pub from: i64,
    /// Offset after the last one.
    pub to: i64,
}

/// A message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    /// Topic.
    pub topic: String,
    /// Partition.
    pub partition: i32,
    /// Offset.
    pub offset: i64,
    /// Kafka's time, in milliseconds since the epoch.
    pub arrived_ms: Option<i64>,
    /// Content.
    pub payload: Vec<u8>,
}

/// The newest messages of every partition, so many that all together stay bounded.
pub fn tails<'a>(topics: impl Iterator<Item = &'a TopicFacts>) -> Vec<Want> {
    let partitions: Vec<(&TopicFacts, i32, i64, i64)> = topics
        .flat_map(|topic| topic.partitions.iter().map(move |p| (topic, p.number, p.low, p.high)))
        .filter(|(_, _, low, high)| low < high)
        .collect();
    let each = (ALL / partitions.len().max(1) as i64).clamp(EACH_LEAST, EACH);
    let want = |(topic, partition, low, high): (&TopicFacts, i32, i64, i64)| Want {
        topic: topic.name.clone(),
        partition,
        from: low.max(high - each),
        to: high,
    };
    partitions.into_iter().map(want).collect()
}

/// Reads the wanted messages that arrive within `timeout`.
///
/// # Errors
/// librdkafka's error if nothing arrived.
pub fn read(reader: &Reader, wants: &[Want], timeout: Duration) -> Result<Vec<Raw>, KafkaError> {
    let deadline = Instant::now() + timeout;
    let mut open: BTreeMap<(String, i32), i64> = BTreeMap::new();
    let mut list = TopicPartitionList::new();
    for want in wants.iter().filter(|want| want.from < want.to) {
        list.add_partition_offset(&want.topic, want.partition, Offset::Offset(want.from))?;
        open.insert((want.topic.clone(), want.partition), want.to);
    }
    reader.assign(&list)?;
    let (mut found, mut bytes, mut trouble) = (Vec::new(), 0, None);
    while !open.is_empty() && Instant::now() < deadline && bytes < BYTES_MAX {
        let message = match reader.poll(Duration::from_millis(100)) {
            None => continue,
            Some(Err(error)) => {
                trouble = Some(error);
                continue;
            }
            Some(Ok(message)) => message,
        };
        let key = (message.topic().to_string(), message.partition());
        let Some(to) = open.get(&key).copied() else { continue };
        if message.offset() + 1 >= to {
            open.remove(&key);
        }
        if message.offset() < to {
            let payload = message.payload().unwrap_or_default().to_vec();
            bytes += payload.len();
            let arrived_ms = message.timestamp().to_millis();
            let (topic, partition) = key;
            found.push(Raw { topic, partition, offset: message.offset(), arrived_ms, payload });
        }
    }
    let _ = reader.unassign();
    match trouble {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

/// When the messages at these offsets (topic, partition, offset) arrived, in seconds since the epoch.
pub fn arrivals(
    reader: &Reader,
    offsets: &[(String, i32, i64)],
    timeout: Duration,
) -> BTreeMap<(String, i32, i64), f64> {
    let mut found = BTreeMap::new();
    // A partition may be wanted at several offsets, but is assigned once at a time.
    let mut rest: Vec<&(String, i32, i64)> = offsets.iter().collect();
    let deadline = Instant::now() + timeout;
    while !rest.is_empty() && Instant::now() < deadline {
        let mut wants: Vec<Want> = Vec::new();
        rest.retain(|(topic, partition, offset)| {
            let taken = wants.iter().any(|want| want.topic == *topic && want.partition == *partition);
            if !taken {
                let (topic, from) = (topic.clone(), *offset);
                wants.push(Want { topic, partition: *partition, from, to: from + 1 });
            }
            taken
        });
        let left = deadline.saturating_duration_since(Instant::now());
        for raw in read(reader, &wants, left).unwrap_or_default() {
            if let Some(ms) = raw.arrived_ms {
                found.insert((raw.topic, raw.partition, raw.offset), ms as f64 / 1e3);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::kafka::PartitionFacts;

    fn topic(partitions: i32, messages: i64) -> TopicFacts {
        let partition =
            |number| PartitionFacts { number, led: true, high: messages, ..PartitionFacts::default() };
        TopicFacts {
            name: "ldms.x".into(),
            partitions: (0..partitions).map(partition).collect(),
            settings: None,
        }
    }

    #[test]
    fn a_sample_is_bounded_and_takes_the_newest() {
        let few = tails([topic(2, 1_000)].iter());
        assert_eq!((few[0].from, few[0].to), (800, 1_000));
        let many = tails([topic(1_000, 1_000)].iter());
        assert_eq!(many.iter().map(|want| want.to - want.from).sum::<i64>(), 20_000);
        assert!(tails([topic(3, 0)].iter()).is_empty());
    }
}
