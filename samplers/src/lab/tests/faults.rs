//! What breaks, and how it shows.

use crate::lab::{Change, Event, Lab, LabError, LabJob, LabTruth, Noise, Pattern, Routing, START, Setup};
use schemas::Cause;
use std::collections::BTreeMap;
use std::sync::Arc;
use topology::machines::{two_level, vishnu};
use topology::{LinkIndex, Topology, VertexIndex, VertexKind};

fn event(at_s: u32, change: Change) -> Event {
    Event { at_s, change }
}

fn host(topology: &Topology, number: u32) -> VertexIndex {
    topology.vertex(&format!("node{number:04}")).unwrap()
}

/// Host 1 sends to host 13, over the first uplink.
fn setup(topology: &Arc<Topology>, events: Vec<Event>) -> Setup {
    let topology = Arc::clone(topology);
    let nodes = vec![host(&topology, 1), host(&topology, 13)];
    let mut job = LabJob::new(1, nodes, Pattern::Broadcast, 0.4e9);
    job.work_s = 500.0;
    let noise = Noise { load: 0.0, ratio: 0.0, background: true, missing: 0.0 };
    Setup { topology, routing: Routing::Tables, jobs: vec![job], events, noise, seed: 1 }
}

/// The cable from the leaf of host 1 to the first spine.
fn uplink(topology: &Topology) -> LinkIndex {
    let leaf = topology.vertex("leaf01").unwrap();
    topology.links_from(leaf).find(|l| topology.kind(topology.to(*l)) == VertexKind::Switch).unwrap()
}

fn play(lab: &mut Lab, seconds: u32) {
    for _ in 0..seconds {
        lab.step();
    }
}

fn truth_after(setup: Setup, seconds: u32) -> LabTruth {
    let mut lab = Lab::new(setup).unwrap();
    play(&mut lab, seconds);
    lab.truth()
}

#[test]
fn narrowed_link_slows_flows_and_is_blamed_like_a_failure() {
    let topology = vishnu().unwrap();
    let link = uplink(&topology);
    let narrow = |at_s, link, percent| event(at_s, Change::Narrow { link, percent });
    // Given in no order, and once by the other direction.
    let events = vec![narrow(20, topology.reverse(link), 100), narrow(10, link, 25)];
    let mut lab = Lab::new(setup(&topology, events)).unwrap();
    for second in 0..30 {
        lab.step();
        let wanted = if (10..20).contains(&second) { 1.6 } else { 0.4 };
        assert!((lab.utilisations()[link.at()] - wanted).abs() < 1e-9, "{second}");
    }
    let truth = lab.truth();
    let lost = &truth.job(1).unwrap().lost;
    assert!(lost.failover_s > 3.0 && lost.to.is_empty(), "{lost:?}");
    let narrowed = truth.link_at(link, 15).unwrap();
    assert_eq!((narrowed.cause, narrowed.victim), (Cause::FailoverInduced, 1));
    assert!(truth.links_at(9).is_empty() && truth.links_at(20).is_empty());
}

#[test]
fn width_and_state_of_a_link_are_independent() {
    let topology = two_level(2, 2, 12).unwrap();
    let link = uplink(&topology);
    let changes = [
        (5, Change::Narrow { link, percent: 50 }),
        (5, Change::Down(link)),
        (6, Change::Down(topology.reverse(link))),
        (7, Change::Up(link)),
        (8, Change::Up(link)),
        (9, Change::Down(link)),
        (9, Change::Up(link)),
        (10, Change::Narrow { link, percent: 50 }),
        (11, Change::Up(link)),
        (11, Change::Down(link)),
    ];
    // Given in no order of seconds; the order within a second is the one given.
    let mut events: Vec<Event> = changes.into_iter().map(|(at_s, change)| event(at_s, change)).collect();
    events.sort_by_key(|event| std::cmp::Reverse(event.at_s));
    let (_, waits) = counted(&topology, events, 13, link);
    let downs: Vec<u64> = waits.iter().map(|row| row.2).collect();
    assert_eq!(downs, [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3]);
    let words: Vec<bool> = waits.windows(2).map(|rows| rows[1].1 > rows[0].1 + 100_000).collect();
    assert_eq!(words, [true, true, true, true, false, false, true, true, true, true, false, false]);
}

/// Time, words and failures that the port of `link` reports, second by second; the whole rows by second too.
type Counted = (BTreeMap<usize, usize>, Vec<(i64, u64, u64)>);

