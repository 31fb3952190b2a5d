//! Which aggregator collects from which host: none is forgotten, nothing goes in circles.

use super::collection::shortened;
use super::{Notes, Site};
use crate::Name;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(site: &Site, notes: &mut Notes<'_>) {
    if site.aggregators.is_empty() {
        return notes.wrong("aggregators", "no aggregator; name at least one [[aggregators]] of level 1");
    }
    let level = |level: u8| site.aggregators.iter().filter(move |aggregator| aggregator.level == level);
    if level(1).next().is_none() {
        return notes.wrong("aggregators[0].level", "2, but there is no aggregator of level 1 to take from");
    }
    let hosts: BTreeSet<&Name> = site.hosts().map(|(host, _)| host).collect();
    let first: BTreeSet<&Name> = level(1).map(|aggregator| &aggregator.name).collect();
    known(site, 1, &hosts, "host of [[hosts]]", notes);
    known(site, 2, &first, "aggregator of level 1", notes);
    complete(site, 1, &hosts, notes);
    if level(2).next().is_some() {
        complete(site, 2, &first, notes);
    }
}

/// Everything that is taken exists.
fn known(site: &Site, level: u8, there: &BTreeSet<&Name>, what: &str, notes: &mut Notes<'_>) {
    for (at, aggregator) in site.aggregators.iter().enumerate().filter(|(_, a)| a.level == level) {
        let key = format!("aggregators[{at}].takes");
        let strange: Vec<String> =
            aggregator.takes.iter().filter(|name| !there.contains(name)).map(ToString::to_string).collect();
        if !strange.is_empty() {
            notes.wrong(&key, format!("{} is no {what}", shortened(&strange)));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = aggregator.takes.iter().find(|name| !seen.insert(*name)) {
            notes.wrong(&key, format!("{twice} is there twice"));
        }
    }
}

/// Everything that exists is taken, once.
fn complete(site: &Site, level: u8, there: &BTreeSet<&Name>, notes: &mut Notes<'_>) {
    let mut takers: BTreeMap<&Name, usize> = BTreeMap::new();
    for aggregator in site.aggregators.iter().filter(|aggregator| aggregator.level == level) {
        for name in &aggregator.takes {
            *takers.entry(name).or_default() += 1;
        }
    }
    let missed: Vec<String> =
        there.iter().filter(|name| !takers.contains_key(**name)).map(ToString::to_string).collect();
    if !missed.is_empty() {
        let text = format!("no aggregator of level {level} takes {}", shortened(&missed));
        notes.wrong("aggregators", text);
    }
    let twice: Vec<String> =
        takers.iter().filter(|(_, takers)| **takers > 1).map(|(name, _)| name.to_string()).collect();
    if !twice.is_empty() {
        let text =
            format!("{} is taken twice: every row comes twice, tailback drops the second", shortened(&twice));
        notes.warn("aggregators", text);
    }
}
