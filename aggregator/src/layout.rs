//! The fast way through a JSON row: its bytes between the values are the same in every row of a set.
//!
//! A layout keeps those bytes and what stands between them. Reading a row is then comparing pieces and reading
//! digits. It accepts less than JSON on purpose, numbers and plain strings only: whatever differs is left to
//! the general way, which alone decides why a row is dropped. So both ways always agree.

use crate::number::{gauge, leading_time, leading_u64};
use crate::plan::{Plan, Role};
use crate::registry::Identity;
use schemas::{CounterBatch, Time};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Layouts kept for one topic or file name; the least recently used one is dropped first.
const LAYOUTS_PER_HINT: usize = 16;
/// Bytes of all layouts: beyond it they are learnt again, so that a stream of ever new rows costs time, not memory.
const BYTES_MAX: usize = 32 << 20;

#[derive(Clone, Copy, Debug)]
struct Segment {
    /// End of the bytes before the value in [`Layout::pieces`]; they begin where the last segment's end.
    piece_end: u32,
    role: Role,
}

/// The shape of a row.
#[derive(Debug)]
pub(crate) struct Layout {
    pub plan: Arc<Plan>,
    pieces: Vec<u8>,
    segments: Vec<Segment>,
    tail: Vec<u8>,
}

/// What a layout read from a row, besides its counters.
#[derive(Debug, Default)]
pub(crate) struct Reading<'a> {
    pub time: Time,
    usec: u64,
    pub identity: Identity<'a>,
}

impl Layout {
    /// The layout of `line`, whose values stand at `values` (start and end) in the order of the plan's columns.
    pub(crate) fn learn(line: &[u8], values: &[(usize, usize)], plan: Arc<Plan>) -> Layout {
        let mut pieces = Vec::new();
        let mut segments = Vec::with_capacity(values.len());
        let mut last_end = 0;
        for ((start, end), role) in values.iter().zip(&plan.roles) {
            pieces.extend_from_slice(&line[last_end..*start]);
            segments.push(Segment { piece_end: pieces.len() as u32, role: *role });
            last_end = *end;
        }
        Layout { plan, pieces, segments, tail: line[last_end..].to_vec() }
    }

    /// Room for the counters of a row.
    pub(crate) fn open<'b>(&self, batch: &'b mut CounterBatch) -> &'b mut [u64] {
        match &self.plan.target {
            Ok(crate::plan::Target::Counters(shape)) => shape.open(batch),
            _ => batch.open(0),
        }
    }

    /// Reads `line` if it has this layout and values that need no second look.
    pub(crate) fn read<'a>(&self, line: &'a [u8], counters: &mut [u64]) -> Option<Reading<'a>> {
        let mut reading = Reading::default();
        let mut rest = line;
        let mut piece_start = 0;
        for segment in &self.segments {
            let piece_end = segment.piece_end as usize;
            rest = rest.strip_prefix(&self.pieces[piece_start..piece_end])?;
            piece_start = piece_end;
            let length = match segment.role {
                Role::Counter(at) | Role::LinkCounter(at) => {
                    let (value, length) = json_u64(rest)?;
                    *counters.get_mut(at as usize)? = value;
                    length
                }
                Role::Gauge(at) => {
                    let length = number(rest)?;
                    *counters.get_mut(at as usize)? = gauge(&rest[..length]).ok()?;
                    length
                }
                Role::Skip => skip_value(rest)?,
                role => reading.take(role, rest)?,
            };
            rest = &rest[length..];
        }
        reading.time = reading.time + reading.usec as i64;
        self.plan.repeat(counters);
        (rest == self.tail).then_some(reading)
    }

    fn bytes(&self) -> usize {
        self.pieces.len() + self.tail.len() + 32 * self.segments.len() + size_of::<Layout>()
    }

    /// Whether `line`, whose values stand at `values`, differs from the rows of this layout in values alone.
    fn is_of(&self, line: &[u8], values: &[(usize, usize)]) -> bool {
        let (mut last_end, mut piece_start) = (0, 0);
        let mut pieces = values.iter().zip(&self.segments).map(|((start, end), segment)| {
            let piece = &self.pieces[piece_start..segment.piece_end as usize];
            let is_same = line[last_end..*start] == *piece;
            (last_end, piece_start) = (*end, segment.piece_end as usize);
            is_same
        });
        values.len() == self.segments.len() && pieces.all(|is_same| is_same) && line[last_end..] == self.tail
    }
}

