//! Routers that pass on to their hosts as much as one host takes, while no link to them stalls.
//!
//! Where what a host receives is not measured, as on an Aries, and those that send to it are held back before any link between routers,
//! only the jobs show it: one that sent evenly sends less since then. Such a router counts as contended by the busiest link to it.

use super::Fabric;
use super::receivers;
use super::sent::GRID_TICKS;
use super::tick::tick_of;
use schemas::Job;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use topology::{Topology, VertexIndex, VertexKind};

/// Ticks after a router was filled in which a job's fall is seen.
const SEEN_TICKS: std::ops::RangeInclusive<i64> = 10..=60;
/// Ticks around a job's start and end in which it sends less by itself.
const EDGE_TICKS: i64 = 15;

/// A filled router.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Filled {
    since: i64,
    /// Series of the busiest link to it, once a job fell.
    pub(super) busiest: Option<u32>,
}

impl Fabric {
    /// Looks at all routers once in a step of the grid on which samples of progress are. Returns the series of links that begin to
    /// stand for a router, with the tick since when it is filled.
    pub(super) fn note_filled(&mut self) -> Vec<(u32, i64)> {
        let Some(network) = self.network.clone().filter(|_| self.now % GRID_TICKS == 0) else {
            return Vec::new();
        };
        let topology = &network.topology;
        let routers = topology.vertices_of(VertexKind::Router);
        let filled: Vec<VertexIndex> =
            routers.filter(|router| receivers::fills_a_host(topology, &self.links, *router)).collect();
        let mut known = std::mem::take(&mut self.filled);
        let mut next = BTreeMap::new();
        for router in filled {
            let since = self.now - GRID_TICKS;
            let of = known.remove(&router.0).unwrap_or(Filled { since, busiest: None });
            next.insert(router.0, of);
        }
        for of in known.into_values() {
            if let Some(series) = of.busiest {
                self.stalling.remove(&series);
            }
        }
        let is_seen = |of: &Filled| of.busiest.is_none() && SEEN_TICKS.contains(&(self.now - of.since));
        let awaited = next.iter().filter(|(router, of)| is_seen(of) && !self.stalls_to(topology, **router));
        let felt = self.felt(topology, &awaited.map(|(router, of)| (*router, of.since)).collect());
        let mut began = Vec::new();
        for router in felt {
            let busiest = self.busiest_to(topology, VertexIndex(router));
            if let Some(of) = next.get_mut(&router) {
                of.busiest = busiest;
                began.extend(busiest.map(|series| (series, of.since)));
            }
        }
        self.filled = next;
        began
    }

    fn stalls_to(&self, topology: &Topology, router: u32) -> bool {
        let mut to = topology.links_from(VertexIndex(router)).map(|link| topology.reverse(link));
        to.any(|link| self.links.of_link(link).is_some_and(|series| self.stalling.contains(&series)))
    }

    /// Of `routers`, filled since some tick, those on which a job has nodes that fell since then.
    fn felt(&self, topology: &Topology, routers: &BTreeMap<u32, i64>) -> BTreeSet<u32> {
        let mut felt = BTreeSet::new();
        for job in self.jobs.values().filter(|job| !routers.is_empty() && self.runs_evenly(job)) {
            let mut fell_since: BTreeMap<i64, bool> = BTreeMap::new();
            let nodes = job.nodes.iter().filter_map(|node| topology.vertex(node.as_str()));
            for router in nodes.flat_map(|node| topology.links_from(node)).map(|link| topology.to(link).0) {
                let Some(since) = routers.get(&router) else { continue };
                if *fell_since.entry(*since).or_insert_with(|| self.fallen(None, job, *since) > 0.0) {
                    felt.insert(router);
                }
            }
        }
        felt
    }

    fn runs_evenly(&self, job: &Job) -> bool {
        let tick = |time| tick_of(time, self.settings.tick_s);
        job.end.is_none_or(|end| tick(end) - self.now > EDGE_TICKS) && self.now - tick(job.start) > EDGE_TICKS
    }

    fn busiest_to(&self, topology: &Topology, router: VertexIndex) -> Option<u32> {
        let to =
            topology.links_from(router).filter(|link| topology.kind(topology.to(*link)) != VertexKind::Host);
        let series = to.filter_map(|link| self.links.of_link(topology.reverse(link)));
        series.max_by(|a, b| {
            self.links.load[*a as usize].total_cmp(&self.links.load[*b as usize]).then(b.cmp(a))
        })
    }
}
