//! What the fabric says of news that come in different orders, twice, or in other bundles.

use super::*;
use schemas::topology::generate::FatTree;
use schemas::topology::{Machine, VertexKind};
use schemas::{Metric, Name, Region};

fn network() -> Arc<Network> {
    Arc::new(Network::of(Machine::FatTree(FatTree::vishnu(0)).build().unwrap()))
}

/// Uplinks of one leaf, half of them told by each of two partitions; all stall from second 10 to 40.
fn news(network: &Network, partition: i32) -> Vec<TickNews> {
    let topology = &network.topology;
    let mut uplinks: Vec<SeriesInfo> = topology
        .links()
        .filter(|link| topology.level(topology.from(*link)) < topology.level(topology.to(*link)))
        .filter_map(|link| topology.series(link))
        .filter(|series| {
            series.metric == Metric::IbWaitRatio && series.component == Name::parse("leaf01").unwrap()
        })
        .collect();
    uplinks.sort_by_key(SeriesInfo::name);
    let own: Vec<SeriesInfo> = uplinks.into_iter().skip(partition as usize).step_by(2).collect();
    assert!(own.len() > 2);
    let table: SeriesTable = own;
    let mut news = LinkNews::default();
    news.progress(Time::from_seconds(68.0), Some(Time::from_seconds(68.0)));
    for tick in 0..60 {
        let contended = (10..40).contains(&tick);
        let report = |at: usize| LinkReport {
            series: SeriesIndex(at as u32),
            load_bytes_per_s: 1e9,
            value: if contended { 1.2 } else { 0.05 },
            baseline: 0.05,
            contended,
            active: true,
            since_ticks: 0,
            off_ms: 0,
        };
        let reports = (0..table.len()).map(report).collect();
        news.ticks(vec![LinkTick { tick, reports, events: Vec::new() }], &table);
    }
    news.take(partition).unwrap().news
}

fn message(partition: i32, news: Vec<TickNews>) -> LinkMessage {
    let last = news.last().map_or(0, |news| news.tick);
    LinkMessage {
        partition,
        watermark_s: last + 8,
        newest: Some(last + 8),
        told: Some(last),
        jobs: Vec::new(),
        news,
    }
}

fn regions(messages: Vec<LinkMessage>) -> Vec<Region> {
    let mut merge = LinkMerge::new(2, FabricSettings::default(), Some(network()));
    for message in messages {
        let payload = message.payload().unwrap();
        merge.message(LinkMessage::read(&payload).unwrap());
    }
    merge.fabric().finish();
    merge.fabric().take_regions()
}

#[test]
fn one_region_comes_of_links_that_two_partitions_tell_of() {
    let network = network();
    let both = (0..2).map(|partition| message(partition, news(&network, partition)));
    let found = regions(both.collect());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].links_most, found[0].name.as_str(), found[0].open),
        (12, "uplinks of leaf01", false)
    );
}

/// A job on all hosts, from second 5 to 30.
fn job_on_all(network: &Network, id: &str) -> Job {
    let hosts = network.topology.vertices_of(VertexKind::Host);
    Job {
        job_id: Name::parse(id).unwrap(),
        label: String::new(),
        user: String::new(),
        name: String::new(),
        nodes: hosts.map(|host| network.topology.name(host).clone()).collect(),
        start: Time::from_seconds(5.0),
        end: Some(Time::from_seconds(30.0)),
        end_presumed: false,
        app: None,
    }
}

