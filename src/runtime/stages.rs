//! The stages of `tailback run`, and what each runs in its thread.

use super::commit::{Request, Writer};
use super::exactly_once::{ExactlyOnce, Setup};
use super::http::Health;
use super::message_code::MessageKeys;
use super::producer::{Awaited, Polled};
use super::retry::{until_connected, until_topics_exist};
use super::settings::{detecting_settings, map, rolling_settings};
use super::stage_error::{StageError, StageResult};
use super::stage_metrics::StageMetrics;
use super::stop::Control;
use super::{aggregating, kafka, outage};
use configuration::RunConfig;
use configuration::kafka::Role;
use configuration::stage::Stage as StageName;
use stages::detecting::Detecting;
use stages::messages::OutTopic;
use stages::rolling::Rolling;
use stages::stage::Stage;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use store::place_sums::PlaceMap;
use store::postgres::PgStore;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// The stages, in the order in which rows pass them.
pub(super) const STAGES: [StageSpec; 3] = [
    // Raw topics to `tailback.counters`.
    StageSpec { name: StageName::Aggregator, run: OneStage::aggregator },
    // `tailback.counters` to the database, `tailback.partials` and `tailback.verdicts`.
    StageSpec { name: StageName::Detector, run: OneStage::detector },
    // `tailback.partials` to the database, `tailback.partials` and `tailback.verdicts`.
    StageSpec { name: StageName::Rollup, run: OneStage::roll_up },
];

/// A stage of `tailback run`.
pub(super) struct StageSpec {
    /// Its name.
    pub name: StageName,
    /// Runs it until a stop is requested, or it has to restart.
    run: fn(&OneStage) -> StageResult,
}

/// Wait before a stage restarts.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// What a stage's thread has.
pub(super) struct OneStage {
    pub config: RunConfig,
    pub file: Option<PathBuf>,
    pub counters: i32,
    pub control: Control,
    pub health: Health,
    pub handle: Handle,
}

impl OneStage {
    /// Runs the stage, and restarts it where that helps. If it fails, everything stops.
    pub(super) fn run(mut self, spec: &StageSpec) -> StageResult {
        let ended = self.runs(spec);
        self.control.stop();
        ended
    }

    fn runs(&mut self, spec: &StageSpec) -> StageResult {
        let stage = spec.name.name();
        loop {
            match (spec.run)(self) {
                Err(StageError::Restart(reason)) if self.control.stopping() => {
                    tracing::warn!(
                        stage,
                        reason,
                        "stage stopped without its last commit; its next start continues from the one before"
                    );
                    return Ok(());
                }
                Err(error @ StageError::Restart(_)) => {
                    match outage::is_line_due(&format!("{stage} restarts")) {
                        true => tracing::warn!(stage, %error, "stage restarts"),
                        false => tracing::debug!(stage, %error, "stage restarts again"),
                    }
                    std::thread::sleep(RETRY_DELAY);
                    // The reason may be a topic that is gone.
                    let exist = until_topics_exist(&self.config, &self.control, &self.health, stage);
                    if let Some((counters, _)) = self.handle.block_on(exist)? {
                        self.counters = counters;
                    }
                }
                ended => return ended,
            }
        }
    }

    fn aggregator(&self) -> StageResult {
        let metrics = StageMetrics::of(StageName::Aggregator.name());
        aggregating::run(&self.config, self.counters, &self.control, &self.health, &metrics, &self.handle)
    }

    fn detector(&self) -> StageResult {
        let config = &self.config;
        let reload = || {
            let fresh = RunConfig::load(self.file.as_deref());
            let loaded =
                fresh.inspect_err(|error| tracing::error!(%error, "reload failed; thresholds unchanged"));
            loaded.ok().map(|fresh| detecting_settings(&fresh))
        };
        let (topic, settings) = (config.kafka.counters_topic.clone(), detecting_settings(config));
        self.exactly_once::<Detecting>(StageName::Detector, topic, settings, Box::new(reload), map(config))
    }

    fn roll_up(&self) -> StageResult {
        let settings = rolling_settings(&self.config, self.counters).map_err(StageError::Configuration)?;
        let (topic, map) = (self.config.kafka.partials_topic.clone(), PlaceMap::default());
        self.exactly_once::<Rolling>(StageName::Rollup, topic, settings, Box::new(|| None), map)
    }

    fn exactly_once<S: Stage>(
        &self,
        stage: StageName,
        topic: String,
        settings: S::Settings,
        reload: Box<dyn Fn() -> Option<S::Settings> + Send + '_>,
        map: PlaceMap,
    ) -> StageResult {
        let (config, metrics) = (&self.config, StageMetrics::of(stage.name()));
        let database = config.database.pg_settings();
        let connect = || PgStore::connect(&database);
        let store = self.handle.block_on(until_connected(&self.control, &self.health, S::STAGE, connect))?;
        let Some(store) = store else { return Ok(()) };
        let topics = [
            (OutTopic::Partials, config.kafka.partials_topic.clone()),
            (OutTopic::Verdicts, config.kafka.verdicts_topic.clone()),
        ];
        let (sender, requests) = mpsc::channel::<Request>(1);
        let own = [kafka::ONE_BY_ONE, kafka::NO_AUTO_CREATION];
        let producer = config.kafka.client(Role::Producer, &own, Awaited::default())?;
        let writer = Writer {
            store: store.with_map(map),
            producer: Polled::new(producer)?,
            keys: MessageKeys::of(&config.kafka),
            brokers: config.kafka.brokers.clone(),
            topics: BTreeMap::from(topics),
            stage: S::STAGE,
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
        ExactlyOnce::<S>::start(setup)?.run()
    }
}
