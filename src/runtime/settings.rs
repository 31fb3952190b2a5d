//! The configuration as the stages and the store take it.

use aggregator::NodeNaming;
use alerts::AlertSettings;
use alerts::receivers::Receiver;
use anyhow::Context;
use configuration::RunConfig;
use detector::fabric::Network;
use stages::detecting::DetectingSettings;
use stages::rolling::RollingSettings;
use std::sync::Arc;
use store::place_sums::PlaceMap;
use topology::{Topology, node_places};

/// Of the detector stage.
pub(super) fn detecting_settings(config: &RunConfig) -> DetectingSettings {
    DetectingSettings {
        settings: config.settings(),
        waiting_rows_max: config.run.max_rows_in_flight,
        storage: Some(config.database.storage_policy()),
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
    let jobs_kept_s = config.settings().jobs_kept_s();
    Ok(RollingSettings { partitions, fabric: config.fabric.clone(), network, alerts, jobs_kept_s })
}

/// Names of nodes by their numbers, for rows without a producer: by the hosts of the site file and the topology.
pub(super) fn naming(config: &RunConfig) -> NodeNaming {
    let places = match topology(config) {
        Ok(topology) => topology.as_ref().map(node_places).unwrap_or_default(),
        Err(error) => {
            tracing::warn!(%error, "[site] topology cannot be read; nodes are named by the site file alone");
            Vec::new()
        }
    };
    let hosts = config.site.expected.iter().map(|expected| &expected.producer);
    NodeNaming::default().corrected_by_hosts(hosts.chain(places.iter().map(|place| &place.node)))
}

/// Rules, routes of notices, and locations of nodes.
fn alerts(config: &RunConfig, network: Option<&Network>) -> Arc<AlertSettings> {
    let places = network.map(|network| node_places(&network.topology));
    let routes = config.alerts.receivers.iter().filter_map(Receiver::route).collect();
    let settings = AlertSettings::new(config.alerts.rules.clone(), routes, &places.unwrap_or_default());
    Arc::new(AlertSettings { jobs_kept_s: config.settings().jobs_kept_s(), ..settings })
}
