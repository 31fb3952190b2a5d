//! The Actionable Metric Model as printed, against worked examples by hand (window 2, eta 1).

use detector::equations::SlowdownForm;
use detector::model::published::PublishedBank;
use detector::model::{Knowledge, ModelKind, Params, Reading};
use schemas::{Metric, State, Time};

const ROOT_2: f64 = std::f64::consts::SQRT_2;

fn params(metric: Metric, slowdown: SlowdownForm) -> Params {
    Params { window: 2, eta: 1.0, slowdown, ..Params::of(metric, ModelKind::Published) }
}

/// What is known after each reading, one a second; values are in the metric's unit.
fn play(params: Params, values: &[f64]) -> Vec<Knowledge> {
    let mut bank = PublishedBank::new(params);
    bank.add();
    let tick = |(at, value): (usize, &f64)| {
        let time = Time::from_seconds(at as f64 + 1.0);
        bank.update(0, &Reading { time, value: *value, span_ticks: 1, active: true });
        bank.knowledge(0)
    };
    values.iter().enumerate().map(tick).collect()
}

fn near(found: f64, by_hand: f64) {
    assert!((found - by_hand).abs() < 1e-9, "{found} is not {by_hand}");
}

#[test]
fn eq_4_2_1_and_4_2_3_the_mean_is_geometric_over_the_latest_window() {
    let known = play(
        params(Metric::from_name("lustre_write_rate").unwrap(), SlowdownForm::Corrected),
        &[2.0, 8.0, 2.0],
    );
    near(known[0].mean, 2.0);
    near(known[1].mean, 4.0);
    near(known[2].mean, 4.0);
}

#[test]
fn eq_4_2_5_and_a_0_3_the_bound_lies_one_deviation_away() {
    // Of 2 and 8: mean 4, deviation 2.
    let falling =
        play(params(Metric::from_name("lustre_write_rate").unwrap(), SlowdownForm::Corrected), &[2.0, 8.0]);
    near(falling[1].bound, 2.0);
    let rising =
        play(params(Metric::from_name("aries_stall_ratio").unwrap(), SlowdownForm::Corrected), &[2.0, 8.0]);
    near(rising[1].bound, 8.0);
}

#[test]
fn eq_4_2_6b_a_falling_metric_is_contended_below_the_last_bound() {
    let of = |values: &[f64]| {
        play(params(Metric::from_name("lustre_write_rate").unwrap(), SlowdownForm::Corrected), values)
    };
    // Equal readings: the mean lies on the bound.
    assert_eq!(of(&[4.0, 4.0, 4.0])[2].state, State::Clear);
    // Of 4 and 16 the bound is 4. Floor 1: with 1.1 the mean is 4.2, above it.
    assert_eq!(of(&[4.0, 16.0, 1.1])[2].state, State::Clear);
    // Of 16 and 4 the bound is 4 and the next mean is of 4 and the new reading: 3.9 is below, 4.1 above.
    assert_eq!(of(&[16.0, 4.0, 4.1])[2].state, State::Clear);
    assert_eq!(of(&[16.0, 4.0, 3.9])[2].state, State::Contended);
}

#[test]
fn eq_4_2_7_and_4_2_8b_bounds_stay_fixed_while_a_falling_metric_loses() {
    let known = play(
        params(Metric::from_name("lustre_write_rate").unwrap(), SlowdownForm::Corrected),
        &[4e9, 4e9, 2e9, 2e9, 4e9, 4e9],
    );
    let states: Vec<State> = known.iter().map(|k| k.state).collect();
    use State::{Clear, Contended, Warmup};
    assert_eq!(states, [Warmup, Clear, Contended, Contended, Contended, Clear]);
    // Means: root 8, 2, root 8 against 4: lost 1 - 1/root 2, 1/2, 1 - 1/root 2.
    near(known[2].slowdown_s, 1.0 - 1.0 / ROOT_2);
    near(known[3].slowdown_s, 1.5 - 1.0 / ROOT_2);
    near(known[4].slowdown_s, 2.5 - ROOT_2);
    for k in &known[1..5] {
        near(k.baseline / 4e9, 1.0);
        near(k.bound / 4e9, 1.0);
    }
}

#[test]
fn eq_4_2_8a_a_rising_metric_loses_one_minus_the_ratio_of_the_means() {
    let corrected = play(
        params(Metric::from_name("aries_stall_ratio").unwrap(), SlowdownForm::Corrected),
        &[1.0, 1.0, 2.0, 2.0],
    );
    near(corrected[3].slowdown_s, (1.0 - 1.0 / ROOT_2) + 0.5);
    let printed = play(
        params(Metric::from_name("aries_stall_ratio").unwrap(), SlowdownForm::Published),
        &[1.0, 1.0, 2.0, 2.0],
    );
    near(printed[3].slowdown_s, 1.0 / ROOT_2 + 0.5);
}

#[test]
fn a_zero_enters_the_logarithm_as_the_floor_of_its_metric() {
    let with_floor = Params {
        floor: 0.25,
        ..params(Metric::from_name("aries_stall_ratio").unwrap(), SlowdownForm::Corrected)
    };
    near(play(with_floor, &[0.0, 4.0])[1].mean, 1.0);
}

#[test]
fn the_clear_reading_after_contention_replaces_the_oldest() {
    // Baseline window 4, 4; contended 2, 2; then 9 and 9: the first makes the mean 4.24, above the bound: clear.
    let known = play(
        params(Metric::from_name("lustre_write_rate").unwrap(), SlowdownForm::Corrected),
        &[4.0, 4.0, 2.0, 2.0, 9.0, 9.0],
    );
    assert_eq!(known[4].state, State::Clear);
    near(known[4].baseline, 6.0);
    near(known[5].baseline, 9.0);
}

#[test]
fn running_sums_are_those_of_the_window_after_a_million_ticks() {
    let mut bank =
        PublishedBank::new(Params::of(Metric::from_name("lustre_write_rate").unwrap(), ModelKind::Published));
    bank.add();
    let value = |tick: u64| 1e9 * (1.0 + 0.3 * ((tick * 2_654_435_761) % 1_000) as f64 / 1_000.0);
    for tick in 0..1_000_000u64 {
        let time = Time::from_seconds(tick as f64);
        bank.update(0, &Reading { time, value: value(tick), span_ticks: 1, active: true });
    }
    let by_hand = (999_992..1_000_000).map(|t| value(t).ln()).sum::<f64>() / 8.0;
    near(bank.knowledge(0).mean.ln(), by_hand);
}
