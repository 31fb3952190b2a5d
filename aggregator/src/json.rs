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

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

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
    serde_json::Value::from(text).to_string()
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
        return serde_json::from_str::<Key<'_>>(raw).ok().map(|Key(text)| text);
    }
    raw.bytes().all(|b| b.is_ascii_digit()).then_some(Cow::Borrowed(raw))
}
