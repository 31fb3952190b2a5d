//! A running `tailback serve`, and requests to it.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// Timeout of each step; long, since the machine may be busy.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// A running `tailback serve`; dropping it kills the process.
pub struct Serving(Child, BufReader<ChildStderr>);

impl Serving {
    /// `option` is `--store` or `--config`.
    pub fn start(option: &str, file: &Path) -> Serving {
        let mut command = Command::new(crate::TAILBACK);
        command.args(["serve", "--listen", "127.0.0.1:0", option]).arg(file).env("TZ", "UTC");
        Serving::of(command)
    }

    /// Starts `command`.
    pub fn of(mut command: Command) -> Serving {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Serving(child, stderr)
    }

    /// The next line of its standard error.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        line
    }

    /// Its page; the next line of standard error contains the address.
    pub fn page(&mut self) -> Page {
        let line = self.line();
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(['/', ' ']).next());
        Page(address.unwrap_or_else(|| panic!("{line}")).to_string())
    }

    /// The process and its page.
    pub fn page_of(mut self) -> (Serving, Page) {
        let page = self.page();
        (self, page)
    }

    /// Waits for the end; whether the process succeeded.
    pub fn ended(&mut self) -> bool {
        self.0.wait().unwrap().success()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A page that is served.
#[derive(Clone)]
pub struct Page(String);

impl Page {
    /// Requests `/api/v1/<path>`.
    pub fn stream(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.0).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        write!(stream, "GET /api/v1/{path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.0).unwrap();
        stream
    }

    /// The body of the answer to `/api/v1/<path>`.
    pub fn text(&self, path: &str) -> String {
        let mut answer = String::new();
        self.stream(path).read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_string()
    }

    /// The address of `/api/v1/<path>`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/api/v1/{path}", self.0)
    }

    /// Status of the answer to `/api/v1/<path>` with further `headers`.
    pub fn status(&self, path: &str, headers: &str) -> u16 {
        let mut stream = TcpStream::connect(&self.0).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        write!(stream, "GET /api/v1/{path} HTTP/1.0\r\nHost: {}\r\n{headers}\r\n", self.0).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Status and body of the answer to `/api/v1/<path>`.
    pub fn ask(&self, path: &str) -> (u16, Value) {
        let mut answer = String::new();
        self.stream(path).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|why| panic!("{path}: {why}: {answer}")))
    }

    /// Repeats the request until the answer has `status`.
    pub fn until(&self, path: &str, status: u16) -> Value {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let (got, answer) = self.ask(path);
            if got == status {
                return answer;
            }
            assert!(Instant::now() < deadline, "{path}: {got} {answer}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}
