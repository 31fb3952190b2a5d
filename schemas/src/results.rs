//! What the detector hands to a sink at each commit.

use crate::{
    DropCounts, Episode, Job, JobFactors, JobResult, Name, Region, RejectedMessage, RoutedNotice,
    SeriesIndex, SeriesInfo, Signal, Time,
};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::hash::Hash;

/// When the last row of a source arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct LastSeen {
    /// The node whose ldmsd reports.
    pub producer: Name,
    /// LDMS schema.
    pub schema: Name,
    /// The component it reports about.
    pub component: Name,
    /// The mount or port, where its rows are about one alone.
    pub part: Option<Name>,
    /// Timestamp of its latest row.
    pub last_time: Time,
    /// Rows accepted since the first.
    pub rows: u64,
}

/// How a silence ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SilenceEnd {
    /// It is ongoing.
    Open,
    /// With the row of that time, or when the source was forgotten.
    At(Time),
    /// There was none: rows were late.
    Revoked,
}

/// A stretch in which a source reported nothing although it should.
#[derive(Clone, Debug, PartialEq)]
pub struct Silence {
    /// The node whose ldmsd reports.
    pub producer: Name,
    /// LDMS schema.
    pub schema: Name,
    /// The component it reports about.
    pub component: Name,
    /// The mount or port, where its rows are about one alone.
    pub part: Option<Name>,
    /// Timestamp of its last row before.
    pub since: Time,
    /// How it ended.
    pub end: SilenceEnd,
}

/// Everything that became known since the last commit. Rows with the key of an earlier row replace it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultBatch {
    /// Series first seen in this batch, with their numbers.
    pub series: Vec<(SeriesIndex, SeriesInfo)>,
    /// Signals, each (series, time) once.
    pub signals: Vec<Signal>,
    /// Episodes that began, continued or ended.
    pub episodes: Vec<Episode>,
    /// Jobs that are new or changed.
    pub jobs: Vec<Job>,
    /// Results of the jobs that changed.
    pub job_results: Vec<JobResult>,
    /// Series newly assigned to a job.
    pub job_series: Vec<(Name, SeriesIndex)>,
    /// Drops since the start of the run, not since the last commit.
    pub drops: DropCounts,
    /// Sources with rows since the last commit.
    pub last_seen: Vec<LastSeen>,
    /// Sources that report events alone, as of jobs, with rows since the last commit; for the server's store.
    pub event_sources: Vec<LastSeen>,
    /// Silences that began, ended or were revoked; of one silence the later row counts.
    pub silences: Vec<Silence>,
    /// Regions that began, changed or ended.
    pub regions: Vec<Region>,
    /// What the losses of jobs are made of, where that changed.
    pub factors: Vec<JobFactors>,
    /// Notices of incidents, for the outbox; one that is repeated adds nothing.
    pub notices: Vec<RoutedNotice>,
    /// Messages that were passed over, for the server's store; the embedded one does not keep them.
    pub rejected: Vec<RejectedMessage>,
}

impl ResultBatch {
    /// Takes what became known after it, so that one commit holds both.
    pub fn add(&mut self, later: ResultBatch) {
        self.series.extend(later.series);
        self.signals.extend(later.signals);
        replace(&mut self.episodes, later.episodes, |episode| episode.id);
        replace(&mut self.jobs, later.jobs, |job| job.job_id.clone());
        replace(&mut self.job_results, later.job_results, |result| result.job_id.clone());
        self.job_series.extend(later.job_series);
        self.drops = later.drops;
        let source = |seen: &LastSeen| {
            (seen.producer.clone(), seen.schema.clone(), seen.component.clone(), seen.part.clone())
        };
        replace(&mut self.last_seen, later.last_seen, source);
        replace(&mut self.event_sources, later.event_sources, source);
        self.silences.extend(later.silences);
        // Each contains its own steps.
        self.regions.extend(later.regions);
        replace(&mut self.factors, later.factors, |factors| factors.job_id.clone());
        self.notices.extend(later.notices);
        self.rejected.extend(later.rejected);
    }
}

/// Replaces earlier rows by later ones with the same key.
fn replace<T, K: Eq + Hash>(rows: &mut Vec<T>, later: Vec<T>, key: impl Fn(&T) -> K) {
    let replaced: HashSet<K> = later.iter().map(&key).collect();
    rows.retain(|row| !replaced.contains(&key(row)));
    rows.extend(later);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_seen(component: &str, rows: u64) -> LastSeen {
        let name = |name| Name::parse(name).unwrap();
        let (producer, schema, component) = (name("nid00001"), name("aries_rtr"), name(component));
        LastSeen { producer, schema, component, part: None, last_time: Time(0), rows }
    }

    #[test]
    fn of_rows_with_one_key_the_later_stays_and_others_are_kept() {
        let mut batch =
            ResultBatch { last_seen: vec![last_seen("a", 1), last_seen("b", 1)], ..ResultBatch::default() };
        batch.add(ResultBatch {
            last_seen: vec![last_seen("c", 2), last_seen("a", 2)],
            ..ResultBatch::default()
        });
        let rows: Vec<(&str, u64)> = batch.last_seen.iter().map(|h| (h.component.as_str(), h.rows)).collect();
        assert_eq!(rows, [("b", 1), ("c", 2), ("a", 2)]);
    }
}
