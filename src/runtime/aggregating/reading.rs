//! Messages of the raw partitions: taken in turn, decoded, and sent on.

use super::avro_schemas::Offer;
use super::end_state::EndEvent;
use super::outlet::TooLarge;
use super::raw::{Pending, RawPartition};
use super::{Aggregating, STALLED, passed_over};
use crate::runtime::clock::now;
use crate::runtime::message_code::{ANY_PARTITION, Spot};
use crate::runtime::outage;
use crate::runtime::rejected;
use crate::runtime::stage_error::StageResult;
use aggregator::Outcome;
use rdkafka::Message;
use rdkafka::error::KafkaError;
use rdkafka::message::BorrowedMessage;
use schemas::{DropReason, Time};
use stages::stage::BadMessage;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Messages taken from one raw partition before the next one's turn.
const TURN: usize = 256;
/// Seconds by which a raw partition may be ahead of the slowest before it waits.
const AHEAD_S: f64 = 5.0;
/// Seconds by which Kafka's clock may be ahead.
const KAFKA_AHEAD_S: f64 = 1.0;

impl Aggregating<'_> {
    /// Lets librdkafka do its work; messages that come this way were fetched before their partition had a queue
    /// of its own. Whether there was one: they are earlier than those of that queue.
    pub(super) fn serve(&mut self, wait: Duration) -> StageResult<bool> {
        let consumer = Arc::clone(&self.consumer);
        let polled = consumer.poll(wait);
        self.follow_changes()?;
        let Some(polled) = polled else { return Ok(false) };
        if let Ok(message) = polled {
            let of_it = |raw: &RawPartition| raw.is(message.topic(), message.partition());
            if let Some(at) = self.raws.iter().position(of_it) {
                self.take(at, &message)?;
            }
        }
        // The event that a partition ended may arrive here too, but without its topic; the silence shows it.
        Ok(true)
    }

    /// Takes some rows of each raw partition that is not ahead of the others; whether there were any. None are taken before
    /// all partitions are announced: a row would not wait for those that its detector does not know.
    pub(super) fn turn(&mut self) -> StageResult<bool> {
        while self.serve(Duration::ZERO)? {}
        if !self.unassigned.look(&self.consumer) || !self.unassigned.are_announced() {
            return Ok(false);
        }
        let limit = self.slowest().map(|time| time.plus_seconds(AHEAD_S));
        let mut busy = false;
        for at in 0..self.raws.len() {
            if limit.is_some_and(|limit| self.raws[at].position.reached > Some(limit)) {
                self.raws[at].end.note(EndEvent::Skipped, Instant::now());
                continue;
            }
            for _ in 0..TURN {
                if !self.next(at)? {
                    break;
                }
                busy = true;
            }
        }
        Ok(busy)
    }

    /// How far the slowest raw partition is that has more to read. One that waits for a schema delays no other.
    fn slowest(&self) -> Option<Time> {
        let now = Instant::now();
        self.raws
            .iter()
            .filter(|raw| {
                !raw.end.is_reached() && raw.pending.is_empty() && !raw.end.is_stalled(STALLED, now)
            })
            .filter_map(|raw| raw.position.reached)
            .min()
    }

    /// Takes the next message of a raw partition; whether there was one.
    fn next(&mut self, at: usize) -> StageResult<bool> {
        if !self.raws[at].pending.is_empty() {
            return self.retry(at);
        }
        let queue = Arc::clone(&self.raws[at].queue);
        match queue.poll(Duration::ZERO) {
            None => Ok(false),
            Some(Ok(message)) => {
                outage::KAFKA.works();
                self.take(at, &message)?;
                Ok(true)
            }
            Some(Err(KafkaError::PartitionEOF(_))) => {
                self.raws[at].end.note(EndEvent::Eof, Instant::now());
                Ok(false)
            }
            Some(Err(error)) => {
                outage::kafka_failed(&error, &error.to_string());
                self.raws[at].end.note(EndEvent::Refused, Instant::now());
                Ok(false)
            }
        }
    }

    fn take(&mut self, at: usize, message: &BorrowedMessage<'_>) -> StageResult {
        let arrived = arrived(message.timestamp().to_millis(), now());
        let (offset, payload) = (message.offset(), message.payload().unwrap_or_default());
        let pending = &mut self.raws[at].pending;
        if !pending.is_empty() || !self.unassigned.are_announced() {
            pending.push_back(Pending { offset, arrived, payload: payload.to_vec() });
            return Ok(());
        }
        self.offer(at, offset, arrived, payload)
    }

    /// Decodes a row and sends on what came of it. One whose schema is not known yet waits in its raw partition.
    fn offer(&mut self, at: usize, offset: i64, arrived: Time, payload: &[u8]) -> StageResult {
        self.decoded.clear();
        let payload = match self.opened(at, payload) {
            Ok(payload) => payload,
            Err(forged) => return self.refuse(at, offset, payload, &forged),
        };
        let raw = &mut self.raws[at];
        let offered = match self.job_topics.has(&raw.topic) {
            true => Offer::Done(self.decoder.job_message(payload, arrived, &mut self.decoded)),
            false => self.schemas.decode(&mut self.decoder, &raw.topic, payload, &mut self.decoded)?,
        };
        match offered {
            Offer::Wait => {
                raw.wait_for_schema(Pending { offset, arrived, payload: payload.to_vec() });
                return Ok(());
            }
            Offer::Done(outcome) => {
                self.metrics.row(outcome);
                raw.done(offset, outcome);
                if let Outcome::Dropped(reason) = outcome
                    && self.job_topics.has(&raw.topic)
                {
                    let why = (reason, self.decoder.job_refusal());
                    let message = passed_over::bad_job(raw, offset, payload, why);
                    rejected::count_and_log(&message);
                    self.out.reject(self.chunk, &message)?;
                }
            }
        }
        let too_large = self.out.send(self.chunk, raw, offset, arrived, &self.decoder, &self.decoded)?;
        if let Some(too_large) = too_large {
            let message = passed_over::too_large(raw, offset, payload, too_large);
            // A row's message was counted where Kafka refused it.
            if matches!(too_large, TooLarge::Job { .. }) {
                raw.done(offset, Outcome::Dropped(DropReason::BadJob));
                rejected::count(&message);
            }
            self.out.reject(self.chunk, &message)?;
        }
        let time = self.decoded.counters.rows().map(|(_, time, _)| time).next();
        raw.position.reached = Some(time.map_or(arrived, |time| time.min(arrived)));
        self.rows_since_announced += 1;
        Ok(())
    }

    /// The content of a message: posted job events have a code behind it.
    fn opened<'m>(&self, at: usize, payload: &'m [u8]) -> Result<&'m [u8], BadMessage> {
        let RawPartition { topic, .. } = &self.raws[at];
        match *topic == self.jobs_topic {
            true => self.keys.open(Spot { topic, partition: ANY_PARTITION, generation: 0 }, payload),
            false => Ok(payload),
        }
    }

    /// Passes over a forged message: its time counts for nothing.
    fn refuse(&mut self, at: usize, offset: i64, payload: &[u8], forged: &BadMessage) -> StageResult {
        let (raw, outcome) = (&mut self.raws[at], Outcome::Dropped(DropReason::BadMessage));
        self.metrics.row(outcome);
        raw.done(offset, outcome);
        let message = passed_over::forged(raw, offset, payload, forged);
        rejected::count_and_log(&message);
        self.out.reject(self.chunk, &message)
    }

    /// Offers the first message that waits again; whether it waits no longer.
    fn retry(&mut self, at: usize) -> StageResult<bool> {
        let waiting = self.raws[at].pending.len();
        let Some(Pending { offset, arrived, payload }) = self.raws[at].pending.pop_front() else {
            return Ok(false);
        };
        self.offer(at, offset, arrived, &payload)?;
        Ok(self.raws[at].pending.len() < waiting)
    }
}

/// Kafka's timestamp of a message, so that a replay has the same one. A timestamp in the future counts as now.
pub(super) fn arrived(kafka_ms: Option<i64>, now: Time) -> Time {
    let said = kafka_ms.map(|ms| Time(ms.saturating_mul(1000)));
    said.filter(|said| *said <= now.plus_seconds(KAFKA_AHEAD_S)).unwrap_or(now)
}
