//! Compares answers from PostgreSQL with those from an embedded store with the same rows:
//! `report`, `explain`, and `/api/v1/placement` of `tailback run`.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use store::postgres::PgStore;
use store::sqlite::{Retention, Store};
use support::answers::{batch, commit_to_server};
use support::database::{Database, on_each_server};
use support::documents;

/// The same rows in both stores, and how the program finds them.
struct Both {
    folder: tempfile::TempDir,
    store: PathBuf,
    config: PathBuf,
}

impl Both {
    async fn filled(database: &Database) -> Both {
        let mut server = PgStore::connect(&database.settings()).await.unwrap();
        let rows = batch("ann", "ben");
        commit_to_server(&mut server, &rows).await;
        let folder = tempfile::tempdir().unwrap();
        let (store, config) = (folder.path().join("tailback.db"), folder.path().join("tailback.toml"));
        Store::open(&store, Retention::default()).unwrap().commit(&rows, &[]).unwrap();
        let both = Both { folder, store, config };
        both.configure(&database.settings().url, "");
        both
    }

    /// Writes the configuration: the database, brokers that are not there, and `more`.
    fn configure(&self, url: &str, more: &str) {
        let text = format!("[kafka]\nbrokers = [\"127.0.0.1:1\"]\n[database]\nurl = \"{url}\"\n{more}");
        std::fs::write(&self.config, text).unwrap();
    }

    /// Output of the program from the embedded store, and from the server.
    fn printed(&self, arguments: &[&str]) -> [String; 2] {
        let of = |option: &str, path: &Path| {
            let mut command = Command::new(crate::TAILBACK);
            let output = command.args(arguments).arg(option).arg(path).env("TZ", "UTC").output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        [of("--store", &self.store), of("--config", &self.config)]
    }
}

/// A report with its episodes as the server shows them: cut to the run, and without causes of single episodes.
fn of_the_run(report: &str) -> Value {
    let mut report: Value = serde_json::from_str(report).unwrap();
    assert!(report["written"].take().is_number());
    let end = report["end"].as_f64().unwrap_or(f64::MAX);
    for episode in report["episodes"].as_array_mut().unwrap() {
        assert!(episode["causes"].take().is_array());
        let figure = |episode: &Value, name: &str| episode[name].as_f64().unwrap();
        let share = figure(episode, "slowdown_in_run_s") / figure(episode, "slowdown_s");
        for bound in ["slowdown_s", "slowdown_lo_s", "slowdown_hi_s"] {
            episode[bound] = (figure(episode, bound) * share).into();
        }
        episode["end"] = figure(episode, "end").min(end).into();
    }
    report
}

/// A report without the line of its date.
fn without_date(report: String) -> String {
    let (page, date) = report.rsplit_once("\nTailback ").unwrap();
    assert!(date.contains(", written 20"), "{date}");
    page.to_string()
}

#[test]
fn jobs_from_the_server_are_those_from_the_store() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database).await;
        for more in [
            &[][..],
            &["--user", "ann"],
            &["--running"],
            &["--ended"],
            &["--since", "1h"],
            &["--by-loss"],
            &["--limit", "2"],
        ] {
            for form in [&[][..], &["--json"]] {
                let [store, server] = both.printed(&[&["jobs"], more, form].concat());
                assert!(!store.is_empty());
                assert_eq!(server, store, "{more:?}");
            }
        }
        let [all, _] = both.printed(&["jobs", "--json"]);
        let all: Value = serde_json::from_str(&all).unwrap();
        let by_1235 = |job: &&Value| job["series_or_job"] == "1235";
        assert!(
            all.as_array().unwrap().len() >= 4 && all.as_array().unwrap().iter().any(|job| by_1235(&job)),
            "{all}"
        );
        let [caused, _] = both.printed(&["report", "1235", "--json"]);
        let caused: Value = serde_json::from_str(&caused).unwrap();
        assert!(
            caused["caused"].as_array().unwrap().iter().any(|victim| victim["job_id"] == "1234"),
            "{caused}"
        );
    });
}

#[test]
fn reports_from_the_server_are_those_from_the_store() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database).await;
        for job in ["1198", "1234", "1235", "1240"] {
            let [store, server] = both.printed(&["report", job, "--json"]);
            assert!(store.contains("\"slowdown_s\""), "{store}");
            assert_eq!(of_the_run(&server), of_the_run(&store), "job {job}");
            // An episode of 1234 outlives its run: the server cuts it there, the store shows it whole.
            let [store, server] = both.printed(&["report", job]).map(without_date);
            match job {
                "1234" => assert!(server.contains(" 64.0 s [48.0, 80.0] "), "{server}"),
                _ => assert_eq!(server, store, "job {job}"),
            }
        }
        let [store, server] = both.printed(&["report", "--compare", "1234", "1198"]);
        assert!(store.contains("1198"), "{store}");
        assert_eq!(server, store);
        let [store, server] = both.printed(&["report", "1234", "--compare", "1198", "--json"]);
        assert_eq!(server, store);
    });
}

#[test]
fn documented_post_mortem_reads_the_sites_database() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database).await;
        let commands = documents::block("docs/overview.md", "tailback report 1234 --config");
        let commands: Vec<&str> = commands.lines().collect();
        let [report, sql] = commands[..] else { panic!("{commands:?}") };
        let text = documents::printed(both.folder.path(), report);
        assert!(text.contains("Job 1234") && text.contains("64.0 s [48.0, 80.0]"), "{text}");
        let here = format!("export TAILBACK_DATABASE__URL='{}'; {sql}", database.settings().url);
        let facts = documents::printed(both.folder.path(), &here);
        assert!(facts.contains("router c0-0c0s0"), "{facts}");
    });
}

