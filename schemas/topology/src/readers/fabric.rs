//! The content of all InfiniBand files: nodes by GUID, their descriptions, ends of cables, LIDs, tables.

use super::description::{host_and_device, is_aggregation_node, unquoted};
use crate::{Draft, DraftVertex, FaultKind, PortClaim, VertexKind};
use schemas::Time;
use std::collections::HashMap;

/// Ports of one adapter of a host: the adapter's number stands above.
const ADAPTER_PORTS: u16 = 256;

/// A node as the files describe it.
#[derive(Debug)]
struct Node {
    kind: VertexKind,
    guid: u64,
    ports: u16,
    description: Option<String>,
}

/// One end of a cable, or a port with a LID. `key` is the node's.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub key: String,
    pub number: u16,
}

#[derive(Debug)]
enum Event {
    File(String),
    Line(u32),
    Node(String),
    End { port: Port, peer: Port, bytes_per_s: f64 },
    Lid { port: Port, lid: u16, lmc: u8 },
    Table(Option<Time>, Option<Time>),
    Forward { guid: u64, lid: u16, port: u8 },
    Fault(FaultKind, String),
}

/// Everything read so far.
#[derive(Debug, Default)]
pub(super) struct Fabric {
    nodes: HashMap<String, Node>,
    names: HashMap<u64, String>,
    events: Vec<Event>,
}

/// `S-0002c90300000001`, as `ibnetdiscover` writes it.
pub(super) fn key_of(kind: VertexKind, guid: u64) -> String {
    let letter = if kind == VertexKind::Switch { 'S' } else { 'H' };
    format!("{letter}-{guid:016x}")
}

impl Fabric {
    pub(super) fn begin_file(&mut self, name: &str) {
        self.events.push(Event::File(name.to_string()));
    }

    pub(super) fn at_line(&mut self, line: usize) {
        self.events.push(Event::Line(u32::try_from(line).unwrap_or(u32::MAX)));
    }

    pub(super) fn fault(&mut self, kind: FaultKind, value: &str) {
        self.events.push(Event::Fault(kind, value.chars().take(200).collect()));
    }

    pub(super) fn begin_table(&mut self, from: Option<Time>, until: Option<Time>) {
        self.events.push(Event::Table(from, until));
    }

    pub(super) fn forward(&mut self, guid: u64, lid: u16, port: u8) {
        self.events.push(Event::Forward { guid, lid, port });
    }

    pub(super) fn end(&mut self, port: Port, peer: Port, bytes_per_s: f64) {
        self.events.push(Event::End { port, peer, bytes_per_s });
    }

    pub(super) fn lid(&mut self, port: Port, lid: u16, lmc: u8) {
        self.events.push(Event::Lid { port, lid, lmc });
    }

    pub(super) fn name(&mut self, guid: u64, name: &str) {
        self.names.entry(guid).or_insert_with(|| unquoted(name).to_string());
    }

    /// Adds a node. Known values stay; missing ones are filled in.
    pub(super) fn node(&mut self, key: &str, kind: VertexKind, ports: u16, description: &str) {
        let guid = key.rsplit_once('-').and_then(|(_, guid)| u64::from_str_radix(guid, 16).ok()).unwrap_or(0);
        let events = &mut self.events;
        let node = self.nodes.entry(key.to_string()).or_insert_with(|| {
            events.push(Event::Node(key.to_string()));
            Node { kind, guid, ports: 0, description: None }
        });
        node.ports = node.ports.max(ports);
        let description = unquoted(description);
        if node.description.is_none() && !description.is_empty() {
            node.description = Some(description.to_string());
        }
    }

    /// Writes everything to `draft`, in the order of the files.
    pub(super) fn fill(self, draft: &mut Draft) {
        let mut filling = Filling::new(draft);
        for event in &self.events {
            match event {
                Event::File(name) => filling.draft.begin_file(name),
                Event::Line(line) => filling.draft.at_line(*line),
                Event::Node(key) => filling.node(&self, key),
                Event::End { port, peer, bytes_per_s } => filling.end(port, peer, *bytes_per_s),
                Event::Lid { port, lid, lmc } => filling.lid(port, *lid, *lmc),
                Event::Table(from, until) => filling.draft.begin_table(*from, *until),
                Event::Forward { guid, lid, port } => filling.forward(*guid, *lid, *port),
                Event::Fault(kind, value) => filling.draft.fault(*kind, value),
            }
        }
        filling.leave_out_lids();
    }

    /// Names of a node: that of a map, which counts, and its own.
    fn names_of<'f>(&'f self, node: &'f Node) -> impl Iterator<Item = &'f String> {
        self.names.get(&node.guid).into_iter().chain(&node.description)
    }
}

