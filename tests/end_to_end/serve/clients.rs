//! The clients in C and Python: each against a real server, one that refuses, one that hangs, one that sends a byte now and then, and none.

use super::asking::Asked;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use support::paths::root;

/// The contract, in microseconds.
const LONGEST_US: f64 = 50_000.0;
/// A call on a machine on which other processes want all cores.
const LONGEST_BUSY_US: f64 = 2_000_000.0;
/// The answer to a job that is clear.
const CLEAR: &str = r#"{"state":"clear","lost_s":1.5,"lost_lo_s":1,"lost_hi_s":2,"since_s":null,"until_s":null,"ask_again_s":1,"resources":[]}"#;

fn client() -> PathBuf {
    root().join("samplers/client")
}

/// Compiles a C program of the client with all warnings as errors.
pub fn compiled(source: &Path, folder: &Path) -> PathBuf {
    let program = folder.join(source.file_stem().unwrap());
    let output = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2", "-o"])
        .arg(&program)
        .arg("-I")
        .arg(client())
        .arg(source)
        .args(["-pthread"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Both clients, as commands that ask or report.
pub struct Clients {
    folder: tempfile::TempDir,
    program: PathBuf,
    script: PathBuf,
}

/// What a client printed: the last answer, and how long calls took in microseconds.
#[derive(Debug)]
pub struct Calls {
    state: u32,
    lost_s: f64,
    /// The middle one.
    pub median_us: f64,
    longest_us: f64,
}

impl Clients {
    /// Those of `calls.c` and `calls.py`.
    pub fn new() -> Clients {
        Clients::of("calls")
    }

    fn of(name: &str) -> Clients {
        let folder = tempfile::tempdir().unwrap();
        let sources = root().join("tests/end_to_end/serve/clients");
        let program = compiled(&sources.join(format!("{name}.c")), folder.path());
        Clients { folder, program, script: sources.join(format!("{name}.py")) }
    }

    fn commands(&self) -> [Command; 2] {
        let mut python = Command::new("python3");
        python.arg(&self.script);
        let mut commands = [Command::new(&self.program), python];
        for command in &mut commands {
            command
                .env("PYTHONPATH", client())
                .env("PYTHONDONTWRITEBYTECODE", "1")
                .env_remove("TAILBACK_JOB_ID");
            command.current_dir(self.folder.path());
        }
        commands
    }

    /// Asks `calls` times with each client.
    fn ask(&self, url: &str, job: &str, token: &str, calls: u32) -> [Calls; 2] {
        self.call(url, job, token, &[&calls.to_string()])
    }

    /// Reports steps 1 to `calls` with each client, one as rank 0 and one as rank 1.
    pub fn report(&self, url: &str, job: &str, token: &str, calls: u32) -> [Calls; 2] {
        self.call(url, job, token, &[&calls.to_string(), "report"])
    }

    /// Asks with both clients, then reports.
    fn ask_and_report(&self, url: &str, calls: u32) -> impl Iterator<Item = Calls> {
        let asked = self.ask(url, "1240", "token", calls);
        asked.into_iter().chain(self.report(url, "1240", "token", calls))
    }

    fn call(&self, url: &str, job: &str, token: &str, arguments: &[&str]) -> [Calls; 2] {
        let mut rank = 0;
        self.commands().map(|mut command| {
            command.env("TAILBACK_URL", url).env("SLURM_JOB_ID", job).env("TAILBACK_JOB_TOKEN", token);
            command.env("SLURM_PROCID", rank.to_string());
            rank += 1;
            let output = command.args(arguments).output().unwrap();
            let (text, error) =
                (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
            assert!(output.status.success() && error.is_empty(), "it is silent: {error}");
            let words: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
            let [state, lost_s, median_us, longest_us] = words.try_into().unwrap();
            Calls { state: state as u32, lost_s, median_us, longest_us }
        })
    }
}

#[test]
fn clients_read_the_answer_of_their_job() {
    let (clients, asked) = (Clients::new(), Asked::start());
    // The first calls may come before the server has read its store.
    for (job, state, lost_s) in [("1240", 3, 20.0), ("7", 0, 0.0), ("8", 4, -1.0)] {
        for calls in clients.ask(&asked.url, job, &asked.token(job, "key"), 300) {
            println!("a server that answers: {calls:?}");
            assert_eq!((calls.state, calls.lost_s), (state, lost_s), "{calls:?}");
        }
    }
}

#[test]
fn a_refused_token_is_not_judged() {
    let (clients, asked) = (Clients::new(), Asked::start());
    for token in [asked.token("7", "key"), asked.token("1240", "other"), String::new()] {
        for calls in clients.ask(&asked.url, "1240", &token, 20) {
            assert_eq!((calls.state, calls.lost_s), (4, -1.0), "{token:?}");
        }
    }
}

#[test]
fn without_a_server_a_call_takes_no_time() {
    let clients = Clients::new();
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for url in
        [&format!("http://{dead}"), "unix:/nowhere/socket", "http://monitor.example.org:9464", "nonsense", ""]
    {
        for calls in clients.ask_and_report(url, 200) {
            println!("{url:?}: {calls:?}");
            assert_eq!((calls.state, calls.lost_s), (4, -1.0), "{url}");
            assert!(calls.median_us < LONGEST_US && calls.longest_us < LONGEST_BUSY_US, "{url}: {calls:?}");
        }
    }
}

#[test]
fn a_server_that_hangs_costs_at_most_the_limit() {
    let clients = Clients::new();
    // Connections are made by the kernel, and nothing is ever sent.
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", hanging.local_addr().unwrap());
    for calls in clients.ask_and_report(&url, 50) {
        println!("a server that hangs: {calls:?}");
        assert_eq!(calls.state, 4);
        assert!(calls.median_us < LONGEST_US && calls.longest_us < LONGEST_BUSY_US, "{calls:?}");
    }
}

#[test]
fn a_server_that_sends_a_byte_now_and_then_costs_at_most_the_limit() {
    let clients = Clients::new();
    let slow = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", slow.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in slow.incoming() {
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                while stream.write_all(b"H").is_ok() {
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        }
    });
    for calls in clients.ask_and_report(&url, 50) {
        println!("a server that sends a byte now and then: {calls:?}");
        assert_eq!(calls.state, 4);
        assert!(calls.median_us < LONGEST_US && calls.longest_us < LONGEST_BUSY_US, "{calls:?}");
    }
}

/// A server that keeps connections: it answers so many requests over each, and closes it after one more.
struct Keeping {
    url: String,
    connections: Arc<AtomicUsize>,
    answers: Arc<AtomicUsize>,
}

impl Keeping {
    fn start(requests: usize) -> Keeping {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (connections, answers) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let keeping = Keeping { url, connections: Arc::clone(&connections), answers: Arc::clone(&answers) };
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                connections.fetch_add(1, Ordering::SeqCst);
                let (stream, answers) = (stream.unwrap(), Arc::clone(&answers));
                std::thread::spawn(move || keep(stream, requests, &answers));
            }
        });
        keeping
    }

    /// Connections and answers since the last call.
    fn counts(&self) -> (usize, usize) {
        (self.connections.swap(0, Ordering::SeqCst), self.answers.swap(0, Ordering::SeqCst))
    }
}

