//! `/api/v1/fabric`: the network by group, switch and class of links, parallel links, and contended regions.

use crate::answer::{Answer, ApiError, Between, Checked, checked_between, checked_search};
use crate::readings::Readings;
use crate::regions::{Region, region_row};
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use schemas::Metric;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use store::read::{self, Reader, Row};

/// Maximum of switches listed; the most contended come first.
const SWITCHES_MAX: i64 = 200;
/// Maximum of groups of parallel links, as in Grafana's panel; those with most contended links come first.
const BUNDLES_MAX: i64 = 50;
/// Range in seconds of the contended share of a class, equal to the step of Grafana's panel.
const SHARE_S: f64 = 60.0;
/// The same for many links: a minute of their signals takes seconds to read. Databases have sums.
const SHARE_OF_MANY_S: f64 = 10.0;
/// Number of links above which the shorter range is used; a minute of ten thousand series took half a second.
const MANY_LINKS: i64 = 20_000;
/// Maximum of links listed by loss.
const WORST_MAX: i64 = 20;
/// Range in seconds of their losses where none is requested.
const WORST_OVER_S: f64 = 3600.0;
/// Maximum of regions listed; open ones come first.
const REGIONS_MAX: i64 = 100;

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FabricQuery {
    /// Group whose switches are listed; empty for switches of unknown group.
    group: Option<String>,
    /// Only regions that end at this time or later, and losses from then on, in seconds since the epoch.
    from: Option<f64>,
    /// Only regions that start at this time or before, and losses until then.
    to: Option<f64>,
}

/// Series of one metric in a group, router, switch or host.
#[derive(Clone, Debug, Serialize)]
pub struct Place {
    /// A group, or a router, switch or host; `null` if the group is unknown.
    name: Option<String>,
    metric: String,
    series: i64,
    /// With a signal within the last 5 s.
    reporting: i64,
    contended: i64,
    /// The contended series with the largest ratio of mean to bound.
    worst_series: Option<String>,
}

/// Links of one class and metric, from the topology.
#[derive(Clone, Debug, Serialize)]
pub struct LinkClass {
    /// `green`, `black`, `blue`, `host`, `leaf`, `spine`, `local`, `global` or `other`.
    class: String,
    metric: String,
    /// Links in the topology, with or without data.
    links: i64,
    /// With a signal within the last 5 s.
    reporting: i64,
    contended: i64,
    /// Share of the ticks of the latest `share_over_s` that were contended, 0 to 1; `null` without a tick.
    contended_share: Option<f64>,
    /// The contended series with the largest ratio of mean to bound.
    worst_series: Option<String>,
}

/// Parallel links between which routing may choose.
#[derive(Clone, Debug, Serialize)]
pub struct Bundle {
    /// Name, such as `group 4 to group 7`.
    bundle: String,
    class: String,
    /// Unit of the ratios.
    unit: Option<&'static str>,
    /// Links with a signal within the last 5 s, after their warm-up.
    links: i64,
    /// Links in the topology.
    links_known: i64,
    contended_links: i64,
    /// The largest windowed ratio; `null` without traffic.
    worst_ratio: Option<f64>,
    /// The mean of the windowed ratios.
    mean_ratio: Option<f64>,
    /// The worst ratio over the mean ratio, at least 1; `null` without traffic.
    imbalance: Option<f64>,
    worst_series: Option<String>,
}

/// A link with a recent loss.
#[derive(Debug, Serialize)]
pub struct WorstLink {
    series: String,
    metric: String,
    /// Unit of `peak`.
    unit: Option<&'static str>,
    /// Current state: a link without data is `unknown`.
    state: String,
    /// `null` without a topology, like the two ends.
    class: Option<String>,
    from_name: Option<String>,
    to_name: Option<String>,
    /// Within the latest `worst_over_s`, with the ends of its 95 % interval.
    lost_s: f64,
    lost_lo_s: f64,
    lost_hi_s: f64,
    contended_s: f64,
    episodes: i64,
    /// The worst windowed ratio.
    peak: f64,
}

