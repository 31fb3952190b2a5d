//! A scenario of each kind, drawn from its seed.

mod draw;

use super::scenario::{Capacity, Counts, Job, Noise, Phase, Scenario, Slow, Steps, Unseen};
use draw::{Draw, NO_END_S, WRITES, contest, demand_of, stream, streaming};
use samplers::rng::Rng;

/// A job that only reads.
const READS: [(f64, f64); 2] = [(0.0, 1.0); 2];
/// Of a metadata server: 1,000 to 6,000 looks a second make the demand of a victim's node.
const OPERATIONS: Counts = Counts::Operations { bytes: 200_000 };

/// The scenario of a kind and seed.
///
/// # Errors
/// There is no such kind.
pub fn scenario(kind: &str, seed: u64) -> anyhow::Result<Scenario> {
    let number = kind.bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let draw = &mut Draw { rng: Rng::new(seed, number), seed };
    Ok(match kind {
        "steady" => steady(draw),
        "bursts" => bursts(draw),
        "gradual" => gradual(draw),
        "checkpoints" => checkpoints(draw),
        "noisy" => noisy(draw),
        "correlated_quiet" => correlated_quiet(draw),
        "daily_cycle" => daily_cycle(draw),
        "ior_correlated" => ior_correlated(draw),
        "starts_inside" => starts_inside(draw, false),
        "starts_inside_known" => starts_inside(draw, true),
        "comes_with" => comes_with(draw),
        "unseen" => unseen(draw),
        "by_servers" => by_servers(draw),
        "own_phase_alone" => own_phase(draw, 0),
        "own_phase_others" => own_phase(draw, 3),
        "small_writers" => small_writers(draw),
        "slow_server" => slow_server(draw),
        "slow_server_start" => slow_server_start(draw),
        "slow_node" => slow_node(draw),
        "busy" => busy(draw),
        "page_cache" => page_cache(draw),
        "reader" => reader(draw),
        "metadata_storm" => metadata_storm(draw),
        "metadata_phase" => Scenario { counts: OPERATIONS, ..own_phase(draw, 3) },
        "turns" => turns(draw),
        "steps" => steps(draw),
        "steps_checkpoints" => steps_checkpoints(draw),
        _ => anyhow::bail!("the kind {kind} of truth.toml has no scenarios"),
    })
}

fn steady(draw: &mut Draw) -> Scenario {
    let noise = draw.white();
    let contest = contest(draw, 1_500.0, noise);
    let (from_s, for_s) = (draw.between(200.0, 500.0), draw.between(100.0, 600.0));
    let aggressor = streaming(2, contest.nodes, from_s, for_s, contest.rate, draw.white());
    draw.scenario(1_520.0, contest.capacity, vec![contest.victim, aggressor], &[1])
}

/// One writes, the other reads: they share the data servers.
fn reader(draw: &mut Draw) -> Scenario {
    let mut scenario = steady(draw);
    let reads = draw.rng.below(2);
    scenario.jobs[reads].reads = READS;
    scenario
}

/// Jobs that have room enough turn from writing to reading, wholly or in part, beside others that continue.
fn turns(draw: &mut Draw) -> Scenario {
    let jobs = (1..=draw.count(2, 4)).map(|id| {
        let (nodes, rate, noise) = (draw.count(1, 4), draw.rate(), draw.white());
        let turn = (draw.between(300.0, 1_200.0), draw.between(0.3, 1.0));
        let reads = if id < 3 { [(0.0, 0.0), turn] } else { WRITES };
        Job { reads, ..streaming(u64::from(id), nodes, 0.0, 1_500.0, rate, noise) }
    });
    let jobs = jobs.collect();
    draw.scenario(1_520.0, 1e12, jobs, &[])
}

fn bursts(draw: &mut Draw) -> Scenario {
    let noise = draw.white();
    let contest = contest(draw, 1_500.0, noise);
    let mut phases = Vec::new();
    for _ in 0..draw.count(5, 12) {
        phases.push(Phase::Pause { seconds: draw.between(60.0, 120.0) });
        phases.push(stream(draw.between(5.0, 20.0), contest.rate));
    }
    let aggressor = Job { phases, ..streaming(2, contest.nodes, 100.0, 0.0, contest.rate, draw.white()) };
    draw.scenario(1_520.0, contest.capacity, vec![contest.victim, aggressor], &[1])
}

