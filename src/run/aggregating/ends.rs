//! Where raw partitions begin and end, asked of the brokers for all of them at once: a question a partition would take
//! longer than the rows take that come meanwhile.

use super::super::asking::{Answer, Asking};
use super::super::clock::now;
use super::super::kafka::{self, Listener};
use super::STUCK;
use super::raw::{RawPartition, TRUSTED};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Offset, TopicPartitionList};
use schemas::Time;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A pause after which the end of a raw partition is doubted.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
/// Time for which brokers may take for each word of where partitions end: far more than the fetch before may last.
const PATIENCE: Duration = Duration::from_secs(1);
/// A raw partition that has more and gave nothing for so long is asked for anew.
pub(super) const LOST: Duration = Duration::from_secs(10);
/// Time after trouble in which partitions that are assigned anew are so because of it: what a consumer group takes to see that
/// members are gone, and to gather again.
const AFTERMATH: Duration = Duration::from_secs(30);

/// Whether the ends of raw partitions hold: when that is doubted, and what the brokers say.
pub(super) struct Doubts {
    /// Where reading begins what the group never committed.
    reset: Reset,
    /// Where doubted partitions end.
    asking: Asking<Result<Vec<End>, KafkaError>>,
    /// What was wrong with brokers so far, when it was so last, and since when they do not answer.
    troubles: u64,
    troubled: Option<Instant>,
    unanswered: Option<Instant>,
    /// When ends were doubted last, and when the stage looked last.
    confirmed: Instant,
    turned: Instant,
}

impl Doubts {
    /// Nothing is doubted yet, by a consumer of these properties.
    pub(super) fn new(properties: &[(String, String)]) -> Doubts {
        let now = Instant::now();
        let asking = Asking::new("ends");
        let (troubled, unanswered) = (None, None);
        let reset = Reset::of(properties);
        Doubts { reset, asking, troubles: 0, troubled, unanswered, confirmed: now, turned: now }
    }

    /// Whether partitions that are assigned now are so because something was wrong with a broker.
    pub(super) fn is_aftermath(&self) -> bool {
        self.troubled.is_some_and(|at| at.elapsed() < AFTERMATH)
    }

    /// The end of a raw partition holds for the moment. After a pause of this process more may be there: then the broker is
    /// asked, and until it answers the partition stands where it was. It is asked too where nothing comes: when something is
    /// wrong with a broker, an end that is not confirmed is not believed for long.
    pub(super) fn look(&mut self, consumer: &Arc<BaseConsumer<Listener>>, raws: &mut [RawPartition]) {
        let troubles = consumer.context().troubles();
        if std::mem::replace(&mut self.troubles, troubles) != troubles {
            self.note_trouble(raws);
        }
        let paused = self.turned.elapsed() > PAUSE;
        if paused {
            self.confirmed = Instant::now();
            raws.iter_mut().for_each(RawPartition::doubt_end);
            raws.iter_mut().for_each(RawPartition::was_left_alone);
        } else if self.confirmed.elapsed() > PAUSE {
            self.confirmed = Instant::now();
            raws.iter_mut().for_each(|raw| raw.doubt_silence(STUCK));
        }
        self.settle(consumer, raws, paused);
        let doubted = doubted(raws, PAUSE);
        if doubted.is_empty() {
            // What failed long ago says nothing of a question to come.
            self.unanswered = None;
        } else if !self.asking.is_open() {
            let (consumer, reset) = (Arc::clone(consumer), self.reset);
            self.asking.ask(move |is_moot| ask(&consumer, &doubted, reset, is_moot));
        }
        self.turned = Instant::now();
    }

    /// Uses the answer to the latest question about ends, if it has come. Without one the doubt stays; one from before a pause
    /// (`paused`) says how it was then.
    fn settle(&mut self, consumer: &Arc<BaseConsumer<Listener>>, raws: &mut [RawPartition], paused: bool) {
        let Some(Answer { asked, took, says }) = self.asking.answer() else { return };
        let at = (now().plus_seconds(-asked.elapsed().as_secs_f64()), took < PAUSE && !paused);
        match says.and_then(|ends| settle(consumer, raws, &ends, at)) {
            Ok(()) => self.unanswered = None,
            Err(error) => {
                tracing::debug!(%error, "the ends of raw partitions are not known just now");
                // A connection that stands still is no error to librdkafka for a minute.
                if self.unanswered.get_or_insert(asked).elapsed() > TRUSTED {
                    self.note_trouble(raws);
                }
            }
        }
    }

