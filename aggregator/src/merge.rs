//! Replay of many files at once, in order of time.
//!
//! Every file spans the whole recording, but evidence must meet at one time across files. Within a file the
//! rows keep their order, which is that of their arrival: what is late stays late. A file stands at the newest
//! time that it has shown, and the file that stands earliest goes on.

use crate::csv::is_header;
use crate::decode::{Decoded, Decoder, trimmed};
use crate::naming::NodePairs;
use crate::number::leading_time;
use crate::source::{Format, InputError, InputFile, Line, Opened, SkippedFile};
use memchr::memmem;
use schemas::{DropReason, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::Arc;

/// Rows of a batch, about.
const BATCH_ROWS: usize = 1_000;
/// Lines of a batch: also where nothing is used the caller gets a chance to show progress.
const BATCH_LINES: usize = 4_000;
/// A row further ahead than this moves its file only when another confirms it: clocks go wrong.
const JUMP_S: f64 = 60.0;
/// Look-ahead of one file, from which producers are learnt: lines and bytes, whichever is reached first.
const AHEAD_LINES: usize = 1_024;
const AHEAD_BYTES: usize = 2 << 20;

/// A line that waits for its turn; ordered by where its file stood, then by place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    time: Time,
    number: u64,
    met: Met,
    bytes: Vec<u8>,
}

/// What is to be done with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Met {
    Whole,
    Unterminated,
    TooLong,
}

#[derive(Debug)]
struct Track {
    file: InputFile,
    ahead: BinaryHeap<Reverse<Waiting>>,
    ahead_bytes: usize,
    /// A header in mid-file: rows before it must be decoded first.
    header: Option<Vec<u8>>,
    /// Where the file stands, and a jump ahead that waits to be confirmed.
    latest: Time,
    jump: Option<Time>,
    ended: bool,
    spare: Vec<Vec<u8>>,
}

/// Files being replayed.
#[derive(Debug)]
pub struct Replay {
    tracks: Vec<Track>,
    /// The first row of each track that has one, by time.
    heads: BinaryHeap<Reverse<(Time, usize)>>,
    skipped: Vec<SkippedFile>,
    pairs: Option<NodePairs>,
    total_bytes: u64,
}

impl Replay {
    /// Opens all `paths`. Their order does not matter.
    ///
    /// # Errors
    /// [`InputError`] of the first file that cannot be used.
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Replay, InputError> {
        let mut sorted: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut tracks = Vec::new();
        let mut skipped = Vec::new();
        for path in sorted {
            match InputFile::open(path)? {
                Opened::Rows(file) => tracks.push(Track::new(file)),
                Opened::Skipped(file) => skipped.push(file),
            }
        }
        let mut heads = BinaryHeap::new();
        for (at, track) in tracks.iter_mut().enumerate() {
            track.refill()?;
            heads.extend(track.head().map(|time| Reverse((time, at))));
        }
        Ok(Replay {
            pairs: Some(pairs(&mut tracks)),
            total_bytes: tracks.iter().map(|track| track.file.size).sum(),
            tracks,
            heads,
            skipped,
        })
    }

    /// Empties `out` and fills it with about 1,000 rows, files merged by time.
    /// `false` when all files are at their end and nothing was left to decode.
    /// The first call corrects the decoder's [`crate::NodeNaming`] by what the heads of all files say.
    ///
    /// # Errors
    /// [`InputError`] names file and line. The next call goes on with the other files.
    pub fn next_batch(&mut self, decoder: &mut Decoder, out: &mut Decoded) -> Result<bool, InputError> {
        out.clear();
        if let Some(pairs) = self.pairs.take() {
            decoder.set_naming(decoder.naming().clone().corrected_by(&pairs));
        }
        let mut lines = 0;
        while lines < BATCH_LINES && out.len() < BATCH_ROWS {
            let Some(Reverse((_, at))) = self.heads.pop() else {
                break;
            };
            lines += 1;
            let track = &mut self.tracks[at];
            track.decode_first(decoder, out);
            let refilled = track.refill();
            self.heads.extend(track.head().map(|time| Reverse((time, at))));
            refilled?;
        }
        Ok(lines > 0)
    }

    /// Size of all files together.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// Bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        self.tracks.iter().map(|track| track.file.bytes_read).sum()
    }

    /// Files that hold no rows and were passed over.
    pub fn skipped(&self) -> &[SkippedFile] {
        &self.skipped
    }
}

