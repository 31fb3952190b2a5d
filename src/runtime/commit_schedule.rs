//! When a stage commits.
//!
//! Samplers read at the same time, so rows come in a burst each second. A transaction in the middle of one leaves the
//! burst's end for the next, and takes the processor from it; one right after it takes all of it at once.

use std::time::{Duration, Instant};

/// Time without a row after which a burst is over: aggregators announce their progress, which releases rows, every 50 ms.
pub const LULL: Duration = Duration::from_millis(75);
/// Share of the longest time that lies between two transactions at least.
const LEAST: f64 = 0.4;

/// Time without a row after which a stage is idle.
const IDLE_AFTER: Duration = Duration::from_secs(10);
/// Longest times between two transactions of an idle stage: its progress is all that they store.
const IDLE_TIMES: u32 = 5;

/// Decides when a stage commits.
#[derive(Debug)]
pub struct CommitSchedule {
    /// Time between two transactions at most, while something comes.
    longest: Duration,
    committed_at: Instant,
    committed_rows: u64,
    rows: u64,
    row_at: Instant,
}

impl CommitSchedule {
    /// Of a stage that begins `now`.
    pub fn new(longest: Duration, now: Instant) -> CommitSchedule {
        CommitSchedule { longest, committed_at: now, committed_rows: 0, rows: 0, row_at: now }
    }

    /// Whether to commit `now`, when `rows` have been taken so far and `waiting` are held back until others are known.
    pub fn is_due(&mut self, rows: u64, waiting: usize, now: Instant) -> bool {
        if rows != self.rows {
            (self.rows, self.row_at) = (rows, now);
        }
        let since = now.duration_since(self.committed_at);
        let is_over = waiting == 0 && now.duration_since(self.row_at) >= LULL;
        let longest = if self.is_idle(now) { self.longest * IDLE_TIMES } else { self.longest };
        since >= longest || (is_over && rows != self.committed_rows && since >= self.longest.mul_f64(LEAST))
    }

    /// Whether there was no row for long.
    pub fn is_idle(&self, now: Instant) -> bool {
        now.duration_since(self.row_at) >= IDLE_AFTER
    }

    /// Notes that everything that is known was given to the writer `now`.
    pub fn committed(&mut self, now: Instant) {
        (self.committed_at, self.committed_rows) = (now, self.rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn burst_is_committed_once_after_it_ends() {
        let begin = Instant::now();
        let mut schedule = CommitSchedule::new(1000 * MS, begin);
        let due = |schedule: &mut CommitSchedule, ms: u32, rows| schedule.is_due(rows, 0, begin + ms * MS);
        assert!(!due(&mut schedule, 450, 10), "rows come");
        assert!(!due(&mut schedule, 500, 20), "rows come");
        assert!(!due(&mut schedule, 570, 20), "more may come");
        assert!(due(&mut schedule, 580, 20));
        schedule.committed(begin + 580 * MS);
        assert!(!due(&mut schedule, 700, 30) && !due(&mut schedule, 970, 30), "it is too soon for another");
        assert!(due(&mut schedule, 980, 30));
        schedule.committed(begin + 980 * MS);
        assert!(!due(&mut schedule, 1970, 30), "nothing came");
        assert!(due(&mut schedule, 1980, 30), "progress is committed without rows");
    }

    #[test]
    fn idle_stage_commits_its_progress_less_often() {
        let begin = Instant::now();
        let mut schedule = CommitSchedule::new(1000 * MS, begin);
        let mut commits = Vec::new();
        for second in 1..=25 {
            let (now, rows) = (begin + second * 1000 * MS, if second > 20 { 1 } else { 0 });
            if schedule.is_due(rows, 0, now) {
                schedule.committed(now);
                commits.push(second);
            }
        }
        assert_eq!(commits, [1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 19, 21, 22, 23, 24, 25]);
    }

    #[test]
    fn endless_rows_are_committed_at_the_longest_interval() {
        let begin = Instant::now();
        let mut schedule = CommitSchedule::new(500 * MS, begin);
        let due: Vec<u32> = (1..2_000)
            .step_by(10)
            .filter(|ms| {
                let now = begin + *ms * MS;
                let is_due = schedule.is_due(u64::from(*ms), 0, now);
                if is_due {
                    schedule.committed(now);
                }
                is_due
            })
            .collect();
        assert_eq!(due, [501, 1001, 1501]);
    }

    #[test]
    fn commit_waits_for_held_rows() {
        let begin = Instant::now();
        let mut schedule = CommitSchedule::new(1000 * MS, begin);
        assert!(!schedule.is_due(10, 5, begin + 300 * MS));
        assert!(!schedule.is_due(10, 5, begin + 900 * MS), "the rest of the burst waits");
        assert!(schedule.is_due(10, 5, begin + 1000 * MS), "but not for ever");
    }
}
