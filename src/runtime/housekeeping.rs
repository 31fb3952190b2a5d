//! Regular work in the database, in the process that runs the roll-up stage.

use super::clock;
use super::stop::Control;
use configuration::RunConfig;
use schemas::site::Expected;
use std::path::PathBuf;
use std::time::Duration;
use store::postgres::{
    Housekept, PgSettings, housekeep, learn, put_expected, put_links, put_metrics, put_places, roll_up,
};
use topology::{link_places, node_places};

/// Time between two rounds of retention, and before the first.
const ROUND: Duration = Duration::from_secs(3_600);

/// Time between two updates of learned factors.
const LEARN: Duration = Duration::from_secs(300);

/// Time between two rounds of sums for dashboards.
const SUMS: Duration = Duration::from_secs(60);

/// Time between two tries to store expected sources or locations.
const RETRY_DELAY: Duration = Duration::from_secs(10);

/// Begins all of it, in tasks that end when the process stops.
pub fn begin(config: &RunConfig, control: &Control) {
    let settings = || config.database.pg_settings();
    tokio::spawn(store_expected(settings(), config.site.expected.clone(), control.clone()));
    tokio::spawn(store_places(settings(), config.site.topology.clone(), control.clone()));
    tokio::spawn(learn_factors(settings(), control.clone()));
    tokio::spawn(sums(settings(), control.clone()));
    tokio::spawn(retention_loop(settings(), control.clone()));
}

/// Stores the metrics and the expected sources in the database.
async fn store_expected(settings: PgSettings, expected: Vec<Expected>, control: Control) {
    let store = async || {
        put_metrics(&settings).await?;
        put_expected(&settings, &expected).await
    };
    while let Err(error) = store().await {
        tracing::warn!(%error, "failed to store metrics and expected sources; retrying");
        if !waited(RETRY_DELAY, &control).await {
            return;
        }
    }
}

/// Stores the locations of nodes and links in the database. Without topology files existing ones are kept.
async fn store_places(settings: PgSettings, topology: Vec<PathBuf>, control: Control) {
    if topology.is_empty() {
        return;
    }
    let reading = tokio::task::spawn_blocking(move || {
        let reading = topology::readers::read(&topology);
        reading.map(|reading| (node_places(&reading.topology), link_places(&reading.topology)))
    });
    let (places, links) = match reading.await {
        Ok(Ok(places)) => places,
        Ok(Err(error)) => {
            return tracing::error!(%error, "[site] topology cannot be read; locations of nodes are not stored");
        }
        Err(error) => return tracing::error!(%error, "reader of [site] topology panicked"),
    };
    let store = async || {
        put_places(&settings, &places).await?;
        put_links(&settings, &links).await
    };
    while let Err(error) = store().await {
        tracing::warn!(%error, "failed to store locations of nodes and links; retrying");
        if !waited(RETRY_DELAY, &control).await {
            return;
        }
    }
}

/// Waits; false when the process stops.
async fn waited(delay: Duration, control: &Control) -> bool {
    tokio::select! {
        () = tokio::time::sleep(delay) => true,
        () = control.wait() => false,
    }
}

/// Learns from finished runs and stores the factors of jobs, until the process stops.
async fn learn_factors(settings: PgSettings, control: Control) {
    while waited(LEARN, &control).await {
        match learn(&settings).await {
            Ok((betas, jobs)) => tracing::info!(betas, jobs, "factors of jobs updated"),
            Err(error) => tracing::warn!(%error, "failed to update factors of jobs; retrying in 5 min"),
        }
    }
}

/// Sums up what dashboards show, until the process stops.
async fn sums(settings: PgSettings, control: Control) {
    while waited(SUMS, &control).await {
        if let Err(error) = roll_up(&settings).await {
            tracing::warn!(%error, "failed to update sums for dashboards; retrying in 1 min");
        }
    }
}

/// Applies retention until the process stops. A round that fails is logged and retried an hour later.
async fn retention_loop(settings: PgSettings, control: Control) {
    while waited(ROUND, &control).await {
        match housekeep(&settings, clock::now()).await {
            Ok(done) => log_policies(&done),
            Err(error) => tracing::warn!(%error, "database retention failed; retrying in 1 h"),
        }
    }
}

fn log_policies(done: &Housekept) {
    if !done.policies_run.is_empty() {
        let policies = done.policies_run.join(", ");
        tracing::warn!(policies, "TimescaleDB's scheduler failed to run policies; this process ran them");
    }
    for (policy, error) in &done.policies_failed {
        tracing::error!(policy, error, "TimescaleDB policy failed; run `tailback doctor`");
    }
}
