//! Model updates a second on one core, for the series of one Trinity.
//!
//! `cargo bench -p benchmarks --bench speed -- model_updates` prints elements (updates) per second for both models.

use criterion::{Criterion, Throughput, criterion_group};
use detector::model::{Bank, ModelKind, Params, Reading};
use schemas::{Metric, Time};
use std::hint::black_box;

/// 5,000 routers of 40 tiles and 20,000 clients.
const SERIES: usize = 220_000;
/// Ticks of readings that are played in a circle.
const TICKS: usize = 16;

/// Readings with 5% noise about 0.2 stalls per flit, one column per tick.
fn columns() -> Vec<Vec<f64>> {
    let mut state = 7u64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..TICKS).map(|_| (0..SERIES).map(|_| 0.2 * (1.0 + 0.1 * (uniform() - 0.5))).collect()).collect()
}

fn updates(criterion: &mut Criterion) {
    let columns = columns();
    let mut group = criterion.benchmark_group("model_updates_220k_series");
    group.throughput(Throughput::Elements(SERIES as u64)).sample_size(20);
    for model in [ModelKind::Published, ModelKind::Robust] {
        let mut bank = Bank::new(model, Params::of(Metric::from_name("aries_stall_ratio").unwrap(), model));
        (0..SERIES).for_each(|_| bank.add());
        let mut tick = 0;
        let columns = &columns;
        let mut one_tick = move || {
            tick += 1;
            let time = Time::from_seconds(1e9 + tick as f64);
            for (series, value) in columns[tick % TICKS].iter().enumerate() {
                let reading = Reading { time, value: *value, span_ticks: 1, active: true };
                black_box(bank.update(series, &reading));
            }
        };
        (0..200).for_each(|_| one_tick());
        group.bench_function(format!("{model:?}"), |bencher| bencher.iter(&mut one_tick));
    }
    group.finish();
}

criterion_group!(benchmarks, updates);
