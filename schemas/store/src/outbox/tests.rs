use super::*;
use crate::sqlite::{Retention, Store};
use schemas::{
    Action, Advice, AlertSilence, NOTICE_VERSION, Notice, NoticeKind, ResultBatch, RoutedNotice, Severity,
};
use std::collections::BTreeMap;

fn notice(incident: &str, sequence: u64, kind: NoticeKind) -> Notice {
    Notice {
        version: NOTICE_VERSION,
        key: format!("{incident}.{sequence}"),
        kind,
        incident: incident.to_string(),
        sequence,
        rule: "region_contended".to_string(),
        severity: Severity::Warning,
        subject: "leaf-1".to_string(),
        labels: BTreeMap::new(),
        started_s: 100.0,
        fired_s: 120.0,
        resolved_s: None,
        summary: String::new(),
        description: String::new(),
        hint: String::new(),
        members: 1,
        slowdown_s: 1.0,
        slowdown_lo_s: 0.5,
        slowdown_hi_s: 1.5,
        completeness: 1.0,
        advice: Advice {
            valid_until_s: 400.0,
            links: Vec::new(),
            nodes: vec!["n1".to_string()],
            jobs: Vec::new(),
            causes: Vec::new(),
            action: Action::NoneCapacity,
            expected_relief: 0.0,
            confidence: 0.0,
        },
    }
}

struct Case {
    _folder: tempfile::TempDir,
    store: Store,
    outbox: OutboxStore,
}

fn case() -> Case {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tailback.db");
    let store = Store::open(&path, Retention::default()).unwrap();
    let outbox = OutboxStore::file(&path).unwrap();
    Case { _folder: folder, store, outbox }
}

impl Case {
    fn put(&mut self, notices: Vec<Notice>) {
        let receivers = || vec!["a".to_string(), "b".to_string()];
        let notices = notices.into_iter().map(|notice| RoutedNotice { notice, receivers: receivers() });
        let batch = ResultBatch { notices: notices.collect(), ..ResultBatch::default() };
        self.store.commit(&batch, &[]).unwrap();
    }

    async fn lease(&mut self, now_s: f64) -> Vec<Leased> {
        self.outbox.lease("a", "me", now_s, now_s + 30.0, 10).await.unwrap()
    }
}

fn keys(leased: &[Leased]) -> Vec<&str> {
    leased.iter().map(|leased| leased.notice.key.as_str()).collect()
}

#[tokio::test]
async fn repeated_notice_is_stored_once() {
    let mut case = case();
    for _ in 0..2 {
        case.put(vec![notice("i", 1, NoticeKind::Firing)]);
    }
    assert_eq!(keys(&case.lease(10.0).await), ["i.1"]);
    assert!(case.lease(11.0).await.is_empty(), "it is leased");
    assert_eq!(keys(&case.lease(41.0).await), ["i.1"], "the lease is over");
}

#[tokio::test]
async fn notices_of_one_incident_keep_their_order() {
    let mut case = case();
    let kinds = [NoticeKind::Firing, NoticeKind::Resolved];
    case.put(kinds.iter().zip(1..).map(|(kind, n)| notice("i", n, *kind)).collect());
    case.put(vec![notice("k", 1, NoticeKind::Firing)]);
    let leased = case.lease(10.0).await;
    assert_eq!(keys(&leased), ["i.1", "k.1"]);
    assert!(case.outbox.put_back(&leased[0], &PutBack::Retry(20.0, "down".into())).await.unwrap());
    assert!(case.outbox.delivered(&leased[1], 11.0, None).await.unwrap());
    assert!(case.lease(15.0).await.is_empty(), "the end waits for the beginning");
    let leased = case.lease(20.0).await;
    assert_eq!((keys(&leased), leased[0].attempts), (vec!["i.1"], 2));
    assert!(case.outbox.delivered(&leased[0], 21.0, None).await.unwrap());
    assert_eq!(keys(&case.lease(22.0).await), ["i.2"]);
}

