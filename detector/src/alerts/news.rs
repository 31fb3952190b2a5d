//! What detectors and the roll-up tell of series, sources and jobs, for alerts: where it changed.

use schemas::{
    Cause, CauseKind, CauseShare, Episode, EpisodeId, JobResult, Metric, Name, SeriesInfo, SeriesTable,
    Silence, SilenceEnd, Time,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Seconds of event time between two tellings of an episode that goes on.
const AGAIN_S: f64 = 5.0;
/// Causes of an episode or job that are told.
const CAUSES_MAX: usize = 4;

/// News of one detector partition or of the roll-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct News {
    /// Partition of `tailback.counters` that it was learnt from.
    pub partition: i32,
    /// Its newest row; `None` where only jobs are told of.
    pub newest: Option<Time>,
    /// Episodes that began, went on or ended.
    pub episodes: Vec<EpisodeNews>,
    /// Silences of sources that began or ended.
    pub silences: Vec<SilenceNews>,
    /// Jobs whose loss changed.
    pub jobs: Vec<JobNews>,
}

impl News {
    /// Whether it tells nothing but the time.
    pub fn is_quiet(&self) -> bool {
        self.episodes.is_empty() && self.silences.is_empty() && self.jobs.is_empty()
    }
}

/// How an episode stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeNews {
    /// What is contended.
    pub series: SeriesInfo,
    /// When it began.
    pub start: Time,
    /// When it ended, or the latest tick.
    pub end: Time,
    /// Whether it goes on.
    pub open: bool,
    /// Seconds lost.
    pub slowdown_s: f64,
    /// Ticks seen over ticks expected.
    pub completeness: f64,
    /// Who took it, the largest share first.
    pub causes: Vec<CauseShare>,
}

/// How a silence stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SilenceNews {
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
pub struct JobNews {
    /// The scheduler's number.
    pub job_id: Name,
    /// When it began.
    pub start: Time,
    /// Up to when its loss is known.
    pub until: Time,
    /// Seconds lost.
    pub slowdown_s: f64,
    /// Lower end of the 95% interval, in seconds.
    pub slowdown_lo_s: f64,
    /// Share of its data that was there.
    pub completeness: f64,
    /// Share of its time that had a quiet baseline.
    pub judged: f64,
    /// Who took it, the largest share first.
    pub causes: Vec<CauseShare>,
}

impl JobNews {
    /// Of a result, with the times that it is about.
    pub fn of(result: &JobResult, start: Time, until: Time) -> JobNews {
        JobNews {
            job_id: result.job_id.clone(),
            start,
            until,
            slowdown_s: result.slowdown_s,
            slowdown_lo_s: result.slowdown_lo_s,
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

/// What was told of open episodes, so that one that goes on is told of every five seconds alone.
#[derive(Debug, Default)]
pub struct Told {
    episodes: HashMap<EpisodeId, Time>,
    newest: Option<Time>,
}

impl Told {
    /// What of a batch is news; `None` where not even the time is.
    pub fn news(
        &mut self,
        partition: i32,
        newest: Option<Time>,
        episodes: &[Episode],
        silences: &[Silence],
        table: &SeriesTable,
    ) -> Option<News> {
        let mut news = News { partition, newest, ..News::default() };
        for episode in episodes {
            let Some(series) = table.get(episode.series.at()).filter(|_| self.is_news(episode)) else {
                continue;
            };
            news.episodes.push(EpisodeNews {
                series: series.clone(),
                start: episode.start,
                end: episode.end,
                open: episode.open,
                slowdown_s: episode.slowdown_s,
                completeness: episode.completeness,
                causes: few(&episode.causes),
            });
        }
        news.silences = silences.iter().map(silence_news).collect();
        let second = |time: Time| time.0.div_euclid(1_000_000);
        let moved = newest.map(second) > self.newest.map(second);
        self.newest = self.newest.max(newest);
        (moved || !news.is_quiet()).then_some(news)
    }

    fn is_news(&mut self, episode: &Episode) -> bool {
        if !episode.open {
            self.episodes.remove(&episode.id);
            return true;
        }
        let told = self.episodes.get(&episode.id);
        let is_news = told.is_none_or(|told| episode.end.seconds_since(*told) >= AGAIN_S);
        if is_news {
            self.episodes.insert(episode.id, episode.end);
        }
        is_news
    }
}

fn silence_news(silence: &Silence) -> SilenceNews {
    let mut source = format!("{}/{}/{}", silence.producer, silence.schema, silence.component);
    if let Some(part) = &silence.part {
        source = source + "/" + part.as_str();
    }
    SilenceNews { source, component: silence.component.clone(), since: silence.since, end: silence.end }
}

/// Whether a metric is about links of a network.
pub(super) fn is_of_links(metric: Metric) -> bool {
    metric != Metric::LustreWriteRate
}
