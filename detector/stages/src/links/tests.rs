//! Results of the fabric for updates in different orders, repeated, or in other bundles.

use super::merge::{WAITING_MAX, WAITING_WORDS_MAX};
use super::*;
use crate::rolling::Rolling;
use crate::stage::Stage;
use aggregator::JobBook;
use detector::fabric::{FabricSettings, LinkTick, Network};
use schemas::{JobEvent, SeriesTable, Time};
use schemas::{Metric, Name, Region};
use std::sync::Arc;
use topology::generate::FatTree;
use topology::{Machine, VertexKind};

mod clocks;
mod sizes;

fn read_up_to(watermark: Time, newest: Option<Time>) -> ReadUpTo {
    let rows = newest.map_or(0, |newest| newest.0 as u64);
    ReadUpTo { watermark, newest, rows }
}

fn network() -> Arc<Network> {
    Arc::new(Network::of(Machine::FatTree(FatTree::vishnu(0)).build().unwrap()))
}

/// Uplinks of one leaf, reported half by each of two partitions; all stall from second 10 to 40.
fn updates(network: &Network, partition: i32) -> Vec<TickUpdate> {
    let topology = &network.topology;
    let mut uplinks: Vec<SeriesInfo> = topology
        .links()
        .filter(|link| topology.level(topology.from(*link)) < topology.level(topology.to(*link)))
        .filter_map(|link| topology.series(link))
        .filter(|series| {
            series.metric == Metric::from_name("ib_wait_ratio").unwrap()
                && series.component == Name::parse("leaf01").unwrap()
        })
        .collect();
    uplinks.sort_by_key(SeriesInfo::name);
    let own: Vec<SeriesInfo> = uplinks.into_iter().skip(partition as usize).step_by(2).collect();
    assert!(own.len() > 2);
    let table: SeriesTable = own;
    let mut updates = LinkUpdates::new(1.0, 3.0);
    updates.progress(read_up_to(Time::from_seconds(68.0), Some(Time::from_seconds(68.0))));
    for tick in 0..60 {
        let contended = (10..40).contains(&tick);
        let report = |at: usize| LinkReport {
            series: SeriesIndex(at as u32),
            load_bytes_per_s: 1e9,
            mean_bytes_per_s: 0.0,
            value: if contended { 1.2 } else { 0.05 },
            baseline: 0.05,
            contended,
            active: true,
            since_ticks: 0,
            off_ms: 0,
        };
        let reports = (0..table.len()).map(report).collect();
        updates.ticks(vec![LinkTick { tick, reports, events: Vec::new() }], &table);
    }
    updates.take(partition).unwrap().updates
}

fn message(partition: i32, updates: Vec<TickUpdate>) -> LinkMessage {
    let last = updates.last().map_or(0, |updates| updates.tick);
    LinkMessage {
        partition,
        more: false,
        watermark_tick: last + 8,
        newest: Some(last + 8),
        silent_s: 0.0,
        behind_s: 0.0,
        lateness_s: 3.0,
        final_tick: Some(last),
        jobs: Vec::new(),
        jobs_from: (0, 0),
        updates,
    }
}

fn read(payload: &[u8]) -> LinkMessage {
    let (kind, body) = Kind::split(payload).unwrap();
    assert_eq!(kind, Kind::Links);
    LinkMessage::read(body).unwrap()
}

fn regions(messages: Vec<LinkMessage>) -> Vec<Region> {
    let mut merge = LinkMerge::new(2, FabricSettings::default(), Some(network()));
    for message in messages {
        let payload = message.payload().unwrap();
        merge.message(read(&payload));
    }
    merge.fabric_mut().finish();
    merge.fabric_mut().take_regions()
}

#[test]
fn links_of_two_partitions_form_one_region() {
    let network = network();
    let both = (0..2).map(|partition| message(partition, updates(&network, partition)));
    let found = regions(both.collect());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].links_most, found[0].name.as_str(), found[0].open),
        (12, "uplinks of leaf01", false)
    );
}

/// An event in second `said` of a job on all hosts, from second 5 to 30.
fn job_on_all(network: &Network, id: &str, said: f64) -> JobEvent {
    let hosts = network.topology.vertices_of(VertexKind::Host);
    JobEvent {
        time: Time::from_seconds(said),
        nodes: hosts.map(|host| network.topology.name(host).clone()).collect(),
        job_id: Name::parse(id).unwrap(),
        label: String::new(),
        user: String::new(),
        name: String::new(),
        start: Some(Time::from_seconds(5.0)),
        end: Some(Time::from_seconds(30.0)),
        seen: false,
    }
}

