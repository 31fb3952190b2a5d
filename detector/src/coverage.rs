//! Which ticks of a series were seen, in which it was active, and in which it had no baseline to be judged by:
//! completeness and judged share for every answer.

use schemas::{SeriesIndex, Time, growth};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Stretches remembered per series, of holes and of activity each; beyond it the two oldest become one.
const STRETCHES_KEPT: usize = 64;
/// Idle seconds that do not end a stretch of activity.
pub(crate) const ACTIVE_AGAIN_S: f64 = 60.0;

/// Stretches without readings, and with activity, per series.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// What every reading touches, apart from what hardly any does: readings of one row lie side by side.
    latest: Vec<Latest>,
    seen: Vec<Seen>,
    /// What passes without a baseline now; `None` of a series that has one.
    open: Vec<Option<Unjudged>>,
}

/// A stretch without a baseline, as it grows.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Unjudged {
    since: Time,
    /// Seconds of activity in it: an idle series has nothing to be judged.
    active_s: f64,
    until: Until,
}

/// What ends a stretch without a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Until {
    /// A baseline is found.
    Baseline,
    /// A quiet spell, by which a baseline is found again: the present one is of no quiet spell.
    OtherBaseline,
    /// A quiet spell: the present level was reached in contention.
    Quiet,
}

/// Times of the latest readings of a series; [`Time::MIN`] before the first.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Latest {
    /// The latest.
    any: Time,
    /// The latest with activity: end of the last stretch of [`Seen::active`].
    active: Time,
}

const NEVER: Latest = Latest { any: Time::MIN, active: Time::MIN };

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Seen {
    first: Time,
    active: VecDeque<Stretch>,
    /// What most series have none of.
    missing: Option<Box<Missing>>,
}

/// Stretches in which a series was not seen, or not judged.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Missing {
    holes: VecDeque<Stretch>,
    /// Gaps, in which nothing is judged.
    gaps: VecDeque<Stretch>,
    /// Seconds of activity without a baseline.
    unjudged: VecDeque<Stretch>,
    /// Seconds that may be lost without showing.
    unseen: VecDeque<Stretch>,
}

/// `seconds` without a reading, or of activity, between two times.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Stretch {
    from: Time,
    to: Time,
    seconds: f64,
}

impl Coverage {
    /// A reading of `series` that ends at `time` and covers `span_ticks` of `tick_s`; 0 ends a gap.
    #[inline]
    pub fn saw(&mut self, series: SeriesIndex, time: Time, span_ticks: u8, active: bool, tick_s: f64) {
        if self.latest.len() <= series.at() {
            growth::extend_to(&mut self.latest, series.at() + 1, NEVER);
            growth::extend_to(&mut self.seen, series.at() + 1, Seen::default());
            growth::extend_to(&mut self.open, series.at() + 1, None);
        }
        let latest = &mut self.latest[series.at()];
        let begin = time.plus_seconds(-f64::from(span_ticks) * tick_s);
        if latest.any == Time::MIN {
            self.seen[series.at()].first = begin;
            latest.any = time;
            self.open[series.at()] = Some(Unjudged { since: begin, active_s: 0.0, until: Until::Baseline });
        }
        if active && let Some(open) = &mut self.open[series.at()] {
            open.active_s += f64::from(span_ticks) * tick_s;
        }
        if latest.any.seconds_since(time) > tick_s / 2.0 {
            *latest = self.seen[series.at()].rewind(begin);
        }
        let missing_s = time.seconds_since(latest.any) - tick_s;
        if missing_s > tick_s / 2.0 {
            let hole = Stretch { from: latest.any, to: time, seconds: missing_s };
            keep(&mut self.seen[series.at()].missing().holes, hole);
        }
        latest.any = latest.any.max(time);
        if active {
            let was_active = latest.active != Time::MIN;
            if !was_active || begin.seconds_since(latest.active) > ACTIVE_AGAIN_S {
                let stretches = &mut self.seen[series.at()].active;
                if let Some(ended) = stretches.back_mut() {
                    ended.to = latest.active;
                }
                keep(stretches, Stretch { from: begin, to: time, seconds: 0.0 });
            }
            latest.active = time;
        }
    }

