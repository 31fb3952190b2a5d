//! `tailback run`: what ldmsd publishes to Kafka, through the stages, into the database.
//!
//! A row passes the stages that `stages::STAGES` lists: raw topics → aggregator → `tailback.counters` → detector →
//! `tailback.partials` → roll-up → `tailback.verdicts`. The detector and the roll-up write to the database.
//! The crate `stages` holds what a stage does, and the runner of one process. [`exactly_once`] is the runner with Kafka.
//!
//! | module | what it holds |
//! |---|---|
//! | [`aggregating`] | the aggregator stage: decode, key by component, announce the progress |
//! | `stages` | the stages in one literal, and the thread of each |
//! | `endpoints` | what this process answers over HTTP |
//! | [`silences`] | silences that people set and end on the page |
//! | [`exactly_once`] | a stage whose results, offsets and state go to the database together |
//! | `claims` | partitions that are assigned are claimed in the database |
//! | [`partition_state`] | a held partition: restored, brought up to date, taken from |
//! | `commit_schedule` | when a stage commits |
//! | [`commit`] | messages to Kafka, then the transaction; tries until it holds |
//! | [`kafka`] | consumers and producers |
//! | [`producer`] | producers, each with a thread that takes its events |
//! | [`generation`] | which generation of states wrote a message |
//! | [`message_code`] | codes of messages: forged ones are refused |
//! | [`brokers`] | adds brokers again that librdkafka removed |
//! | [`background_query`] | requests to brokers in threads of their own |
//! | [`outage`] | the line of each minute of what fails; errors of Kafka's clients in the log |
//! | [`backlog`] | messages that each stage has not read yet, for the database |
//! | [`lag`] | how far stages are behind, and the line about catching up |
//! | [`stage_error`] | why a stage ended, and what follows |
//! | [`stage_metrics`] | metrics of the stages |
//! | [`rejected`] | messages and rows that are passed over |
//! | [`housekeeping`] | expected sources, locations of nodes; retention and policies of the database; learned factors |
//! | `retry` | waits for brokers and a database that do not answer yet |
//! | [`http`] | the health of the stages, and the threads that answer requests |
//! | [`clock`] | the machine's clock |
//! | [`intake`] | what is posted and written to Kafka: job events from scripts, and the progress of jobs |
//! | `socket` | the same over a Unix socket, for users of this machine |
//! | [`service`] | states that the service manager gets |
//! | `topic_id`, `input_topic` | whether a topic was deleted and created again |
//! | `topics` | Tailback's own topics, created at the start |
//! | `settings` | the configuration as stages and store take it |
//! | [`stop`] | control to stop and to reload; closing consumers in time |

pub mod aggregating;
pub mod background_query;
pub mod backlog;
pub mod brokers;
mod claims;
pub mod clock;
pub mod commit;
mod commit_schedule;
mod endpoints;
pub mod exactly_once;
pub mod generation;
pub mod housekeeping;
pub mod http;
mod input_topic;
pub mod intake;
pub mod kafka;
pub mod lag;
mod limits;
pub mod message_code;
pub mod outage;
pub mod partition_state;
pub mod producer;
pub mod rejected;
mod retry;
pub mod service;
mod settings;
pub mod silences;
mod socket;
pub mod stage_error;
pub mod stage_metrics;
mod stages;
pub mod stop;
pub mod topic_id;
pub mod topics;

