//! Baseline, thresholds and window sums of a series: how they begin, and how they follow the readings.

use super::super::baseline::{BLOCK, Baseline};
use super::super::recent::RECENT;
use super::{BeforeGap, ModelEvent, RobustBank, Stage, State, Time};
use crate::equations::standard_error;

/// Most readings that wait in quarantine before they join the baseline; a young baseline has as many as
/// it has readings itself, so that it grows fast.
const QUARANTINE: usize = 24;

/// Standard errors by which a rise is no noise, so that it is not learnt yet.
const DRIFT_ERRORS: f32 = 3.0;
/// Noise from which a correlation matters for the first baseline.
const LARGE_NOISE: f32 = 0.2;

impl RobustBank {
    /// One more reading of the warm-up. A series that may share a server waits for a quiet spell: a level
    /// found inside contention is no baseline.
    pub(super) fn warm_up(&mut self, i: usize, time: Time) -> ModelEvent {
        self.watch[i].state = State::Warmup;
        if self.watch[i].warming_since == Time::MIN {
            self.watch[i].warming_since = time;
        }
        if (self.watch[i].usable as usize) < self.warm_up_readings() {
            return ModelEvent::Nothing;
        }
        if let Some(before) = self.memory[i].before_gap.take() {
            return self.resume(i, &before);
        }
        if self.params.needs_judgement {
            return ModelEvent::Warmed(self.watch[i].warming_since);
        }
        self.first_baseline(i)
    }

    /// Readings of which a first baseline is made.
    pub fn warm_up_readings(&self) -> usize {
        2 * self.params.window.max(BLOCK)
    }

    /// Readings of which the first baseline of series `i` is made: of noise that is large and correlated, as many as there is
    /// room for.
    fn readings_needed(&self, i: usize) -> usize {
        let least = self.warm_up_readings();
        let usable = self.watch[i].usable as usize;
        if usable < least {
            return least;
        }
        let mut known = Baseline::default();
        self.recent.readings(i, 0..usable - usable % BLOCK).chunks(BLOCK).for_each(|block| known.add(block));
        let is_correlated = known.sigma > LARGE_NOISE && known.seems_correlated();
        if is_correlated { RECENT } else { least }
    }

    /// The latest readings make the baseline, but for a window that is watched against it.
    pub(super) fn first_baseline(&mut self, i: usize) -> ModelEvent {
        let window = self.params.window;
        let usable = self.watch[i].usable as usize;
        let needed = self.readings_needed(i);
        if usable < needed {
            return ModelEvent::Nothing;
        }
        let all = self.recent.readings(i, 0..needed);
        let (centre, spread) = median_and_spread(&all);
        for block in all[..needed - window].chunks(BLOCK) {
            let clipped: Vec<f32> =
                block.iter().map(|ln| ln.clamp(centre - 4.0 * spread, centre + 4.0 * spread)).collect();
            self.memory[i].baseline.add(&clipped);
        }
        // What was read before a quiet spell began belongs to no baseline and to no window.
        self.watch[i].usable = needed as u8;
        self.watch[i].quarantined = window as u8;
        self.refresh(i);
        self.watch(i)
    }

    /// Continues after a gap with the baseline from before it. A series that was contended and is still beyond the
    /// bound needs no new judgement.
    fn resume(&mut self, i: usize, before: &BeforeGap) -> ModelEvent {
        self.memory[i].baseline = before.baseline;
        self.refresh(i);
        let watch = &self.watch[i];
        let beyond = watch.sum / self.params.window as f32 > watch.threshold;
        if before.was_contended && beyond && !self.is_off_phase(i) { self.begin(i) } else { self.watch(i) }
    }

    /// Whether the readings in quarantine rise step by step above what they were: they wait, as long as there is room, until
    /// the rise is flagged or over. Else a baseline would follow slow contention.
    pub(super) fn is_drifting(&self, i: usize) -> bool {
        let (params, base) = (&self.params, &self.memory[i].baseline);
        let quarantined = self.watch[i].quarantined as usize;
        if quarantined >= RECENT || !params.needs_judgement {
            return false;
        }
        let rise = self.recent.mean(i, BLOCK) - base.older_mean();
        let error = standard_error(
            base.sigma.into(),
            BLOCK as f64,
            f64::from(base.readings) / 2.0,
            base.correlation.into(),
        );
        rise > params.least_rise(base.mean).max(DRIFT_ERRORS * error as f32)
    }

