//! Where raw partitions begin and end, asked of the brokers for all of them at once: a question a partition would take
//! longer than the rows take that come meanwhile.

use super::super::kafka::Listener;
use super::raw::RawPartition;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Offset, TopicPartitionList};
use std::time::Duration;

/// First offset and the one after the last, in the order of the raw partitions; `None` for those that nobody doubts, or
/// that the broker could not tell.
pub(super) type Ends = Vec<Option<(i64, i64)>>;

/// Asks for the ends of the partitions that are doubted.
pub(super) fn ask(
    consumer: &BaseConsumer<Listener>,
    raws: &[RawPartition],
    patience: Duration,
) -> Result<Ends, KafkaError> {
    let highs = offsets(consumer, raws, Offset::End, patience)?;
    let lows = offsets(consumer, raws, Offset::Beginning, patience)?;
    Ok(lows.into_iter().zip(highs).map(|(low, high)| low.zip(high)).collect())
}

/// Settles the doubts that `ends` answers.
pub(super) fn settle(raws: &mut [RawPartition], ends: &Ends) {
    for (raw, end) in raws.iter_mut().zip(ends) {
        if let Some((low, high)) = end {
            raw.settle(*low, *high);
        }
    }
}

fn offsets(
    consumer: &BaseConsumer<Listener>,
    raws: &[RawPartition],
    at: Offset,
    patience: Duration,
) -> Result<Vec<Option<i64>>, KafkaError> {
    let mut asked = TopicPartitionList::new();
    for raw in raws.iter().filter(|raw| raw.is_doubted()) {
        // Kafka's request takes -1 and -2 for the end and the beginning where it takes a time else.
        asked.add_partition_offset(raw.topic(), raw.partition(), at)?;
    }
    let found = consumer.offsets_for_times(asked, patience)?;
    let of_raw = |raw: &RawPartition| {
        let element = found.find_partition(raw.topic(), raw.partition())?;
        match (element.error(), element.offset()) {
            (Ok(()), Offset::Offset(offset)) => Some(offset),
            _ => None,
        }
    };
    Ok(raws.iter().map(of_raw).collect())
}