use self::stages::{OneStage, STAGES};
use crate::shutdown;
use alerts::receivers::{Working, beat_all, deliver_all};
use anyhow::{Context, anyhow};
use clap::Args;
use configuration::RunConfig;
use configuration::kafka::observe_tokens;
use configuration::stage::Stage;
use http::Health;
use intake::Intake;
use retry::until_topics_exist;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stop::{Control, close_consumer};
use store::outbox::OutboxStore;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Wait for the last blocking calls and the producer of what was posted, once all stages have stopped: a broker may not answer.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Which configuration.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Configuration (TOML); `tailback config` prints the defaults
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Runs the configured stages until SIGTERM or Ctrl-C.
///
/// # Errors
/// An invalid configuration, a database that needs `tailback migrate`, a stage that failed.
pub fn run(args: &RunArgs) -> anyhow::Result<()> {
    let config = RunConfig::load(args.config.as_deref())?;
    crate::log::install(&config.log);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if config.run.threads > 0 {
        runtime.worker_threads(config.run.threads);
    }
    let runtime = runtime.enable_all().build().context("the runtime cannot be started")?;
    let metrics = stage_metrics::install().context("metrics cannot be installed")?;
    observe_tokens(outage::token_requested);
    stage_metrics::limits(&config.health);
    limits::set(&config.limits);
    let (control, health) = (Control::default(), Health::new(&config.health));
    let intake = Intake::new(&config)?;
    // Requests have threads of their own: they cannot hold up stages and watchdog.
    let serving = http::runtime()?;
    let address = serving.block_on(endpoints::serve(&config, &intake, metrics, &health, &control))?;
    tracing::info!(%address, instance = config.run.instance, "metrics and health");
    let ended = runtime.block_on(async {
        handle_signals(&control);
        tokio::spawn(service::notify(health.clone(), control.clone()));
        tokio::spawn(outage::watch(control.clone()));
        let Some(partitions) = until_topics_exist(&config, &control, &health, "kafka").await? else {
            return Ok(());
        };
        intake.open();
        stages(&config, args.config.as_deref(), partitions, &control, &health).await
    });
    serving.shutdown_background();
    close_consumer(Instant::now() + EXIT_TIMEOUT, move || drop((runtime, intake)));
    ended
}

/// Starts every stage in its own thread and waits for all of them; if one fails, all stop.
async fn stages(
    config: &RunConfig,
    file: Option<&Path>,
    (counters, _): (i32, i32),
    control: &Control,
    health: &Health,
) -> anyhow::Result<()> {
    let handle = Handle::current();
    if config.run.stages.contains(&Stage::Rollup) {
        housekeeping::begin(config, control);
        deliver_notices(config, counters, control)?;
    }
    let mut threads = Vec::new();
    for spec in STAGES.iter().filter(|spec| config.run.stages.contains(&spec.name)) {
        let one = OneStage {
            config: config.clone(),
            file: file.map(Path::to_path_buf),
            counters,
            control: control.clone(),
            health: health.clone(),
            handle: handle.clone(),
        };
        let (done, ended) = oneshot::channel();
        let thread = move || drop(done.send(one.run(spec)));
        let named = std::thread::Builder::new().name(spec.name.name().to_string());
        named.spawn(thread).with_context(|| format!("the {} stage cannot be started", spec.name.name()))?;
        threads.push((spec.name, ended));
    }
    let mut result = Ok(());
    for (stage, ended) in threads {
        let ended = ended.await.map_err(|_| anyhow!("its thread ended without a result"));
        if let Err(error) = ended.and_then(|ended| Ok(ended?)) {
            result = Err(error.context(format!("the {} stage ended", stage.name())));
        }
    }
    result
}

/// Commits that may be missed before there is no heartbeat, where these are far apart.
const HEARTBEAT_MISSED: f64 = 3.0;

fn deliver_notices(config: &RunConfig, counters: i32, control: &Control) -> anyhow::Result<()> {
    let (outbox, by) = (|| Ok(OutboxStore::server(config.database.pg_settings())), &config.run.instance);
    let stop = || {
        let control = control.clone();
        async move { control.wait().await }
    };
    let wall = Arc::new(|| clock::now().seconds());
    deliver_all(&config.alerts.delivery(by, wall.clone()), outbox, stop)?;
    let committed_s = config.database.commit_interval_ms as f64 / 1e3;
    let working = Working {
        partitions: usize::try_from(counters).unwrap_or_default(),
        within_s: config.health.stalled_s.max(HEARTBEAT_MISSED * committed_s),
        has_rules: !config.alerts.rules.is_empty(),
    };
    Ok(beat_all(&config.alerts.heartbeats(&config.kafka.group, working, wall), outbox, stop)?)
}

/// SIGTERM and Ctrl-C stop, SIGHUP reads thresholds again.
fn handle_signals(control: &Control) {
    let stop = control.clone();
    tokio::spawn(async move {
        shutdown::requested().await;
        tracing::info!("stopping");
        stop.stop();
    });
    let reload = control.clone();
    tokio::spawn(shutdown::on_reload(move || reload.reload()));
}