    fn note_trouble(&mut self, raws: &mut [RawPartition]) {
        self.troubled = Some(Instant::now());
        raws.iter_mut().for_each(RawPartition::suspect);
    }
}

/// A raw partition whose end is asked for.
#[derive(Debug)]
struct Doubted {
    topic: String,
    partition: i32,
    /// Whether nothing came of it yet.
    is_unread: bool,
    /// Where reading it began, as it was known first.
    begin: Option<i64>,
}

/// What the brokers say of one.
#[derive(Debug, PartialEq, Eq)]
struct End {
    topic: String,
    partition: i32,
    /// Where reading began; of one that was read since it does not matter.
    begin: i64,
    /// The offset after the last one.
    high: i64,
}

/// Where reading a partition begins that the group never committed: `auto.offset.reset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reset {
    /// With its first message.
    ToFirst,
    /// With what comes from then on: nearly where its end was when it was asked for first.
    ToEnd,
}

impl Reset {
    /// As librdkafka reads the property.
    fn of(properties: &[(String, String)]) -> Reset {
        let value =
            properties.iter().find(|(name, _)| name == "auto.offset.reset").map(|(_, value)| value.as_str());
        if matches!(value, Some("latest" | "largest" | "end")) { Reset::ToEnd } else { Reset::ToFirst }
    }
}

/// The partitions whose ends are doubted, or were not confirmed for longer than `after`.
fn doubted(raws: &[RawPartition], after: Duration) -> Vec<Doubted> {
    let of_raw = |raw: &RawPartition| Doubted {
        topic: raw.topic().to_string(),
        partition: raw.partition(),
        is_unread: raw.next_offset().is_none(),
        begin: raw.begin(),
    };
    raws.iter().filter(|raw| raw.is_doubted() || raw.must_confirm(after)).map(of_raw).collect()
}

/// Asks for ends; those that the brokers could not tell are left out, and all when nobody wants to know any more.
fn ask(
    consumer: &BaseConsumer<Listener>,
    doubted: &[Doubted],
    reset: Reset,
    is_moot: &AtomicBool,
) -> Result<Vec<End>, KafkaError> {
    let asked = || doubted.iter().map(|one| (one.topic.as_str(), one.partition));
    let highs = kafka::offsets(consumer, asked(), Offset::End, PATIENCE)?;
    if is_moot.load(Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    let begins = begins(consumer, doubted, reset, &highs)?;
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
) -> Result<Vec<Option<i64>>, KafkaError> {
    if !doubted.iter().any(|one| one.is_unread) {
        return Ok(vec![Some(0); doubted.len()]);
    }
    let mut asked = TopicPartitionList::new();
    for one in doubted {
        asked.add_partition(&one.topic, one.partition);
    }
    let committed = consumer.committed_offsets(asked, PATIENCE)?;
    let uncommitted = match reset {
        Reset::ToFirst => {
            let all = doubted.iter().map(|one| (one.topic.as_str(), one.partition));
            kafka::offsets(consumer, all, Offset::Beginning, PATIENCE)?
        }
        Reset::ToEnd => doubted.iter().zip(highs).map(|(one, high)| one.begin.or(*high)).collect(),
    };
    let of_one = |(one, uncommitted): (&Doubted, Option<i64>)| {
        kafka::known(&committed, &one.topic, one.partition).or(uncommitted)
    };
    Ok(doubted.iter().zip(uncommitted).map(of_one).collect())
}

/// Settles the doubts that `ends` answers, which were asked for at `asked`; `is_fresh` says whether that was just now.
/// Partitions that have more, of which nothing came for [`LOST`], are asked for anew.
fn settle(
    consumer: &BaseConsumer<Listener>,
    raws: &mut [RawPartition],
    ends: &[End],
    (asked, is_fresh): (Time, bool),
) -> Result<(), KafkaError> {
    for end in ends {
        let Some(raw) = raws.iter_mut().find(|raw| raw.is(&end.topic, end.partition)) else { continue };
        raw.settle(end.begin, end.high, asked, is_fresh);
        if raw.must_nudge(LOST) {
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
