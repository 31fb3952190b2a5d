//! The public interface: bind an address, then serve until the shutdown.

use crate::access::Access;
use crate::connections;
use crate::contention::{self, Answers, Book, Gate, Reporters};
use crate::guard::Hosts;
use crate::job_token::JobKeys;
use crate::login::Login;
use crate::process::Process;
use crate::progress::Progress;
use crate::reader::{Source, StoreReader};
use crate::router::{Clock, PageState, Routes, Shown, router};
use crate::stream::{EventText, publish_events};
use axum::Router;
use axum::serve::ListenerExt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Timeout for requests under way after the start of the shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// What is served, where, and to whom.
pub struct ServerConfig {
    /// Address to listen on; port 0 takes a free port.
    pub listen: SocketAddr,
    /// Names of the server beside its addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Who may read; [`Access::Open`] only on a loopback address.
    pub read: Access,
    /// Tokens and sessions of browsers.
    pub login: Arc<Login>,
    /// Page and API.
    pub page: Option<Page>,
    /// Keys of the tokens with which jobs read their own answers.
    pub job_keys: JobKeys,
    /// Metrics and health of `tailback run`.
    pub process: Option<Process>,
    /// Routes that change state, with an access of their own.
    pub posts: Option<Router>,
    /// Origins whose pages may show panels in a frame, such as `https://portal.example.org`.
    pub frame_ancestors: Vec<String>,
}

/// Page and API over a store.
pub struct Page {
    /// The embedded store's file, or a database.
    pub store: Source,
    /// Note for the operator about this run ("simulated cluster"), shown next to the title.
    pub run_note: Option<String>,
    /// The clock by which advice expires; without one, the newest signal of the store.
    pub clock: Option<Clock>,
    /// The address of the page, where others reach it.
    pub public_url: Option<String>,
    /// How much is shown.
    pub shown: Shown,
}

impl ServerConfig {
    /// A page alone, open to everyone on this machine.
    pub fn page(listen: SocketAddr, page: Page) -> ServerConfig {
        ServerConfig {
            listen,
            hosts: Vec::new(),
            read: Access::Open,
            login: Arc::new(Login::new(Vec::new())),
            page: Some(page),
            job_keys: JobKeys::default(),
            process: None,
            posts: None,
            frame_ancestors: Vec::new(),
        }
    }
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is reachable from other machines.
    #[error(
        "the page would listen on {0}, which other machines can reach, without a token: use 127.0.0.1 or [::1], and an SSH tunnel from elsewhere"
    )]
    NotLoopback(SocketAddr),
    /// Another program listens on the address.
    #[error("{0} is in use by another program; choose another port, or port 0 for any free one")]
    AddressInUse(SocketAddr),
    /// The operating system refused the address.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The requested address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// A server with a bound address.
pub struct BoundServer {
    config: ServerConfig,
    listener: TcpListener,
    address: SocketAddr,
    /// The answers of running jobs; without a page there are none.
    contention: Option<Arc<Book>>,
    /// Becomes true when the server stops.
    stop: watch::Sender<bool>,
}

/// Binds the address, so that its errors are reported before the start of other parts.
///
/// # Errors
/// [`ServerError::NotLoopback`], [`ServerError::AddressInUse`] or [`ServerError::Bind`].
pub async fn bind(config: ServerConfig) -> Result<BoundServer, ServerError> {
    let address = config.listen;
    if matches!(config.read, Access::Open) && !address.ip().is_loopback() {
        return Err(ServerError::NotLoopback(address));
    }
    let refused = |source: io::Error| match source.kind() {
        io::ErrorKind::AddrInUse => ServerError::AddressInUse(address),
        _ => ServerError::Bind { address, source },
    };
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let contention =
        config.page.as_ref().map(|page| Book::new(StoreReader::new(page.store.clone()), page.clock.clone()));
    Ok(BoundServer { config, listener, address, contention, stop: watch::Sender::new(false) })
}

impl BoundServer {
    /// The address with the real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for a browser.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The routes of running jobs' answers for another listener: `read` may read those of all jobs, jobs and over a Unix socket their
    /// users their own. No routes without a page.
    pub fn contention_routes(&self, read: Access) -> Router {
        let Some(book) = self.contention.clone() else { return Router::new() };
        let gate = Gate::new(read, self.config.job_keys.clone());
        contention::router(Answers { gate, book, stopping: self.stop.subscribe() })
    }

    /// Who may report progress over another listener: `all` that of all jobs, jobs and over a Unix socket their users their own.
    pub fn reporters(&self, all: Access) -> Reporters {
        Reporters::new(Gate::new(all, self.config.job_keys.clone()), self.contention.clone())
    }

    /// Serves until `shutdown` is done; requests under way then have two seconds. `ticks` is the progress of the run that
    /// writes the store.
    pub async fn serve(
        self,
        ticks: watch::Receiver<Progress>,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) {
        let (stop, stopping) = (self.stop.clone(), self.stop.subscribe());
        let ServerConfig { hosts, read, login, page, job_keys, process, posts, frame_ancestors, .. } =
            self.config;
        let page = page.zip(self.contention).map(|(page, contention)| {
            let state = PageState {
                reader: contention.reader(),
                contention,
                clock: page.clock,
                run_note: page.run_note,
                public_url: page.public_url,
                ticks,
                events: watch::Sender::new(EventText::from("")),
                stopping: stopping.clone(),
                readings: Arc::default(),
            };
            (state, page.shown)
        });
        let publisher = page.clone().map(|(state, _)| tokio::spawn(publish_events(state)));
        let answers =
            page.as_ref().map(|(state, _)| tokio::spawn(contention::keep(Arc::clone(&state.contention))));
        let routes = Routes { read, login, page, job_keys, process, posts, frame_ancestors };
        let routes = router(routes, Hosts::of(self.address, &hosts));
        let stopped = async move {
            shutdown.await;
            stop.send_replace(true);
        };
        let listener = self.listener.tap_io(send_at_once);
        tokio::select! {
            () = connections::serve(listener, routes, |_| None, stopped) => {}
            () = grace_is_over(stopping) => {}
        }
        for task in [publisher, answers].into_iter().flatten() {
            task.abort();
        }
    }
}

/// The kernel would hold the end of an answer back until the client has confirmed its begin: over a kept connection 40 ms, which is the
/// limit of the clients of jobs.
fn send_at_once(stream: &mut TcpStream) {
    // A connection that is broken already shows it at its first request.
    let _ = stream.set_nodelay(true);
}

async fn grace_is_over(mut stopping: watch::Receiver<bool>) {
    // A dropped sender means that the server has ended.
    if stopping.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(SHUTDOWN_TIMEOUT).await;
}
