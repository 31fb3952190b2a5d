//! A sink that writes in the background: a slow disk or an absent reader costs rows, counted, and never a tick.

use super::event::Event;
use super::sink::Sink;
use super::tick_rows::TickRows;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What an [`Outlet`] writes to.
pub trait Target: Send {
    /// For messages: `/var/log/rows.jsonl`, `unix:/run/rows.sock`.
    fn name(&self) -> String;
    /// Writes whole lines; gives how many bytes of them are written for good, always the end of a line, and the
    /// error that stopped it.
    fn write(&mut self, lines: &[u8]) -> (usize, io::Result<()>);
    /// Whether an error is final: nothing will ever be written again.
    fn is_final(&self, _error: &io::Error) -> bool {
        false
    }
}

/// How long the writer waits after a failure before it tries again.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// A sink with a bounded buffer and a thread that writes from it.
#[derive(Debug)]
pub struct Outlet {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Rows came, or a stop was requested.
    work: Condvar,
    /// The writer has ended.
    ended: Condvar,
}

#[derive(Debug)]
struct State {
    /// Whole lines that the writer has not taken.
    waiting: Vec<u8>,
    /// Bytes that the writer has taken and not written.
    taken_bytes: usize,
    capacity_bytes: usize,
    dropped: u64,
    /// Rows dropped since the buffer became full; `None` while it is not.
    full_since: Option<u64>,
    events: Vec<Event>,
    closing: bool,
    over: bool,
    ended: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outlet {
    /// Writes to `target` and keeps at most `capacity_bytes` of rows that wait for it.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn new(target: Box<dyn Target>, capacity_bytes: usize) -> io::Result<Outlet> {
        let state = State {
            waiting: Vec::new(),
            taken_bytes: 0,
            capacity_bytes,
            dropped: 0,
            full_since: None,
            events: Vec::new(),
            closing: false,
            over: false,
            ended: false,
        };
        let shared =
            Arc::new(Shared { state: Mutex::new(state), work: Condvar::new(), ended: Condvar::new() });
        let for_writer = shared.clone();
        let writer = std::thread::Builder::new().name("rows".to_string()).spawn(move || {
            write_all(&for_writer, target);
            for_writer.state().ended = true;
            for_writer.ended.notify_all();
        })?;
        Ok(Outlet { shared, writer: Some(writer) })
    }
}

impl Sink for Outlet {
    fn take(&mut self, rows: &TickRows) {
        let mut state = self.shared.state();
        for (_, line) in rows.lines() {
            state.take(line);
        }
        drop(state);
        self.shared.work.notify_one();
    }

    fn drain_events(&mut self, events: &mut Vec<Event>) {
        events.append(&mut self.shared.state().events);
    }

    fn dropped(&self) -> u64 {
        self.shared.state().dropped
    }

    fn is_over(&self) -> bool {
        self.shared.state().over
    }

    fn finish(&mut self, timeout: Duration) {
        let until = Instant::now() + timeout;
        let mut state = self.shared.state();
        state.closing = true;
        self.shared.work.notify_one();
        while !state.ended {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.shared.ended.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let ended = state.ended;
        drop(state);
        // A writer that hangs in the system is left to its fate.
        if let Some(writer) = self.writer.take().filter(|_| ended) {
            let _ = writer.join();
        }
    }
}

impl State {
    fn take(&mut self, line: &[u8]) {
        let fits = self.waiting.len() + self.taken_bytes + line.len() < self.capacity_bytes;
        if self.over || !fits {
            self.dropped += 1;
            match &mut self.full_since {
                Some(dropped) => *dropped += 1,
                None => {
                    self.full_since = Some(1);
                    self.events.push(Event::BufferFull);
                }
            }
            return;
        }
        self.waiting.extend_from_slice(line);
        self.waiting.push(b'\n');
        if let Some(dropped) = self.full_since.take() {
            self.events.push(Event::BufferFree(dropped));
        }
    }
}

/// The writer's life.
fn write_all(shared: &Shared, mut target: Box<dyn Target>) {
    let mut lines = Vec::new();
    let mut works: Option<bool> = None;
    loop {
        if !next(shared, &mut lines) {
            return;
        }
        let (written, result) = target.write(&lines);
        lines.drain(..written);
        let mut state = shared.state();
        state.taken_bytes = lines.len();
        let error = result.err();
        if works != Some(error.is_none()) {
            works = Some(error.is_none());
            state.events.push(match &error {
                None => Event::OutputReady(target.name()),
                Some(error) => Event::OutputFails(target.name(), error.to_string()),
            });
        }
        let Some(error) = error else { continue };
        state.over |= target.is_final(&error);
        if state.over || state.closing {
            let left = lines.iter().chain(&state.waiting).filter(|b| **b == b'\n').count();
            state.dropped += left as u64;
            state.waiting.clear();
            return;
        }
        // Rows that come meanwhile are no reason to try earlier.
        let until = Instant::now() + TRY_AGAIN_AFTER;
        while !state.closing && Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            state = shared.work.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Waits for lines and takes them; `false` when a stop was requested and all is written.
fn next(shared: &Shared, lines: &mut Vec<u8>) -> bool {
    let mut state = shared.state();
    while state.waiting.is_empty() && lines.is_empty() {
        if state.closing {
            return false;
        }
        state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    if lines.is_empty() {
        // The buffers are swapped: neither is allocated again.
        std::mem::swap(lines, &mut state.waiting);
    } else {
        lines.append(&mut state.waiting);
    }
    state.taken_bytes = lines.len();
    true
}
