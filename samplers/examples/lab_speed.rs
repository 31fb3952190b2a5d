//! How many seconds a second the lab plays: `cargo run --release -p samplers --example lab_speed`.
//!
//! With `TAILBACK_TRIED=1` in the environment it is tried whether all of it works, for a fiftieth of the time.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints its measurements, and fails where a machine fails"
)]

use samplers::lab::{Lab, LabIo, LabJob, Noise, Pattern, Phases, Routing, Setup};
use std::sync::Arc;
use std::time::Instant;
use topology::{Topology, VertexIndex, VertexKind, machines};

/// Ten jobs side by side; every third one computes in between, every fourth one writes checkpoints.
fn jobs(topology: &Topology, pattern: Pattern) -> Vec<LabJob> {
    let hosts: Vec<VertexIndex> = topology.vertices_of(VertexKind::Host).collect();
    let of = |number: usize| -> Vec<VertexIndex> { hosts.iter().skip(number).step_by(10).copied().collect() };
    let capacity = topology.links_from(hosts[0]).map(|link| topology.bytes_per_s(link)).fold(0.0, f64::max);
    let job = |number: usize| {
        let mut job = LabJob::new(number as u64 + 1, of(number), pattern, 0.4 * capacity);
        (job.start_s, job.work_s) = (20 * number as u32, 1e9);
        job.phases = number.is_multiple_of(3).then_some(Phases { on_s: 40.0, off_s: 20 });
        let targets = hosts[..4].to_vec();
        let io = LabIo {
            bytes_per_s: 0.1 * capacity,
            writers: 8,
            targets,
            from_s: 0,
            every_s: 60,
            for_s: 20,
            on_osts: false,
        };
        job.io = number.is_multiple_of(4).then_some(io);
        job
    };
    (0..10).map(job).collect()
}

/// Ten jobs of 2,112 hosts that run all the time, of five patterns. With `pauses`, one computes for a minute after each
/// minute of communication, so that something changes about every 60 seconds, else nothing does.
fn large_mix(topology: &Topology, pauses: bool) -> Vec<LabJob> {
    let mut jobs = jobs(topology, Pattern::Uniform);
    let patterns =
        [Pattern::Uniform, Pattern::Stencil3d, Pattern::Tornado, Pattern::Ring { step: 1 }, Pattern::Incast];
    for (number, job) in jobs.iter_mut().enumerate() {
        (job.start_s, job.pattern, job.io) = (0, patterns[number % 5], None);
        // An incast needs no more than one sender can send, or it is all that any flow sees.
        job.bytes_per_s = if job.pattern == Pattern::Incast { 1e7 } else { 2e9 };
        job.coupling = 0.0;
        job.phases = None;
    }
    if pauses {
        jobs[3].phases = Some(Phases { on_s: 60.0, off_s: 60 });
    }
    jobs
}

fn play(name: &str, topology: Arc<Topology>, pattern: Pattern, seconds: u32) {
    let jobs = jobs(&topology, pattern);
    play_jobs(name, topology, Routing::Tables, jobs, seconds);
}

fn play_jobs(name: &str, topology: Arc<Topology>, routing: Routing, jobs: Vec<LabJob>, seconds: u32) {
    let (hosts, links) = (topology.vertices_of(VertexKind::Host).count(), topology.link_count());
    let setup = Setup { topology, routing, jobs, events: Vec::new(), noise: Noise::default(), seed: 1 };
    let begin = Instant::now();
    let mut lab = Lab::new(setup).unwrap();
    let built = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    lab.step();
    let first = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let seconds = if is_tried() { seconds.div_ceil(50) } else { seconds };
    let mut rows = 0;
    let mut slowest = 0.0_f64;
    for _ in 0..seconds {
        let begin = Instant::now();
        rows += lab.step().counters.len();
        slowest = slowest.max(begin.elapsed().as_secs_f64());
    }
    let per_s = f64::from(seconds) / begin.elapsed().as_secs_f64();
    println!(
        "{name}: {hosts} hosts, {links} links, {rows} rows; set up {built:.2} s, first second {first:.2} s, \
         then {per_s:.0} seconds a second, the slowest {slowest:.3} s"
    );
}

fn is_tried() -> bool {
    std::env::var_os("TAILBACK_TRIED").is_some()
}

fn main() {
    play("12 x 12 switch", machines::vishnu().unwrap(), Pattern::AllToAll, 5000);
    play("two levels", machines::two_level(12, 12, 24).unwrap(), Pattern::AllToAll, 2000);
    play("Aries group", machines::aries(1).unwrap(), Pattern::AllToAll, 300);
    play("fat tree", machines::brown().unwrap(), Pattern::AllToAll, 200);
    play("Dragonfly+", machines::kang().unwrap(), Pattern::Uniform, 100);
    let trinity = machines::trinity().unwrap();
    let adaptive = Routing::Adaptive { threshold_percent: 50 };
    let plays = [
        ("Trinity, a change a minute, adaptive routing", adaptive, true),
        ("Trinity, a change a minute", Routing::Minimal, true),
        ("Trinity, no change", Routing::Minimal, false),
    ];
    // One of them shows that the machine can be played; to set it up takes most of the time.
    let count = if is_tried() { 1 } else { plays.len() };
    for (name, routing, pauses) in plays.into_iter().take(count) {
        play_jobs(name, Arc::clone(&trinity), routing, large_mix(&trinity, pauses), 240);
    }
}
