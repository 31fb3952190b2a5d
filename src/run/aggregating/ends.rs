//! Where raw partitions begin and end, asked of the brokers for all of them at once: a question a partition would take
//! longer than the rows take that come meanwhile.

use super::super::kafka::{self, Listener};
use super::raw::RawPartition;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Offset, TopicPartitionList};
use schemas::Time;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A raw partition whose end is asked for.
#[derive(Debug)]
pub(super) struct Doubted {
    topic: String,
    partition: i32,
    /// Whether nothing came of it yet.
    is_unread: bool,
    /// Where reading it began, as it was known first.
    begin: Option<i64>,
}

/// What the brokers say of one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct End {
    topic: String,
    partition: i32,
    /// Where reading began; of one that was read since it does not matter.
    begin: i64,
    /// The offset after the last one.
    high: i64,
}

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

/// The partitions whose ends are doubted, or were not confirmed for longer than `after`.
pub(super) fn doubted(raws: &[RawPartition], after: Duration) -> Vec<Doubted> {
    let of_raw = |raw: &RawPartition| Doubted {
        topic: raw.topic().to_string(),
        partition: raw.partition(),
        is_unread: raw.next_offset().is_none(),
        begin: raw.begin(),
    };
    raws.iter().filter(|raw| raw.is_doubted() || raw.must_confirm(after)).map(of_raw).collect()
}

/// Asks for ends; those that the brokers could not tell are left out, and all when nobody wants to know any more.
pub(super) fn ask(
    consumer: &BaseConsumer<Listener>,
    doubted: &[Doubted],
    reset: Reset,
    patience: Duration,
    is_moot: &AtomicBool,
) -> Result<Vec<End>, KafkaError> {
    let asked = || doubted.iter().map(|one| (one.topic.as_str(), one.partition));
    let highs = kafka::offsets(consumer, asked(), Offset::End, patience)?;
    if is_moot.load(Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    let begins = begins(consumer, doubted, reset, &highs, patience)?;
    let of_one = |((one, begin), high): ((&Doubted, Option<i64>), &Option<i64>)| {
        Some(End { topic: one.topic.clone(), partition: one.partition, begin: begin?, high: (*high)? })
    };
    Ok(doubted.iter().zip(begins).zip(&highs).filter_map(of_one).collect())
}

/// Where reading began: where the group goes on, or what `reset` says.
fn begins(
    consumer: &BaseConsumer<Listener>,
    doubted: &[Doubted],
    reset: Reset,
    highs: &[Option<i64>],
    patience: Duration,
) -> Result<Vec<Option<i64>>, KafkaError> {
    if !doubted.iter().any(|one| one.is_unread) {
        return Ok(vec![Some(0); doubted.len()]);
    }
    let mut asked = TopicPartitionList::new();
    for one in doubted {
        asked.add_partition(&one.topic, one.partition);
    }
    let committed = consumer.committed_offsets(asked, patience)?;
    let uncommitted = match reset {
        Reset::ToFirst => {
            let all = doubted.iter().map(|one| (one.topic.as_str(), one.partition));
            kafka::offsets(consumer, all, Offset::Beginning, patience)?
        }
        Reset::ToEnd => doubted.iter().zip(highs).map(|(one, high)| one.begin.or(*high)).collect(),
    };
    let of_one = |(one, uncommitted): (&Doubted, Option<i64>)| {
        kafka::known(&committed, &one.topic, one.partition).or(uncommitted)
    };
    Ok(doubted.iter().zip(uncommitted).map(of_one).collect())
}

/// Settles the doubts that `ends` answers, which were asked for at `asked`; `is_fresh` says whether that was just now.
/// Partitions that have more, of which nothing came for `stuck`, are asked for anew.
pub(super) fn settle(
    consumer: &BaseConsumer<Listener>,
    raws: &mut [RawPartition],
    ends: &[End],
    (asked, is_fresh): (Time, bool),
    stuck: Duration,
) -> Result<(), KafkaError> {
    for end in ends {
        let Some(raw) = raws.iter_mut().find(|raw| raw.is(&end.topic, end.partition)) else { continue };
        raw.settle(end.begin, end.high, asked, is_fresh);
        if raw.must_nudge(stuck) {
            nudge(consumer, raw, end.begin)?;
        }
    }
    Ok(())
}

/// Has Kafka send a partition again from where it was read up to, without waiting for it.
fn nudge(consumer: &BaseConsumer<Listener>, raw: &RawPartition, begin: i64) -> Result<(), KafkaError> {
    let from = raw.next_offset().unwrap_or(begin);
    tracing::warn!(
        topic = raw.topic(),
        partition = raw.partition(),
        offset = from,
        "nothing comes of a raw partition that has more: it is asked for anew"
    );
    consumer.seek(raw.topic(), raw.partition(), Offset::Offset(from), Duration::ZERO)
}
