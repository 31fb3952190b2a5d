//! What a configuration's answer is worth against the truth.
//!
//! Seconds are those of single series with data. *Found* is what lies in an episode as it stands in the end, begin and end
//! dated. What was contended from a series' first activity on counts neither way ([`super::labels`]).

use super::facts::{Facts, SeriesFacts};
use super::labels::{Judged, JudgedSeries};
use super::losses::{Loss, LossScore, quantile};
use super::stretches::Stretches;
use schemas::{Metric, Time};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Scores of one configuration over one stretch of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// Of all series together; `slowdown` is that of jobs where the truth contains jobs, else of series.
    pub all: Score,
    /// Of the series of each metric; `slowdown` is that of series.
    pub metrics: BTreeMap<&'static str, Score>,
}

/// Metrics; null where there is nothing to divide by.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Part of the found seconds that are true.
    pub precision: Option<f64>,
    /// Part of the true seconds that are found.
    pub recall: Option<f64>,
    /// Harmonic mean of both: `2 both / (true + found)`.
    pub f1: Option<f64>,
    /// True seconds.
    pub true_s: f64,
    /// Found seconds.
    pub found_s: f64,
    /// Seconds with data, of all series together.
    pub seen_s: f64,
    /// True stretches.
    pub episodes_true: usize,
    /// True stretches that share time with an episode.
    pub episodes_found: usize,
    /// Episodes that share no time with a true stretch, edges allowed for.
    pub episodes_false: usize,
    /// Median of the seconds from a true onset to the tick whose state was first contended, found stretches alone.
    pub latency_p50_s: Option<f64>,
    /// 99th percentile of the same.
    pub latency_p99_s: Option<f64>,
    /// Median of the seconds between true and dated begin.
    pub start_off_p50_s: Option<f64>,
    /// 99th percentile of the same.
    pub start_off_p99_s: Option<f64>,
    /// Found seconds beyond the edges of true stretches.
    pub false_s: f64,
    /// The same in an hour of one series.
    pub false_s_per_series_hour: f64,
    /// The same in an hour of the machine, all judged series together.
    pub false_s_per_hour: f64,
    /// What was lost.
    pub slowdown: LossScore,
}

/// Time that is scored: from a moment to a later one.
pub type Window = (Time, Time);

/// How answers are scored.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Seconds around a true stretch in which nothing is false.
    pub edge_s: f64,
}

/// Counts of which scores are made.
#[derive(Clone, Debug, Default)]
struct Tally {
    true_s: f64,
    found_s: f64,
    both_s: f64,
    seen_s: f64,
    false_s: f64,
    episodes_true: usize,
    episodes_found: usize,
    episodes_false: usize,
    latencies_s: Vec<f64>,
    start_offs_s: Vec<f64>,
    losses: Vec<Loss>,
}

impl Scores {
    /// Of one configuration, over all of the time or a part of it. What a series lost is known of all of the time alone; a
    /// job counts where it ends.
    pub fn of(judged: &Judged, facts: &Facts, window: Window, rules: Rules) -> Scores {
        let machine_h = window.1.seconds_since(window.0) / 3600.0;
        let by_name: HashMap<&str, &SeriesFacts> =
            facts.series.iter().map(|series| (series.name.as_str(), &series.facts)).collect();
        let nothing = SeriesFacts::default();
        let mut all = Tally::default();
        let mut metrics: BTreeMap<Metric, Tally> = BTreeMap::new();
        for series in &judged.series {
            let said = by_name.get(series.name.as_str()).copied().unwrap_or(&nothing);
            // A client that reads nothing says nothing of false alarms of reading.
            if said.active.seconds() == 0.0 && series.contended.seconds() == 0.0 {
                continue;
            }
            let mut tally = Tally::of(series, said, window, rules);
            if window == judged.span {
                tally.losses.extend(Loss::of_series(series, said));
            }
            metrics.entry(series.metric).or_default().add(&tally);
            all.add(&tally);
        }
        if !judged.jobs.is_empty() {
            all.losses = Loss::of_jobs(judged, facts, window).collect();
        }
        let of_metric =
            |(metric, tally): (Metric, Tally)| (metric.name(), tally.score(machine_h, facts.with_intervals));
        Scores {
            all: all.score(machine_h, facts.with_intervals),
            metrics: metrics.into_iter().map(of_metric).collect(),
        }
    }
}

/// Seconds that a configuration has wrong, missed or false, all series together.
pub fn wrong_s(judged: &Judged, facts: &Facts, window: Window, rules: Rules) -> f64 {
    let score = Scores::of(judged, facts, window, rules).all;
    let both_s = score.recall.unwrap_or(0.0) * score.true_s;
    score.true_s + score.found_s - 2.0 * both_s
}

