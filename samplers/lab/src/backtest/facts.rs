//! Results of one configuration for the rows, kept small: no signal, only stretches, episodes and results.

use super::stretches::Stretches;
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::{Episode, EpisodeId, Job, JobResult, Metric, Name, ResultBatch, Signal, State, Time};
use std::collections::BTreeMap;

/// Results of a series.
#[derive(Clone, Debug, Default)]
pub struct SeriesFacts {
    /// Ticks of which there is data: every state but `unknown`.
    pub seen: Stretches,
    /// Of these, ticks in which the component did something: neither `unknown` nor `idle`.
    pub active: Stretches,
    /// Runs of ticks whose state was `contended` while they passed: the times of the first and the last of them.
    pub flagged: Vec<(Time, Time)>,
    /// Episodes as they stand in the end, by their numbers.
    pub episodes: BTreeMap<EpisodeId, EpisodeFacts>,
    /// The latest tick and its state.
    pub latest: Option<(Time, State)>,
}

/// What stands of an episode in the end. Begin and end are dated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpisodeFacts {
    /// Dated begin.
    pub start: Time,
    /// Dated end.
    pub end: Time,
    /// Seconds lost.
    pub slowdown_s: f64,
    /// Half of the 95% interval of the loss, in seconds.
    pub half_width_s: f64,
}

/// Results of a series, with its name.
#[derive(Clone, Debug)]
pub struct NamedSeries {
    /// `<metric>/<component>[/<part>]`.
    pub name: String,
    /// What is measured.
    pub metric: Metric,
    /// Router, host or client node.
    pub component: Name,
    /// Whether it stands for a component as a whole.
    pub whole: bool,
    /// Its results.
    pub facts: SeriesFacts,
}

/// All results of a configuration.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Series in the order of their first row.
    pub series: Vec<NamedSeries>,
    /// Reported jobs, by number.
    pub jobs: BTreeMap<String, Job>,
    /// What each lost.
    pub results: BTreeMap<String, JobResult>,
    /// Whether its model gives an interval for each loss.
    pub with_intervals: bool,
    tick_s: f64,
    bridged_s: f64,
}

impl Facts {
    /// Nothing yet of a configuration of `settings`.
    pub fn new(settings: &Settings) -> Facts {
        Facts {
            series: Vec::new(),
            jobs: BTreeMap::new(),
            results: BTreeMap::new(),
            with_intervals: settings.model == ModelKind::Robust,
            tick_s: settings.stream.tick_s,
            bridged_s: settings.stream.longest_interval_s(),
        }
    }

    /// Takes what became known.
    pub fn take(&mut self, batch: ResultBatch) {
        for (_, info) in batch.series {
            let (name, whole) = (info.name(), info.part.is_none());
            let facts = SeriesFacts::default();
            self.series.push(NamedSeries {
                name,
                metric: info.metric,
                component: info.component,
                whole,
                facts,
            });
        }
        batch.signals.iter().for_each(|signal| self.signal(signal));
        for episode in &batch.episodes {
            if let Some(series) = self.series.get_mut(episode.series.at()) {
                series.facts.episodes.insert(episode.id, EpisodeFacts::of(episode));
            }
        }
        self.jobs.extend(batch.jobs.into_iter().map(|job| (job.job_id.to_string(), job)));
        self.results.extend(batch.job_results.into_iter().map(|result| (result.job_id.to_string(), result)));
    }

    /// First and last moment of which there is data.
    pub fn span(&self) -> Option<(Time, Time)> {
        let seen = self.series.iter().flat_map(|series| series.facts.seen.iter());
        seen.reduce(|(first, last), (from, to)| (first.min(from), last.max(to)))
    }

    fn signal(&mut self, signal: &Signal) {
        let Some(series) = self.series.get_mut(signal.series.at()) else { return };
        series.facts.signal(signal, self.tick_s, self.bridged_s);
    }
}

impl EpisodeFacts {
    fn of(episode: &Episode) -> EpisodeFacts {
        EpisodeFacts {
            start: episode.start,
            end: episode.end,
            slowdown_s: episode.slowdown_s,
            half_width_s: (episode.slowdown_hi_s - episode.slowdown_lo_s) / 2.0,
        }
    }
}

impl SeriesFacts {
    fn signal(&mut self, signal: &Signal, tick_s: f64, bridged_s: f64) {
        let (time, state) = (signal.time, signal.state);
        let before = self.latest.replace((time, state));
        // A reading covers the time since the one before it, where that gap was bridged.
        let bridged = before.filter(|(latest, _)| time.seconds_since(*latest) <= bridged_s);
        let from = bridged.map_or(time.plus_seconds(-tick_s), |(latest, _)| latest);
        if state != State::Unknown {
            self.seen.append(from, time);
        }
        if !matches!(state, State::Unknown | State::Idle) {
            self.active.append(from, time);
        }
        if state == State::Contended {
            match self.flagged.last_mut() {
                Some((_, last)) if before.is_some_and(|(_, state)| state == State::Contended) => *last = time,
                _ => self.flagged.push((time, time)),
            }
        }
    }

    /// The first moment at or after `from` and before `to` in which the state was contended.
    pub fn first_said(&self, from: Time, to: Time) -> Option<Time> {
        let next = self.flagged.partition_point(|(_, last)| *last < from);
        self.flagged.get(next).map(|(first, _)| from.max(*first)).filter(|time| *time < to)
    }

    /// Time in episodes.
    pub fn found(&self) -> Stretches {
        Stretches::of(self.episodes.values().map(|episode| (episode.start, episode.end)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemas::{Counts, SeriesIndex, SeriesInfo};

    fn signal(time_s: i64, state: State) -> Signal {
        let nan = f64::NAN;
        let (value, mean, baseline, bound) = (nan, nan, nan, nan);
        let time = Time(time_s * 1_000_000);
        Signal {
            time,
            series: SeriesIndex(0),
            value,
            mean,
            baseline,
            bound,
            state,
            slowdown_s: 0.0,
            counts: Counts::NONE,
        }
    }

    #[test]
    fn a_short_gap_is_bridged_and_a_long_one_is_not_seen() {
        let name = |name| Name::parse(name).unwrap();
        let (metric, component, part) =
            (Metric::from_name("lustre_write_rate").unwrap(), name("nid00001"), Some(name("fs")));
        let series = vec![(SeriesIndex(0), SeriesInfo { metric, component, part })];
        let states = [(1, State::Warmup), (4, State::Clear), (5, State::Idle), (6, State::Contended)];
        let mut signals: Vec<Signal> = states.map(|(time, state)| signal(time, state)).to_vec();
        signals.extend((7..20).map(|time| signal(time, State::Unknown)));
        signals.push(signal(20, State::Contended));
        let mut facts = Facts::new(&Settings::of(ModelKind::Robust));
        facts.take(ResultBatch { series, signals, ..ResultBatch::default() });
        let facts = &facts.series[0].facts;
        assert_eq!((facts.seen.seconds(), facts.active.seconds()), (7.0, 6.0));
        let second = |time_s: i64| Time(time_s * 1_000_000);
        assert_eq!(facts.flagged, [(second(6), second(6)), (second(20), second(20))]);
        assert_eq!(facts.first_said(second(2), second(9)), Some(second(6)));
        assert_eq!(facts.first_said(second(7), second(20)), None);
    }
}
