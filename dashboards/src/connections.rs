//! Connections of an HTTP server: bounded in number and in time, so that slow or idle clients take neither the file
//! descriptors of the program nor the slots of other clients.
//!
//! At the limit a new connection replaces the one that has been idle longest: one whose headers are incomplete, or that
//! waits for its next request. A client that sends its request at once therefore gets a response although others hold
//! connections open. Above seven eighths of the limit a response ends its connection, so that clients of jobs, which keep
//! theirs, do not replace each other's.

use crate::occupancy::{Connection, Occupancy, Slot};
use axum::Router;
use axum::body::Body;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Request};
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Timeout for the first request of a connection.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for the headers of each further one, from the end of the previous one: clients of jobs ask at least once a minute.
const NEXT_REQUEST_TIMEOUT: Duration = Duration::from_secs(75);
/// Longest head of a request, in bytes.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Pause before the next check for a free slot while every connection is busy.
const FULL_PAUSE: Duration = Duration::from_millis(100);
/// Connections of one server, by default.
const CONNECTIONS_MAX: usize = 512;
/// Connections use at most this part of the file descriptors, or all but [`OTHER_DESCRIPTORS`]; the rest is for the store, Kafka and the
/// database.
const DESCRIPTOR_SHARE: usize = 4;
const OTHER_DESCRIPTORS: usize = 4_096;

/// User id of the process at the other end of a Unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerUid(pub u32);

/// The limit that is set, and the connections of all servers of this process.
static LIMIT: AtomicUsize = AtomicUsize::new(CONNECTIONS_MAX);
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// From here on a server accepts at most so many connections.
pub fn limit(most: usize) {
    LIMIT.store(most, Ordering::Relaxed);
}

/// Connections that are open, of all servers of this process.
pub fn open() -> usize {
    OPEN.load(Ordering::Relaxed)
}

/// Number of connections that one server accepts: fewer if the limit of file descriptors is low.
pub fn connections_max() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let most = LIMIT.load(Ordering::Relaxed).max(4);
    descriptors(&limits).map_or(most, left_for_connections).clamp(4, most)
}

/// How many of the file descriptors connections may use.
fn left_for_connections(descriptors: usize) -> usize {
    (descriptors / DESCRIPTOR_SHARE).max(descriptors.saturating_sub(OTHER_DESCRIPTORS))
}

/// The soft limit of open files in the text of `/proc/self/limits`.
fn descriptors(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What bounds the connections of one server.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Connections at once.
    most: usize,
    first_request: Duration,
    next_request: Duration,
}

impl Bounds {
    fn new() -> Bounds {
        Bounds {
            most: connections_max(),
            first_request: FIRST_REQUEST_TIMEOUT,
            next_request: NEXT_REQUEST_TIMEOUT,
        }
    }

    /// Above so many connections none is kept for another request.
    fn kept_max(&self) -> usize {
        self.most - self.most / 8
    }
}

/// Serves `router` until `stop` is done, then waits for the requests under way. A connection that cannot be
/// accepted, for instance without a free file descriptor, is retried after a pause. `peer` names its user.
pub async fn serve<L: Listener>(
    listener: L,
    router: Router,
    peer: impl Fn(&L::Io) -> Option<PeerUid>,
    stop: impl Future<Output = ()>,
) {
    serve_within(Bounds::new(), listener, router, peer, stop).await;
}

async fn serve_within<L: Listener>(
    bounds: Bounds,
    mut listener: L,
    router: Router,
    peer: impl Fn(&L::Io) -> Option<PeerUid>,
    stop: impl Future<Output = ()>,
) {
    let occupancy = Arc::new(Occupancy::default());
    let (stop_all, stopping) = watch::channel(false);
    let mut tasks = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            (io, _) = listener.accept() => io,
        };
        let peer = peer(&accepted);
        tokio::select! {
            () = &mut stop => break,
            () = free_slot(&mut tasks, &occupancy, bounds.most) => {}
        }
        let (connection, counted) = (occupancy.open(), Counted::new());
        let driven =
            drive(TokioIo::new(accepted), router.clone(), peer, connection, bounds, stopping.clone());
        tasks.spawn(async move {
            let _counted = counted;
            driven.await;
        });
    }
    drop(listener);
    stop_all.send_replace(true);
    while tasks.join_next().await.is_some() {}
}

/// A connection that is counted as long as it is open.
struct Counted;

