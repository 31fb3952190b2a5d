//! Parallel paths (Vishnu 2007).

use super::{at_peak, found, leaves, light_first, name, setup};
use crate::integration::fabric::play::{Played, play, play_altered};
use samplers::lab::scenarios::{ONSET_S, ScenarioKind, labelled};
use samplers::lab::{LabJob, Pattern, Phases, Setup};
use schemas::{Cause, CauseKind, CounterBatch, SourceIndex, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use topology::LinkIndex;
use topology::machines::{two_level, vishnu};

/// T1: spine loads 4, 3, 2, 1, 1, 1 and six idle. The relief bound of 0.75 holds for what is sent; what is measured is
/// what a full link lets through and how it stalls, so it is met within a tenth.
#[test]
fn flows_piled_on_few_uplinks_beside_idle_ones_are_avoidable() {
    for seed in 0..3 {
        let played = play(&labelled(ScenarioKind::Avoidable, seed).unwrap(), true);
        assert!(!played.regions.is_empty(), "seed {seed}");
        for region in &played.regions {
            assert_eq!(
                (region.kind, region.cause),
                (CauseKind::Avoidable, Cause::SelfInflicted),
                "seed {seed}: {region:?}"
            );
        }
        let relief = played.regions.iter().map(|region| region.relief).fold(0.0, f64::max);
        assert!((relief - 0.75).abs() < 0.1, "seed {seed}: relief {relief}");
    }
}

/// T1: spine is destination modulo twelve, so every uplink carries one flow.
#[test]
fn a_ring_with_a_spine_for_each_destination_raises_no_alert() {
    let topology = vishnu().unwrap();
    let nodes = leaves(&topology)[..2].concat();
    let job = at_peak(&topology, LabJob::new(1, nodes, Pattern::Ring { step: 12 }, 1.0), 0.85);
    let played = found(&setup(&topology, light_first(job)));
    assert!(played.regions.is_empty(), "{:?}", played.regions);
}

/// All hosts of three leaves, each to all others, at this utilisation of their uplinks.
fn all_uplinks(utilisation: f64) -> Setup {
    let topology = two_level(12, 12, 24).unwrap();
    let nodes = leaves(&topology)[..3].concat();
    let job = at_peak(&topology, LabJob::new(1, nodes, Pattern::AllToAll, 1.0), utilisation);
    setup(&topology, light_first(job))
}

/// T9: all twelve stall, so another route would not help.
#[test]
fn a_leaf_with_full_uplinks_lacks_capacity_and_is_not_rerouted() {
    let played = found(&all_uplinks(1.2));
    assert!(!played.regions.is_empty());
    for region in &played.regions {
        assert_eq!((region.kind, region.relief), (CauseKind::Capacity, 0.0), "{region:?}");
    }
    // All up from three leaves and down to them, of which a region names the worst; hosts wait behind them.
    let leaves = [1, 2, 3].map(|leaf| format!("ib_wait_ratio/leaf0{leaf}/"));
    let most = played.regions.iter().map(|region| region.links_most).max().unwrap();
    assert!(most >= 72, "{most}");
    let named: Vec<&String> = played.regions.iter().flat_map(|region| &region.series).collect();
    assert!(leaves.iter().all(|leaf| named.iter().any(|series| series.starts_with(leaf))), "{named:?}");
}

/// T9: trunks are quiet, the demand on one host is twice what its link carries.
#[test]
fn an_incast_to_one_host_is_an_endpoint() {
    let topology = vishnu().unwrap();
    let nodes: Vec<_> = leaves(&topology).iter().map(|leaf| leaf[0]).collect();
    let job = LabJob::new(1, nodes, Pattern::Incast, 2.0e9 / 11.0);
    let played = found(&setup(&topology, light_first(job)));
    assert!(!played.regions.is_empty());
    for region in &played.regions {
        assert_eq!(region.kind, CauseKind::Endpoint, "{region:?}");
        assert_eq!((region.cause, region.relief), (Cause::SelfInflicted, 0.0), "{region:?}");
    }
}

/// T9: the lab's links stall when they are full, so its stalls are taken away: what is left are words.
#[test]
fn full_use_without_stalls_raises_no_alert() {
    let mut waits: BTreeMap<SourceIndex, Vec<(u64, u64)>> = BTreeMap::new();
    // Pairs of counters, waits and words; all sources of this network but clients have these alone.
    let calm = |batch: &CounterBatch| {
        let mut calm = CounterBatch::default();
        for (source, time, counters) in batch.rows() {
            let known = waits.entry(source).or_default();
            let mut row = counters.to_vec();
            for (at, pair) in row.chunks_exact_mut(2).enumerate() {
                if known.len() <= at {
                    known.push((pair[0], pair[1]));
                }
                let (sum, before) = &mut known[at];
                *sum += pair[1].saturating_sub(*before) / 50;
                *before = pair[1];
                pair[0] = *sum;
            }
            calm.push(source, time, &row);
        }
        calm
    };
    let played = play_altered(&all_uplinks(1.2), true, calm);
    assert!(played.truth.ever_contended().len() > 12, "the lab's links are full");
    assert!(played.regions.is_empty(), "{:?}", played.regions);
}

/// T10: hosts of leaf A send to hosts of leaf B, which send nothing back.
#[test]
fn one_hot_direction_leaves_the_other_clean() {
    let topology = two_level(12, 12, 24).unwrap();
    let (a, b) = (&leaves(&topology)[0], &leaves(&topology)[1]);
    // Destinations twelve apart share an uplink.
    let pair = |at: usize| LabJob::new(at as u64 + 1, vec![b[at], a[at]], Pattern::Incast, 0.75e9);
    let jobs: Vec<LabJob> = (0..24).flat_map(|at| light_first(pair(at))).collect();
    let played = found(&setup(&topology, jobs));
    let hot = |link: &LinkIndex| (topology.from(*link), topology.to(*link));
    let leaf = |host| topology.to(topology.links_from(host).next().unwrap());
    let (leaf_a, leaf_b) = (leaf(a[0]), leaf(b[0]));
    let stalled: BTreeSet<&String> = played.regions.iter().flat_map(|region| &region.series).collect();
    let of = |wanted: &dyn Fn(&LinkIndex) -> bool| {
        topology.links().filter(|link| wanted(link)).filter(|l| stalled.contains(&name(&played, *l))).count()
    };
    let is_host = |vertex| topology.kind(vertex) == topology::VertexKind::Host;
    assert!(of(&|link| hot(link).0 == leaf_a && !is_host(hot(link).1)) > 0, "uplinks of A");
    assert_eq!(of(&|link| hot(link).1 == leaf_a && !is_host(hot(link).0)), 0, "downlinks of A");
    assert_eq!(of(&|link| hot(link).0 == leaf_a && is_host(hot(link).1)), 0, "from A to its hosts");
    assert_eq!(of(&|link| hot(link).0 == leaf_b && !is_host(hot(link).1)), 0, "uplinks of B");
    assert_eq!(of(&|link| hot(link).1 == leaf_b && is_host(hot(link).0)), 0, "from the hosts of B");
}

/// The verdict on each region, without its numbers.
fn verdicts(played: &Played) -> Vec<(Time, Time, CauseKind, Cause, Vec<String>)> {
    let of = |r: &schemas::Region| (r.start, r.end, r.kind, r.cause, r.series.clone());
    played.regions.iter().map(of).collect()
}

/// T11: rows of one full link come two seconds late, within the lateness that is waited for.
#[test]
fn a_link_whose_rows_come_late_changes_nothing() {
    let setup = all_uplinks(1.2);
    let usual = found(&setup);
    let late = hot_source(&setup);
    let mut waiting: VecDeque<CounterBatch> = VecDeque::new();
    let delayed = |batch: &CounterBatch| {
        let (mut now, mut later) = (CounterBatch::default(), CounterBatch::default());
        for (source, time, counters) in batch.rows() {
            let to = if source == late { &mut later } else { &mut now };
            to.push(source, time, counters);
        }
        waiting.push_back(later);
        if waiting.len() > 2
            && let Some(due) = waiting.pop_front()
        {
            due.rows().for_each(|(source, time, counters)| now.push(source, time, counters));
        }
        now
    };
    let played = play_altered(&setup, true, delayed);
    assert!(!usual.regions.is_empty());
    assert_eq!(verdicts(&played), verdicts(&usual));
}

/// `setup` with the clock of one full port behind by `shift_s`.
fn with_clock_behind(setup: &Setup, shift_s: f64) -> Played {
    let shifted = hot_source(setup);
    play_altered(setup, true, |batch| {
        let mut rows = CounterBatch::default();
        for (source, time, counters) in batch.rows() {
            let time = if source == shifted { time.plus_seconds(-shift_s) } else { time };
            rows.push(source, time, counters);
        }
        rows
    })
}

/// T11: the clock of one port is 0.4 s behind. Its second is another one than its neighbours', but full links beside it
/// are no reason to route again.
#[test]
fn a_shifted_clock_makes_no_false_hint_to_reroute() {
    let played = with_clock_behind(&all_uplinks(1.2), 0.4);
    assert!(!played.regions.is_empty());
    for region in &played.regions {
        assert_eq!((region.kind, region.relief), (CauseKind::Capacity, 0.0), "{region:?}");
    }
    let start = played.regions.iter().map(|region| region.start).min().unwrap();
    let onset = samplers::lab::at(f64::from(ONSET_S));
    assert!(start.seconds_since(onset).abs() <= 3.0, "{}", start.seconds_since(onset));
}

/// T11: a job that exchanges now and then fills its links for a short while each time, which a clock that is behind dates
/// wrongly. So what it lost is less sure.
#[test]
fn a_shifted_clock_widens_the_interval_of_what_a_job_lost() {
    let mut setup = all_uplinks(1.2);
    let job = setup.jobs.last_mut().unwrap();
    job.phases = Some(Phases { on_s: 6.0, off_s: 14 });
    let id = job.job_id;
    let upper_s = |shift_s: f64| {
        let result = &with_clock_behind(&setup, shift_s).results[&id];
        assert!(result.slowdown_s > 60.0, "{result:?}");
        result.slowdown_hi_s - result.slowdown_s
    };
    let [usual_s, half_s, whole_s] = [0.0, 0.2, 0.4].map(upper_s);
    // Errors add up as squares; that of the clock, at the edge of each stretch, in proportion to the shift.
    let by_clock_s = |upper_s: f64| (upper_s.powi(2) - usual_s.powi(2)).sqrt();
    assert!(by_clock_s(whole_s) > 1.0, "{usual_s} {whole_s}");
    assert!((by_clock_s(whole_s) / by_clock_s(half_s) - 2.0).abs() < 0.01, "{usual_s} {half_s} {whole_s}");
}

/// The source of the first uplink of the first leaf.
fn hot_source(setup: &Setup) -> SourceIndex {
    let topology = &setup.topology;
    let host = leaves(topology)[0][0];
    let leaf = topology.to(topology.links_from(host).next().unwrap());
    let up = |link: &LinkIndex| topology.level(topology.to(*link)) > topology.level(leaf);
    let link = topology.links_from(leaf).find(up).unwrap();
    let port = topology.port_label(leaf, topology.port(link));
    let lab = samplers::lab::Lab::new(setup.clone()).unwrap();
    let is_it = |source: &schemas::Source| {
        source.component == *topology.name(leaf) && source.parts.iter().any(|part| part.as_str() == port)
    };
    let at = lab.sources().as_slice().iter().position(|source| is_it(source)).unwrap();
    SourceIndex(at as u32)
}
