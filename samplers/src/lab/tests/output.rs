//! What the lab reports: sources, counters, jobs.

use crate::lab::{Lab, LabError, LabIo, LabJob, Noise, Pattern, Routing, Sampled, Setup, at};
use schemas::{Metric, SeriesInfo};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use topology::machines::{aries_chassis, dragonfly_plus_small, vishnu};
use topology::{Topology, VertexIndex, VertexKind};

fn setup(topology: Arc<Topology>, noise: Noise) -> Setup {
    let hosts: Vec<VertexIndex> = topology.vertices_of(VertexKind::Host).collect();
    let mut job = LabJob::new(7, hosts[..20].to_vec(), Pattern::AllToAll, 4e8);
    let targets = hosts[30..32].to_vec();
    let io =
        LabIo { bytes_per_s: 5e7, writers: 4, targets, from_s: 5, every_s: 0, for_s: 10, on_osts: false };
    (job.io, job.work_s, job.start_s) = (Some(io), 20.5, 3);
    Setup { topology, routing: Routing::Tables, jobs: vec![job], events: Vec::new(), noise, seed: 11 }
}

const STILL: Noise = Noise { load: 0.0, ratio: 0.0, background: false, missing: 0.0 };

#[test]
fn each_link_with_a_series_has_its_counters_once() {
    for topology in [vishnu().unwrap(), aries_chassis().unwrap(), dragonfly_plus_small().unwrap()] {
        let mut lab = Lab::new(setup(Arc::clone(&topology), STILL)).unwrap();
        let tick = lab.step();
        let mut reported = Vec::new();
        for (source, time, counters) in tick.counters.rows() {
            let source = tick.sources.get(source).unwrap();
            let of_links = if source.metrics == [Metric::from_name("ib_wait_ratio").unwrap()] {
                2 * source.parts.len()
            } else {
                0
            };
            assert_eq!((counters.len(), time), (source.counters() + of_links, at(1.0)));
            reported.extend(source.series().map(|(metric, part)| {
                let (component, part) = (source.component.clone(), Some(part.clone()));
                SeriesInfo { metric, component, part }.name()
            }));
        }
        let distinct: BTreeSet<String> = reported.iter().cloned().collect();
        assert_eq!(distinct.len(), reported.len());
        let mut expected: BTreeSet<String> =
            topology.links().filter_map(|link| topology.series_name(link)).collect();
        let hosts = topology.vertices_of(VertexKind::Host).take(20);
        expected.extend(hosts.flat_map(|host| {
            ["read", "write"].map(|what| format!("lustre_{what}_rate/{}/scratch", topology.name(host)))
        }));
        assert_eq!(distinct, expected);
    }
}

/// Growth of each counter between the ends of two seconds, by series.
fn growth(lab: &mut Lab) -> BTreeMap<String, Vec<u64>> {
    let mut rows = [BTreeMap::new(), BTreeMap::new()];
    for kept in &mut rows {
        let tick = lab.step();
        for (source, _, counters) in tick.counters.rows() {
            let source = tick.sources.get(source).unwrap();
            for (at, (metric, part)) in source.series().enumerate() {
                let (counters, component) = (&counters[source.columns_of(at)], source.component.clone());
                let name = SeriesInfo { metric, component, part: Some(part.clone()) }.name();
                kept.insert(name, counters.to_vec());
            }
        }
    }
    let [before, after] = rows;
    let difference = |(name, now): (String, Vec<u64>)| {
        let grown = before[&name].iter().zip(&now).map(|(b, n)| n - b).collect();
        (name, grown)
    };
    after.into_iter().map(difference).collect()
}

