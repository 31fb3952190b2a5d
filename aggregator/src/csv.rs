//! Rows of `store_csv`: a header tells the columns, strings are not quoted.

use crate::columns::base_schema;
use crate::decode::{Decoded, Decoder, Outcome};
use crate::job_rows::{self, Value};
use crate::number::{counter, time};
use crate::plan::{Plan, Role, Shape, Target};
use crate::registry::{Identity, Refusal};
use memchr::memchr_iter;
use schemas::DropReason;
use std::borrow::Cow;
use std::collections::HashMap;

/// What is known of one CSV file: its latest header.
#[derive(Debug, Default)]
pub struct CsvFile {
    schema: String,
    header: Option<Header>,
}

#[derive(Debug)]
struct Header {
    columns: Vec<String>,
    plan: Plan,
}

impl CsvFile {
    /// A file of the schema that its name tells (see [`base_schema`]); empty if it tells none.
    pub fn new(schema: &str) -> CsvFile {
        CsvFile { schema: base_schema(schema).to_string(), header: None }
    }

    /// Takes `line` as the header of the rows that follow.
    pub(crate) fn take_header(&mut self, line: &str) {
        let columns: Vec<String> =
            line.trim_start_matches('#').split(',').map(|name| unquoted(name).to_string()).collect();
        self.header =
            Some(Header { plan: Plan::of(columns.iter().map(String::as_str), &self.schema), columns });
    }

    /// Whether a header was seen.
    pub fn has_header(&self) -> bool {
        self.header.is_some()
    }

    /// Whether a row cut within its last column would still look whole and give a wrong number. A caller that
    /// meets a last line without newline drops it then: `store_csv` ends every row with one.
    pub fn last_column_matters(&self) -> bool {
        let last = self.header.as_ref().and_then(|header| header.plan.roles.last());
        last.is_some_and(|role| *role != Role::Skip)
    }
}

/// Whether `line` is a header of `store_csv`: `#Time,Time_usec,…`.
pub(crate) fn is_header(line: &[u8]) -> bool {
    let first = line.split(|b| *b == b',').next().unwrap_or_default();
    let name = first.strip_prefix(b"#").unwrap_or_default().trim_ascii();
    name.eq_ignore_ascii_case(b"time") || name.eq_ignore_ascii_case(b"timestamp")
}

/// Whether `line` is what a `.KIND` file holds: types of the columns.
pub(crate) fn is_kind(line: &[u8]) -> bool {
    line.starts_with(b"#!")
}

impl Decoder {
    /// Decodes one line of a CSV file into `out`, or counts why not.
    pub fn csv_line(&mut self, file: &mut CsvFile, line: &[u8], out: &mut Decoded) -> Outcome {
        let line = crate::decode::trimmed(line);
        if line.is_empty() || is_kind(line) {
            return Outcome::Skipped;
        }
        let Ok(text) = std::str::from_utf8(line) else {
            return self.dropped(&Refusal::new(DropReason::InvalidCsv, "line", line));
        };
        if is_header(line) {
            file.take_header(text);
            return Outcome::Skipped;
        }
        let Some(header) = &file.header else {
            return self.dropped(&Refusal::new(DropReason::CsvWithoutHeader, "line", line));
        };
        if memchr_iter(b',', line).count() + 1 != header.columns.len() {
            return self.dropped(&Refusal::new(DropReason::InvalidCsv, "line", line));
        }
        match &header.plan.target {
            Err(reason) => self.dropped(&Refusal::new(*reason, "line", line)),
            Ok(Target::Jobs) => self.csv_jobs(header, text, out),
            Ok(Target::Counters(shape)) => self.csv_counters(header, shape, line, out),
        }
    }

    fn csv_jobs(&mut self, header: &Header, line: &str, out: &mut Decoded) -> Outcome {
        let values = line.split(',').map(|value| Value::Csv(unquoted(value)));
        let row: HashMap<&str, Value<'_>> = header.columns.iter().map(String::as_str).zip(values).collect();
        let events = job_rows::events(&row, self.registry_mut());
        self.jobs(events, out)
    }

    fn csv_counters(&mut self, header: &Header, shape: &Shape, line: &[u8], out: &mut Decoded) -> Outcome {
        let counters = shape.open(&mut out.counters);
        let result = read(header, line, counters).and_then(|(time, identity)| {
            Ok((time, self.registry_mut().source(header.plan.number, shape, &identity)?))
        });
        self.sealed(result, out)
    }
}

/// Reads a row that has as many fields as its header.
fn read<'a>(
    header: &'a Header,
    line: &'a [u8],
    counters: &mut [u64],
) -> Result<(schemas::Time, Identity<'a>), Refusal<'a>> {
    let mut identity = Identity::default();
    let mut at = Err(Refusal::new(DropReason::MissingTimestamp, "timestamp", b""));
    let mut bad = None;
    let mut start = 0;
    let ends = memchr_iter(b',', line).chain([line.len()]);
    for (end, (role, column)) in ends.zip(header.plan.roles.iter().zip(&header.columns)) {
        let raw = &line[start..end];
        start = end + 1;
        let refused = |reason| Refusal::new(reason, column, raw);
        match *role {
            Role::Skip => {}
            Role::Counter(slot) => match (counter(raw.trim_ascii()), counters.get_mut(slot as usize)) {
                (Ok(value), Some(place)) => *place = value,
                (result, _) => bad = bad.or(result.err().map(refused)),
            },
            Role::LinkCounter(slot) => {
                if let (Ok(value), Some(place)) = (counter(raw.trim_ascii()), counters.get_mut(slot as usize))
                {
                    *place = value;
                }
            }
            Role::Time => at = time(raw.trim_ascii()).ok_or(refused(DropReason::BadTimestamp)),
            Role::ComponentId => identity.component_id = counter(raw.trim_ascii()).ok(),
            Role::Producer | Role::Text(_) => identity.take(*role, text(raw)),
        }
    }
    let time = at?;
    bad.map_or(Ok((time, identity)), Err)
}

fn text(raw: &[u8]) -> Cow<'_, [u8]> {
    let raw = raw.trim_ascii();
    let inside = raw.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    Cow::Borrowed(inside.unwrap_or(raw))
}

/// Some versions of `store_csv` quote strings on request.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let inside = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.unwrap_or(value)
}
