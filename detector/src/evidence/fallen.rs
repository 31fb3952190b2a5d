//! Active clients of a file system by their rates before a change, and which of them fell.

/// Active clients by their rate before the change, and whether they fell.
#[derive(Clone, Debug, Default)]
pub(super) struct Fallen {
    pub(super) clients: Vec<(f64, bool)>,
    /// Rates before of those that continued as before, and what they move now as a part of their baselines.
    pub(super) continued: Vec<[f64; 2]>,
    /// How many of the fastest 1, 2, 3, … fell.
    fallen: Vec<u32>,
}

impl Fallen {
    pub(super) fn sort(&mut self) {
        self.clients.sort_by(|a, b| b.0.total_cmp(&a.0));
        let count = |sum: &mut u32, (_, fell): &(f64, bool)| {
            *sum += u32::from(*fell);
            Some(*sum)
        };
        self.fallen = self.clients.iter().scan(0, count).collect();
    }

    /// Active clients that were faster than `rate`, and those of them that fell.
    pub(super) fn faster_than(&self, rate: f64) -> (u32, u32) {
        let active = self.clients.partition_point(|(before, _)| *before > rate);
        (active as u32, active.checked_sub(1).map_or(0, |last| self.fallen[last]))
    }
}
