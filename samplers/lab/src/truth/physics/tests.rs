//! Losses worked out by hand.

use super::super::scenario::Noise;
use super::super::scenario::{Counts, FileSystem};
use super::*;

fn job(id: u64, nodes: u32, start_s: f64, phases: Vec<Phase>) -> Job {
    let (end_s, noise) = (1e9, Noise::default());
    let (app, reads) = ("app".to_string(), [(0.0, 0.0); 2]);
    Job {
        id,
        app,
        nodes,
        system: 0,
        start_s,
        end_s,
        phases,
        noise,
        slow_node: None,
        reads,
        operation_cost: 1.0,
        steps: None,
    }
}

fn stream(seconds: f64, rate: f64) -> Phase {
    Phase::Stream { seconds, rate: [rate, rate] }
}

fn scenario(capacity: f64, jobs: Vec<Job>) -> Scenario {
    let systems = vec![FileSystem {
        name: "scratch".to_string(),
        capacity: Capacity::Fixed(capacity),
        slow: Vec::new(),
    }];
    Scenario {
        seconds: 100,
        systems,
        jobs,
        subjects: Vec::new(),
        unseen: Vec::new(),
        served_by_job: false,
        counts: Counts::Bytes,
        seed: 1,
    }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6, "{a} is not {b}");
}

#[test]
fn small_demand_is_served_in_full() {
    near(equal_share(&[10.0, 60.0, 60.0], 100.0), 45.0);
    assert_eq!(equal_share(&[10.0, 60.0], 100.0), f64::INFINITY);
}

#[test]
fn a_victim_loses_what_the_writer_beside_it_took() {
    let jobs = vec![job(1, 1, 0.0, vec![stream(90.0, 80.0)]), job(2, 1, 20.0, vec![stream(40.0, 1e3)])];
    let scenario = scenario(100.0, jobs);
    let mut world = World::new(&scenario);
    while world.step() {}
    // 40 s at 50 of 80.
    near(world.lost(0).to_jobs[&2], 15.0);
    near(world.lost(0).onset_s.unwrap(), 20.0);
    // The writer would have had all of it alone.
    near(world.lost(1).to_jobs[&1], 20.0);
    near(world.written(0, 0, 0.0) - 1e12, 80.0 * 50.0 + 50.0 * 40.0);
}

#[test]
fn a_write_takes_as_much_longer_as_is_lost() {
    let write = Phase::Write { bytes: 4_000.0, rate: 80.0 };
    let jobs = vec![job(1, 1, 0.0, vec![write]), job(2, 1, 20.0, vec![stream(40.0, 1e3)])];
    let scenario = scenario(100.0, jobs);
    let mut world = World::new(&scenario);
    while world.step() {}
    let (ran_s, lost_s) = (world.ended_s(0).unwrap(), world.lost(0).all_s());
    assert!((ran_s - lost_s - 50.0).abs() <= 0.25, "{ran_s} with {lost_s} lost");
}

#[test]
fn slow_servers_and_slow_nodes_are_causes_of_their_own() {
    let slow = Slow { from_s: 10.0, to_s: 30.0, share: 0.5 };
    let mut jobs = vec![job(1, 2, 0.0, vec![stream(90.0, 50.0)]), job(2, 2, 0.0, vec![stream(90.0, 1.0)])];
    jobs[1].slow_node = Some(slow);
    let mut scenario = scenario(200.0, jobs);
    scenario.systems[0].slow = vec![Slow { from_s: 40.0, to_s: 60.0, share: 0.25 }];
    let mut world = World::new(&scenario);
    while world.step() {}
    near(world.lost(0).to_server_s, 20.0 * (1.0 - 24.0 / 50.0));
    near(world.lost(1).to_node_s, 10.0);
    assert_eq!(world.lost(0).to_jobs.values().sum::<f64>() + world.lost(1).to_server_s, 0.0);
}

#[test]
fn a_write_that_is_set_aside_is_written_in_full() {
    let write = Phase::Write { bytes: 400.0, rate: 80.0 };
    let pause = Phase::Pause { seconds: 10.0 };
    // Two seconds of writing, four of computing, three of writing, six of computing, five of writing.
    let scenario = scenario(100.0, vec![job(1, 1, 0.0, vec![write, pause, write])]);
    let mut world = World::new(&scenario);
    for second in 1..=40 {
        world.step();
        match second {
            2 => world.set_aside(0, false),
            6 => world.write_aside(0),
            _ => {}
        }
    }
    near(world.ended_s(0).unwrap(), 20.0);
    near(world.written(0, 0, 0.0) - 1e12, 800.0);
    assert_eq!(world.doing(0), Doing::Nothing);
}

#[test]
fn a_write_that_stays_aside_comes_with_the_next_one_or_at_the_end() {
    let write = Phase::Write { bytes: 400.0, rate: 80.0 };
    let pause = Phase::Pause { seconds: 10.0 };
    for (phases, ended_s) in [(vec![write, pause, write], 20.0), (vec![write, pause], 15.0)] {
        let bytes = 400.0 * phases.iter().filter(|phase| matches!(phase, Phase::Write { .. })).count() as f64;
        let scenario = scenario(100.0, vec![job(1, 1, 0.0, phases)]);
        let mut world = World::new(&scenario);
        world.step();
        world.set_aside(0, false);
        assert_eq!(world.doing(0), Doing::Computing { owes: true });
        while world.step() {}
        near(world.ended_s(0).unwrap(), ended_s);
        near(world.written(0, 0, 0.0) - 1e12, bytes);
    }
}

#[test]
fn a_job_that_waits_ends_later_by_what_it_waited() {
    let scenario = scenario(100.0, vec![job(1, 1, 0.0, vec![Phase::Write { bytes: 400.0, rate: 80.0 }])]);
    let mut world = World::new(&scenario);
    for second in 1..=40 {
        world.step();
        match second {
            2 => world.set_aside(0, true),
            9 => world.write_aside(0),
            _ => {}
        }
    }
    near(world.ended_s(0).unwrap(), 12.0);
}
