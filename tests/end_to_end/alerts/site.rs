//! The commands of docs/alerts.md as a site runs them, on PostgreSQL and a `tailback run`.

use super::outbox::notice;
use super::receiver::now_s;
use schemas::{Notice, NoticeKind, ResultBatch, RoutedNotice};
use serde_json::Value;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use store::outbox::{OutboxStore, PutBack};
use store::postgres::{PartCommit, PgStore};
use store::storage_policy::StoredRows;
use support::database::{Database, on_each_server};
use support::documents;

/// The incident that docs/alerts.md shows.
const SHOWN: &str = "1e81306a8de36328";

/// Incidents in the database, all of their notices dead letters of one receiver.
async fn not_delivered(database: &Database, incidents: [(&str, &str); 2]) {
    let about = |(incident, node): (&str, &str)| {
        let mut notice: Notice = notice(incident, 1, NoticeKind::Firing);
        notice.advice.nodes = vec![node.to_string()];
        RoutedNotice { notice, receivers: vec!["r".to_string()] }
    };
    let results = ResultBatch { notices: incidents.map(about).to_vec(), ..ResultBatch::default() };
    let mut store = PgStore::connect(&database.settings()).await.unwrap();
    let part = PartCommit {
        partition: 0,
        epoch: store.claim("rollup", 0, "a", None).await.unwrap().epoch,
        from_position: None,
        to_position: 1,
        results: &results,
        stored: &StoredRows::default(),
        table: &[],
        snapshot: None,
    };
    store.commit("rollup", &[part]).await.unwrap();
    let mut notices = OutboxStore::server(database.settings());
    let leased = notices.lease("r", "test", now_s(), now_s() + 30.0, 10).await.unwrap();
    assert_eq!(leased.len(), incidents.len());
    for notice in leased {
        notices.put_back(&notice, &PutBack::Dead("it answers 400".to_string())).await.unwrap();
    }
}

/// A `tailback run` that ends with the test.
struct Run(Child);

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Run {
    /// Starts it where `tailback.toml` lies.
    fn start(folder: &Path) -> Run {
        let mut command = Command::new(crate::TAILBACK);
        command.args(["run", "--config", "tailback.toml"]).current_dir(folder);
        Run(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

/// Writes the configuration with the database and unreachable brokers; returns the address of the HTTP server.
fn configure(folder: &Path, database: &Database) -> SocketAddr {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let text = format!(
        "[kafka]\nbrokers = [\"127.0.0.1:1\"]\n[database]\nurl = \"{}\"\n[http]\nlisten = \"{address}\"\n",
        database.settings().url
    );
    std::fs::write(folder.join("tailback.toml"), text).unwrap();
    address
}

/// Checks the silence: it starts in eight hours, lasts two, and has the typed pattern.
fn is_silenced(folder: &Path) {
    let listed = documents::printed(folder, "tailback alerts list --json --config tailback.toml");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let silence = &listed["silences"][0];
    assert_eq!(silence["matchers"]["subject"], "leaf-*", "{listed}");
    let [from_s, until_s] = ["from_s", "until_s"].map(|field| silence[field].as_f64().unwrap());
    assert!((from_s - now_s() - 8.0 * 3_600.0).abs() < 120.0, "{listed}");
    assert!((until_s - from_s - 2.0 * 3_600.0).abs() < 0.001, "{listed}");
}

/// Incidents in the answer that curl gets.
fn advised(folder: &Path, curl: &str) -> Vec<String> {
    // The server may listen some seconds after its start.
    let retrying = "curl --fail --silent --retry 60 --retry-delay 1 --retry-connrefused";
    let answer = documents::printed(folder, &curl.replacen("curl", retrying, 1));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let advice = answer["advice"].as_array().unwrap().iter();
    advice.map(|advice| advice["incident"].as_str().unwrap().to_string()).collect()
}

#[test]
fn the_documented_commands_about_alerts_are_answered_from_the_sites_database() {
    on_each_server(|database: Database| async move {
        not_delivered(&database, [(SHOWN, "nid00012"), ("another", "nid00064")]).await;
        let folder = tempfile::tempdir().unwrap();
        let address = configure(folder.path(), &database).to_string();
        let _run = Run::start(folder.path());
        // A shell that took the pattern for names of files would find one.
        std::fs::write(folder.path().join("subject=leaf-1"), "").unwrap();
        let commands = documents::block("docs/alerts.md", "tailback alerts list");
        let commands: Vec<&str> = commands.lines().collect();
        let [list, show, retry, silence, curl] = commands[..] else { panic!("{commands:?}") };
        let printed = |command: &str| documents::printed(folder.path(), command);
        let listed = printed(list);
        assert!(listed.contains(SHOWN) && listed.contains("0 waiting, 1 dead of another"), "{listed}");
        let shown = printed(show);
        assert!(shown.contains("avoid nodes: nid00012") && shown.contains("it answers 400"), "{shown}");
        assert_eq!(printed(retry), "2 notices will be sent again\n");
        assert!(printed(list).contains("1 waiting, 0 dead of another"));
        assert!(printed(silence).starts_with("silence "));
        is_silenced(folder.path());
        assert_eq!(advised(folder.path(), &curl.replace("127.0.0.1:9464", &address)), [SHOWN]);
    });
}

/// Runs `tailback check` on a configuration with both receivers of docs/alerts.md.
fn checked(folder: &Path, hosts: &str) -> Output {
    let alerts = format!("[alerts]\nreceivers = [\"scheduler.toml\", \"slurm.toml\"]\nhosts = [{hosts}]\n");
    std::fs::write(folder.join("tailback.toml"), alerts).unwrap();
    documents::typed(folder, "tailback check --config tailback.toml").output().unwrap()
}

#[test]
fn the_documented_receivers_are_taken_where_their_host_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let webhook = documents::block("docs/alerts.md", "kind = \"webhook\"");
    let here = webhook.replace("/etc/tailback/webhook.key", path.join("webhook.key").to_str().unwrap());
    assert_ne!(here, webhook);
    std::fs::write(path.join("scheduler.toml"), here).unwrap();
    std::fs::write(path.join("slurm.toml"), documents::block("docs/alerts.md", "kind = \"slurm\"")).unwrap();
    let check = |hosts: &str| {
        let output = checked(path, hosts);
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let (taken, printed) = check("\"scheduler.site\"");
    assert!(!taken && printed.contains("webhook.key cannot be read"), "{printed}");
    assert_eq!(printed.lines().count(), 1, "{printed}");
    std::fs::write(path.join("webhook.key"), "0123456789abcdef").unwrap();
    let (taken, printed) = check("\"scheduler.site\"");
    assert!(taken && printed.contains("receivers = [\"scheduler.toml\", \"slurm.toml\"]"), "{printed}");
    let (taken, printed) = check("");
    assert!(
        !taken && printed.contains("url names scheduler.site, which [alerts] hosts does not"),
        "{printed}"
    );
}
