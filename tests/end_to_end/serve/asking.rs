//! `tailback ask` and `tailback progress`, and what running jobs wait for, from both databases.

use super::both::{Both, rows};
use super::serving::Serving;
use dashboards::Source;
use dashboards::reader::StoreReader;
use schemas::{EpisodeId, JobResult, LossPoint, ResultBatch, SeriesIndex};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use store::read::contention::{RunningJob, WaitedFor, running, waited_for};
use store::sqlite::{Retention, Store};
use support::answers::{at, name};
use support::database::{Database, on_each_server};

/// Job 1240 waits in a region, for a mount and for a link that is in no region; job 7 waits for nothing, job 8 has no series.
pub fn waiting() -> ResultBatch {
    let mut rows = rows();
    for (id, series, from, loss_s) in [(50, 6, 90.0, 4.0), (51, 5, 550.0, 2.0)] {
        let mut open = rows.episodes[0].clone();
        (open.id, open.series, open.open) = (EpisodeId(id), SeriesIndex(series), true);
        (open.start, open.end, open.slowdown_s) = (at(from), at(600.0), loss_s);
        (open.slowdown_lo_s, open.slowdown_hi_s) = (loss_s * 0.75, loss_s * 1.25);
        open.profile = vec![LossPoint { time: at(600.0), slowdown_s: loss_s }];
        rows.episodes.push(open);
    }
    for (id, series) in [("7", Some(2)), ("8", None)] {
        let mut job = rows.jobs.iter().find(|job| job.end.is_none()).unwrap().clone();
        job.job_id = name(id);
        rows.jobs.push(job);
        rows.job_series.extend(series.map(|series| (name(id), SeriesIndex(series))));
    }
    let result = rows.job_results.iter().find(|result| result.job_id.as_str() == "1240").unwrap().clone();
    rows.job_results.push(JobResult {
        job_id: name("7"),
        slowdown_s: 0.0,
        slowdown_lo_s: 0.0,
        causes: Vec::new(),
        ..result
    });
    rows
}

async fn read(source: Source) -> (Vec<RunningJob>, Vec<(String, WaitedFor)>) {
    let reader = StoreReader::new(source);
    reader.read(|store| Ok((running(store, 100)?, waited_for(store, 100)?))).await.unwrap()
}

#[test]
fn running_jobs_wait_for_the_same_in_both() {
    on_each_server(|database: Database| async move {
        let login = database.login("tailback_reader").await;
        let both = Both::with(&waiting(), &database, &database.url_of(&login)).await;
        let mut settings = database.settings();
        settings.url = database.url_of(&login);
        let of_store = read(Source::from(both.store.clone())).await;
        assert_eq!(read(Source::Database(Box::new(settings))).await, of_store);
        let (jobs, waits) = of_store;
        assert_eq!(jobs.iter().map(|job| job.job_id.as_str()).collect::<Vec<_>>(), ["1240", "7", "8"]);
        let shown: Vec<_> = waits
            .iter()
            .map(|(job, on)| (job.as_str(), on.about.as_str(), on.name.as_str(), on.since_s, on.lost_s))
            .collect();
        let [start, later] = [100.0, 550.0].map(|seconds| at(seconds).seconds());
        // The loss on a file system is cut to the run: the episode began ten seconds before.
        let on_mount = 4.0 * 500.0 / 510.0;
        assert_eq!(shown.len(), 3, "{shown:?}");
        assert_eq!(shown[0], ("1240", "region", "router c0-0c0s0", start, Some(20.0)));
        assert_eq!((shown[1].1, shown[1].2, shown[1].3), ("file_system", "snx11137", start));
        assert!((shown[1].4.unwrap() - on_mount).abs() < 1e-6, "{shown:?}");
        assert_eq!(shown[2], ("1240", "links", "c2-0c0s0", later, None));
        database.drop_login(&login).await;
    });
}

const TOKEN: &str = "0123456789abcdef";
const KEY: &str = "0123456789abcdef0123456789abcdef";

/// `tailback serve` over a store with jobs that wait; reading needs a token.
pub struct Asked {
    folder: tempfile::TempDir,
    _serving: Serving,
    /// `http://ADDRESS:PORT`.
    pub url: String,
}

