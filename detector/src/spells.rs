//! When a file system was contended, in event time.
//!
//! Clients are read one after the other, each up to another time within the lateness. What one finds out counts for the
//! others from `delay_s` later on, when all rows of that time have been read: then the order of arrival changes nothing.

use schemas::{SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::{HashSet, VecDeque};

/// Seconds for which changes are kept apart; a client that was silent for so long starts again anyhow.
const KEPT_S: f64 = 180.0;
/// The same in microseconds: a generation of [`Lags`].
const KEPT_US: i64 = 180_000_000;
/// Seconds for which a client waits for a quiet spell of its file system; after that it is compared with what there is.
pub const QUIET_AWAITED_S: f64 = 600.0;

/// Changes of one file system, by time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Spells {
    /// With how the file system stood after each: every reading of every client looks up those since its last one.
    changes: VecDeque<(Found, Standing)>,
    /// Where the changes that are kept begin.
    before: Standing,
    /// What lets most readings pass without a look at the changes; unknown after a restart until the next change.
    #[serde(skip)]
    marks: Option<Marks>,
}

/// What is known of all changes together.
#[derive(Clone, Copy, Debug)]
struct Marks {
    /// The latest recovery that left the file system quiet.
    quiet: Time,
    lags: Lags,
}

/// The longest time, in microseconds, by which a client was contended before that was found out: of the present 180 s of
/// changes and of those before them, which are all that are kept.
#[derive(Clone, Copy, Debug)]
struct Lags {
    generation: i64,
    longest: [i64; 2],
}

/// What was found out of a client, and when.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// When it was found out.
    pub at: Time,
    /// Of which client.
    pub series: SeriesIndex,
    /// What.
    pub change: Change,
}

/// A change of one client.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Change {
    /// It is contended since this time.
    Entered(Time),
    /// It recovered at this time, or left so that the remaining clients belong to one job at most.
    Recovered(Time),
    /// It left otherwise.
    Left,
}

/// State of a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    contended: i64,
    /// When the last contended client left without having recovered.
    unresolved: Option<Time>,
}

impl Spells {
    /// Adds what was found out.
    pub fn add(&mut self, found: Found) {
        let slot = self.until(found.at);
        let mut standing = self.standing(found.at);
        self.changes.insert(slot, (found, standing));
        let is_marked = self.marks.is_some();
        let marks = self.marks.get_or_insert(Marks::NONE);
        if !is_marked {
            self.changes.range(..slot).for_each(|(found, after)| marks.add(found, *after));
        }
        for (found, after) in self.changes.range_mut(slot..) {
            standing = standing.after(found);
            *after = standing;
            marks.add(found, standing);
        }
        while let Some((first, after)) = self.changes.front()
            && found.at.seconds_since(first.at) > KEPT_S
        {
            self.before = *after;
            self.changes.pop_front();
        }
    }

    /// Whether a change after `after` may concern a client: one whose baseline was learnt up to `learnt`, if others may make it
    /// doubtful. `true` is no more than a reason to look.
    pub fn may_concern(&self, after: Time, learnt: Option<Time>) -> bool {
        if self.is_over(after) {
            return false;
        }
        let Some(marks) = &self.marks else { return true };
        let earliest = Time(after.0.saturating_sub(marks.lags.longest()));
        marks.quiet > after || learnt.is_some_and(|learnt| learnt > earliest)
    }

    /// Whether nothing was found out after `time`.
    fn is_over(&self, time: Time) -> bool {
        self.changes.back().is_none_or(|(found, _)| found.at <= time)
    }

    /// Forgets which changes clients made that were not seen for long: every other client has applied them.
    pub fn forget(&mut self, gone: &HashSet<SeriesIndex>) {
        let last = self.changes.iter().rposition(|(found, _)| gone.contains(&found.series));
        if let Some((_, after)) = self.changes.drain(..last.map_or(0, |last| last + 1)).next_back() {
            self.before = after;
        }
    }

    /// How it stood at `time`, by what was found out until then.
    pub fn standing(&self, time: Time) -> Standing {
        let latest = self.until(time).checked_sub(1).and_then(|at| self.changes.get(at));
        latest.map_or(self.before, |(_, after)| *after)
    }

    /// What was found out after `from` and up to `to`, in the order of time, and how the file system stood after each.
    pub fn between(&self, from: Time, to: Time) -> impl Iterator<Item = &(Found, Standing)> {
        let is_over = self.is_over(from);
        let first = if is_over { self.changes.len() } else { self.until(from) };
        let last = if is_over { first } else { self.until(to).max(first) };
        self.changes.range(first..last)
    }

    /// The number of changes up to `time`.
    fn until(&self, time: Time) -> usize {
        self.changes.partition_point(|(found, _)| found.at <= time)
    }
}

impl Marks {
    const NONE: Marks =
        Marks { quiet: Time::MIN, lags: Lags { generation: i64::MIN, longest: [i64::MIN; 2] } };

