//! `tailback run`: what ldmsd publishes to Kafka, through the stages, into the database.
//!
//! A row goes one way: raw topics → [`aggregating`] → `tailback.counters` → [`exactly_once`] with [`detecting`] as its
//! work → database and `tailback.partials` → [`exactly_once`] with [`rolling`] as its work → database and
//! `tailback.verdicts`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`access`] | access to routes |
//! | [`aggregating`] | the aggregator stage: decode, key by component, announce the progress |
//! | [`work`] | what a stage does with a partition, apart from where messages come from and results go |
//! | [`detecting`] | the detector's work: order, jobs, models |
//! | [`rolling`] | the roll-up's work: parts of jobs to results |
//! | [`alert_updates`] | updates of series and jobs, from all partitions to the one that judges alerts |
//! | [`verdict`] | messages for other programs |
//! | `endpoints` | which routes this process serves |
//! | [`exactly_once`] | a stage whose results, offsets and state go to the database together |
//! | `claims` | partitions that are assigned are claimed in the database |
//! | [`state_version`] | version of a stage's written state |
//! | [`partition_state`] | a held partition: restored, brought up to date, taken from |
//! | `commit_schedule` | when a stage commits |
//! | [`commit`] | messages to Kafka, then the transaction; tries until it holds |
//! | [`kafka`] | consumers and producers |
//! | [`error_log`] | errors of librdkafka: why brokers do not answer |
//! | [`generation`] | which generation of states wrote a message |
//! | [`brokers`] | adds brokers again that librdkafka removed |
//! | [`background_query`] | requests to brokers in threads of their own |
//! | [`lag`] | how far stages are behind, and the line about catching up |
//! | [`stage_metrics`] | metrics of the stages |
//! | [`rejected`] | messages and rows that are passed over |
//! | [`housekeeping`] | expected sources, locations of nodes; retention and policies of the database; learned factors |
//! | `retry` | waits for brokers and a database that do not answer yet |
//! | [`http`] | `/metrics`, `/healthz`, `/readyz` |
//! | [`clock`] | the machine's clock |
//! | [`intake`] | `/api/v1/jobs`: job events from scripts to Kafka |
//! | `socket` | the same over a Unix socket, for users of this machine |
//! | `placement` | `/api/v1/placement`: what a job on some nodes would meet |
//! | [`links`] | updates of links, from all detector partitions to the one that looks at all |
//! | [`service`] | states that the service manager gets |
//! | `topic_id`, `input_topic` | whether a topic was deleted and created again |
//! | [`topic_names`] | topics as a site names them |
//! | `topics` | Tailback's own topics, created at the start |
//! | `settings` | the configuration as stages and store take it |
//! | [`stop`] | control to stop and to reload; closing consumers in time |

pub mod access;
pub mod aggregating;
pub mod alert_updates;
pub mod background_query;
pub mod brokers;
mod claims;
pub mod clock;
pub mod commit;
mod commit_schedule;
pub mod detecting;
mod endpoints;
pub mod error_log;
pub mod exactly_once;
pub mod generation;
pub mod housekeeping;
pub mod http;
mod input_topic;
pub mod intake;
pub mod kafka;
pub mod lag;
pub mod links;
pub mod partition_state;
mod placement;
pub mod rejected;
mod retry;
pub mod rolling;
pub mod service;
mod settings;
mod socket;
pub mod stage_metrics;
pub mod state_version;
pub mod stop;
mod topic_id;
pub mod topic_names;
mod topics;
pub mod verdict;
pub mod work;

use crate::alerts::deliver_all;
use crate::config::RunConfig;
use crate::config::kafka::Role;
use crate::config::sections::Stage;
use crate::shutdown;
use anyhow::{Context, anyhow};
use brokers::Lost;
use clap::Args;
use commit::{Request, Writer};
use detecting::Detecting;
use detector::alerts::outbox::OutboxStore;
use detector::fabric::Network;
use detector::place_sums::PlaceMap;
use detector::postgres::PgStore;
use exactly_once::{ExactlyOnce, Setup};
use http::Health;
use intake::Intake;
use retry::{until_connected, until_topics_exist};
use rolling::{Rolling, RollingSettings};
pub use settings::pg_settings;
use settings::{alerts, detecting_settings, map, topology};
use stage_metrics::StageMetrics;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use stop::{Control, Restart};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use work::{OutTopic, Work};

