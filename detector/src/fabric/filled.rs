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
use std::collections::BTreeMap;
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
        let mut began = Vec::new();
        for (router, of) in next.iter_mut().filter(|(_, of)| of.busiest.is_none()) {
            if SEEN_TICKS.contains(&(self.now - of.since))
                && self.is_felt(topology, VertexIndex(*router), of.since)
            {
                of.busiest = self.busiest_to(topology, VertexIndex(*router));
                began.extend(of.busiest.map(|series| (series, of.since)));
            }
        }
        self.filled = next;
        began
    }

    /// Whether no link to a router stalls, and a job that sends to one of its hosts fell since `onset`.
    fn is_felt(&self, topology: &Topology, router: VertexIndex, onset: i64) -> bool {
        let mut to = topology.links_from(router).map(|link| topology.reverse(link));
        let stalls = to.any(|link| self.links.of_link(link).is_some_and(|s| self.stalling.contains(&s)));
        let hosts: Vec<VertexIndex> = topology.links_from(router).map(|link| topology.to(link)).collect();
        let is_there = |job: &Job| {
            job.nodes
                .iter()
                .filter_map(|node| topology.vertex(node.as_str()))
                .any(|node| hosts.contains(&node))
        };
        !stalls
            && self
                .jobs
                .values()
                .any(|job| self.runs_evenly(job) && is_there(job) && self.fallen(None, job, onset) > 0.0)
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
