//! Progress that jobs publish on a stream of LDMS: `ldmsd_stream_publish` sends it, `ldmsd_stream_subscribe` writes it as rows.

use super::TIMEOUT;
use super::daemon::{self, ldmsd};
use crate::progress::{played, reports};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::skip::skip;

const STREAM: &str = "tailback";

/// Ends with the test.
struct Subscriber(Child);

impl Drop for Subscriber {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn stream_program(ldmsd: &Path, what: &str) -> Option<PathBuf> {
    let name = format!("ldmsd_stream_{what}");
    let found = ldmsd
        .ancestors()
        .skip(1)
        .take(2)
        .flat_map(|folder| [folder.join(&name), folder.join("bin").join(&name)]);
    let found = found.into_iter().find(|path| path.is_file());
    if found.is_none() {
        skip(&format!("no {name} beside ldmsd"));
    }
    found
}

fn command(program: &Path, port: u16) -> Command {
    let mut command = daemon::command(program);
    command.args(["-x", "sock", "-h", "localhost", "-a", "none", "-s", STREAM, "-p", &port.to_string()]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn progress_on_a_stream_is_measured_like_that_of_other_ways() {
    let Some(ldmsd) = ldmsd() else { return };
    let programs = ["publish", "subscribe"].map(|what| stream_program(&ldmsd, what));
    let [Some(publish), Some(subscribe)] = programs else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (rows, lost_s) = played();
    let (published, others): (Vec<&str>, Vec<&str>) =
        rows.lines().partition(|row| row.contains("tailback_progress"));
    std::fs::write(path("published.jsonl"), published.join("\n") + "\n").unwrap();
    std::fs::write(path("clients.jsonl"), others.join("\n")).unwrap();

    let port = super::site::free_port();
    let child = command(&subscribe, port).arg("-E").arg("-f").arg(path("progress.jsonl")).spawn().unwrap();
    let mut subscriber = Subscriber(child);
    let begin = Instant::now();
    let sends = || {
        command(&publish, port)
            .args(["-t", "json", "-l", "-f"])
            .arg(path("published.jsonl"))
            .status()
            .unwrap()
    };
    while !sends().success() {
        let ended = subscriber.0.try_wait().unwrap();
        assert!(ended.is_none() && begin.elapsed() < TIMEOUT, "the subscriber takes no messages: {ended:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
    let written = || {
        std::fs::read_to_string(path("progress.jsonl")).unwrap_or_default().matches("progress_count").count()
    };
    while written() < published.len() {
        assert!(begin.elapsed() < TIMEOUT, "{} of {} messages arrived", written(), published.len());
        std::thread::sleep(Duration::from_millis(100));
    }

    let [first, _] = reports(folder.path(), &["clients.jsonl", "progress.jsonl"]);
    let measured = &first["result"]["progress"][0]["loss"]["measured"]["lost_s"];
    let [lo_s, hi_s] =
        ["lo", "hi"].map(|key| measured[key].as_f64().unwrap_or_else(|| panic!("no {key}: {first}")));
    assert!(lo_s <= lost_s && lost_s <= hi_s, "{lost_s}: {measured}");
}
