//! An embedded store with notices, and their delivery.

use super::receiver::now_s;
use alerts::receivers::{Deliverer, Random, Receiver};
use configuration::secrets::read_secret;
use schemas::{
    Action, Advice, NOTICE_VERSION, Notice, NoticeKind, ResultBatch, RoutedNotice, Severity, SufferingJob,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use store::outbox::OutboxStore;
use store::sqlite::{Retention, Store};

/// A notice of an incident that began a minute ago, with advice for five minutes.
pub fn notice(incident: &str, sequence: u64, kind: NoticeKind) -> Notice {
    let now_s = now_s();
    let label = |name: &str, value: &str| (name.to_string(), value.to_string());
    Notice {
        version: NOTICE_VERSION,
        key: format!("{incident}.{sequence}"),
        kind,
        incident: incident.to_string(),
        sequence,
        rule: "region_contended".to_string(),
        severity: Severity::Warning,
        subject: format!("leaf {incident}"),
        labels: BTreeMap::from([label("alertname", "region_contended"), label("incident", incident)]),
        started_s: now_s - 60.0,
        fired_s: now_s - 40.0,
        resolved_s: (kind == NoticeKind::Resolved).then_some(now_s - 1.0),
        summary: format!("leaf {incident} is contended"),
        description: "four links".to_string(),
        hint: "look".to_string(),
        members: 1,
        slowdown_s: 12.5,
        slowdown_lo_s: 11.0,
        slowdown_hi_s: 14.0,
        completeness: 0.99,
        advice: Advice {
            valid_until_s: now_s + 300.0,
            links: vec!["ib_wait_ratio/leaf-1/1".to_string()],
            nodes: vec!["tb01".to_string()],
            jobs: vec![SufferingJob {
                job_id: "1".to_string(),
                lost_s: 12.5,
                lost_lo_s: 11.0,
                lost_hi_s: 14.0,
            }],
            causes: Vec::new(),
            action: Action::RerouteLids,
            expected_relief: 0.5,
            confidence: 0.8,
        },
    }
}

/// A store in its own temporary folder.
pub struct Outbox {
    _folder: tempfile::TempDir,
    store: Store,
    /// The database file.
    pub path: PathBuf,
}

impl Outbox {
    /// An empty store.
    pub fn new() -> Outbox {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tailback.db");
        let store = Store::open(&path, Retention::default()).unwrap();
        Outbox { _folder: folder, store, path }
    }

    /// Commits notices for a receiver.
    pub fn send(&mut self, notices: Vec<Notice>) {
        let route = |notice| RoutedNotice { notice, receivers: vec!["r".to_string()] };
        let batch =
            ResultBatch { notices: notices.into_iter().map(route).collect(), ..ResultBatch::default() };
        self.store.commit(&batch, &[]).unwrap();
    }

    /// Commits notices that are already routed.
    pub fn commit(&mut self, notices: Vec<RoutedNotice>) {
        self.store.commit(&ResultBatch { notices, ..ResultBatch::default() }, &[]).unwrap();
    }
}

/// The receiver `r` from the text of a receiver file.
pub fn receiver(text: &str) -> Receiver {
    Receiver::parse("r.toml", &format!("name = \"r\"\n{text}"), &[], &read_secret).unwrap()
}

/// Delivers from a store until the task is aborted.
pub fn deliver(store: &Path, receiver: Receiver) -> tokio::task::JoinHandle<()> {
    let notices = OutboxStore::file(store).unwrap();
    let clock = Arc::new(now_s);
    let way = Deliverer::new(receiver, notices, "test", 1e9, clock, Random::seeded()).unwrap();
    tokio::spawn(way.run(Duration::from_millis(20), std::future::pending()))
}

/// Longest wait of a test on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

/// Waits until `holds`; fails after [`LONGEST`].
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + LONGEST;
    while !holds() {
        assert!(tokio::time::Instant::now() < deadline, "{what}: not within {} s", LONGEST.as_secs());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
