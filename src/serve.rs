//! `tailback serve`: the page over a store that somebody wrote, or still writes.

use crate::signals;
use anyhow::Context;
use clap::Args;
use dashboards::{PageConfig, Progress};
use detector::store::{StoreError, open_reader, open_writer};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::watch;

/// Which store, and where.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The store that `tailback replay` or `tailback demo` wrote
    #[arg(long, value_name = "FILE", default_value = "tailback.db")]
    pub store: PathBuf,
    /// Loopback address of the page
    #[arg(long, default_value = "127.0.0.1:8642")]
    pub listen: SocketAddr,
}

/// Serves until Ctrl-C.
///
/// # Errors
/// A store that is not there or that this version cannot read, or an address that is taken.
pub fn run(args: ServeArgs) -> anyhow::Result<()> {
    std::fs::metadata(&args.store).with_context(|| format!("there is no store {}", args.store.display()))?;
    bring_up_to_date(&args.store)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served: anyhow::Result<()> = runtime.block_on(async {
        let (_keep, ticks) = watch::channel(Progress::default());
        let config = PageConfig { store: args.store, listen: args.listen, run_note: None };
        let page = dashboards::bind(config).await?;
        eprintln!("the page is at {} (Ctrl-C ends it)", page.url());
        page.serve(ticks, signals::end_asked()).await?;
        Ok(())
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

/// The page asks for tables that a store of an older version lacks: they are added, and what is there stays.
fn bring_up_to_date(store: &Path) -> anyhow::Result<()> {
    match open_reader(store) {
        Err(StoreError::Older { found, known, .. }) => {
            drop(open_writer(store).context("a store of an older version cannot be brought up to date")?);
            eprintln!("{} was brought up to date, from version {found} to {known}", store.display());
            Ok(())
        }
        opened => opened.map(drop).map_err(Into::into),
    }
}
