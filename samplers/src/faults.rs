//! Faults between a sampler and the store: rows lost, doubled, late, out of order, clocks that differ.

use crate::ldms_rows::{Rows, Schema};
use crate::rng::Rng;
use std::collections::BTreeMap;
use std::ops::Range;

/// Faults of a scenario; the default is none. They draw from their own numbers: the physics stays the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Probability that a row never arrives.
    pub drop_probability: f64,
    /// Probability that a row arrives twice.
    pub duplicate_probability: f64,
    /// Probability that a row is late.
    pub delay_probability: f64,
    /// How late, in seconds; a late row is emitted in a later tick.
    pub delay_s: Range<f64>,
    /// Whether the rows of a tick are shuffled.
    pub reorder: bool,
    /// `(node, second)`: the blade of the node is power-cycled; its client and its router count from 0 again.
    pub reset_at: Option<(u32, u32)>,
    /// `(node, from, to)`: seconds in which the sampler of a node is silent.
    pub silence: Option<(u32, u32, u32)>,
    /// Milliseconds by which the clock of a node is ahead; its timestamps show it, its counters do not.
    pub skew_ms: BTreeMap<u32, f64>,
}

/// A row that waits.
#[derive(Clone, Debug)]
struct Held {
    due_s: f64,
    schema: Schema,
    line: Vec<u8>,
}

/// The faults at work.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) faults: Faults,
    rng: Rng,
    held: Vec<Held>,
}

impl Path {
    pub(crate) fn new(faults: Faults, seed: u64) -> Path {
        Path { faults, rng: Rng::new(seed, 0xFA17), held: Vec::new() }
    }

    pub(crate) fn is_silent(&self, node: u32, second: u32) -> bool {
        let silence = self.faults.silence.as_ref();
        silence.is_some_and(|(silent, from, to)| *silent == node && (*from..*to).contains(&second))
    }

    /// By how many microseconds the clock of a node is ahead.
    pub(crate) fn skew_us(&self, node: u32) -> i64 {
        self.faults.skew_ms.get(&node).map_or(0, |ms| (ms * 1e3).round() as i64)
    }

    /// Decides what becomes of the row that begins at `start`, the last one of its buffer.
    pub(crate) fn row_written(&mut self, out: &mut Rows, schema: Schema, start: usize, second: u32) {
        let buffer = out.buffer(schema);
        if self.rng.chance(self.faults.drop_probability) {
            buffer.truncate(start);
            return;
        }
        let end = buffer.len();
        if self.rng.chance(self.faults.duplicate_probability) {
            buffer.extend_from_within(start..end);
        }
        if self.rng.chance(self.faults.delay_probability) {
            let late = self.rng.between(self.faults.delay_s.start, self.faults.delay_s.end);
            self.held.push(Held {
                due_s: f64::from(second) + late,
                schema,
                line: buffer[start..end].to_vec(),
            });
            buffer.drain(start..end);
        }
    }

    /// Emits the late rows that are due and shuffles if configured.
    pub(crate) fn end_of_tick(&mut self, out: &mut Rows, second: f64) {
        self.held.retain(|held| {
            let due = held.due_s <= second;
            if due {
                out.buffer(held.schema).extend_from_slice(&held.line);
            }
            !due
        });
        if self.faults.reorder {
            for schema in Schema::ALL {
                shuffle(out.buffer(schema), &mut self.rng);
            }
        }
    }

    pub(crate) fn holds_rows(&self) -> bool {
        !self.held.is_empty()
    }
}

fn shuffle(buffer: &mut Vec<u8>, rng: &mut Rng) {
    let mut lines: Vec<&[u8]> = buffer.split_inclusive(|b| *b == b'\n').collect();
    for last in (1..lines.len()).rev() {
        lines.swap(last, rng.below(last + 1));
    }
    *buffer = lines.concat();
}