#[tokio::test]
async fn expired_lease_cannot_commit() {
    let mut case = case();
    case.put(vec![notice("i", 1, NoticeKind::Firing)]);
    let lost = case.lease(10.0).await;
    let other = case.outbox.lease("a", "other", 50.0, 80.0, 10).await.unwrap();
    assert_eq!(keys(&other), ["i.1"]);
    assert!(!case.outbox.put_back(&lost[0], &PutBack::Dead("late".into())).await.unwrap());
    assert!(case.outbox.delivered(&other[0], 51.0, None).await.unwrap());
    assert!(!case.outbox.delivered(&lost[0], 52.0, None).await.unwrap());
}

#[tokio::test]
async fn notice_repeats_until_a_newer_one_exists() {
    let mut case = case();
    case.put(vec![notice("i", 1, NoticeKind::Firing)]);
    let first = case.lease(10.0).await;
    case.outbox.delivered(&first[0], 10.0, Some(60.0)).await.unwrap();
    assert!(case.lease(59.0).await.is_empty());
    let again = case.lease(60.0).await;
    assert_eq!((keys(&again), again[0].delivered_s), (vec!["i.1"], Some(10.0)));
    case.outbox.delivered(&again[0], 60.0, Some(110.0)).await.unwrap();
    case.put(vec![notice("i", 2, NoticeKind::Resolved)]);
    let end = case.lease(120.0).await;
    assert_eq!(keys(&end), ["i.2"]);
    case.outbox.delivered(&end[0], 120.0, None).await.unwrap();
    assert!(case.lease(900.0).await.is_empty());
    let states: Vec<String> = case
        .outbox
        .deliveries("i")
        .await
        .unwrap()
        .into_iter()
        .filter(|d| d.receiver == "a")
        .map(|d| d.state)
        .collect();
    assert_eq!(states, ["delivered", "delivered"]);
}

#[tokio::test]
async fn dead_letters_are_retried_unless_superseded() {
    let mut case = case();
    case.put(vec![notice("i", 1, NoticeKind::Firing), notice("k", 1, NoticeKind::Firing)]);
    for leased in case.lease(10.0).await {
        case.outbox.put_back(&leased, &PutBack::Dead("gone".into())).await.unwrap();
    }
    case.put(vec![notice("k", 2, NoticeKind::Resolved)]);
    let end = case.lease(20.0).await;
    assert_eq!(keys(&end), ["k.2"], "a dead letter delays no notice");
    case.outbox.delivered(&end[0], 20.0, None).await.unwrap();
    assert_eq!(case.outbox.retry("", "a").await.unwrap(), 1);
    assert_eq!(keys(&case.lease(30.0).await), ["i.1"]);
    let around = case.outbox.around(&end[0]).await.unwrap();
    assert_eq!(around, Around { later: false, over: false, delivered: false, silenced: false });
}

#[tokio::test]
async fn silences_that_ended_long_ago_are_forgotten() {
    let mut case = case();
    for until_s in [100.0, 300.0] {
        let silence = AlertSilence {
            id: format!("{until_s}"),
            matchers: BTreeMap::from([("alertname".to_string(), "a".to_string())]),
            from_s: 0.0,
            until_s,
            author: "ann".to_string(),
            comment: String::new(),
        };
        case.outbox.put_silence(&silence).await.unwrap();
    }
    case.outbox.expire(200.0).await.unwrap();
    let left: Vec<String> = case.outbox.silences(0.0).await.unwrap().into_iter().map(|s| s.id).collect();
    assert_eq!(left, ["300"]);
}

#[tokio::test]
async fn incidents_that_are_over_are_listed_when_requested() {
    let mut case = case();
    case.put(vec![notice("i", 1, NoticeKind::Firing), notice("k", 1, NoticeKind::Firing)]);
    let over = Notice { resolved_s: Some(150.0), ..notice("k", 2, NoticeKind::Resolved) };
    case.put(vec![over]);
    assert_eq!(case.outbox.incidents(None, 10).await.unwrap().len(), 1);
    assert_eq!(case.outbox.incidents(Some(0.0), 10).await.unwrap().len(), 2);
}
