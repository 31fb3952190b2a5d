//! A file server of limited speed, which nodes share fairly, with the counters that Lustre's clients would have.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What it takes of all connections together.
const BYTES_PER_S: f64 = 20e6;
/// Bytes that it takes of one connection before the next has its turn.
const TURN_BYTES: usize = 4_096;
/// Time between two turns of all, and the longest for which it makes up.
const PAUSE: Duration = Duration::from_millis(2);
const BEHIND_MAX_S: f64 = 0.5;
/// Time between two updates of the counters.
const COUNTED: Duration = Duration::from_millis(10);
/// Bytes of the head of a block: its length, seven digits and the end of the line.
const HEAD_BYTES: usize = 8;
const MOUNT: &str = "work-ffff88103d6bd000";

/// It runs until it is dropped.
pub struct FileServer {
    /// Its socket.
    pub socket: PathBuf,
    folder: PathBuf,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl FileServer {
    /// In `folder`, for clients on `nodes`, which have not written yet.
    pub fn start(folder: &Path, nodes: &[&str]) -> FileServer {
        let (socket, ends) = (folder.join("server.sock"), Arc::new(AtomicBool::new(false)));
        let listener = UnixListener::bind(&socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        let counters: Vec<Counter> = nodes.iter().map(|node| Counter::new(folder, node)).collect();
        counters.iter().for_each(Counter::write);
        let mut serving = Serving { listener, counters, clients: Vec::new(), first: 0 };
        let end = Arc::clone(&ends);
        let thread = std::thread::spawn(move || serving.run(&end));
        FileServer { socket, folder: folder.to_path_buf(), ends, thread: Some(thread) }
    }

    /// The folder that stands for `/proc` of a node.
    pub fn procfs(&self, node: &str) -> PathBuf {
        procfs(&self.folder, node)
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn procfs(folder: &Path, node: &str) -> PathBuf {
    folder.join("nodes").join(node).join("proc")
}

/// What the client of a node has written.
struct Counter {
    node: String,
    file: File,
    bytes: u64,
}

impl Counter {
    fn new(folder: &Path, node: &str) -> Counter {
        let mount = procfs(folder, node).join("fs/lustre/llite").join(MOUNT);
        std::fs::create_dir_all(&mount).unwrap();
        let file = File::create(mount.join("stats")).unwrap();
        Counter { node: node.to_string(), file, bytes: 0 }
    }

    /// Writes the file in place, always with the same length: the sampler keeps it open.
    fn write(&self) {
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let (calls, bytes) = (self.bytes / TURN_BYTES as u64, self.bytes);
        let text = format!(
            "snapshot_time {now_s:.6} secs.nsecs\nwrite_bytes {calls:020} samples [bytes] 1 4096 {bytes:020}\n"
        );
        self.file.write_all_at(text.as_bytes(), 0).unwrap();
    }
}

/// A connection, with what is known of its block.
struct Client {
    stream: UnixStream,
    /// Its counter, once it named its node.
    node: Option<usize>,
    head: Vec<u8>,
    left: usize,
}

struct Serving {
    listener: UnixListener,
    counters: Vec<Counter>,
    clients: Vec<Client>,
    /// The client that has the first turn.
    first: usize,
}

impl Serving {
    fn run(&mut self, ends: &AtomicBool) {
        let (mut last, mut counted, mut free) = (Instant::now(), Instant::now(), 0.0);
        while !ends.load(Ordering::Relaxed) {
            while let Ok((stream, _)) = self.listener.accept() {
                stream.set_nonblocking(true).unwrap();
                self.clients.push(Client { stream, node: None, head: Vec::new(), left: 0 });
            }
            let now = Instant::now();
            free = (free + (now - last).as_secs_f64() * BYTES_PER_S).min(BEHIND_MAX_S * BYTES_PER_S);
            last = now;
            self.take(&mut free);
            if counted.elapsed() >= COUNTED {
                counted = now;
                self.counters.iter().for_each(Counter::write);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Takes bytes in turns until none is free or no client has more.
    fn take(&mut self, free: &mut f64) {
        let (mut without, counters) = (0, &mut self.counters);
        while *free >= TURN_BYTES as f64 && without < self.clients.len() {
            self.first = (self.first + 1) % self.clients.len();
            match self.clients[self.first].take(counters) {
                Some(0) => without += 1,
                Some(taken) => (without, *free) = (0, *free - taken as f64),
                None => drop(self.clients.remove(self.first)),
            }
            self.first = self.first.min(self.clients.len().saturating_sub(1));
        }
    }
}

impl Client {
    /// Takes one turn; the bytes of the block, or `None` at the end of the connection.
    fn take(&mut self, counters: &mut [Counter]) -> Option<usize> {
        if self.left == 0 && !self.begin_block(counters)? {
            return Some(0);
        }
        let mut bytes = [0; TURN_BYTES];
        let taken = read(&mut self.stream, &mut bytes[..self.left.min(TURN_BYTES)])?;
        self.left -= taken;
        counters[self.node.unwrap()].bytes += taken as u64;
        if self.left == 0 {
            self.stream.write_all(b"k").ok()?;
        }
        Some(taken)
    }

    /// Reads the line with the node, and the head of a block; whether the block begins.
    fn begin_block(&mut self, counters: &[Counter]) -> Option<bool> {
        let mut byte = [0];
        while self.left == 0 && read(&mut self.stream, &mut byte)? == 1 {
            self.head.push(byte[0]);
            if byte[0] != b'\n' {
                continue;
            }
            let line = String::from_utf8(std::mem::take(&mut self.head)).unwrap();
            if self.node.is_none() {
                let at = counters.iter().position(|counter| counter.node == line.trim());
                self.node = Some(at.unwrap_or_else(|| panic!("no node {line:?}")));
            } else {
                assert_eq!(line.len(), HEAD_BYTES, "{line:?}");
                self.left = line.trim().parse().unwrap();
            }
        }
        Some(self.left > 0)
    }
}

/// Bytes that are there, 0 if none are; `None` at the end.
fn read(stream: &mut UnixStream, bytes: &mut [u8]) -> Option<usize> {
    match stream.read(bytes) {
        Ok(0) => None,
        Ok(count) => Some(count),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Some(0),
        Err(_) => None,
    }
}
