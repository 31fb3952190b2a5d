//! Rows of the lab, written and decoded: their counters, and what the detector finds in metrics that show waits.

use super::*;
use aggregator::{Decoded, Decoder, Outcome};
use detector::detector::Detector;
use detector::model::ModelKind;
use detector::settings::Settings;
use samplers::lab::{Change, Event, LabIo, Noise, Pattern, Routing};
use schemas::Source;
use std::collections::BTreeSet;
use std::sync::Arc;
use topology::machines::{aries_chassis, vishnu};
use topology::{VertexIndex, VertexKind};

/// When the second job begins, and how long a case lasts.
const ONSET_S: u32 = 100;
const LENGTH_S: u32 = 160;

/// Messages from the first node to the others, at `bytes_per_s`, for as long as a case lasts.
fn job(job_id: u64, nodes: &[VertexIndex], bytes_per_s: f64, start_s: u32) -> LabJob {
    let job = LabJob::new(job_id, nodes.to_vec(), Pattern::Broadcast, bytes_per_s);
    LabJob { start_s, work_s: 1e4, ..job }
}

fn setup(topology: &Arc<Topology>, routing: Routing, jobs: Vec<LabJob>) -> Setup {
    let topology = Arc::clone(topology);
    Setup { topology, routing, jobs, events: Vec::new(), noise: Noise::default(), seed: 5 }
}

/// The lines that a second's rows are written as.
fn lines(tick: &lab::Tick<'_>) -> Vec<u8> {
    let mut lines = Vec::new();
    FILES.iter().for_each(|(_, put)| put(&mut lines, tick.sources, tick.counters));
    lines
}

/// Rows by source.
fn by_source<'b>(sources: &Sources, batch: &'b CounterBatch) -> BTreeMap<String, (Source, &'b [u64])> {
    let rows = batch.rows().map(|(source, _, counters)| {
        let source = sources.get(source).unwrap().clone();
        (format!("{}/{}/{:?}", source.schema, source.component, source.parts), (source, counters))
    });
    rows.collect()
}

#[test]
fn written_rows_decode_to_the_counters_of_the_lab() {
    for (topology, routing) in
        [(vishnu().unwrap(), Routing::Tables), (aries_chassis().unwrap(), Routing::Minimal)]
    {
        let hosts: Vec<VertexIndex> = topology.vertices_of(VertexKind::Host).collect();
        let mut job = job(1, &hosts[..8], 1e9, 0);
        let (targets, bytes_per_s) = (hosts[hosts.len() - 2..].to_vec(), 1e8);
        job.io =
            Some(LabIo { bytes_per_s, writers: 4, targets, from_s: 0, every_s: 0, for_s: 9, on_osts: false });
        let setup = setup(&topology, routing, vec![job]);
        let mut lab = Lab::sampled(setup, Sampled::All).unwrap();
        let (mut decoder, mut decoded) = (Decoder::default(), Decoded::default());
        for _ in 0..3 {
            let tick = lab.step();
            decoded.clear();
            for line in lines(&tick).split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                assert_eq!(decoder.json_line(None, line, &mut decoded), Outcome::Row);
            }
            let read = by_source(decoder.sources(), &decoded.counters);
            for (name, (source, counters)) in by_source(tick.sources, tick.counters) {
                let (of_read, read) = &read[&name];
                assert_eq!((&of_read.metrics, of_read.rank), (&source.metrics, source.rank), "{name}");
                assert_eq!(*read, counters, "{name}");
            }
            assert_eq!(decoded.counters.len(), tick.counters.len());
        }
    }
}

/// Series of `metric` with an episode, in which a signal was contended before the end, and when the first began.
fn found(setup: Setup, metric: &str) -> (BTreeSet<String>, f64) {
    let mut lab = Lab::sampled(setup, Sampled::All).unwrap();
    let (mut decoder, mut decoded) = (Decoder::default(), Decoded::default());
    let mut detector = Detector::new(Settings::of(ModelKind::Robust));
    let (mut series, mut first_s) = (BTreeSet::new(), f64::INFINITY);
    for _ in 0..LENGTH_S {
        decoded.clear();
        for line in lines(&lab.step()).split(|byte| *byte == b'\n') {
            decoder.json_line(None, line, &mut decoded);
        }
        detector.rows(decoder.sources(), &decoded.counters);
        for episode in detector.take().episodes {
            let info = &detector.series()[episode.series.at()];
            if info.metric.name() == metric {
                first_s = first_s.min(episode.start.seconds_since(lab::START));
                series.insert(info.name());
            }
        }
    }
    (series, first_s)
}