    /// Makes `series` one that was never seen.
    pub fn forget(&mut self, series: SeriesIndex) {
        if let Some(latest) = self.latest.get_mut(series.at()) {
            *latest = NEVER;
            self.seen[series.at()] = Seen::default();
            self.open[series.at()] = None;
        }
    }

    /// `series` was not seen between two times: nothing of that was judged.
    pub fn missed(&mut self, series: SeriesIndex, since: Time, until: Time) {
        let Some(seen) = self.seen.get_mut(series.at()) else { return };
        keep(
            &mut seen.missing().gaps,
            Stretch { from: since, to: until, seconds: until.seconds_since(since) },
        );
    }

    /// `series` lost its baseline at its latest reading; one that has none yet continues to wait.
    pub fn lost_baseline(&mut self, series: SeriesIndex) {
        let Some(latest) = self.latest.get(series.at()) else { return };
        self.open[series.at()].get_or_insert(Unjudged {
            since: latest.any,
            active_s: 0.0,
            until: Until::Baseline,
        });
    }

    /// Whether `series` waits for a baseline.
    #[inline]
    pub fn awaits_baseline(&self, series: SeriesIndex) -> bool {
        matches!(self.open.get(series.at()), Some(Some(open)) if open.until == Until::Baseline)
    }

    /// `series` has a baseline by its latest `warm_s` seconds of activity, and is judged since they began. Where they are
    /// not known to be of a quiet spell, what it loses by that baseline is the least that it may have lost: nothing is
    /// judged.
    pub fn found_baseline(&mut self, series: SeriesIndex, warm_s: f64, is_quiet: bool) {
        let Some(Some(open)) = self.open.get_mut(series.at()) else { return };
        if !is_quiet {
            open.until = Until::OtherBaseline;
            return;
        }
        let until = self.latest[series.at()].any.plus_seconds(-warm_s);
        let seconds = open.active_s - warm_s;
        let stretch = Stretch { from: open.since, to: until, seconds };
        self.open[series.at()] = None;
        if seconds > 0.0 && stretch.from < stretch.to {
            keep(&mut self.seen[series.at()].missing().unjudged, stretch);
        }
    }

    /// `series` starts again: nothing since `since` is judged until another baseline is found.
    pub fn revoke(&mut self, series: SeriesIndex, since: Time) {
        self.open_again(series, since, Until::Baseline);
    }

    /// What `series` did between two times is not judged: others lost something beside it.
    pub fn unjudged_between(&mut self, series: SeriesIndex, from: Time, to: Time) {
        if matches!(self.open.get(series.at()), Some(None)) {
            let seconds = self.active_between(series, from, to);
            let seen = &mut self.seen[series.at()];
            seen.judge(from, to);
            let unjudged = &mut seen.missing().unjudged;
            match unjudged.back_mut() {
                Some(last) if last.to == from => (last.to, last.seconds) = (to, last.seconds + seconds),
                _ => keep(unjudged, Stretch { from, to, seconds }),
            }
        }
    }

    /// `series` reached its level in contention at `since`: nothing is judged until a quiet spell.
    pub fn hold(&mut self, series: SeriesIndex, since: Time) {
        if matches!(self.open.get(series.at()), Some(None)) {
            self.open_again(series, since, Until::Quiet);
        }
    }

    /// A quiet spell began. Whether `series` has a baseline that is of none, so that it needs another.
    pub fn quiet(&mut self, series: SeriesIndex) -> bool {
        let Some(Some(open)) = self.open.get_mut(series.at()) else { return false };
        match open.until {
            Until::Baseline => false,
            Until::OtherBaseline => {
                open.until = Until::Baseline;
                true
            }
            Until::Quiet => {
                self.found_baseline(series, 0.0, true);
                false
            }
        }
    }

    /// What `series` did between two times is judged after all.
    pub fn judged(&mut self, series: SeriesIndex, from: Time, to: Time) {
        let Some(latest) = self.latest.get(series.at()).copied() else { return };
        if let Some(open) = self.open[series.at()].filter(|open| open.since < to) {
            let active_s = self.active_between(series, to, latest.any).min(open.active_s);
            self.open[series.at()] = Some(Unjudged { since: to, active_s, ..open });
            if open.since < from {
                let seconds = self.active_between(series, open.since, from);
                let stretch = Stretch { from: open.since, to: from, seconds };
                keep(&mut self.seen[series.at()].missing().unjudged, stretch);
            }
        }
        self.seen[series.at()].judge(from, to);
    }