    fn add(&mut self, found: &Found, after: Standing) {
        match found.change {
            Change::Entered(start) => self.lags.add(found.at, start),
            Change::Recovered(_) if after.is_quiet(found.at, QUIET_AWAITED_S) => {
                self.quiet = self.quiet.max(found.at);
            }
            Change::Recovered(_) | Change::Left => {}
        }
    }
}

impl Lags {
    fn add(&mut self, at: Time, start: Time) {
        let generation = at.0.div_euclid(KEPT_US);
        if generation > self.generation {
            let is_next = generation - 1 == self.generation;
            self.longest = [i64::MIN, if is_next { self.longest[0] } else { i64::MIN }];
            self.generation = generation;
        }
        self.longest[0] = self.longest[0].max(at.0.saturating_sub(start.0));
    }

    fn longest(&self) -> i64 {
        self.longest[0].max(self.longest[1])
    }
}

impl Standing {
    fn after(self, found: &Found) -> Standing {
        match found.change {
            Change::Entered(_) => Standing { contended: self.contended + 1, unresolved: None },
            Change::Recovered(_) => Standing { contended: self.contended - 1, unresolved: self.unresolved },
            Change::Left => {
                let contended = self.contended - 1;
                Standing { contended, unresolved: (contended <= 0).then_some(found.at) }
            }
        }
    }

    /// Whether nothing is contended; a client that left without recovery is waited for until `awaited_s` later.
    pub fn is_quiet(&self, time: Time, awaited_s: f64) -> bool {
        self.contended <= 0 && self.unresolved.is_none_or(|left| time.seconds_since(left) >= awaited_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: f64) -> Time {
        Time::from_seconds(second)
    }

    fn spells(changes: &[(f64, u32, Change)]) -> Spells {
        let mut spells = Spells::default();
        for (second, series, change) in changes {
            spells.add(Found { at: at(*second), series: SeriesIndex(*series), change: *change });
        }
        spells
    }

    #[test]
    fn the_order_in_which_changes_are_found_changes_nothing() {
        let entered = (10.0, 1, Change::Entered(at(8.0)));
        let recovered = (30.0, 1, Change::Recovered(at(26.0)));
        let (forth, back) = (spells(&[entered, recovered]), spells(&[recovered, entered]));
        for second in [9.0, 10.0, 29.0, 30.0, 31.0] {
            assert_eq!(forth.standing(at(second)), back.standing(at(second)), "{second}");
        }
        assert!(!forth.standing(at(29.0)).is_quiet(at(29.0), 600.0));
        assert!(forth.standing(at(30.0)).is_quiet(at(30.0), 600.0));
    }

    #[test]
    fn no_quiet_spell_soon_after_a_client_left_without_recovery() {
        let spells = spells(&[(10.0, 1, Change::Entered(at(8.0))), (30.0, 1, Change::Left)]);
        assert!(!spells.standing(at(40.0)).is_quiet(at(40.0), 600.0));
        assert!(spells.standing(at(640.0)).is_quiet(at(640.0), 600.0));
    }

    #[test]
    fn changes_are_passed_over_where_they_concern_no_other_client() {
        let two = [(10.0, 1, Change::Entered(at(4.0))), (11.0, 2, Change::Entered(at(9.0)))];
        let mut spells = spells(&two);
        assert!(spells.may_concern(at(9.0), Some(at(5.0))), "its baseline may be of a contended level");
        assert!(
            !spells.may_concern(at(9.0), Some(at(3.0))),
            "it was learnt before any of them was contended"
        );
        assert!(!spells.may_concern(at(9.0), None) && !spells.may_concern(at(11.0), Some(at(12.0))));
        for (second, series) in [(20.0, 1), (30.0, 2)] {
            let change = Change::Recovered(at(second - 2.0));
            spells.add(Found { at: at(second), series: SeriesIndex(series), change });
        }
        assert!(spells.may_concern(at(29.0), None), "the last one left the file system quiet");
        assert!(!spells.may_concern(at(30.0), None));
        let restored: Spells = postcard::from_bytes(&postcard::to_stdvec(&spells).unwrap()).unwrap();
        assert!(restored.may_concern(at(29.0), None), "nothing is known of all changes after a restart");
        assert!(!restored.may_concern(at(30.0), None));
    }

    #[test]
    fn what_is_forgotten_still_counts() {
        let mut spells = spells(&[(10.0, 1, Change::Entered(at(8.0)))]);
        spells.add(Found { at: at(1000.0), series: SeriesIndex(2), change: Change::Entered(at(990.0)) });
        spells.add(Found { at: at(1010.0), series: SeriesIndex(2), change: Change::Recovered(at(1005.0)) });
        assert!(!spells.standing(at(1010.0)).is_quiet(at(1010.0), 600.0));
        assert_eq!(spells.between(at(0.0), at(1005.0)).count(), 1);
    }
}
