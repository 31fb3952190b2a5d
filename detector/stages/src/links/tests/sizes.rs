//! Updates go into messages of a bounded length, as many as needed.

use super::*;

#[test]
fn split_messages_have_the_same_content() {
    let network = network();
    let jobs: Vec<JobEvent> = (0..40).map(|id| job_on_all(&network, &id.to_string(), 5.0)).collect();
    let whole = |partition: i32| {
        let mut job_updates = LinkUpdates::new(1.0, 3.0);
        job_updates.jobs(&jobs);
        job_updates.progress(read_up_to(Time::from_seconds(68.0), None));
        let sent = job_updates.take(partition).unwrap();
        LinkMessage {
            jobs: sent.jobs,
            jobs_from: sent.jobs_from,
            ..message(partition, updates(&network, partition))
        }
    };
    let said = |bytes_max: usize| {
        let payloads = whole(0).payloads(bytes_max).unwrap();
        let messages: Vec<LinkMessage> = payloads.iter().map(|payload| read(payload)).collect();
        (messages, payloads.iter().map(Vec::len).max().unwrap())
    };
    let (one, bytes) = said(usize::MAX);
    let most = bytes / 2;
    let (many, longest) = said(most);
    assert!(one.len() == 1 && many.len() > 3 && longest <= most, "{} of {longest} bytes, {most}", many.len());
    let (last, before) = many.split_last().unwrap();
    assert!(!last.more && before.iter().all(|message| message.more));
    let other = || LinkMessage { partition: 1, jobs: Vec::new(), ..message(1, updates(&network, 1)) };
    let twice = many.iter().chain(&many).cloned().chain([other()]);
    assert_eq!(regions(twice.collect()), regions(vec![one[0].clone(), other()]));
}

#[test]
fn second_with_many_links_is_split_and_processed_as_one() {
    let of = |at: usize| SeriesInfo {
        metric: Metric::from_name("ib_wait_ratio").unwrap(),
        component: Name::parse(&format!("leaf{at:05}")).unwrap(),
        part: Some(Name::parse("1").unwrap()),
    };
    let table: SeriesTable = (0..2_000).map(of).collect();
    let report = |at: u32| LinkReport {
        series: SeriesIndex(at),
        load_bytes_per_s: 1e9,
        mean_bytes_per_s: 0.0,
        value: 0.1,
        baseline: 0.05,
        contended: false,
        active: true,
        since_ticks: 0,
        off_ms: 0,
    };
    let mut updates = LinkUpdates::new(1.0, 3.0);
    updates.progress(read_up_to(Time::from_seconds(10.0), Some(Time::from_seconds(10.0))));
    updates.ticks(
        vec![LinkTick { tick: 5, reports: (0..2_000).map(report).collect(), events: Vec::new() }],
        &table,
    );
    let sent = updates.take(0).unwrap();
    assert_eq!(
        sent.updates.iter().map(|updates| (updates.part, updates.reports.len())).collect::<Vec<_>>(),
        [(0, 512), (1, 512), (2, 512), (3, 464)]
    );
    let mut merge = LinkMerge::new(1, FabricSettings::default(), Some(network()));
    let payloads = sent.payloads(6_000).unwrap();
    assert!(payloads.len() > 1);
    for payload in payloads.iter().chain(&payloads) {
        merge.message(read(payload));
    }
    assert_eq!((merge.fabric().now(), merge.fabric().series_count()), (5, 2_000));
}

/// The state is of a time when links were not watched; messages are taken again of which the results are known.
#[test]
fn links_are_named_when_observation_begins() {
    let network = network();
    let first = updates(&network, 0);
    let known: usize = first.iter().map(|updates| updates.series.len()).sum();
    let table: SeriesTable =
        first.iter().flat_map(|updates| updates.series.iter().map(|(_, info)| info.clone())).collect();
    let sent_after = |is_new: bool| {
        let mut updates = LinkUpdates::new(1.0, 3.0);
        if is_new {
            updates.begin();
        }
        let mut sent = 0;
        for (tick, taken_again) in [(5, true), (6, false)] {
            let reports = first[0].reports.clone();
            updates.progress(read_up_to(
                Time::from_seconds(tick as f64 + 4.0),
                Some(Time::from_seconds(tick as f64 + 4.0)),
            ));
            updates.ticks(vec![LinkTick { tick, reports, events: Vec::new() }], &table);
            if taken_again {
                updates.forget();
            } else {
                sent = updates.take(0).unwrap().updates.iter().map(|updates| updates.series.len()).sum();
            }
        }
        sent
    };
    assert_eq!((sent_after(false), sent_after(true)), (0, known));
}
