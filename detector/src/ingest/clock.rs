//! The time of the stream, for all that concerns several components: jobs without an end, completeness, silences, expiry.
//!
//! The bulk of the components sets it, so that a clock that is wrong moves its own component alone. Of those that report,
//! a quarter, and two at least, must have reached a time. A component that missed its turn twice does not hold the others
//! up. A leap of more than a minute needs the majority of all components, or rows for ten minutes.

use schemas::{Time, growth};
use serde::{Deserialize, Serialize};

/// Seconds beyond which a step of a clock is a leap.
pub const JUMP_S: f64 = 60.0;
/// Seconds by which a right clock may be ahead of the clock of the aggregator.
const ARRIVED_S: f64 = 5.0;
/// One reporting component in so many must have reached a time.
const QUORUM: usize = 4;
/// Components whose latest row is at most so many seconds old count for a majority.
const KNOWN_S: f64 = 600.0;
/// Seconds of rows after which a minority that is ahead is followed: the others ended.
const SUSTAINED_S: f64 = 600.0;
/// Parts of a round after which the time is taken again.
const LOOKS_A_ROUND: u64 = 8;

/// Latest time of each component, and the time that their bulk has reached.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StreamClock {
    now: Option<Time>,
    /// No row can be younger: up to then messages arrived.
    limit: Option<Time>,
    latest: Vec<Option<Latest>>,
    /// Rows that moved a component on, so far.
    turns: u64,
    due: u64,
    /// Components that report.
    reporting: usize,
    /// Where a minority leapt to.
    leapt: Option<Time>,
}

/// What is known of one component.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Latest {
    time: Time,
    turn: u64,
}

impl StreamClock {
    /// The time of the stream; `None` before the first row.
    pub fn now(&self) -> Option<Time> {
        self.now.map(|now| self.arrived(now))
    }

    /// The time, or up to when messages arrived if that is earlier.
    pub fn arrived(&self, time: Time) -> Time {
        self.limit.map_or(time, |limit| time.min(limit))
    }

    /// Messages arrived up to `limit`: no row that is dated later moves the time beyond it.
    pub fn limit(&mut self, limit: Time) {
        self.limit = self.limit.max(Some(limit));
    }

    /// The time of the stream where other components than this one report.
    pub fn of_others(&self, component: usize) -> Option<Time> {
        let own = self.latest.get(component).copied().flatten().is_some_and(|latest| self.reports(&latest));
        self.now.filter(|_| self.reporting > usize::from(own))
    }

    fn reports(&self, latest: &Latest) -> bool {
        self.turns - latest.turn <= 2 * self.reporting.max(1) as u64
    }

    /// Seconds by which `time` is ahead of the others, where that is a leap. After a gap in all rows the first ones are of the
    /// time when they arrived: then the others are behind.
    pub fn ahead_s(&self, time: Time) -> Option<f64> {
        let ahead_s = time.seconds_since(self.now?);
        let has_arrived = self.limit.is_some_and(|limit| time.seconds_since(limit) <= ARRIVED_S);
        (ahead_s > JUMP_S && self.latest.len() > 1 && !has_arrived).then_some(ahead_s)
    }

    /// A component's latest row is of `time` now.
    pub fn reached(&mut self, component: usize, time: Time) {
        if self.latest.len() <= component {
            growth::extend_to(&mut self.latest, component + 1, None);
            self.due = self.turns;
        }
        if self.latest[component].is_some_and(|latest| latest.time == time) {
            return;
        }
        self.turns += 1;
        self.latest[component] = Some(Latest { time, turn: self.turns });
        if self.turns >= self.due {
            self.look();
        }
    }

    /// Components have other numbers from here on, `None` where one was forgotten; their order is the same.
    pub fn renumber(&mut self, numbers: &[Option<u32>]) {
        let mut numbers = numbers.iter();
        self.latest.retain(|_| numbers.next().is_none_or(Option::is_some));
    }