/// Groups, switches and links now; of a large store they may be ten seconds old.
#[derive(Clone, Debug, Serialize)]
pub struct FabricNow {
    /// The group whose switches are listed; `None` for those of all.
    #[serde(skip)]
    group: Option<String>,
    groups: Vec<Place>,
    switches: Vec<Place>,
    /// Number of links in the topology; 0 without a topology: then classes and parallel links are unknown.
    links_known: i64,
    /// Number of these links that have parallel ones.
    parallel_known: i64,
    /// Range in seconds of the contended shares of the classes: 60, or 10 above 20,000 links.
    share_over_s: f64,
    classes: Vec<LinkClass>,
    bundles: Vec<Bundle>,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct Fabric {
    clock: Option<f64>,
    #[serde(flatten)]
    now: FabricNow,
    /// Range in seconds of event time of the losses in `worst`; an hour where none is requested.
    worst_over_s: f64,
    /// The links with the largest loss, worst first.
    worst: Vec<WorstLink>,
    regions: Vec<Region>,
}

/// Answers `/api/v1/fabric`.
///
/// # Errors
/// 400 for bad parameters, 503 before there is a store.
pub async fn fabric(State(state): State<PageState>, Checked(query): Checked<FabricQuery>) -> Answer<Fabric> {
    checked_search(query.group.as_deref())?;
    let between = checked_between(query.from, query.to)?;
    let (readings, group) = (Arc::clone(&state.readings), query.group);
    if readings.fabric.is_due(|kept| kept.group == group) {
        let group = group.clone();
        readings.read_ahead(&state.reader, move |readings, store| {
            readings.fabric.read(|kept| kept.group == group, || FabricNow::read(store, &group)).map(drop)
        });
    }
    state.reader.read(move |store| read_fabric(store, &readings, &group, between)).await.map(Json)
}

fn read_fabric(
    store: &Reader<'_>,
    readings: &Readings,
    group: &Option<String>,
    [from, to]: Between,
) -> Result<Fabric, ApiError> {
    let clock = store.clock()?;
    let until = to.or(clock).unwrap_or_default();
    let since = from.unwrap_or(until - WORST_OVER_S).min(until);
    Ok(Fabric {
        clock,
        now: readings.fabric.at_hand_or(|kept| kept.group == *group, || FabricNow::read(store, group))?,
        worst_over_s: until - since,
        worst: store.rows(read::fabric::WORST, &[&since, &until, &WORST_MAX], worst_row)?,
        regions: store.rows(read::regions::LIST, &[&from, &to, &REGIONS_MAX], region_row)?,
    })
}

impl FabricNow {
    fn read(store: &Reader<'_>, group: &Option<String>) -> Result<FabricNow, ApiError> {
        let (links_known, parallel_known): (i64, i64) =
            store.one(read::fabric::KNOWN_LINKS, &[], |row| Ok::<_, ApiError>((row.get(0)?, row.get(1)?)))?;
        let share_over_s = match store {
            Reader::Sqlite(_) if links_known > MANY_LINKS => SHARE_OF_MANY_S,
            _ => SHARE_S,
        };
        let (groups, switches) = read_places(store, group.as_deref())?;
        let (classes, bundles) = read_links(store, share_over_s)?;
        let group = group.clone();
        Ok(FabricNow { group, groups, switches, links_known, parallel_known, share_over_s, classes, bundles })
    }
}

/// Groups and switches.
fn read_places(store: &Reader<'_>, group: Option<&str>) -> Result<(Vec<Place>, Vec<Place>), ApiError> {
    let (mut groups, mut switches) = (Vec::new(), Vec::new());
    store.rows(read::fabric::LINKS_BY_PLACE, &[&group, &SWITCHES_MAX], |row| {
        let is_group = row.get::<String>(0)? == "group";
        let list = if is_group { &mut groups } else { &mut switches };
        list.push(Place {
            name: row.get(1)?,
            metric: row.get(2)?,
            series: row.get(3)?,
            reporting: row.get(4)?,
            contended: row.get(5)?,
            worst_series: row.get(6)?,
        });
        Ok::<_, ApiError>(())
    })?;
    Ok((groups, switches))
}

/// Classes of links and parallel links.
fn read_links(store: &Reader<'_>, share_over_s: f64) -> Result<(Vec<LinkClass>, Vec<Bundle>), ApiError> {
    let (mut classes, mut bundles) = (Vec::new(), Vec::new());
    store.rows(read::fabric::LINKS_BY_CLASS, &[&share_over_s, &BUNDLES_MAX], |row| {
        match row.get::<String>(0)? == "class" {
            true => classes.push(class_row(row)?),
            false => bundles.push(bundle_row(row)?),
        }
        Ok::<_, ApiError>(())
    })?;
    Ok((classes, bundles))
}

fn class_row(row: &Row<'_>) -> Result<LinkClass, ApiError> {
    Ok(LinkClass {
        class: row.get(1)?,
        metric: row.get(2)?,
        links: row.get(4)?,
        reporting: row.get(5)?,
        contended: row.get(6)?,
        contended_share: row.get(10)?,
        worst_series: row.get(11)?,
    })
}

fn bundle_row(row: &Row<'_>) -> Result<Bundle, ApiError> {
    let metric: String = row.get(2)?;
    Ok(Bundle {
        bundle: row.get(3)?,
        class: row.get(1)?,
        unit: Metric::from_name(&metric).map(Metric::unit),
        links: row.get(4)?,
        links_known: row.get(7)?,
        contended_links: row.get(6)?,
        worst_ratio: row.get(8)?,
        mean_ratio: row.get(9)?,
        imbalance: row.get(10)?,
        worst_series: row.get(11)?,
    })
}

fn worst_row(row: &Row<'_>) -> Result<WorstLink, ApiError> {
    let metric: String = row.get(1)?;
    Ok(WorstLink {
        series: row.get(0)?,
        unit: Metric::from_name(&metric).map(Metric::unit),
        metric,
        state: row.get(2)?,
        class: row.get(3)?,
        from_name: row.get(4)?,
        to_name: row.get(5)?,
        lost_s: row.get(6)?,
        lost_lo_s: row.get(7)?,
        lost_hi_s: row.get(8)?,
        contended_s: row.get(9)?,
        episodes: row.get(10)?,
        peak: row.get(11)?,
    })
}