/// Where the nodes stand in a draft: a host with several adapters is one vertex.
struct Filling<'d> {
    draft: &'d mut Draft,
    vertices: HashMap<String, (DraftVertex, u16)>,
    /// The node behind each device of a host.
    devices: HashMap<(String, String), String>,
    /// Nodes that are no hosts, each with the switch that it is in, if known yet.
    left_out: HashMap<String, Option<DraftVertex>>,
    /// Nodes left out, with a LID and its LMC.
    left_out_lids: Vec<(String, u16, u8)>,
    /// Switch of the table looked at, if it is unknown.
    unknown: Option<u64>,
}

impl<'d> Filling<'d> {
    fn new(draft: &'d mut Draft) -> Filling<'d> {
        Filling {
            draft,
            vertices: HashMap::new(),
            devices: HashMap::new(),
            left_out: HashMap::new(),
            left_out_lids: Vec::new(),
            unknown: None,
        }
    }

    fn node(&mut self, fabric: &Fabric, key: &str) {
        let Some(node) = fabric.nodes.get(key) else { return };
        let is_host = node.kind == VertexKind::Host;
        if is_host && fabric.names_of(node).any(|name| is_aggregation_node(name)) {
            self.left_out.insert(key.to_string(), None);
            return;
        }
        let text = fabric.names_of(node).next();
        let device = text.filter(|_| is_host).and_then(|text| host_and_device(text));
        let vertex_and_port = match device {
            Some((host, adapter)) => self.device(key, node, host, adapter),
            None => {
                let vertex = self.draft.vertex(key, node.kind);
                let facts = self.draft.facts(vertex);
                (facts.name, facts.guid, facts.ports) = (text.cloned(), node.guid, node.ports);
                (vertex, 0)
            }
        };
        self.vertices.insert(key.to_string(), vertex_and_port);
    }

    /// A device of a host that may have others. Two nodes with the same device name are two vertices.
    fn device(&mut self, key: &str, node: &Node, host: &str, adapter: &str) -> (DraftVertex, u16) {
        let owner = self.devices.entry((host.to_string(), adapter.to_string())).or_insert_with(|| key.into());
        let vertex_key = if owner == key { format!("host {host}") } else { key.to_string() };
        let vertex = self.draft.vertex(&vertex_key, VertexKind::Host);
        let facts = self.draft.facts(vertex);
        facts.name = Some(host.to_string());
        facts.ports = facts.ports.saturating_add(node.ports);
        facts.guid = if facts.guid == 0 { node.guid } else { facts.guid };
        facts.adapters.push(adapter.to_string());
        (vertex, (facts.adapters.len() - 1).min(254) as u16 * ADAPTER_PORTS)
    }

    fn port(&self, port: &Port) -> Option<(DraftVertex, u16)> {
        let (vertex, first) = self.vertices.get(&port.key)?;
        Some((*vertex, first + port.number))
    }

    fn end(&mut self, port: &Port, peer: &Port, bytes_per_s: f64) {
        match (self.port(port), self.port(peer)) {
            (Some((vertex, port)), Some((peer, peer_port))) => {
                let (class, rail) = (None, None);
                self.draft.claim(PortClaim { vertex, port, peer, peer_port, bytes_per_s, class, rail });
            }
            (Some((switch, _)), None) => {
                if let Some(of_left_out) = self.left_out.get_mut(&peer.key) {
                    *of_left_out = Some(switch);
                }
            }
            _ => {}
        }
    }

    fn lid(&mut self, port: &Port, lid: u16, lmc: u8) {
        match self.port(port) {
            Some((vertex, number)) => self.draft.lid(vertex, number, lid, lmc),
            None if self.left_out.contains_key(&port.key) => {
                self.left_out_lids.push((port.key.clone(), lid, lmc));
            }
            None => {}
        }
    }

    fn leave_out_lids(self) {
        for (key, lid, lmc) in &self.left_out_lids {
            if let Some(switch) = self.left_out.get(key).copied().flatten() {
                self.draft.leave_out_lid(switch, *lid, *lmc);
            }
        }
    }

    fn forward(&mut self, guid: u64, lid: u16, port: u8) {
        match self.vertices.get(&key_of(VertexKind::Switch, guid)) {
            Some((vertex, _)) => self.draft.forward(*vertex, lid, port),
            None if self.unknown.replace(guid) != Some(guid) => {
                self.draft.fault(FaultKind::UnknownSwitch, &format!("guid 0x{guid:016x}"));
            }
            None => {}
        }
    }
}