fn counted(topology: &Arc<Topology>, events: Vec<Event>, seconds: usize, link: LinkIndex) -> Counted {
    let mut lab = Lab::new(setup(topology, events)).unwrap();
    let (component, part) = (
        topology.name(topology.from(link)).clone(),
        topology.port_label(topology.from(link), topology.port(link)),
    );
    let (mut rows, mut seen) = (BTreeMap::new(), Vec::new());
    for second in 0..seconds {
        let tick = lab.step();
        for (source, time, counters) in tick.counters.rows() {
            let source = tick.sources.get(source).unwrap();
            if source.component == component {
                *rows.entry(second).or_default() += 1;
                if source.parts[0].as_str() == part && source.schema.as_str() == "ibnet" {
                    seen.push((time.0 - START.0, counters[1], counters[2]));
                }
            }
        }
    }
    (rows, seen)
}

#[test]
fn a_flapping_link_counts_every_fall_and_its_flows_come_and_go() {
    let topology = vishnu().unwrap();
    let link = uplink(&topology);
    let other = topology.links_from(topology.from(link)).last().unwrap();
    let change = |at_s, up, link| event(at_s, if up { Change::Up(link) } else { Change::Down(link) });
    let mut events: Vec<Event> = (2..10).map(|at_s| change(at_s, at_s % 2 == 1, link)).collect();
    // In between another cable is down too, and with all of them up nothing is left of it.
    events.extend([change(4, false, other), change(7, true, other)]);
    let (_, seen) = counted(&topology, events.clone(), 12, link);
    assert_eq!(seen.last().unwrap().2, 4);
    let mut lab = Lab::new(setup(&topology, events)).unwrap();
    for second in 0..12 {
        lab.step();
        let is_down = (2..10).contains(&second) && second % 2 == 0;
        assert_eq!(lab.utilisations()[link.at()] == 0.0, is_down, "{second}");
        assert!(lab.utilisations()[other.at()] == 0.0 || is_down, "{second}");
    }
}

#[test]
fn a_reset_begins_all_counters_of_a_switch_at_zero() {
    let topology = vishnu().unwrap();
    let link = uplink(&topology);
    let leaf = topology.from(link);
    let events =
        vec![event(1, Change::Down(link)), event(2, Change::Up(link)), event(4, Change::Reset(leaf))];
    let (_, seen) = counted(&topology, events, 6, link);
    let failures: Vec<u64> = seen.iter().map(|row| row.2).collect();
    assert_eq!(failures, [0, 1, 1, 1, 0, 0]);
    let grown = seen[5].1 - seen[4].1;
    assert!(seen[4].1 < seen[3].1 && seen[4].1.abs_diff(grown) < 20_000, "{seen:?}");
}

#[test]
fn silent_switch_reports_nothing_and_continues_counting() {
    let topology = vishnu().unwrap();
    let link = uplink(&topology);
    let leaf = topology.from(link);
    let events = vec![event(6, Change::Reporting(leaf)), event(3, Change::Silent(leaf))];
    let (rows, seen) = counted(&topology, events, 8, link);
    assert_eq!(rows.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 6, 7]);
    let (second, gap) = (seen[2].1 - seen[1].1, seen[3].1 - seen[2].1);
    assert!((gap as f64 / second as f64 - 4.0).abs() < 0.01, "{seen:?}");
    assert_eq!(truth_after(setup(&topology, Vec::new()), 8).jobs, {
        let events = vec![event(3, Change::Silent(leaf)), event(4, Change::Reset(leaf))];
        truth_after(setup(&topology, events), 8).jobs
    });
}

#[test]
fn a_skewed_clock_stamps_the_rows_of_one_switch_alone() {
    let topology = vishnu().unwrap();
    let link = uplink(&topology);
    let skew = |at_s, vertex, ms| event(at_s, Change::Skew { vertex, ms });
    let leaf = topology.from(link);
    let events =
        vec![skew(2, leaf, 300), skew(3, leaf, -1500), skew(4, leaf, 0), skew(1, topology.to(link), 77)];
    let (_, seen) = counted(&topology, events, 5, link);
    let times: Vec<i64> = seen.iter().map(|row| row.0).collect();
    assert_eq!(times, [1_000_000, 2_000_000, 3_300_000, 2_500_000, 5_000_000]);
}

#[test]
fn events_about_nothing_are_refused() {
    let topology = vishnu().unwrap();
    let refused = |change| Lab::new(setup(&topology, vec![event(1, change)])).unwrap_err();
    let (link, absent) = (uplink(&topology), VertexIndex(99_999));
    assert_eq!(refused(Change::Up(LinkIndex(99_999))), LabError::NoLink(99_999));
    assert_eq!(refused(Change::Narrow { link: LinkIndex(99_999), percent: 50 }), LabError::NoLink(99_999));
    for percent in [0, 101] {
        assert_eq!(refused(Change::Narrow { link, percent }), LabError::Width { link: link.0, percent });
    }
    for change in [
        Change::Reset(absent),
        Change::Silent(absent),
        Change::Reporting(absent),
        Change::Skew { vertex: absent, ms: 1 },
    ] {
        assert_eq!(refused(change), LabError::NoVertex(99_999));
    }
}