#[test]
fn without_noise_counters_give_exact_loads_and_ratios() {
    for topology in [vishnu().unwrap(), aries_chassis().unwrap()] {
        let mut lab = Lab::new(setup(Arc::clone(&topology), STILL)).unwrap();
        for _ in 0..9 {
            lab.step();
        }
        let grown = growth(&mut lab);
        let mut busy = 0;
        for link in topology.links() {
            let Some(series) = topology.series(link) else { continue };
            let counters = &grown[&series.name()];
            let words: u64 = counters[1..].iter().sum();
            let bytes =
                if series.metric == Metric::from_name("aries_stall_ratio").unwrap() { 16.0 } else { 4.0 };
            let load = lab.utilisations()[link.at()] * topology.bytes_per_s(link) / bytes;
            let (words, stalls) = if series.metric == Metric::from_name("ib_wait_ratio").unwrap() {
                (counters[1], counters[0])
            } else {
                (words, counters[0])
            };
            assert!((words as f64 - load).abs() < 9.0, "{words} {load}");
            if load > 0.0 {
                busy += 1;
                assert!((stalls as f64 / load - lab.ratios()[link.at()]).abs() < 1e-5);
            }
        }
        assert!(busy > 40);
        let written = |index: usize| {
            let host = lab.setup().jobs[0].nodes[index];
            grown[&format!("lustre_write_rate/{}/scratch", topology.name(host))][0]
        };
        assert_eq!((written(0), written(1), written(5)), (50_000_000, 0, 50_000_000));
    }
}

/// Counters of each series at the end of a second.
fn counted(lab: &mut Lab) -> BTreeMap<String, Vec<u64>> {
    let tick = lab.step();
    let mut found = BTreeMap::new();
    for (source, _, counters) in tick.counters.rows() {
        let source = tick.sources.get(source).unwrap();
        for (at, (metric, part)) in source.series().enumerate() {
            let (component, part) = (source.component.clone(), Some(part.clone()));
            let of_series = counters[source.columns_of(at)].to_vec();
            assert_eq!(found.insert(SeriesInfo { metric, component, part }.name(), of_series), None);
        }
    }
    found
}

#[test]
fn metrics_of_waits_leave_the_others_as_they_are() {
    for (topology, added) in [
        (
            vishnu().unwrap(),
            &["ib_congested_ratio", "ib_fecn_ratio", "lustre_data_wait", "lustre_ost_load"][..],
        ),
        (aries_chassis().unwrap(), &["aries_nic_stall_ratio", "lustre_data_wait", "lustre_ost_load"]),
    ] {
        let setup = setup(topology, Noise::default());
        let [mut costs, mut all] =
            [Sampled::Costs, Sampled::All].map(|sampled| Lab::sampled(setup.clone(), sampled).unwrap());
        for _ in 0..12 {
            let (costs, mut all) = (counted(&mut costs), counted(&mut all));
            let before = all.len();
            all.retain(|series, _| !added.iter().any(|metric| series.starts_with(metric)));
            assert!(before > all.len());
            assert_eq!(all, costs);
        }
    }
}

#[test]
fn full_queue_marks_packets_to_the_end_of_their_way() {
    let topology = vishnu().unwrap();
    let host = |number: u32| topology.vertex(&format!("node{number:04}")).unwrap();
    // Both send over the first uplink, which carries 1 GB/s.
    let job = |id, from| LabJob::new(id, vec![host(from), host(13)], Pattern::Broadcast, 0.75e9);
    let mut setup = setup(Arc::clone(&topology), STILL);
    setup.jobs = vec![job(1, 1), job(2, 2)];
    let mut lab = Lab::sampled(setup, Sampled::All).unwrap();
    let [before, after] = [(); 2].map(|()| counted(&mut lab));
    let grown = |series: &str| -> Vec<u64> {
        before[series].iter().zip(&after[series]).map(|(before, after)| after - before).collect()
    };
    let rises = |metric: &str| -> Vec<String> {
        let of_metric = after.keys().filter(|series| series.starts_with(metric));
        of_metric.filter(|series| grown(series)[0] > 0).cloned().collect()
    };
    let [congested] = &rises("ib_congested_ratio")[..] else { panic!("{:?}", rises("ib_congested_ratio")) };
    assert!(congested.starts_with("ib_congested_ratio/leaf01/"), "{congested}");
    // It sends a word in each tick.
    let [ticks, words] = grown(congested)[..] else { panic!("{congested}") };
    assert!(ticks.abs_diff(250_000_000) < 9 && words.abs_diff(ticks) < ticks / 2, "{ticks} {words}");
    let marked = rises("ib_fecn_ratio");
    let [leaf, spine] = &marked[..] else { panic!("{marked:?}") };
    assert!(
        leaf.starts_with("ib_fecn_ratio/leaf02/") && spine.starts_with("ib_fecn_ratio/spine"),
        "{marked:?}"
    );
    for series in &marked {
        let [marks, packets] = grown(series)[..] else { panic!("{series}") };
        assert!(marks.abs_diff(packets / 16) < 3, "{marks} {packets}");
    }
}

