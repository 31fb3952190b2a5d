//! Jobs that turn from one metric to another, such as from writing to reading: what they move instead is no gain, and what they
//! move no more is no loss.

use super::GAINED_SHARE;
use schemas::{Metric, Name};
use std::collections::{BTreeSet, HashMap};

/// How the jobs of a file system changed by metric, and which of them turned.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// What clients of a job gained surely, and what they lost.
    changes: HashMap<(Name, Metric), [f64; 2]>,
    turned: BTreeSet<Name>,
}

impl Turns {
    /// Notes what a client gained and lost.
    pub(super) fn note(&mut self, changed: [f64; 2], metric: Metric, job: Option<&Name>) {
        if changed != [0.0; 2]
            && let Some(job) = job
        {
            let [gained, lost] = self.changes.entry((job.clone(), metric)).or_default();
            (*gained, *lost) = (*gained + changed[0], *lost + changed[1]);
        }
    }

    /// Finds the jobs that turned, once all clients were noted.
    pub(super) fn find(&mut self) {
        let jobs = self.changes.keys().map(|(job, _)| job);
        self.turned = jobs.filter(|job| self.turns(job)).cloned().collect();
    }

    /// Whether a job turned.
    pub(super) fn has(&self, job: &Name) -> bool {
        self.turned.contains(job)
    }

    /// What the jobs that turned gained by some metrics, no more than they lost by others.
    pub(super) fn moved(&self) -> f64 {
        let moved = |job: &Name| {
            let [gained, lost] = self.of(job).fold([0.0; 2], |sum, (_, of)| [sum[0] + of[0], sum[1] + of[1]]);
            f64::min(gained, lost)
        };
        self.turned.iter().map(moved).sum()
    }

    /// What the clients of a job gained by other metrics than this.
    pub(super) fn gained_instead(&self, metric: Metric, job: &Name) -> f64 {
        self.of(job).filter(|(other, _)| *other != metric).map(|(_, [gained, _])| gained).sum()
    }

    /// Whether a job gained by one metric much of what it lost by another.
    fn turns(&self, job: &Name) -> bool {
        let mut lost = self.of(job).filter(|(_, [_, lost])| *lost > 0.0);
        lost.any(|(metric, [_, lost])| self.gained_instead(metric, job) >= GAINED_SHARE * lost)
    }

    fn of(&self, job: &Name) -> impl Iterator<Item = (Metric, [f64; 2])> {
        let of_metric = |metric| Some((metric, *self.changes.get(&(job.clone(), metric))?));
        Metric::all().filter_map(of_metric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_that_reads_what_it_wrote_before_has_turned() {
        let [read, write] =
            ["lustre_read_rate", "lustre_write_rate"].map(|name| Metric::from_name(name).unwrap());
        let [turns, falls] = ["1", "2"].map(|name| Name::parse(name).unwrap());
        let mut found = Turns::default();
        found.note([0.0, 100.0], write, Some(&turns));
        found.note([80.0, 0.0], read, Some(&turns));
        found.note([0.0, 100.0], write, Some(&falls));
        found.note([10.0, 0.0], read, Some(&falls));
        found.find();
        assert!(found.has(&turns) && !found.has(&falls));
        assert_eq!((found.moved(), found.gained_instead(write, &falls)), (80.0, 10.0));
    }
}
