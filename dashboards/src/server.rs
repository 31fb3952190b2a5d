//! The public door: bind a loopback address, then serve the page until told to stop.

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

/// How long requests under way may take after the shutdown was asked for.
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(2);

/// What the page serves, and where.
#[derive(Clone, Debug)]
pub struct PageConfig {
    /// The embedded store's file, or a database.
    pub store: Source,
    /// Where to listen: a loopback address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What the operator should know of this run ("simulated cluster"), shown beside the title.
    pub run_note: Option<String>,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The address is reachable from other machines.
    #[error(
        "the page would listen on {0}, which other machines can reach; this version has neither token nor TLS and listens only on loopback: use 127.0.0.1 or [::1], and an SSH tunnel from elsewhere"
    )]
    NotLoopback(SocketAddr),
    /// Someone else listens there.
    #[error("{0} is in use by another program; choose another port, or port 0 for any free one")]
    AddressInUse(SocketAddr),
    /// The operating system refuses.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// What was asked for.
        address: SocketAddr,
        /// What the operating system says.
        source: io::Error,
    },
    /// The server broke.
    #[error("the page's server stopped: {0}")]
    Serve(#[from] io::Error),
}

/// A page that has its address and is ready to serve.
#[derive(Debug)]
pub struct BoundPage {
    config: PageConfig,
    listener: TcpListener,
    address: SocketAddr,
}

/// Takes the address, so that errors of it are known before anything else starts.
///
/// # Errors
/// [`PageError::NotLoopback`], [`PageError::AddressInUse`] or [`PageError::Bind`].
pub async fn bind(config: PageConfig) -> Result<BoundPage, PageError> {
    let asked = config.listen;
    if !asked.ip().is_loopback() {
        return Err(PageError::NotLoopback(asked));
    }
    let listener = TcpListener::bind(asked).await.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => PageError::AddressInUse(asked),
        _ => PageError::Bind { address: asked, source },
    })?;
    let address = listener.local_addr()?;
    Ok(BoundPage { config, listener, address })
}

/// [`bind`] and [`BoundPage::serve`] in one.
///
/// # Errors
/// Those of the two.
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

    /// What to open in a browser.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until `shutdown` is done; requests under way then have two seconds.
    ///
    /// # Errors
    /// [`PageError::Serve`] when the server breaks.
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
            () = patience_is_over(stopping) => {}
        }
        publisher.abort();
        Ok(())
    }
}

async fn patience_is_over(mut stopping: watch::Receiver<bool>) {
    // The sender lives in the server's own future; without it the server itself tells the end.
    if stopping.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(SHUTDOWN_PATIENCE).await;
}
