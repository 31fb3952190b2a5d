//! Where traffic goes, and I/O together with messages (Brown 2018; Jha 2017 for collective I/O).

use super::{asked_by, at_peak, found, is_inner, leaves, peak, scattered, setup, share_of};
use crate::integration::fabric::play::play_with;
use detector::detector::Detector;
use detector::equations::geometric_mean;
use detector::fabric::FabricSettings;
use detector::model::ModelKind;
use detector::settings::Settings;
use samplers::lab::scenarios::{DURATION_S, ONSET_S, ScenarioKind, labelled};
use samplers::lab::{Lab, LabIo, LabJob, Noise, Pattern, Routing, Setup};
use schemas::{Cause, CounterBatch, Evidence, Metric, SeriesIndex, SourceIndex, State};
use std::collections::{BTreeMap, BTreeSet};
use topology::VertexIndex;
use topology::machines::{brown, two_level};

/// B5: ranks of an all-to-all exchange in one pod, and all over the machine. Destination-mod-k spreads either so evenly
/// that the peak of those in one pod is lower by no more than what stays inside a leaf; what all links carry is
/// much lower.
#[test]
fn ranks_in_one_pod_leave_the_third_level_alone() {
    let topology = brown().unwrap();
    let hosts = leaves(&topology).concat();
    let level = |vertex| topology.level(vertex).unwrap();
    let third = |link: topology::LinkIndex| level(topology.from(link)).max(level(topology.to(link))) == 3;
    let of = |nodes: Vec<VertexIndex>| {
        let loads = asked_by(&topology, &LabJob::new(1, nodes, Pattern::AllToAll, 12.5e9));
        let inner: f64 = topology.links().filter(|l| is_inner(&topology, *l)).map(|l| loads[l.at()]).sum();
        [peak(&topology, &loads, third), peak(&topology, &loads, |link| is_inner(&topology, link)), inner]
    };
    let [third_in_pod, peak_in_pod, all_in_pod] = of(hosts[..128].to_vec());
    assert_eq!(third_in_pod, 0.0);
    for seed in 0..5 {
        let [third_scattered, peak_scattered, all_scattered] = of(scattered(&hosts, 128, seed));
        assert!(third_scattered > 0.0, "seed {seed}");
        assert!(peak_in_pod < peak_scattered, "seed {seed}: {peak_in_pod} {peak_scattered}");
        assert!(all_in_pod < 0.7 * all_scattered, "seed {seed}: {all_in_pod} {all_scattered}");
    }
}

/// Two jobs on the same leaves: messages of the first, and writes of 24 nodes of the second to four servers on one leaf.
/// Given are the load of the uplinks by messages, and the bytes a second of each writer, before the onset and after it.
fn both(messages: [f64; 2], writes: [f64; 2]) -> Setup {
    let topology = two_level(12, 12, 24).unwrap();
    let used = leaves(&topology);
    let targets = used[11][..4].to_vec();
    let lot = |from: usize, to: usize| -> Vec<VertexIndex> {
        used[..3].iter().flat_map(|leaf| leaf[from..to].to_vec()).collect()
    };
    let sender = |job_id, utilisation| {
        at_peak(&topology, LabJob::new(job_id, lot(0, 12), Pattern::AllToAll, 1.0), utilisation)
    };
    let writer = |job_id, bytes_per_s| {
        let targets = targets.clone();
        let io =
            LabIo { bytes_per_s, writers: 24, targets, from_s: 0, every_s: 0, for_s: 400, on_osts: false };
        LabJob { io: Some(io), ..LabJob::new(job_id, lot(12, 20), Pattern::AllToAll, 0.0) }
    };
    let sent = from_onset(messages.map(|utilisation| sender(1, utilisation)));
    let written = from_onset(writes.map(|bytes_per_s| writer(2, bytes_per_s)));
    setup(&topology, [sent, written].concat())
}

