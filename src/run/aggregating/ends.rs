//! Where raw partitions begin and end, asked of the brokers for all of them at once: a question a partition would take
//! longer than the rows take that come meanwhile.

use super::super::kafka::Listener;
use super::raw::RawPartition;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Offset, TopicPartitionList};
use std::time::Duration;

/// The offset where reading began and the one after the last, in the order of the raw partitions; `None` for those that
/// nobody doubts, or that the broker could not tell. Of one that was read since, the first does not matter.
pub(super) type Ends = Vec<Option<(i64, i64)>>;

/// Where reading a partition begins that the group never committed: `auto.offset.reset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reset {
    /// With its first message.
    ToFirst,
    /// With what comes from then on: nearly where its end was when it was asked for first.
    ToEnd,
}

impl Reset {
    /// As librdkafka reads the property.
    pub(super) fn of(properties: &[(String, String)]) -> Reset {
        let value =
            properties.iter().find(|(name, _)| name == "auto.offset.reset").map(|(_, value)| value.as_str());
        if matches!(value, Some("latest" | "largest" | "end")) { Reset::ToEnd } else { Reset::ToFirst }
    }
}

/// Asks for the ends of the partitions that are doubted.
pub(super) fn ask(
    consumer: &BaseConsumer<Listener>,
    raws: &[RawPartition],
    reset: Reset,
    patience: Duration,
) -> Result<Ends, KafkaError> {
    let highs = offsets(consumer, raws, Offset::End, patience)?;
    let lows = offsets(consumer, raws, Offset::Beginning, patience)?;
    let begins = begins(consumer, raws, patience)?;
    let of_raw = |at: usize| {
        let uncommitted = match reset {
            Reset::ToFirst => lows[at],
            Reset::ToEnd => raws[at].begin().or(highs[at]),
        };
        begins[at].or(uncommitted).zip(highs[at])
    };
    Ok((0..raws.len()).map(of_raw).collect())
}

/// Where the group goes on: of partitions of which nothing came here yet, that is where reading began.
fn begins(
    consumer: &BaseConsumer<Listener>,
    raws: &[RawPartition],
    patience: Duration,
) -> Result<Vec<Option<i64>>, KafkaError> {
    let mut asked = TopicPartitionList::new();
    for raw in raws.iter().filter(|raw| raw.is_doubted() && raw.next_offset().is_none()) {
        asked.add_partition(raw.topic(), raw.partition());
    }
    if asked.count() == 0 {
        return Ok(vec![None; raws.len()]);
    }
    let found = consumer.committed_offsets(asked, patience)?;
    Ok(raws.iter().map(|raw| known(&found, raw)).collect())
}

/// Settles the doubts that `ends` answers; partitions that have more, of which nothing came for `stuck`, are asked for
/// anew.
pub(super) fn settle(
    consumer: &BaseConsumer<Listener>,
    raws: &mut [RawPartition],
    ends: &Ends,
    stuck: Duration,
    patience: Duration,
) -> Result<(), KafkaError> {
    for (raw, end) in raws.iter_mut().zip(ends) {
        let Some((begin, high)) = end else { continue };
        raw.settle(*begin, *high);
        if raw.must_nudge(stuck) {
            nudge(consumer, raw, *begin, patience)?;
        }
    }
    Ok(())
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
    Ok(raws.iter().map(|raw| known(&found, raw)).collect())
}

fn known(found: &TopicPartitionList, raw: &RawPartition) -> Option<i64> {
    let element = found.find_partition(raw.topic(), raw.partition())?;
    match (element.error(), element.offset()) {
        (Ok(()), Offset::Offset(offset)) => Some(offset),
        _ => None,
    }
}

/// Has Kafka send a partition again from where it was read up to.
fn nudge(
    consumer: &BaseConsumer<Listener>,
    raw: &RawPartition,
    begin: i64,
    patience: Duration,
) -> Result<(), KafkaError> {
    let from = raw.next_offset().unwrap_or(begin);
    tracing::warn!(
        topic = raw.topic(),
        partition = raw.partition(),
        offset = from,
        "nothing comes of a raw partition that has more: it is asked for anew"
    );
    consumer.seek(raw.topic(), raw.partition(), Offset::Offset(from), patience)
}
