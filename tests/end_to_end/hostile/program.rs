//! `tailback run` and `tailback demo` as processes, and requests whose headers a test chooses.

use crate::TAILBACK;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const TOKEN: &str = "hostile-tests-only";
/// Time for a process to answer, and for an answer, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A service manager restarts a program that is silent for so long.
pub const WATCHDOG: Duration = Duration::from_secs(30);

/// A command that will serve at an address, with its files.
pub struct Prepared {
    command: Vec<String>,
    address: SocketAddr,
    folder: TempDir,
}

/// A process that answers; dropping this value ends it.
pub struct Program {
    child: Child,
    pub address: SocketAddr,
    folder: TempDir,
}

impl Program {
    /// `tailback run` with these lines in `[http]`; its brokers do not exist.
    pub fn run(http: &str) -> Program {
        Program::start(Command::new(TAILBACK), Program::run_command(http))
    }

    /// The same with [`TOKEN`] for posting jobs.
    pub fn run_with_token(http: &str) -> Program {
        Program::run(&format!("jobs_token_file = \"jobs.token\"\n{http}"))
    }

    /// The same with a service manager, and its socket.
    pub fn run_watched(http: &str) -> (Program, UnixDatagram) {
        let prepared = Program::run_command(&format!("jobs_token_file = \"jobs.token\"\n{http}"));
        let path = prepared.folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut command = Command::new(TAILBACK);
        command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", WATCHDOG.as_micros().to_string());
        (Program::start(command, prepared), socket)
    }

    pub fn demo(more: &str) -> Program {
        Program::start(Command::new(TAILBACK), Program::demo_command(more))
    }

    pub fn run_command(http: &str) -> Prepared {
        let (folder, address) = (tempfile::tempdir().unwrap(), free_address());
        std::fs::write(folder.path().join("jobs.token"), TOKEN).unwrap();
        let file = folder.path().join("tailback.toml");
        let kafka = format!("[kafka]\nbrokers = [\"{}\"]\n", free_address());
        std::fs::write(&file, format!("{kafka}[http]\nlisten = \"{address}\"\n{http}")).unwrap();
        let command = ["run", "--config"].map(String::from).into_iter().chain([file.display().to_string()]);
        Prepared { command: command.collect(), address, folder }
    }

    pub fn demo_command(more: &str) -> Prepared {
        let (folder, address) = (tempfile::tempdir().unwrap(), free_address());
        let store = folder.path().join("store.db").display().to_string();
        let own = ["demo", "--listen", &address.to_string(), "--store", &store].map(String::from);
        let command = own.into_iter().chain(more.split_whitespace().map(String::from)).collect();
        Prepared { command, address, folder }
    }

    /// The command with at most `descriptors` open files.
    pub fn limited(descriptors: usize, prepared: Prepared) -> Program {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {descriptors}; exec \"$0\" \"$@\""), TAILBACK]);
        Program::start(shell, prepared)
    }

    fn start(mut command: Command, Prepared { command: arguments, address, folder }: Prepared) -> Program {
        command.args(arguments).current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let child = command.stderr(log).spawn().unwrap();
        let mut program = Program { child, address, folder };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            let log = || std::fs::read_to_string(program.folder.path().join("log")).unwrap_or_default();
            assert!(begun.elapsed() < TIMEOUT, "it does not answer: {}", log());
            assert!(matches!(program.child.try_wait(), Ok(None)), "it ended: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
        program
    }

    pub fn get(&self, path: &str, host: &str, origin: &str) -> u16 {
        get(self.address, path, host, origin).0
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Resident memory in kB.
    pub fn memory_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Status and text of an answer to a GET with these headers; no `Origin` where it is "".
pub fn get(address: SocketAddr, path: &str, host: &str, origin: &str) -> (u16, String) {
    let origin = if origin.is_empty() { String::new() } else { format!("Origin: {origin}\r\n") };
    let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{origin}Connection: close\r\n\r\n");
    exchange(TcpStream::connect(address).unwrap(), &head)
}

/// The same of posted job events; without a token where it is "".
pub fn post(address: SocketAddr, host: &str, token: &str, body: &str) -> (u16, String) {
    exchange(TcpStream::connect(address).unwrap(), &posted(host, token, body))
}

/// The same over a Unix socket.
pub fn post_over(socket: &Path, body: &str) -> (u16, String) {
    exchange(UnixStream::connect(socket).unwrap(), &posted("localhost", "", body))
}

fn posted(host: &str, token: &str, body: &str) -> String {
    let token = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    let length = body.len();
    format!(
        "POST /api/v1/jobs HTTP/1.1\r\nHost: {host}\r\n{token}Content-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// The server may answer before it has read the whole request.
fn exchange(mut stream: impl Read + Write, request: &str) -> (u16, String) {
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no answer: {answer:?}")), answer)
}
