//! Rows of a table under a header: `store_csv` with any of its options, or a table of people's own making.

use crate::columns::{base_schema, is_unused};
use crate::decode::{Decoded, Decoder, Outcome};
use crate::job_rows::{self, Value};
use crate::names::{Base, plain};
use crate::number::{counter, time};
use crate::plan::{Plan, Role, Target};
use crate::registry::{Identity, ReadRow, Refusal};
use crate::sources::is_known;
use crate::table::{Fields, inside, trimmed};
use schemas::{DropReason, NOT_MEASURED, Time};
use std::borrow::Cow;

/// What stands between the values of a row.
const DELIMITERS: [u8; 3] = [b',', b'\t', b';'];

/// What is known of one CSV file: its latest header.
#[derive(Clone, Debug, Default)]
pub struct CsvFile {
    schema: String,
    header: Option<Header>,
}

#[derive(Clone, Debug)]
struct Header {
    columns: Vec<String>,
    plan: Plan,
    delimiter: u8,
    /// Whether a column without name stands before the others: rows may or may not have it.
    leads: bool,
}

impl Header {
    /// The fields of a row; `None` if it has another number of them.
    #[inline]
    fn fields<'a>(&self, line: &'a [u8]) -> Option<Fields<'a>> {
        let mut fields = Fields::new(line, self.delimiter);
        let count = fields.clone().count();
        if self.leads && count == self.columns.len() + 1 {
            fields.next();
            return Some(fields);
        }
        (count == self.columns.len()).then_some(fields)
    }
}

impl CsvFile {
    /// A file of the schema in its name (see [`base_schema`]); empty if the name contains none.
    pub fn new(schema: &str) -> CsvFile {
        CsvFile { schema: base_schema(schema).to_string(), header: None }
    }

    /// Takes `line` as the header of the rows that follow.
    pub(crate) fn take_header(&mut self, line: &str) {
        let line = line.trim_start_matches('#');
        let delimiter = delimiter_of(line.as_bytes());
        let mut names = Fields::new(line.as_bytes(), delimiter).map(inside).peekable();
        // The number of a row; or a decomposition begins with a counter, where `store_csv` begins the header, but not the
        // rows, with a comma.
        let leads = names.next_if(|name| name.is_empty()).is_some();
        let columns: Vec<String> = names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let plan = Plan::of(columns.iter().map(String::as_str), &self.schema);
        self.header = Some(Header { plan, columns, delimiter, leads });
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

    /// When a row was sampled; `None` without header, or if the row has no time.
    pub(crate) fn time_of(&self, line: &[u8]) -> Option<Time> {
        let header = self.header.as_ref()?;
        let at = header.plan.roles.iter().position(|role| *role == Role::Time)?;
        let usec = header.plan.roles.iter().position(|role| *role == Role::TimeUsec);
        let fields = if header.leads { header.fields(line)? } else { Fields::new(line, header.delimiter) };
        let whole = time(inside(fields.clone().nth(at)?))?;
        let usec = usec.and_then(|at| counter(inside(fields.clone().nth(at)?)).ok());
        Some(whole + usec.unwrap_or(0).min(999) as i64)
    }
}

fn delimiter_of(line: &[u8]) -> u8 {
    let uses = |delimiter: &u8| line.iter().filter(|b| *b == delimiter).count();
    // The first of equals: a comma.
    DELIMITERS.into_iter().rev().max_by_key(uses).unwrap_or(b',')
}

/// Whether `line` names columns: a time, whatever it is called, behind a `#`, or beside another known name.
pub(crate) fn is_header(line: &[u8]) -> bool {
    let Some(first) = line.first() else { return false };
    let marked = *first == b'#';
    // A name, a quote, or a column without a name.
    let names = first.is_ascii_alphabetic() || matches!(first, b'"' | b'_') || DELIMITERS.contains(first);
    if !(marked || names) {
        return false;
    }
    let line = if marked { &line[1..] } else { line };
    if line.starts_with(b"!") {
        return false;
    }
    let (mut has_time, mut others) = (false, 0);
    for (at, name) in Fields::new(line, delimiter_of(line)).map(inside).enumerate() {
        // Values: a row has a number for its time.
        let is_name = name.first().is_some_and(|b| !b.is_ascii_digit() && !matches!(b, b'-' | b'+' | b'.'));
        if !(marked || is_name || (at == 0 && name.is_empty())) {
            return false;
        }
        let Ok(name) = std::str::from_utf8(name) else { continue };
        let name = plain(name);
        match Base::of(&name) {
            Some((Base::Time | Base::TimeMsec, _)) => has_time = true,
            _ => others += usize::from(is_known(&name) || is_unused(&name)),
        }
    }
    has_time && (marked || others > 0)
}

/// Whether `line` is what a `.KIND` file holds: types of the columns.
pub(crate) fn is_kind(line: &[u8]) -> bool {
    line.starts_with(b"#!")
}

impl Decoder {
    /// Decodes one line of a CSV file into `out`, or counts why not.
    pub fn csv_line(&mut self, file: &mut CsvFile, line: &[u8], out: &mut Decoded) -> Outcome {
        let line = trimmed(line);
        if line.is_empty() || is_kind(line) {
            return Outcome::Skipped;
        }
        if is_header(line) {
            file.take_header(&String::from_utf8_lossy(line));
            return Outcome::Skipped;
        }
        let Some(header) = &file.header else {
            return self.dropped(&Refusal::new(DropReason::CsvWithoutHeader, "line", line));
        };
        let Some(fields) = header.fields(line) else {
            return self.dropped(&Refusal::new(DropReason::InvalidCsv, "line", line));
        };
        match &header.plan.target {
            Err(reason) => self.dropped(&Refusal::new(*reason, "line", line)),
            Ok(Target::Jobs) => self.csv_jobs(header, fields, out),
            Ok(Target::Counters(shape)) => {
                let result = read(header, fields, shape.open(&mut out.counters));
                self.counted(result, header.plan.number, shape, out)
            }
        }
    }