fn keep(mut stream: TcpStream, requests: usize, answers: &AtomicUsize) {
    let mut head = [0; 4096];
    for number in 0..=requests {
        if stream.read(&mut head).unwrap_or(0) == 0 || number == requests {
            return;
        }
        answers.fetch_add(1, Ordering::SeqCst);
        let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\nConnection: keep-alive", CLEAR.len());
        // In one part: the kernel holds a second one back until the client has confirmed the first.
        stream.write_all(format!("{head}\r\n\r\n{CLEAR}").as_bytes()).unwrap();
    }
}

#[test]
fn a_kept_connection_that_was_closed_is_replaced() {
    let (clients, server) = (Clients::new(), Keeping::start(5));
    for mut command in clients.commands() {
        let output =
            command.env("TAILBACK_URL", &server.url).env("SLURM_JOB_ID", "7").arg("20").output().unwrap();
        assert!(output.stdout.starts_with(b"0 1.5 ") && output.stderr.is_empty(), "{output:?}");
        // On a busy machine an answer may be later than a client waits: it connects again then.
        let (connections, answers) = server.counts();
        assert!(
            (4..=10).contains(&connections) && answers >= 20,
            "{connections} connections, {answers} answers"
        );
    }
}

#[test]
fn a_process_does_not_use_the_connection_of_its_parent() {
    let (clients, server) = (Clients::new(), Keeping::start(1_000));
    for mut command in clients.commands() {
        command.env("TAILBACK_URL", &server.url).env("SLURM_JOB_ID", "7").args(["20", "fork"]);
        let output = command.output().unwrap();
        assert!(output.stdout.starts_with(b"0 1.5 ") && output.stderr.is_empty(), "{output:?}");
        let (connections, answers) = server.counts();
        assert!(
            (2..=10).contains(&connections) && answers >= 30,
            "{connections} connections, {answers} answers"
        );
    }
}

