use super::*;

#[test]
fn samples_are_bounded_and_a_gap_among_dropped_ones_stays() {
    let samples = (0..).take(SAMPLES_MAX + 1).map(|at| (at, at as f64));
    let mut progress = Progress::of(samples.collect());
    progress.samples[10].1 = f64::NAN;
    progress.thin();
    assert_eq!(progress.samples.len(), SAMPLES_MAX - SAMPLES_MAX / 4 + 1);
    assert_eq!(progress.samples.iter().filter(|(_, sent)| sent.is_nan()).count(), 1);
}
