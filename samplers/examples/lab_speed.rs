//! How many seconds a second the lab plays: `cargo run --release -p samplers --example lab_speed`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints its figures, and fails where a machine fails"
)]

use samplers::lab::{Lab, LabIo, LabJob, Noise, Pattern, Phases, Routing, Setup, machines};
use schemas::topology::VertexKind;
use schemas::{Topology, VertexIndex};
use std::sync::Arc;
use std::time::Instant;

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
        let io =
            LabIo { bytes_per_s: 0.1 * capacity, writers: 8, targets, from_s: 0, every_s: 60, for_s: 20 };
        job.io = number.is_multiple_of(4).then_some(io);
        job
    };
    (0..10).map(job).collect()
}

fn play(name: &str, topology: Arc<Topology>, pattern: Pattern, seconds: u32) {
    let jobs = jobs(&topology, pattern);
    let (hosts, links) = (topology.vertices_of(VertexKind::Host).count(), topology.link_count());
    let setup = Setup {
        topology,
        routing: Routing::Tables,
        jobs,
        events: Vec::new(),
        noise: Noise::default(),
        seed: 1,
    };
    let begin = Instant::now();
    let mut lab = Lab::new(setup).unwrap();
    let built = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let rows: usize = (0..seconds).map(|_| lab.step().counters.len()).sum();
    let per_s = f64::from(seconds) / begin.elapsed().as_secs_f64();
    println!(
        "{name}: {hosts} hosts, {links} links, {rows} rows; set up {built:.2} s, {per_s:.0} seconds a second"
    );
}

fn main() {
    play("two levels", machines::two_level(12, 12, 24).unwrap(), Pattern::AllToAll, 2000);
    play("Aries group", machines::aries(1).unwrap(), Pattern::AllToAll, 300);
    play("fat tree", machines::brown().unwrap(), Pattern::AllToAll, 200);
    play("Dragonfly+", machines::kang().unwrap(), Pattern::Uniform, 100);
}
