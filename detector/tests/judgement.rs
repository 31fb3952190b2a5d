//! What happens between series: falls that others explain, routers of which a part is silent, clocks that
//! are wrong, nodes that die.

use super::machine::{GB, Machine, at, of};
use schemas::{Cause, DropReason, Metric, ResultBatch, SourceIndex, State, Time};

#[test]
fn an_aggressor_some_seconds_before_the_fall_explains_it() {
    for lead in [0, 2, 5, 10, 14] {
        let mut machine = Machine::new();
        let victim = |s: u32| if (120..220).contains(&s) { 0.6 } else { 1.0 };
        let aggressor = move |s: u32| if (120 - lead..220).contains(&s) { 1.2 } else { 0.0 };
        machine.write(340, &[&victim, &aggressor]);
        let batch = machine.end();
        let episodes = of(&batch, "nid0");
        assert_eq!(episodes.len(), 1, "lead {lead}");
        assert!((episodes[0].slowdown_s - 40.0).abs() < 1.0, "lead {lead}: {}", episodes[0].slowdown_s);
    }
}

#[test]
fn clients_that_stop_together_end_a_phase() {
    let mut machine = Machine::new();
    let both = |s: u32| if s < 100 { 1.0 } else { 0.02 };
    machine.write(240, &[&both, &both]);
    assert!(machine.end().episodes.is_empty());
}

#[test]
fn clients_that_hand_over_to_each_other_do_not_contend() {
    let mut machine = Machine::new();
    let first = |s: u32| if s % 120 < 60 { 1.0 } else { 0.02 };
    let second = |s: u32| if s % 120 >= 60 { 1.0 } else { 0.02 };
    machine.write(600, &[&first, &second]);
    assert!(machine.end().episodes.is_empty());
}

#[test]
fn a_server_that_serves_everybody_worse_is_contended() {
    let mut machine = Machine::new();
    let slow = |s: u32| if (100..200).contains(&s) { 0.4 } else { 1.0 };
    machine.write(300, &[&slow, &slow, &slow]);
    let batch = machine.end();
    assert_eq!(batch.episodes.len(), 3);
    for episode in &batch.episodes {
        let causes: Vec<_> = episode.causes.iter().map(|c| (c.cause, c.share)).collect();
        assert_eq!(causes, [(Cause::Server, 1.0)], "no client gained, so none is blamed");
    }
}

#[test]
fn contention_through_a_gap_is_measured_on_both_sides() {
    let mut machine = Machine::new();
    let source = machine.source(Metric::from_name("lustre_write_rate").unwrap(), "nid0", "nid0", &["snx"]);
    let mut written = 0.0;
    for second in 0..340u32 {
        if !(150..165).contains(&second) {
            machine.row(source, at(f64::from(second)), &[written as u64]);
        }
        written += if (120..216).contains(&second) { 0.67 * GB } else { GB };
    }
    let batch = machine.end();
    let lost_s: f64 = batch.episodes.iter().map(|e| e.slowdown_s).sum();
    assert_eq!(batch.episodes.len(), 2);
    // 96 s but for the gap of 16 s, a third lost.
    assert!((lost_s - 0.33 * 80.0).abs() < 1.5, "{lost_s}");
}

#[test]
fn one_row_with_a_clock_years_ahead_is_counted_and_harmless() {
    let mut machine = Machine::new();
    let source = machine.source(Metric::from_name("lustre_write_rate").unwrap(), "nid0", "nid0", &["snx"]);
    for second in 0..60u32 {
        machine.row(source, at(f64::from(second)), &[u64::from(second) * 1_000_000_000]);
        if second == 30 {
            machine.row(source, at(6e8), &[0]);
        }
    }
    let batch = machine.end();
    assert_eq!(batch.drops.get(DropReason::ClockJump), 1);
    assert_eq!(batch.drops.total(), 1);
    assert_eq!(batch.signals.len(), 59);
}

#[test]
fn a_clock_that_really_moved_on_is_believed_at_its_second_row() {
    let mut machine = Machine::new();
    let source = machine.source(Metric::from_name("lustre_write_rate").unwrap(), "nid0", "nid0", &["snx"]);
    for second in (0..60u32).chain(50_000..50_060) {
        machine.row(source, at(f64::from(second)), &[u64::from(second) * 1_000_000_000]);
    }
    let batch = machine.end();
    assert_eq!(batch.drops.total(), 0);
    let last = batch.signals.iter().map(|s| s.time).max().unwrap();
    assert_eq!(last, at(50_059.0));
}

#[test]
fn a_node_that_dies_in_contention_does_not_stay_contended() {
    let mut machine = Machine::new();
    let victim = machine.source(Metric::from_name("lustre_write_rate").unwrap(), "nid0", "nid0", &["snx"]);
    let other = machine.source(Metric::from_name("lustre_write_rate").unwrap(), "nid1", "nid1", &["other"]);
    let mut written = 0.0;
    for second in 0..400u32 {
        if second < 130 {
            machine.row(victim, at(f64::from(second)), &[written as u64]);
        }
        machine.row(other, at(f64::from(second)), &[u64::from(second)]);
        written += if second >= 100 { 0.5 * GB } else { GB };
    }
    let batch = machine.detector.take();
    let last = batch.episodes.iter().rfind(|_| true).unwrap();
    assert!(!last.open);
    assert!(last.end <= at(130.0));
}

