//! Messages to bytes.

use super::primitive::{put_bytes, put_long, put_longs, put_text};
use super::{DroppedRow, Kind, Origin, Reached};
use crate::hostlist::fold;
use crate::rejected::head_of;
use crate::{JobEvent, RejectedMessage, Source, Time};

fn begin(out: &mut Vec<u8>, kind: Kind) {
    out.clear();
    out.extend_from_slice(&kind.header());
}

fn put_origin(out: &mut Vec<u8>, origin: &Origin<'_>) {
    put_text(out, origin.topic);
    put_long(out, i64::from(origin.partition));
    put_long(out, origin.offset);
    put_long(out, origin.arrived.0);
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    if count > 0 {
        put_long(out, count as i64);
    }
}

fn put_moment(out: &mut Vec<u8>, moment: Option<Time>) {
    put_long(out, i64::from(moment.is_some()));
    if let Some(moment) = moment {
        put_long(out, moment.0);
    }
}

/// Writes the description of a source, for all calls of [`write_counters`] with that source.
pub fn write_source(out: &mut Vec<u8>, source: &Source) {
    put_text(out, source.schema.as_str());
    put_text(out, source.producer.as_str());
    put_count(out, source.metrics.len());
    source.metrics.iter().for_each(|metric| put_text(out, metric.name()));
    put_long(out, 0);
    put_text(out, source.component.as_str());
    match &source.set {
        None => put_long(out, 0),
        Some(set) => {
            put_long(out, 1);
            put_text(out, set.as_str());
        }
    }
    put_count(out, source.parts.len());
    source.parts.iter().for_each(|part| put_text(out, part.as_str()));
    put_long(out, 0);
    put_long(out, i64::from(source.rank));
    out.push(u8::from(source.by_job));
}

/// Writes a row into `out`, whose content it replaces. `source` is what [`write_source`] wrote.
pub fn write_counters(out: &mut Vec<u8>, origin: &Origin<'_>, time: Time, source: &[u8], counters: &[u64]) {
    begin(out, Kind::Counters);
    put_origin(out, origin);
    put_long(out, time.0);
    out.extend_from_slice(source);
    put_count(out, counters.len());
    put_longs(out, counters);
    put_long(out, 0);
}

/// Begins a message with job events of rows of a raw partition; it replaces the content of `out`.
pub fn begin_job_rows(out: &mut Vec<u8>, topic: &str, partition: i32) {
    begin(out, Kind::JobRows);
    put_text(out, topic);
    put_long(out, i64::from(partition));
}

/// Adds the events of the raw message at `offset`, which a node's sampler of jobs may have sent: a block of one.
pub fn put_job_row(out: &mut Vec<u8>, offset: i64, arrived: Time, sampled: bool, events: &[JobEvent]) {
    put_count(out, 1);
    put_long(out, offset);
    put_long(out, arrived.0);
    out.push(u8::from(sampled));
    put_count(out, events.len());
    for event in events {
        put_long(out, event.time.0);
        let nodes = fold(&event.nodes);
        put_count(out, nodes.len());
        nodes.iter().for_each(|node| put_text(out, node));
        put_long(out, 0);
        put_text(out, event.job_id.as_str());
        put_text(out, &event.label);
        put_text(out, &event.user);
        put_text(out, &event.name);
        put_moment(out, event.start);
        put_moment(out, event.end);
        out.push(u8::from(event.seen));
    }
    put_long(out, 0);
}

/// Ends the message.
pub fn end_job_rows(out: &mut Vec<u8>) {
    put_long(out, 0);
}

/// Writes which rows of a raw partition were dropped.
pub fn write_dropped(out: &mut Vec<u8>, topic: &str, partition: i32, rows: &[DroppedRow]) {
    begin(out, Kind::Dropped);
    put_text(out, topic);
    put_long(out, i64::from(partition));
    put_count(out, rows.len());
    for row in rows {
        put_long(out, row.offset);
        put_long(out, row.reason as i64);
    }
    put_long(out, 0);
}

/// Writes how far an aggregator has read.
pub fn write_progress(out: &mut Vec<u8>, aggregator: &str, now: Time, reached: &[Reached]) {
    begin(out, Kind::Progress);
    put_text(out, aggregator);
    put_long(out, now.0);
    put_count(out, reached.len());
    for raw in reached {
        put_text(out, &raw.topic);
        put_long(out, i64::from(raw.partition));
        put_long(out, raw.time.0);
    }
    put_long(out, 0);
}

/// Writes a message that an aggregator rejected.
pub fn write_rejected(out: &mut Vec<u8>, message: &RejectedMessage) {
    begin(out, Kind::Rejected);
    put_text(out, &message.topic);
    put_long(out, i64::from(message.partition));
    put_long(out, message.offset);
    put_long(out, message.reason as i64);
    put_text(out, &message.detail);
    put_text(out, &message.key);
    put_long(out, message.size.cast_signed());
    put_bytes(out, &head_of(&message.head));
}
