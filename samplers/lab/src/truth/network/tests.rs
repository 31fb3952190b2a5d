//! Shares, moments and losses on networks small enough to reckon by hand; and bytes that agree with work.

use super::draw::scenario;
use super::moment::{Group, Links, moment};
use super::shares::{Offer, max_min};
use super::world::World;
use samplers::lab::{FlowPath, TrafficClass};
use topology::LinkIndex;

const NO_QUEUE: Links<'static> = Links { capacities: &[1.0, 1.0], queue_at_half: 0.0, unloaded: 0.0 };

fn flow(demand: f64, links: &[u32]) -> FlowPath {
    let links = links.iter().map(|link| LinkIndex(*link)).collect();
    FlowPath { class: TrafficClass::Mpi, demand, links }
}

#[test]
fn full_link_is_shared_max_min() {
    let links = [LinkIndex(0), LinkIndex(1)];
    let offer = |demand, links| Offer { demand, links };
    let offers =
        [offer(0.2, &links[..1]), offer(0.6, &links[..1]), offer(0.9, &links[..]), offer(0.9, &links[1..])];
    let shares = max_min(&offers, &[1.0, 1.0]);
    for (rate, right) in shares.rates.iter().zip([0.2, 0.4, 0.4, 0.6]) {
        assert!((rate - right).abs() < 1e-9, "{shares:?}");
    }
    assert_eq!(shares.held_at, [None, Some(LinkIndex(0)), Some(LinkIndex(0)), Some(LinkIndex(1))]);
}

#[test]
fn a_job_that_waits_for_its_slowest_flow_sends_less_on_the_others() {
    let mine = [flow(0.5, &[0]), flow(0.5, &[1])];
    let theirs = [flow(2.0, &[0]), flow(2.0, &[0]), flow(2.0, &[0])];
    let of = |coupling| {
        let groups = [Group { coupling, flows: &mine }, Group { coupling: 0.0, flows: &theirs }];
        moment(&groups, NO_QUEUE).groups.swap_remove(0)
    };
    let (slowest, mean) = (of(1.0), of(0.0));
    // Four flows share the first link: a quarter each, half of what the job wants there.
    assert!((slowest.speed - 0.5).abs() < 0.02 && (slowest.rates[1] - 0.25).abs() < 0.02, "{slowest:?}");
    assert!((mean.speed - 0.75).abs() < 0.01 && (mean.rates[1] - 0.5).abs() < 0.01, "{mean:?}");
}

/// What a job moves in all is what its work needs, however it is slowed: else rows would tell another story than the truth.
#[test]
fn bytes_moved_agree_with_the_work_done() {
    for kind in ["network_known", "network_mean", "network_cable"] {
        let scenario = scenario(kind, 1).unwrap().unwrap();
        let mut world = World::new(&scenario);
        let (mut moved, mut alone) = (0.0, None);
        while world.runs[0].end_s.is_none() && world.second < scenario.seconds {
            world.start();
            world.step();
            let rates: f64 = world.now.groups[0].rates.iter().sum();
            moved += rates;
            alone.get_or_insert(rates);
        }
        let run_s = world.runs[0].end_s.unwrap();
        let work_s = scenario.jobs[0].work_s;
        assert!(
            (moved / alone.unwrap() - work_s).abs() < 0.02 * work_s + 1.0,
            "{kind}: {moved} {alone:?} {work_s}"
        );
        let lost_s = world.runs[0].lost.all_s();
        assert!((run_s - work_s - lost_s).abs() < 1e-6 && lost_s > 1.0, "{kind}: {run_s} {work_s} {lost_s}");
    }
}
