//! A file system with four OSTs whose clients share bandwidth as table 4.1 of SAND2016-9525 measured it.

use crate::rng::Rng;

/// Median run times in seconds of `n` processes that write [`MEASURED_BYTES`] each at once.
const MEASURED: [(f64, f64); 6] =
    [(1.0, 64.0), (2.0, 77.0), (3.0, 86.0), (4.0, 96.0), (8.0, 151.0), (16.0, 277.0)];

/// Bytes that each process of the measurement wrote.
pub const MEASURED_BYTES: f64 = 64e9;

/// Seconds that each of `writers` equal writers needs for 64 GB: the measurement, straight lines between
/// its points, and the last line carried on beyond sixteen. Below one writer, as one.
pub fn seconds_for_64_gb(writers: f64) -> f64 {
    let n = writers.max(1.0);
    let above = MEASURED.iter().position(|(count, _)| *count >= n);
    let right = above.unwrap_or(MEASURED.len() - 1).max(1);
    let ((n0, t0), (n1, t1)) = (MEASURED[right - 1], MEASURED[right]);
    t0 + (t1 - t0) * (n - n0) / (n1 - n0)
}

/// Bytes a second that a writer may take when the writers request `demands`; a writer that requests less takes less.
///
/// A writer that takes a part of the share loads the servers with that part of a writer. The share is the
/// largest that is consistent with the load it makes, reached from above, where the iteration is monotone.
pub fn fair_share(demands: impl Iterator<Item = f64> + Clone) -> f64 {
    const ROUNDS_MAX: usize = 200;
    let mut share = MEASURED_BYTES / seconds_for_64_gb(1.0);
    for _ in 0..ROUNDS_MAX {
        let load: f64 = demands.clone().map(|asked| (asked / share).min(1.0)).sum();
        let next = MEASURED_BYTES / seconds_for_64_gb(load);
        if (share - next).abs() <= share * 1e-12 {
            break;
        }
        share = next;
    }
    share
}

/// A process that writes.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(crate) node: u32,
    pub(crate) job: u64,
    /// Bytes still to write; infinite for a job that ends by the clock.
    pub(crate) left: f64,
    /// Most that it asks for; 0 between two checkpoints.
    pub(crate) asks: f64,
    /// Rate it gets, without noise.
    pub(crate) rate: f64,
    /// Rate it would get if only its own job wrote.
    pub(crate) alone: f64,
    noise: f64,
    rng: Rng,
}

/// All clients and what they write.
#[derive(Clone, Debug)]
pub(crate) struct FileSystem {
    pub(crate) writers: Vec<Writer>,
    written: Vec<f64>,
    marked: Vec<f64>,
    /// When the last writer of each node was done.
    done_at: Vec<f64>,
    sigma: f64,
    seed: u64,
}

impl FileSystem {
    pub(crate) fn new(nodes: u32, sigma: f64, seed: u64) -> FileSystem {
        FileSystem {
            writers: Vec::new(),
            written: vec![0.0; nodes as usize],
            marked: vec![0.0; nodes as usize],
            done_at: vec![0.0; nodes as usize],
            sigma,
            seed,
        }
    }

    pub(crate) fn add(&mut self, node: u32, job: u64, left: f64, asks: f64) {
        let mut rng = Rng::new(self.seed, 0x1057 ^ (job << 20) ^ u64::from(node));
        self.writers.push(Writer {
            node,
            job,
            left,
            asks,
            rate: 0.0,
            alone: 0.0,
            noise: rng.factor(self.sigma),
            rng,
        });
    }

    /// Draws the noise of the coming second.
    pub(crate) fn begin_tick(&mut self) {
        for writer in &mut self.writers {
            writer.noise = writer.rng.factor(self.sigma);
        }
    }

    /// Shares the bandwidth again, after a writer started, ended or changed its demand.
    pub(crate) fn solve(&mut self) {
        let asked = |w: &Writer| w.asks;
        let share = fair_share(self.writers.iter().map(asked));
        let mut jobs: Vec<u64> = self.writers.iter().map(|w| w.job).collect();
        jobs.dedup();
        for job in jobs {
            let alone = fair_share(self.writers.iter().filter(|w| w.job == job).map(asked));
            for writer in self.writers.iter_mut().filter(|w| w.job == job) {
                writer.rate = share.min(writer.asks);
                writer.alone = alone.min(writer.asks);
            }
        }
    }

    /// Seconds until the first writer is done, if all rates stay.
    pub(crate) fn seconds_to_end(&self) -> f64 {
        let ends = self.writers.iter().map(|w| w.left / (w.rate * w.noise));
        ends.filter(|s| !s.is_nan()).fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn advance(&mut self, seconds: f64) {
        for writer in &mut self.writers {
            let bytes = (writer.rate * writer.noise * seconds).min(writer.left);
            writer.left -= bytes;
            self.written[writer.node as usize] += bytes;
        }
    }

    /// Removes the writers that need no more than `instant` seconds after `now`; true if there was one.
    pub(crate) fn remove_done(&mut self, now: f64, instant: f64) -> bool {
        let before = self.writers.len();
        let (written, done_at) = (&mut self.written, &mut self.done_at);
        self.writers.retain(|w| {
            let done = w.left <= w.rate * w.noise * instant;
            if done {
                written[w.node as usize] += w.left;
                done_at[w.node as usize] = now;
            }
            !done
        });
        self.writers.len() < before
    }

    pub(crate) fn remove_job(&mut self, job: u64) {
        self.writers.retain(|w| w.job != job);
    }

    /// Remembers the counters of the whole second; samples lie between these and the present ones.
    pub(crate) fn mark(&mut self) {
        self.marked.copy_from_slice(&self.written);
    }

    /// Bytes that a node has written, `part` of the way from the mark to now.
    pub(crate) fn written(&self, node: u32, part: f64) -> f64 {
        let (from, to) = (self.marked[node as usize], self.written[node as usize]);
        from + (to - from) * part
    }

    /// Bytes that a node has written by now.
    pub(crate) fn written_now(&self, node: u32) -> f64 {
        self.written[node as usize]
    }

    /// When the last writer of a node was done.
    pub(crate) fn done_at(&self, node: u32) -> f64 {
        self.done_at[node as usize]
    }

    /// The client counts from 0 again.
    pub(crate) fn reset(&mut self, node: u32) {
        self.written[node as usize] = 0.0;
        self.marked[node as usize] = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_writers_share_as_measured() {
        for (n, seconds) in MEASURED {
            let share = fair_share(std::iter::repeat_n(f64::INFINITY, n as usize));
            assert!((MEASURED_BYTES / share - seconds).abs() < 1e-6, "{n}");
        }
        assert!((seconds_for_64_gb(6.0) - 123.5).abs() < 1e-9);
        assert!((seconds_for_64_gb(24.0) - 403.0).abs() < 1e-9);
    }

    #[test]
    fn small_demand_takes_little_and_costs_little() {
        let share = fair_share([f64::INFINITY, 0.02e9].into_iter());
        assert!((0.99e9..1.0e9).contains(&share), "{share}");
        let shares = fair_share([0.5e9, 0.5e9].into_iter());
        assert!(shares > 0.8e9, "both get what they ask for: {shares}");
    }

    #[test]
    fn the_servers_carry_more_in_all_with_more_writers() {
        let all = |n: usize| n as f64 * fair_share(std::iter::repeat_n(f64::INFINITY, n));
        assert!((1..40).all(|n| all(n) < all(n + 1)));
    }
}