    /// Takes the time again.
    pub fn look(&mut self) {
        let mut times: Vec<Time> =
            self.known().filter(|latest| self.reports(latest)).map(|latest| latest.time).collect();
        let quorum = times.len().div_ceil(QUORUM).max(2).min(times.len());
        self.reporting = times.len();
        self.due = self.turns + (self.reporting as u64 / LOOKS_A_ROUND).max(1);
        if quorum == 0 {
            return;
        }
        let at = times.len() - quorum;
        let (_, reached, _) = times.select_nth_unstable(at);
        self.move_to(*reached);
    }

    fn known(&self) -> impl Iterator<Item = &Latest> {
        self.latest.iter().flatten()
    }

    fn move_to(&mut self, reached: Time) {
        let Some(now) = self.now else {
            self.now = Some(reached);
            return;
        };
        let step_s = reached.seconds_since(now);
        if step_s > JUMP_S && !self.may_leap(now, reached) {
            return;
        }
        self.leapt = None;
        if !(-JUMP_S..=0.0).contains(&step_s) {
            self.now = Some(reached);
        }
    }

    fn may_leap(&mut self, now: Time, reached: Time) -> bool {
        let (since, until) = (now.plus_seconds(-KNOWN_S), now.plus_seconds(JUMP_S));
        let known = self.known().filter(|latest| latest.time >= since).count();
        let ahead = self.known().filter(|latest| latest.time > until).count();
        let first = *self.leapt.get_or_insert(reached);
        2 * ahead > known || reached.seconds_since(first) > SUSTAINED_S
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u32) -> Time {
        Time::from_seconds(1e9 + f64::from(second))
    }

    /// Rows of one a second, `ahead(component, second)` seconds ahead, or none.
    fn run(components: u32, seconds: u32, ahead: impl Fn(u32, u32) -> Option<u32>) -> StreamClock {
        let mut clock = StreamClock::default();
        for second in 0..seconds {
            for component in 0..components {
                if let Some(ahead) = ahead(component, second) {
                    clock.reached(component as usize, at(10_000 + second + ahead));
                }
            }
        }
        clock.look();
        clock
    }

    #[test]
    fn one_clock_in_two_or_a_tenth_of_many_moves_nothing() {
        for (components, wrong) in [(2, 1), (3, 1), (10, 1), (200, 20)] {
            for step_s in [8, 3_600, 2_592_000] {
                let clock = run(components, 100, |c, _| Some(if c < wrong { step_s } else { 0 }));
                assert_eq!(clock.now(), Some(at(10_099)), "{wrong} of {components} {step_s} s ahead");
            }
        }
    }

    #[test]
    fn components_that_ended_hold_nothing_up() {
        let clock = run(40, 200, |c, second| (c < 2 || second < 50).then_some(0));
        assert_eq!(clock.now(), Some(at(10_199)));
    }

    #[test]
    fn the_stream_leaps_with_the_majority_and_returns() {
        let night = |from: u32, until: u32| {
            move |_, s: u32| Some(if (from..until).contains(&s) { 50_000 } else { 0 })
        };
        assert_eq!(run(5, 60, night(30, 60)).now(), Some(at(60_059)));
        assert_eq!(run(5, 60, night(30, 40)).now(), Some(at(10_059)));
        assert_eq!(run(1, 60, night(30, 40)).now(), Some(at(10_059)));
    }

    #[test]
    fn first_rows_after_a_gap_of_all_are_not_ahead() {
        let mut clock = run(3, 60, |_, _| Some(0));
        assert_eq!(clock.ahead_s(at(10_160)), Some(101.0));
        clock.limit(at(10_160));
        assert_eq!(clock.ahead_s(at(10_160)), None, "it arrived at that time");
        assert_eq!(clock.ahead_s(at(10_200)), Some(141.0), "no row is younger than its arrival");
    }

    #[test]
    fn nothing_is_later_than_what_arrived() {
        let mut clock = run(3, 60, |_, _| Some(900));
        clock.limit(at(10_060));
        assert_eq!(clock.now(), Some(at(10_060)));
    }
}
