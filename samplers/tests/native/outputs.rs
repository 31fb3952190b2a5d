//! Files, sockets, readers that are absent.

use crate::integration::native::support::Bench;
use crate::integration::native::tree::Tree;
use samplers::native::outlet::Target;
use samplers::native::targets::{FileTarget, SocketTarget};
use samplers::native::{Event, Outlet, Sampler, Sink, TickRows};
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::net::TcpListener;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(120);

fn rows() -> TickRows {
    let tree = Tree::recorded();
    let mut bench = Bench::new(&tree);
    bench.rescan();
    let (mut rows, mut events) = (TickRows::default(), Vec::new());
    let sampler: &mut Sampler = &mut bench.sampler;
    sampler.sample(&bench.clock, &mut rows, &mut events);
    assert_eq!(rows.len(), 2);
    rows
}

fn lines(rows: &TickRows) -> Vec<String> {
    rows.lines().map(|(_, line)| String::from_utf8(line.to_vec()).unwrap()).collect()
}

#[test]
fn a_file_is_appended_to_and_whole_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    fs::write(&path, "before\n").unwrap();
    let rows = rows();
    let mut outlet = Outlet::new(Box::new(FileTarget::append(&path).unwrap()), 1 << 20).unwrap();
    for _ in 0..3 {
        outlet.take(&rows);
    }
    outlet.finish(LONG);
    let text = fs::read_to_string(&path).unwrap();
    let expected = [vec!["before".to_string()], lines(&rows), lines(&rows), lines(&rows)].concat();
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    assert_eq!(outlet.dropped(), 0);
}

#[test]
fn a_tcp_reader_that_comes_late_gets_what_waited() {
    // The port is free again when the listener is dropped, and the kernel does not reassign it so soon.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = SocketTarget::new(format!("tcp:{}", address.port()).parse().unwrap());
    let mut outlet = Outlet::new(Box::new(target), 1 << 20).unwrap();
    let rows = rows();
    outlet.take(&rows);
    wait_for(&mut outlet, |event| matches!(event, Event::OutputFails(..)));
    let listener = TcpListener::bind(address).unwrap();
    outlet.take(&rows);
    let reader = BufReader::new(listener.accept().unwrap().0);
    let read: Vec<String> = reader.lines().take(4).map(Result::unwrap).collect();
    assert_eq!(read, [lines(&rows), lines(&rows)].concat());
    wait_for(&mut outlet, |event| matches!(event, Event::OutputReady(_)));
    outlet.finish(LONG);
}

#[test]
fn a_stream_reader_that_restarts_gets_whole_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let target = SocketTarget::new(format!("unix:{}", path.display()).parse().unwrap());
    let mut outlet = Outlet::new(Box::new(target), 1 << 20).unwrap();
    let rows = rows();
    outlet.take(&rows);
    let mut first = BufReader::new(listener.accept().unwrap().0);
    let mut line = String::new();
    first.read_line(&mut line).unwrap();
    assert_eq!(line.trim_end(), lines(&rows)[0]);
    drop(first);
    // What is written next meets a closed socket.
    outlet.take(&rows);
    wait_for(&mut outlet, |event| matches!(event, Event::OutputFails(..)));
    let second = BufReader::new(listener.accept().unwrap().0);
    let read: Vec<String> = second.lines().take(2).map(Result::unwrap).collect();
    assert_eq!(read, lines(&rows));
    outlet.finish(LONG);
    assert_eq!(outlet.dropped(), 0);
}

#[test]
fn a_datagram_holds_one_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sock");
    let reader = UnixDatagram::bind(&path).unwrap();
    let target = SocketTarget::new(format!("unixgram:{}", path.display()).parse().unwrap());
    let mut outlet = Outlet::new(Box::new(target), 1 << 20).unwrap();
    let rows = rows();
    outlet.take(&rows);
    let mut content = [0; 1 << 16];
    for line in lines(&rows) {
        let length = reader.recv(&mut content).unwrap();
        assert_eq!(std::str::from_utf8(&content[..length]).unwrap(), line);
    }
    outlet.finish(LONG);
}