/// Wait before a stage begins again.
const RETRY_DELAY: Duration = Duration::from_secs(1);

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
    let (control, health) = (Control::default(), Health::default());
    let aggregates = config.run.stages.contains(&Stage::Aggregator);
    let intake = if aggregates { Some(Intake::new(&config)?) } else { None };
    // Requests have threads of their own: they cannot hold up stages and watchdog.
    let serving = http::runtime()?;
    let address = serving.block_on(endpoints::serve(&config, &intake, metrics, &health, &control))?;
    tracing::info!(%address, instance = config.run.instance, "metrics and health");
    let ended = runtime.block_on(async {
        handle_signals(&control);
        tokio::spawn(service::notify(health.clone(), control.clone()));
        let Some(partitions) = until_topics_exist(&config, &control, &health, "kafka").await? else {
            return Ok(());
        };
        intake.iter().for_each(Intake::open);
        stages(&config, args.config.as_deref(), partitions, &control, &health).await
    });
    serving.shutdown_background();
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
        let expected = config.site.expected.clone();
        handle.spawn(housekeeping::store_expected(pg_settings(config), expected, control.clone()));
        let topology = config.site.topology.clone();
        handle.spawn(housekeeping::store_places(pg_settings(config), topology, control.clone()));
        handle.spawn(housekeeping::learn_factors(pg_settings(config), control.clone()));
        let (outbox, by) = (|| Ok(OutboxStore::server(pg_settings(config))), &config.run.instance);
        let stop = || {
            let control = control.clone();
            async move { control.wait().await }
        };
        deliver_all(&config.alerts, by, outbox, stop)?;
        handle.spawn(housekeeping::sums(pg_settings(config), control.clone()));
        handle.spawn(housekeeping::retention_loop(pg_settings(config), control.clone()));
    }
    let mut threads = Vec::new();
    for stage in &config.run.stages {
        let one = OneStage {
            config: config.clone(),
            file: file.map(Path::to_path_buf),
            counters,
            control: control.clone(),
            health: health.clone(),
            handle: handle.clone(),
        };
        let stage = *stage;
        let (done, ended) = oneshot::channel();
        let thread = move || drop(done.send(one.run(stage)));
        let named = std::thread::Builder::new().name(stage.name().to_string());
        named.spawn(thread).with_context(|| format!("the {} stage cannot be started", stage.name()))?;
        threads.push((stage, ended));
    }
    let mut result = Ok(());
    for (stage, ended) in threads {
        let ended = ended.await.unwrap_or_else(|_| Err(anyhow!("its thread ended without a result")));
        if let Err(error) = ended {
            result = Err(error.context(format!("the {} stage ended", stage.name())));
        }
    }
    result
}

/// What a stage's thread has.
struct OneStage {
    config: RunConfig,
    file: Option<PathBuf>,
    counters: i32,
    control: Control,
    health: Health,
    handle: Handle,
}

impl OneStage {
    /// Runs the stage, and restarts it where that helps. If it fails, everything stops.
    fn run(mut self, stage: Stage) -> anyhow::Result<()> {
        let ended = self.runs(stage);
        self.control.stop();
        ended
    }

    fn runs(&mut self, stage: Stage) -> anyhow::Result<()> {
        loop {
            match self.once(stage) {
                Err(error) if error.is::<Restart>() && !self.control.stopping() => {
                    tracing::warn!(stage = stage.name(), %error, "stage restarts");
                    std::thread::sleep(RETRY_DELAY);
                    // The reason may be a topic that is gone.
                    let exist = until_topics_exist(&self.config, &self.control, &self.health, stage.name());
                    if let Some((counters, _)) = self.handle.block_on(exist)? {
                        self.counters = counters;
                    }
                }
                ended => return ended,
            }
        }
    }

    fn once(&self, stage: Stage) -> anyhow::Result<()> {
        let metrics = StageMetrics::of(stage.name());
        let config = &self.config;
        match stage {
            Stage::Aggregator => {
                aggregating::run(config, self.counters, &self.control, &self.health, &metrics, &self.handle)
            }
            Stage::Detector => {
                let settings = detecting_settings(config);
                let reload = || {
                    let fresh = RunConfig::load(self.file.as_deref());
                    let loaded = fresh
                        .inspect_err(|error| tracing::error!(%error, "reload failed; thresholds unchanged"));
                    loaded.ok().map(|fresh| detecting_settings(&fresh))
                };
                let topic = config.kafka.counters_topic.clone();
                let map = map(config);
                self.exactly_once::<Detecting>(stage, topic, settings, Box::new(reload), map, metrics)
            }
            Stage::Rollup => {
                let topic = config.kafka.partials_topic.clone();
                let settings = RollingSettings {
                    partitions: self.counters,
                    fabric: config.fabric.clone(),
                    network: topology(config)?.map(|topology| Arc::new(Network::of(topology))),
                    alerts: Arc::default(),
                    payload_bytes_max: kafka::content_bytes_max(&config.kafka),
                };
                let settings = RollingSettings { alerts: alerts(config, &settings), ..settings };
                self.exactly_once::<Rolling>(
                    stage,
                    topic,
                    settings,
                    Box::new(|| None),
                    PlaceMap::default(),
                    metrics,
                )
            }
        }
    }

    fn exactly_once<W: Work>(
        &self,
        stage: Stage,
        topic: String,
        settings: W::Settings,
        reload: Box<dyn Fn() -> Option<W::Settings> + Send + '_>,
        map: PlaceMap,
        metrics: StageMetrics,
    ) -> anyhow::Result<()> {
        let config = &self.config;
        let database = pg_settings(config);
        let connect = || PgStore::connect(&database);
        let store = self.handle.block_on(until_connected(&self.control, &self.health, W::STAGE, connect))?;
        let Some(store) = store else { return Ok(()) };
        let topics = [
            (OutTopic::Partials, config.kafka.partials_topic.clone()),
            (OutTopic::Verdicts, config.kafka.verdicts_topic.clone()),
        ];
        let (sender, requests) = mpsc::channel::<Request>(1);
        let lost = Lost::default();
        let writer = Writer {
            store: store.with_map(map),
            producer: kafka::client(
                config,
                Role::Producer,
                &[kafka::ONE_BY_ONE, kafka::NO_AUTO_CREATION],
                lost.clone(),
            )?,
            lost,
            brokers: config.kafka.brokers.clone(),
            topics: BTreeMap::from(topics),
            stage: W::STAGE,
            owner: config.run.instance.clone(),
            control: self.control.clone(),
            metrics: metrics.clone(),
            health: self.health.clone(),
            tables: BTreeMap::new(),
        };
        self.handle.spawn(writer.run(requests));
        let (health, control) = (self.health.clone(), self.control.clone());
        let setup =
            Setup { config, stage, topic, settings, writer: sender, control, health, reload, metrics };
        ExactlyOnce::<W>::start(setup)?.run()
    }
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
