//! How a series starts, and how it starts again: at a job's begin, after a gap, in a quiet spell.

use super::{BeforeGap, Memory, ModelEvent, RobustBank, Stage, Time, Watch};

impl RobustBank {
    /// Makes series `i` one without readings.
    pub fn reset(&mut self, i: usize) {
        self.watch[i] = Watch::new(0.0);
        self.recent.clear(i);
        self.memory[i] = Memory::default();
    }

    /// Whether series `i` has no baseline.
    pub fn awaits_baseline(&self, i: usize) -> bool {
        self.watch[i].stage == Stage::Warming
    }

    /// When the warm-up began that gave the present baseline of series `i`, which is not contended; `None` where a
    /// change of level or an earlier time gave it.
    pub fn warmed_since(&self, i: usize) -> Option<Time> {
        let watch = &self.watch[i];
        (watch.stage == Stage::Watching && watch.warming_since != Time::MIN).then_some(watch.warming_since)
    }

    /// The readings of the warm-up were of a quiet spell: they make the baseline.
    pub fn accept(&mut self, i: usize) -> ModelEvent {
        if self.watch[i].stage == Stage::Warming { self.first_baseline(i) } else { ModelEvent::Nothing }
    }

    /// Forgets everything of series `i` but its accumulated loss; its open episode ends at its last reading.
    pub fn restart(&mut self, i: usize) -> ModelEvent {
        let closed = self.forget_baseline(i);
        self.recent.clear(i);
        closed
    }

    /// The same with the readings that began at `since` or later. Those before stay in the ring: they show what the
    /// series did when another fell ([`RobustBank::mean_between`]).
    pub fn restart_since(&mut self, i: usize, since: Time) -> ModelEvent {
        let closed = self.forget_baseline(i);
        self.use_since(i, since);
        closed
    }

    /// Of a series that warms up, only readings since `since` count from here on. After a gap the baseline of before it
    /// counts, so nothing changes.
    pub fn warm_since(&mut self, i: usize, since: Time) {
        if self.watch[i].stage == Stage::Warming && self.memory[i].before_gap.is_none() {
            let usable = self.watch[i].usable;
            self.use_since(i, since);
            self.watch[i].usable = self.watch[i].usable.min(usable);
        }
    }

    fn use_since(&mut self, i: usize, since: Time) {
        let tick_s = self.params.tick_s;
        let began = |age: usize| {
            let span_s = f64::from(self.recent.span_ticks(i, age)) * tick_s;
            self.recent.time(i, age).plus_seconds(-span_s)
        };
        let usable = (0..self.recent.len(i)).take_while(|age| began(*age) >= since).count();
        let watch = &mut self.watch[i];
        (watch.usable, watch.quarantined) = (usable as u8, usable as u8);
        watch.warming_since = if usable > 0 { self.recent.time(i, usable - 1) } else { Time::MIN };
    }

    fn forget_baseline(&mut self, i: usize) -> ModelEvent {
        let closed = match self.close_at_last(i) {
            ModelEvent::Nothing => {
                self.settle_rest(i);
                self.settle(i)
            }
            ended => ended,
        };
        self.watch[i] = Watch::new(self.watch[i].slowdown_s);
        self.memory[i] = Memory::default();
        closed
    }

    /// Series `i` was not seen for a while: it warms up again, and is then compared with the baseline it had,
    /// so that contention that lasted meanwhile is not taken for its usual level.
    pub fn pause(&mut self, i: usize) -> ModelEvent {
        let was_contended = self.watch[i].stage == Stage::Contended;
        let (mut baseline, levels) = (self.memory[i].baseline, self.memory[i].levels);
        if baseline.is_empty()
            && let Some(before) = &self.memory[i].before_gap
        {
            baseline = before.baseline;
        }
        let closed = self.restart(i);
        self.memory[i].levels = levels;
        self.memory[i].before_gap =
            (!baseline.is_empty()).then(|| Box::new(BeforeGap { baseline, was_contended }));
        closed
    }
}