#[test]
fn requests_to_busy_osts_wait_as_much_longer_as_less_is_written() {
    let topology = vishnu().unwrap();
    let hosts: Vec<VertexIndex> = topology.vertices_of(VertexKind::Host).collect();
    let writer = |id: u64, start_s| {
        let io = LabIo {
            bytes_per_s: 4e8,
            writers: 1,
            targets: vec![hosts[31]],
            from_s: 0,
            every_s: 0,
            for_s: 100,
            on_osts: true,
        };
        let node = vec![hosts[id as usize]];
        LabJob { io: Some(io), start_s, work_s: 60.0, ..LabJob::new(id, node, Pattern::Uniform, 0.0) }
    };
    let mut setup = setup(Arc::clone(&topology), STILL);
    setup.jobs = (1..9).map(|id| writer(id, if id == 1 { 0 } else { 10 })).collect();
    let mut lab = Lab::sampled(setup, Sampled::All).unwrap();
    let node = topology.name(hosts[1]).to_string();
    let mut second = |skipped: u32| {
        (0..skipped).for_each(|_| _ = lab.step());
        let [before, after] = [(); 2].map(|()| counted(&mut lab));
        let grown = |metric: &str, at: usize| {
            let series = format!("{metric}/{node}/scratch");
            (after[&series][at] - before[&series][at]) as f64
        };
        let [waited, requests] = [0, 1].map(|at| grown("lustre_data_wait", at));
        [waited / requests, grown("lustre_write_rate", 0)]
    };
    let (alone, beside) = (second(4), second(10));
    assert!((4_000.0..4_400.0).contains(&alone[0]), "{alone:?}");
    let [longer, less] = [beside[0] / alone[0], alone[1] / beside[1]];
    assert!(longer > 1.5 && (longer / less - 1.0).abs() < 0.05, "{alone:?} {beside:?}");
}

#[test]
fn an_ost_counts_the_bytes_of_all_its_writers() {
    let topology = vishnu().unwrap();
    let hosts: Vec<VertexIndex> = topology.vertices_of(VertexKind::Host).collect();
    let writer = |id: u64, targets: Vec<VertexIndex>| {
        let (writers, bytes_per_s) = (2, 1e8);
        let io = LabIo { bytes_per_s, writers, targets, from_s: 0, every_s: 0, for_s: 100, on_osts: false };
        let nodes = hosts[2 * id as usize..][..2].to_vec();
        LabJob { io: Some(io), work_s: 60.0, ..LabJob::new(id, nodes, Pattern::Uniform, 0.0) }
    };
    let mut setup = setup(Arc::clone(&topology), STILL);
    setup.jobs = vec![writer(1, vec![hosts[31]]), writer(2, vec![hosts[31], hosts[30]])];
    let mut lab = Lab::sampled(setup, Sampled::All).unwrap();
    lab.step();
    let [before, after] = [(); 2].map(|()| counted(&mut lab));
    let grown = |metric: &str, host: VertexIndex, part: &str| {
        let series = format!("{metric}/{}/{part}", topology.name(host));
        after[&series].iter().zip(&before[&series]).map(|(after, before)| after - before).sum::<u64>()
    };
    let clients = (2..6).map(|at| grown("lustre_write_rate", hosts[at], "scratch")).sum::<u64>();
    let [first, second] = [(30, "scratch-OST0000"), (31, "scratch-OST0001")]
        .map(|(at, ost)| grown("lustre_ost_load", hosts[at], ost));
    assert!(clients.abs_diff(first + second) <= 4, "{clients} {first} {second}");
    assert!((97_000_000..100_000_000).contains(&first), "{first}");
    assert!((291_000_000..300_000_000).contains(&second), "{second}");
}