/// Which producers belong to which numbers, as far as the look-ahead of all files tells.
fn pairs(tracks: &mut [Track]) -> NodePairs {
    let mut decoder = Decoder::default();
    let mut out = Decoded::default();
    for track in tracks {
        let schema = track.file.schema.as_str();
        for Reverse(waiting) in &track.ahead {
            match &mut track.file.format {
                Format::JsonLines => decoder.json_line(Some(schema), &waiting.bytes, &mut out),
                Format::Csv(csv) => decoder.csv_line(csv, &waiting.bytes, &mut out),
            };
            out.clear();
        }
    }
    decoder.nodes().clone()
}

/// What stands behind the key `timestamp` of a row that LDMS did not write itself: its columns have another order.
fn after_key(line: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"\"timestamp\"";
    let behind = &line[memmem::find(line, KEY)? + KEY.len()..];
    behind.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start)
}

impl Track {
    fn new(file: InputFile) -> Track {
        Track {
            file,
            ahead: BinaryHeap::new(),
            ahead_bytes: 0,
            header: None,
            latest: Time::MIN,
            jump: None,
            ended: false,
            spare: Vec::new(),
        }
    }

    fn head(&self) -> Option<Time> {
        self.ahead.peek().map(|Reverse(waiting)| waiting.time)
    }

    /// Reads until the look-ahead is full, the file ends or a header bars the way.
    fn refill(&mut self) -> Result<(), InputError> {
        loop {
            if self.ahead.is_empty()
                && let (Some(header), Format::Csv(csv)) = (self.header.take(), &mut self.file.format)
                && let Ok(header) = std::str::from_utf8(trimmed(&header))
            {
                csv.take_header(header);
            }
            let full = self.ahead.len() >= AHEAD_LINES || self.ahead_bytes >= AHEAD_BYTES;
            if self.ended || self.header.is_some() || (full && !self.ahead.is_empty()) {
                return Ok(());
            }
            self.read_one()?;
        }
    }

    fn read_one(&mut self) -> Result<(), InputError> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        let met = match self.file.read_line(&mut bytes) {
            Ok(Line::Whole) => Met::Whole,
            Ok(Line::Unterminated) => Met::Unterminated,
            Ok(Line::TooLong) => Met::TooLong,
            Ok(Line::End) => {
                self.ended = true;
                return Ok(());
            }
            Err(error) => {
                self.ended = true;
                return Err(error);
            }
        };
        if matches!(self.file.format, Format::Csv(_)) && met != Met::TooLong && is_header(trimmed(&bytes)) {
            self.header = Some(bytes);
            return Ok(());
        }
        if let Some(time) = self.time_of(&bytes) {
            self.advance(time);
        }
        self.ahead_bytes += bytes.len();
        self.ahead.push(Reverse(Waiting { time: self.latest, number: self.file.line, met, bytes }));
        Ok(())
    }

    /// Moves the file on to `time`; never back.
    fn advance(&mut self, time: Time) {
        let near = |from: Time| time.seconds_since(from).abs() <= JUMP_S;
        let believed = self.latest == Time::MIN || near(self.latest) || self.jump.is_some_and(near);
        if time > self.latest {
            self.jump = if believed { None } else { Some(time) };
            self.latest = if believed { time } else { self.latest };
        }
    }

    /// When a row was sampled, if that can be told without decoding it.
    fn time_of(&self, line: &[u8]) -> Option<Time> {
        let line = trimmed(line);
        let number = match self.file.format {
            Format::JsonLines => match line.strip_prefix(b"{\"timestamp\":") {
                Some(number) => number.trim_ascii_start(),
                None => after_key(line)?,
            },
            Format::Csv(_) => line,
        };
        leading_time(number).map(|(time, _)| time)
    }

    fn decode_first(&mut self, decoder: &mut Decoder, out: &mut Decoded) {
        let Some(Reverse(waiting)) = self.ahead.pop() else {
            return;
        };
        self.ahead_bytes -= waiting.bytes.len();
        if !Arc::ptr_eq(&decoder.place.file, &self.file.path) {
            decoder.place.file = Arc::clone(&self.file.path);
        }
        decoder.place.line = waiting.number;
        let line = waiting.bytes.as_slice();
        match &mut self.file.format {
            Format::JsonLines if waiting.met == Met::TooLong => {
                decoder.refuse(DropReason::InvalidJson, "line too long", line)
            }
            Format::Csv(csv)
                if waiting.met == Met::TooLong
                    || (waiting.met == Met::Unterminated && csv.last_column_matters()) =>
            {
                decoder.refuse(DropReason::InvalidCsv, "line cut or too long", line)
            }
            Format::JsonLines => decoder.json_line(Some(&self.file.schema), line, out),
            Format::Csv(csv) => decoder.csv_line(csv, line, out),
        };
        if self.spare.len() < AHEAD_LINES {
            self.spare.push(waiting.bytes);
        }
    }
}
