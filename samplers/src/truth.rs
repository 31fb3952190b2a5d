//! What really happened: the lost seconds of each job, when, and their causes. Tests compare the detector with it.

use schemas::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A contended stretch, in seconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its beginning.
    pub start: f64,
    /// Its end.
    pub end: f64,
}

/// A job that took bandwidth, and its part of the loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Taker {
    /// The scheduler's number of the job.
    pub job_id: String,
    /// Its part, 0 to 1; the parts sum to 1.
    pub share: f64,
}

/// What a job lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobTruth {
    /// The scheduler's number.
    pub job_id: String,
    /// Job name.
    pub name: String,
    /// Login name.
    pub user: String,
    /// Node names.
    pub nodes: Vec<String>,
    /// Start in seconds since the epoch.
    pub start: f64,
    /// End in seconds since the epoch; null while it runs.
    pub end: Option<f64>,
    /// When other jobs slowed it down.
    pub contended: Vec<Interval>,
    /// Total length of these stretches.
    pub contended_s: f64,
    /// Seconds lost to other jobs, against the speed with its own processes only.
    pub slowdown_s: f64,
    /// Their causes, largest share first.
    pub by: Vec<Taker>,
}

/// What a series should show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesTruth {
    /// Name of the series.
    pub series: String,
    /// When it was contended.
    pub contended: Vec<Interval>,
    /// Total length of these stretches.
    pub contended_s: f64,
    /// Seconds lost in them by the job that suffers most on this component.
    pub slowdown_s: f64,
    /// Their causes, largest share first.
    pub by: Vec<Taker>,
}

/// A line of `truth.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TruthLine {
    /// One job.
    Job(JobTruth),
    /// One series that was contended.
    Series(SeriesTruth),
}

/// The truth up to now. A series that is not in it was never contended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// All jobs that started, in order.
    pub jobs: Vec<JobTruth>,
    /// All series that were contended, in the order of their components.
    pub series: Vec<SeriesTruth>,
}

impl Truth {
    /// Writes `truth.jsonl`: jobs, then series, one [`TruthLine`] a line.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_jsonl(&self, out: &mut impl Write) -> io::Result<()> {
        let jobs = self.jobs.iter().cloned().map(TruthLine::Job);
        let series = self.series.iter().cloned().map(TruthLine::Series);
        for line in jobs.chain(series) {
            serde_json::to_writer(&mut *out, &line)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// The truth of one series, if it was ever contended.
    pub fn of_series(&self, name: &str) -> Option<&SeriesTruth> {
        self.series.iter().find(|s| s.series == name)
    }
}

/// Part of a loss that each foreign job causes; the parts sum to 1.
pub(crate) type Blame = Vec<(u64, f64)>;

/// A loss as it accumulates; times in seconds from the start of the cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loss {
    stretches: Vec<(f64, f64)>,
    pub(crate) seconds: f64,
    by: BTreeMap<u64, f64>,
}

impl Loss {
    /// Adds `seconds` lost between two times that were contended throughout.
    pub(crate) fn add(&mut self, from: f64, to: f64, seconds: f64, blame: &Blame) {
        match self.stretches.last_mut() {
            Some((_, end)) if from - *end < 1e-6 => *end = to,
            _ => self.stretches.push((from, to)),
        }
        self.seconds += seconds;
        for (job, part) in blame {
            *self.by.entry(*job).or_default() += part * seconds;
        }
    }

    /// Drops what ended before `time`, so that an endless scenario stays within its memory.
    pub(crate) fn forget_before(&mut self, time: f64) {
        self.stretches.retain(|(_, end)| *end >= time);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    pub(crate) fn intervals(&self, start: Time) -> Vec<Interval> {
        let at = |seconds: f64| start.plus_seconds(seconds).seconds();
        let to_interval = |(from, to): &(f64, f64)| Interval { start: at(*from), end: at(*to) };
        self.stretches.iter().map(to_interval).collect()
    }

    /// First and last contended moment, in seconds from the start of the cluster.
    pub(crate) fn span(&self) -> Option<(f64, f64)> {
        Some((self.stretches.first()?.0, self.stretches.last()?.1))
    }

    pub(crate) fn contended_s(&self) -> f64 {
        self.stretches.iter().map(|(from, to)| to - from).sum()
    }

    pub(crate) fn takers(&self) -> Vec<Taker> {
        let total: f64 = self.by.values().sum();
        let to_taker = |(job, lost): (&u64, &f64)| Taker { job_id: job.to_string(), share: lost / total };
        let lost = self.by.iter().filter(|(_, lost)| **lost > 0.0);
        let mut takers: Vec<Taker> = lost.map(to_taker).collect();
        takers.sort_by(|a, b| b.share.total_cmp(&a.share));
        takers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_stretches_join_and_shares_sum_to_one() {
        let mut loss = Loss::default();
        loss.add(1.0, 2.0, 0.5, &vec![(7, 1.0)]);
        loss.add(2.0, 3.0, 0.5, &vec![(7, 0.5), (8, 0.5)]);
        loss.add(5.0, 6.0, 0.25, &vec![(8, 1.0)]);
        assert_eq!(loss.stretches, [(1.0, 3.0), (5.0, 6.0)]);
        let takers = loss.takers();
        assert_eq!(takers[0].job_id, "7");
        assert!((takers.iter().map(|t| t.share).sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(loss.intervals(Time(10_000_000))[1].start, 15.0);
    }

    #[test]
    fn a_line_of_truth_reads_back() {
        let series = SeriesTruth {
            series: "lustre_write_rate/nid00012/snx11137".into(),
            contended: vec![Interval { start: 1.5, end: 2.0 }],
            contended_s: 0.5,
            slowdown_s: 0.25,
            by: vec![],
        };
        let truth = Truth { jobs: vec![], series: vec![series.clone()] };
        let mut text = Vec::new();
        truth.write_jsonl(&mut text).unwrap();
        let line: TruthLine = serde_json::from_slice(&text).unwrap();
        assert_eq!(line, TruthLine::Series(series));
    }
}
