//! DESIGN section 5, rule by rule: rows in, signals out.

use super::stream::{GB, Row, Stream, delayed, same, second, sorted, steady};
use schemas::{DropReason, Job, Metric, Name, ResultBatch, State, Time};

#[test]
fn event_time_is_the_samplers_timestamp() {
    let mut stream = Stream::new();
    let source = stream.writer("nid00001");
    stream.feed(&[(source, 0.002, vec![0]), (source, 1.0035, vec![GB]), (source, 2.001, vec![2 * GB])]);
    let signals = stream.end().signals;
    assert_eq!(signals[0].time, Time(1_000_000_001_003_500));
    assert!((signals[0].value - GB as f64 / 1.0015).abs() < 1.0);
}

#[test]
fn the_order_of_arrival_within_the_lateness_changes_nothing() {
    for seed in 1..=20 {
        let run = |rows: &dyn Fn(&[Row]) -> Vec<Row>| {
            let mut stream = Stream::new();
            let (a, b) = (stream.writer("nid00001"), stream.writer("nid00002"));
            let mut all: Vec<Row> = Vec::new();
            let (mut written_a, mut written_b) = (0, 0);
            for t in 0..200u64 {
                let shared = (80..150).contains(&t);
                all.push((a, t as f64 + 0.002, vec![written_a]));
                all.push((b, t as f64 + 0.003, vec![written_b]));
                written_a += if shared { GB / 2 } else { GB };
                written_b += if shared { GB } else { 0 };
            }
            stream.feed(&rows(&all));
            sorted(stream.end())
        };
        let undisturbed = run(&|rows| rows.to_vec());
        let disturbed = run(&|rows| delayed(rows, 2.5, seed));
        assert_eq!(undisturbed.episodes.len(), 1, "seed {seed}");
        same(&undisturbed, &disturbed);
        assert_eq!(disturbed.drops.total(), 0, "seed {seed}");
    }
}

#[test]
fn a_row_later_than_the_lateness_is_counted_and_dropped() {
    let mut stream = Stream::new();
    let source = stream.writer("nid00001");
    let mut rows = steady(source, 20);
    let late = rows.remove(10);
    rows.insert(14, late);
    stream.feed(&rows);
    let batch = stream.end();
    assert_eq!(batch.drops.get(DropReason::Late), 1);
    assert!(batch.signals.iter().all(|s| (s.value - GB as f64).abs() < 1.0));
}

#[test]
fn a_row_that_waits_and_comes_again_costs_no_tick() {
    let mut stream = Stream::new();
    let writer = stream.writer("nid00001");
    let row = |t: usize| (writer, t as f64, vec![t as u64 * GB]);
    let mut rows: Vec<Row> = (0..20).map(row).collect();
    // Second 10 comes after 11, which comes twice.
    rows.remove(10);
    rows.splice(11..11, [row(11), row(10)]);
    stream.feed(&rows);
    let batch = stream.end();
    assert_eq!(batch.drops.get(DropReason::Duplicate), 1);
    assert_eq!(batch.signals.len(), 19);
}

#[test]
fn the_same_sample_twice_counts_once() {
    let mut stream = Stream::new();
    let source = stream.writer("nid00001");
    let rows: Vec<Row> = steady(source, 30).into_iter().flat_map(|row| [row.clone(), row]).collect();
    stream.feed(&rows);
    let batch = stream.end();
    assert_eq!(batch.drops.get(DropReason::Duplicate), 31);
    assert_eq!(batch.signals.len(), 30);
}

#[test]
fn a_paused_component_stalls_no_other_and_loses_nothing() {
    let mut stream = Stream::new();
    let (a, b) = (stream.writer("nid00001"), stream.writer("nid00002"));
    stream.feed(&steady(a, 60));
    stream.feed(&steady(b, 60));
    let batch = stream.end();
    assert_eq!(batch.drops.total(), 0);
    assert_eq!(batch.signals.len(), 120);
}

#[test]
fn of_redundant_copies_one_is_taken() {
    let mut stream = Stream::new();
    let a =
        stream.source(Metric::from_name("lustre_write_rate").unwrap(), "agg1", "nid00001", &["snx11168"], 0);
    let b =
        stream.source(Metric::from_name("lustre_write_rate").unwrap(), "agg2", "nid00001", &["snx11168"], 0);
    let rows: Vec<Row> = steady(a, 40)
        .into_iter()
        .zip(steady(b, 40))
        .flat_map(|(x, y)| [x, (y.0, y.1 + 0.001, y.2)])
        .collect();
    stream.feed(&rows);
    assert_eq!(stream.end().signals.len(), 40);
}

