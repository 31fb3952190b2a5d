//! `tailback serve`: the page over a store that is written already, or still growing, or over a database.

use super::ask;
use crate::runtime::clock;
use crate::runtime::intake::progress;
use crate::runtime::silences::{self, OpenOutbox};
use crate::shutdown;
use anyhow::Context;
use clap::Args;
use configuration::RunConfig;
use configuration::host_name;
use configuration::sections::Http;
use dashboards::access::Access;
use dashboards::connections;
use dashboards::job_token::JobKeys;
use dashboards::login::Right;
use dashboards::router::{Clock, Shown};
use dashboards::{Page, Progress, ServerConfig, Source};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use store::outbox::OutboxStore;
use store::postgres::{PgError, connect_reader};
use store::sqlite::{StoreError, open_reader, open_writer};
use tokio::sync::watch;

/// Which store, and where.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The store that `tailback replay` or `tailback demo` wrote
    #[arg(long, value_name = "FILE", default_value = "tailback.db")]
    pub store: PathBuf,
    /// Show the database of this configuration (TOML) instead of a store; an account that may read is enough
    #[arg(long, value_name = "FILE", conflicts_with = "store")]
    pub config: Option<PathBuf>,
    /// Address of the page; one that other machines reach needs --token-file
    #[arg(long, default_value = "127.0.0.1:8642")]
    pub listen: SocketAddr,
    /// File with a token that readers log in with, or send as Authorization: Bearer …; without it reading is open
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// File with a token that may set and end silences on the page; without it silencing is closed
    #[arg(long, value_name = "FILE")]
    pub silence_token_file: Option<PathBuf>,
    /// File with the keys of job tokens (http.job_token_key_file of tailback run); a job reads its own answer with its token
    #[arg(long, value_name = "FILE")]
    pub job_token_key_file: Option<PathBuf>,
    /// Connections at once, as limits.http_connections of tailback run
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(4..=65_536))]
    pub connections: u32,
}

/// Serves until Ctrl-C.
///
/// # Errors
/// A store that is not there or that this version cannot read, a database that refuses or is another version's, or an
/// address that is taken. A database that does not answer yet is waited for.
pub fn run(args: ServeArgs) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (store, http) = match &args.config {
        Some(file) => runtime.block_on(database(file)).map(|(store, http)| (store, Some(http)))?,
        None => (file(args.store)?, None),
    };
    let public_url = http.as_ref().and_then(Http::page);
    let frame_ancestors = http.map(|http| http.frame_ancestors).unwrap_or_default();
    let login = silences::login_of(args.token_file.as_deref(), args.silence_token_file.as_deref())?;
    let read = match &args.token_file {
        Some(_) => Access::Login(Arc::clone(&login), Right::Read),
        None => Access::Open,
    };
    connections::limit(args.connections as usize);
    let job_keys = match &args.job_token_key_file {
        Some(file) => ask::keys("--job-token-key-file", file)?,
        None => JobKeys::default(),
    };
    let served: anyhow::Result<()> = runtime.block_on(async {
        let (_keep, ticks) = watch::channel(Progress::default());
        // The times of a file may be simulated, or long ago.
        let wall: Clock = Arc::new(|| clock::now().seconds());
        let clock = matches!(store, Source::Database(_)).then_some(wall);
        let outbox = outbox_of(&store);
        let page = Page { store, run_note: None, clock, public_url, shown: Shown::Everything };
        let hosts = if args.listen.ip().is_loopback() { Vec::new() } else { vec![host_name()] };
        let posts = Some(silences::router(&login, outbox).merge(progress::without_kafka()));
        let server = dashboards::bind(ServerConfig {
            hosts,
            read,
            login,
            job_keys,
            posts,
            frame_ancestors,
            ..ServerConfig::page(args.listen, page)
        })
        .await?;
        eprintln!("the page is at {} (Ctrl-C ends it)", server.url());
        server.serve(ticks, shutdown::requested()).await;
        Ok(())
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

/// The outbox of the same store.
fn outbox_of(source: &Source) -> OpenOutbox {
    match source.clone() {
        Source::File(path) => Arc::new(move || OutboxStore::file(&path)),
        Source::Database(settings) => Arc::new(move || Ok(OutboxStore::server(settings.as_ref().clone()))),
    }
}

fn file(store: PathBuf) -> anyhow::Result<Source> {
    std::fs::metadata(&store).with_context(|| format!("there is no store {}", store.display()))?;
    bring_up_to_date(&store)?;
    Ok(store.into())
}

/// The database of a configuration, and its section about HTTP.
async fn database(file: &Path) -> anyhow::Result<(Source, Http)> {
    let config = RunConfig::load(Some(file))?;
    let settings = config.database.pg_settings();
    match connect_reader(&settings).await {
        Err(PgError::Retry(why)) => eprintln!("the database does not answer yet: {why}"),
        tried => drop(tried?),
    }
    Ok((Source::Database(Box::new(settings)), config.http))
}

/// The page needs tables that a store of an older version lacks: they are added, and what is there stays.
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
