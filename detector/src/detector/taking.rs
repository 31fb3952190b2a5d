//! What became known since the last call, for the store.

use super::Detector;
use crate::jobs::JobPart;
use schemas::{Episode, EpisodeEvidence, Name, ResultBatch, SeriesIndex, SeriesInfo, Signal};
use std::collections::BTreeMap;

impl Detector {
    /// Everything that became known since the last call.
    pub fn take(&mut self) -> ResultBatch {
        self.take_with(&BTreeMap::new())
    }

    /// Like [`Detector::take`]; `on_links` is what the fabric stage, which sees all links, reports of jobs.
    pub fn take_with(&mut self, on_links: &BTreeMap<Name, JobPart>) -> ResultBatch {
        self.give_up_silent();
        if let Some(newest) = self.newest() {
            self.look_for_silence(newest);
        }
        let mut batch = self.take_apart(usize::MAX);
        batch.job_results = self.changed_job_results(&batch.episodes, on_links);
        batch
    }

    /// Like [`Detector::take`], but for a detector that sees a part of the machine: results of jobs are the
    /// roll-up stage's, made of [`Detector::job_parts`]. The time of the call changes no later result.
    /// The batch has a row for each of about `sources_max` seen sources; the next call continues after them.
    pub fn take_apart(&mut self, sources_max: usize) -> ResultBatch {
        let series = self.series_to_send();
        // The next batch is about as long.
        let expected = Vec::with_capacity(self.signals.len());
        let signals = std::mem::replace(&mut self.signals, expected);
        ResultBatch {
            series,
            signals,
            episodes: self.take_episodes(),
            jobs: self.jobs.take_changed(self.ingest.newest()),
            job_results: Vec::new(),
            job_series: self.assign_series(),
            drops: self.ingest.drops.clone(),
            last_seen: self.ingest.take_seen(sources_max),
            event_sources: Vec::new(),
            silences: self.ingest.silences(),
            regions: Vec::new(),
            factors: Vec::new(),
            notices: Vec::new(),
            rejected: Vec::new(),
        }
    }

    /// Moves the signals since the last call to `signals`, whose memory is used for the next ones; the series that are new since
    /// then, which no later batch has.
    pub fn take_signals(&mut self, signals: &mut Vec<Signal>) -> Vec<(SeriesIndex, SeriesInfo)> {
        signals.clear();
        std::mem::swap(&mut self.signals, signals);
        self.series_to_send()
    }

    /// Series that are new, or have the number of a forgotten one.
    fn series_to_send(&mut self) -> Vec<(SeriesIndex, SeriesInfo)> {
        let table = self.ingest.series();
        let renamed = std::mem::take(&mut self.renamed).into_iter();
        let new = (self.sent_series..table.len()).map(|at| SeriesIndex(at as u32));
        let known = renamed.filter(|series| series.at() < self.sent_series);
        let series = known.chain(new).map(|series| (series, table[series.at()].clone())).collect();
        self.sent_series = table.len();
        series
    }

    /// Whether there may be seen sources that the last call did not report.
    pub fn has_more_sources(&self) -> bool {
        self.ingest.has_more_sources()
    }

    /// Sends all series again with the next results: their new receiver does not know them.
    pub fn resend_series(&mut self) {
        self.sent_series = 0;
    }

    /// Signals that were not taken yet.
    pub fn signals_kept(&self) -> usize {
        self.signals.len()
    }

    /// Episodes changed since the last call; the intervals of suspected ones reach 0, and their whole length where the metric shows
    /// no seconds.
    fn take_episodes(&mut self) -> Vec<Episode> {
        let mut episodes = self.episodes.take_changed();
        for episode in &mut episodes {
            let metric = self.series[episode.series.at()].metric;
            if episode.evidence(metric) == EpisodeEvidence::Suspected {
                episode.slowdown_lo_s = 0.0;
            }
            if !metric.costs() {
                episode.slowdown_hi_s = episode.end.seconds_since(episode.start);
            }
        }
        episodes
    }
}