/// An explanation with the episode's number as in the embedded store, which has no partitions.
fn of_no_partition(explanation: &str) -> String {
    assert!(explanation.contains("0:"), "{explanation}");
    explanation.replacen("0:", "", 1)
}

#[test]
fn an_explanation_from_the_server_is_that_from_the_store() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database).await;
        for episode in ["1", "2", "3", "4"] {
            let [store, server] = both.printed(&["explain", episode, "--json"]);
            assert!(store.contains("\"samples\""), "{store}");
            assert_eq!(of_no_partition(&server), store, "episode {episode}");
            let [store, server] = both.printed(&["explain", episode]);
            assert_eq!(of_no_partition(&server), store, "episode {episode}");
        }
    });
}

#[test]
fn unknown_job_is_an_error_on_the_server_too() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database).await;
        let mut command = Command::new(crate::TAILBACK);
        let output = command.args(["report", "7", "--config"]).arg(&both.config).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && stderr.contains("job \"7\" is not known"), "{stderr}");
    });
}

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn started(arguments: &[&str]) -> Process {
    let mut command = Command::new(crate::TAILBACK);
    let command = command.args(arguments).env("TZ", "UTC").stdout(Stdio::null()).stderr(Stdio::null());
    Process(command.spawn().unwrap())
}

/// Status and body of an answer; connects as soon as the server listens.
fn get(address: SocketAddr, path: &str, headers: &str) -> (u16, Value) {
    let deadline = Instant::now() + Duration::from_secs(120);
    let mut stream = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(error) => assert!(Instant::now() < deadline, "{address} does not listen: {error}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    write!(stream, "GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or(Value::String(body.to_string())))
}

/// The number of nodes, and the facts about them that have numbers.
fn figures(answer: &Value) -> (&Value, Vec<[&Value; 4]>) {
    let facts = answer["rows"].as_array().unwrap().iter();
    let measured = facts.filter(|fact| {
        ["span", "expected contention", "open region"].map(Value::from).contains(&fact["topic"])
    });
    let facts = measured.map(|fact| ["topic", "name", "figure", "unit"].map(|column| &fact[column]));
    (&answer["nodes"], facts.collect())
}

const OURS: &str = "Host: localhost\r\n";

#[test]
fn a_placement_is_answered_from_the_server_as_from_the_store() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database).await;
        let (run, page) = (free_address(), free_address());
        both.configure(&database.settings().url, &format!("[http]\nlisten = \"{run}\"\n"));
        let (config, store) = (both.config.to_str().unwrap(), both.store.to_str().unwrap());
        let _run = started(&["run", "--config", config]);
        let _page = started(&["serve", "--store", store, "--listen", &page.to_string()]);
        for nodes in ["nid[00000-00003]", "nid00000,nid00004", "nid09999"] {
            let path = format!("/api/v1/placement?nodes={nodes}");
            let (status, server) = get(run, &path, OURS);
            assert_eq!(status, 200, "{server}");
            assert_eq!(figures(&server), figures(&get(page, &path, OURS).1), "{nodes}");
            // Only the server reports running jobs near the nodes, and advice.
            let more = server["rows"].as_array().unwrap();
            assert!(more.iter().any(|fact| fact["topic"] == "advice"), "{nodes}: {server}");
        }
        for wrong in ["?nodes=", "?nodes=a/b", "?nodes=n[1-30000]", "", "?nodes=n1&more=1"] {
            let (status, body) = get(run, &format!("/api/v1/placement{wrong}"), OURS);
            assert_eq!((status, body["error"].is_string()), (400, true), "{wrong}: {body}");
        }
        assert_eq!(get(run, "/api/v1/placement?nodes=n1", "Host: evil.example\r\n").0, 403);
        assert_eq!(get(run, "/api/v1/advice?nodes=n1", OURS).1["advice"], Value::Array(Vec::new()));
        for closed in ["/api/v1/jobs", "/api/v1/now", "/"] {
            let (status, body) = get(run, closed, OURS);
            assert!([403, 404].contains(&status), "it shows the jobs of all users: {closed} {status} {body}");
        }
        drop(both.folder);
    });
}

#[test]
fn with_a_token_the_whole_api_is_answered_and_nothing_without() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database).await;
        let (run, token) = (free_address(), both.folder.path().join("token"));
        std::fs::write(&token, "0123456789abcdef\n").unwrap();
        let more = format!("[http]\nlisten = \"{run}\"\ntoken_file = \"{}\"\n", token.display());
        both.configure(&database.settings().url, &more);
        let _run = started(&["run", "--config", both.config.to_str().unwrap()]);
        let header = format!("{OURS}Authorization: Bearer 0123456789abcdef\r\n");
        for path in ["/api/v1/placement?nodes=nid00000", "/api/v1/advice", "/api/v1/jobs", "/metrics"] {
            assert_eq!(get(run, path, OURS).0, 401, "{path}");
            assert_eq!(get(run, path, &header).0, 200, "{path}");
        }
        assert_eq!(get(run, "/", OURS).0, 200, "a browser loads the page before its user logs in");
    });
}
