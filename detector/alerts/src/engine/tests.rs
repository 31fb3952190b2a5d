use super::*;
use crate::rule;
use crate::updates::{EpisodeUpdate, JobUpdate, SilenceUpdate};
use schemas::{Action, Cause, CauseKind, Interval, Metric, Name, Notice, RegionId, SeriesInfo, SilenceEnd};

const T0: f64 = 1_000_000.0;

fn at(second: f64) -> Time {
    Time::from_seconds(T0 + second)
}

fn alerts() -> Alerts {
    let route = |receiver: &str, least_severity, rules: &[&str]| Route {
        receiver: receiver.to_string(),
        least_severity,
        rules: rules.iter().map(ToString::to_string).collect(),
    };
    let routes = vec![route("all", Severity::Info, &[]), route("jobs", Severity::Info, &["job_slowed"])];
    let nodes_of = BTreeMap::from([("leaf-1".to_string(), vec!["n1".to_string(), "n2".to_string()])]);
    let rules = rule::load(&[]).unwrap();
    Alerts::new(Arc::new(AlertSettings { nodes_of, ..AlertSettings::new(rules, routes, &[]) }))
}

fn link(switch: &str, port: usize) -> SeriesInfo {
    let (component, part) = (Name::parse(switch).unwrap(), Name::parse(&port.to_string()).ok());
    SeriesInfo { metric: Metric::from_name("ib_wait_ratio").unwrap(), component, part }
}

/// A loss that is known to so many seconds.
fn within(off_s: f64, value: f64) -> Interval {
    Interval { value, lo: (value - off_s).max(0.0), hi: value + off_s }
}

fn episode(series: SeriesInfo, start: f64, end: f64, open: bool) -> EpisodeUpdate {
    EpisodeUpdate {
        series,
        start: at(start),
        end: at(end),
        open,
        slowdown_s: within(4.0, (end - start) / 2.0),
        completeness: 1.0,
        causes: Vec::new(),
    }
}

fn region(id: u64, series: &[SeriesInfo], links: u32, start: f64, end: f64, open: bool) -> Region {
    Region {
        id: RegionId(id),
        metric: Metric::from_name("ib_wait_ratio").unwrap(),
        name: "uplinks of leaf-1".to_string(),
        start: at(start),
        end: at(end),
        open,
        links,
        links_most: links,
        series: series.iter().map(SeriesInfo::name).collect(),
        left: Vec::new(),
        peak: 2.0,
        kind: CauseKind::Avoidable,
        kind_confidence: 0.9,
        relief: 0.5,
        cause: Cause::OtherJob,
        confidence: 0.8,
        causes: Vec::new(),
        victims: vec![schemas::RegionVictim {
            job_id: Name::parse("7").unwrap(),
            lost_s: within(1.0, 4.0),
            share: 1.0,
        }],
        completeness: 0.9,
        steps: Vec::new(),
    }
}

/// Gives `alerts` the seconds `from` to `to`, with nothing but the time.
fn pass(alerts: &mut Alerts, from: usize, to: usize) -> Vec<Notice> {
    (from..=to).for_each(|second| alerts.updates(&tick(second as f64)));
    taken(alerts)
}

fn tick(second: f64) -> Updates {
    Updates { newest: Some(at(second)), ..Updates::default() }
}

fn taken(alerts: &mut Alerts) -> Vec<Notice> {
    alerts.take().into_iter().map(|routed| routed.notice).collect()
}

fn kinds(notices: &[Notice]) -> Vec<(&str, NoticeKind, u32)> {
    notices.iter().map(|n| (n.rule.as_str(), n.kind, n.members)).collect()
}