impl Asked {
    pub fn start() -> Asked {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("tailback.db");
        Store::open(&store, Retention::default()).unwrap().commit(&waiting(), &[]).unwrap();
        for (file, text) in [("token", TOKEN), ("key", KEY), ("other", &KEY.replace('0', "x"))] {
            std::fs::write(folder.path().join(file), text).unwrap();
        }
        let mut command = Command::new(crate::TAILBACK);
        command.args(["serve", "--listen", "127.0.0.1:0", "--store"]).arg(&store);
        command.arg("--token-file").arg(folder.path().join("token"));
        command.arg("--job-token-key-file").arg(folder.path().join("key"));
        let mut serving = Serving::of(command);
        let url = serving.page().url("").replace("/api/v1/", "");
        Asked { folder, _serving: serving, url }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A token that `tailback ask --issue` printed.
    pub fn token(&self, job: &str, key: &str) -> String {
        issued(job, &self.file(key), "3600")
    }
}

fn issued(job: &str, key: &Path, valid_s: &str) -> String {
    let issued = Command::new(crate::TAILBACK)
        .args(["ask", "--issue", "--job", job, "--valid-s", valid_s, "--key-file"])
        .arg(key)
        .output()
        .unwrap();
    assert!(issued.status.success(), "{}", String::from_utf8_lossy(&issued.stderr));
    String::from_utf8(issued.stdout).unwrap().trim().to_string()
}

fn ask(url: &str, job: &str, token: &str, options: &[&str]) -> Output {
    let mut command = Command::new(crate::TAILBACK);
    command.arg("ask").args(options).env_remove("TAILBACK_JOB_ID").env("TAILBACK_URL", url);
    command.env("SLURM_JOB_ID", job).env("TAILBACK_JOB_TOKEN", token).output().unwrap()
}

#[test]
fn the_exit_status_is_the_answer() {
    let asked = Asked::start();
    for (job, status, first, second) in [
        ("1240", 3, "job 1240: contended", "  region router c0-0c0s0, since 2026-11-20 10:01:40 UTC"),
        ("7", 0, "job 7: clear", "since its start: may have lost up to 25 s to contention"),
        (
            "8",
            4,
            "job 8: not judged: no series of its nodes is known yet",
            "data until 2026-11-20 10:10:00 UTC",
        ),
        ("1234", 4, "job 1234: not judged: ", ""),
    ] {
        let output = ask(&asked.url, job, &asked.token(job, "key"), &[]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(status), "{text}");
        let mut lines = text.lines();
        assert!(lines.next().unwrap_or_default().starts_with(first), "{text}");
        assert!(lines.next().unwrap_or_default().starts_with(second), "{text}");
    }
}

#[test]
fn as_json_the_answer_is_that_of_the_server() {
    let asked = Asked::start();
    let output = ask(&asked.url, "1240", &asked.token("1240", "key"), &["--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&answer["state"], answer["resources"].as_array().unwrap().len()),
        (&Value::from("contended"), 3)
    );
    assert_eq!((answer["lost_s"].as_f64(), output.status.code()), (Some(20.0), Some(3)));
}

#[test]
fn without_an_answer_the_job_is_not_judged_and_the_reason_is_named() {
    let asked = Asked::start();
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (url, token, part) in [
        (asked.url.as_str(), asked.token("1240", "other"), "job_token_key_file"),
        (&asked.url, asked.token("7", "key"), "token is of job 7"),
        (&asked.url, String::new(), "a token is needed"),
        (&format!("http://{dead}"), TOKEN.to_string(), "nothing answers at"),
        ("unix:/nowhere/socket", TOKEN.to_string(), "nothing answers at unix:/nowhere/socket"),
    ] {
        let output = ask(url, "1240", &token, &["--json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&answer["state"], output.status.code()), (&Value::from("not_judged"), Some(4)));
        assert!(answer["reason"].as_str().unwrap().contains(part), "{answer}");
    }
}

#[test]
fn wrong_arguments_and_keys_are_errors_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let short = folder.path().join("short");
    std::fs::write(&short, "0123").unwrap();
    let short = short.to_str().unwrap();
    for (arguments, status, part) in [
        (&["ask", "--url", "http://127.0.0.1:1"][..], 1, "TAILBACK_JOB_ID"),
        (&["ask", "--job", "7"], 1, "TAILBACK_URL"),
        (&["ask", "--job", "7 8", "--url", "http://127.0.0.1:1"], 1, "no number of a job"),
        (&["ask", "--issue", "--job", "7", "--key-file", short], 1, "openssl rand -hex 32"),
        (&["ask", "--issue", "--job", "7"], 2, "--key-file"),
        (&["progress", "steps", "12", "--url", "http://127.0.0.1:1"], 1, "TAILBACK_JOB_ID"),
        (&["progress", "steps", "-1", "--job", "7"], 2, "'-1'"),
        (&["progress", "steps", "--job", "7"], 2, "<COUNT>"),
        (&["progress", "steps", "--job", "7", "--follow", "log"], 2, "--pattern"),
        (
            &[
                "progress",
                "steps",
                "--job",
                "7",
                "--url",
                "http://127.0.0.1:1",
                "--follow",
                "log",
                "--pattern",
                "(",
            ],
            1,
            "no regular expression",
        ),
    ] {
        let mut command = Command::new(crate::TAILBACK);
        for variable in ["TAILBACK_URL", "TAILBACK_JOB_ID", "SLURM_JOB_ID"] {
            command.env_remove(variable);
        }
        let output = command.args(arguments).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(status) && text.contains(part), "{arguments:?}: {text}");
    }
}

#[test]
fn a_server_without_kafka_takes_no_progress() {
    let asked = Asked::start();
    let mut command = Command::new(crate::TAILBACK);
    command.args(["progress", "steps", "12"]).env("TAILBACK_URL", &asked.url);
    command.env("TAILBACK_JOB_ID", "7").env("TAILBACK_JOB_TOKEN", asked.token("7", "key"));
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(4) && text.contains("status 404") && text.contains("no Kafka"),
        "{text}"
    );
}