/// The first partition measures nothing here.
#[test]
fn jobs_of_a_partition_without_links_apply_to_others() {
    let network = network();
    let mut first = LinkUpdates::new(1.0, 3.0);
    first.jobs(&[job_on_all(&network, "7", 5.2)]);
    first.progress(read_up_to(Time::from_seconds(68.0), Some(Time::from_seconds(68.0))));
    first.ticks(vec![LinkTick::empty(59)], &SeriesTable::new());
    let first = first.take(0).unwrap();
    assert!(first.updates.is_empty() && first.jobs.len() == 1, "{first:?}");
    let links = updates(&network, 1);
    let found = regions(vec![message(1, links.clone()), first.clone()]);
    assert_eq!(found[0].victims.iter().map(|v| v.job_id.as_str()).collect::<Vec<_>>(), ["7"], "{found:?}");
    assert_eq!(regions(vec![first.clone(), message(1, links), first]), found);
}

/// Loss of a job on every second host, whose events arrive at second `late`; another one has the others. So many seconds
/// are sent together.
fn lost_s(network: &Arc<Network>, late: f64, bundle: usize) -> f64 {
    let mut first = LinkUpdates::new(1.0, 3.0);
    let mut merge = LinkMerge::new(2, FabricSettings::default(), Some(Arc::clone(network)));
    merge.message(message(1, updates(network, 1)));
    let event = |id: &str, at: f64, skip: usize| {
        let said = job_on_all(network, id, at);
        JobEvent { nodes: said.nodes.iter().skip(skip).step_by(2).cloned().collect(), ..said }
    };
    let mut said = vec![event("6", 5.0, 0), event("7", late, 1)];
    for ticks in updates(network, 0).chunks(bundle) {
        // Rows are four seconds ahead of their links.
        let read = Time::from_seconds(ticks.last().unwrap().tick as f64 + 4.0);
        let later = said.split_off(said.partition_point(|event| event.time <= read));
        first.jobs(&std::mem::replace(&mut said, later));
        first.progress(read_up_to(read, Some(read)));
        first.ticks(vec![LinkTick::empty(ticks.last().unwrap().tick)], &SeriesTable::new());
        merge.message(LinkMessage { updates: ticks.to_vec(), ..first.take(0).unwrap() });
    }
    merge.fabric_mut().finish();
    merge.fabric().losses(&Name::parse("7").unwrap()).unwrap().lost_s()
}

/// A node of which the first rows got lost belongs to its job from the second on in which another row names it.
#[test]
fn link_losses_of_late_nodes_do_not_depend_on_bundles() {
    let network = network();
    let one_by_one = lost_s(&network, 20.0, 1);
    assert!(one_by_one > 1.0, "{one_by_one}");
    assert_ne!(one_by_one, lost_s(&network, 5.0, 1), "the case shows no difference");
    assert_eq!([2, 7, 30, 60].map(|bundle| lost_s(&network, 20.0, bundle)), [one_by_one; 4]);
}

#[test]
fn jobs_are_sent_while_the_sources_are_silent() {
    let (network, at) = (network(), |second: f64| Time::from_seconds(second));
    let mut updates = LinkUpdates::new(1.0, 3.0);
    let mut reached = 59.0_f64;
    let mut send = |updates: &mut LinkUpdates, id: &str, said: f64, watermark: f64, newest: Option<f64>| {
        updates.jobs(&[job_on_all(&network, id, said)]);
        while reached < watermark {
            reached += 1.0;
            updates.progress(read_up_to(at(reached), newest.map(at)));
        }
        updates.take(0).unwrap()
    };
    let before = send(&mut updates, "1", 50.0, 60.0, None);
    updates.progress(read_up_to(at(68.0), Some(at(68.0))));
    updates.ticks(vec![LinkTick::empty(59)], &SeriesTable::new());
    updates.jobs(&[job_on_all(&network, "2", 69.0)]);
    let waits = send(&mut updates, "3", 66.0, 70.0, Some(69.0));
    let quiet = send(&mut updates, "4", 98.0, 108.0, Some(69.0));
    let later = send(&mut updates, "5", 109.0, 120.0, Some(69.0));
    assert_eq!([&before, &waits, &quiet, &later].map(|message| message.jobs.len()), [1, 0, 3, 1]);
    let mut merge = LinkMerge::new(1, FabricSettings::default(), Some(Arc::clone(&network)));
    [before, waits, quiet, later].into_iter().for_each(|message| merge.message(message));
    for id in ["1", "2", "3", "4", "5"] {
        assert!(merge.fabric().losses(&Name::parse(id).unwrap()).is_some(), "job {id} is not known");
    }
}