    /// `series` may have lost so many seconds between two times without showing it; this replaces what was noted of that time.
    pub fn unseen_between(&mut self, series: SeriesIndex, from: Time, to: Time, seconds: f64) {
        let Some(seen) = self.seen.get_mut(series.at()) else { return };
        let known = seen.missing.as_mut().map(|missing| std::mem::take(&mut missing.unseen));
        let unseen = &mut seen.missing().unseen;
        let rest = known.into_iter().flatten().flat_map(|stretch| stretch.without(from, to));
        rest.for_each(|part| keep(unseen, part));
        if seconds > 0.0 {
            keep(unseen, Stretch { from, to, seconds });
        }
    }

    /// Seconds that `series` may have lost between two times without showing it.
    pub fn unseen_s(&self, series: SeriesIndex, from: Time, to: Time) -> f64 {
        let missing = self.seen.get(series.at()).and_then(|seen| seen.missing.as_deref());
        let unseen = missing.into_iter().flat_map(|missing| &missing.unseen);
        unseen.map(|stretch| stretch.seconds_between(from, to)).sum()
    }

    fn open_again(&mut self, series: SeriesIndex, since: Time, until: Until) {
        let Some(latest) = self.latest.get(series.at()) else { return };
        let active_s = self.active_between(series, since, latest.any);
        self.seen[series.at()].judge(since, latest.any);
        let before = self.open[series.at()].replace(Unjudged { since, active_s, until });
        if let Some(before) = before.filter(|before| before.since < since) {
            let seconds = (before.active_s - active_s).max(0.0);
            let stretch = Stretch { from: before.since, to: since, seconds };
            keep(&mut self.seen[series.at()].missing().unjudged, stretch);
        }
    }

    /// Stretches between two times in which `series` was not judged: begin, end, seconds in between. These are activity
    /// without a baseline, gaps, and what lies before the first reading or more than `gap_s` after the latest.
    pub fn unjudged(
        &self,
        series: SeriesIndex,
        from: Time,
        to: Time,
        gap_s: f64,
    ) -> impl Iterator<Item = (Time, Time, f64)> {
        let whole = |from: Time, to: Time| Stretch { from, to, seconds: to.seconds_since(from).max(0.0) };
        let (mut outside, mut kept, mut open) = (vec![whole(from, to)], None, None);
        if let Some(latest) = self.latest.get(series.at()).filter(|latest| latest.any != Time::MIN) {
            let seen = &self.seen[series.at()];
            outside = vec![whole(from, seen.first.min(to))];
            if to.seconds_since(latest.any) > gap_s {
                outside.push(whole(latest.any.max(from), to));
            }
            kept = seen.missing.as_deref().map(|missing| missing.gaps.iter().chain(&missing.unjudged));
            open = self.open[series.at()].map(|open| Stretch {
                from: open.since,
                to: latest.any,
                seconds: open.active_s,
            });
        }
        let stretches = outside.into_iter().chain(kept.into_iter().flatten().copied()).chain(open);
        stretches.filter_map(move |stretch| {
            let seconds = stretch.seconds_between(from, to);
            (seconds > 0.0).then(|| (stretch.from.max(from), stretch.to.min(to), seconds))
        })
    }

    fn active_between(&self, series: SeriesIndex, from: Time, to: Time) -> f64 {
        let mut stretches = self.seen[series.at()].active.iter().rev();
        let latest = self.latest[series.at()].active;
        let overlap = |begin: Time, end: Time| end.min(to).seconds_since(begin.max(from)).max(0.0);
        let last = stretches.next().map_or(0.0, |stretch| overlap(stretch.from, latest));
        last + stretches.map(|stretch| overlap(stretch.from, stretch.to)).sum::<f64>()
    }

    /// Ticks of `series` seen over ticks expected between two times, 0 to 1; 0 for a series never seen.
    pub fn completeness(&self, series: SeriesIndex, from: Time, to: Time, tick_s: f64) -> f64 {
        let expected_s = to.seconds_since(from);
        let Some(last) = self.last(series).filter(|_| expected_s > 0.0) else { return 0.0 };
        let seen = &self.seen[series.at()];
        let before = seen.first.seconds_since(from).clamp(0.0, expected_s);
        let after = (to.seconds_since(last) - tick_s).clamp(0.0, expected_s);
        let holes = seen.missing.iter().flat_map(|missing| &missing.holes);
        let holes: f64 = holes.map(|hole| hole.seconds_between(from, to)).sum();
        (1.0 - (before + after + holes) / expected_s).clamp(0.0, 1.0)
    }

