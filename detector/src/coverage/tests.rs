use super::*;

const TICK_S: f64 = 1.0;

fn at(second: f64) -> Time {
    Time::from_seconds(second)
}

fn seen_between(from: i32, to: i32, coverage: &mut Coverage) {
    (from..=to).for_each(|t| coverage.saw(SeriesIndex(0), at(f64::from(t)), 1, true, TICK_S));
}

#[test]
fn a_hole_lowers_the_completeness_of_what_overlaps_it() {
    let mut coverage = Coverage::default();
    seen_between(1, 50, &mut coverage);
    seen_between(61, 100, &mut coverage);
    assert!((coverage.completeness(SeriesIndex(0), at(0.0), at(100.0), TICK_S) - 0.9).abs() < 1e-9);
    assert_eq!(coverage.completeness(SeriesIndex(0), at(0.0), at(50.0), TICK_S), 1.0);
}

#[test]
fn a_series_never_seen_is_not_complete() {
    let mut coverage = Coverage::default();
    coverage.saw(SeriesIndex(3), at(1.0), 1, true, TICK_S);
    assert_eq!(coverage.completeness(SeriesIndex(0), at(0.0), at(10.0), TICK_S), 0.0);
    assert_eq!(coverage.last(SeriesIndex(0)), None);
}

#[test]
fn many_holes_are_not_forgotten() {
    let mut coverage = Coverage::default();
    (1..=400).for_each(|k| coverage.saw(SeriesIndex(0), at(f64::from(k * 2)), 1, true, TICK_S));
    let half = coverage.completeness(SeriesIndex(0), at(2.0), at(800.0), TICK_S);
    assert!((half - 0.5).abs() < 0.01, "{half}");
}

#[test]
fn a_clock_that_steps_back_leaves_no_hole_behind() {
    let mut coverage = Coverage::default();
    seen_between(1, 50, &mut coverage);
    seen_between(3_651, 3_660, &mut coverage);
    seen_between(61, 100, &mut coverage);
    let seen = coverage.completeness(SeriesIndex(0), at(0.0), at(100.0), TICK_S);
    assert!((seen - 0.9).abs() < 0.01, "{seen}");
    assert!(coverage.was_active(SeriesIndex(0), at(90.0), at(95.0)));
    assert!(!coverage.was_active(SeriesIndex(0), at(3_000.0), at(4_000.0)));
}

#[test]
fn activity_is_known_for_the_time_in_which_it_was() {
    let mut coverage = Coverage::default();
    seen_between(1, 50, &mut coverage);
    (51..500).for_each(|t| coverage.saw(SeriesIndex(0), at(f64::from(t)), 1, false, TICK_S));
    assert!(coverage.was_active(SeriesIndex(0), at(10.0), at(20.0)));
    assert!(!coverage.was_active(SeriesIndex(0), at(100.0), at(400.0)));
}

#[test]
fn what_is_judged_later_is_judged() {
    let mut coverage = Coverage::default();
    seen_between(1, 100, &mut coverage);
    let unjudged_s = |coverage: &Coverage| -> f64 {
        coverage.unjudged(SeriesIndex(0), at(0.0), at(100.0), 5.0).map(|(_, _, seconds)| seconds).sum()
    };
    assert!((unjudged_s(&coverage) - 100.0).abs() < 1e-6);
    coverage.judged(SeriesIndex(0), at(20.0), at(60.0));
    assert!((unjudged_s(&coverage) - 60.0).abs() < 1e-6, "{}", unjudged_s(&coverage));
    assert!(coverage.awaits_baseline(SeriesIndex(0)));
    coverage.judged(SeriesIndex(0), at(5.0), at(10.0));
    assert!((unjudged_s(&coverage) - 55.0).abs() < 1e-6, "{}", unjudged_s(&coverage));
}