impl Tally {
    fn of(series: &JudgedSeries, said: &SeriesFacts, window: Window, rules: Rules) -> Tally {
        let seen = series.seen.between(window.0, window.1);
        let judged = seen.without(&series.ignored);
        let near = series.contended.widened(rules.edge_s);
        let near_ignored = series.ignored.widened(rules.edge_s);
        let (truth, found) = (series.contended.within(&judged), said.found().within(&judged));
        let mut tally = Tally {
            true_s: truth.seconds(),
            found_s: found.seconds(),
            both_s: truth.within(&found).seconds(),
            seen_s: seen.seconds(),
            false_s: found.without(&near).without(&near_ignored).seconds(),
            ..Tally::default()
        };
        let inside = |time: Time| window.0 <= time && time < window.1;
        let is_false = |from, to| !near.meets(from, to) && !near_ignored.meets(from, to);
        let false_ones = said.episodes.values().filter(|e| inside(e.start) && is_false(e.start, e.end));
        tally.episodes_false = false_ones.count();
        for (from, to) in series.contended.iter().filter(|(from, _)| inside(*from)) {
            tally.onset(from, to, &series.contended, said);
        }
        tally
    }

    /// One true stretch: whether it was found, how soon, and how well it was dated.
    fn onset(&mut self, from: Time, to: Time, contended: &Stretches, said: &SeriesFacts) {
        self.episodes_true += 1;
        let overlapping = said.episodes.values().filter(|e| e.start < to && e.end > from);
        let Some(episode) = overlapping.min_by_key(|e| (e.start, e.end)) else { return };
        self.episodes_found += 1;
        // A report after its end, but before the next stretch, counts for it.
        let next = contended.first_between(to + 1, Time(i64::MAX)).unwrap_or(Time(i64::MAX));
        self.latencies_s.extend(said.first_said(from, next).map(|reported| reported.seconds_since(from)));
        self.start_offs_s.push(episode.start.seconds_since(from).abs());
    }

    fn add(&mut self, other: &Tally) {
        self.true_s += other.true_s;
        self.found_s += other.found_s;
        self.both_s += other.both_s;
        self.seen_s += other.seen_s;
        self.false_s += other.false_s;
        self.episodes_true += other.episodes_true;
        self.episodes_found += other.episodes_found;
        self.episodes_false += other.episodes_false;
        self.latencies_s.extend(&other.latencies_s);
        self.start_offs_s.extend(&other.start_offs_s);
        self.losses.extend(&other.losses);
    }

