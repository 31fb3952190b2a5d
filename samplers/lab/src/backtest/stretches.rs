//! Sets of time as sorted stretches that do not touch: what was seen, true or found of a series.

use schemas::Time;

/// Stretches of event time, each from a time to a later one; sorted, apart from each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretches(Vec<(Time, Time)>);

impl Stretches {
    /// Of stretches in any order, which may overlap; empty ones are left out.
    pub fn of(mut stretches: Vec<(Time, Time)>) -> Stretches {
        stretches.sort_unstable();
        let mut set = Stretches::default();
        for (from, to) in stretches {
            set.append(from, to);
        }
        set
    }

    /// Adds a stretch that begins no earlier than the last one.
    pub fn append(&mut self, from: Time, to: Time) {
        match self.0.last_mut() {
            Some((_, end)) if from <= *end => *end = to.max(*end),
            _ if from < to => self.0.push((from, to)),
            _ => {}
        }
    }

    /// They, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Time, Time)> + '_ {
        self.0.iter().copied()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their length together, in seconds.
    pub fn seconds(&self) -> f64 {
        self.0.iter().fold(0.0, |sum, (from, to)| sum + to.seconds_since(*from))
    }

    /// What both hold.
    pub fn within(&self, other: &Stretches) -> Stretches {
        let mut both = Stretches::default();
        let (mut i, mut j) = (0, 0);
        while let (Some(a), Some(b)) = (self.0.get(i), other.0.get(j)) {
            both.append(a.0.max(b.0), a.1.min(b.1));
            if a.1 < b.1 { i += 1 } else { j += 1 }
        }
        both
    }

    /// What this holds and `other` does not.
    pub fn without(&self, other: &Stretches) -> Stretches {
        let mut rest = Stretches::default();
        let mut skipped = 0;
        for (mut from, to) in self.iter() {
            while other.0.get(skipped).is_some_and(|(_, end)| *end <= from) {
                skipped += 1;
            }
            for (begin, end) in other.0[skipped..].iter().copied().take_while(|(begin, _)| *begin < to) {
                rest.append(from, begin);
                from = from.max(end);
            }
            rest.append(from, to);
        }
        rest
    }

    /// Each longer by `seconds` at both ends.
    pub fn widened(&self, seconds: f64) -> Stretches {
        let wide = self.iter().map(|(from, to)| (from.plus_seconds(-seconds), to.plus_seconds(seconds)));
        Stretches::of(wide.collect())
    }

    /// What lies between two times.
    pub fn between(&self, from: Time, to: Time) -> Stretches {
        self.within(&Stretches(vec![(from, to)]))
    }

    /// Whether it holds any time between two times.
    pub fn meets(&self, from: Time, to: Time) -> bool {
        let next = self.0.partition_point(|(_, end)| *end <= from);
        self.0.get(next).is_some_and(|(begin, _)| *begin < to)
    }

    /// The first moment at or after `from` and before `to` that it holds.
    pub fn first_between(&self, from: Time, to: Time) -> Option<Time> {
        let next = self.0.partition_point(|(_, end)| *end <= from);
        self.0.get(next).map(|(begin, _)| from.max(*begin)).filter(|time| *time < to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(stretches: &[(i64, i64)]) -> Stretches {
        Stretches::of(stretches.iter().map(|(from, to)| (Time(*from), Time(*to))).collect())
    }

    #[test]
    fn stretches_that_touch_are_one_and_empty_ones_none() {
        assert_eq!(set(&[(5, 7), (1, 3), (2, 4), (4, 5), (9, 9)]), set(&[(1, 7)]));
    }

    #[test]
    fn what_both_hold_and_what_one_alone_holds() {
        let (a, b) = (set(&[(0, 10), (20, 30)]), set(&[(5, 22), (24, 26), (29, 40)]));
        assert_eq!(a.within(&b), set(&[(5, 10), (20, 22), (24, 26), (29, 30)]));
        assert_eq!(a.without(&b), set(&[(0, 5), (22, 24), (26, 29)]));
        assert_eq!(b.without(&a), set(&[(10, 20), (30, 40)]));
    }

    #[test]
    fn first_moment_is_the_query_start_within_a_stretch() {
        let a = set(&[(0, 10), (20, 30)]);
        assert_eq!(a.first_between(Time(5), Time(8)), Some(Time(5)));
        assert_eq!(a.first_between(Time(10), Time(25)), Some(Time(20)));
        assert_eq!(a.first_between(Time(10), Time(20)), None);
        assert!(a.meets(Time(9), Time(11)) && !a.meets(Time(10), Time(20)) && !a.meets(Time(30), Time(99)));
    }

    fn any() -> impl Strategy<Value = Stretches> {
        proptest::collection::vec((0i64..200, 0i64..30), 0..12)
            .prop_map(|pairs| Stretches::of(pairs.into_iter().map(|(a, n)| (Time(a), Time(a + n))).collect()))
    }

    fn holds(set: &Stretches, tick: i64) -> bool {
        set.iter().any(|(from, to)| from <= Time(tick) && Time(tick) < to)
    }

    proptest! {
        #[test]
        fn they_are_what_each_tick_says(a in any(), b in any()) {
            let (both, alone) = (a.within(&b), a.without(&b));
            for tick in 0..240 {
                let (in_a, in_b) = (holds(&a, tick), holds(&b, tick));
                prop_assert_eq!(holds(&both, tick), in_a && in_b);
                prop_assert_eq!(holds(&alone, tick), in_a && !in_b);
                prop_assert_eq!(a.meets(Time(tick), Time(tick + 1)), in_a);
            }
            prop_assert!((both.seconds() + alone.seconds() - a.seconds()).abs() < 1e-9);
        }
    }
}
