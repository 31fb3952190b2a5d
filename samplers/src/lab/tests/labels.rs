//! Every labelled case matches its label.

use crate::lab::scenarios::{DURATION_S, Labelled, ONSET_S, ScenarioKind, labelled};
use crate::lab::{Lab, LabTruth, LinkTruth};
use topology::{Imbalance, VertexKind};

fn played(kind: ScenarioKind, seed: u64) -> (Labelled, LabTruth) {
    let case = labelled(kind, seed).unwrap();
    let mut lab = Lab::new(case.setup.clone()).unwrap();
    for _ in 0..DURATION_S {
        lab.step();
    }
    (case, lab.truth())
}

/// The contended link on which the victim of the label loses most between the onset and the end.
fn worst(case: &Labelled, truth: &LabTruth) -> LinkTruth {
    let of_victim = (ONSET_S..ONSET_S + 120).flat_map(|second| truth.links_at(second));
    let of_victim = of_victim.filter(|link| Some(link.victim) == case.expected.victim);
    of_victim.max_by(|a, b| a.ratio.total_cmp(&b.ratio)).cloned().unwrap()
}

#[test]
fn each_cause_is_on_the_worst_link_of_its_victim() {
    for kind in ScenarioKind::ALL {
        for seed in 1..=4 {
            let (case, truth) = played(kind, seed);
            let Some(cause) = case.expected.cause else { continue };
            let worst = worst(&case, &truth);
            assert_eq!(worst.cause, cause, "{kind:?} {seed} {worst:?}");
            assert!(case.expected.kind.is_none_or(|kind| kind == worst.kind), "{kind:?} {seed} {worst:?}");
            if let Some(aggressor) = case.expected.aggressor {
                let share: f64 =
                    worst.aggressors.iter().filter(|a| a.job_id == aggressor).map(|a| a.share).sum();
                assert!(share > 0.5, "{kind:?} {seed} {worst:?}");
            }
        }
    }
}

#[test]
fn nothing_is_contended_before_the_onset() {
    for kind in ScenarioKind::ALL {
        for seed in 1..=4 {
            let (_, truth) = played(kind, seed);
            for second in 0..ONSET_S {
                assert!(truth.links_at(second).is_empty(), "{kind:?} {seed} {second}");
            }
        }
    }
}

#[test]
fn quiet_and_busy_cases_have_nothing_contended() {
    for kind in [ScenarioKind::Quiet, ScenarioKind::TrafficWithoutStalls] {
        for seed in 1..=4 {
            let (_, truth) = played(kind, seed);
            assert!(truth.ever_contended().is_empty(), "{kind:?} {seed}");
            assert!(truth.jobs.iter().all(|job| job.lost.longer_s() == 0.0), "{kind:?} {seed}");
        }
    }
}

#[test]
fn the_victim_loses_seconds_to_what_the_label_says() {
    use ScenarioKind::{FailoverInduced, IncastOther, IoOnMpi, OtherJob, SelfOverload, Unknown};
    for seed in 1..=4 {
        let lost = |kind| {
            let (case, truth) = played(kind, seed);
            truth.job(case.expected.victim.unwrap()).unwrap().lost.clone()
        };
        for kind in [OtherJob, IncastOther, IoOnMpi, Unknown] {
            let lost = lost(kind);
            assert!(lost.to_others_s() > 5.0 && lost.failover_s == 0.0, "{kind:?} {seed} {lost:?}");
            assert!(lost.to.keys().all(|(job, _)| *job == 2), "{kind:?} {seed} {lost:?}");
        }
        let own = lost(SelfOverload);
        assert!(own.self_s > 20.0 && own.longer_s() == 0.0, "{seed} {own:?}");
        let failed = lost(FailoverInduced);
        assert!(failed.failover_s > 20.0 && failed.to.is_empty(), "{seed} {failed:?}");
    }
}

#[test]
fn the_avoidable_case_has_the_loads_of_the_displaced_ring() {
    let (case, _) = played(ScenarioKind::Avoidable, 5);
    let mut lab = Lab::new(case.setup.clone()).unwrap();
    for _ in 0..=ONSET_S {
        lab.step();
    }
    let topology = lab.topology();
    let sender = topology.links_from(case.setup.jobs[0].nodes[0]).next().unwrap();
    let up = topology.links_from(topology.to(sender));
    let up = up.filter(|link| topology.kind(topology.to(*link)) == VertexKind::Switch);
    let mut loads: Vec<f64> = up.map(|link| lab.utilisations()[link.at()]).collect();
    loads.sort_by(|a, b| b.total_cmp(a));
    let flow = loads[5];
    let flows: Vec<f64> = loads.iter().map(|load| (load / flow).round()).collect();
    assert_eq!(flows, [4.0, 3.0, 2.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let balance = Imbalance::of(loads, 0.0).unwrap();
    assert!((balance.relief_bound() - 0.75).abs() < 1e-9 && balance.idle_share == 0.5);
}

#[test]
fn a_seed_draws_other_nodes() {
    for kind in [ScenarioKind::OtherJob, ScenarioKind::Avoidable, ScenarioKind::IncastSelf] {
        let nodes = |seed| labelled(kind, seed).unwrap().setup.jobs[0].nodes.clone();
        assert_eq!(nodes(3), nodes(3));
        assert_ne!(nodes(3), nodes(4));
    }
}