    fn csv_jobs(&mut self, header: &Header, fields: Fields<'_>, out: &mut Decoded) -> Outcome {
        let texts: Vec<Cow<'_, str>> = fields.map(|field| String::from_utf8_lossy(inside(field))).collect();
        let values = texts.iter().map(|text| Value::Csv(text));
        let row = job_rows::row(header.columns.iter().map(String::as_str).zip(values));
        let events = job_rows::events(&row, self.registry_mut());
        self.sampled_jobs(events, out)
    }
}

/// Reads a row that has as many fields as its header.
fn read<'a>(
    header: &'a Header,
    fields: Fields<'a>,
    counters: &mut [u64],
) -> Result<ReadRow<'a>, Refusal<'a>> {
    let mut identity = Identity::default();
    let mut at = Err(Refusal::new(DropReason::MissingTimestamp, "timestamp", b""));
    let mut usec = 0;
    let mut unreadable = None;
    for (raw, (role, column)) in fields.zip(header.plan.roles.iter().zip(&header.columns)) {
        let refused = |reason| Refusal::new(reason, column, raw);
        match *role {
            Role::Skip => {}
            Role::Counter(slot) | Role::Gauge(slot) => {
                let read = role.value_in(inside(raw));
                counters[slot as usize] = read.unwrap_or(NOT_MEASURED);
                unreadable = unreadable.or(read.err().map(refused));
            }
            Role::LinkCounter(slot) => {
                if let (Ok(value), Some(cell)) = (counter(inside(raw)), counters.get_mut(slot as usize)) {
                    *cell = value;
                }
            }
            Role::Time => at = time(inside(raw)).ok_or(refused(DropReason::BadTimestamp)),
            Role::TimeUsec => usec = counter(inside(raw)).unwrap_or(0).min(999),
            Role::ComponentId => identity.component_id = counter(inside(raw)).ok(),
            Role::JobId => identity.job_id = Some(Cow::Borrowed(inside(raw))),
            Role::Producer | Role::Text(_) => identity.take(*role, Cow::Borrowed(inside(raw))),
        }
    }
    let time = at? + usec as i64;
    header.plan.repeat(counters);
    Ok(ReadRow { time, identity, unreadable })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_recognised_by_the_names_of_columns() {
        for line in [
            "#Time,Time_usec,ProducerName",
            "#\"Time_msec\",\"Time_usec\",\"ProducerName\"",
            "ProducerName\tTime\tfs_name",
            "ts;prdcr;write_bytes.sum",
            "\"fs_name\",\"TIMESTAMP\"",
            "#,port_xmit_wait,timestamp",
            ",timestamp,producer",
            "\"\",\"timestamp\",\"producer\"",
        ] {
            assert!(is_header(line.as_bytes()), "{line}");
        }
        for line in [
            "1795217419.001813,1813,nid00001",
            "nid00001,1795217419.001813,scratch",
            "time,flies",
            "host,load,room",
            "#!ldms-kinds!timestamp,u64",
            "# a comment, some words",
            "a,,timestamp,producer",
            ",1795217419.001813,nid00001",
            "",
            "#",
        ] {
            assert!(!is_header(line.as_bytes()), "{line}");
        }
    }
}