    /// Lets the oldest block out of quarantine into the baseline.
    pub(super) fn release_block(&mut self, i: usize) {
        let oldest = self.watch[i].quarantined as usize;
        let watch = &self.watch[i];
        let sigma = self.memory[i].baseline.sigma;
        let clip = watch.clip.max(4.0 * sigma);
        let block: [f32; BLOCK] = std::array::from_fn(|k| {
            self.recent.ln(i, oldest - 1 - k).clamp(watch.centre - clip, watch.centre + clip)
        });
        self.memory[i].baseline.add(&block);
        if self.watch[i].settles {
            self.settle_with(i, &block);
        }
        self.watch[i].quarantined -= BLOCK as u8;
        self.refresh(i);
    }

    /// Readings of those ages join the baseline, and the estimate of an episode that is settling.
    pub(super) fn join_baseline(&mut self, i: usize, ages: std::ops::Range<usize>) {
        let mut readings = self.recent.readings(i, ages);
        let clip = self.watch[i].clip.max(self.memory[i].baseline.sigma * 4.0);
        let centre = self.watch[i].centre;
        readings.clip(centre - clip, centre + clip);
        for block in readings.chunks(BLOCK) {
            self.memory[i].baseline.add(block);
        }
        if self.watch[i].settles {
            self.settle_with(i, &readings);
        }
    }

    /// Lets everything out of quarantine that nothing was held against: the series ends here.
    pub(super) fn settle_rest(&mut self, i: usize) {
        let window = self.params.window;
        let quarantined = self.watch[i].quarantined as usize;
        if self.watch[i].settles && quarantined > window {
            let readings = self.recent.readings(i, window..quarantined);
            self.settle_with(i, &readings);
        }
    }

    /// Thresholds and sums after baseline or regime changed.
    pub(super) fn refresh(&mut self, i: usize) {
        let params = &self.params;
        let base = &self.memory[i].baseline;
        let watch = &mut self.watch[i];
        if base.is_empty() {
            watch.stage = if watch.stage == Stage::Contended { watch.stage } else { Stage::Warming };
            return;
        }
        if watch.stage == Stage::Warming {
            watch.stage = Stage::Watching;
        }
        // A spread that was estimated from few readings is uncertain itself.
        let eta = params.eta as f32 * (1.0 + 4.0 / base.readings);
        let least = params.least_rise(base.mean);
        let error = |window: f32, slow: f32| {
            let [sigma, window, readings] = [base.sigma, window, base.readings].map(f64::from);
            let error = standard_error(sigma, window, readings, base.likely_correlation.into()) as f32;
            (eta * error.max(slow)).max(least)
        };
        let window = params.window as f32;
        watch.centre = base.mean;
        watch.threshold = error(window, 0.9 * base.sigma_blocks);
        watch.threshold_long = error(4.0 * window, 0.5 * base.sigma_blocks);
        watch.clip = 2.0 * watch.threshold;
        watch.quarantine = (base.readings as usize).clamp(BLOCK, QUARANTINE) as u8;
        self.resum(i);
    }

    /// Both sums from the ring: rounding does not build up, and the clip may have moved.
    pub(super) fn resum(&mut self, i: usize) {
        let watch = &mut self.watch[i];
        let usable = watch.usable as usize;
        let (short, long) = (self.params.window.min(usable), (4 * self.params.window).min(usable));
        let over = |ages: std::ops::Range<usize>| {
            // Four sums side by side: one alone would wait for itself.
            let mut sums = [0.0_f32; 4];
            for age in ages {
                sums[age % 4] += watch.deviation(self.recent.ln(i, age));
            }
            sums.iter().sum::<f32>()
        };
        let sum = over(0..short);
        let sum_long = sum + over(short..long);
        (watch.sum, watch.sum_long) = (sum, sum_long);
    }
}

/// Median, and the standard deviation estimated from the median deviation.
fn median_and_spread(readings: &[f32]) -> (f32, f32) {
    let median = |mut list: Vec<f32>| {
        list.sort_by(f32::total_cmp);
        (list[list.len() / 2] + list[(list.len() - 1) / 2]) / 2.0
    };
    let centre = median(readings.to_vec());
    let spread = median(readings.iter().map(|x| (x - centre).abs()).collect());
    (centre, (1.4826 * spread).max(0.01))
}
