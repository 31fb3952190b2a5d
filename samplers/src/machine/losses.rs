//! What jobs lose to each other while nothing changes.

use super::{Component, Machine};
use crate::lustre::FileSystem;
use crate::truth::Blame;
use std::collections::BTreeMap;

/// A writer that loses less than this to others is not contended.
const LOSS_MIN: f64 = 0.01;

impl Machine {
    pub(super) fn lose_on_network(&mut self, from: f64, to: f64) {
        for link in &self.network.contended {
            let loss = self.series.entry(Component::Tile(link.tile)).or_default();
            loss.add(from, to, link.lost * (to - from), &link.blame);
        }
        for run in self.runs.iter_mut().filter(|r| r.end.is_none()) {
            let Some((lost, blame, contended)) = self.network.loss_of(run.id) else {
                continue;
            };
            run.done += (1.0 - lost) * (to - from);
            if contended {
                run.loss.add(from, to, lost * (to - from), blame);
            }
        }
    }

    pub(super) fn lose_on_files(&mut self, from: f64, to: f64) {
        for run in self.runs.iter_mut().filter(|r| r.end.is_none()) {
            let of_job = || self.files.writers.iter().filter(|w| w.job == run.id && w.alone > 0.0);
            let count = of_job().count();
            if count == 0 {
                continue;
            }
            let blame = blame_of_writers(&self.files, run.id);
            let mut total = 0.0;
            for writer in of_job() {
                let lost = 1.0 - writer.rate / writer.alone;
                total += lost;
                if lost >= LOSS_MIN {
                    let loss = self.series.entry(Component::Client(writer.node)).or_default();
                    loss.add(from, to, lost * (to - from), &blame);
                }
            }
            let lost = total / count as f64;
            if lost >= LOSS_MIN {
                run.loss.add(from, to, lost * (to - from), &blame);
            }
        }
    }
}

/// Blames the writers of other jobs by what they write.
fn blame_of_writers(files: &FileSystem, job: u64) -> Blame {
    let mut rates: BTreeMap<u64, f64> = BTreeMap::new();
    for writer in files.writers.iter().filter(|w| w.job != job && w.rate > 0.0) {
        *rates.entry(writer.job).or_default() += writer.rate;
    }
    let total: f64 = rates.values().sum();
    rates.into_iter().map(|(job, rate)| (job, rate / total)).collect()
}
