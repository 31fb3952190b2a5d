//! What a detector partition sends to the roll-up and to readers of verdicts.

use super::Detecting;
use crate::run::alert_updates;
use crate::run::links;
use crate::run::rolling::PartMessage;
use crate::run::verdict;
use crate::run::work::{OutTopic, Outgoing};
use detector::alerts::updates::ReportedEpisodes;
use schemas::{Episode, ResultBatch};

impl Detecting {
    /// Episodes that began, ended or were corrected afterwards; not each tick of ongoing ones.
    pub(super) fn verdicts(&mut self, episodes: &[Episode]) -> Vec<Outgoing> {
        let table = self.stages.detector.series();
        let mut messages = Vec::new();
        for episode in episodes {
            let updates = if episode.open {
                self.announced.insert(episode.id)
            } else {
                self.announced.remove(&episode.id);
                true
            };
            messages.extend(verdict::of_episode(episode, table).filter(|_| updates));
        }
        messages
    }

    /// Updates of series and sources, for alerts.
    pub(super) fn updates(&mut self, results: &ResultBatch) -> Vec<Outgoing> {
        let (detector, partition) = (&self.stages.detector, self.partition);
        let (episodes, silences) = (&results.episodes, &results.silences);
        let updates = |reported: &mut ReportedEpisodes| {
            reported.updates(partition, detector.newest(), episodes, silences, detector.series())
        };
        let updates = self.alerts.as_mut().and_then(updates);
        updates.map_or(Vec::new(), |updates| alert_updates::outgoing(updates, self.payload_bytes_max))
    }

    /// Updates of links.
    pub(super) fn links(&mut self) -> Vec<Outgoing> {
        if !self.stages.detector.watches_links() {
            return Vec::new();
        }
        let message = self.stages.links.take(self.partition);
        let payloads = message.and_then(|message| message.payloads(self.payload_bytes_max).ok());
        let outgoing = |payload| Outgoing { to: OutTopic::Partials, key: links::KEY.to_string(), payload };
        payloads.into_iter().flatten().map(outgoing).collect()
    }

    /// What this partition knows of jobs, where it changed since it was sent last. The first partition sends every job, so
    /// that a job without any series is known too.
    pub(super) fn parts(&mut self, position: i64) -> Vec<Outgoing> {
        let mut messages = Vec::new();
        for (job_id, part) in self.stages.detector.job_parts() {
            if part.series == 0 && self.partition != 0 {
                continue;
            }
            let message = PartMessage { partition: self.partition, position, job_id: job_id.clone(), part };
            let Ok(content) = message.content() else { continue };
            if self.sent_parts.get(&job_id) == Some(&content) {
                continue;
            }
            if let Ok(payload) = message.payload(&content) {
                messages.push(Outgoing { to: OutTopic::Partials, key: job_id.to_string(), payload });
            }
            self.sent_parts.insert(job_id, content);
        }
        messages
    }
}