/// A job as it is before the onset and after it: one job if that is the same, else two.
fn from_onset([before, after]: [LabJob; 2]) -> Vec<LabJob> {
    if before == after {
        return vec![LabJob { work_s: 350.0, ..after }];
    }
    let before = LabJob { job_id: before.job_id + 100, work_s: f64::from(ONSET_S - 5), ..before };
    vec![before, LabJob { start_s: ONSET_S, work_s: 200.0, ..after }]
}

/// B8: 4 KB I/O with 4 KB messages.
#[test]
fn small_io_and_small_messages_do_not_disturb_each_other() {
    let played = found(&both([0.2; 2], [2e7; 2]));
    assert!(played.regions.is_empty(), "{:?}", played.regions);
}

/// B8: 4 KB I/O together with 4 MB messages. The messages fill the uplinks, and the writer, which sends little, waits.
#[test]
fn large_messages_slow_small_io_and_not_the_other_way_round() {
    let played = found(&both([0.2, 1.15], [2e7; 2]));
    assert!(!played.regions.is_empty());
    let [own, others] = played.lost[&2];
    let truth = played.truth.job(2).unwrap().lost.to_others_s();
    assert!(truth > 10.0 && own < 0.1 * others, "writer: itself {own}, others {others}");
    let [own, others] = played.lost[&1];
    assert!(own > 5.0 * others, "messages: themselves {own}, others {others}");
    for region in &played.regions {
        assert!(share_of(region, Cause::IoOnMpi, 2) < 0.05, "{region:?}");
    }
}

/// B8: 4 MB I/O above what its servers take is its own fault; no job is blamed for light messages on the same links.
#[test]
fn io_past_its_own_threshold_blames_no_neighbour() {
    let played = found(&both([0.2; 2], [2e7, 4e8]));
    assert!(!played.regions.is_empty());
    for region in &played.regions {
        assert!(share_of(region, Cause::OtherJob, 1) < 0.05, "{region:?}");
        // The job that had the nodes before is over.
        assert!(region.victims.iter().all(|victim| victim.job_id.as_str() != "102"), "{region:?}");
        assert_eq!(share_of(region, Cause::OtherJob, 102), 0.0, "{region:?}");
    }
    let [own, others] = played.lost[&2];
    assert!(own > 20.0 * others.max(1.0), "writer: itself {own}, others {others}");
}

/// B8: 4 MB messages, from little to more than the uplinks carry, without any I/O.
#[test]
fn messages_that_fill_their_links_alone_are_self() {
    let mut setup = both([0.2, 1.15], [0.0; 2]);
    setup.jobs.retain(|job| job.job_id != 2);
    let played = found(&setup);
    assert!(!played.regions.is_empty());
    for region in &played.regions {
        assert_eq!(region.cause, Cause::SelfInflicted, "{region:?}");
    }
}

/// B9: the lab knows tables and a choice by hash at each switch; light load raises nothing in either.
#[test]
fn no_routing_mode_raises_an_alarm_by_itself() {
    for routing in [Routing::Tables, Routing::Minimal] {
        let mut setup = both([0.2; 2], [2e7; 2]);
        setup.routing = routing;
        let played = found(&setup);
        assert!(played.regions.is_empty(), "{routing:?}: {:?}", played.regions);
    }
}

