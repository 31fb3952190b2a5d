//! Bodies that expand, and connections that stay open.

use super::program::{Program, TOKEN, WATCHDOG, get, post};
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

/// Limit for an answer that is not delayed; an idle machine answers in milliseconds.
const PROMPT: Duration = Duration::from_secs(10);

fn events(count: usize, hosts: usize) -> String {
    let event = |id| format!("{{\"job_id\":{},\"nodes\":\"r[1-{hosts}]\",\"start\":1795217419}}\n", id + 1);
    (0..count).map(event).collect()
}

#[test]
fn a_short_body_of_many_hosts_is_refused_and_takes_no_memory() {
    let run = Program::run_with_token("");
    let before = run.memory_kb();
    let (status, answer) = post(run.address, "localhost", TOKEN, &events(25, 60_000));
    assert_eq!(status, 400, "{answer}");
    assert!(answer.contains("event 2: ") && answer.contains("http.job_hosts_max = 100000"), "{answer}");
    let grown = run.memory_kb().saturating_sub(before);
    assert!(grown < 50_000, "{grown} kB more");
    assert_eq!(
        post(run.address, "localhost", TOKEN, &events(1, 60_000)).0,
        503,
        "one large job may be posted"
    );
}

#[test]
fn refused_bodies_hold_up_neither_health_nor_watchdog() {
    let (run, watchdog) = Program::run_watched("job_hosts_max = 10000000\n");
    // Each event is checked; the last one is wrong.
    let body = events(152, 65_000) + "{\"job_id\":0,\"nodes\":\"r1\",\"start\":1795217419}";
    let posting: Vec<_> = (0..6)
        .map(|_| {
            let (address, body) = (run.address, body.clone());
            std::thread::spawn(move || post(address, "localhost", TOKEN, &body).0)
        })
        .collect();
    let (mut worst, mut silent, mut fed) = (Duration::ZERO, Duration::ZERO, Instant::now());
    // The watchdog is fed every third of its time: three feeds at least.
    let until = Instant::now() + WATCHDOG;
    while posting.iter().any(|thread| !thread.is_finished()) || Instant::now() < until {
        let begun = Instant::now();
        assert_eq!(get(run.address, "/healthz", "localhost", "").0, 200);
        worst = worst.max(begun.elapsed());
        if is_fed(&watchdog) {
            fed = Instant::now();
        }
        silent = silent.max(fed.elapsed());
    }
    for thread in posting {
        assert_eq!(thread.join().unwrap(), 400);
    }
    assert!(worst < PROMPT, "/healthz took {worst:?}");
    assert!(silent < WATCHDOG, "the watchdog was not fed for {silent:?}");
}

/// Whether the watchdog was fed within a tenth of a second.
fn is_fed(watchdog: &UnixDatagram) -> bool {
    let mut message = [0; 4096];
    let length = watchdog.recv(&mut message).unwrap_or(0);
    message[..length].windows(11).any(|part| part == b"WATCHDOG=1\n")
        || message[..length].ends_with(b"WATCHDOG=1")
}

/// Connections whose headers never end.
fn slow_connections(program: &Program, count: usize) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = TcpStream::connect(program.address).ok()?;
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").ok()?;
        Some(stream)
    };
    (0..count).filter_map(open).collect()
}

#[test]
fn slow_connections_take_neither_the_server_nor_its_descriptors() {
    // 100 descriptors: fewer than there are connections.
    for mut program in
        [Program::limited(100, Program::run_command("")), Program::limited(100, Program::demo_command(""))]
    {
        let held = slow_connections(&program, 300);
        let begun = Instant::now();
        let (status, answer) = get(program.address, "/healthz", "localhost", "");
        assert_eq!(status, 200, "{answer}");
        assert!(begun.elapsed() < PROMPT, "/healthz took {:?}", begun.elapsed());
        let open = program.descriptors();
        assert!(open < 75, "{open} descriptors of 100 are taken");
        assert!(program.is_running());
        drop(held);
    }
}

#[test]
fn idle_and_slow_connections_end() {
    let run = Program::run("");
    let mut held = slow_connections(&run, 3);
    let mut idle = TcpStream::connect(run.address).unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    held.push(idle);
    for mut stream in held {
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        // The server ends the connection; without that the read would time out.
        let ended = std::io::Read::read_to_end(&mut stream, &mut Vec::new());
        assert!(
            ended.is_ok() || ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset)
        );
    }
}
