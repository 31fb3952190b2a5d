use super::super::sent::GRID_TICKS;
use super::*;

/// Samples of a job that sends `rate(tick)` bytes in each tick up to 600.
fn progress(rate: impl Fn(i64) -> f64) -> Progress {
    let mut sent = 0.0;
    let mut samples = Vec::new();
    for tick in 0..600 {
        if tick % GRID_TICKS == 0 {
            samples.push((tick, sent));
        }
        sent += rate(tick);
    }
    Progress::of(samples)
}

/// Half of the slowest flow is lost from 200 to 300.
fn contended() -> BTreeMap<i64, f64> {
    (200..300).map(|tick| (tick, 0.5)).collect()
}

#[track_caller]
fn check(rate: impl Fn(i64) -> f64, contended: &BTreeMap<i64, f64>, lost_s: f64, width_s: f64) {
    let found = progress(rate).lost(0, contended, 1.0).unwrap();
    assert!((found.lost_s - lost_s).abs() < 0.1 * lost_s + 0.5, "{found:?}");
    assert!((found.least_s..=found.most_s).contains(&lost_s), "{found:?}");
    assert!(found.most_s - found.least_s < width_s, "{found:?}");
}

#[test]
fn what_a_job_sends_less_is_what_it_lost() {
    check(|tick| if (200..300).contains(&tick) { 80.0 } else { 100.0 }, &contended(), 20.0, 8.0);
}

#[test]
fn set_up_before_a_job_sends_is_no_pace_of_it() {
    let sets_up = |tick: i64| match tick {
        0..31 => 0.0,
        200..300 => 80.0,
        _ => 100.0,
    };
    check(sets_up, &contended(), 20.0, 8.0);
    // Silence while its links wait is a loss.
    let from_start: BTreeMap<i64, f64> = (0..100).map(|tick| (tick, 0.9)).collect();
    check(|tick| if tick < 100 { 20.0 } else { 100.0 }, &from_start, 80.0, 15.0);
}

#[test]
fn a_job_that_sends_as_before_lost_nothing() {
    check(|_| 100.0, &contended(), 0.0, 8.0);
}

#[test]
fn pauses_in_contention_are_no_loss() {
    let pauses = |tick: i64| tick % 60 < 20;
    check(|tick| if pauses(tick) { 0.0 } else { 100.0 }, &contended(), 0.0, 10.0);
    let slowed = |tick: i64| if (200..300).contains(&tick) { 80.0 } else { 100.0 };
    let found = progress(|tick| if pauses(tick) { 0.0 } else { slowed(tick) }).lost(0, &contended(), 1.0);
    assert!(found.is_some_and(|found| (15.0..21.0).contains(&found.lost_s)), "{found:?}");
}

#[test]
fn a_lasting_fall_that_stalls_do_not_explain_is_a_loss_and_no_pause() {
    let weak: BTreeMap<i64, f64> = (200..300).map(|tick| (tick, 0.05)).collect();
    check(|tick| if (200..300).contains(&tick) { 30.0 } else { 100.0 }, &weak, 70.0, 15.0);
}

#[test]
fn a_job_that_sends_unevenly_shows_nothing() {
    let uneven = |tick: i64| if tick / 40 % 2 == 0 { 100.0 } else { 60.0 };
    assert_eq!(progress(uneven).lost(0, &contended(), 1.0), None);
    let always = (0..600).map(|tick| (tick, 0.3)).collect();
    assert_eq!(progress(uneven).lost(0, &always, 1.0), None);
}

#[test]
fn a_job_that_never_ran_alone_is_judged_by_its_fastest_stretch() {
    let level = |tick: i64| if tick < 300 { 0.4 } else { 0.1 };
    let contended: BTreeMap<i64, f64> = (0..600).map(|tick| (tick, level(tick))).collect();
    check(|tick| 100.0 * (1.0 - 0.5 * level(tick)), &contended, 75.0, 100.0);
}

/// Whether it feels none of what its slowest flow loses or all of it, one level does not show.
#[test]
fn at_one_level_of_stalls_all_is_possible() {
    let one = (0..600).map(|tick| (tick, 0.4)).collect();
    let found = progress(|_| 80.0).lost(0, &one, 1.0).unwrap();
    assert!(found.least_s < 1.0 && found.most_s > 200.0, "{found:?}");
}

#[test]
fn what_seems_quiet_between_contention_widens_the_interval_upward() {
    let contended: BTreeMap<i64, f64> = (0..100).chain(200..300).map(|tick| (tick, 0.3)).collect();
    let rate = |tick: i64| match tick {
        0..100 | 200..300 => 80.0,
        100..200 | 300..400 => 95.0,
        _ => 100.0,
    };
    let found = progress(rate).lost(0, &contended, 1.0).unwrap();
    assert!(found.most_s > 45.0, "{found:?}");
}

#[test]
fn seconds_without_rows_are_no_loss() {
    let all = progress(|_| 100.0);
    for tick in [100, 250] {
        let samples = all.samples().map(|(at, sent)| (at, if at == tick { f64::NAN } else { sent }));
        let found = Progress::of(samples.collect()).lost(0, &contended(), 1.0);
        assert!(found.is_some_and(|found| found.lost_s.abs() < 3.0), "{tick}: {found:?}");
    }
}

#[test]
fn little_that_was_sampled_shows_nothing_of_the_rest() {
    let all = progress(|tick| if (200..300).contains(&tick) { 80.0 } else { 100.0 });
    let until = |tick: i64| Progress::of(all.samples().filter(|(at, _)| *at <= tick).collect());
    assert_eq!(until(240).lost(0, &contended(), 1.0), None);
    assert!(until(275).lost(0, &contended(), 1.0).is_some_and(|found| (15.0..25.0).contains(&found.lost_s)));
}