/// J8: collective I/O of 225 nodes, 64 of them aggregators, which write 100 MB/s for 36 s.
#[test]
fn silent_nodes_are_not_stalled_and_aggregators_are_no_outliers() {
    let lustre = Metric::from_name("lustre_write_rate").unwrap();
    let topology = two_level(12, 12, 24).unwrap();
    let hosts = leaves(&topology).concat();
    let mut job = LabJob::new(1, hosts[..225].to_vec(), Pattern::AllToAll, 0.0);
    let targets = hosts[225..].to_vec();
    job.io = Some(LabIo {
        bytes_per_s: 1e8,
        writers: 64,
        targets,
        from_s: ONSET_S,
        every_s: 0,
        for_s: 36,
        on_osts: false,
    });
    job.work_s = 250.0;
    let mut setup = setup(&topology, vec![job]);
    setup.noise = Noise { load: 0.0, ..Noise::default() };
    let mut detector = Detector::new(Settings::of(ModelKind::Robust));
    let mut lab = Lab::new(setup).unwrap();
    let (mut written, mut episodes) = (0.0, 0);
    let mut latest: BTreeMap<SeriesIndex, (f64, f64)> = BTreeMap::new();
    let mut take = |detector: &mut Detector| {
        let batch = detector.take();
        let is_write = |series: SeriesIndex| detector.series()[series.at()].metric == lustre;
        for signal in batch.signals.iter().filter(|signal| is_write(signal.series)) {
            let judged = matches!(signal.state, State::Clear | State::Contended);
            assert!(signal.value.is_finite() && (!judged || signal.mean.is_finite()), "{signal:?}");
            assert!(signal.state != State::Contended, "{signal:?}");
            let known = latest.entry(signal.series).or_default();
            *known = (signal.value.max(known.0), signal.slowdown_s);
            written += signal.value;
        }
        episodes += batch.episodes.len();
    };
    for _ in 0..300 {
        let tick = lab.step();
        tick.jobs.iter().for_each(|job| detector.job(job.clone()));
        detector.rows(tick.sources, tick.counters);
        take(&mut detector);
    }
    detector.finish();
    take(&mut detector);
    assert_eq!((latest.len(), episodes), (225, 0));
    assert_eq!(latest.values().filter(|(highest, _)| *highest > 0.0).count(), 64);
    assert!((written / (64.0 * 3_600e6) - 1.0).abs() < 1e-9, "{written}");
    let result = &detector.job_results()[0];
    assert_eq!((result.slowdown_s, result.contended_s), (0.0, 0.0), "{result:?}");
    // Silent nodes count with the floor of the metric, so that their mean with the others is above 0.
    let ln: Vec<f64> = latest.values().map(|(highest, _)| highest.max(lustre.floor()).ln()).collect();
    let mean = geometric_mean(&ln);
    assert!(mean.is_finite() && mean > 0.0 && mean < 1e8, "{mean}");
}

/// Without a Lustre client's rows: what leaves a job for servers that the site named is I/O all the same. Without
/// named servers, what leaves is unknown.
#[test]
fn named_servers_separate_io_from_messages_without_clients() {
    for seed in 0..3 {
        let case = labelled(ScenarioKind::IoOnMpi, seed).unwrap();
        let writer = case.setup.jobs.iter().find_map(|job| job.io.as_ref()).unwrap();
        let servers = writer.targets.iter().map(|host| case.setup.topology.name(*host).clone());
        let named = FabricSettings { io_servers: servers.collect(), ..FabricSettings::default() };
        let clients = clients(&case.setup);
        let without_clients = |batch: &CounterBatch| {
            let mut rows = CounterBatch::default();
            let others = batch.rows().filter(|(source, ..)| !clients.contains(source));
            others.for_each(|(source, time, counters)| rows.push(source, time, counters));
            rows
        };
        let found = |settings| {
            let played = play_with(settings, DURATION_S, &case.setup, true, without_clients);
            let worst = played.regions.into_iter().max_by_key(|region| region.links_most).unwrap();
            let evidence =
                worst.causes.iter().flat_map(|cause| cause.evidence.clone()).collect::<BTreeSet<_>>();
            assert!(!evidence.contains(&Evidence::LustreBytes), "seed {seed}: {evidence:?}");
            (worst.cause, worst.causes.first().map(|cause| cause.series_or_job.clone()))
        };
        assert_eq!(found(named), (Cause::IoOnMpi, Some("2".to_string())), "seed {seed}");
        assert_ne!(found(FabricSettings::default()).0, Cause::IoOnMpi, "seed {seed}");
    }
}

/// Sources that report Lustre clients.
fn clients(setup: &Setup) -> BTreeSet<SourceIndex> {
    let lab = Lab::new(setup.clone()).unwrap();
    let sources = lab.sources().as_slice().iter().enumerate();
    let clients = sources.filter(|(_, source)| source.schema.as_str() == "lustre_client");
    clients.map(|(at, _)| SourceIndex(at as u32)).collect()
}
