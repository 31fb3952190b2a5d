//! Reported states of failing links, and of the hosts that they connect: partitioned, degraded, up.

use detector::fabric::lifecycle::{self, LinkEvent, PairState};
use samplers::lab::{Change, Setup};
use stages::in_process::InProcess;
use std::collections::{BTreeMap, BTreeSet};
use topology::{LinkIndex, VertexIndex, VertexKind};

/// Events of links, and hosts with one at their links.
pub struct Paths {
    events: Vec<LinkEvent>,
    /// Each host's name and links, each of which is a path into the network.
    hosts: Vec<(String, Vec<LinkIndex>)>,
    /// By host, second by second: how its links connect it, as reported.
    pub reported: BTreeMap<String, Vec<PairState>>,
    /// By host: bytes that it really sent in each second.
    pub sent: BTreeMap<String, Vec<f64>>,
}

impl Paths {
    /// Of a lab; nothing has been reported.
    pub fn of(setup: &Setup) -> Paths {
        let topology = &setup.topology;
        let cables = setup.events.iter().filter_map(|event| match event.change {
            Change::Down(link) | Change::Up(link) | Change::Blink { link, .. } => Some(link),
            _ => None,
        });
        let ends = cables.flat_map(|link| [topology.from(link), topology.to(link)]);
        let hosts: BTreeSet<VertexIndex> =
            ends.filter(|end| topology.kind(*end) == VertexKind::Host).collect();
        let of = |host: VertexIndex| (topology.name(host).to_string(), topology.links_from(host).collect());
        Paths {
            events: Vec::new(),
            hosts: hosts.into_iter().map(of).collect(),
            reported: BTreeMap::new(),
            sent: BTreeMap::new(),
        }
    }

    /// Kinds of link incidents, in order.
    pub fn incidents(&self) -> Vec<String> {
        let incidents = lifecycle::incidents(&self.events);
        incidents.iter().map(|incident| incident.events[0].event.name().to_string()).collect()
    }

    /// Takes the link events of the last results of the stages.
    pub fn finish(&mut self, stages: &InProcess) {
        self.events.extend_from_slice(stages.link_events());
    }

    /// The same, and the currently reported states of hosts. `carried` are bytes of this second by link.
    pub fn look(&mut self, stages: &InProcess, carried: &[f64]) {
        self.finish(stages);
        for (host, links) in &self.hosts {
            let state = stages.fabric().map(|fabric| fabric.paths(links.iter().copied()));
            let sent = links.iter().map(|link| carried[link.at()]).sum();
            self.reported.entry(host.clone()).or_default().extend(state);
            self.sent.entry(host.clone()).or_default().push(sent);
        }
    }
}