fn gradual(draw: &mut Draw) -> Scenario {
    let noise = draw.white();
    let contest = contest(draw, 1_800.0, noise);
    let for_s = draw.between(200.0, 500.0);
    let ramp = Phase::Stream { seconds: 300.0, rate: [0.0, contest.rate] };
    let phases = vec![ramp, stream(for_s, contest.rate)];
    let from_s = draw.between(300.0, 500.0);
    let aggressor = Job { phases, ..streaming(2, contest.nodes, from_s, 0.0, contest.rate, draw.white()) };
    draw.scenario(1_820.0, contest.capacity, vec![contest.victim, aggressor], &[1])
}

fn checkpoints(draw: &mut Draw) -> Scenario {
    let noise = draw.white();
    let mut contest = contest(draw, 0.0, noise);
    let [Phase::Stream { rate: [rate, _], .. }] = contest.victim.phases[..] else {
        unreachable!("one stream")
    };
    let (on_s, off_s) = (draw.between(20.0, 40.0), draw.between(30.0, 90.0));
    let write = Phase::Write { bytes: rate * on_s, rate };
    contest.victim.phases = (0..60).flat_map(|_| [write, Phase::Pause { seconds: off_s }]).collect();
    contest.victim.end_s = 2_400.0;
    let (from_s, for_s) = (draw.between(500.0, 800.0), draw.between(300.0, 900.0));
    let aggressor = streaming(2, contest.nodes, from_s, for_s, contest.rate, draw.white());
    draw.scenario(2_420.0, contest.capacity, vec![contest.victim, aggressor], &[1])
}

fn noisy(draw: &mut Draw) -> Scenario {
    let noise = Noise { sigma: draw.between(0.3, 0.5), ..Noise::default() };
    let contest = contest(draw, 1_800.0, noise);
    let (from_s, for_s) = (draw.between(300.0, 600.0), draw.between(300.0, 600.0));
    let aggressor = streaming(2, contest.nodes, from_s, for_s, contest.rate, noise);
    draw.scenario(1_820.0, contest.capacity, vec![contest.victim, aggressor], &[1])
}

fn correlated_quiet(draw: &mut Draw) -> Scenario {
    let jobs = (1..=draw.count(1, 4)).map(|id| {
        let noise = Noise { sigma: draw.between(0.3, 0.5), correlation: 0.8, held_back: 0.0 };
        streaming(u64::from(id), draw.count(1, 2), 0.0, 3_600.0, draw.rate(), noise)
    });
    let jobs = jobs.collect();
    draw.scenario(3_620.0, 1e12, jobs, &[])
}

fn daily_cycle(draw: &mut Draw) -> Scenario {
    const DAY_S: f64 = 86_400.0;
    const PIECES: u32 = 48;
    let jobs = (1..=2).map(|id| {
        let (rate, swing, noise) = (draw.rate(), draw.between(0.3, 0.6), draw.white());
        let phase = draw.between(0.0, 1.0);
        let level = |piece: u32| {
            rate * (1.0
                + swing * (std::f64::consts::TAU * (phase + f64::from(piece) / f64::from(PIECES))).sin())
        };
        let piece = |piece: u32| Phase::Stream {
            seconds: DAY_S / f64::from(PIECES),
            rate: [level(piece), level(piece + 1)],
        };
        Job { phases: (0..PIECES / 2).map(piece).collect(), ..streaming(id, 1, 0.0, 0.0, rate, noise) }
    });
    let jobs = jobs.collect();
    draw.scenario(DAY_S / 2.0 + 20.0, 1e12, jobs, &[])
}

/// Nodes that begin, and nodes that come later: table 4.1 of SAND2016-9525.
const IOR_NODES: [(u32, u32); 7] = [(1, 3), (1, 7), (1, 15), (2, 6), (2, 14), (4, 4), (4, 12)];

fn ior_correlated(draw: &mut Draw) -> Scenario {
    const BYTES: f64 = 64e9;
    let noise = Noise { sigma: 0.2, correlation: 0.8, held_back: 0.0 };
    let (first, late) = IOR_NODES[draw.rng.below(IOR_NODES.len())];
    let writers = |id: u64, nodes: u32, start_s: f64, bytes: f64| Job {
        phases: vec![Phase::Write { bytes, rate: 1e10 }],
        ..streaming(id, nodes, start_s, 0.0, 0.0, noise)
    };
    let jobs = vec![writers(1, first, 0.0, 4.0 * BYTES), writers(2, late, 130.0, BYTES)];
    let mut scenario = draw.scenario(900.0, 0.0, jobs, &[1]);
    scenario.systems[0].capacity = Capacity::Measured;
    scenario
}

