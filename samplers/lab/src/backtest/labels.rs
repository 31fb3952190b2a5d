//! Truth and rows put together: which series and jobs are judged, over which time, by which truth.
//!
//! What is judged depends on truth and rows alone, not on any candidate's thresholds, so all candidates have the same chances.
//! A stretch that was there from the first activity of a series or job on has no change to detect: it counts
//! neither way, and is listed apart ([`FromStart`]).

use super::facts::{Facts, NamedSeries};
use super::stretches::Stretches;
use super::truth::{SeriesLabel, Truth};
use schemas::{Job, Metric, Name, Time};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use strsim::damerau_levenshtein;

/// Seconds of activity without contention that a stretch needs before it, in which a baseline can be learnt: two
/// windows of the robust model at its default and a tick of 1 s, its warm-up.
pub const QUIET_BEFORE_S: f64 = 16.0;
/// Seconds by which a job's reported start may follow its contention.
const JOB_START_S: f64 = 2.0;
/// Unknown names that are printed one by one.
const PRINTED_MAX: usize = 5;

/// A series that is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedSeries {
    /// Its name.
    pub name: String,
    /// What is measured.
    pub metric: Metric,
    /// When there is data; nothing else is judged.
    pub seen: Stretches,
    /// When it was contended, as far as that can be judged.
    pub contended: Stretches,
    /// When it was contended from its first activity on: counts neither way.
    pub ignored: Stretches,
    /// Seconds lost in `contended`, where known.
    pub slowdown_s: Option<f64>,
}

/// A job whose loss is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedJob {
    /// The scheduler's number.
    pub job_id: String,
    /// Seconds lost to others.
    pub slowdown_s: f64,
    /// When it ended, or when the rows did.
    pub end: Time,
}

/// What counts neither way since it was contended from its first activity on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FromStart {
    /// True stretches of series.
    pub stretches: usize,
    /// Their length together, in seconds.
    pub contended_s: f64,
    /// Jobs.
    pub jobs: usize,
}

/// All that is judged.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Series in the order of their names.
    pub series: Vec<JudgedSeries>,
    /// Jobs in the order of their numbers.
    pub jobs: Vec<JudgedJob>,
    /// What counts neither way.
    pub from_start: FromStart,
    /// First and last moment of which there is data.
    pub span: (Time, Time),
    /// Sentences on truth that was not used.
    pub warnings: Vec<String>,
}

impl Judged {
    /// Of the truth and what any candidate saw. With `labelled_only` a series that the truth does not name is not judged;
    /// else it was never contended. A router as a whole is judged only where it is named.
    ///
    /// # Errors
    /// A sentence if rows and truth have nothing in common.
    pub fn of(truth: &Truth, facts: &Facts, labelled_only: bool) -> anyhow::Result<Judged> {
        let Some(span) = facts.span() else { anyhow::bail!("the rows contain no series that can be judged") };
        meet(truth, span)?;
        let mut judged = Judged {
            series: Vec::new(),
            jobs: Vec::new(),
            from_start: FromStart::default(),
            span,
            warnings: unknown(truth, facts),
        };
        let starts = job_starts(facts);
        for series in &facts.series {
            let label = truth.series.get(&series.name);
            if label.is_some() || !(labelled_only || series.whole) {
                let of_component = starts.get(&series.component).map_or(&[][..], Vec::as_slice);
                judged.add_series(series, label, of_component);
            }
        }
        judged.series.sort_by(|a, b| a.name.cmp(&b.name));
        judged.add_jobs(truth, facts);
        anyhow::ensure!(
            !(judged.series.is_empty() && judged.jobs.is_empty()),
            "{}: no series or job of the truth stands in the rows",
            truth.file.display()
        );
        Ok(judged)
    }

    fn add_series(&mut self, series: &NamedSeries, label: Option<&SeriesLabel>, job_starts: &[Time]) {
        let seen = &series.facts.seen;
        let true_of_it = label.map_or(Stretches::default(), |label| label.contended.clone());
        let quiet = series.facts.active.without(&true_of_it);
        let (mut contended, mut ignored) = (Stretches::default(), Stretches::default());
        for (from, to) in true_of_it.iter().filter(|(from, to)| seen.meets(*from, *to)) {
            let since = job_starts.iter().rfind(|start| **start <= from.plus_seconds(JOB_START_S));
            let before = quiet.between(since.copied().unwrap_or(Time::MIN), from).seconds();
            let kind = if before < QUIET_BEFORE_S { &mut ignored } else { &mut contended };
            kind.append(from, to);
        }
        self.from_start.stretches += ignored.len();
        self.from_start.contended_s += ignored.within(seen).seconds();
        self.series.push(JudgedSeries {
            name: series.name.clone(),
            metric: series.metric,
            seen: seen.clone(),
            slowdown_s: label.and_then(|label| label.slowdown_s).filter(|_| ignored.is_empty()),
            contended,
            ignored,
        });
    }