impl<'a> Reading<'a> {
    /// Takes the value that `rest` begins with; returns its length.
    fn take(&mut self, role: Role, rest: &'a [u8]) -> Option<usize> {
        match role {
            Role::Time => {
                let (time, length) = leading_time(rest)?;
                self.time = time;
                (rest[0] != b'0').then_some(length)
            }
            Role::TimeUsec => {
                let (usec, length) = json_u64(rest)?;
                self.usec = usec.min(999);
                Some(length)
            }
            Role::ComponentId => {
                let (id, length) = json_u64(rest)?;
                self.identity.component_id = Some(id);
                Some(length)
            }
            Role::Producer => {
                let length = plain_string(rest)?;
                self.identity.take(role, Cow::Borrowed(&rest[1..length - 1]));
                Some(length)
            }
            Role::Text(_) | Role::JobId => {
                let (value, length) = match plain_string(rest) {
                    Some(length) => (&rest[1..length - 1], length),
                    None => json_u64(rest).map(|(_, length)| (&rest[..length], length))?,
                };
                self.identity.take(role, Cow::Borrowed(value));
                Some(length)
            }
            Role::Skip | Role::Counter(_) | Role::Gauge(_) | Role::LinkCounter(_) => None,
        }
    }
}

#[inline]
fn json_u64(rest: &[u8]) -> Option<(u64, usize)> {
    let (value, digits) = leading_u64(rest)?;
    // JSON has no leading zeros.
    (digits == 1 || rest[0] != b'0').then_some((value, digits))
}

/// Length of a string of printable ASCII without escapes, with its quotes.
fn plain_string(rest: &[u8]) -> Option<usize> {
    let inside = rest.strip_prefix(b"\"")?;
    let plain = |b: &u8| matches!(b, b' '..=b'~') && !matches!(b, b'"' | b'\\');
    let length = inside.iter().take_while(|b| plain(b)).count();
    (inside.get(length) == Some(&b'"')).then_some(length + 2)
}