/// The victim starts while others write already; `known`: the same application ran on other nodes before they came.
fn starts_inside(draw: &mut Draw, known: bool) -> Scenario {
    let noise = draw.white();
    let contest = contest(draw, 700.0, noise);
    let rate = contest.rate / 2.0;
    let victim = Job { start_s: 600.0, ..contest.victim };
    let aggressor = streaming(2, contest.nodes, 400.0, 1_000.0, contest.rate, draw.white());
    let mut jobs = vec![victim.clone(), aggressor];
    if known {
        jobs.push(Job { id: 3, start_s: 0.0, phases: vec![stream(300.0, rate)], ..victim });
    }
    draw.scenario(1_400.0, contest.capacity, jobs, &[1])
}

fn comes_with(draw: &mut Draw) -> Scenario {
    let noise = draw.white();
    let contest = contest(draw, 1_500.0, noise);
    let (from_s, for_s) = (draw.between(200.0, 500.0), draw.between(200.0, 600.0));
    // Alone its demand is served in full.
    let rate = (contest.capacity / f64::from(contest.nodes)).min(contest.rate);
    let aggressor = streaming(2, contest.nodes, from_s, for_s, rate, draw.white());
    draw.scenario(1_520.0, contest.capacity, vec![contest.victim, aggressor], &[2])
}

/// The rows of the aggressor are missing while it starts, or in the middle of what a victim loses that never ran before.
fn unseen(draw: &mut Draw) -> Scenario {
    let is_start = draw.rng.chance(0.5);
    let mut scenario = if is_start { steady(draw) } else { starts_inside(draw, false) };
    let aggressor_start_s = scenario.jobs[1].start_s;
    let from_s = aggressor_start_s + if is_start { -30.0 } else { draw.between(250.0, 450.0) };
    scenario.unseen = vec![Unseen { job: 2, from_s, to_s: from_s + draw.between(60.0, 400.0) }];
    scenario
}

/// The aggressor's nodes have no sampler; the servers count by job.
fn by_servers(draw: &mut Draw) -> Scenario {
    let unseen = vec![Unseen { job: 2, from_s: 0.0, to_s: NO_END_S }];
    Scenario { unseen, served_by_job: true, ..steady(draw) }
}

/// A job that looks at entries, beside one that creates and removes: a metadata server takes several times as long for these.
fn metadata_storm(draw: &mut Draw) -> Scenario {
    let mut scenario = Scenario { counts: OPERATIONS, ..steady(draw) };
    scenario.jobs[1].operation_cost = draw.between(2.0, 8.0);
    scenario
}

/// A job falls to a part of its rate and rises again of its own accord, beside so many steady ones.
fn own_phase(draw: &mut Draw, others: u32) -> Scenario {
    let (rate, low) = (draw.rate(), draw.between(0.2, 0.75));
    let phases = vec![
        stream(draw.between(200.0, 400.0), rate),
        stream(draw.between(100.0, 400.0), low * rate),
        stream(300.0, rate),
    ];
    let mut jobs = vec![Job { phases, ..streaming(1, draw.count(1, 4), 0.0, 0.0, rate, draw.white()) }];
    for id in 0..others {
        jobs.push(streaming(2 + u64::from(id), draw.count(1, 4), 0.0, 1_100.0, draw.rate(), draw.white()));
    }
    draw.scenario(1_120.0, 1e12, jobs, &[])
}

fn small_writers(draw: &mut Draw) -> Scenario {
    let noise = draw.white();
    let contest = contest(draw, 1_200.0, noise);
    let nodes = draw.count(60, 120);
    let wanted = draw.between(0.6, 3.0) * contest.capacity;
    let (from_s, for_s) = (draw.between(200.0, 500.0), draw.between(100.0, 500.0));
    let small = streaming(2, nodes, from_s, for_s, wanted / f64::from(nodes), draw.white());
    draw.scenario(1_220.0, contest.capacity, vec![contest.victim, small], &[1])
}

