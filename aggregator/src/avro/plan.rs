//! What the messages of one schema mean: compiled once, then each message is a walk over its bytes.

use crate::avro::cursor::Cursor;
use crate::avro::names::ldms_name;
use crate::avro::schema::{Meaning, Record, Type};
use crate::avro::value::{Scalar, skip, to_json};
use crate::number::gauge_of;
use crate::plan::{Plan, Role, Target};
use crate::registry::{Identity, ReadRow, Refusal};
use schemas::{DropReason, NOT_MEASURED, Time};
use std::borrow::Cow;

/// What to do with the next bytes.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// A counter of 64 bits.
    Counter(u32),
    /// So many numbers of no use.
    Numbers(u32),
    /// So many bytes of no use.
    Bytes(usize),
    /// A value of no use.
    Skip(Type),
    /// The value of this column.
    Value(usize, Role),
    /// The name of the set: it contains the port number if the column does not.
    Instance,
}

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct AvroPlan {
    pub plan: Plan,
    /// Name of the record, to show.
    pub name: String,
    /// Names as LDMS has them, with types.
    columns: Vec<(String, Type)>,
    steps: Vec<Step>,
    /// Types in the schema.
    pub nodes: usize,
}

impl AvroPlan {
    pub(crate) fn of(record: Record) -> AvroPlan {
        let named = record.columns.into_iter().map(|(name, kind)| (ldms_name(&name).into_owned(), kind));
        let columns: Vec<(String, Type)> = named.collect();
        let plan = Plan::of(columns.iter().map(|(name, _)| name.as_str()), &record.name);
        let steps = match plan.target {
            Ok(Target::Counters(_)) => steps(&columns, &plan.roles),
            _ => Vec::new(),
        };
        AvroPlan { plan, name: record.name, columns, steps, nodes: record.nodes }
    }

    /// Reads the row of counters that `body` holds.
    pub(crate) fn read<'a>(
        &'a self,
        body: &'a [u8],
        counters: &mut [u64],
    ) -> Result<ReadRow<'a>, Refusal<'a>> {
        let mut cursor = Cursor::new(body);
        let mut row = Row::default();
        let walked = self.steps.iter().try_for_each(|step| self.step(step, &mut cursor, counters, &mut row));
        if walked.is_none() || !cursor.is_empty() {
            return Err(Refusal::new(DropReason::InvalidAvro, &self.name, body));
        }
        self.plan.repeat(counters);
        row.finish()
    }

    #[inline]
    fn step<'a>(
        &'a self,
        step: &Step,
        cursor: &mut Cursor<'a>,
        counters: &mut [u64],
        row: &mut Row<'a>,
    ) -> Option<()> {
        match step {
            Step::Counter(slot) => *counters.get_mut(*slot as usize)? = cursor.long()? as u64,
            Step::Numbers(count) => cursor.skip_longs(*count)?,
            Step::Bytes(count) => {
                cursor.take(*count)?;
            }
            Step::Skip(kind) => skip(kind, cursor)?,
            Step::Instance => row.instance = cursor.bytes()?,
            Step::Value(at, role) => {
                let (name, kind) = self.columns.get(*at)?;
                row.take(*role, name, Scalar::read(kind, cursor)?, counters);
            }
        }
        Some(())
    }

    /// The columns of `body` as JSON texts, for rows that come seldom; `None` if it is no such row.
    pub(crate) fn texts(&self, body: &[u8]) -> Option<Vec<String>> {
        let mut cursor = Cursor::new(body);
        let mut texts = Vec::with_capacity(self.columns.len());
        for (_, kind) in &self.columns {
            let mut text = String::new();
            to_json(kind, &mut cursor, &mut text)?;
            texts.push(text);
        }
        cursor.is_empty().then_some(texts)
    }

    /// Names of the columns.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// Whether a column begins with `name` and has 32 bits, so that its 0 has no meaning.
    pub(crate) fn is_u32(&self, name: &str) -> bool {
        let narrow = |kind: &Type| *kind == Type::Number(Meaning::Unsigned32);
        let found = |kind: &Type| narrow(kind) || matches!(kind, Type::Array(item) if narrow(item));
        self.columns.iter().any(|(column, kind)| column.ends_with(name) && found(kind))
    }
}

fn steps(columns: &[(String, Type)], roles: &[Role]) -> Vec<Step> {
    // LDMS' `ibmad` gives the port in 32 bits, and its set is called `<producer>/<adapter>.<port>`.
    let port = |((_, kind), role): (&(String, Type), &Role)| {
        *role == Role::Text(1) && *kind == Type::Number(Meaning::Unsigned32)
    };
    let by_instance = columns.iter().zip(roles).any(port);
    let mut steps = Vec::with_capacity(columns.len());
    for (at, ((name, kind), role)) in columns.iter().zip(roles).enumerate() {
        let step = match (role, kind) {
            (Role::Skip, Type::Text) if by_instance && name == "instance" => Step::Instance,
            (Role::Skip, Type::Null) => continue,
            (Role::Skip, Type::Number(_)) => Step::Numbers(1),
            (Role::Skip, Type::Float) => Step::Bytes(4),
            (Role::Skip, Type::Double) => Step::Bytes(8),
            (Role::Skip, kind) => Step::Skip(kind.clone()),
            (Role::Counter(slot) | Role::LinkCounter(slot), Type::Number(Meaning::Unsigned)) => {
                Step::Counter(*slot)
            }
            (role, _) => Step::Value(at, *role),
        };
        match (steps.last_mut(), step) {
            (Some(Step::Numbers(count)), Step::Numbers(more)) => *count += more,
            (Some(Step::Bytes(count)), Step::Bytes(more)) => *count += more,
            (_, step) => steps.push(step),
        }
    }
    steps
}