/// The first partition measures nothing here. What it says of a job holds for all seconds that it had not said before,
/// however late it comes: the job is over by then.
#[test]
fn a_job_that_is_told_by_a_partition_without_links_is_known_in_the_seconds_of_others() {
    let network = network();
    let mut first = LinkNews::default();
    first.progress(Time::from_seconds(68.0), Some(Time::from_seconds(68.0)));
    first.job(&job_on_all(&network, "7"));
    first.ticks(vec![LinkTick::empty(59)], &SeriesTable::new());
    let first = first.take(0).unwrap();
    assert!(first.news.is_empty() && first.jobs.len() == 1, "{first:?}");
    let links = news(&network, 1);
    let found = regions(vec![message(1, links.clone()), first.clone()]);
    assert_eq!(found[0].victims.iter().map(|v| v.job_id.as_str()).collect::<Vec<_>>(), ["7"], "{found:?}");
    assert_eq!(regions(vec![first.clone(), message(1, links), first]), found);
}

#[test]
fn jobs_are_told_though_the_sources_of_the_partition_that_tells_them_are_silent() {
    let (network, at) = (network(), |second: f64| Time::from_seconds(second));
    let mut news = LinkNews::default();
    let told = |news: &mut LinkNews, id: &str, watermark: f64, newest: Option<Time>| {
        news.job(&job_on_all(&network, id));
        news.progress(at(watermark), newest);
        news.take(0).unwrap()
    };
    let before = told(&mut news, "1", 60.0, None);
    news.progress(at(68.0), Some(at(68.0)));
    news.ticks(vec![LinkTick::empty(59)], &SeriesTable::new());
    let waits = told(&mut news, "2", 69.0, Some(at(69.0)));
    let quiet = told(&mut news, "3", 108.0, Some(at(69.0)));
    let later = told(&mut news, "4", 109.0, Some(at(69.0)));
    assert_eq!([&before, &waits, &quiet, &later].map(|message| message.jobs.len()), [1, 0, 2, 1]);
    let mut merge = LinkMerge::new(1, FabricSettings::default(), Some(Arc::clone(&network)));
    [before, waits, quiet, later].into_iter().for_each(|message| merge.message(message));
    for id in ["1", "2", "3", "4"] {
        assert!(merge.fabric().losses(&Name::parse(id).unwrap()).is_some(), "job {id} is not known");
    }
}

#[test]
fn neither_order_nor_bundles_nor_repetitions_change_what_is_said() {
    let network = network();
    let of = |partition| news(&network, partition);
    let whole = regions(vec![message(0, of(0)), message(1, of(1))]);
    let mut pieces = Vec::new();
    for (at, part) in of(1).chunks(7).enumerate() {
        pieces.push(message(1, part.to_vec()));
        // What was told is told again, as after a crash.
        let again = of(1)[..(at * 7).min(60)].to_vec();
        pieces.push(message(1, again));
    }
    pieces.push(message(0, of(0)));
    assert_eq!(regions(pieces), whole);
}

#[test]
fn nothing_is_said_before_all_partitions_have_spoken() {
    let network = network();
    let found = regions(vec![message(0, news(&network, 0))]);
    assert_eq!(found, Vec::new());
}

/// `count` seconds in which nothing changed.
fn empty(count: i64) -> Vec<TickNews> {
    (0..count).map(|tick| TickNews { tick, ..TickNews::default() }).collect()
}

#[test]
fn seconds_for_which_too_many_wait_are_looked_at_and_counted() {
    let mut merge = LinkMerge::new(2, FabricSettings::default(), Some(network()));
    merge.message(message(0, empty(WAITING_MAX as i64)));
    assert_eq!((merge.forced(), merge.fabric().now()), (0, i64::MIN));
    merge.message(message(0, empty(WAITING_MAX as i64 + 3)));
    assert_eq!((merge.forced(), merge.fabric().now()), (3, 2));
}

#[test]
fn a_merge_that_is_read_back_goes_on_with_the_partitions_that_are_configured() {
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
    // A second partition has not told of anything yet.
    assert_eq!((more(1), more(2)), (39, 19));
}

#[test]
fn a_message_of_another_version_is_none() {
    let message = message(0, Vec::new());
    let mut payload = message.payload().unwrap();
    assert_eq!(LinkMessage::read(&payload), Some(message));
    payload[0] = 9;
    assert_eq!(LinkMessage::read(&payload), None);
}