#[test]
fn a_standby_takes_over_without_a_false_rate_or_lost_second() {
    let mut stream = Stream::new();
    let a =
        stream.source(Metric::from_name("lustre_write_rate").unwrap(), "agg1", "nid00001", &["snx11168"], 0);
    let b =
        stream.source(Metric::from_name("lustre_write_rate").unwrap(), "agg2", "nid00001", &["snx11168"], 0);
    for t in 0..60u64 {
        if t < 30 {
            stream.feed(&[(a, t as f64 + 0.001, vec![t * GB])]);
        }
        // The copy counts from another origin: a difference across the two would be absurd.
        stream.feed(&[(b, t as f64 + 0.002, vec![t * GB + 777 * GB])]);
    }
    let batch = stream.end();
    assert_eq!(batch.signals.len(), 59);
    for signal in &batch.signals {
        assert!((signal.value / GB as f64 - 1.0).abs() < 0.01, "{} at {}", signal.value, second(signal));
        assert_ne!(signal.state, State::Unknown);
    }
}

#[test]
fn a_gap_up_to_five_seconds_gives_one_reading_over_the_longer_span() {
    let mut stream = Stream::new();
    let source = stream.writer("nid00001");
    let rows: Vec<Row> = steady(source, 40).into_iter().filter(|r| !(20.5..24.5).contains(&r.1)).collect();
    stream.feed(&rows);
    let batch = stream.end();
    assert_eq!(batch.signals.len(), 36);
    assert!(batch.signals.iter().all(|s| (s.value - GB as f64).abs() < 1.0 && s.state != State::Unknown));
}

#[test]
fn a_longer_gap_makes_the_series_unknown_and_restarts_it() {
    let mut stream = Stream::new();
    let source = stream.writer("nid00001");
    let rows: Vec<Row> = steady(source, 80).into_iter().filter(|r| !(39.5..49.5).contains(&r.1)).collect();
    stream.feed(&rows);
    let signals = stream.end().signals;
    let state_at = |t: f64| signals.iter().find(|s| (second(s) - t).abs() < 0.1).map(|s| s.state);
    assert_eq!(state_at(39.0), Some(State::Clear));
    assert!((40..50).all(|t| state_at(f64::from(t)) == Some(State::Unknown)));
    assert_eq!(state_at(51.0), Some(State::Warmup));
    assert_eq!(state_at(75.0), Some(State::Clear));
}

#[test]
fn nothing_accumulates_over_unknown() {
    let mut stream = Stream::new();
    let source = stream.writer("nid00001");
    let mut rows: Vec<Row> = Vec::new();
    let mut written = 0;
    for t in 0..160u64 {
        if !(100..140).contains(&t) {
            rows.push((source, t as f64, vec![written]));
        }
        written += if t >= 60 { GB / 2 } else { GB };
    }
    stream.feed(&rows);
    let batch = stream.end();
    // Half the rate from 60 s on; nothing seen from 99 to 140 s; on to 159 s.
    let [before, after] = &batch.episodes[..] else { panic!("{:?}", batch.episodes) };
    assert!((before.duration_s() - 39.0).abs() < 1.5, "{}", before.duration_s());
    assert!((before.slowdown_s - 19.5).abs() < 1.0, "{}", before.slowdown_s);
    assert!((after.slowdown_s - 9.5).abs() < 1.0, "{}", after.slowdown_s);
    let last = batch.signals.last().unwrap();
    assert!((last.slowdown_s - before.slowdown_s - after.slowdown_s).abs() < 1e-6);
}

#[test]
fn a_counter_reset_drops_its_interval_and_is_counted() {
    let mut stream = Stream::new();
    let source = stream.writer("nid00001");
    let rows: Vec<Row> = (0..40u64)
        .map(|t| (source, t as f64, vec![if t < 20 { t * GB + 55 * GB } else { (t - 20) * GB }]))
        .collect();
    stream.feed(&rows);
    let batch = stream.end();
    assert_eq!(batch.drops.get(DropReason::CounterReset), 1);
    assert_eq!(batch.signals.len(), 38);
    assert!(batch.signals.iter().all(|s| (s.value - GB as f64).abs() < 1.0));
}

#[test]
fn a_wrap_of_a_known_width_is_no_reset() {
    let mut stream = Stream::new();
    let source = stream.writer("nid00001");
    let start = u64::MAX - 10 * GB;
    let rows: Vec<Row> = (0..40u64).map(|t| (source, t as f64, vec![start.wrapping_add(t * GB)])).collect();
    stream.feed(&rows);
    let batch = stream.end();
    assert_eq!(batch.drops.total(), 0);
    assert!(batch.signals.iter().all(|s| (s.value - GB as f64).abs() < 1.0));
}

