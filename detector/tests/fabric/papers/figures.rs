//! Rules that need no network, on the numbers that the papers print.

use detector::factors::{Factors, Times};
use detector::jobs::compare::{Difference, Run, baseline_s, configuration, difference};
use schemas::Cause;
use topology::Imbalance;

fn near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 0.02
}

/// Alone at light load, and alone.
fn alone(light: f64, alone: f64) -> Factors {
    Factors::of(&Times { light: Some(light), alone: Some(alone), ..Times::default() })
}

/// Alone, and with a background of 130% of the global links.
fn beside(alone: f64, beside_others: f64) -> Factors {
    let times = Times { alone: Some(alone), beside_others: Some(beside_others), ..Times::default() };
    Factors::of(&times)
}

/// K4: uniform, 4 KB and 4 MB, contiguous and random; mean latencies in microseconds and milliseconds.
#[test]
fn what_a_job_does_to_itself_is_the_printed_factor() {
    for (light, over, factor) in
        [(2.79, 51.36, 18.4), (2.32, 26.93, 11.6), (1.47, 3.62, 2.46), (1.48, 3.79, 2.56)]
    {
        let factors = alone(light, over);
        assert!(near(factors.itself.unwrap(), factor), "{factors:?}");
        assert_eq!((factors.other_jobs, factors.placement), (None, None));
        assert_eq!(factors.cause(), Some(Cause::SelfInflicted));
    }
}

/// K4: uniform, random placement but for the last one.
#[test]
fn what_others_do_to_a_job_is_the_printed_factor() {
    for (alone, loaded, factor) in
        [(2.95, 9.33, 3.16), (0.13, 0.66, 5.08), (1.48, 2.95, 1.99), (2.603, 2.793, 1.07)]
    {
        let factors = beside(alone, loaded);
        assert!(near(factors.other_jobs.unwrap(), factor), "{factors:?}");
        assert_eq!(factors.cause(), Some(Cause::OtherJob));
    }
}

/// K4: 4 KB each 0.5 us alone; 4 MB each 0.7 ms, which neighbours slow by 3.6% alone; 4 MB each 4 ms with others.
#[test]
fn the_larger_factor_decides_between_itself_and_others() {
    let of = |light: f64, alone: f64, beside: f64| {
        let times =
            Times { light: Some(light), alone: Some(alone), beside_others: Some(beside), elsewhere: None };
        Factors::of(&times).cause()
    };
    assert_eq!(of(2.79, 51.36, 51.36), Some(Cause::SelfInflicted));
    assert_eq!(of(1.48, 3.79, 3.79 * 1.036), Some(Cause::SelfInflicted));
    assert_eq!(of(1.48, 1.48, 2.95), Some(Cause::OtherJob));
}

/// K4: 4 KB each 3 us, tornado against its random placement; the paper prints both latencies.
#[test]
fn placement_is_a_factor_of_its_own() {
    let times = Times { light: Some(4.34), alone: Some(53.12), elsewhere: Some(3.06), ..Times::default() };
    let factors = Factors::of(&times);
    assert!(near(factors.placement.unwrap(), 17.36) && near(factors.itself.unwrap(), 12.24), "{factors:?}");
    let back = Factors::of(&Times { alone: Some(3.06), elsewhere: Some(53.12), ..Times::default() });
    assert!(back.placement.unwrap() < 1.0, "random is the better one");
}

/// B4: bytes on the two rails of a node, operation by operation.
#[test]
fn rails_are_judged_over_the_window_and_by_operation() {
    let ratio = |rails: [f64; 2]| Imbalance::of(rails, 0.0).unwrap();
    let even = ratio([8e6, 8e6]);
    assert_eq!((even.max_over_mean(), even.idle_share, even.relief_bound()), (1.0, 0.0, 0.0));
    let one = ratio([16e6, 0.0]);
    assert_eq!((one.max_over_mean(), one.idle_share, one.relief_bound()), (2.0, 0.5, 0.5));
    let operations: Vec<[f64; 2]> =
        (0..20).map(|at| if at % 2 == 0 { [1e6, 0.0] } else { [0.0, 1e6] }).collect();
    let window = operations.iter().fold([0.0; 2], |sum, rails| [sum[0] + rails[0], sum[1] + rails[1]]);
    assert_eq!(ratio(window).max_over_mean(), 1.0);
    assert!(operations.iter().all(|rails| ratio(*rails).max_over_mean() == 2.0));
}

fn broadcast(eager_limit: &str, run_s: f64, stalled_s: f64) -> Run {
    let configuration = configuration("bcast 64", &[("btl_openib_eager_limit", eager_limit)], Some("static"));
    Run { configuration, run_s, stalled_s, completeness: 1.0 }
}

/// J9: binary broadcast of 64 processes, 1106.8 us with an eager limit of 12 KB, 1314.9 us with 48 KB: 18.8%.
#[test]
fn a_changed_eager_limit_with_low_stalls_is_no_contention() {
    let before = broadcast("12K", 1106.8, 4.0);
    assert!(near(1314.9 / before.run_s, 1.188));
    assert_eq!(difference(&before, &broadcast("48K", 1314.9, 6.0)), Difference::Configuration);
    assert_eq!(difference(&before, &broadcast("48K", 1314.9, 190.0)), Difference::Contention);
    assert_eq!(difference(&before, &broadcast("12K", 1314.9, 190.0)), Difference::Contention);
    assert_eq!(difference(&before, &broadcast("48K", 1110.0, 4.0)), Difference::None);
}

/// B9: a run is measured by runs of its own routing mode alone.
#[test]
fn a_baseline_is_not_shared_between_routing_modes() {
    let run = |routing: Option<&str>, run_s: f64| Run {
        configuration: configuration("ior", &[("transfer", "4M")], routing),
        run_s,
        stalled_s: 0.0,
        completeness: 1.0,
    };
    let earlier = [run(Some("static"), 100.0), run(Some("adaptive"), 80.0), run(Some("static"), 103.0)];
    let of = |routing| baseline_s(&earlier, &configuration("ior", &[("transfer", "4M")], routing));
    assert_eq!((of(Some("static")), of(Some("adaptive")), of(None)), (Some(100.0), Some(80.0), None));
}