/// Two jobs meet on the first uplink of a leaf; a third one has its own.
fn meet_on_an_uplink() -> Setup {
    let topology = vishnu().unwrap();
    let host = |number: u32| topology.vertex(&format!("node{number:04}")).unwrap();
    let jobs = vec![
        job(1, &[host(1), host(13)], 0.6e9, 0),
        job(2, &[host(2), host(13)], 0.6e9, ONSET_S),
        job(3, &[host(25), host(37)], 0.6e9, 0),
    ];
    setup(&topology, Routing::Tables, jobs)
}

fn starts(series: &BTreeSet<String>, names: &[&str]) -> bool {
    series.len() == names.len() && series.iter().zip(names).all(|(found, name)| found.starts_with(name))
}

#[test]
fn full_queue_of_a_switch_port_is_found_at_that_port_alone() {
    let (series, first_s) = found(meet_on_an_uplink(), "ib_congested_ratio");
    assert!(starts(&series, &["ib_congested_ratio/leaf01/"]), "{series:?}");
    assert!((f64::from(ONSET_S) - 2.0..f64::from(ONSET_S) + 15.0).contains(&first_s), "{first_s}");
}

#[test]
fn marks_are_found_where_packets_arrive_from_a_full_queue() {
    let (series, first_s) = found(meet_on_an_uplink(), "ib_fecn_ratio");
    assert!(starts(&series, &["ib_fecn_ratio/leaf02/", "ib_fecn_ratio/spine"]), "{series:?}");
    assert!((f64::from(ONSET_S) - 2.0..f64::from(ONSET_S) + 15.0).contains(&first_s), "{first_s}");
}

#[test]
fn interface_of_a_node_that_is_held_up_is_found() {
    let topology = aries_chassis().unwrap();
    let routers: Vec<VertexIndex> = topology.vertices_of(VertexKind::Router).collect();
    let host = |router: usize, number: usize| {
        let links = topology.links_from(routers[router]).map(|link| topology.to(link));
        links.filter(|end| topology.kind(*end) == VertexKind::Host).nth(number).unwrap()
    };
    let between = topology.links_from(routers[0]).find(|link| topology.to(*link) == routers[1]).unwrap();
    let bytes_per_s = 0.7 * topology.bytes_per_s(between);
    let jobs = vec![
        job(1, &[host(0, 0), host(1, 0)], bytes_per_s, 0),
        job(2, &[host(0, 1), host(1, 1)], bytes_per_s, ONSET_S),
        job(3, &[host(2, 0), host(3, 0)], bytes_per_s, 0),
    ];
    let (series, first_s) = found(setup(&topology, Routing::Minimal, jobs), "aries_nic_stall_ratio");
    let victim =
        format!("aries_nic_stall_ratio/{}/{}a0", topology.name(host(0, 0)), topology.name(routers[0]));
    assert_eq!(series, BTreeSet::from([victim]));
    assert!((f64::from(ONSET_S) - 2.0..f64::from(ONSET_S) + 15.0).contains(&first_s), "{first_s}");
}

#[test]
fn failure_of_a_link_is_seen_beside_metrics_of_waits() {
    let topology = vishnu().unwrap();
    let leaf = topology.vertex("leaf01").unwrap();
    let is_uplink = |link: &LinkIndex| topology.kind(topology.to(*link)) == VertexKind::Switch;
    let link = topology.links_from(leaf).find(is_uplink).unwrap();
    let mut setup = meet_on_an_uplink();
    setup.events = vec![Event { at_s: 50, change: Change::Down(link) }];
    let mut lab = Lab::sampled(setup, Sampled::All).unwrap();
    let mut detector = Detector::new(Settings::of(ModelKind::Robust));
    detector.watch_links();
    let mut failed = BTreeSet::new();
    for second in 0..70 {
        let tick = lab.step();
        detector.rows(tick.sources, tick.counters);
        for tick in detector.take_links(lab::at(f64::from(second))) {
            failed.extend(tick.events.iter().map(|event| detector.series()[event.series.at()].name()));
        }
    }
    let both = [link, topology.reverse(link)].map(|link| topology.series_name(link).unwrap());
    assert_eq!(failed, BTreeSet::from(both));
}
