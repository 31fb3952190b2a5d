//! A row of half an Aries router as a message of `tailback.counters`: written, and read back.

use criterion::{Criterion, Throughput, criterion_group};
use schemas::wire::{self, Message, Origin};
use schemas::{Metric, Name, Source, Time};
use std::collections::VecDeque;
use std::hint::black_box;

/// Counters of 20 tiles and four links' sums; they rise from nothing to what a month of traffic leaves.
const COUNTERS: u64 = 84;

fn source() -> Vec<u8> {
    let name = |text: &str| Name::parse(text).unwrap_or_else(|_| unreachable!());
    let source = Source {
        schema: name("aries_rtr"),
        producer: name("nid00012"),
        metrics: vec![Metric::from_name("aries_stall_ratio").unwrap()],
        component: name("c0-0c0s3"),
        set: None,
        parts: (0..20).map(|tile| name(&format!("r{}c{}", tile / 8, tile % 8))).collect(),
        rank: 0,
        by_job: false,
    };
    let mut described = Vec::new();
    wire::write_source(&mut described, &source);
    described
}

fn messages(criterion: &mut Criterion) {
    let (described, mut message) = (source(), Vec::new());
    let counters: Vec<u64> = (0..COUNTERS).map(|at| 1 << (10 + at % 40)).collect();
    let origin =
        Origin { topic: "ldms.aries_rtr", partition: 3, offset: 4_711, arrived: Time(1_790_000_000_000_000) };
    let time = Time(1_790_000_000_000_000);
    let mut group = criterion.benchmark_group("wire");
    group.throughput(Throughput::Elements(1));
    group.bench_function("written", |bench| {
        bench.iter(|| wire::write_counters(&mut message, &origin, time, &described, black_box(&counters)));
    });
    let mut read: VecDeque<u64> = VecDeque::new();
    group.bench_function("read", |bench| {
        bench.iter(|| {
            read.clear();
            match wire::read(black_box(&message)) {
                Ok(Message::Counters(row)) => row.counters(&mut read).is_ok(),
                _ => false,
            }
        });
    });
    group.finish();
}

criterion_group!(benchmarks, messages);