#[test]
fn zero_flits_are_idle_and_never_nan() {
    let mut stream = Stream::new();
    let source =
        stream.source(Metric::from_name("aries_stall_ratio").unwrap(), "nid00001", "c0-0c0s0", &["r0c0"], 0);
    let rows: Vec<Row> = (0..20u64).map(|t| (source, t as f64, vec![7; 9])).collect();
    stream.feed(&rows);
    let batch = stream.end();
    assert!(!batch.signals.is_empty());
    assert!(batch.signals.iter().all(|s| s.value == 0.0 && s.state == State::Idle));
}

#[test]
fn a_phase_without_writes_is_idle_and_not_contention() {
    let mut stream = Stream::new();
    let source = stream.writer("nid00001");
    let mut written = 0;
    let mut rows: Vec<Row> = Vec::new();
    for t in 0..600u64 {
        rows.push((source, t as f64, vec![written]));
        written += if t % 100 < 40 { GB } else { 0 };
    }
    stream.feed(&rows);
    let batch = stream.end();
    assert!(batch.episodes.is_empty());
    assert!(batch.signals.iter().filter(|s| s.value == 0.0).all(|s| s.state == State::Idle));
}

#[test]
fn a_job_that_starts_on_a_node_restarts_its_baseline() {
    let mut stream = Stream::new();
    let source = stream.writer("nid00001");
    stream.detector.job(Job {
        job_id: Name::parse("7").unwrap(),
        user: "bob".into(),
        name: "slow writer".into(),
        nodes: vec![Name::parse("nid00001").unwrap()],
        start: Time::from_seconds(1_000_000_060.0),
        end: None,
        end_presumed: false,
        label: String::new(),
        app: None,
    });
    let mut written = 0;
    let mut rows: Vec<Row> = Vec::new();
    for t in 0..150u64 {
        rows.push((source, t as f64 + 0.002, vec![written]));
        written += if t < 60 { GB } else { GB / 3 };
    }
    stream.feed(&rows);
    let batch = stream.end();
    assert!(batch.episodes.is_empty(), "{:?}", batch.episodes);
    assert_eq!(batch.job_results.len(), 1);
}

#[test]
fn a_saturated_counter_yields_to_a_source_of_full_width() {
    let mut stream = Stream::new();
    let narrow =
        stream.source(Metric::from_name("ib_wait_ratio").unwrap(), "nid00001", "nid00001", &["mlx5_0.1"], 0);
    let wide =
        stream.source(Metric::from_name("ib_wait_ratio").unwrap(), "nid00001", "nid00001", &["mlx5_0.1"], 1);
    let mut rows: Vec<Row> = Vec::new();
    for t in 0..60u64 {
        let wait = 4_294_000_000 + t * 100_000;
        rows.push((narrow, t as f64 + 0.001, vec![wait.min(u64::from(u32::MAX)), t * 100_000_000]));
        rows.push((wide, t as f64 + 0.002, vec![wait, t * 100_000_000]));
    }
    stream.feed(&rows);
    let batch = stream.end();
    assert!(batch.drops.get(DropReason::CounterSaturated) > 0);
    assert_eq!(batch.signals.len(), 59);
    assert!(batch.signals.iter().all(|s| (s.value - 0.001).abs() < 1e-6));
}

#[test]
fn a_source_slower_than_the_tick_uses_its_own_interval() {
    let mut stream = Stream::new();
    let source = stream.writer("nid00001");
    let rows: Vec<Row> = steady(source, 100).into_iter().step_by(2).collect();
    stream.feed(&rows);
    let batch = stream.end();
    assert_eq!(batch.signals.len(), 50);
    assert!(batch.signals.iter().all(|s| (s.value - GB as f64).abs() < 1.0 && s.state != State::Unknown));
}

#[test]
fn the_state_can_be_written_and_read_back_at_any_row() {
    let mut stream = Stream::new();
    let (a, b) = (stream.writer("nid00001"), stream.writer("nid00002"));
    let mut rows: Vec<Row> = Vec::new();
    let (mut written_a, mut written_b) = (0, 0);
    for t in 0..200u64 {
        let shared = (80..150).contains(&t);
        rows.push((a, t as f64 + 0.002, vec![written_a]));
        rows.push((b, t as f64 + 0.003, vec![written_b]));
        written_a += if shared { GB / 2 } else { GB };
        written_b += if shared { GB } else { 0 };
    }
    let mut other = Stream::new();
    other.sources = stream.sources.clone();
    let mut collected = ResultBatch::default();
    for chunk in rows.chunks(37) {
        other.feed(chunk);
        let batch = other.detector.take();
        collected.signals.extend(batch.signals);
        let state = postcard::to_allocvec(&other.detector).unwrap();
        other.detector = postcard::from_bytes(&state).unwrap();
    }
    let rest = other.end();
    collected.signals.extend(rest.signals);
    collected.episodes = rest.episodes;
    stream.feed(&rows);
    let whole = sorted(stream.end());
    assert_eq!(format!("{:?}", sorted(collected).signals), format!("{:?}", whole.signals));
}
