//! The end of what a partition has not seen for long, and of what hangs on it outside of the detector.

use super::Detecting;
use schemas::{SeriesIndex, Source, SourceIndex};
use std::collections::HashSet;

impl Detecting {
    /// Forgets what was not seen for long. What is known of forgotten series has to be taken before the next message: it may
    /// give their numbers to others.
    pub(super) fn forget_unseen(&mut self) {
        let Some(now) = self.ordered.stream_time(self.inbox.watermark()) else { return };
        let look = self.ordered.detector.looked_for_unseen();
        let gone = self.ordered.detector.forget_unseen(now);
        if look == self.ordered.detector.looked_for_unseen() {
            return;
        }
        if let Some(after_s) = self.ordered.detector.settings().forget_after_s {
            self.inbox.forget_raws(after_s);
            self.job_sources.forget(now.plus_seconds(-after_s));
        }
        self.forget_sources();
        self.ordered.links.forget_series(&gone);
        self.forgotten.extend(gone);
    }

    /// Forgets sources that the detector does not know any more, and gives the others new numbers.
    fn forget_sources(&mut self) {
        let waiting: HashSet<SourceIndex> = self.inbox.sources().collect();
        let detector = &self.ordered.detector;
        let stays =
            |number: SourceIndex, source: &Source| waiting.contains(&number) || detector.knows(source);
        let mut sources = self.sources.as_slice().iter().enumerate();
        if sources.all(|(at, source)| stays(SourceIndex(at as u32), source)) {
            return;
        }
        let numbers = self.sources.retain(stays);
        self.inbox.renumber(&numbers);
        self.known.clear();
        self.ordered.detector.forget_numbers_of_sources();
    }

    /// What is known of the forgotten series was taken: the next series with their numbers are others.
    pub(super) fn part_with_forgotten(&mut self) {
        let gone: Vec<SeriesIndex> = std::mem::take(&mut self.forgotten);
        self.thinner.forget(&gone);
    }
}

#[cfg(test)]
mod tests;