fn slow_server(draw: &mut Draw) -> Scenario {
    let count = draw.count(3, 6);
    let jobs: Vec<Job> = (1..=count)
        .map(|id| streaming(u64::from(id), draw.count(1, 4), 0.0, 1_100.0, draw.rate(), draw.white()))
        .collect();
    let demand: f64 = jobs.iter().map(demand_of).sum();
    let capacity = demand * draw.between(1.05, 1.3);
    let mut scenario = draw.scenario(1_120.0, capacity, jobs, &[]);
    let (from_s, share) = (draw.between(250.0, 500.0), draw.between(0.2, 0.6));
    scenario.systems[0].slow = vec![Slow { from_s, to_s: from_s + draw.between(100.0, 400.0), share }];
    scenario
}

/// The same, where the scored job starts while the server is slow.
fn slow_server_start(draw: &mut Draw) -> Scenario {
    let mut scenario = slow_server(draw);
    let (system, id) = (&mut scenario.systems[0], scenario.jobs.len() as u64 + 1);
    let Slow { from_s, to_s, .. } = system.slow[0];
    let start_s = draw.between(from_s, to_s - 60.0);
    let late = streaming(id, draw.count(1, 4), start_s, 1_100.0 - start_s, draw.rate(), draw.white());
    if let Capacity::Fixed(capacity) = &mut system.capacity {
        *capacity += 1.05 * demand_of(&late);
    }
    scenario.jobs.push(late);
    scenario.subjects = vec![id];
    scenario
}

fn slow_node(draw: &mut Draw) -> Scenario {
    let from_s = draw.between(250.0, 500.0);
    let slow = Slow { from_s, to_s: from_s + draw.between(100.0, 400.0), share: draw.between(0.3, 0.7) };
    let mut victim = streaming(1, draw.count(4, 12), 0.0, 1_100.0, draw.rate(), draw.white());
    victim.slow_node = Some(slow);
    let mut jobs = vec![victim];
    for id in 2..=draw.count(2, 4) {
        jobs.push(streaming(u64::from(id), draw.count(1, 4), 0.0, 1_100.0, draw.rate(), draw.white()));
    }
    draw.scenario(1_120.0, 1e12, jobs, &[1])
}

/// The victim reports steps that wait for its writes in a part of their time.
fn steps(draw: &mut Draw) -> Scenario {
    let of = [steady, bursts, gradual, noisy][draw.rng.below(4)];
    let mut scenario = of(draw);
    let waits = draw.between(0.2, 0.9);
    scenario.jobs[0].steps = Some(Steps { waits, beside: true, ..Steps::drawn(&mut draw.rng) });
    scenario
}

/// The victim reports steps, of which it makes none while it writes.
fn steps_checkpoints(draw: &mut Draw) -> Scenario {
    let mut scenario = checkpoints(draw);
    scenario.jobs[0].steps = Some(Steps::drawn(&mut draw.rng));
    scenario
}

/// Many jobs that come and go, steady or in cycles, on a file system that is full at times.
fn busy(draw: &mut Draw) -> Scenario {
    const SECONDS: f64 = 3_000.0;
    let mut jobs: Vec<Job> = Vec::new();
    for id in 1..=u64::from(draw.count(15, 30)) {
        let (rate, start_s, for_s) =
            (draw.rate(), draw.between(0.0, 0.8 * SECONDS), draw.between(200.0, 1_500.0));
        let mut job = streaming(id, draw.count(1, 6), start_s, for_s, rate, draw.white());
        if draw.rng.chance(0.4) {
            let (on_s, off_s) = (draw.between(20.0, 60.0), draw.between(20.0, 90.0));
            let cycles = (for_s / (on_s + off_s)).ceil() as usize;
            let write = Phase::Write { bytes: rate * on_s, rate };
            job.phases = (0..cycles).flat_map(|_| [write, Phase::Pause { seconds: off_s }]).collect();
        }
        jobs.push(job);
    }
    let all: f64 = jobs.iter().map(demand_of).sum();
    // About a third of the jobs run at a time.
    let capacity = all * draw.between(0.15, 0.35);
    draw.scenario(SECONDS, capacity, jobs, &[])
}

/// One job alone whose clients write as the page cache lets them.
fn page_cache(draw: &mut Draw) -> Scenario {
    let noise = Noise { sigma: draw.between(0.33, 0.54), correlation: 0.5, held_back: 0.05 };
    let job = streaming(1, draw.count(1, 4), 0.0, 1_800.0, draw.rate(), noise);
    draw.scenario(1_820.0, 1e12, vec![job], &[])
}
