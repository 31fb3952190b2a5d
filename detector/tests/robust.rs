//! The robust model's behaviours, one by one; its accuracy is in `accuracy.rs`.

use detector::model::robust::RobustBank;
use detector::model::{Closing, Judgement, ModelEvent, ModelKind, Params, Reading};
use schemas::{Direction, Metric, State, Time};

/// A bank of one series and what happened to it.
struct One {
    bank: RobustBank,
    rises: bool,
    tick: u32,
    judgement: Judgement,
    /// Ticks from a suspicion to its judgement.
    judged_after: u32,
    suspected: u32,
    ended: Vec<Closing>,
    states: Vec<State>,
    /// Ticks that were clear or contended, and those of them with a bound.
    decided: [u32; 2],
}

impl One {
    fn new(metric: Metric, judgement: Judgement) -> One {
        let mut bank = RobustBank::new(Params::of(metric, ModelKind::Robust));
        bank.add();
        let (ended, states) = (Vec::new(), Vec::new());
        One {
            bank,
            rises: metric.direction() == Direction::Rising,
            tick: 0,
            judgement,
            judged_after: 0,
            suspected: 0,
            ended,
            states,
            decided: [0; 2],
        }
    }

    fn writer() -> One {
        One::new(Metric::from_name("lustre_write_rate").unwrap(), Judgement::Alone)
    }

    /// `ticks` readings of `value`, with a ripple of 1% so that nothing is exact.
    fn play(&mut self, ticks: u32, value: f64) {
        for _ in 0..ticks {
            self.tick += 1;
            let ripple = 1.0 + 0.01 * f64::from(self.tick % 3) - 0.01;
            self.take(value * ripple, value > 1e6 || self.bank_is_of_ratios());
        }
    }

    fn bank_is_of_ratios(&self) -> bool {
        self.judgement == Judgement::Contention
    }

    fn take(&mut self, value: f64, active: bool) {
        let time = Time::from_seconds(f64::from(self.tick));
        let event = self.bank.update(0, &Reading { time, value, span_ticks: 1, active });
        self.note(event);
        self.suspected = if matches!(event, ModelEvent::Suspected(_)) { self.suspected + 1 } else { 0 };
        let answer = match event {
            ModelEvent::Suspected(_) if self.suspected > self.judged_after => {
                self.bank.judge(0, self.judgement)
            }
            ModelEvent::Warmed(_) => self.bank.accept(0),
            _ => ModelEvent::Nothing,
        };
        self.note(answer);
        self.states.push(self.bank.knowledge(0).state);
        self.mean_agrees_with_state();
    }

    /// Clear means that the mean is on the clear side of the bound, contended that it is beyond, wherever there is a bound.
    fn mean_agrees_with_state(&mut self) {
        let known = self.bank.knowledge(0);
        let rises = self.rises;
        let beyond = if rises { known.mean > known.bound } else { known.mean < known.bound };
        match known.state {
            State::Clear => assert!(!beyond, "tick {}: {known:?}", self.tick),
            State::Contended => assert!(known.bound.is_nan() || beyond, "tick {}: {known:?}", self.tick),
            _ => return,
        }
        self.decided[0] += 1;
        self.decided[1] += u32::from(!known.bound.is_nan());
    }

    fn note(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Ended(closing) => self.ended.push(closing),
            ModelEvent::Settled(closing) => *self.ended.last_mut().unwrap() = closing,
            _ => {}
        }
    }

    fn end(mut self) -> (Vec<Closing>, Vec<State>) {
        let event = self.bank.restart(0);
        self.note(event);
        (self.ended, self.states)
    }
}

#[test]
fn an_episode_is_dated_back_to_the_change_point_at_both_ends() {
    let mut one = One::writer();
    one.play(100, 1e9);
    one.play(50, 5e8);
    one.play(100, 1e9);
    let (ended, _) = one.end();
    assert_eq!(ended.len(), 1);
    assert!((ended[0].start.seconds() - 100.0).abs() < 0.2, "{}", ended[0].start.seconds());
    assert!((ended[0].end.seconds() - 150.0).abs() < 0.2, "{}", ended[0].end.seconds());
    assert!((ended[0].loss.lost_s - 25.0).abs() < 0.5, "{}", ended[0].loss.lost_s);
}

