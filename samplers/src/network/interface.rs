//! What a node's network interface counts: flits of the requests that it sends, and their stalls.

use super::Spread;
use crate::aries::{FLIT_BYTES, stall_ratio};
use crate::rng::Rng;

/// What an interface can send, in bytes a second.
const BYTES_PER_S: f64 = 1.02e10;
/// Counters stood below this when the simulation began.
const BASE_MAX: u64 = 1_000_000_000_000;

/// The interface of a node. Its noise has numbers of its own: the tiles' stay the same without it.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    /// What its jobs send now.
    pub(super) bytes_per_s: f64,
    /// Flits and stalls since the start.
    counted: [f64; 2],
    marked: [f64; 2],
    base: [u64; 2],
    load_noise: f64,
    ratio_noise: f64,
    rng: Rng,
}

impl Interface {
    pub(super) fn new(node: u32, seed: u64) -> Interface {
        let mut rng = Rng::new(seed, 0x41C ^ (u64::from(node) << 20));
        Interface {
            bytes_per_s: 0.0,
            counted: [0.0; 2],
            marked: [0.0; 2],
            base: std::array::from_fn(|_| rng.next_u64() % BASE_MAX),
            load_noise: 1.0,
            ratio_noise: 1.0,
            rng,
        }
    }

    /// Draws the noise of the coming second.
    pub(super) fn draw(&mut self, spread: Spread) {
        self.load_noise = self.rng.factor(spread.load);
        self.ratio_noise = self.rng.factor(spread.ratio);
    }

    /// It sends only a part in this second.
    pub(super) fn slow(&mut self, part: f64) {
        self.load_noise *= part;
    }

    pub(super) fn advance(&mut self, seconds: f64) {
        let flits = self.bytes_per_s / FLIT_BYTES * self.load_noise * seconds;
        self.counted[0] += flits;
        self.counted[1] += flits * stall_ratio(self.bytes_per_s / BYTES_PER_S) * self.ratio_noise;
    }

    pub(super) fn mark(&mut self) {
        self.marked = self.counted;
    }

    pub(super) fn counters(&self, part: f64) -> [u64; 2] {
        std::array::from_fn(|at| {
            self.base[at] + (self.marked[at] + (self.counted[at] - self.marked[at]) * part) as u64
        })
    }

    /// It counts from 0 again.
    pub(super) fn reset(&mut self) {
        (self.counted, self.marked, self.base) = ([0.0; 2], [0.0; 2], [0; 2]);
    }
}