    fn score(self, machine_h: f64, with_intervals: bool) -> Score {
        let part = |of: f64, all: f64| (all > 0.0).then(|| of / all);
        let an_hour = |hours: f64| part(self.false_s, hours).unwrap_or(0.0);
        Score {
            precision: part(self.both_s, self.found_s),
            recall: part(self.both_s, self.true_s),
            f1: part(2.0 * self.both_s, self.true_s + self.found_s),
            true_s: self.true_s,
            found_s: self.found_s,
            seen_s: self.seen_s,
            episodes_true: self.episodes_true,
            episodes_found: self.episodes_found,
            episodes_false: self.episodes_false,
            latency_p50_s: quantile(&self.latencies_s, 0.5),
            latency_p99_s: quantile(&self.latencies_s, 0.99),
            start_off_p50_s: quantile(&self.start_offs_s, 0.5),
            start_off_p99_s: quantile(&self.start_offs_s, 0.99),
            false_s: self.false_s,
            false_s_per_series_hour: an_hour(self.seen_s / 3600.0),
            false_s_per_hour: an_hour(machine_h),
            slowdown: LossScore::of(&self.losses, with_intervals),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::facts::{EpisodeFacts, NamedSeries};
    use super::super::labels::FromStart;
    use super::*;
    use detector::model::ModelKind;
    use detector::settings::Settings;
    use schemas::{EpisodeId, Name};

    const RULES: Rules = Rules { edge_s: 2.0 };

    fn second(time_s: i64) -> Time {
        Time(time_s * 1_000_000)
    }

    fn set(stretches: &[(i64, i64)]) -> Stretches {
        Stretches::of(stretches.iter().map(|(from, to)| (second(*from), second(*to))).collect())
    }

    /// A series of an hour: truth, what counts neither way, episodes, and contended runs.
    pub(in crate::backtest) fn case(
        contended: &[(i64, i64)],
        ignored: &[(i64, i64)],
        found: &[(i64, i64)],
        said: &[(i64, i64)],
    ) -> (Judged, Facts) {
        let (name, metric) =
            ("lustre_write_rate/nid00001/fs".to_string(), Metric::from_name("lustre_write_rate").unwrap());
        let episode = |(at, (start, end)): (usize, &(i64, i64))| {
            let (start, end) = (second(*start), second(*end));
            (EpisodeId(at as u64), EpisodeFacts { start, end, slowdown_s: 1.0, half_width_s: 0.5 })
        };
        let said_of_it = SeriesFacts {
            episodes: found.iter().enumerate().map(episode).collect(),
            flagged: said.iter().map(|(first, last)| (second(*first), second(*last))).collect(),
            ..SeriesFacts::default()
        };
        let mut facts = Facts::new(&Settings::of(ModelKind::Robust));
        let component = Name::parse("nid00001").unwrap();
        facts.series.push(NamedSeries {
            name: name.clone(),
            metric,
            component,
            whole: false,
            facts: said_of_it,
        });
        let (contended, ignored) = (set(contended), set(ignored));
        let series =
            JudgedSeries { name, metric, seen: set(&[(0, 3600)]), contended, ignored, slowdown_s: Some(2.0) };
        let span = (second(0), second(3600));
        let from_start = FromStart::default();
        (Judged { series: vec![series], jobs: Vec::new(), from_start, span, warnings: Vec::new() }, facts)
    }

    fn score(case: &(Judged, Facts)) -> Score {
        Scores::of(&case.0, &case.1, case.0.span, RULES).all
    }

    #[test]
    fn seconds_are_right_missed_or_false() {
        let case =
            case(&[(100, 200), (300, 400)], &[], &[(110, 210), (1000, 1010)], &[(118, 215), (1008, 1018)]);
        let found = score(&case);
        assert_eq!((found.true_s, found.found_s, found.seen_s), (200.0, 110.0, 3600.0));
        assert_eq!((found.precision, found.recall), (Some(90.0 / 110.0), Some(90.0 / 200.0)));
        assert_eq!((found.episodes_true, found.episodes_found, found.episodes_false), (2, 1, 1));
        assert_eq!((found.latency_p50_s, found.start_off_p50_s), (Some(18.0), Some(10.0)));
        assert_eq!(
            (found.false_s, found.false_s_per_series_hour, found.false_s_per_hour),
            (18.0, 18.0, 18.0)
        );
        assert_eq!(wrong_s(&case.0, &case.1, case.0.span, RULES), 130.0);
    }

    #[test]
    fn perfect_answer_and_silence_on_quiet_rows_score_no_error() {
        let perfect = score(&case(&[(100, 200)], &[], &[(100, 200)], &[(100, 200)]));
        assert_eq!((perfect.precision, perfect.recall, perfect.f1), (Some(1.0), Some(1.0), Some(1.0)));
        assert_eq!((perfect.latency_p99_s, perfect.false_s), (Some(0.0), 0.0));
        let quiet = score(&case(&[], &[], &[], &[]));
        assert_eq!((quiet.precision, quiet.recall, quiet.f1, quiet.latency_p50_s), (None, None, None, None));
    }

    #[test]
    fn what_was_there_from_the_start_counts_neither_way() {
        let found =
            score(&case(&[(300, 400)], &[(0, 100)], &[(50, 90), (300, 400)], &[(58, 95), (309, 405)]));
        assert_eq!(
            (found.true_s, found.found_s, found.episodes_true, found.episodes_false),
            (100.0, 100.0, 1, 0)
        );
    }

    #[test]
    fn the_edge_forgives_seconds_and_no_more() {
        let found = score(&case(&[(100, 200)], &[], &[(97, 203)], &[(101, 203)]));
        assert_eq!((found.false_s, found.episodes_false), (2.0, 0));
        assert_eq!(found.precision, Some(100.0 / 106.0));
    }

    #[test]
    fn one_half_holds_what_began_in_it() {
        let case =
            case(&[(100, 200), (1750, 1850)], &[], &[(100, 200), (1750, 1850)], &[(108, 205), (1760, 1855)]);
        let half = |from, to| Scores::of(&case.0, &case.1, (second(from), second(to)), RULES).all;
        let (first, last) = (half(0, 1800), half(1800, 3600));
        assert_eq!((first.episodes_true, last.episodes_true), (2, 0));
        assert_eq!((first.true_s, last.true_s), (150.0, 50.0));
        assert_eq!((first.recall, last.recall), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn report_after_the_stretch_counts_as_late() {
        let found = score(&case(
            &[(100, 105), (300, 320)],
            &[],
            &[(101, 106), (300, 320)],
            &[(112, 113), (309, 325)],
        ));
        assert_eq!((found.latency_p50_s, found.latency_p99_s), (Some(9.0), Some(12.0)));
    }
}