/// Both halves of a router, a tile each, from two nodes; the second with another level and a skewed clock.
fn halves(machine: &mut Machine, seconds: u32, silent_from: u32, delayed: bool) {
    let router = "c0-0c0s0";
    let left = machine.source(Metric::from_name("aries_stall_ratio").unwrap(), "nid0", router, &["r0c0"]);
    let right = machine.source(Metric::from_name("aries_stall_ratio").unwrap(), "nid1", router, &["r0c7"]);
    let counters = |second: u32, stalls: u64| {
        let mut row = [u64::from(second) * 10_000_000; 9];
        row[0] = u64::from(second) * stalls;
        row
    };
    let mut waiting: Vec<(SourceIndex, Time, [u64; 9])> = Vec::new();
    for second in 0..seconds {
        machine.row(left, at(f64::from(second)), &counters(second, 80_000_000));
        if second < silent_from {
            waiting.push((right, at(f64::from(second) + 0.3), counters(second, 8_000_000)));
        }
        if !delayed || waiting.len() == 3 {
            for (source, time, row) in waiting.drain(..) {
                machine.row(source, time, &row);
            }
        }
    }
}

fn whole_signals(batch: &ResultBatch) -> Vec<String> {
    let whole = batch.series.iter().find(|(_, info)| info.part.is_none()).unwrap().0;
    batch.signals.iter().filter(|s| s.series == whole).map(|s| format!("{:?} {}", s.time, s.value)).collect()
}

#[test]
fn the_mean_of_a_router_does_not_depend_on_the_order_of_arrival() {
    let run = |delayed| {
        let mut machine = Machine::new();
        halves(&mut machine, 99, u32::MAX, delayed);
        whole_signals(&machine.end())
    };
    let (straight, delayed) = (run(false), run(true));
    assert!(straight.len() >= 95, "{}", straight.len());
    assert_eq!(straight, delayed);
}

#[test]
fn a_half_silent_router_is_not_contended() {
    let mut machine = Machine::new();
    halves(&mut machine, 200, 100, false);
    assert!(machine.end().episodes.is_empty());
}

#[test]
fn redundant_copies_give_the_same_signals_in_any_order() {
    let run = |delay: usize| {
        let mut machine = Machine::new();
        let a = machine.source(Metric::from_name("lustre_write_rate").unwrap(), "agg1", "nid0", &["snx"]);
        let b = machine.source(Metric::from_name("lustre_write_rate").unwrap(), "agg2", "nid0", &["snx"]);
        let mut waiting = std::collections::VecDeque::new();
        for second in 0..99u32 {
            waiting.push_back(second);
            machine.row(b, at(f64::from(second) + 0.7), &[u64::from(second) * 1_000_000_100]);
            while waiting.len() > delay {
                let second = waiting.pop_front().unwrap();
                machine.row(a, at(f64::from(second)), &[u64::from(second) * 1_000_000_000]);
            }
        }
        for second in waiting {
            machine.row(a, at(f64::from(second)), &[u64::from(second) * 1_000_000_000]);
        }
        let batch = machine.end();
        batch.signals.iter().map(|s| format!("{:?} {}", s.time, s.value)).collect::<Vec<_>>()
    };
    let straight = run(0);
    assert_eq!(straight, run(1));
    assert_eq!(straight, run(2));
}

#[test]
fn a_thousand_falls_in_one_tick_are_judged_together() {
    let mut machine = Machine::new();
    let slow = |s: u32| if s >= 60 { 0.5 } else { 1.0 };
    let rates: Vec<&dyn Fn(u32) -> f64> = (0..1_000).map(|_| &slow as &dyn Fn(u32) -> f64).collect();
    machine.write(90, &rates);
    assert_eq!(machine.end().episodes.len(), 1_000);
}

#[test]
fn a_client_started_in_contention_warms_up_until_quiet() {
    let mut machine = Machine::new();
    let victim = |s: u32| if (100..300).contains(&s) { 0.5 } else { 1.0 };
    let newcomer = |s: u32| match s {
        0..100 => 0.0,
        100..300 => 0.5,
        _ => 1.0,
    };
    let third = |s: u32| if (100..300).contains(&s) { 0.6 } else { 0.0 };
    machine.write(400, &[&victim, &newcomer, &third]);
    let batch = machine.end();
    let series = batch.series.iter().find(|(_, info)| info.component.as_str() == "nid1").unwrap().0;
    let state_at = |second: f64| {
        let signal =
            batch.signals.iter().find(|s| s.series == series && (s.time - at(second)).abs() < 100_000);
        signal.unwrap().state
    };
    assert_eq!(state_at(150.0), State::Warmup);
    assert_eq!(state_at(290.0), State::Warmup);
    assert_eq!(state_at(350.0), State::Clear);
    assert!(of(&batch, "nid1").is_empty());
    assert_eq!(of(&batch, "nid0").len(), 1);
}