#[test]
fn lasting_condition_fires_and_resolves() {
    let mut alerts = alerts();
    alerts.updates(&Updates { episodes: vec![episode(link("leaf-1", 1), 0.0, 5.0, true)], ..tick(5.0) });
    assert!(pass(&mut alerts, 6, 59).is_empty());
    let fired = pass(&mut alerts, 60, 60);
    assert_eq!(kinds(&fired), [("link_contended", NoticeKind::Firing, 1)]);
    assert_eq!((fired[0].started_s, fired[0].fired_s), (T0, T0 + 60.0));
    alerts.updates(&Updates { episodes: vec![episode(link("leaf-1", 1), 0.0, 70.0, false)], ..tick(75.0) });
    assert!(pass(&mut alerts, 76, 84).is_empty());
    let resolved = pass(&mut alerts, 85, 90);
    assert_eq!(kinds(&resolved), [("link_contended", NoticeKind::Resolved, 1)]);
    assert_eq!(resolved[0].resolved_s, Some(T0 + 70.0));
    assert_eq!(resolved[0].incident, fired[0].incident);
    assert!(pass(&mut alerts, 91, 400).is_empty());
    assert_eq!(alerts.subjects.len(), 0, "what is over is forgotten");
}

#[test]
fn the_incident_of_a_removed_rule_resolves_with_that_reason() {
    let mut alerts = alerts();
    alerts.updates(&Updates { episodes: vec![episode(link("leaf-1", 1), 0.0, 5.0, true)], ..tick(5.0) });
    let fired = pass(&mut alerts, 6, 60);
    let mut settings = (*alerts.settings).clone();
    settings.rules.retain(|rule| rule.name != "link_contended");
    alerts.attach(Arc::new(settings));
    let resolved = pass(&mut alerts, 61, 63);
    assert_eq!(kinds(&resolved), [("link_contended", NoticeKind::Resolved, 1)]);
    assert_eq!((&resolved[0].incident, resolved[0].sequence), (&fired[0].incident, 2));
    assert_eq!((resolved[0].resolved_s, alerts.counts()), (Some(T0 + 61.0), (0, 0)));
    assert!(resolved[0].summary.contains("the rule link_contended was removed"), "{}", resolved[0].summary);
}

#[test]
fn short_condition_never_fires_and_a_long_one_fires_late() {
    let mut alerts = alerts();
    alerts.updates(&Updates { episodes: vec![episode(link("leaf-1", 1), 0.0, 5.0, true)], ..tick(5.0) });
    alerts.updates(&Updates { episodes: vec![episode(link("leaf-1", 1), 0.0, 30.0, false)], ..tick(35.0) });
    assert!(pass(&mut alerts, 36, 200).is_empty());
    // Rows of an hour ago, read at once.
    alerts
        .updates(&Updates { episodes: vec![episode(link("leaf-1", 2), 210.0, 300.0, false)], ..tick(900.0) });
    let found = pass(&mut alerts, 901, 902);
    assert_eq!(
        kinds(&found).iter().map(|k| k.1).collect::<Vec<_>>(),
        [NoticeKind::Firing, NoticeKind::Resolved]
    );
}

#[test]
fn quick_return_continues_the_same_incident() {
    let mut alerts = alerts();
    let updates = |start, end, open| vec![episode(link("leaf-1", 1), start, end, open)];
    alerts.updates(&Updates { episodes: updates(0.0, 70.0, true), ..tick(70.0) });
    assert_eq!(taken(&mut alerts).len(), 1);
    alerts.updates(&Updates { episodes: updates(0.0, 80.0, false), ..tick(85.0) });
    alerts.updates(&Updates { episodes: updates(90.0, 92.0, true), ..tick(92.0) });
    assert!(pass(&mut alerts, 93, 150).is_empty(), "hysteresis");
    alerts.updates(&Updates { episodes: updates(90.0, 151.0, false), ..tick(155.0) });
    assert_eq!(pass(&mut alerts, 156, 190).len(), 1);
}

#[test]
fn a_storm_of_2048_links_in_one_second_is_one_notice() {
    let mut alerts = alerts();
    for partition in 0..4 {
        let links = (0..512).map(|n| {
            let link = link(&format!("s{}", n / 32), partition * 100 + n % 32);
            episode(link, n as f64 / 512.0, 4.0, true)
        });
        let updates = Updates { partition: partition as i32, episodes: links.collect(), ..tick(4.0) };
        alerts.updates(&updates);
    }
    let mut found = Vec::new();
    for second in 5..100 {
        for partition in 0..4 {
            alerts.updates(&Updates { partition, ..tick(f64::from(second)) });
        }
        found.extend(taken(&mut alerts));
    }
    assert_eq!(kinds(&found), [("link_contended", NoticeKind::Firing, 2048)]);
    assert_eq!(alerts.incidents.values().next().unwrap().members.len(), 2048);
}