#[test]
fn results_do_not_depend_on_order_bundles_or_repeats() {
    let network = network();
    let of = |partition| updates(&network, partition);
    let whole = regions(vec![message(0, of(0)), message(1, of(1))]);
    let mut pieces = Vec::new();
    for (at, part) in of(1).chunks(7).enumerate() {
        pieces.push(message(1, part.to_vec()));
        // All messages are sent again, as after a crash.
        let again = of(1)[..(at * 7).min(60)].to_vec();
        pieces.push(message(1, again));
    }
    pieces.push(message(0, of(0)));
    assert_eq!(regions(pieces), whole);
}

#[test]
fn no_second_is_processed_before_all_partitions_report() {
    let network = network();
    let found = regions(vec![message(0, updates(&network, 0))]);
    assert_eq!(found, Vec::new());
}

/// `count` seconds in which nothing changed.
fn empty(count: i64) -> Vec<TickUpdate> {
    (0..count).map(|tick| TickUpdate { tick, ..TickUpdate::default() }).collect()
}

#[test]
fn forced_seconds_are_processed_and_counted() {
    let mut merge = LinkMerge::new(2, FabricSettings::default(), Some(network()));
    merge.message(message(0, empty(WAITING_MAX as i64)));
    assert_eq!((merge.forced(), merge.fabric().now()), (0, i64::MIN));
    merge.message(message(0, empty(WAITING_MAX as i64 + 3)));
    assert_eq!((merge.forced(), merge.fabric().now()), (3, 2));
}

#[test]
fn waiting_link_updates_are_bounded_after_a_restart() {
    let report = LinkReport {
        series: SeriesIndex(0),
        load_bytes_per_s: 1.0,
        mean_bytes_per_s: 0.0,
        value: 1.0,
        baseline: 1.0,
        contended: false,
        active: true,
        since_ticks: 0,
        off_ms: 0,
    };
    let of = |ticks: std::ops::Range<i64>| -> Vec<TickUpdate> {
        let many =
            |tick| TickUpdate { tick, reports: vec![report; WAITING_WORDS_MAX / 4], ..TickUpdate::default() };
        ticks.map(many).collect()
    };
    let mut merge = LinkMerge::new(2, FabricSettings::default(), Some(network()));
    merge.message(message(0, of(0..4)));
    assert_eq!((merge.forced(), merge.fabric().now()), (0, i64::MIN));
    merge.message(message(0, of(4..6)));
    assert_eq!((merge.forced(), merge.fabric().now()), (2, 1));
    let state = postcard::to_stdvec(&merge).unwrap();
    let mut again: LinkMerge = postcard::from_bytes(&state).unwrap();
    again.attach(2, FabricSettings::default(), Some(network()));
    again.message(message(0, of(6..7)));
    assert_eq!((again.forced(), again.fabric().now()), (3, 2));
}

#[test]
fn restored_merge_uses_the_configured_partitions() {
    let network = network();
    let mut merge = LinkMerge::new(1, FabricSettings::default(), Some(Arc::clone(&network)));
    merge.message(message(0, empty(20)));
    assert_eq!(merge.fabric().now(), 19);
    let state = postcard::to_stdvec(&merge).unwrap();
    let more = |partitions: i32| {
        let mut merge: LinkMerge = postcard::from_bytes(&state).unwrap();
        merge.attach(partitions, FabricSettings::default(), Some(Arc::clone(&network)));
        merge.message(message(0, empty(40)));
        merge.fabric().now()
    };
    // A second partition has reported nothing yet.
    assert_eq!((more(1), more(2)), (39, 19));
}

#[test]
fn message_of_another_kind_or_version_is_rejected() {
    let message = message(0, Vec::new());
    let mut payload = message.payload().unwrap();
    assert_eq!(read(&payload), message);
    let mut rolling = Rolling::default();
    let mut rejected = |payload: &[u8]| rolling.message(payload).unwrap_err().0;
    payload[1] += 1;
    assert_eq!(rejected(&payload), "unknown version of messages of kind 17: 2");
    payload[0] = 99;
    assert_eq!(rejected(&payload), "unknown kind of message on this topic: 99");
    assert_eq!(rejected(&Kind::Counters.header()), "unknown kind of message on this topic: 1");
    assert_eq!(rejected(&Kind::Links.header()), "the message of links is damaged");
    assert_eq!(rolling.message(&message.payload().unwrap()), Ok(()));
}

