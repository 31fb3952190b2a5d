//! The latest readings of all series of a bank: values, times and spans in rings.
//!
//! Series share tiles, in which readings of one age lie side by side: a tick of a tile walks along a few
//! columns, and the hardware fetches ahead.

use schemas::{Time, growth};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, Range};

/// Readings kept. The long window of the widest setting fits (4 x 16), and so does every fall or rise
/// that is dated back.
pub const RECENT: usize = 64;
const MASK: usize = RECENT - 1;
/// Series of a tile: two kilobytes of neighbours per column.
const LANES: usize = 512;

/// Rings of the latest [`RECENT`] readings of each series, by age: 0 is the newest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Recent {
    heads: Vec<Head>,
    tiles: Vec<Tile>,
}

/// Columns of [`LANES`] series: slot, lane. A tile never moves and has no room for others, so that a machine that grows takes
/// no memory twice.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Tile {
    logs: Box<[f32]>,
    /// Low 32 bits of the microseconds; ages are differences, so the wrap after 71 minutes does no harm
    /// as long as no caller requests the age of a reading that lies further back.
    times: Box<[u32]>,
    spans: Box<[u8]>,
}

impl Tile {
    fn new() -> Tile {
        const CELLS: usize = RECENT * LANES;
        Tile { logs: vec![0.0; CELLS].into(), times: vec![0; CELLS].into(), spans: vec![0; CELLS].into() }
    }
}

/// Bytes that one series takes in a full tile.
pub const BYTES_PER_SERIES: usize = size_of::<Head>() + RECENT * (4 + 4 + 1);

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Head {
    last: Time,
    next: u8,
    held: u8,
}

const NO_READINGS: Head = Head { last: Time::MIN, next: 0, held: 0 };

/// Readings copied out of a ring, oldest first.
pub struct Readings {
    values: [f32; RECENT],
    len: usize,
}

impl Readings {
    /// Cuts all of them to a range.
    pub fn clip(&mut self, least: f32, most: f32) {
        self.values[..self.len].iter_mut().for_each(|value| *value = value.clamp(least, most));
    }
}

impl Deref for Readings {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        &self.values[..self.len]
    }
}

impl Recent {
    /// Adds a series without readings.
    pub fn add(&mut self) {
        if self.heads.len().is_multiple_of(LANES) {
            self.tiles.push(Tile::new());
        }
        growth::push(&mut self.heads, NO_READINGS);
    }

    /// Adds a reading of series `i`.
    #[inline]
    pub fn push(&mut self, i: usize, ln: f32, time: Time, span_ticks: u8) {
        let head = &mut self.heads[i];
        let (tile, at) = (&mut self.tiles[i / LANES], cell(i, head.next as usize));
        tile.logs[at] = ln;
        tile.times[at] = time.0 as u32;
        tile.spans[at] = span_ticks;
        head.next = ((head.next as usize + 1) & MASK) as u8;
        head.held = (head.held + 1).min(RECENT as u8);
        head.last = time;
    }

    /// Forgets the newest reading of series `i`.
    pub fn pop(&mut self, i: usize) {
        if self.heads[i].held == 0 {
            return;
        }
        let before = self.time(i, 1);
        let head = &mut self.heads[i];
        head.next = head.next.wrapping_sub(1) & MASK as u8;
        head.held -= 1;
        if head.held > 0 {
            head.last = before;
        }
    }

    /// Forgets all readings of series `i`.
    pub fn clear(&mut self, i: usize) {
        self.heads[i] = NO_READINGS;
    }

    /// Readings of series `i` held.
    pub fn len(&self, i: usize) -> usize {
        self.heads[i].held as usize
    }

    /// End of the newest reading of series `i`.
    pub fn last(&self, i: usize) -> Time {
        self.heads[i].last
    }

    /// Signed logarithm of the reading of that age.
    #[inline]
    pub fn ln(&self, i: usize, age: usize) -> f32 {
        self.tiles[i / LANES].logs[self.at(i, age)]
    }

    /// End of the reading of that age.
    pub fn time(&self, i: usize, age: usize) -> Time {
        let last = self.heads[i].last;
        let back = (last.0 as u32).wrapping_sub(self.tiles[i / LANES].times[self.at(i, age)]);
        Time(last.0 - i64::from(back))
    }

    /// Ages of the readings that end after `from` and up to `to`, the newest first: older ones than these are not looked at.
    pub fn between(&self, i: usize, from: Time, to: Time) -> impl Iterator<Item = usize> {
        let ages = (0..self.len(i)).map(move |age| (age, self.time(i, age)));
        let since = ages.take_while(move |(_, time)| *time > from);
        since.filter(move |(_, time)| *time <= to).map(|(age, _)| age)
    }

    /// Ticks that the reading of that age covers.
    pub fn span_ticks(&self, i: usize, age: usize) -> u8 {
        self.tiles[i / LANES].spans[self.at(i, age)]
    }

    /// Copies readings of those ages.
    pub fn readings(&self, i: usize, ages: Range<usize>) -> Readings {
        let mut readings = Readings { values: [0.0; RECENT], len: ages.len() };
        for (value, age) in readings.values.iter_mut().zip(ages.rev()) {
            *value = self.ln(i, age);
        }
        readings
    }

    /// Mean of the latest `window` readings, or of as many as there are.
    pub fn mean(&self, i: usize, window: usize) -> f32 {
        let n = window.min(self.len(i)).max(1);
        (0..n).map(|age| self.ln(i, age)).sum::<f32>() / n as f32
    }

    #[inline]
    fn at(&self, i: usize, age: usize) -> usize {
        cell(i, (self.heads[i].next as usize).wrapping_sub(age + 1) & MASK)
    }
}

/// Index of a slot of series `i` in the columns of its tile.
#[inline]
fn cell(i: usize, slot: usize) -> usize {
    slot * LANES + i % LANES
}