#[test]
fn region_inhibits_named_and_unnamed_links() {
    let mut alerts = alerts();
    let links: Vec<SeriesInfo> = (0..100).map(|n| link("leaf-1", n)).collect();
    let episodes = links.iter().map(|l| episode(l.clone(), 0.5, 4.0, true)).collect();
    alerts.updates(&Updates { episodes, ..tick(4.0) });
    alerts.updates(&tick(16.0));
    alerts.regions(&[region(1, &links[..64], 100, 0.0, 8.0, true)]);
    assert!(pass(&mut alerts, 17, 19).is_empty());
    let fired = pass(&mut alerts, 20, 170);
    assert_eq!(kinds(&fired), [("region_contended", NoticeKind::Firing, 1)]);
    assert_eq!(fired[0].labels["subject"], "uplinks of leaf-1");
    let advice = &fired[0].advice;
    assert_eq!((advice.action, advice.expected_relief), (Action::RerouteLids, 0.5));
    assert_eq!(
        (advice.nodes.as_slice(), advice.links.len()),
        (["n1".to_string(), "n2".to_string()].as_slice(), 64)
    );
    assert_eq!(advice.jobs[0].job_id, "7");
    assert_eq!(advice.valid_until_s, T0 + 320.0);
}

#[test]
fn a_region_silences_the_router_of_its_links_as_a_whole() {
    let mut alerts = alerts();
    let link = link("leaf-1", 1);
    let whole = SeriesInfo { part: None, ..link.clone() };
    let other = SeriesInfo { component: Name::parse("leaf-11").unwrap(), ..whole.clone() };
    let episodes = [whole, other].map(|series| episode(series, 0.5, 4.0, true)).into();
    alerts.updates(&Updates { episodes, ..tick(4.0) });
    alerts.regions(&[region(1, &[link], 1, 0.0, 8.0, true)]);
    let fired = pass(&mut alerts, 20, 170);
    let notices: Vec<(&str, &str)> =
        fired.iter().map(|notice| (notice.rule.as_str(), notice.labels["subject"].as_str())).collect();
    assert_eq!(
        notices,
        [("region_contended", "uplinks of leaf-1"), ("link_contended", "ib_wait_ratio/leaf-11")]
    );
}

#[test]
fn region_inhibits_earlier_episodes_of_its_routers_only() {
    let mut alerts = alerts();
    let (stays, leaves) = (link("leaf-1", 1), link("leaf-2", 1));
    let whole = SeriesInfo { part: None, ..leaves.clone() };
    alerts.updates(&Updates { episodes: vec![episode(whole.clone(), 0.5, 4.0, true)], ..tick(4.0) });
    alerts.regions(&[region(1, &[stays.clone(), leaves.clone()], 2, 0.0, 8.0, true)]);
    let left = vec![leaves.name()];
    alerts.regions(&[Region { left, ..region(1, &[stays], 1, 0.0, 30.0, true) }]);
    let fired = pass(&mut alerts, 31, 170);
    assert_eq!(kinds(&fired), [("region_contended", NoticeKind::Firing, 1)]);
    let again = [episode(whole.clone(), 0.5, 171.0, false), episode(whole, 172.0, 173.0, true)];
    alerts.updates(&Updates { episodes: again.into(), ..tick(173.0) });
    let notices = pass(&mut alerts, 174, 250);
    let fired = notices.iter().filter(|notice| notice.kind == NoticeKind::Firing);
    assert_eq!(fired.map(|notice| notice.rule.as_str()).collect::<Vec<_>>(), ["link_contended"]);
}

#[test]
fn a_region_whose_links_are_known_to_be_clear_does_not_fire() {
    let mut alerts = alerts();
    alerts.updates(&Updates { episodes: vec![episode(link("leaf-1", 1), 0.0, 12.0, false)], ..tick(16.0) });
    alerts.regions(&[region(1, &[link("leaf-1", 1)], 1, 0.0, 8.0, true)]);
    assert!(pass(&mut alerts, 17, 40).is_empty());
    alerts.regions(&[region(1, &[link("leaf-1", 1)], 1, 0.0, 12.0, false)]);
    assert!(pass(&mut alerts, 41, 200).is_empty());
}

