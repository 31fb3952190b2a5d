//! The general way through a JSON row: every column in order, values as their text.

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Columns of one row in order, duplicates included.
pub(crate) struct Fields<'a>(pub Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Fields<'a> {
    /// The value of the column `name`; the last one where it occurs twice.
    pub(crate) fn last(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(column, _)| column == name).map(|(_, raw)| *raw)
    }
}

/// The name of a column, or a string.
#[derive(Deserialize)]
pub(crate) struct Key<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Columns;
        impl<'de> Visitor<'de> for Columns {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    fields.push((key, value.get()));
                }
                Ok(Fields(fields))
            }
        }
        from.deserialize_map(Columns)
    }
}

/// Columns of `line`; `None` if it is no JSON object.
pub(crate) fn fields(line: &str) -> Option<Fields<'_>> {
    serde_json::from_str(line).ok()
}

/// The values of the list that `line` is; `None` if it is no JSON list.
pub(crate) fn items(line: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(line).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// `text` as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    put_quoted(&mut out, &[text]);
    out
}

/// Appends the text that `pieces` make together as a JSON string.
pub(crate) fn put_quoted(out: &mut String, pieces: &[&str]) {
    let needs_escape = |b: u8| b < b' ' || matches!(b, b'"' | b'\\');
    if pieces.iter().any(|piece| piece.bytes().any(needs_escape)) {
        out.push_str(&serde_json::Value::from(pieces.concat()).to_string());
        return;
    }
    out.push('"');
    pieces.iter().for_each(|piece| out.push_str(piece));
    out.push('"');
}

/// Where each value stands in `line`: start and end. The values are slices of `line`.
pub(crate) fn positions(line: &str, fields: &Fields<'_>) -> Vec<(usize, usize)> {
    let base = line.as_ptr() as usize;
    let span = |value: &str| {
        let start = value.as_ptr() as usize - base;
        (start, start + value.len())
    };
    fields.0.iter().map(|(_, value)| span(value)).collect()
}

/// The text of a JSON string, or the digits of a whole number.
pub(crate) fn text(raw: &str) -> Option<Cow<'_, str>> {
    if raw.starts_with('"') {
        let inside = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        // Nearly no string has an escape; this one was read as JSON before.
        if let Some(plain) = inside.filter(|inside| !inside.bytes().any(|b| matches!(b, b'\\' | b'"'))) {
            return Some(Cow::Borrowed(plain));
        }
        return serde_json::from_str::<Key<'_>>(raw).ok().map(|Key(text)| text);
    }
    raw.bytes().all(|b| b.is_ascii_digit()).then_some(Cow::Borrowed(raw))
}
