//! Sensors of an event: objects whose bytes between the values are nearly always those of the object before.
//!
//! All of it was read as JSON before, so that it is enough to find where values end.

use crate::json::{self, Fields};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Members of a sensor that are used.
const NAMES: [&str; 7] =
    ["Location", "ParentalIndex", "Index", "SubIndex", "PhysicalContext", "Value", "Timestamp"];

/// The raw JSON of the members of a sensor, in the order of [`NAMES`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Members<'a>([Option<&'a str>; NAMES.len()]);

impl<'a> Members<'a> {
    fn of(fields: &Fields<'a>) -> Members<'a> {
        Members(NAMES.map(|name| fields.last(name)))
    }

    pub(super) fn place(&self) -> super::Place<'a> {
        let [location, group, switch, port, ..] = self.0;
        [location, group, switch, port]
    }

    pub(super) fn name(&self) -> Option<&'a str> {
        self.0[4]
    }

    pub(super) fn value(&self) -> Option<&'a str> {
        self.0[5]
    }

    pub(super) fn time(&self) -> Option<&'a str> {
        self.0[6]
    }
}

/// The place of the port that these members name.
pub(super) fn place<'a>(fields: &Fields<'a>) -> super::Place<'a> {
    let [location, group, switch, port, ..] = NAMES;
    [location, group, switch, port].map(|name| fields.last(name))
}

/// Calls `each` with the members of all objects of `list`; with none if it is no list.
pub(super) fn visit<'a>(list: &'a str, each: &mut impl FnMut(Members<'a>)) {
    let mut skeleton = Skeleton::default();
    let mut rest = list;
    while let Some(item) = rest.trim_start().strip_prefix(['[', ',']).map(str::trim_start) {
        if let Some((members, behind)) = skeleton.read(item) {
            each(members);
            rest = behind;
            continue;
        }
        let Ok(raw) = <&RawValue>::deserialize(&mut serde_json::Deserializer::from_str(item)) else { return };
        if let Some(fields) = json::fields(raw.get()) {
            each(Members::of(&fields));
            skeleton = Skeleton::of(raw.get(), &fields);
        }
        rest = &item[raw.get().len()..];
    }
}

/// The bytes of an object between its values.
#[derive(Default)]
struct Skeleton<'a> {
    /// What precedes each value, and which of [`NAMES`] that value is.
    pieces: Vec<(&'a str, Option<usize>)>,
    end: &'a str,
}

impl<'a> Skeleton<'a> {
    fn of(object: &'a str, fields: &Fields<'a>) -> Skeleton<'a> {
        let mut last_end = 0;
        let values = json::positions(object, fields).into_iter().zip(&fields.0);
        let pieces = values.map(|((start, end), (name, _))| {
            let piece = &object[last_end..start];
            last_end = end;
            (piece, NAMES.iter().position(|known| known == name))
        });
        Skeleton { pieces: pieces.collect(), end: &object[last_end..] }
    }

    /// The members of the object that `text` begins with, and what is behind it, if it has these bytes between its values.
    fn read(&self, text: &'a str) -> Option<(Members<'a>, &'a str)> {
        let mut members = Members::default();
        let mut rest = text;
        for (piece, name) in &self.pieces {
            rest = rest.strip_prefix(piece)?;
            let (value, behind) = rest.split_at(scalar_length(rest)?);
            if let Some(name) = name {
                members.0[*name] = Some(value);
            }
            rest = behind;
        }
        let behind = rest.strip_prefix(self.end)?;
        (!self.pieces.is_empty()).then_some((members, behind))
    }
}

/// Length of the number, word or string without escapes that `rest` begins with.
fn scalar_length(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    match bytes.first()? {
        b'"' => {
            let inside = bytes[1..].iter().position(|b| matches!(b, b'"' | b'\\'))?;
            (bytes[inside + 1] == b'"').then_some(inside + 2)
        }
        b'[' | b'{' => None,
        _ => bytes.iter().position(|b| matches!(b, b',' | b'}' | b' ' | b'\t' | b'\n' | b'\r')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(list: &str) -> Vec<[Option<&str>; 7]> {
        let mut found = Vec::new();
        visit(list, &mut |Members(values)| found.push(values));
        found
    }

    #[test]
    fn objects_alike_and_unlike_give_what_json_gives() {
        let same = r#"{"Location":"x1","a":[1],"Value":"7"}"#;
        for list in [
            format!("[{same},{same} , {same}]"),
            format!("[ {same},{}]", same.replace('7', "8e3")),
            format!("[{same},{}]", same.replace('7', r#"\"}"#)),
            format!("[{same},{}]", same.replace("[1]", "{}")),
            format!("[{same},{}]", same.replace(r#""7""#, "7")),
            format!("[{same},7,\"x\",{{}},{same}]"),
            format!("[{}]", [r#"{"Value":1,"Value":-2.5e1}"#; 3].join(",")),
            r#"[{"Value":"},{"},{"Value":"},{"}]"#.to_string(),
            r#"[{"Index":1 ,"Value":null},{"Index":22 ,"Value":true}]"#.to_string(),
        ] {
            let items = json::items(&list).unwrap();
            let wanted: Vec<_> =
                items.into_iter().filter_map(json::fields).map(|fields| Members::of(&fields).0).collect();
            assert_eq!(values(&list), wanted, "{list}");
        }
    }

    #[test]
    fn what_is_no_list_has_no_sensors() {
        for list in ["", "[]", "{}", "7", "\"[{}]\"", r#"{"Value":1}"#] {
            assert_eq!(values(list), Vec::<[Option<&str>; 7]>::new(), "{list}");
        }
    }
}
