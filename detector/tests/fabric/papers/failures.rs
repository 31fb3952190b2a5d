//! Links that fail and return (Vishnu 2007). Port states are tested in `fabric::lifecycle`.

use super::{at_peak, found, leaves, setup};
use crate::integration::fabric::play::play;
use samplers::lab::scenarios::{ScenarioKind, labelled};
use samplers::lab::{Change, Event, LabJob, Pattern, Setup};
use schemas::Cause;
use topology::machines::two_level;
use topology::{LinkIndex, ParallelKind, ParallelLinks, Topology};

/// The links up from the first leaf.
fn uplinks(topology: &Topology) -> Vec<LinkIndex> {
    let leaf = topology.to(topology.links_from(leaves(topology)[0][0]).next().unwrap());
    let groups = ParallelLinks::of(topology);
    groups.links(groups.find(ParallelKind::Uplinks(leaf)).unwrap()).to_vec()
}

/// A job all over a small tree whose uplinks have this utilisation.
fn everywhere(utilisation: f64) -> Setup {
    let topology = two_level(6, 4, 8).unwrap();
    let job = LabJob::new(1, leaves(&topology).concat(), Pattern::AllToAll, 1.0);
    let job = LabJob { work_s: 350.0, ..at_peak(&topology, job, utilisation) };
    setup(&topology, vec![job])
}

fn out_and_back(link: LinkIndex) -> Vec<Event> {
    vec![Event { at_s: 150, change: Change::Down(link) }, Event { at_s: 220, change: Change::Up(link) }]
}

/// T6: a path fails and returns; the others have room for its traffic.
#[test]
fn the_dip_of_a_failed_path_is_no_contention() {
    let mut setup = everywhere(0.3);
    setup.events = out_and_back(uplinks(&setup.topology)[1]);
    let played = found(&setup);
    assert!(played.regions.is_empty(), "{:?}", played.regions);
}

/// T6: a host does not progress until its only link returns, and continues as before.
#[test]
fn a_host_that_is_cut_off_is_no_contention() {
    let mut setup = everywhere(0.3);
    let host = leaves(&setup.topology)[0][0];
    setup.events = out_and_back(setup.topology.links_from(host).next().unwrap());
    let played = found(&setup);
    assert!(played.truth.job(1).unwrap().lost.failover_s > 60.0, "it stood still");
    assert!(played.regions.is_empty(), "{:?}", played.regions);
}

/// T6: no job is the cause of the extra load on those that are left.
#[test]
fn survivors_that_become_hot_are_failover_induced() {
    for seed in 0..3 {
        let played = play(&labelled(ScenarioKind::FailoverInduced, seed).unwrap(), true);
        assert!(!played.regions.is_empty(), "seed {seed}");
        for region in &played.regions {
            assert_eq!(region.cause, Cause::FailoverInduced, "seed {seed}: {region:?}");
        }
    }
}