#[test]
fn clients_ask_over_a_unix_socket() {
    let clients = Clients::new();
    let path = clients.folder.path().join("socket");
    let socket = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for stream in socket.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let _ = write!(stream, "HTTP/1.0 200 OK\r\n\r\n{CLEAR}");
        }
    });
    for calls in clients.ask(&format!("unix:{}", path.display()), "7", "", 20) {
        assert_eq!((calls.state, calls.lost_s), (0, 1.5));
    }
}

/// The body of a request.
fn body_of(stream: &mut UnixStream) -> Value {
    let mut request = Vec::new();
    loop {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).unwrap();
        assert!(read > 0, "the request ends early: {}", String::from_utf8_lossy(&request));
        request.extend_from_slice(&part[..read]);
        let text = String::from_utf8_lossy(&request);
        let body = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
        if let Some(body) = body {
            assert!(text.starts_with("POST /api/v1/jobs/7/progress HTTP/1.0\r\n"), "{text}");
            return body;
        }
    }
}

#[test]
fn the_latest_count_of_each_name_is_sent_once_a_pause() {
    let clients = Clients::of("reports");
    let path = clients.folder.path().join("socket");
    let socket = UnixListener::bind(&path).unwrap();
    let (sender, bodies) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in socket.incoming() {
            let mut stream = stream.unwrap();
            sender.send(body_of(&mut stream)).unwrap();
            let _ = write!(stream, "HTTP/1.0 202 Accepted\r\n\r\n");
        }
    });
    for mut command in clients.commands() {
        command
            .env("TAILBACK_URL", format!("unix:{}", path.display()))
            .env("SLURM_JOB_ID", "7")
            .env("SLURM_PROCID", "5");
        let output = command.output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let sent: Vec<Value> = bodies.try_iter().collect();
        let counts = |body: &Value| -> Vec<(String, u64)> {
            let reports = body.as_array().unwrap().iter();
            let mut counts: Vec<_> = reports
                .map(|report| {
                    assert_eq!(report["rank"], 5, "{report}");
                    (report["name"].as_str().unwrap().to_string(), report["count"].as_u64().unwrap())
                })
                .collect();
            counts.sort();
            counts
        };
        assert_eq!(sent.len(), 2, "{sent:?}");
        assert_eq!(counts(&sent[0]), [("steps".to_string(), 1)]);
        let mut expected: Vec<_> = (1..7).map(|number| (format!("n{number}"), u64::MAX)).collect();
        expected.extend([("bytes".to_string(), 5), ("steps".to_string(), 3)]);
        expected.sort();
        assert_eq!(counts(&sent[1]), expected);
    }
}

#[test]
fn examples_run_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let examples = client().join("examples");
    let mut python = Command::new("python3");
    python
        .arg(examples.join("checkpoint.py"))
        .env("PYTHONPATH", client())
        .env("PYTHONDONTWRITEBYTECODE", "1");
    for mut command in [Command::new(compiled(&examples.join("checkpoint.c"), folder.path())), python] {
        let output = command.env_remove("TAILBACK_URL").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains("step 100: checkpoint"), "{text}");
    }
    assert!(Command::new("sh").arg("-n").arg(examples.join("batch.sh")).status().unwrap().success());
}
