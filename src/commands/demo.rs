//! `tailback demo`: a simulated cluster, live, through the same stages as everything else.

use crate::runtime::intake::progress;
use crate::runtime::{clock, silences};
use crate::{bars, shutdown};
use alerts::receivers::deliver_all;
use anyhow::Context;
use clap::Args;
use configuration::RunConfig;
use dashboards::router::Shown;
use dashboards::{Page, ServerConfig};
use lab::demo::guide::{clock_note, guide};
use lab::demo::{Demo, Progress, Request, Update};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use store::outbox::OutboxStore;
use tokio::runtime::Runtime;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

/// The page's description of the run.
const NOTE: &str =
    "Simulated cluster: an IOR victim and fifteen writers on Lustre, CTH against an all-to-all on Aries.";

/// How long, how fast, and what to show.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Simulated seconds to run; without it until Ctrl-C, and the scenario begins again every 480 s
    #[arg(long, value_name = "N")]
    pub seconds: Option<u64>,
    /// Simulated seconds per second; 0 is as fast as possible
    #[arg(long, value_name = "X", default_value_t = 10.0)]
    pub speed: f64,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// First simulated second, in seconds since the epoch; without it the present one
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(946_684_800..7_258_118_400))]
    pub start: Option<i64>,
    /// Leave out the page
    #[arg(long)]
    pub no_page: bool,
    /// Loopback address of the page
    #[arg(long, default_value = "127.0.0.1:8642")]
    pub listen: SocketAddr,
    /// The store; one that a killed demo left is continued, one of a demo that ended is restarted
    #[arg(long, value_name = "FILE", default_value = "tailback.db")]
    pub store: PathBuf,
    /// Megabytes that the store may take: above, its oldest signals go
    #[arg(long, value_name = "MB", default_value_t = 512, value_parser = clap::value_parser!(u64).range(16..=1_000_000))]
    pub max_size: u64,
    /// File with a token that may set and end silences on the page; without it silencing is closed
    #[arg(long, value_name = "FILE")]
    pub silence_token_file: Option<PathBuf>,
    /// Configuration (TOML) of which `[alerts]` counts: other rules, and receivers
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Runs the demo.
///
/// # Errors
/// A port that is taken, a store that is not a demo's, a full disk.
pub fn run(args: &DemoArgs) -> anyhow::Result<()> {
    anyhow::ensure!(
        args.speed == 0.0 || (1e-3..=1e6).contains(&args.speed),
        "--speed must be 0 or between 0.001 and 1000000, not {}",
        args.speed
    );
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (progress, ticks) = watch::channel(dashboards::Progress::default());
    let (end_page, page_ends) = oneshot::channel::<()>();
    let page = if args.no_page { None } else { Some(start_page(&runtime, args, ticks, page_ends)?) };
    let config = RunConfig::load(args.config.as_deref())?;
    let request = request(args, &config);
    let mut demo = Demo::open(&request)?;
    guide(args.speed, demo.second()).iter().for_each(|line| eprintln!("{line}"));
    if demo.second() > 0 {
        eprintln!("continuing the demo in {} at second {}", args.store.display(), demo.second());
    }
    let (end_alerts, alerts_end) = watch::channel(false);
    deliver(&runtime, args, &config, alerts_end)?;
    let stop = shutdown::flag_when_requested(&runtime);
    let bar = bars::of_seconds(args.seconds);
    let ended = demo.play(&stop, &mut |update| match update {
        Update::Second(second) => bar.set_position(second),
        Update::Committed(reached) => drop(progress.send_replace(shown(reached))),
    });
    bar.finish_and_clear();
    end_alerts.send_replace(true);
    // The page may have ended by itself; then there is no receiver.
    let _ = end_page.send(());
    if let Some(page) = page {
        runtime.block_on(page).context("the page's task ended abnormally")?;
    }
    ended?;
    demo.finish()?;
    eprint!("{}", demo.summary());
    Ok(())
}

fn request<'a>(args: &DemoArgs, config: &'a RunConfig) -> Request<'a> {
    Request {
        store: args.store.clone(),
        seconds: args.seconds,
        speed: args.speed,
        seed: args.seed,
        start_s: args.start.unwrap_or_else(|| clock::now().seconds() as i64),
        bytes_max: args.max_size * 1_000_000,
        rules: &config.alerts.rules,
        receivers: &config.alerts.receivers,
    }
}

fn shown(reached: Progress) -> dashboards::Progress {
    let Progress { event_time, rows, rows_per_s, speed, is_finished } = reached;
    dashboards::Progress { event_time, rows, rows_per_s, lag_s: 0.0, speed, finished: is_finished }
}

/// Delivers notices until `ends` has true.
fn deliver(
    runtime: &Runtime,
    args: &DemoArgs,
    config: &RunConfig,
    ends: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    let _inside = runtime.enter();
    let outbox = || OutboxStore::file(&args.store);
    let wall = Arc::new(|| clock::now().seconds());
    deliver_all(&config.alerts.delivery("demo", wall), outbox, || {
        let mut ends = ends.clone();
        async move { drop(ends.wait_for(|ended| *ended).await) }
    })?;
    Ok(())
}

/// Binds the page, prints its address and serves it beside the simulation.
fn start_page(
    runtime: &Runtime,
    args: &DemoArgs,
    ticks: watch::Receiver<dashboards::Progress>,
    ends: oneshot::Receiver<()>,
) -> anyhow::Result<JoinHandle<()>> {
    let page = Page {
        store: args.store.clone().into(),
        run_note: Some(format!("{NOTE} {}", clock_note(args.speed))),
        clock: None,
        public_url: None,
        shown: Shown::Everything,
    };
    let (login, store) = (silences::login_of(None, args.silence_token_file.as_deref())?, args.store.clone());
    let posts = silences::router(&login, Arc::new(move || OutboxStore::file(&store)));
    let posts = Some(posts.merge(progress::without_kafka()));
    let config = ServerConfig { login, posts, ..ServerConfig::page(args.listen, page) };
    let page = runtime
        .block_on(dashboards::bind(config))
        .context("the page cannot be served (another address: --listen 127.0.0.1:PORT, none: --no-page)")?;
    eprintln!("the page is at {} (Ctrl-C ends the demo)", page.url());
    Ok(runtime.spawn(page.serve(ticks, async { drop(ends.await) })))
}
