//! Run times of all seeds, with asking and without, and what was saved.

use crate::truth::physics::Doing;
use detector::jobs::student_t;
use serde::{Deserialize, Serialize};

/// Values from which on the interval of their mean is stated: with fewer, Student's t is not exact enough.
const VALUES_LEAST: usize = 5;

/// What came of a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Adapted {
    /// What was saved, by job.
    pub jobs: Vec<Saved>,
    /// Run times, seed by seed.
    pub seeds: Vec<SeedTimes>,
    /// What the jobs of the first seed did, without asking and with.
    pub first: Vec<[Vec<Activity>; 2]>,
}

/// A seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedTimes {
    /// The seed.
    pub seed: u64,
    /// Its jobs, in the order of the file.
    pub jobs: Vec<JobTimes>,
}

/// A job of a seed; all in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobTimes {
    /// The scheduler's number.
    pub job_id: u64,
    /// Run time where no job asks.
    pub silent_s: f64,
    /// Run time where jobs ask.
    pub asking_s: f64,
    /// Where jobs ask: the longest from the beginning of a write to its end.
    pub late_s: f64,
    /// Where jobs ask: how long this one did nothing.
    pub waited_s: f64,
}

/// What a job saved; means over the seeds, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// The scheduler's number.
    pub job_id: u64,
    /// Run time where no job asks.
    pub silent_s: f64,
    /// By how much it is shorter where jobs ask.
    pub saved_s: f64,
    /// 95% interval of that mean; `null` with fewer than five seeds.
    pub saved_lo_s: Option<f64>,
    /// Its upper end.
    pub saved_hi_s: Option<f64>,
    /// Least that one seed saved; negative if asking cost time.
    pub saved_least_s: f64,
    /// The longest from the beginning of a write to its end, of all seeds.
    pub late_s: f64,
    /// Mean of the seconds in which it did nothing.
    pub waited_s: f64,
}

/// What a job did from one second to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// What.
    pub word: Word,
    /// First second.
    pub from_s: u32,
    /// The second after.
    pub to_s: u32,
}

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It computes or waits.
    Computes,
    /// It computes or waits, and a write was set aside.
    Owes,
    /// It writes and gets what it demands.
    Writes,
    /// It writes and gets less.
    Contended,
}

/// The word for what a job does; `None` before it starts and after it ended.
pub(super) fn word(doing: Doing, is_contended: bool) -> Option<Word> {
    Some(match doing {
        Doing::Nothing => return None,
        Doing::Computing { owes: false } => Word::Computes,
        Doing::Computing { owes: true } => Word::Owes,
        Doing::Writing { .. } if is_contended => Word::Contended,
        Doing::Writing { .. } => Word::Writes,
    })
}

/// Adds the second that ends at `now_s`.
pub(super) fn lengthen(activities: &mut Vec<Activity>, word: Word, now_s: u32) {
    match activities.last_mut() {
        Some(last) if last.word == word && last.to_s + 1 == now_s => last.to_s = now_s,
        _ => activities.push(Activity { word, from_s: now_s - 1, to_s: now_s }),
    }
}

impl Adapted {
    /// Fills `jobs` from `seeds`.
    pub(super) fn sum_up(&mut self) {
        let count = self.seeds.first().map_or(0, |seed| seed.jobs.len());
        let of_job = |at: usize| {
            let times: Vec<JobTimes> = self.seeds.iter().map(|seed| seed.jobs[at]).collect();
            Saved::of(&times)
        };
        self.jobs = (0..count).map(of_job).collect();
    }

    /// What a job saved.
    pub fn of_job(&self, job_id: u64) -> Option<&Saved> {
        self.jobs.iter().find(|job| job.job_id == job_id)
    }
}

impl Saved {
    fn of(times: &[JobTimes]) -> Saved {
        let saved: Vec<f64> = times.iter().map(|job| job.silent_s - job.asking_s).collect();
        let mean_of = |value: fn(&JobTimes) -> f64| times.iter().map(value).sum::<f64>() / times.len() as f64;
        let saved_s = saved.iter().sum::<f64>() / saved.len() as f64;
        let half_s = half_width(&saved, saved_s);
        Saved {
            job_id: times[0].job_id,
            silent_s: mean_of(|job| job.silent_s),
            saved_s,
            saved_lo_s: half_s.map(|half_s| saved_s - half_s),
            saved_hi_s: half_s.map(|half_s| saved_s + half_s),
            saved_least_s: saved.iter().copied().fold(f64::INFINITY, f64::min),
            late_s: times.iter().map(|job| job.late_s).fold(0.0, f64::max),
            waited_s: mean_of(|job| job.waited_s),
        }
    }
}

/// Half of the 95% interval of a mean; `None` of too few values.
fn half_width(values: &[f64], mean: f64) -> Option<f64> {
    if values.len() < VALUES_LEAST {
        return None;
    }
    let freedom = values.len() as f64 - 1.0;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some(student_t(freedom) * (squares / freedom / values.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_seconds_have_the_interval_of_paired_differences() {
        let times = [[100.0, 80.0], [110.0, 100.0], [90.0, 60.0], [100.0, 80.0], [100.0, 80.0]];
        let times = times.map(|[silent_s, asking_s]| JobTimes {
            job_id: 1,
            silent_s,
            asking_s,
            late_s: 0.0,
            waited_s: 0.0,
        });
        let saved = Saved::of(&times);
        assert_eq!((saved.saved_s, saved.saved_least_s, saved.silent_s), (20.0, 10.0, 100.0));
        // Student's t of 4 degrees of freedom is 2.776; the standard error is the root of 200 / 4 / 5.
        let half_s = 2.776 * 10.0_f64.sqrt();
        assert!((saved.saved_lo_s.unwrap() - (20.0 - half_s)).abs() < 0.1, "{saved:?}");
        assert_eq!(Saved::of(&times[..4]).saved_lo_s, None);
    }
}