/// What was read of a row so far, besides its counters.
struct Row<'a> {
    time: Result<Time, Refusal<'a>>,
    identity: Identity<'a>,
    instance: &'a [u8],
    /// The port's number is a 0 without meaning: its column.
    no_port: Option<&'a str>,
    bad: Option<Refusal<'a>>,
    unreadable: Option<Refusal<'a>>,
}

impl Default for Row<'_> {
    fn default() -> Self {
        Row {
            time: Err(Refusal::new(DropReason::MissingTimestamp, "timestamp", b"")),
            identity: Identity::default(),
            instance: &[],
            no_port: None,
            bad: None,
            unreadable: None,
        }
    }
}

impl<'a> Row<'a> {
    fn take(&mut self, role: Role, column: &'a str, value: Scalar<'a>, counters: &mut [u64]) {
        let refused = |reason| Refusal { reason, field: column, value: value.shown() };
        match role {
            Role::Skip => {}
            Role::Time => self.time = time(value).ok_or_else(|| refused(DropReason::BadTimestamp)),
            Role::ComponentId => {
                self.identity.component_id = if let Scalar::Unsigned(id) = value { Some(id) } else { None };
            }
            Role::TimeUsec => {}
            Role::JobId => self.identity.job_id = text(value).ok(),
            Role::Counter(slot) | Role::Gauge(slot) => {
                let read = if let Role::Gauge(_) = role { gauge(value) } else { counter(value) };
                counters[slot as usize] = read.unwrap_or(NOT_MEASURED);
                self.unreadable = self.unreadable.take().or_else(|| read.err().map(refused));
            }
            Role::LinkCounter(slot) => {
                if let (Ok(value), Some(cell)) = (counter(value), counters.get_mut(slot as usize)) {
                    *cell = value;
                }
            }
            Role::Producer if value == Scalar::Null => {}
            Role::Text(1) if value == Scalar::Zero32 => self.no_port = Some(column),
            Role::Producer | Role::Text(_) => match text(value) {
                Ok(text) => self.identity.take(role, text),
                Err(reason) => self.bad = self.bad.take().or_else(|| Some(refused(reason))),
            },
        }
    }

    fn finish(mut self) -> Result<ReadRow<'a>, Refusal<'a>> {
        let time = self.time?;
        if let Some(refused) = self.bad {
            return Err(refused);
        }
        if let Some(column) = self.no_port {
            let port = port_of(self.instance, &self.identity.texts[0]);
            let port = port.ok_or(Refusal::new(DropReason::AvroU32Zero, column, b"0"))?;
            self.identity.take(Role::Text(1), Cow::Borrowed(port));
        }
        Ok(ReadRow { time, identity: self.identity, unreadable: self.unreadable })
    }
}

fn time(value: Scalar<'_>) -> Option<Time> {
    match value {
        Scalar::Time(time) => time,
        Scalar::Real(seconds) => crate::number::time_of_micros((seconds * 1e6).round() as i64),
        _ => None,
    }
}

fn counter(value: Scalar<'_>) -> Result<u64, DropReason> {
    match value {
        Scalar::Unsigned(value) => Ok(value),
        Scalar::Zero32 => Err(DropReason::AvroU32Zero),
        Scalar::Negative(_) => Err(DropReason::NegativeCounter),
        _ => Err(DropReason::BadValue),
    }
}

fn gauge(value: Scalar<'_>) -> Result<u64, DropReason> {
    match value {
        Scalar::Real(value) => gauge_of(value),
        value => counter(value).and_then(|value| gauge_of(value as f64)),
    }
}

fn text(value: Scalar<'_>) -> Result<Cow<'_, [u8]>, DropReason> {
    match value {
        Scalar::Text(text) => Ok(Cow::Borrowed(text)),
        Scalar::Unsigned(number) => Ok(Cow::Owned(number.to_string().into_bytes())),
        Scalar::Zero32 => Err(DropReason::AvroU32Zero),
        _ => Err(DropReason::BadValue),
    }
}

/// The port in `nid00001/mlx5_0.1`, if what stands before it is the adapter of the row.
fn port_of<'a>(instance: &'a [u8], adapter: &[u8]) -> Option<&'a [u8]> {
    let set = instance.rsplit(|b| *b == b'/').next()?;
    let port = set.strip_prefix(adapter)?.strip_prefix(b".")?;
    let number = port.iter().all(u8::is_ascii_digit) && port.iter().any(|b| *b != b'0');
    (number && !adapter.is_empty()).then_some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_number_is_read_from_the_set_name() {
        assert_eq!(port_of(b"nid00001/mlx5_0.1", b"mlx5_0"), Some(&b"1"[..]));
        assert_eq!(port_of(b"mlx5_0.12", b"mlx5_0"), Some(&b"12"[..]));
        for instance in
            [&b""[..], b"nid00001/mlx5_0", b"nid00001/mlx5_0.", b"n/mlx5_0.0", b"n/mlx5_00.1", b"n/mlx5_0.1x"]
        {
            assert_eq!(port_of(instance, b"mlx5_0"), None);
        }
        assert_eq!(port_of(b"n/.1", b""), None);
    }
}