#[test]
fn a_fall_beside_unchanged_neighbours_is_a_phase() {
    let mut machine = Machine::new();
    let falls = |s: u32| if s < 20 { 1.0 } else { 0.6 };
    let constant = |_: u32| 0.5;
    machine.write(120, &[&falls, &constant]);
    assert!(machine.end().episodes.is_empty());
}

#[test]
fn a_client_is_no_witness_of_its_own_fall() {
    let mut machine = Machine::new();
    let falls = |s: u32| match s {
        0..100 => 0.0,
        100..118 => 1.0,
        _ => 0.6,
    };
    let idle = |_: u32| 0.0;
    machine.write(240, &[&falls, &idle]);
    assert!(machine.end().episodes.is_empty());
}

#[test]
fn a_fall_that_takes_some_seconds_is_judged_by_what_came_of_it() {
    for ramp in [4, 8, 12, 16, 24] {
        let mut machine = Machine::new();
        let share = move |s: u32| (f64::from(s.saturating_sub(120)) / f64::from(ramp)).min(1.0);
        let victim = move |s: u32| if s < 260 { 1.0 - 0.4 * share(s) } else { 1.0 };
        let aggressor = move |s: u32| if s < 260 { 1.2 * share(s) } else { 0.0 };
        machine.write(400, &[&victim, &aggressor]);
        assert_eq!(of(&machine.end(), "nid0").len(), 1, "ramp {ramp} s");
    }
}

#[test]
fn a_clock_that_steps_back_gives_no_false_rate() {
    for step_s in [2, 10, 30, 50] {
        let mut machine = Machine::new();
        let source =
            machine.source(Metric::from_name("lustre_write_rate").unwrap(), "nid0", "nid0", &["snx"]);
        for second in 0..300u32 {
            let clock = if second < 150 { second } else { second - step_s };
            machine.row(source, at(f64::from(clock)), &[u64::from(second) * 1_000_000_000]);
        }
        let batch = machine.end();
        let late = batch.drops.get(DropReason::Late) + batch.drops.get(DropReason::Duplicate);
        // A longer step is seen by the counters, which continue: no row is lost.
        assert_eq!(late > 0, step_s <= 10, "step {step_s} s: {late} rows late");
        let false_rate = batch.signals.iter().find(|s| s.value > 1.1e9);
        assert!(false_rate.is_none(), "step {step_s} s: {false_rate:?}");
    }
}

#[test]
fn a_component_that_is_far_behind_the_others_loses_nothing() {
    let mut machine = Machine::new();
    let victim = |s: u32| if (120..216).contains(&s) { 0.67 } else { 1.0 };
    let first = machine.source(Metric::from_name("lustre_write_rate").unwrap(), "nid0", "nid0", &["one"]);
    let second = machine.source(Metric::from_name("lustre_write_rate").unwrap(), "nid1", "nid1", &["two"]);
    for source in [first, second] {
        let mut written = 0.0;
        for s in 0..340u32 {
            machine.row(source, at(f64::from(s)), &[written as u64]);
            written += victim(s) * GB;
            if s % 10 == 0 {
                machine.detector.take();
            }
        }
    }
    machine.detector.finish();
    let results = machine.detector.take();
    assert_eq!(results.drops.total(), 0);
}

#[test]
fn a_take_over_does_not_depend_on_when_the_silence_is_noticed() {
    let run = |late: bool| {
        let mut machine = Machine::new();
        let owner = machine.source(Metric::from_name("lustre_write_rate").unwrap(), "agg1", "nid0", &["snx"]);
        let standby =
            machine.source(Metric::from_name("lustre_write_rate").unwrap(), "agg2", "nid0", &["snx"]);
        let mut waiting = Vec::new();
        for s in 0..80u32 {
            if !(40..43).contains(&s) {
                machine.row(owner, at(f64::from(s)), &[u64::from(s) * 1_000_000_000]);
            }
            waiting.push((at(f64::from(s) + 0.3), [u64::from(s) * 1_000_000_100]));
            if !late || waiting.len() == 3 {
                for (time, row) in waiting.drain(..) {
                    machine.row(standby, time, &row);
                }
            }
        }
        for (time, row) in waiting {
            machine.row(standby, time, &row);
        }
        let batch = machine.end();
        batch.signals.iter().map(|s| format!("{:?} {}", s.time, s.value)).collect::<Vec<_>>()
    };
    let (straight, late) = (run(false), run(true));
    let differs = straight.iter().zip(&late).find(|(a, b)| a != b);
    assert!(differs.is_none(), "{differs:?}");
    assert_eq!(straight.len(), late.len());
}
