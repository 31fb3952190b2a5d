//! Bytes to messages.

use super::primitive::Reader;
use super::{DroppedRow, JobRow, Kind, Origin, Reached, WireError};
use crate::hostlist::{self, HOSTS_MAX};
use crate::rejected::head_of;
use crate::{DropReason, JobEvent, Metric, Name, RejectReason, RejectedMessage, Source, Time};

/// Counters that are appended at once.
const BLOCK: usize = 32;

/// A message of `tailback.counters`.
#[derive(Debug)]
pub enum Message<'a> {
    /// A row of counters.
    Counters(CountersView<'a>),
    /// Job events of rows of a raw partition (topic, number).
    Jobs(&'a str, i32, Vec<JobRow>),
    /// Dropped rows of a raw partition (topic, number).
    Dropped(&'a str, i32, Vec<DroppedRow>),
    /// How far an aggregator (its name, its clock) has read.
    Progress(&'a str, Time, Vec<Reached>),
    /// A message that an aggregator rejected.
    Rejected(RejectedMessage),
}

/// A row of counters in the bytes of its message.
#[derive(Debug)]
pub struct CountersView<'a> {
    /// Position of the raw row.
    pub origin: Origin<'a>,
    /// The sampler's timestamp.
    pub time: Time,
    /// The description of its source; [`read_source`] reads it. Equal bytes are equal sources.
    pub source: &'a [u8],
    counters: Reader<'a>,
}

impl CountersView<'_> {
    /// Appends the counters to `out`; returns their number.
    ///
    /// # Errors
    /// [`WireError`] if the message is damaged; `out` may then contain some of them.
    pub fn counters(&self, out: &mut impl Extend<u64>) -> Result<usize, WireError> {
        let mut reader = self.counters;
        let (mut block, mut count) = ([0; BLOCK], 0);
        reader.array(|item| {
            block[count % BLOCK] = item.long()?.cast_unsigned();
            count += 1;
            if count % BLOCK == 0 {
                out.extend(block);
            }
            Ok(())
        })?;
        reader.end()?;
        out.extend(block.into_iter().take(count % BLOCK));
        Ok(count)
    }
}

/// Reads a message.
///
/// # Errors
/// [`WireError`] if it is not such a message, or damaged.
pub fn read(bytes: &[u8]) -> Result<Message<'_>, WireError> {
    let (kind, content) = Kind::split(bytes)?;
    let mut reader = Reader(content);
    match kind {
        Kind::Counters => counters(reader),
        Kind::JobRows => {
            let (topic, partition) = (reader.text()?, reader.int()?);
            let rows = list(&mut reader, |row| {
                let (offset, arrived) = (row.long()?, Time(row.long()?));
                let sampled = row.boolean()?;
                Ok(JobRow { offset, arrived, sampled, events: list(row, event)? })
            })?;
            reader.end()?;
            Ok(Message::Jobs(topic, partition, rows))
        }
        Kind::Dropped => {
            let (topic, partition) = (reader.text()?, reader.int()?);
            let rows = list(&mut reader, dropped_row)?;
            reader.end()?;
            Ok(Message::Dropped(topic, partition, rows))
        }
        Kind::Progress => {
            let (aggregator, now) = (reader.text()?, Time(reader.long()?));
            let reached = list(&mut reader, |r| {
                Ok(Reached { topic: r.text()?.to_string(), partition: r.int()?, time: Time(r.long()?) })
            })?;
            reader.end()?;
            Ok(Message::Progress(aggregator, now, reached))
        }
        Kind::Rejected => {
            let message = rejected(&mut reader)?;
            reader.end()?;
            Ok(Message::Rejected(message))
        }
        Kind::JobPart | Kind::Links | Kind::Alerts => Err(kind.misplaced()),
    }
}

fn rejected(reader: &mut Reader<'_>) -> Result<RejectedMessage, WireError> {
    Ok(RejectedMessage {
        stage: "aggregator".to_string(),
        topic: reader.text()?.to_string(),
        partition: reader.int()?,
        offset: reader.long()?,
        written: false,
        reason: reject_reason(reader)?,
        detail: reader.text()?.to_string(),
        key: reader.text()?.to_string(),
        size: u64::try_from(reader.long()?).map_err(|_| WireError::Damaged("a negative size"))?,
        head: head_of(reader.bytes()?),
    })
}

fn reject_reason(reader: &mut Reader<'_>) -> Result<RejectReason, WireError> {
    let number = usize::try_from(reader.long()?).ok();
    number.and_then(|at| RejectReason::ALL.get(at).copied()).ok_or(WireError::Damaged("an unknown reason"))
}