    /// Latest reading of `series`.
    pub fn last(&self, series: SeriesIndex) -> Option<Time> {
        self.latest.get(series.at()).map(|latest| latest.any).filter(|time| *time != Time::MIN)
    }

    /// Stretches between two times in which `series` was active; pauses of a minute and less do not end one.
    pub fn active(&self, series: SeriesIndex, from: Time, to: Time) -> impl Iterator<Item = (Time, Time)> {
        let latest = self.latest.get(series.at()).map_or(Time::MIN, |latest| latest.active);
        let stretches = self.seen.get(series.at()).map(|seen| &seen.active).into_iter().flatten();
        let last = stretches.clone().count();
        let ends = stretches.zip(1..).map(move |(stretch, number)| match number == last {
            true => (stretch.from, latest),
            false => (stretch.from, stretch.to),
        });
        let within = ends.map(move |(begin, end)| (begin.max(from), end.min(to)));
        within.filter(|(begin, end)| begin < end)
    }

    /// Whether `series` was active at some time between `from` and `to`.
    pub fn was_active(&self, series: SeriesIndex, from: Time, to: Time) -> bool {
        let Some(latest) = self.latest.get(series.at()) else { return false };
        let mut stretches = self.seen[series.at()].active.iter().rev();
        let continues = stretches.next().is_some_and(|s| latest.active > from && s.from < to);
        continues || stretches.any(|s| s.to > from && s.from < to)
    }
}

/// Adds a stretch; of too many the two oldest become one, so that nothing is forgotten.
fn keep(stretches: &mut VecDeque<Stretch>, stretch: Stretch) {
    if stretches.len() == STRETCHES_KEPT
        && let Some(oldest) = stretches.pop_front()
        && let Some(next) = stretches.front_mut()
    {
        next.from = oldest.from;
        next.seconds += oldest.seconds;
    }
    if stretches.capacity() == 0 {
        // Most have one.
        stretches.reserve_exact(1);
    }
    stretches.push_back(stretch);
}

impl Seen {
    fn missing(&mut self) -> &mut Missing {
        self.missing.get_or_insert_default()
    }

    /// What lies between two times does not count as unjudged.
    fn judge(&mut self, from: Time, to: Time) {
        let Some(missing) = &mut self.missing else { return };
        for stretch in std::mem::take(&mut missing.unjudged) {
            stretch.without(from, to).for_each(|part| keep(&mut missing.unjudged, part));
        }
    }

    /// The clock of the readings stepped back to `to`: what it read off later times does not hold.
    fn rewind(&mut self, to: Time) -> Latest {
        self.first = self.first.min(to);
        self.active.retain(|stretch| stretch.from < to);
        if let Some(missing) = &mut self.missing {
            missing.holes.retain(|stretch| stretch.from < to);
            for hole in missing.holes.iter_mut().filter(|hole| hole.to > to) {
                (hole.to, hole.seconds) = (to, hole.seconds_between(hole.from, to));
            }
        }
        let active = self.active.back_mut().map_or(Time::MIN, |stretch| {
            stretch.to = stretch.to.min(to);
            to
        });
        Latest { any: to, active }
    }
}

impl Stretch {
    fn seconds_between(&self, from: Time, to: Time) -> f64 {
        let overlap = self.to.min(to).seconds_since(self.from.max(from)).max(0.0);
        let length = self.to.seconds_since(self.from);
        if length > 0.0 { self.seconds * overlap / length } else { 0.0 }
    }

    /// What lies before and after two times.
    fn without(self, from: Time, to: Time) -> impl Iterator<Item = Stretch> {
        let parts = [(self.from, self.to.min(from)), (self.from.max(to), self.to)];
        let part = move |(from, to)| Stretch { from, to, seconds: self.seconds_between(from, to) };
        parts.map(part).into_iter().filter(|part| part.seconds > 0.0)
    }
}

#[cfg(test)]
mod tests;