/// Length of a number, plain string or word; `None` for everything else.
fn skip_value(rest: &[u8]) -> Option<usize> {
    match rest.first()? {
        b'"' => plain_string(rest),
        b'0'..=b'9' | b'-' => number(rest),
        _ => [&b"null"[..], b"true", b"false"]
            .iter()
            .find(|word| rest.starts_with(word))
            .map(|word| word.len()),
    }
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// Length of a JSON number without exponent; one with an exponent then fails at the piece behind it.
fn number(rest: &[u8]) -> Option<usize> {
    let sign = usize::from(rest[0] == b'-');
    let whole = digits(&rest[sign..]);
    if whole == 0 || (whole > 1 && rest[sign] == b'0') {
        return None;
    }
    let end = sign + whole;
    if rest.get(end) != Some(&b'.') {
        return Some(end);
    }
    let fraction = digits(&rest[end + 1..]);
    (fraction > 0).then_some(end + 1 + fraction)
}

/// Layouts learnt so far, by topic or file name.
#[derive(Debug, Default)]
pub(crate) struct Layouts {
    by_hint: HashMap<Box<str>, Vec<Layout>>,
    bytes: usize,
}

impl Layouts {
    /// Those to try for a row of `hint`, best first.
    pub(crate) fn of(&mut self, hint: &str) -> &mut [Layout] {
        self.by_hint.get_mut(hint).map_or(&mut [], |list| &mut list[..])
    }

    /// The plan of a row that took the general way for its values alone: its columns need no search.
    pub(crate) fn plan(&mut self, hint: &str, line: &[u8], values: &[(usize, usize)]) -> Option<Arc<Plan>> {
        self.of(hint).iter().find(|known| known.is_of(line, values)).map(|known| Arc::clone(&known.plan))
    }

    /// Keeps a layout that is not known.
    pub(crate) fn keep(&mut self, hint: &str, layout: Layout) {
        let size = layout.bytes() + hint.len();
        if size > BYTES_MAX / 8 {
            return;
        }
        if self.bytes + size > BYTES_MAX {
            self.by_hint.clear();
            self.bytes = 0;
        }
        self.bytes += size;
        let list = self.by_hint.entry(hint.into()).or_default();
        list.insert(0, layout);
        if list.len() > LAYOUTS_PER_HINT
            && let Some(oldest) = list.pop()
        {
            self.bytes = self.bytes.saturating_sub(oldest.bytes() + hint.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn learnt(line: &str) -> Layout {
        let fields = json::fields(line).unwrap();
        let plan = Plan::of(fields.0.iter().map(|(name, _)| name.as_ref()), "");
        Layout::learn(line.as_bytes(), &json::positions(line, &fields), Arc::new(plan))
    }

    const LINE: &str =
        r#"{"timestamp":1795217419.5,"component_id":1,"fs_name":"a","write_bytes.sum":7,"x.rate":-1.5}"#;

    #[test]
    fn the_next_row_of_a_set_takes_the_fast_way() {
        let layout = learnt(LINE);
        let next = LINE.replace(":7,", ":12345678901234567,").replace("419.5", "420.001");
        let mut counters = [0];
        let reading = layout.read(next.as_bytes(), &mut counters).unwrap();
        assert_eq!(counters, [12_345_678_901_234_567]);
        assert_eq!(reading.time, Time(1_795_217_420_001_000));
        assert_eq!(reading.identity.texts[0].as_ref(), b"a");
    }

    #[test]
    fn gauge_is_read_in_thousandths_on_the_fast_way() {
        let line =
            r#"{"timestamp":1795217419.5,"producer":"x1000c0r1","hsn.port":"p1","hsn.BlockedPercentage":7}"#;
        let (layout, mut counters) = (learnt(line), [0]);
        for (value, units) in [("12.5", 12_500), ("0", 0), ("99.9996", 100_000)] {
            let next = line.replace(":7}", &format!(":{value}}}"));
            assert!(layout.read(next.as_bytes(), &mut counters).is_some(), "{next}");
            assert_eq!(counters, [units]);
        }
        for value in ["-1.5", "1e2", "null"] {
            let next = line.replace(":7}", &format!(":{value}}}"));
            assert!(layout.read(next.as_bytes(), &mut counters).is_none(), "{next}");
        }
    }

    #[test]
    fn what_needs_a_second_look_is_left_to_the_general_way() {
        let layout = learnt(LINE);
        for (old, new) in [
            (":7,", ":-7,"),
            (":7,", ":07,"),
            (":7,", ":7.0,"),
            (":7,", ":18446744073709551616,"),
            ("419.5", "419."),
            ("\"a\"", "\"\\u0061\""),
            ("\"a\"", "\"\t\""),
            ("-1.5", "-"),
            ("-1.5", "01"),
            ("-1.5", "nan"),
            ("-1.5", "1e5"),
            ("-1.5}", "-1.5"),
            ("x.rate", "y.rate"),
        ] {
            let changed = LINE.replace(old, new);
            assert_ne!(changed, LINE);
            assert!(layout.read(changed.as_bytes(), &mut [0]).is_none(), "{changed}");
        }
    }

    #[test]
    fn ever_new_layouts_do_not_fill_the_memory() {
        let mut layouts = Layouts::default();
        let padding = "x".repeat(100_000);
        for n in 0..2_000 {
            let line = format!("{{\"timestamp\":1795217419.5,\"{padding}{n}\":1}}");
            layouts.keep(&format!("topic{}", n % 100), learnt(&line));
            assert!(layouts.bytes <= BYTES_MAX);
            let held: usize = layouts.by_hint.values().flatten().map(Layout::bytes).sum();
            assert!(held <= layouts.bytes);
        }
        for n in 0..100 {
            layouts.keep("", learnt(&format!("{{\"{n}\":1}}")));
        }
        assert_eq!(layouts.of("").len(), LAYOUTS_PER_HINT);
    }
}
