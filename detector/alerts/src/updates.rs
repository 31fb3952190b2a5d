//! What detectors and the roll-up report of series, sources and jobs for alerts: changes only.

use schemas::{
    Cause, CauseKind, CauseShare, Episode, EpisodeId, Interval, JobResult, Metric, Name, SeriesInfo,
    SeriesTable, Silence, SilenceEnd, Time,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Seconds of event time between two updates of an ongoing episode.
const REPEAT_S: f64 = 5.0;
/// Most causes in an update of an episode or job.
const CAUSES_MAX: usize = 4;

/// Updates of one detector partition or of the roll-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Updates {
    /// Partition of `tailback.counters` that it was learnt from.
    pub partition: i32,
    /// Its newest row; `None` in updates that contain jobs only.
    pub newest: Option<Time>,
    /// Time that its sources' clocks show by now, which moves on while no row arrives.
    pub read_up_to: Option<Time>,
    /// Episodes that began, continued or ended.
    pub episodes: Vec<EpisodeUpdate>,
    /// Silences of sources that began or ended.
    pub silences: Vec<SilenceUpdate>,
    /// Jobs whose loss changed.
    pub jobs: Vec<JobUpdate>,
}

impl Updates {
    /// Whether it contains nothing but the time.
    pub fn is_quiet(&self) -> bool {
        self.episodes.is_empty() && self.silences.is_empty() && self.jobs.is_empty()
    }
}

/// State of an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeUpdate {
    /// What is contended.
    pub series: SeriesInfo,
    /// When it began.
    pub start: Time,
    /// When it ended, or the latest tick.
    pub end: Time,
    /// Whether it is ongoing.
    pub open: bool,
    /// Seconds lost.
    pub slowdown_s: Interval,
    /// Ticks seen over ticks expected.
    pub completeness: f64,
    /// Causes, the largest share first.
    pub causes: Vec<CauseShare>,
}

/// State of a silence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SilenceUpdate {
    /// `<producer>/<schema>/<component>[/<part>]`.
    pub source: String,
    /// What its rows are about.
    pub component: Name,
    /// Its last row before.
    pub since: Time,
    /// How it ended.
    pub end: SilenceEnd,
}

/// What a job lost so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobUpdate {
    /// The scheduler's number.
    pub job_id: Name,
    /// When it began.
    pub start: Time,
    /// Up to when its loss is known.
    pub until: Time,
    /// Seconds lost.
    pub slowdown_s: Interval,
    /// Share of its data that was there.
    pub completeness: f64,
    /// Share of its time that had a quiet baseline.
    pub judged: f64,
    /// Causes, the largest share first.
    pub causes: Vec<CauseShare>,
}

impl JobUpdate {
    /// Of a result, with the times that it is about.
    pub fn of(result: &JobResult, start: Time, until: Time) -> JobUpdate {
        JobUpdate {
            job_id: result.job_id.clone(),
            start,
            until,
            slowdown_s: Interval {
                value: result.slowdown_s,
                lo: result.slowdown_lo_s,
                hi: result.slowdown_hi_s,
            },
            completeness: result.completeness,
            judged: result.judged,
            causes: few(&result.causes),
        }
    }
}

fn few(causes: &[CauseShare]) -> Vec<CauseShare> {
    causes.iter().take(CAUSES_MAX).cloned().collect()
}

/// The largest of some causes, with its kind and share.
pub(super) fn largest(causes: &[CauseShare]) -> (Cause, CauseKind, f64) {
    causes.first().map_or((Cause::Unknown, CauseKind::Unknown, 0.0), |c| (c.cause, c.kind, c.share))
}

/// Latest updates of open episodes, so that an ongoing episode gets one every five seconds.
#[derive(Debug, Default)]
pub struct ReportedEpisodes {
    episodes: HashMap<EpisodeId, Time>,
    /// Times of the latest updates.
    newest: Option<Time>,
    read_up_to: Option<Time>,
}

/// How far a detector partition is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reached {
    /// Its newest row.
    pub newest: Option<Time>,
    /// Time that its sources' clocks show by now.
    pub read_up_to: Option<Time>,
}

impl ReportedEpisodes {
    /// The updates of a batch; `None` if nothing changed, neither the second of the newest row nor, by a second, how far
    /// the partition was read.
    pub fn updates(
        &mut self,
        partition: i32,
        reached: Reached,
        episodes: &[Episode],
        silences: &[Silence],
        table: &SeriesTable,
    ) -> Option<Updates> {
        let Reached { newest, read_up_to } = reached;
        let mut updates = Updates { partition, newest, read_up_to, ..Updates::default() };
        for episode in episodes {
            let Some(series) = table.get(episode.series.at()).filter(|_| self.is_update(episode)) else {
                continue;
            };
            updates.episodes.push(EpisodeUpdate {
                series: series.clone(),
                start: episode.start,
                end: episode.end,
                open: episode.open,
                slowdown_s: Interval {
                    value: episode.slowdown_s,
                    lo: episode.slowdown_lo_s,
                    hi: episode.slowdown_hi_s,
                },
                completeness: episode.completeness,
                causes: few(&episode.causes),
            });
        }
        updates.silences = silences.iter().map(silence_update).collect();
        let second = |time: Time| time.0.div_euclid(1_000_000);
        let moved = newest.map(second) > self.newest.map(second) || self.read_on(read_up_to);
        if !moved && updates.is_quiet() {
            return None;
        }
        self.newest = self.newest.max(newest);
        self.read_up_to = self.read_up_to.max(read_up_to);
        Some(updates)
    }

    /// Whether a second of the stream was read since the latest updates.
    fn read_on(&self, read_up_to: Option<Time>) -> bool {
        match (read_up_to, self.read_up_to) {
            (Some(now), Some(then)) => now.seconds_since(then) >= 1.0,
            (now, None) => now.is_some(),
            (None, Some(_)) => false,
        }
    }

    fn is_update(&mut self, episode: &Episode) -> bool {
        if !episode.open {
            self.episodes.remove(&episode.id);
            return true;
        }
        let reported = self.episodes.get(&episode.id);
        let is_update = reported.is_none_or(|reported| episode.end.seconds_since(*reported) >= REPEAT_S);
        if is_update {
            self.episodes.insert(episode.id, episode.end);
        }
        is_update
    }
}

fn silence_update(silence: &Silence) -> SilenceUpdate {
    let mut source = format!("{}/{}/{}", silence.producer, silence.schema, silence.component);
    if let Some(part) = &silence.part {
        source = source + "/" + part.as_str();
    }
    SilenceUpdate { source, component: silence.component.clone(), since: silence.since, end: silence.end }
}

/// Whether a metric is about links of a network.
pub(super) fn is_of_links(metric: Metric) -> bool {
    metric.is_link()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_sent_each_second_without_rows() {
        let mut reported = ReportedEpisodes::default();
        let newest = Some(Time::from_seconds(100.0));
        let mut sent = |read_s: f64| {
            let reached = Reached { newest, read_up_to: Some(Time::from_seconds(read_s)) };
            reported.updates(0, reached, &[], &[], &SeriesTable::default()).is_some()
        };
        assert!(sent(100.0));
        let times = (1..=100).filter(|tenth| sent(100.0 + f64::from(*tenth) / 10.0)).count();
        assert!((9..=10).contains(&times), "{times} in ten seconds");
    }
}
