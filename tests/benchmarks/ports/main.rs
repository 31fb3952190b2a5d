//! A machine of 150,000 Slingshot ports, each measured once a second: rows a second that one core, and two cores, decode and judge.
//!
//! | module | what it holds |
//! |---|---|
//! | `nodes` | rows of `slingshot_metrics`: 37,500 nodes with four interfaces, a row each |
//! | `switches` | HPE's fabric telemetry of as many ports of switches |
//! | `pipeline` | the decoder and the detector, on these lines |
//! | `text` | lines in one buffer |
//!
//! `cargo bench -p benchmarks --bench ports` prints elements (rows, or sensors) a second; real time is 150,000. The catalogue is
//! ours and the two metrics in `metrics/`, so that an interface can have four. Kafka and the database are left out: the
//! results are dropped. A detector runs for [`WARM_UP_S`] before it is measured, since a model that has no
//! baseline yet does less.
#![allow(missing_docs, clippy::unwrap_used, reason = "a measurement may stop at an error")]

mod nodes;
mod pipeline;
mod switches;
mod text;

use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput, measurement::WallTime};
use nodes::{Metrics, Nodes};
use pipeline::Pipeline;
use std::path::Path;
use std::time::{Duration, Instant};
use switches::{Form, Switches};
use text::Lines;

/// Ports of the machine.
const PORTS: usize = 150_000;
/// Ports where it is only tried whether the benchmark works.
const PORTS_TRIED: usize = 256;
/// Seconds of rows before a detector is measured: models have baselines then.
const WARM_UP_S: u64 = 90;

type Group<'c> = BenchmarkGroup<'c, WallTime>;

/// A part of the machine: makes the lines of the next second.
trait Part: Send {
    fn next(&mut self, lines: &mut Lines);
}

/// Ports, as many as the run is meant to have: `cargo test` tries all benchmarks once.
fn ports() -> usize {
    if std::env::args().any(|argument| argument == "--bench") { PORTS } else { PORTS_TRIED }
}

/// Seconds of rows before a measurement. Results of the first rows wait for the next ones.
fn warm_up_s() -> u64 {
    if ports() == PORTS { WARM_UP_S } else { 10 }
}

/// A machine that is measured: its parts, and what judges each.
struct Machine<P> {
    parts: Vec<P>,
    pipelines: Vec<Pipeline>,
    lines: Vec<Lines>,
}

impl<P: Part> Machine<P> {
    /// With models that have baselines.
    fn warm(schema: &'static str, parts: Vec<P>) -> Machine<P> {
        let pipelines = parts.iter().map(|_| Pipeline::new(schema)).collect();
        let mut machine = Machine { lines: vec![Lines::default(); parts.len()], parts, pipelines };
        (0..warm_up_s()).for_each(|_| _ = machine.second());
        machine
    }

    /// How long the next second takes to judge.
    fn second(&mut self) -> Duration {
        self.parts.iter_mut().zip(&mut self.lines).for_each(|(part, lines)| part.next(lines));
        side_by_side(&mut self.pipelines, &self.lines)
    }
}

/// Measures the seconds of `parts`, each on a thread of its own.
fn judged<P: Part>(group: &mut Group<'_>, name: &str, schema: &'static str, parts: impl Fn() -> Vec<P>) {
    let mut machine = None;
    group.bench_function(name, |bencher| {
        let machine = machine.get_or_insert_with(|| Machine::warm(schema, parts()));
        bencher.iter_custom(|count| (0..count).map(|_| machine.second()).sum());
    });
    machine.iter().flat_map(|machine| &machine.pipelines).for_each(Pipeline::check);
}

/// How long the threads take until the last one has judged its lines.
fn side_by_side(pipelines: &mut [Pipeline], lines: &[Lines]) -> Duration {
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let (first, others) = pipelines.split_first_mut().unwrap();
        for (pipeline, lines) in others.iter_mut().zip(&lines[1..]) {
            scope.spawn(move || pipeline.judge(lines));
        }
        first.judge(&lines[0]);
    });
    begin.elapsed()
}

fn decoded<P: Part>(group: &mut Group<'_>, name: &str, schema: &'static str, part: impl Fn() -> P) {
    let mut made = None;
    group.bench_function(name, |bencher| {
        let (pipeline, lines) = made.get_or_insert_with(|| {
            let mut lines = Lines::default();
            part().next(&mut lines);
            (Pipeline::new(schema), lines)
        });
        bencher.iter(|| pipeline.decode(lines));
    });
}

fn group<'c>(criterion: &'c mut Criterion, name: &str) -> Group<'c> {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(ports() as u64)).sample_size(10).sampling_mode(SamplingMode::Flat);
    group
}

fn interfaces(criterion: &mut Criterion) {
    for (metrics, name) in
        [(Metrics::Ours, "interfaces_2_metrics"), (Metrics::WithSite, "interfaces_4_metrics")]
    {
        let mut group = group(criterion, name);
        let of = |share: usize, shares: usize| Nodes::new(metrics, share, ports() / shares);
        decoded(&mut group, "decoded", nodes::SCHEMA, || of(0, 1));
        judged(&mut group, "judged", nodes::SCHEMA, || vec![of(0, 1)]);
        judged(&mut group, "judged_on_two_cores", nodes::SCHEMA, || vec![of(0, 2), of(1, 2)]);
    }
}

fn telemetry(criterion: &mut Criterion) {
    for (form, four, name) in [
        (Form::Csm, false, "telemetry_csm"),
        (Form::Csm, true, "telemetry_csm_4_metrics"),
        (Form::Hpcm, false, "telemetry_hpcm"),
        (Form::Hpcm, true, "telemetry_hpcm_4_metrics"),
    ] {
        let mut group = group(criterion, name);
        let of = |share: usize, shares: usize| Switches::new(form, four, share, ports() / shares);
        decoded(&mut group, "decoded", switches::SCHEMA, || of(0, 1));
        judged(&mut group, "judged", switches::SCHEMA, || vec![of(0, 1)]);
        judged(&mut group, "judged_on_two_cores", switches::SCHEMA, || vec![of(0, 2), of(1, 2)]);
    }
}

fn main() {
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    schemas::metric::catalogue::use_folder(&Path::new(&package).join("ports/metrics")).unwrap();
    let mut criterion = Criterion::default().configure_from_args();
    interfaces(&mut criterion);
    telemetry(&mut criterion);
    criterion.final_summary();
}
