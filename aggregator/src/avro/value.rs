//! Single values of a message.

use crate::avro::cursor::Cursor;
use crate::avro::schema::{Meaning, Type};
use crate::number::time_of_micros;
use schemas::Time;
use std::borrow::Cow;
use std::fmt::Write;

/// A value, as far as rows need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar<'a> {
    Unsigned(u64),
    /// A column of 32 bits that is 0, which LDMS writes whatever the value is.
    Zero32,
    /// Below zero.
    Negative(i64),
    Text(&'a [u8]),
    /// A timestamp; `None` outside the years that are believed.
    Time(Option<Time>),
    Real(f64),
    Null,
    /// Something with parts, or of no use.
    Other,
}

impl<'a> Scalar<'a> {
    /// Reads a value of type `kind`; `None` if the bytes cannot be one.
    pub(crate) fn read(kind: &Type, cursor: &mut Cursor<'a>) -> Option<Scalar<'a>> {
        Some(match kind {
            Type::Number(meaning) => number(*meaning, cursor.long()?),
            Type::Text => Scalar::Text(cursor.bytes()?),
            Type::Null => Scalar::Null,
            Type::Float => Scalar::Real(cursor.float()?),
            Type::Double => Scalar::Real(cursor.double()?),
            Type::Union(branches) => {
                let at = cursor.index(branches.len())?;
                return Scalar::read(branches.get(at)?, cursor);
            }
            other => {
                skip(other, cursor)?;
                Scalar::Other
            }
        })
    }

    /// As a person reads it.
    pub(crate) fn shown(self) -> Cow<'a, [u8]> {
        match self {
            Scalar::Text(text) => Cow::Borrowed(text),
            Scalar::Zero32 => Cow::Borrowed(b"0"),
            other => {
                let mut text = String::new();
                write_json(other, &mut text);
                Cow::Owned(text.into_bytes())
            }
        }
    }
}

fn number(meaning: Meaning, value: i64) -> Scalar<'static> {
    let time = |micros: Option<i64>| Scalar::Time(micros.and_then(time_of_micros));
    match meaning {
        Meaning::Unsigned => Scalar::Unsigned(value as u64),
        Meaning::Unsigned32 if value == 0 => Scalar::Zero32,
        Meaning::Unsigned32 | Meaning::Signed => {
            u64::try_from(value).map_or(Scalar::Negative(value), Scalar::Unsigned)
        }
        Meaning::Millis => time(value.checked_mul(1_000)),
        Meaning::Micros => time(Some(value)),
        Meaning::Nanos => time(Some(value.div_euclid(1_000))),
    }
}

/// Passes over a value; `None` if the bytes cannot be one.
pub(crate) fn skip(kind: &Type, cursor: &mut Cursor<'_>) -> Option<()> {
    match kind {
        Type::Null => {}
        Type::Boolean => {
            cursor.boolean()?;
        }
        Type::Number(_) => {
            cursor.long()?;
        }
        Type::Float => {
            cursor.take(4)?;
        }
        Type::Double => {
            cursor.take(8)?;
        }
        Type::Text => {
            cursor.bytes()?;
        }
        Type::Fixed(size) => {
            cursor.take(*size)?;
        }
        Type::Enum(symbols) => {
            cursor.index(*symbols)?;
        }
        Type::Array(item) => blocks(cursor, |cursor| skip(item, cursor), **item == Type::Null)?,
        Type::Map(item) => {
            let entry = |cursor: &mut Cursor<'_>| cursor.bytes().and_then(|_| skip(item, cursor));
            blocks(cursor, entry, false)?;
        }
        Type::Union(branches) => {
            let at = cursor.index(branches.len())?;
            skip(branches.get(at)?, cursor)?;
        }
        Type::Record(fields) => {
            for field in fields {
                skip(field, cursor)?;
            }
        }
    }
    Some(())
}

/// The items of an array or map. Every item takes a byte at least, unless `empty`: then they are not counted out.
fn blocks<'a>(
    cursor: &mut Cursor<'a>,
    mut item: impl FnMut(&mut Cursor<'a>) -> Option<()>,
    empty: bool,
) -> Option<()> {
    loop {
        let count = cursor.long()?;
        if count == 0 {
            return Some(());
        }
        if count < 0 {
            // The length in bytes follows, for readers that skip; it also follows from the items.
            u64::try_from(cursor.long()?).ok()?;
        }
        let items = if empty { 0 } else { count.unsigned_abs() };
        for _ in 0..items {
            item(cursor)?;
        }
    }
}

/// Appends a value of type `kind` as JSON: numbers, texts and arrays of them; everything else is `null`.
pub(crate) fn to_json(kind: &Type, cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
    let Type::Array(item) = kind else {
        write_json(Scalar::read(kind, cursor)?, out);
        return Some(());
    };
    out.push('[');
    let start = out.len();
    let write = |cursor: &mut Cursor<'_>| {
        if out.len() > start {
            out.push(',');
        }
        write_json(Scalar::read(item, cursor)?, out);
        Some(())
    };
    blocks(cursor, write, **item == Type::Null)?;
    out.push(']');
    Some(())
}

fn write_json(value: Scalar<'_>, out: &mut String) {
    let written = match value {
        Scalar::Unsigned(value) => write!(out, "{value}"),
        Scalar::Negative(value) => write!(out, "{value}"),
        Scalar::Zero32 => write!(out, "0"),
        Scalar::Time(Some(time)) => {
            write!(out, "{}.{:06}", time.0.div_euclid(1_000_000), time.0.rem_euclid(1_000_000))
        }
        Scalar::Real(value) if value.is_finite() => write!(out, "{value}"),
        Scalar::Text(text) => {
            let text = serde_json::to_string(&String::from_utf8_lossy(text)).unwrap_or_default();
            write!(out, "{text}")
        }
        _ => write!(out, "null"),
    };
    // Writing to a string does not fail.
    debug_assert!(written.is_ok());
}