/// Bytes written for good, and what stopped the writing.
type Answer = (usize, io::Result<()>);

/// Lets the test decide every write.
struct Scripted {
    writes: Sender<Vec<u8>>,
    answers: Receiver<Answer>,
    last: bool,
}

impl Target for Scripted {
    fn name(&self) -> String {
        "a test".to_string()
    }
    fn write(&mut self, lines: &[u8]) -> (usize, io::Result<()>) {
        self.writes.send(lines.to_vec()).unwrap();
        self.answers.recv().unwrap_or((lines.len(), Ok(())))
    }
    fn is_final(&self, _: &io::Error) -> bool {
        self.last
    }
}

fn asked(capacity_bytes: usize, last: bool) -> (Outlet, Receiver<Vec<u8>>, Sender<Answer>) {
    let ((writes, written), (answer, answers)) = (channel(), channel());
    let target = Box::new(Scripted { writes, answers, last });
    (Outlet::new(target, capacity_bytes).unwrap(), written, answer)
}

#[test]
fn the_buffer_is_bounded_and_what_it_cannot_take_is_counted() {
    let rows = rows();
    let (mut outlet, written, answer) = asked(rows.bytes().len() * 3 + 1, false);
    outlet.take(&rows);
    assert_eq!(written.recv().unwrap(), rows.bytes());
    // The writer hangs in the first write; two more ticks fit.
    for _ in 0..10 {
        outlet.take(&rows);
    }
    assert_eq!(outlet.dropped(), 16);
    let mut events = Vec::new();
    outlet.drain_events(&mut events);
    assert_eq!(events, [Event::BufferFull], "reported once");
    answer.send((rows.bytes().len(), Ok(()))).unwrap();
    assert_eq!(written.recv().unwrap(), [rows.bytes(), rows.bytes()].concat());
    answer.send((rows.bytes().len() * 2, Ok(()))).unwrap();
    drop(answer);
    wait_until(|| {
        outlet.take(&rows);
        outlet.drain_events(&mut events);
        events.iter().any(|event| matches!(event, Event::BufferFree(dropped) if *dropped >= 16))
    });
    outlet.finish(LONG);
}

#[test]
fn only_whole_lines_count_as_written() {
    let rows = rows();
    let first = lines(&rows)[0].len() + 1;
    let (mut outlet, written, answer) = asked(1 << 20, false);
    outlet.take(&rows);
    written.recv().unwrap();
    answer.send((first, Err(ErrorKind::StorageFull.into()))).unwrap();
    assert_eq!(written.recv().unwrap(), rows.bytes()[first..], "the second line again");
    drop(answer);
    outlet.finish(LONG);
    assert_eq!(outlet.dropped(), 0);
}

#[test]
fn a_reader_that_is_gone_for_good_ends_the_run() {
    let rows = rows();
    let (mut outlet, written, answer) = asked(1 << 20, true);
    assert!(!outlet.is_over());
    outlet.take(&rows);
    written.recv().unwrap();
    answer.send((0, Err(ErrorKind::BrokenPipe.into()))).unwrap();
    wait_until(|| outlet.is_over());
    assert_eq!(outlet.dropped(), 2);
    outlet.take(&rows);
    assert_eq!(outlet.dropped(), 4);
    outlet.finish(LONG);
}

#[test]
fn the_end_does_not_wait_for_an_absent_reader() {
    let folder = tempfile::tempdir().unwrap();
    let target = SocketTarget::new(format!("unix:{}/none", folder.path().display()).parse().unwrap());
    let mut outlet = Outlet::new(Box::new(target), 1 << 20).unwrap();
    outlet.take(&rows());
    outlet.finish(LONG);
    assert_eq!(outlet.dropped(), 2, "rows that never left are counted");
}

fn wait_for(outlet: &mut Outlet, wanted: impl Fn(&Event) -> bool) {
    let mut events = Vec::new();
    wait_until(|| {
        outlet.drain_events(&mut events);
        events.iter().any(&wanted)
    });
}

/// Waits for what will surely come.
fn wait_until(mut done: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it did not come in two minutes");
}