#[test]
fn advice_is_renewed_before_it_expires() {
    let mut alerts = alerts();
    alerts.regions(&[region(1, &[], 4, 0.0, 20.0, true)]);
    let found = pass(&mut alerts, 20, 420);
    let kinds: Vec<NoticeKind> = found.iter().map(|n| n.kind).collect();
    assert_eq!(kinds, [NoticeKind::Firing, NoticeKind::Renewed, NoticeKind::Renewed]);
    for pair in found.windows(2) {
        assert!(pair[1].advice.valid_until_s > pair[0].advice.valid_until_s);
        assert_eq!(pair[1].sequence, pair[0].sequence + 1);
        assert_eq!(pair[1].labels, pair[0].labels);
    }
}

fn silence(since: f64, end: SilenceEnd) -> SilenceUpdate {
    silence_of("leaf-1", since, end)
}

fn silence_of(switch: &str, since: f64, end: SilenceEnd) -> SilenceUpdate {
    let component = Name::parse(switch).unwrap();
    SilenceUpdate { source: format!("sm/ibmad/{switch}"), component, since: at(since), end }
}

/// Each silence concerns its own component: no end to this if all were looked through for each link.
#[test]
fn dark_machine_is_one_notice_without_its_links() {
    const SWITCHES: usize = 10_000;
    let mut alerts = alerts();
    let names: Vec<String> = (0..SWITCHES).map(|n| format!("leaf-{n}")).collect();
    let of_links = |open| names.iter().map(|name| episode(link(name, 1), 0.0, 30.0, open)).collect();
    alerts.updates(&Updates { episodes: of_links(true), ..tick(30.0) });
    let silences = names.iter().map(|name| silence_of(name, 31.0, SilenceEnd::Open)).collect();
    alerts.updates(&Updates { episodes: of_links(false), silences, ..tick(34.0) });
    let found = pass(&mut alerts, 35, 120);
    assert_eq!(kinds(&found), [("data_missing", NoticeKind::Firing, SWITCHES as u32)]);
}

#[test]
fn missing_data_inhibits_its_dependents_and_fires() {
    let mut alerts = alerts();
    alerts.updates(&Updates { episodes: vec![episode(link("leaf-1", 1), 0.0, 30.0, true)], ..tick(30.0) });
    alerts.updates(&Updates { silences: vec![silence(31.0, SilenceEnd::Open)], ..tick(34.0) });
    let found = pass(&mut alerts, 35, 120);
    assert_eq!(kinds(&found), [("data_missing", NoticeKind::Firing, 1)]);
    alerts.updates(&Updates { silences: vec![silence(31.0, SilenceEnd::At(at(130.0)))], ..tick(130.0) });
    assert_eq!(kinds(&pass(&mut alerts, 131, 146)).len(), 2, "data is back; the link is contended still");
}

/// No row arrives any more; the stream is read on.
fn read_on(alerts: &mut Alerts, newest: f64, from: usize, to: usize) -> Vec<Notice> {
    let read = |second: usize| Updates { read_up_to: Some(at(second as f64)), ..tick(newest) };
    (from..=to).for_each(|second| alerts.updates(&read(second)));
    taken(alerts)
}

#[test]
fn missing_data_fires_when_no_source_is_left() {
    let mut alerts = alerts();
    alerts.updates(&Updates { episodes: vec![episode(link("leaf-1", 1), 0.0, 70.0, true)], ..tick(70.0) });
    assert_eq!(taken(&mut alerts).len(), 1);
    alerts.updates(&Updates { silences: vec![silence(71.0, SilenceEnd::Open)], ..tick(71.0) });
    assert!(read_on(&mut alerts, 71.0, 72, 130).is_empty());
    let found = read_on(&mut alerts, 71.0, 131, 300);
    assert_eq!(kinds(&found), [("data_missing", NoticeKind::Firing, 1)], "the link is not called resolved");
    assert!(found[0].description.contains("60"), "{}", found[0].description);
    alerts.updates(&Updates { silences: vec![silence(71.0, SilenceEnd::At(at(310.0)))], ..tick(310.0) });
    let found = pass(&mut alerts, 311, 340);
    assert!(found.iter().any(|n| n.rule == "data_missing" && n.kind == NoticeKind::Resolved), "{found:?}");
}

