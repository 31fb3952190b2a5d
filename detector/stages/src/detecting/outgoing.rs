//! What a detector partition sends to the roll-up and to readers of verdicts.

use super::Detecting;
use crate::job_parts::PartMessage;
use crate::messages::Content;
use crate::stage::Extent;
use crate::verdict::Verdict;
use alerts::updates::{Reached, ReportedEpisodes};
use detector::jobs::JobPart;
use schemas::{Episode, Name, ResultBatch};

impl Detecting {
    /// Episodes that began, ended or were corrected afterwards; not each tick of ongoing ones.
    pub(super) fn verdicts(&mut self, episodes: &[Episode]) -> Vec<Content> {
        let table = self.ordered.detector.series();
        let mut messages = Vec::new();
        for episode in episodes {
            let updates = if episode.open {
                self.announced.insert(episode.id)
            } else {
                self.announced.remove(&episode.id);
                true
            };
            if updates {
                messages.extend(Verdict::of_episode(episode, table).map(Content::from));
            }
        }
        messages
    }

    /// Updates of series and sources, for alerts.
    pub(super) fn updates(&mut self, results: &ResultBatch) -> Option<Content> {
        let (detector, partition) = (&self.ordered.detector, self.partition);
        let (episodes, silences) = (&results.episodes, &results.silences);
        let reached = Reached { newest: detector.newest(), read_up_to: detector.read_up_to() };
        let updates = |reported: &mut ReportedEpisodes| {
            reported.updates(partition, reached, episodes, silences, detector.series())
        };
        self.alerts.as_mut().and_then(updates).map(Content::from)
    }

    /// Updates of links.
    pub(super) fn links(&mut self) -> Option<Content> {
        if !self.ordered.detector.watches_links() {
            return None;
        }
        self.ordered.links.take(self.partition).map(Content::from)
    }

    /// What this partition knows of jobs, where it changed since it was sent last. The first partition sends every job, so
    /// that a job without any series is known too. `episodes` are those that changed.
    pub(super) fn parts(&mut self, position: i64, extent: Extent, episodes: &[Episode]) -> Vec<Content> {
        let detector = &mut self.ordered.detector;
        let found = match extent {
            Extent::Final => return Vec::new(),
            Extent::AllJobs | Extent::Everything => detector.job_parts(),
            Extent::DueJobs => detector.due_job_parts(episodes),
        };
        let is_first = self.partition == 0;
        let knows = |part: &JobPart| part.series > 0 || !part.progress.is_empty();
        let is_sent = |(_, part): &(Name, JobPart)| is_first || knows(part);
        let changed = |(job_id, part)| self.part(position, job_id, part);
        found.into_iter().filter(is_sent).filter_map(changed).collect()
    }

    fn part(&mut self, position: i64, job_id: Name, part: JobPart) -> Option<Content> {
        if self.sent_parts.get(&job_id) == Some(&part) {
            return None;
        }
        self.sent_parts.insert(job_id.clone(), part.clone());
        Some(PartMessage { partition: self.partition, position, job_id, part }.into())
    }
}
