//! A running `tailback`.

use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// Time that the units of systemd give a stop.
const STOP: Duration = Duration::from_secs(25);
/// The default of `run.drain_s`.
const DRAIN_S: f64 = 10.0;

/// A `tailback` that is about to start.
pub struct Program(Command);

impl Program {
    /// `tailback SUBCOMMAND --config CONFIG`.
    pub fn new(subcommand: &str, config: &Path) -> Program {
        let mut command = Command::new(crate::TAILBACK);
        command.arg(subcommand).arg("--config").arg(config).stdin(Stdio::null()).stdout(Stdio::null());
        Program(command)
    }

    /// One that a person types.
    pub fn typed(mut command: Command) -> Program {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Program(command)
    }

    /// With an environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Program {
        self.0.env(name, value);
        self
    }

    /// Runs it to its end.
    pub fn output(mut self) -> Output {
        self.0.stderr(Stdio::piped()).output().unwrap()
    }

    /// Runs it.
    pub fn start(mut self) -> Process {
        let log = NamedTempFile::new().unwrap();
        let append = OpenOptions::new().append(true).open(log.path()).unwrap();
        let child = self.0.stderr(append).spawn().unwrap();
        Process { child, log }
    }
}

/// A `tailback` that runs; it is killed when dropped.
pub struct Process {
    child: Child,
    log: NamedTempFile,
}

impl Process {
    /// `kill -9`.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// SIGTERM; it must end in order and in time.
    pub fn finish(mut self) {
        let ended = self.stop();
        assert!(ended.is_some_and(|status| status.success()), "{ended:?} after SIGTERM: {}", self.log());
        self.stages_stopped_in_time();
    }

    /// SIGTERM; how it ended, if it does so in the time that a stop may take.
    pub fn stop(&mut self) -> Option<ExitStatus> {
        self.signal("TERM");
        self.ended_within(STOP)
    }

    /// Asserts that `run.drain_s` was enough from the log line of the stop to that of the last stage's end.
    pub fn stages_stopped_in_time(&self) {
        let log = self.log();
        let time = |line: &str| -> f64 {
            let clock = line.split(['T', 'Z']).nth(1).unwrap();
            clock.split(':').fold(0.0, |sum, part| sum * 60.0 + part.parse::<f64>().unwrap())
        };
        let begun = log.lines().find(|line| line.ends_with(" stopping")).map(time);
        let ended = log.lines().rfind(|line| line.contains(" stopped stage=")).map(time);
        let (Some(begun), Some(ended)) = (begun, ended) else { return };
        let stopping_s = (ended - begun).rem_euclid(86_400.0);
        assert!(stopping_s <= DRAIN_S, "the stages stopped after {stopping_s} s: {log}");
    }

    /// How it ended, if it does so in time.
    pub fn ended_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + time;
        loop {
            let ended = self.child.try_wait().unwrap();
            if ended.is_some() || Instant::now() > deadline {
                return ended;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// What it logged so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.log.path()).unwrap()).into_owned()
    }

    /// Waits until it logged `text`.
    pub fn wait_for(&mut self, text: &str) {
        self.wait_for_times(text, 1);
    }

    /// Waits until it logged `text` so often.
    pub fn wait_for_times(&mut self, text: &str, times: usize) {
        let deadline = Instant::now() + Duration::from_secs(240);
        while self.log().matches(text).count() < times {
            assert!(self.child.try_wait().unwrap().is_none(), "ended before {text:?}: {}", self.log());
            assert!(Instant::now() < deadline, "no {text:?} in {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        if std::thread::panicking() {
            eprintln!("-- log of process {}\n{}", self.child.id(), self.log());
        }
    }
}