#[test]
fn repeated_jobs_are_skipped_unless_the_sequence_restarted() {
    let network = network();
    let mut first = LinkUpdates::new(1.0, 3.0);
    first.jobs(&[job_on_all(&network, "7", 5.0), job_on_all(&network, "8", 6.0)]);
    first.progress(read_up_to(Time::from_seconds(20.0), None));
    let sent = first.take(0).unwrap();
    assert_eq!((sent.jobs.len(), sent.jobs_from), (2, (20_000_000, 0)));
    let mut merge = LinkMerge::new(1, FabricSettings::default(), Some(network));
    merge.take_jobs(sent.jobs.clone(), sent.jobs_from);
    let waiting = |merge: &LinkMerge| merge.jobs.values().map(Vec::len).sum::<usize>();
    merge.take_jobs(sent.jobs.clone(), sent.jobs_from);
    assert_eq!(waiting(&merge), 2);
    merge.take_jobs(sent.jobs[1..].to_vec(), (20_000_000, 1));
    assert_eq!(waiting(&merge), 2);
    merge.take_jobs(sent.jobs, (30_000_000, 0));
    assert_eq!(waiting(&merge), 4);
}

fn names(sent: &[(i64, Job)]) -> Vec<(i64, usize)> {
    sent.iter().map(|(tick, job)| (*tick, job.nodes.len())).collect()
}

/// Rows of one job from many nodes, later than the lateness: one update, and none with fewer nodes than the one before.
#[test]
fn late_job_events_are_sent_once_and_never_revert_a_job() {
    let network = network();
    let all = job_on_all(&network, "7", 20.0);
    let of = |range: std::ops::Range<usize>, said: f64| JobEvent {
        time: Time::from_seconds(said),
        nodes: all.nodes[range].to_vec(),
        ..all.clone()
    };
    let mut updates = LinkUpdates::new(1.0, 3.0);
    let read = |updates: &mut LinkUpdates, second: f64| {
        updates.progress(read_up_to(Time::from_seconds(second), Some(Time::from_seconds(second))));
        updates.ticks(vec![LinkTick::empty(second as i64 - 4)], &SeriesTable::new());
        names(&updates.take(0).unwrap().jobs)
    };
    updates.jobs(&[of(0..1, 20.0)]);
    assert_eq!(read(&mut updates, 24.0), [(20, 1)]);
    updates.jobs(&[of(1..2, 15.0), of(2..3, 16.0), of(3..4, 15.0)]);
    assert_eq!(read(&mut updates, 25.0), [(21, 4)]);
}

/// Ticks of two seconds, and of half a second.
#[test]
fn jobs_and_links_go_by_the_same_ticks_however_long_these_are() {
    let network = network();
    for tick_s in [0.5, 2.0] {
        let mut updates = LinkUpdates::new(tick_s, 3.0);
        updates.jobs(&[job_on_all(&network, "7", 20.0)]);
        let read = Time::from_seconds(40.0);
        updates.progress(read_up_to(read, Some(read)));
        let complete = ((40.0 - 3.0) / tick_s - 0.5_f64).floor() as i64;
        updates.ticks(vec![LinkTick::empty(complete)], &SeriesTable::new());
        let message = updates.take(0).unwrap();
        assert_eq!(message.final_tick, Some(complete));
        assert_eq!(message.jobs[0].0, (20.0 / tick_s) as i64);
    }
}

/// No previous owner could have reported them.
#[test]
fn known_jobs_are_sent_when_links_begin_to_be_observed() {
    let network = network();
    let mut book = JobBook::default();
    let long_over = JobEvent { end: Some(Time::from_seconds(30.0)), ..job_on_all(&network, "1", 20.0) };
    let runs = JobEvent { end: None, ..job_on_all(&network, "2", 20.0) };
    book.fold(&[long_over, runs]);
    let mut updates = LinkUpdates::new(1.0, 3.0);
    updates.progress(read_up_to(Time::from_seconds(2_000.0), Some(Time::from_seconds(2_000.0))));
    updates.begin();
    updates.begin_jobs(&book);
    updates.jobs(&[job_on_all(&network, "3", 1_000.0)]);
    updates.ticks(vec![LinkTick::empty(1_990)], &SeriesTable::new());
    updates.forget();
    let sent = updates.take(0).unwrap();
    assert_eq!(sent.jobs.iter().map(|(_, job)| job.job_id.as_str()).collect::<Vec<_>>(), ["2", "3"]);
}