fn counters(mut reader: Reader<'_>) -> Result<Message<'_>, WireError> {
    let origin = origin(&mut reader)?;
    let time = Time(reader.long()?);
    let from = reader.0;
    pass_source(&mut reader)?;
    let source = &from[..from.len() - reader.0.len()];
    Ok(Message::Counters(CountersView { origin, time, source, counters: reader }))
}

fn origin<'a>(reader: &mut Reader<'a>) -> Result<Origin<'a>, WireError> {
    Ok(Origin {
        topic: reader.text()?,
        partition: reader.int()?,
        offset: reader.long()?,
        arrived: Time(reader.long()?),
    })
}

/// Skips the description of a source. [`read_source`] checks its strings, once.
fn pass_source(reader: &mut Reader<'_>) -> Result<(), WireError> {
    for _ in 0..2 {
        reader.pass_text()?;
    }
    reader.array(Reader::pass_text)?;
    reader.pass_text()?;
    if reader.long()? != 0 {
        reader.pass_text()?;
    }
    reader.array(Reader::pass_text)?;
    reader.long()?;
    reader.boolean()?;
    Ok(())
}

/// Reads the description of a source.
///
/// # Errors
/// [`WireError`] if it is damaged or contains an invalid name.
pub fn read_source(bytes: &[u8]) -> Result<Source, WireError> {
    let mut reader = Reader(bytes);
    let schema = Name::parse(reader.text()?)?;
    let producer = Name::parse(reader.text()?)?;
    let metrics = list(&mut reader, |metric| {
        Metric::from_name(metric.text()?).ok_or(WireError::Damaged("a metric that no file describes"))
    })?;
    if metrics.is_empty() {
        return Err(WireError::Damaged("a source without metrics"));
    }
    let component = Name::parse(reader.text()?)?;
    let set = match reader.long()? {
        0 => None,
        _ => Some(Name::parse(reader.text()?)?),
    };
    let parts = list(&mut reader, |part| Ok(Name::parse(part.text()?)?))?;
    let rank = u8::try_from(reader.long()?).map_err(|_| WireError::Damaged("a rank beyond 255"))?;
    let by_job = reader.boolean()?;
    reader.end()?;
    Ok(Source { schema, producer, metrics, component, set, parts, rank, by_job })
}

fn event(reader: &mut Reader<'_>) -> Result<JobEvent, WireError> {
    Ok(JobEvent {
        time: Time(reader.long()?),
        nodes: nodes(reader)?,
        job_id: Name::parse(reader.text()?)?,
        label: reader.text()?.to_string(),
        user: reader.text()?.to_string(),
        name: reader.text()?.to_string(),
        start: moment(reader)?,
        end: moment(reader)?,
        seen: reader.boolean()?,
    })
}

/// Nodes, one each or many in a hostlist.
fn nodes(reader: &mut Reader<'_>) -> Result<Vec<Name>, WireError> {
    let texts = list(reader, |node| node.text())?;
    let mut nodes = Vec::with_capacity(texts.len());
    for text in texts {
        if !text.contains('[') {
            nodes.push(Name::parse(text)?);
            continue;
        }
        let most = HOSTS_MAX.saturating_sub(nodes.len());
        nodes.extend(hostlist::expand(text, most).map_err(|_| WireError::Damaged("a hostlist of nodes"))?);
    }
    Ok(nodes)
}

fn moment(reader: &mut Reader<'_>) -> Result<Option<Time>, WireError> {
    match reader.long()? {
        0 => Ok(None),
        _ => Ok(Some(Time(reader.long()?))),
    }
}

fn dropped_row(reader: &mut Reader<'_>) -> Result<DroppedRow, WireError> {
    let offset = reader.long()?;
    let reason = usize::try_from(reader.long()?).ok().and_then(|at| DropReason::ALL.get(at).copied());
    Ok(DroppedRow { offset, reason: reason.ok_or(WireError::Damaged("an unknown reason"))? })
}

fn list<'a, T>(
    reader: &mut Reader<'a>,
    mut item: impl FnMut(&mut Reader<'a>) -> Result<T, WireError>,
) -> Result<Vec<T>, WireError> {
    let mut found = Vec::new();
    reader.array(|r| {
        // Most lists have one item: a job event has one node, and a machine that starts sends tens of thousands.
        if found.len() == found.capacity() {
            found.reserve_exact(found.len().max(1));
        }
        found.push(item(r)?);
        Ok(())
    })?;
    Ok(found)
}
