//! Regular work in the database, in the process that runs the roll-up stage.

use super::stop::Control;
use super::{backlog, clock};
use configuration::RunConfig;
use schemas::HealthLimits;
use schemas::site::Expected;
use std::path::PathBuf;
use std::time::Duration;
use store::outage::{DATABASE, Outage};
use store::postgres::{
    Housekept, PgError, PgSettings, housekeep, learn, put_expected, put_health_limits, put_links,
    put_metrics, put_places, roll_up,
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

/// Time after which regular work that failed is tried again, where its rounds are further apart.
const RETRY_ROUND: Duration = Duration::from_secs(60);

static EXPECTED: Outage = Outage::new("storing of metrics, limits and expected sources");
static PLACES: Outage = Outage::new("storing of locations of nodes and links");
static FACTORS: Outage = Outage::new("update of factors of jobs");
static DASHBOARD_SUMS: Outage = Outage::new("update of sums for dashboards");
static RETENTION: Outage = Outage::new("database retention");

/// What fails here for another reason than the connection to the database.
pub static OUTAGES: [&Outage; 7] =
    [&EXPECTED, &PLACES, &FACTORS, &DASHBOARD_SUMS, &RETENTION, &backlog::STORING, &backlog::MEASURING];

/// Begins all of it, in tasks that end when the process stops.
pub fn begin(config: &RunConfig, control: &Control) {
    let settings = || config.database.pg_settings();
    let limits = config.health.clone();
    tokio::spawn(store_expected(settings(), config.site.expected.clone(), limits, control.clone()));
    tokio::spawn(store_places(settings(), config.site.topology.clone(), control.clone()));
    tokio::spawn(backlog::measure_and_store(config.clone(), control.clone()));
    tokio::spawn(learn_factors(settings(), control.clone()));
    tokio::spawn(sums(settings(), control.clone()));
    tokio::spawn(retention_loop(settings(), control.clone()));
}

/// What came of a piece of work, for the log; `None` if it failed. A database that is away is one outage for all of them.
pub(super) fn noted<T>(outage: &Outage, done: Result<T, PgError>) -> Option<T> {
    match done {
        Ok(done) => {
            outage.works();
            DATABASE.works();
            Some(done)
        }
        Err(error) => {
            let of = if error.is_retryable() { &DATABASE } else { outage };
            of.failed(&error.to_string());
            None
        }
    }
}

/// Stores the metrics, the limits of the own condition and the expected sources in the database.
async fn store_expected(
    settings: PgSettings,
    expected: Vec<Expected>,
    limits: HealthLimits,
    control: Control,
) {
    let store = async || {
        put_metrics(&settings).await?;
        put_health_limits(&settings, &limits).await?;
        put_expected(&settings, &expected).await
    };
    while noted(&EXPECTED, store().await).is_none() && control.waited(RETRY_DELAY).await {}
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
    while noted(&PLACES, store().await).is_none() && control.waited(RETRY_DELAY).await {}
}

/// Learns from finished runs and stores the factors of jobs, until the process stops.
async fn learn_factors(settings: PgSettings, control: Control) {
    let mut wait = LEARN;
    while control.waited(wait).await {
        let learnt = noted(&FACTORS, learn(&settings).await);
        wait = if learnt.is_some() { LEARN } else { RETRY_ROUND };
        if let Some((betas, jobs)) = learnt {
            tracing::info!(betas, jobs, "factors of jobs updated");
        }
    }
}

/// Sums up what dashboards show, until the process stops.
async fn sums(settings: PgSettings, control: Control) {
    while control.waited(SUMS).await {
        noted(&DASHBOARD_SUMS, roll_up(&settings).await);
    }
}

/// Applies retention until the process stops.
async fn retention_loop(settings: PgSettings, control: Control) {
    let mut wait = ROUND;
    while control.waited(wait).await {
        let done = noted(&RETENTION, housekeep(&settings, clock::now()).await);
        wait = if done.is_some() { ROUND } else { RETRY_ROUND };
        if let Some(done) = done {
            log_policies(&done);
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