#[test]
fn no_data_is_never_healthy() {
    let mut alerts = alerts();
    alerts.updates(&Updates { episodes: vec![episode(link("leaf-1", 1), 0.0, 70.0, true)], ..tick(70.0) });
    assert_eq!(taken(&mut alerts).len(), 1);
    alerts.updates(&Updates { silences: vec![silence(71.0, SilenceEnd::Open)], ..tick(74.0) });
    alerts.updates(&Updates { episodes: vec![episode(link("leaf-1", 1), 0.0, 71.0, false)], ..tick(77.0) });
    let found = pass(&mut alerts, 78, 140);
    assert_eq!(kinds(&found), [("data_missing", NoticeKind::Firing, 1)], "the link is not called resolved");
    alerts.updates(&Updates { silences: vec![silence(71.0, SilenceEnd::At(at(150.0)))], ..tick(150.0) });
    let found = pass(&mut alerts, 151, 170);
    assert!(found.iter().all(|notice| notice.kind == NoticeKind::Resolved) && found.len() == 2);
}

#[test]
fn job_fires_on_certain_loss_and_resolves_without_loss() {
    let mut alerts = alerts();
    let job = |until: f64, slowdown_s: f64| JobUpdate {
        job_id: Name::parse("7").unwrap(),
        start: at(0.0),
        until: at(until),
        slowdown_s: within(10.0, slowdown_s),
        completeness: 1.0,
        judged: 1.0,
        causes: Vec::new(),
    };
    let mut found = Vec::new();
    for second in 0..400 {
        let lost_s = f64::from(second.min(200)) / 2.0;
        alerts.updates(&Updates { jobs: vec![job(f64::from(second), lost_s)], ..tick(f64::from(second)) });
        found.extend(alerts.take());
    }
    let kinds: Vec<NoticeKind> = found.iter().map(|routed| routed.notice.kind).collect();
    assert_eq!(kinds, [NoticeKind::Firing, NoticeKind::Resolved]);
    assert_eq!(found[0].receivers, ["all", "jobs"]);
    assert_eq!(found[0].notice.fired_s, T0 + 140.0);
    assert_eq!(found[1].notice.resolved_s, Some(T0 + 200.0));
}

#[test]
fn restored_state_makes_the_same_notices() {
    let mut updates: Vec<Updates> = (0..120).map(|second| tick(f64::from(second))).collect();
    updates[5].episodes.push(episode(link("leaf-1", 1), 0.0, 5.0, true));
    updates[80].episodes.push(episode(link("leaf-1", 1), 0.0, 78.0, false));
    let (mut straight, mut expected) = (alerts(), Vec::new());
    for one in &updates {
        straight.updates(one);
        expected.extend(straight.take());
    }
    assert_eq!(expected.len(), 2);
    for cut in [1, 6, 60, 61, 82] {
        let mut first = alerts();
        let mut found = Vec::new();
        for one in &updates[..cut] {
            first.updates(one);
            found.extend(first.take());
        }
        let bytes = postcard::to_stdvec(&first).unwrap();
        let mut second: Alerts = postcard::from_bytes(&bytes).unwrap();
        second.attach(Arc::clone(&first.settings));
        for one in &updates[cut..] {
            second.updates(one);
            found.extend(second.take());
        }
        assert_eq!(found, expected, "cut before {cut}");
    }
}

#[test]
fn a_narrowed_link_is_no_job_that_a_scheduler_could_hold_back() {
    let series = [link("leaf-1", 1)];
    let cause = |cause, who: &str| schemas::RegionCause {
        cause,
        series_or_job: who.to_string(),
        share: 0.5,
        confidence: 1.0,
        evidence: Vec::new(),
    };
    let mut narrowed = region(1, &series, 1, 0.0, 60.0, true);
    narrowed.causes = vec![cause(Cause::FailoverInduced, &series[0].name()), cause(Cause::OtherJob, "12")];
    assert_eq!(Subject::of_region(&narrowed).causes, [("12".to_string(), 0.5)]);
}
