use super::*;

/// Samples of a job that sends `rate(tick)` bytes in each tick up to 600.
fn progress(rate: impl Fn(i64) -> f64) -> Progress {
    let mut sent = 0.0;
    let mut samples = Vec::new();
    for tick in 0..600 {
        if tick % SAMPLE_TICKS == 0 {
            samples.push((tick, sent));
        }
        sent += rate(tick);
    }
    Progress::of(samples)
}

fn contended() -> BTreeMap<i64, f64> {
    (200..300).map(|tick| (tick, 0.5)).collect()
}

#[test]
fn what_a_job_sends_less_is_what_it_lost() {
    let fell = |tick: i64| if (200..300).contains(&tick) { 80.0 } else { 100.0 };
    let found = progress(fell).lost(0, &contended(), 1.0).unwrap();
    assert!((found.lost_s - 20.0).abs() < 0.1 && found.error_s < 2.0, "{found:?}");
}

#[test]
fn set_up_before_a_job_sends_is_no_pace_of_it() {
    let sets_up = |tick: i64| match tick {
        0..31 => 0.0,
        200..300 => 80.0,
        _ => 100.0,
    };
    let found = progress(sets_up).lost(0, &contended(), 1.0).unwrap();
    assert!((found.lost_s - 20.0).abs() < 0.1 && found.error_s < 3.0, "{found:?}");
    // Silence while its links wait is a loss.
    let from_start: BTreeMap<i64, f64> = (0..100).map(|tick| (tick, 0.9)).collect();
    let kept = |tick: i64| if tick < 100 { 20.0 } else { 100.0 };
    let found = progress(kept).lost(0, &from_start, 1.0).unwrap();
    assert!((found.lost_s - 80.0).abs() < 2.0, "{found:?}");
}

#[test]
fn a_job_that_sends_as_before_lost_nothing() {
    let found = progress(|_| 100.0).lost(0, &contended(), 1.0).unwrap();
    assert!(found.lost_s.abs() < 1e-9, "{found:?}");
}

#[test]
fn a_job_that_sends_in_bursts_or_was_never_quiet_shows_nothing() {
    let bursts = |tick: i64| if tick / 40 % 2 == 0 { 100.0 } else { 0.0 };
    assert_eq!(progress(bursts).lost(0, &contended(), 1.0), None);
    let always = (0..600).map(|tick| (tick, 0.5)).collect();
    assert_eq!(progress(|_| 100.0).lost(0, &always, 1.0), None);
}

#[test]
fn a_job_that_never_ran_alone_shows_at_two_levels_what_it_would_send() {
    let level = |tick: i64| if tick < 300 { 0.4 } else { 0.1 };
    let contended: BTreeMap<i64, f64> = (0..600).map(|tick| (tick, level(tick))).collect();
    let half = |tick: i64| 100.0 * (1.0 - 0.5 * level(tick));
    let found = progress(half).lost(0, &contended, 1.0).unwrap();
    assert!((found.lost_s - 75.0).abs() < 8.0 && found.error_s < 40.0, "{found:?}");
    let one = contended.keys().map(|tick| (*tick, 0.4)).collect();
    assert_eq!(progress(|_| 80.0).lost(0, &one, 1.0), None);
}

#[test]
fn pauses_of_a_job_that_never_ran_alone_are_no_loss() {
    let contended: BTreeMap<i64, f64> =
        (0..600).map(|tick| (tick, if tick < 300 { 0.4 } else { 0.1 })).collect();
    let pauses = |tick: i64| if tick % 100 < 10 { 0.0 } else { 100.0 };
    assert_eq!(progress(pauses).lost(0, &contended, 1.0), None);
}

#[test]
fn seconds_without_rows_are_no_loss() {
    let mut progress = progress(|_| 100.0);
    let gap = |progress: &mut Progress, tick: i64| {
        progress.samples.iter_mut().filter(|(at, _)| *at == tick).for_each(|(_, sent)| *sent = f64::NAN);
    };
    gap(&mut progress, 100);
    assert!(progress.lost(0, &contended(), 1.0).is_some_and(|found| found.lost_s.abs() < 3.0));
    gap(&mut progress, 250);
    assert_eq!(progress.lost(0, &contended(), 1.0), None);
}

#[test]
fn samples_are_bounded_and_a_gap_among_dropped_ones_stays() {
    let samples = (0..).take(SAMPLES_MAX + 1).map(|at| (at, at as f64));
    let mut progress = Progress::of(samples.collect());
    progress.samples[10].1 = f64::NAN;
    progress.thin();
    assert_eq!(progress.samples.len(), SAMPLES_MAX - SAMPLES_MAX / 4 + 1);
    assert_eq!(progress.samples.iter().filter(|(_, sent)| sent.is_nan()).count(), 1);
}

#[test]
fn little_that_was_sampled_shows_nothing_of_the_rest() {
    let mut progress = progress(|tick| if (200..300).contains(&tick) { 80.0 } else { 100.0 });
    // An end is known late, and becomes a later one.
    assert!(progress.end(240) && !progress.end(240));
    assert_eq!(progress.lost(0, &contended(), 1.0), None);
    progress.end(275);
    assert_eq!(progress.samples.last().map(|(tick, _)| *tick), Some(240));
}
