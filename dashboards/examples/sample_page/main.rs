//! Serves the page over a made-up store, for looking at it and for the browser test:
//! `cargo run --release -p dashboards --example sample_page -- [--listen 127.0.0.1:8600] [--routers 32] [--empty]`.
//! `--empty` never writes anything, to see what the page says while it waits.

mod cluster;
mod fabric;
mod writer;

use cluster::Cluster;
use dashboards::router::Shown;
use dashboards::{Page, Progress, ServerConfig, bind};
use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use writer::SampleStore;

struct Options {
    listen: SocketAddr,
    routers: usize,
    empty: bool,
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut options = Options { listen: SocketAddr::from(([127, 0, 0, 1], 8600)), routers: 32, empty: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--listen" => options.listen = words.next().ok_or("--listen wants an address")?.parse()?,
            "--routers" => options.routers = words.next().ok_or("--routers wants a number")?.parse()?,
            "--empty" => options.empty = true,
            _ => return Err(format!("unknown option {word}").into()),
        }
    }
    Ok(options)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("sample.db");
    let page = Page {
        store: path.clone().into(),
        run_note: Some("sample data".to_string()),
        public_url: None,
        clock: None,
        shown: Shown::Everything,
    };
    let page = bind(ServerConfig::page(options.listen, page)).await?;
    let (progress, ticks) = watch::channel(Progress::default());
    if !options.empty {
        let start = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as f64;
        let store = SampleStore::create(&path, Cluster::new(options.routers, start))?;
        tokio::spawn(keep_ticking(store, start, progress.clone()));
    }
    writeln!(std::io::stdout(), "page at {}", page.url())?;
    let stop = async {
        // Without a handler for Ctrl-C the process simply ends.
        let _ = tokio::signal::ctrl_c().await;
    };
    page.serve(ticks, stop).await;
    Ok(())
}

/// One tick of the sample cluster per second of wall clock, until the page stops.
async fn keep_ticking(mut store: SampleStore, start: f64, progress: watch::Sender<Progress>) {
    let mut clock = tokio::time::interval(Duration::from_secs(1));
    let mut tick = 0u64;
    loop {
        clock.tick().await;
        let now = start + tick as f64;
        if let Err(why) = store.write_tick(now) {
            eprintln!("sample store: {why}");
            return;
        }
        let rows_per_s = store.rows_per_tick() as f64;
        progress.send_replace(Progress {
            event_time: Some(schemas::Time::from_seconds(now)),
            rows: (900 + tick) * rows_per_s as u64,
            rows_per_s: rows_per_s + (tick % 7) as f64,
            lag_s: 0.2 + 0.05 * (tick % 5) as f64,
            speed: 1.0,
            finished: false,
        });
        tick += 1;
    }
}
