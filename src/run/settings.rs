//! The configuration as the stages and the store take it.

use crate::config::RunConfig;
use crate::config::sections::{Storage, Use};
use alerts::AlertSettings;
use alerts::receivers::Receiver;
use anyhow::Context;
use detector::fabric::Network;
use stages::detecting::DetectingSettings;
use stages::rolling::RollingSettings;
use std::path::Path;
use std::sync::Arc;
use store::place_sums::PlaceMap;
use store::postgres::{DirectColumnstore, PgRetention, PgSettings};
use store::storage_policy::StoragePolicy;
use topology::{Topology, node_places};

/// Of the detector stage.
pub(super) fn detecting_settings(config: &RunConfig) -> DetectingSettings {
    DetectingSettings {
        settings: config.settings(),
        waiting_rows_max: config.run.max_rows_in_flight,
        storage: Some(policy(config)),
        links: !config.site.topology.is_empty(),
        alerts: !config.alerts.rules.is_empty(),
    }
}

/// The configured topology, if there is one.
fn topology(config: &RunConfig) -> anyhow::Result<Option<Topology>> {
    if config.site.topology.is_empty() {
        return Ok(None);
    }
    let reading = topology::readers::read(&config.site.topology).context("site.topology cannot be read")?;
    Ok(Some(reading.topology))
}

/// Where series are, for sums: of names alone where this machine cannot read the topology, which a detector needs for nothing else.
pub(super) fn map(config: &RunConfig) -> PlaceMap {
    match topology(config) {
        Ok(topology) => topology.map_or_else(PlaceMap::default, |topology| PlaceMap::of(&topology)),
        Err(error) => {
            tracing::error!(%error, "topology cannot be read; sums of link classes and of some groups are omitted");
            PlaceMap::default()
        }
    }
}

/// Of the roll-up stage, with so many partitions of `tailback.counters`.
pub(super) fn rolling_settings(config: &RunConfig, partitions: i32) -> anyhow::Result<RollingSettings> {
    let network = topology(config)?.map(|topology| Arc::new(Network::of(topology)));
    let alerts = alerts(config, network.as_deref());
    Ok(RollingSettings { partitions, fabric: config.fabric.clone(), network, alerts })
}

/// Rules, routes of notices, and locations of nodes.
fn alerts(config: &RunConfig, network: Option<&Network>) -> Arc<AlertSettings> {
    let places = network.map(|network| node_places(&network.topology));
    let routes = config.alerts.receivers.iter().map(Receiver::route).collect();
    Arc::new(AlertSettings::new(config.alerts.rules.clone(), routes, &places.unwrap_or_default()))
}

fn policy(config: &RunConfig) -> StoragePolicy {
    match config.database.storage {
        Storage::All => StoragePolicy::All,
        Storage::Changes => StoragePolicy::Changes,
    }
}

/// The database's settings as the store takes them.
pub fn pg_settings(config: &RunConfig) -> PgSettings {
    let database = &config.database;
    let days = |days: u32| (days > 0).then_some(f64::from(days));
    let named = |file: &Path| (!file.as_os_str().is_empty()).then(|| file.to_path_buf());
    PgSettings {
        password_file: named(&database.password_file),
        tls_ca_file: named(&database.tls_ca_file),
        storage: policy(config),
        direct_columnstore: match database.direct_columnstore {
            Use::Auto => DirectColumnstore::Auto,
            Use::On => DirectColumnstore::On,
            Use::Off => DirectColumnstore::Off,
        },
        synchronous_commit: database.synchronous_commit,
        retention: PgRetention {
            raw_days: days(database.raw_days),
            ten_seconds_days: days(database.ten_second_days),
            minutes_days: days(database.minute_days),
            hours_days: None,
        },
        episodes_days: days(database.episode_days),
        connect_timeout_s: database.connect_timeout_s as f64,
        ..PgSettings::at(database.url.reveal())
    }
}
