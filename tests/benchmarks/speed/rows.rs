//! Rows a second on one core: decoding Aries rows, and the whole way from a row's bytes to its signals.
//!
//! `cargo bench -p benchmarks --bench speed -- aries` prints bytes and rows per second; the rows are those of the simulated cluster,
//! half a router (20 tiles, 180 counters) each.

use aggregator::{Decoded, Decoder};
use criterion::{Criterion, Throughput, criterion_group};
use detector::detector::Detector;
use detector::model::ModelKind;
use detector::settings::Settings;
use samplers::{Cluster, Rows, Schema, scenario};
use schemas::Time;
use std::hint::black_box;

/// The lines of one second.
type Lines = Vec<Vec<u8>>;

/// The Aries rows of each second of a cluster where two jobs share routers.
fn seconds(count: usize) -> Vec<Lines> {
    let mut cluster = Cluster::new(scenario::cth_against_imb(), Time(1_700_000_000_000_000), 1)
        .unwrap_or_else(|error| unreachable!("{error}"));
    let mut rows = Rows::default();
    (0..count)
        .map(|_| {
            cluster.tick(&mut rows);
            let aries = rows.lines().filter(|(schema, _)| *schema == Schema::AriesRtr);
            aries.map(|(_, line)| line.to_vec()).collect()
        })
        .collect()
}

fn decode(decoder: &mut Decoder, lines: &Lines, out: &mut Decoded) {
    out.clear();
    for line in lines {
        decoder.json_line(Some("aries_rtr"), line, out);
    }
}

fn decoding(criterion: &mut Criterion) {
    let lines = seconds(4).concat();
    let (rows, bytes) = (lines.len(), lines.iter().map(Vec::len).sum::<usize>());
    let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
    for (name, throughput) in
        [("bytes", Throughput::Bytes(bytes as u64)), ("rows", Throughput::Elements(rows as u64))]
    {
        let mut group = criterion.benchmark_group("decode_aries_json");
        group.throughput(throughput).sample_size(20);
        group.bench_function(name, |bencher| {
            bencher.iter(|| decode(&mut decoder, black_box(&lines), &mut out))
        });
    }
}

/// Decoding, order, rates, model and signals of 300 s; a new detector each time, since its clock cannot go back.
fn rows_to_signals(criterion: &mut Criterion) {
    let seconds = seconds(300);
    let rows: usize = seconds.iter().map(Vec::len).sum();
    let mut group = criterion.benchmark_group("aries_rows_to_signals");
    group.throughput(Throughput::Elements(rows as u64)).sample_size(10);
    group.bench_function("robust", |bencher| {
        bencher.iter(|| {
            let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
            let mut detector = Detector::new(Settings::of(ModelKind::Robust));
            for second in &seconds {
                decode(&mut decoder, second, &mut out);
                detector.rows(decoder.sources(), &out.counters);
                black_box(detector.take());
            }
        });
    });
}

criterion_group!(benchmarks, decoding, rows_to_signals);