    fn add_jobs(&mut self, truth: &Truth, facts: &Facts) {
        for (job_id, label) in &truth.jobs {
            let (Some(job), Some(slowdown_s)) = (facts.jobs.get(job_id), label.slowdown_s) else { continue };
            let first = label.contended.iter().next().map(|(from, _)| from);
            if first.is_some_and(|from| from.seconds_since(job.start) < QUIET_BEFORE_S) {
                self.from_start.jobs += 1;
                continue;
            }
            let end = job.end.map_or(self.span.1, |end| end.min(self.span.1));
            self.jobs.push(JudgedJob { job_id: job_id.clone(), slowdown_s, end });
        }
    }
}

/// When jobs began on each node, in order.
fn job_starts(facts: &Facts) -> BTreeMap<Name, Vec<Time>> {
    let mut starts: BTreeMap<Name, Vec<Time>> = BTreeMap::new();
    for Job { nodes, start, .. } in facts.jobs.values() {
        for node in nodes {
            starts.entry(node.clone()).or_default().push(*start);
        }
    }
    starts.values_mut().for_each(|starts| starts.sort_unstable());
    starts
}

/// Whether truth and rows overlap in time.
fn meet(truth: &Truth, (first, last): (Time, Time)) -> anyhow::Result<()> {
    let Some((from, to)) = truth.span() else { return Ok(()) };
    anyhow::ensure!(
        from < last && to > first,
        "{}: the truth is about {:.0} to {:.0} s since the epoch, the rows about {:.0} to {:.0} s: they have no time in common",
        truth.file.display(),
        from.seconds(),
        to.seconds(),
        first.seconds(),
        last.seconds()
    );
    Ok(())
}

/// Sentences on names that no row has. Metrics that no row has are one sentence each.
fn unknown(truth: &Truth, facts: &Facts) -> Vec<String> {
    let series: Vec<&str> = facts.series.iter().map(|series| series.name.as_str()).collect();
    let names: HashSet<&str> = series.iter().copied().collect();
    let metrics: HashSet<&str> = facts.series.iter().map(|series| series.metric.name()).collect();
    let mut absent: BTreeMap<Metric, usize> = BTreeMap::new();
    let mut missing: Vec<(usize, String)> = Vec::new();
    for (name, label) in truth.series.iter().filter(|(name, _)| !names.contains(name.as_str())) {
        match name.split('/').next().and_then(Metric::from_name) {
            Some(metric) if !metrics.contains(metric.name()) => *absent.entry(metric).or_default() += 1,
            _ => missing.push((label.line, format!("no row has series {name}{}", nearest(name, &series)))),
        }
    }
    let jobs: Vec<&str> = facts.jobs.keys().map(String::as_str).collect();
    for (job_id, label) in truth.jobs.iter().filter(|(job_id, _)| !facts.jobs.contains_key(*job_id)) {
        missing.push((
            label.line,
            format!("no row or job file contains job {job_id}{}", nearest(job_id, &jobs)),
        ));
    }
    missing.sort();
    let file = truth.file.display();
    let metric = |(metric, count): (&Metric, &usize)| {
        format!("{file}: {count} series of {} are left out: no row has that metric", metric.name())
    };
    let more = missing.len().saturating_sub(PRINTED_MAX);
    let mut sentences: Vec<String> = absent.iter().map(metric).collect();
    sentences
        .extend(missing.into_iter().take(PRINTED_MAX).map(|(line, text)| format!("{file}:{line}: {text}")));
    if more > 0 {
        sentences.push(format!("{file}: {more} more series or jobs stand in no row"));
    }
    sentences
}

fn nearest(name: &str, known: &[&str]) -> String {
    let best = known.iter().min_by_key(|other| (damerau_levenshtein(name, other), **other));
    best.map_or(String::new(), |best| format!("; the nearest is {best}"))
}
