//! What jobs report of their progress: rows in the topic, and refusals.

use super::lines::address_of;
use super::process::{Process, Program};
use super::site::Site;
use crate::serve::clients::Clients;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message};
use reqwest::{Response, StatusCode};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use support::stack::turn;
use tokio::runtime::Runtime;

/// Longest wait for what must be seen.
const WAIT_TIMEOUT: Duration = Duration::from_secs(240);
const KEY: &str = "0123456789abcdef0123456789abcdef";
const READ_TOKEN: &str = "0123456789abcdef";
/// Reports of each client.
const CALLS: u32 = 200;

/// A site whose jobs have tokens.
struct Reporting {
    site: Site,
    runtime: Runtime,
    /// `http://ADDRESS:PORT`.
    url: String,
    _process: Process,
}

impl Reporting {
    fn start(site: Site, brokers: Option<&str>) -> Reporting {
        let file = |name: &str, text: &str| {
            let path = site.config.with_extension(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let (key, token) = (file("key", KEY), file("token", READ_TOKEN));
        site.configure(&format!(
            "token_file = {token:?}\njob_token_key_file = {key:?}\n[limits]\nprogress_per_s = 100000\n"
        ));
        let mut program = Program::new("run", &site.config);
        if let Some(brokers) = brokers {
            program = program.env("TAILBACK_KAFKA__BROKERS", brokers);
        }
        let mut process = program.start();
        process.wait_for("metrics and health");
        let url = format!("http://{}", address_of(&process));
        Reporting { site, runtime: Runtime::new().unwrap(), url, _process: process }
    }

    fn token(&self, job: &str) -> String {
        let key = self.site.config.with_extension("key");
        let issued = Command::new(crate::TAILBACK)
            .args(["ask", "--issue", "--job", job, "--key-file"])
            .arg(key)
            .output()
            .unwrap();
        String::from_utf8(issued.stdout).unwrap().trim().to_string()
    }

    /// `tailback progress` in `job`, with the token of another one.
    fn command(&self, job: &str, token_of: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(crate::TAILBACK);
        command.arg("progress").args(arguments).env("TAILBACK_URL", &self.url);
        command.env("TAILBACK_JOB_ID", job).env("TAILBACK_JOB_TOKEN", self.token(token_of)).output().unwrap()
    }

    fn post(&self, job: &str, body: &str) -> Response {
        let request = reqwest::Client::new().post(format!("{}/api/v1/jobs/{job}/progress", self.url));
        let request = request.header("Content-Type", "application/json").bearer_auth(self.token(job));
        self.runtime.block_on(request.body(body.to_string()).send()).unwrap()
    }

    fn wait_until_taken(&self) {
        let begun = Instant::now();
        while self.post("1", r#"{"name":"steps","count":1}"#).status() == StatusCode::SERVICE_UNAVAILABLE {
            assert!(begun.elapsed() < WAIT_TIMEOUT, "the topic is never there");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Rows of the topic with their keys, until `enough`.
    fn rows(&self, enough: impl Fn(&[(String, Value)]) -> bool) -> Vec<(String, Value)> {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", &self.site.services.broker)
            .set("group.id", "progress.test")
            .set("auto.offset.reset", "earliest");
        let reader: BaseConsumer = config.create().unwrap();
        reader.subscribe(&[&format!("{}.progress", self.site.name)]).unwrap();
        let (mut rows, begun) = (Vec::new(), Instant::now());
        while !enough(&rows) {
            assert!(begun.elapsed() < WAIT_TIMEOUT, "{rows:?}");
            let Some(Ok(message)) = reader.poll(Duration::from_millis(200)) else { continue };
            let key = String::from_utf8(message.key().unwrap().to_vec()).unwrap();
            rows.push((key, serde_json::from_slice(message.payload().unwrap()).unwrap()));
        }
        rows
    }
}

#[test]
fn reports_of_jobs_are_rows_in_the_topic() {
    let Some((services, _turn)) = turn() else { return };
    let reporting = Reporting::start(Site::new(services, "progress"), None);
    reporting.wait_until_taken();
    let output = reporting.command("1240", "1240", &["iterations", "18446744073709551615", "--rank", "3"]);
    assert!(output.status.success(), "{output:?}");
    for calls in Clients::new().report(&reporting.url, "1241", &reporting.token("1241"), CALLS) {
        println!("a server that takes reports: {calls:?}");
    }
    let has = |rows: &[(String, Value)], job: &str, rank: &str| {
        rows.iter().any(|(key, row)| key == job && row["progress_rank"] == rank)
    };
    let rows =
        reporting.rows(|rows| has(rows, "1240", "3") && has(rows, "1241", "0") && has(rows, "1241", "1"));
    let (_, row) = rows.iter().find(|(key, _)| key == "1240").unwrap();
    let age_s = super::feed::since_epoch().as_secs_f64() - row["timestamp"].as_f64().unwrap();
    assert!((0.0..WAIT_TIMEOUT.as_secs_f64()).contains(&age_s), "{row}");
    let mut expected = serde_json::json!({
        "schema": "tailback_progress", "producer": "1240", "job_id": "1240", "progress_name": "iterations", "progress_rank": "3",
        "progress_count": u64::MAX,
    });
    expected["timestamp"] = row["timestamp"].clone();
    assert_eq!(*row, expected);
}

#[test]
fn what_a_log_counts_is_reported() {
    let Some((services, _turn)) = turn() else { return };
    let reporting = Reporting::start(Site::new(services, "progress_log"), None);
    let log = reporting.site.config.with_extension("log");
    std::fs::write(&log, "begin\nstep 41 of 50\n").unwrap();
    let mut command = Command::new(crate::TAILBACK);
    command.args(["progress", "steps", "--pattern", "^step ([0-9]+)", "--follow"]).arg(&log);
    command.env("TAILBACK_URL", &reporting.url).env("TAILBACK_JOB_ID", "1240");
    // It starts before the topic is there, and tries again.
    let mut follows = command.env("TAILBACK_JOB_TOKEN", reporting.token("1240")).spawn().unwrap();
    let of = |rows: &[(String, Value)], count: u64| {
        rows.iter().any(|(key, row)| key == "1240" && row["progress_count"] == count)
    };
    reporting.rows(|rows| of(rows, 41));
    std::fs::OpenOptions::new().append(true).open(&log).unwrap().write_all(b"step 42 of 50\n").unwrap();
    reporting.rows(|rows| of(rows, 42));
    follows.kill().unwrap();
    follows.wait().unwrap();
}

#[test]
fn what_a_job_may_not_report_is_refused() {
    let Some((services, _turn)) = turn() else { return };
    let reporting = Reporting::start(Site::new(services, "progress_refused"), None);
    reporting.wait_until_taken();
    for (job, token_of, name, part) in [
        ("1240", "1241", "steps", "status 403: this token is of job 1241"),
        ("1240", "1240", "Steps", "status 400: report 1: name \"Steps\" must be 1 to 32"),
    ] {
        let output = reporting.command(job, token_of, &[name, "1"]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(4) && text.contains(part), "{text}");
    }
    let names: Vec<String> = (0..9).map(|number| format!(r#"{{"name":"n{number}","count":1}}"#)).collect();
    let answer = reporting.post("1240", &format!("[{}]", names.join(",")));
    assert_eq!(
        (answer.status(), answer.headers()["Retry-After"].to_str().unwrap()),
        (StatusCode::TOO_MANY_REQUESTS, "300")
    );
    assert_eq!(reporting.post("1241", &names[0]).status(), StatusCode::ACCEPTED, "another job is not harmed");
}

#[test]
fn without_a_broker_no_report_is_taken() {
    let Some((services, _turn)) = turn() else { return };
    let reporting = Reporting::start(Site::new(services, "progress_dead"), Some("127.0.0.1:1"));
    let output = reporting.command("1240", "1240", &["steps", "1"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(4) && text.contains("status 503: Kafka did not accept"), "{text}");
}
