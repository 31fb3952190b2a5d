//! Ordinary traffic that comes and goes, and contends nowhere: no region may be reported.
//!
//! The effect of noise alone on links with steady traffic is counted in `../quiet.rs`.

use crate::integration::fabric::play::play_for;
use samplers::lab::{LabIo, LabJob, Noise, Pattern, Phases, Routing, Setup, asked};
use samplers::parallel::at_once;
use schemas::CounterBatch;
use topology::machines::two_level;
use topology::{VertexIndex, VertexKind};

const SECONDS: u32 = 1_800;
/// Jobs that run at the same time, and the utilisation of the most used link when all of them send and write at once.
const JOBS: usize = 8;
const PEAK: f64 = 0.42;

/// Jobs all over a tree that begin one after the other; most compute in between, every other one writes checkpoints.
fn ordinary(seed: u64) -> Setup {
    let topology = two_level(12, 12, 24).unwrap();
    let hosts: Vec<VertexIndex> = topology.vertices_of(VertexKind::Host).collect();
    let of = |at: usize| -> Vec<VertexIndex> {
        let mine =
            |(place, _): &(usize, &VertexIndex)| (place * 7 + place / 24 + seed as usize) % (JOBS + 2) == at;
        hosts.iter().enumerate().filter(mine).map(|(_, host)| *host).collect()
    };
    let patterns = [Pattern::AllToAll, Pattern::Uniform, Pattern::Stencil3d, Pattern::AllToAll];
    let targets = of(JOBS);
    let mut jobs: Vec<LabJob> = (0..JOBS)
        .map(|at| {
            let mut job = LabJob::new(at as u64 + 1, of(at), patterns[at % 4], 1.0);
            (job.start_s, job.work_s) = (97 * at as u32, 500.0 + 90.0 * at as f64);
            let phases = Phases { on_s: 20.0 + 11.0 * at as f64, off_s: 10 + 5 * at as u32 };
            job.phases = (at % 4 != 3).then_some(phases);
            let io = LabIo {
                bytes_per_s: 0.5,
                writers: 6,
                targets: targets.clone(),
                from_s: 60,
                every_s: 150,
                for_s: 25,
                on_osts: false,
            };
            job.io = at.is_multiple_of(2).then_some(io);
            job
        })
        .collect();
    let peak = asked(&topology, Routing::Tables, &jobs, seed).into_iter().fold(0.0, f64::max);
    for job in &mut jobs {
        job.bytes_per_s *= PEAK / peak;
        job.io.iter_mut().for_each(|io| io.bytes_per_s *= PEAK / peak);
    }
    Setup { topology, routing: Routing::Tables, jobs, events: vec![], noise: Noise::default(), seed }
}

#[test]
fn jobs_that_leave_room_for_each_other_make_no_region() {
    let cases: Vec<_> = (0..4).flat_map(|seed| [(seed, true), (seed, false)]).collect();
    at_once(None, &cases, |(seed, tables)| {
        let played = play_for(SECONDS, &ordinary(*seed), *tables, CounterBatch::clone);
        assert!(played.truth.ever_contended().is_empty(), "seed {seed}: the lab finds contention");
        assert!(played.regions.is_empty(), "seed {seed}: {:#?}", played.regions);
    });
}
