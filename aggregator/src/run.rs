//! Rows of one file, or of one ordered piece of it, with a look-ahead.

use crate::lines::{Line, Lines};
use crate::sort::{Limits, Piece, Row, Sorted};
use crate::source::{InputError, InputFile};
use schemas::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A row further ahead than this moves its file only when another confirms it: clocks go wrong.
const JUMP_S: f64 = 60.0;

/// Rows on their way, the next one first.
#[derive(Debug)]
pub(crate) struct Run {
    /// Number of its file.
    pub file: usize,
    from: From,
    ahead: BinaryHeap<Reverse<Row>>,
    ahead_bytes: usize,
    ended: bool,
}

#[derive(Debug)]
enum From {
    Piece { lines: Lines, table: usize, order: RowOrder, spare: Vec<Vec<u8>> },
    Sorted(Sorted),
}

/// How rows are ordered among those of other files.
#[derive(Debug)]
enum RowOrder {
    /// At its own time; one without time at that of the row before.
    Time(Time),
    /// Where its file stands, so that rows keep the order of their arrival: at the newest time shown so far. A jump
    /// ahead waits to be confirmed.
    Arrival { latest: Time, jump: Option<Time> },
}

impl RowOrder {
    fn of(&mut self, time: Option<Time>) -> Time {
        match self {
            RowOrder::Time(last) => {
                *last = time.unwrap_or(*last);
                *last
            }
            RowOrder::Arrival { latest, jump } => {
                let near = |time: Time, from: Time| time.seconds_since(from).abs() <= JUMP_S;
                if let Some(time) = time.filter(|time| *time > *latest) {
                    let known = *latest == Time::MIN || near(time, *latest);
                    let believed = known || jump.is_some_and(|from| near(time, from));
                    *jump = if believed { None } else { Some(time) };
                    *latest = if believed { time } else { *latest };
                }
                *latest
            }
        }
    }
}

impl Run {
    /// The rows of an ordered piece of `file`, by time.
    pub(crate) fn ordered(number: usize, file: &InputFile, piece: Piece) -> Run {
        Run::of_piece(number, file, piece, RowOrder::Time(Time::MIN))
    }

    /// The rows of a file as they stand there.
    pub(crate) fn arrived(number: usize, file: &InputFile, piece: Piece) -> Run {
        Run::of_piece(number, file, piece, RowOrder::Arrival { latest: Time::MIN, jump: None })
    }

    /// Rows that were sorted.
    pub(crate) fn sorted(number: usize, sorted: Sorted) -> Run {
        Run::new(number, From::Sorted(sorted))
    }

    fn of_piece(number: usize, file: &InputFile, piece: Piece, order: RowOrder) -> Run {
        let lines = file.lines(piece.from, piece.end, piece.number);
        Run::new(number, From::Piece { lines, table: piece.table, order, spare: Vec::new() })
    }

    fn new(file: usize, from: From) -> Run {
        Run { file, from, ahead: BinaryHeap::new(), ahead_bytes: 0, ended: false }
    }

    /// Sort key of the next row: its time and number.
    pub(crate) fn head(&self) -> Option<(Time, u64)> {
        self.ahead.peek().map(|Reverse(row)| (row.time, row.number))
    }

    /// Takes the next row.
    pub(crate) fn pop(&mut self) -> Option<Row> {
        let Reverse(row) = self.ahead.pop()?;
        self.ahead_bytes -= row.bytes.len();
        Some(row)
    }

    /// Takes back the memory of a row.
    pub(crate) fn recycle(&mut self, bytes: Vec<u8>) {
        if let From::Piece { spare, .. } = &mut self.from
            && spare.len() < 16
        {
            spare.push(bytes);
        }
    }

    /// Reads until the look-ahead is full or the rows end.
    pub(crate) fn refill(&mut self, file: &mut InputFile, limits: &Limits) -> Result<(), InputError> {
        while !self.ended {
            let full = match self.from {
                From::Piece { .. } => limits.is_full(self.ahead.len(), self.ahead_bytes),
                From::Sorted(_) => !self.ahead.is_empty(),
            };
            if full {
                break;
            }
            let read = self.read_one(file);
            self.ended = !matches!(read, Ok(true));
            read?;
        }
        Ok(())
    }

    /// Reads a line; false at the end.
    fn read_one(&mut self, file: &mut InputFile) -> Result<bool, InputError> {
        let failed = |line, source| InputError::Read { path: Arc::clone(&file.path), line, source };
        let row = match &mut self.from {
            From::Sorted(sorted) => match sorted.next().map_err(|source| failed(0, source))? {
                Some(row) => row,
                None => return Ok(false),
            },
            From::Piece { lines, table, order, spare } => {
                let mut bytes = spare.pop().unwrap_or_default();
                let met = lines.next(&mut bytes).map_err(|source| failed(lines.number(), source))?;
                if met == Line::End {
                    return Ok(false);
                }
                if let Some(next) = file.table(&bytes) {
                    *table = next;
                    return Ok(true);
                }
                let time = order.of(file.time_of(*table, &bytes));
                Row { time, number: lines.number(), table: *table, met, bytes }
            }
        };
        self.ahead_bytes += row.bytes.len();
        self.ahead.push(Reverse(row));
        Ok(true)
    }
}
