//! Rows whose columns have parts: records and lists of records, as LDMS sets have them before a store takes them apart.
//!
//! A record gives one column for each of its members, a list of records one row for each of its items, in which the
//! columns beside the list repeat: what `store_kafka` would have written.

use crate::columns::is_unused;
use crate::json::{self, Fields};
use crate::names::plain;
use crate::sources::is_known;
use std::borrow::Cow;

/// Records within records, at most.
const DEPTH_MAX: usize = 4;
/// Bytes of all rows that one message becomes: columns beside a long list would repeat without end.
const BYTES_MAX: usize = 64 << 20;

type Columns<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// Whether a value has members with names.
fn is_record(raw: &str) -> bool {
    raw.starts_with('{')
}

/// Whether a value is a list of records.
fn is_list(raw: &str) -> bool {
    raw.strip_prefix('[').is_some_and(|items| items.trim_start().starts_with('{'))
}

/// Whether a row has columns with parts. A column that is known holds one value: anything else in it is wrong.
pub(crate) fn has_parts(fields: &Fields<'_>) -> bool {
    fields.0.iter().any(|(name, raw)| (is_record(raw) || is_list(raw)) && is_unknown(name))
}

fn is_unknown(name: &str) -> bool {
    let name = plain(name);
    !is_known(&name) && !is_unused(&name)
}

/// Gives `row` each flat row that `fields` stand for; false if there is more than a message can be.
pub(crate) fn rows(fields: &Fields<'_>, mut row: impl FnMut(&str)) -> bool {
    let mut shared: Columns<'_> = Vec::new();
    let mut lists = Vec::new();
    for (name, raw) in &fields.0 {
        if is_list(raw) && is_unknown(name) {
            lists.push((name.as_ref(), *raw));
        } else {
            flatten(Cow::Borrowed(name), Cow::Borrowed(raw), 0, &mut shared);
        }
    }
    let mut text = String::new();
    if lists.is_empty() {
        write(&mut text, shared.iter());
        row(&text);
        return true;
    }
    let mut bytes = 0;
    for (list, raw) in lists {
        let Some(items) = json::items(raw) else { continue };
        for item in items {
            let Some(members) = json::fields(item) else { continue };
            let mut columns: Columns<'_> = Vec::new();
            for (member, raw) in &members.0 {
                flatten(Cow::Owned(format!("{list}.{member}")), Cow::Borrowed(raw), 0, &mut columns);
            }
            write(&mut text, shared.iter().chain(&columns));
            bytes += text.len();
            if bytes > BYTES_MAX {
                return false;
            }
            row(&text);
        }
    }
    true
}

/// The shortest name of a member's column: `write_bytes.sum` of `lustre.write_bytes.sum`. Members of LDMS' own
/// lists have their list before them.
fn known_part(name: Cow<'_, str>) -> Cow<'_, str> {
    let own = name.starts_with("ib_nics.") || name.starts_with("job_list.");
    if own || !is_unknown(&name) {
        return name;
    }
    let behind_dots = name.match_indices('.').map(|(at, _)| &name[at + 1..]);
    let known = behind_dots.into_iter().find(|part| !is_unknown(part)).map(str::to_string);
    known.map_or(name, Cow::Owned)
}

fn flatten<'a>(name: Cow<'a, str>, raw: Cow<'a, str>, depth: usize, columns: &mut Columns<'a>) {
    let has_members = is_record(&raw) && depth < DEPTH_MAX && is_unknown(&name);
    let members = if has_members { json::fields(&raw) } else { None };
    let Some(members) = members else {
        columns.push((known_part(name), raw));
        return;
    };
    for (member, value) in members.0 {
        let name = Cow::Owned(format!("{name}.{member}"));
        flatten(name, Cow::Owned(value.to_string()), depth + 1, columns);
    }
}

fn write<'c, 'a: 'c>(text: &mut String, columns: impl Iterator<Item = &'c (Cow<'a, str>, Cow<'a, str>)>) {
    text.clear();
    for (name, raw) in columns {
        text.push(if text.is_empty() { '{' } else { ',' });
        text.push_str(&json::quoted(name));
        text.push(':');
        text.push_str(raw);
    }
    text.push_str(if text.is_empty() { "{}" } else { "}" });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(line: &str) -> Vec<String> {
        let mut found = Vec::new();
        assert!(rows(&json::fields(line).unwrap(), |row| found.push(row.to_string())));
        found
    }

    #[test]
    fn each_record_of_a_list_is_a_row() {
        let line = r#"{"timestamp":1.5,"ib_nics":[{"port":1,"x":"a\"b"},{"port":2}],"component_id":7}"#;
        assert!(has_parts(&json::fields(line).unwrap()));
        assert_eq!(
            flat(line),
            [
                r#"{"timestamp":1.5,"component_id":7,"ib_nics.port":1,"ib_nics.x":"a\"b"}"#,
                r#"{"timestamp":1.5,"component_id":7,"ib_nics.port":2}"#
            ]
        );
    }

    #[test]
    fn members_of_a_record_are_columns() {
        let line = r#"{"ts":1,"write_bytes":{"sum":5,"n":{"m":1}},"set":{"fs_name":"a"},"list":[1,2]}"#;
        assert_eq!(
            flat(line),
            [r#"{"ts":1,"write_bytes.sum":5,"write_bytes.n.m":1,"fs_name":"a","list":[1,2]}"#]
        );
        let line = r#"{"mounts":[{"fs_name":"a","write_bytes":{"sum":5}}]}"#;
        assert_eq!(flat(line), [r#"{"fs_name":"a","write_bytes.sum":5}"#]);
    }

    #[test]
    fn rows_without_end_are_refused() {
        let long = "x".repeat(1 << 20);
        let items = vec![r#"{"a":1}"#; 100].join(",");
        let line = format!(r#"{{"long":"{long}","list":[{items}]}}"#);
        assert!(!rows(&json::fields(&line).unwrap(), |_| {}));
    }
}