#[test]
fn a_change_inside_a_tick_is_dated_inside_it() {
    let mut one = One::writer();
    one.play(100, 1e9);
    one.play(1, 7e8);
    one.play(50, 5e8);
    one.play(1, 9e8);
    one.play(100, 1e9);
    let (ended, _) = one.end();
    assert!((ended[0].start.seconds() - 100.4).abs() < 0.1, "{}", ended[0].start.seconds());
    assert!((ended[0].end.seconds() - 151.2).abs() < 0.1, "{}", ended[0].end.seconds());
}

#[test]
fn one_spike_however_high_flags_nothing() {
    let mut one = One::new(Metric::from_name("aries_stall_ratio").unwrap(), Judgement::Contention);
    for _ in 0..20 {
        one.play(30, 0.2);
        one.play(1, 50.0);
    }
    assert!(one.end().0.is_empty());
}

#[test]
fn an_unexplained_fall_is_the_own_phase_of_the_series() {
    let mut one = One::new(Metric::from_name("lustre_write_rate").unwrap(), Judgement::OwnPhase);
    one.play(60, 1e9);
    one.play(60, 4e8);
    let (ended, states) = one.end();
    assert!(ended.is_empty());
    assert!(!states.contains(&State::Contended));
    assert_eq!(states.last(), Some(&State::Clear));
}

#[test]
fn alone_a_fall_to_next_to_nothing_is_a_phase() {
    let mut one = One::writer();
    one.play(60, 1e9);
    one.play(60, 2e7);
    one.play(60, 1e9);
    assert!(one.end().0.is_empty());
}

#[test]
fn alone_a_fall_back_to_a_level_of_before_is_a_phase() {
    let mut one = One::writer();
    for _ in 0..5 {
        one.play(60, 3e8);
        one.play(60, 1e9);
    }
    assert!(one.end().0.is_empty());
}

#[test]
fn alone_a_fall_to_a_new_level_is_contention() {
    let mut one = One::writer();
    one.play(60, 1e9);
    one.play(60, 3e8);
    assert_eq!(one.end().0.len(), 1);
}

#[test]
fn idle_ticks_end_an_episode_and_count_as_idle() {
    let mut one = One::writer();
    one.play(60, 1e9);
    one.play(30, 5e8);
    one.play(30, 0.0);
    let (ended, states) = one.end();
    assert_eq!(ended.len(), 1);
    assert!((ended[0].end.seconds() - 89.0).abs() < 1.1);
    assert!(states[90..].iter().all(|state| *state == State::Idle));
}

#[test]
fn warm_up_never_counts_as_clear() {
    let mut one = One::writer();
    one.play(60, 1e9);
    let (_, states) = one.end();
    assert!(states[..15].iter().all(|state| *state == State::Warmup));
    assert_eq!(states[15], State::Clear);
}

#[test]
fn a_rising_metric_needs_a_change_that_matters() {
    let mut small = One::new(Metric::from_name("aries_stall_ratio").unwrap(), Judgement::Contention);
    small.play(60, 0.002);
    small.play(60, 0.008);
    assert!(small.end().0.is_empty(), "six thousandths of a stall per flit slow no job");
    let mut large = One::new(Metric::from_name("aries_stall_ratio").unwrap(), Judgement::Contention);
    large.play(60, 0.05);
    large.play(60, 0.4);
    large.play(60, 0.05);
    let (ended, _) = large.end();
    assert_eq!(ended.len(), 1);
    assert!((ended[0].loss.lost_s - 60.0 * (1.0 - 1.05 / 1.4)).abs() < 0.3);
}

#[test]
fn stages_of_one_contention_are_one_episode() {
    let mut one = One::writer();
    one.play(100, 1e9);
    for level in [6.7e8, 4.2e8, 2.3e8, 4.2e8, 6.7e8] {
        one.play(60, level);
    }
    one.play(100, 1e9);
    let (ended, _) = one.end();
    assert_eq!(ended.len(), 1);
    assert!((ended[0].end.seconds() - ended[0].start.seconds() - 300.0).abs() < 1.0);
}

#[test]
fn contention_of_hours_is_measured_against_the_frozen_baseline() {
    let mut one = One::writer();
    one.play(100, 1e9);
    one.play(7_800, 5e8);
    one.play(100, 1e9);
    let (ended, _) = one.end();
    assert_eq!(ended.len(), 1);
    assert!((ended[0].loss.lost_s - 3_900.0).abs() < 20.0, "{}", ended[0].loss.lost_s);
}