impl Counted {
    fn new() -> Counted {
        OPEN.fetch_add(1, Ordering::Relaxed);
        Counted
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits until fewer than `most` connections hold a descriptor. One that is replaced holds its own until its task ends.
async fn free_slot(tasks: &mut JoinSet<()>, occupancy: &Occupancy, most: usize) {
    loop {
        while tasks.try_join_next().is_some() {}
        if tasks.len() < most {
            return;
        }
        if occupancy.is_full(most) {
            tokio::time::sleep(FULL_PAUSE).await;
        } else {
            tasks.join_next().await;
        }
    }
}

/// Answers the requests of one connection until it ends, is replaced by another, or the server stops.
async fn drive<I>(
    io: TokioIo<I>,
    router: Router,
    peer: Option<PeerUid>,
    connection: Connection,
    bounds: Bounds,
    mut stopping: watch::Receiver<bool>,
) where
    I: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let slot = connection.slot();
    let service = service_fn(|mut request: Request<Incoming>| {
        let busy = slot.busy();
        if let Some(peer) = peer {
            request.extensions_mut().insert(peer);
        }
        let is_kept = connection.open() <= bounds.kept_max();
        let answer = TowerToHyperService::new(router.clone()).call(request);
        async move {
            let mut response = answer.await?.map(|body: Body| busy.until_sent(body));
            if !is_kept {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(bounds.next_request).max_buf_size(HEAD_BYTES_MAX);
    let mut served = pin!(http.serve_connection(io, service));
    tokio::select! {
        _ = served.as_mut() => return,
        () = connection.replaced() => return,
        () = no_request(&slot, bounds.first_request) => return,
        _ = stopping.wait_for(|stop| *stop) => {}
    }
    served.as_mut().graceful_shutdown();
    let _ = served.await;
}

/// Ends if a connection has no request within `time`.
async fn no_request(slot: &Slot, time: Duration) {
    tokio::time::sleep(time).await;
    if slot.had_request() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};
    use tokio::sync::{Notify, mpsc};

    #[test]
    fn connections_take_a_part_of_the_descriptors() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max open files            1024                 524288               files\n";
        assert_eq!(descriptors(limits), Some(1024));
        assert_eq!(
            descriptors("Max open files            unlimited            unlimited            files"),
            None
        );
        assert!((4..=CONNECTIONS_MAX).contains(&connections_max()));
        assert_eq!([1_024, 8_192, 20_000].map(left_for_connections), [256, 4_096, 15_904]);
    }

    /// Clients that connect one after the other.
    struct Line(mpsc::Receiver<DuplexStream>);

    impl Listener for Line {
        type Io = DuplexStream;
        type Addr = ();

        async fn accept(&mut self) -> (DuplexStream, ()) {
            match self.0.recv().await {
                Some(stream) => (stream, ()),
                None => std::future::pending().await,
            }
        }

        fn local_addr(&self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// A server within `bounds`, and where clients connect.
    fn server(bounds: Bounds) -> mpsc::Sender<DuplexStream> {
        let (line, clients) = mpsc::channel(1);
        let router = Router::new().route("/", axum::routing::get(async || "ok"));
        let served = serve_within(bounds, Line(clients), router, |_| None, std::future::pending());
        tokio::spawn(served);
        line
    }

    async fn connected(line: &mpsc::Sender<DuplexStream>) -> DuplexStream {
        let (client, server) = tokio::io::duplex(4_096);
        line.send(server).await.unwrap();
        client
    }

    /// The answer to a request that asks to keep the connection.
    async fn asked(client: &mut DuplexStream) -> String {
        client.write_all(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").await.unwrap();
        let mut text = String::new();
        while !text.ends_with("ok") {
            let mut part = [0; 1_024];
            let read = client.read(&mut part).await.unwrap();
            assert!(read > 0, "the answer ends early: {text}");
            text += std::str::from_utf8(&part[..read]).unwrap();
        }
        text
    }

    #[tokio::test]
    async fn only_a_connection_with_a_request_is_kept() {
        let hour = Duration::from_secs(3_600);
        let line = server(Bounds { most: 4, first_request: Duration::from_millis(50), next_request: hour });
        let mut kept = connected(&line).await;
        assert!(asked(&mut kept).await.contains("\r\nconnection: keep-alive\r\n"));
        let mut silent = connected(&line).await;
        assert_eq!(silent.read(&mut [0]).await.unwrap(), 0, "it is closed");
        asked(&mut kept).await;
    }

    #[tokio::test]
    async fn near_the_limit_an_answer_ends_its_connection() {
        let hour = Duration::from_secs(3_600);
        let line = server(Bounds { most: 8, first_request: hour, next_request: hour });
        let mut clients = Vec::new();
        for number in 1..=8 {
            let mut client = connected(&line).await;
            let answer = asked(&mut client).await;
            assert_eq!(answer.contains("\r\nconnection: close"), number == 8, "{answer}");
            clients.push(client);
        }
        assert_eq!(clients[7].read(&mut [0]).await.unwrap(), 0, "it is closed");
        asked(&mut clients[0]).await;
    }

    /// Silent clients that all connect at once.
    struct Flood {
        left: usize,
        all_came: Arc<Notify>,
        open: Arc<AtomicUsize>,
        most_open: Arc<AtomicUsize>,
    }

    /// One of them, counted while it is open.
    struct Silent(Arc<AtomicUsize>);

    impl Listener for Flood {
        type Io = Silent;
        type Addr = ();

        async fn accept(&mut self) -> (Silent, ()) {
            if self.left == 0 {
                self.all_came.notify_one();
                std::future::pending::<()>().await;
            }
            self.left -= 1;
            let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_open.fetch_max(open, Ordering::SeqCst);
            (Silent(Arc::clone(&self.open)), ())
        }

        fn local_addr(&self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Drop for Silent {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    impl AsyncRead for Silent {
        fn poll_read(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            Poll::Pending
        }
    }

    impl AsyncWrite for Silent {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<std::io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn clients_that_connect_at_once_take_no_more_descriptors_than_the_limit() {
        let (open, most_open) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let (left, all_came) = (4 * connections_max(), Arc::new(Notify::new()));
        let flood = Flood {
            left,
            all_came: Arc::clone(&all_came),
            open: Arc::clone(&open),
            most_open: Arc::clone(&most_open),
        };
        serve(flood, Router::new(), |_| None, all_came.notified()).await;
        // One more is accepted, and waits for a slot.
        assert_eq!(most_open.load(Ordering::SeqCst), connections_max() + 1);
        assert_eq!(open.load(Ordering::SeqCst), 0, "all are closed at the end");
    }
}
