//! The server on a real port: addresses refused, events sent, shutdown in time.

use dashboards::access::Access;
use dashboards::router::Shown;
use dashboards::{Page, Progress, ServerConfig, ServerError, bind};
use schemas::Time;
use schemas::secret::Redacted;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

/// Long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn config(listen: &str) -> ServerConfig {
    let page = Page {
        store: PathBuf::from("no-such-store.db").into(),
        run_note: None,
        public_url: None,
        clock: None,
        shown: Shown::Everything,
    };
    ServerConfig::page(listen.parse().unwrap(), page)
}

#[tokio::test]
async fn an_address_that_others_can_reach_is_refused() {
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8600"] {
        let refused = bind(config(listen)).await.err().unwrap();
        assert!(matches!(refused, ServerError::NotLoopback(_)), "{refused}");
    }
    let read = Access::by(Some(&Redacted::new("a token".to_string())));
    assert!(bind(ServerConfig { read, ..config("0.0.0.0:0") }).await.is_ok(), "a token protects it");
}

#[tokio::test]
async fn a_port_in_use_is_reported() {
    let first = bind(config("127.0.0.1:0")).await.unwrap();
    assert_ne!(first.address().port(), 0);
    let refused = bind(config(&first.address().to_string())).await.err().unwrap();
    assert!(matches!(refused, ServerError::AddressInUse(_)));
    assert!(refused.to_string().contains("in use by another program"), "{refused}");
}

async fn connect(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut text = String::new();
    let mut buffer = [0u8; 4096];
    while !text.contains(wanted) {
        let read = timeout(TIMEOUT, stream.read(&mut buffer)).await.unwrap().unwrap();
        assert_ne!(read, 0, "the connection ended after {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn ticks_become_events_and_an_open_stream_does_not_hold_the_shutdown() {
    let page = bind(config("127.0.0.1:0")).await.unwrap();
    let address = page.address();
    let (progress, ticks) = watch::channel(Progress::default());
    let (stop, stopped) = oneshot::channel::<()>();
    let server = tokio::spawn(page.serve(ticks, async {
        let _ = stopped.await;
    }));
    read_until(&mut connect(address, "/healthz").await, "ok\n").await;
    let mut events = connect(address, "/api/v1/stream").await;
    let first = read_until(&mut events, "\"rows\":0").await;
    assert!(first.contains("text/event-stream"), "{first}");
    progress.send_replace(Progress {
        event_time: Some(Time::from_seconds(5.5)),
        rows: 7,
        ..Progress::default()
    });
    let second = read_until(&mut events, "\"rows\":7").await;
    assert!(second.contains("\"event_time\":5.5"), "{second}");
    // A demo reports its end and stops at once; open pages must receive that event.
    progress.send_replace(Progress { finished: true, rows: 8, ..Progress::default() });
    stop.send(()).unwrap();
    read_until(&mut events, "\"finished\":true").await;
    timeout(TIMEOUT, server).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_stream_has_beats() {
    let page = bind(config("127.0.0.1:0")).await.unwrap();
    let address = page.address();
    // No progress is reported: without beats a client could not distinguish an idle server from a hung one.
    let (_progress, ticks) = watch::channel(Progress::default());
    let (stop, stopped) = oneshot::channel::<()>();
    let server = tokio::spawn(page.serve(ticks, async {
        let _ = stopped.await;
    }));
    read_until(&mut connect(address, "/healthz").await, "ok\n").await;
    let mut events = connect(address, "/api/v1/stream").await;
    for _ in 0..3 {
        read_until(&mut events, "event: beat\n").await;
    }
    stop.send(()).unwrap();
    timeout(TIMEOUT, server).await.unwrap().unwrap();
}