#[test]
fn alone_a_repeated_fall_becomes_the_usual_off_phase() {
    let mut one = One::writer();
    for _ in 0..6 {
        one.play(60, 1e9);
        one.play(60, 3e8);
    }
    assert_eq!(one.end().0.len(), 2);
}

#[test]
fn contention_that_comes_again_is_no_phase_of_a_series_that_hardly_drifts() {
    let mut one = One::new(Metric::from_name("lustre_write_rate").unwrap(), Judgement::Contention);
    for _ in 0..6 {
        for value in [[1e9; 40].as_slice(), &[3e8; 20]].concat() {
            one.play(1, value * (1.0 + 0.02 * (f64::from(one.tick) / 6.0).sin()));
        }
    }
    assert_eq!(one.end().0.len(), 6);
}

#[test]
fn a_fall_to_next_to_nothing_is_a_phase_whatever_others_do() {
    let mut one = One::new(Metric::from_name("lustre_write_rate").unwrap(), Judgement::Contention);
    one.play(60, 1e9);
    one.play(60, 2e7);
    assert!(one.end().0.is_empty());
}

/// Readings of any kind that a series may have, by a seed: 20,000 of them.
fn anything(metric: Metric, judgement: Judgement, judged_after: u32, seed: u64) -> One {
    // Draws of its own for each metric: another one in the catalogue changes none.
    let mix = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    let mut state = metric.name().bytes().fold(seed, mix) | 1;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut one = One { judged_after, ..One::new(metric, judgement) };
    let scale = if metric == Metric::from_name("lustre_write_rate").unwrap() { 1e9 } else { 1.0 };
    let mut level = 0.2;
    for _ in 0..20_000 {
        if uniform() < 0.02 {
            level = 10_f64.powf(4.0 * uniform() - 3.0);
        }
        let zero = uniform() < 0.02;
        let value = if zero { 0.0 } else { scale * level * (0.3 * (uniform() - 0.5)).exp() };
        one.tick += 1;
        one.take(value, uniform() > 0.03);
    }
    one
}

#[test]
fn mean_of_a_clear_series_is_never_beyond_its_bound() {
    // `One` asserts it at every tick. Ticks that are decided, those with a bound, contended ones:
    let mut counts = [0; 3];
    for metric in Metric::all() {
        for (judged_after, seed) in [(0, 20_261_129), (5, 20_261_130), (40, 20_261_131)] {
            let one = anything(metric, Judgement::Alone, judged_after, seed);
            let contended = one.states.iter().filter(|state| **state == State::Contended).count();
            let of = [one.decided[0], one.decided[1], contended as u32];
            counts = std::array::from_fn(|at| counts[at] + of[at]);
        }
    }
    let [all, bounded, contended] = counts;
    assert!(2 * bounded > all && 20 * contended > all && all > 100_000, "{counts:?}");
}

#[test]
fn bound_is_unknown_while_a_fall_is_suspected() {
    let mut one = One { judged_after: 30, ..One::writer() };
    one.play(100, 1e9);
    assert!(one.bank.knowledge(0).bound < 1e9);
    one.play(20, 5e8);
    let known = one.bank.knowledge(0);
    assert_eq!(known.state, State::Clear);
    assert!(known.bound.is_nan() && known.mean < 6e8, "{known:?}");
    one.play(40, 5e8);
    let known = one.bank.knowledge(0);
    assert_eq!(known.state, State::Contended);
    assert!(known.bound > known.mean && known.bound < 1e9, "{known:?}");
}

#[test]
fn episodes_of_any_series_are_in_order_and_finite() {
    for (metric, seed) in Metric::all().flat_map(|metric| (20_261_120..20_261_128).map(move |s| (metric, s)))
    {
        for judgement in [Judgement::Contention, Judgement::OwnPhase, Judgement::Alone] {
            let ended = anything(metric, judgement, 0, seed).end().0;
            let bad = ended.iter().find(|c| c.start > c.end || !c.loss.lost_s.is_finite());
            assert!(bad.is_none(), "{metric:?} {judgement:?} {seed}: {bad:?}");
            let overlap = ended.windows(2).find(|pair| pair[1].start < pair[0].end.plus_seconds(-0.01));
            assert!(overlap.is_none(), "{metric:?} {judgement:?} {seed}: {overlap:?}");
        }
    }
}

#[test]
fn a_series_takes_less_than_a_kilobyte() {
    let bytes = RobustBank::bytes_per_series();
    eprintln!("{bytes} bytes a series");
    assert!(bytes <= 1_024, "{bytes}");
}