#[test]
fn idle_links_carry_background_within_the_bounds_of_the_report() {
    let mut setup = setup(vishnu().unwrap(), Noise::default());
    setup.jobs.clear();
    let mut lab = Lab::new(setup).unwrap();
    let (mut stalled, mut all) = (0, 0);
    for _ in 0..20 {
        for (name, counters) in growth(&mut lab) {
            let (waits, words) = (counters[0], counters[1]);
            assert!((700..14_000).contains(&words), "{name} {words}");
            assert!(waits <= 10 * words, "{name} {waits} {words}");
            (stalled, all) = (stalled + u32::from(waits > 0), all + 1);
        }
    }
    let share = f64::from(stalled) / f64::from(all);
    assert!((0.08..0.12).contains(&share), "{share}");
}

#[test]
fn rows_of_a_component_are_missing_together() {
    let mut lab = Lab::new(setup(vishnu().unwrap(), Noise { missing: 0.25, ..Noise::default() })).unwrap();
    let all = lab.sources().as_slice().len();
    let of = |lab: &Lab| {
        let mut rows: BTreeMap<String, usize> = BTreeMap::new();
        for source in lab.sources().as_slice() {
            *rows.entry(source.component.to_string()).or_default() += 1;
        }
        rows
    };
    let whole = of(&lab);
    let mut seen = 0;
    for _ in 0..100 {
        let tick = lab.step();
        let mut rows: BTreeMap<String, usize> = BTreeMap::new();
        for (source, ..) in tick.counters.rows() {
            *rows.entry(tick.sources.get(source).unwrap().component.to_string()).or_default() += 1;
        }
        assert!(rows.iter().all(|(component, count)| whole[component] == *count));
        seen += tick.counters.len();
    }
    let share = seen as f64 / (100 * all) as f64;
    assert!((0.7..0.8).contains(&share), "{share}");
}

#[test]
fn known_jobs_are_reported_at_start_and_end() {
    let mut setup = setup(vishnu().unwrap(), STILL);
    let mut hidden = setup.jobs[0].clone();
    (hidden.job_id, hidden.known) = (8, false);
    setup.jobs.push(hidden);
    let mut lab = Lab::new(setup).unwrap();
    let mut reported = Vec::new();
    while !lab.is_over() {
        let second = lab.seconds();
        reported.extend(lab.step().jobs.iter().map(|job| (second, job.clone())));
    }
    assert_eq!(reported.len(), 2);
    assert_eq!((reported[0].0, reported[0].1.start, reported[0].1.end), (3, at(3.0), None));
    let end = lab.truth().job(7).unwrap().end_s.unwrap();
    assert!(end > 23.5, "two jobs on the same hosts slow each other down: {end}");
    assert_eq!((reported[1].1.end, reported[1].1.nodes.len()), (Some(at(end)), 20));
}

#[test]
fn counters_are_reproducible_by_setup_and_seed() {
    let play = |seed| {
        let mut lab = Lab::new(Setup { seed, ..setup(vishnu().unwrap(), Noise::default()) }).unwrap();
        (0..30).map(|_| lab.step().counters.clone()).collect::<Vec<_>>()
    };
    assert_eq!(play(3), play(3));
    assert_ne!(play(3), play(4));
}

#[test]
fn setups_that_make_no_sense_are_refused() {
    let topology = vishnu().unwrap();
    let spoilt = |spoil: fn(&mut Setup)| {
        let mut setup = setup(Arc::clone(&topology), STILL);
        spoil(&mut setup);
        Lab::new(setup).unwrap_err()
    };
    assert!(matches!(spoilt(|s| s.jobs[0].coupling = 1.5), LabError::Number { job_id: 7, .. }));
    assert!(matches!(spoilt(|s| s.jobs[0].bytes_per_s = f64::NAN), LabError::Number { .. }));
    assert!(matches!(spoilt(|s| s.jobs.push(s.jobs[0].clone())), LabError::Twice(7)));
    assert!(matches!(spoilt(|s| s.jobs[0].nodes.push(VertexIndex(9999))), LabError::NoHost { .. }));
    let switch = |s: &mut Setup| s.jobs[0].nodes[0] = s.topology.vertex("spine01").unwrap();
    assert!(matches!(spoilt(switch), LabError::NoHost { .. }));
}
