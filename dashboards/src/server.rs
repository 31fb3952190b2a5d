//! The public interface: bind a loopback address, then serve the page until the shutdown.

use crate::connections;
use crate::progress::Progress;
use crate::reader::{Source, StoreReader};
use crate::router::{PageState, router};
use crate::stream::{EventText, publish_events};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Timeout for requests under way after the start of the shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Configuration of the page.
#[derive(Clone, Debug)]
pub struct PageConfig {
    /// The embedded store's file, or a database.
    pub store: Source,
    /// Address to listen on: a loopback address; port 0 takes a free port.
    pub listen: SocketAddr,
    /// Note for the operator about this run ("simulated cluster"), shown next to the title.
    pub run_note: Option<String>,
}

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The address is reachable from other machines.
    #[error(
        "the page would listen on {0}, which other machines can reach; this version has neither token nor TLS and listens only on loopback: use 127.0.0.1 or [::1], and an SSH tunnel from elsewhere"
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
    /// The server failed.
    #[error("the page's server stopped: {0}")]
    Serve(#[from] io::Error),
}

/// A page with a bound address, ready to serve.
#[derive(Debug)]
pub struct BoundPage {
    config: PageConfig,
    listener: TcpListener,
    address: SocketAddr,
}

/// Binds the address, so that its errors are reported before the start of other parts.
///
/// # Errors
/// [`PageError::NotLoopback`], [`PageError::AddressInUse`] or [`PageError::Bind`].
pub async fn bind(config: PageConfig) -> Result<BoundPage, PageError> {
    let address = config.listen;
    if !address.ip().is_loopback() {
        return Err(PageError::NotLoopback(address));
    }
    let listener = TcpListener::bind(address).await.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => PageError::AddressInUse(address),
        _ => PageError::Bind { address, source },
    })?;
    let address = listener.local_addr()?;
    Ok(BoundPage { config, listener, address })
}

/// [`bind`] and [`BoundPage::serve`] in one.
///
/// # Errors
/// The errors of both.
pub async fn serve(
    config: PageConfig,
    ticks: watch::Receiver<Progress>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), PageError> {
    bind(config).await?.serve(ticks, shutdown).await
}

impl BoundPage {
    /// The address with the real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for a browser.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until `shutdown` is done; requests under way then have two seconds.
    ///
    /// # Errors
    /// [`PageError::Serve`] when the server fails.
    pub async fn serve(
        self,
        ticks: watch::Receiver<Progress>,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), PageError> {
        let (stop, stopping) = watch::channel(false);
        let state = PageState {
            reader: StoreReader::new(self.config.store),
            run_note: self.config.run_note,
            ticks,
            events: watch::Sender::new(EventText::from("")),
            stopping: stopping.clone(),
        };
        let publisher = tokio::spawn(publish_events(state.clone()));
        let stopped = async move {
            shutdown.await;
            stop.send_replace(true);
        };
        tokio::select! {
            () = connections::serve(self.listener, router(state, self.address), |_| None, stopped) => {}
            () = grace_is_over(stopping) => {}
        }
        publisher.abort();
        Ok(())
    }
}

async fn grace_is_over(mut stopping: watch::Receiver<bool>) {
    // The future of the server owns the sender; a dropped sender means that the server has ended.
    if stopping.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(SHUTDOWN_TIMEOUT).await;
}
