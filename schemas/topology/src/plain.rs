//! The plain document, TOML or JSON, that can express everything a topology holds. Its JSON Schema is
//! `schemas/topology/machines/topology.schema.json`; to write it and read it again gives the same topology.

use super::class::{LinkClass, Shape, VertexKind};
use super::draft::{Draft, DraftVertex, PortClaim};
use super::fault::{FaultKind, Faults};
use super::forwarding::{ForwardingTable, NO_PORT};
use super::graph::{LinkIndex, Topology, VertexIndex};
use super::series::port_code;
use schemas::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Value of `format` in documents of this version.
pub const FORMAT: &str = "tailback-topology-1";

/// A topology in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainTopology {
    /// [`FORMAT`].
    pub format: String,
    /// How it is wired; without it, it is found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Hosts, switches, routers.
    #[serde(default)]
    pub vertices: Vec<PlainVertex>,
    /// Cables, each with its two directions.
    #[serde(default)]
    pub cables: Vec<PlainCable>,
    /// Forwarding tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<PlainTable>,
}

/// A host, switch or router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainVertex {
    /// What people call it; unique.
    pub name: String,
    /// Other names that lead to it, such as a node's xname.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// What it is.
    pub kind: VertexKind,
    /// Its GUID, hexadecimal: `0x0002c903000a1b2c`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guid: Option<String>,
    /// Its ports, connected or not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ports: u16,
    /// Dragonfly group or pod, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Channel adapters of a host; its ports are called `<adapter>.<number>`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adapters: Vec<String>,
    /// LIDs of its ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lids: Vec<PlainLid>,
}

/// A LID of a port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainLid {
    /// The first LID, 1 to 49151.
    pub lid: u16,
    /// The port; `0` is the management port of a switch.
    pub port: String,
    /// The port has 2^lmc LIDs.
    #[serde(default, skip_serializing_if = "is_zero_u8")]
    pub lmc: u8,
}

/// A cable: a link in each direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainCable {
    /// Name of one end.
    pub a: String,
    /// Port there: `17` of a switch, `r0c3` of a router, `mlx5_0.1` of a host with adapters.
    pub a_port: String,
    /// Name of the other end.
    pub b: String,
    /// Port there.
    pub b_port: String,
    /// Its class; without it, it follows from the levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<LinkClass>,
    /// Its rail, from 0; without it, it follows from what is connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail: Option<u8>,
    /// Capacity from `a` to `b`, bytes a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<f64>,
    /// Capacity from `b` to `a`, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_bytes_per_s: Option<f64>,
}

/// Forwarding tables during one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainTable {
    /// Valid from here on, seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// Valid until here, seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// By switch: words `<lid>:<port>` or `<lid>-<lid>:<port>`, apart by spaces.
    pub switches: BTreeMap<String, String>,
}

/// Why a document is no topology at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlainError {
    /// Of another version.
    #[error("format is {0:?}; this version of Tailback reads {FORMAT:?}")]
    Format(String),
}

fn is_zero(number: &u16) -> bool {
    *number == 0
}

fn is_zero_u8(number: &u8) -> bool {
    *number == 0
}

impl PlainTopology {
    /// The document of `topology`.
    pub fn of(topology: &Topology) -> PlainTopology {
        let mut vertices: Vec<PlainVertex> =
            topology.vertices().map(|vertex| plain_vertex(topology, vertex)).collect();
        for (alias, vertex) in topology.aliases() {
            vertices[vertex.at()].aliases.push(alias.to_string());
        }
        vertices.iter_mut().for_each(|vertex| vertex.aliases.sort_unstable());
        for rail in 0..topology.lids().rail_count() as u8 {
            for (lid, vertex, port) in topology.lids().of_rail(rail) {
                let port = topology.port_label(vertex, port);
                vertices[vertex.at()].lids.push(PlainLid { lid, port, lmc: 0 });
            }
        }
        let lower = topology.links().filter(|link| *link < topology.reverse(*link));
        PlainTopology {
            format: FORMAT.to_string(),
            shape: Some(topology.shape()),
            vertices,
            cables: lower.map(|link| plain_cable(topology, link)).collect(),
            tables: topology.forwarding().iter().map(|table| plain_table(topology, table)).collect(),
        }
    }

    /// The topology that the document describes, and what is wrong with it.
    ///
    /// # Errors
    /// [`PlainError`] if it is of another version.
    pub fn build(&self) -> Result<(Topology, Faults), PlainError> {
        let mut draft = Draft::default();
        self.add_to(&mut draft)?;
        Ok(draft.finish())
    }

    /// Adds the document's content to `draft`.
    ///
    /// # Errors
    /// [`PlainError`] if it is of another version.
    pub fn add_to(&self, draft: &mut Draft) -> Result<(), PlainError> {
        if self.format != FORMAT {
            return Err(PlainError::Format(self.format.clone()));
        }
        draft.shape = draft.shape.or(self.shape);
        for vertex in &self.vertices {
            add_vertex(draft, vertex);
        }
        for (number, cable) in self.cables.iter().enumerate() {
            if let Err(why) = add_cable(draft, cable) {
                draft.fault(FaultKind::BadLine, &format!("cable {}: {why}", number + 1));
            }
        }
        for table in &self.tables {
            draft.begin_table(table.from.map(Time::from_seconds), table.until.map(Time::from_seconds));
            for (switch, words) in &table.switches {
                match draft.known(switch) {
                    Some(vertex) => add_row(draft, vertex, switch, words),
                    None => draft.fault(FaultKind::UnknownSwitch, switch),
                }
            }
        }
        Ok(())
    }
}

fn plain_vertex(topology: &Topology, vertex: VertexIndex) -> PlainVertex {
    PlainVertex {
        name: topology.name(vertex).to_string(),
        aliases: Vec::new(),
        kind: topology.kind(vertex),
        guid: topology.guid(vertex).map(|guid| format!("0x{guid:016x}")),
        ports: topology.port_count(vertex),
        group: topology.group(vertex),
        adapters: topology.adapters(vertex).iter().map(ToString::to_string).collect(),
        lids: Vec::new(),
    }
}

fn plain_cable(topology: &Topology, link: LinkIndex) -> PlainCable {
    let back = topology.reverse(link);
    let end = |link| {
        let vertex = topology.from(link);
        (topology.name(vertex).to_string(), topology.port_label(vertex, topology.port(link)))
    };
    let ((a, a_port), (b, b_port)) = (end(link), end(back));
    let known = |link| Some(topology.bytes_per_s(link)).filter(|bytes_per_s| !bytes_per_s.is_nan());
    let (bytes_per_s, back_bytes_per_s) = (known(link), known(back));
    PlainCable {
        a,
        a_port,
        b,
        b_port,
        class: Some(topology.class(link)),
        rail: Some(topology.rail(link)),
        bytes_per_s,
        back_bytes_per_s: back_bytes_per_s.filter(|back| bytes_per_s != Some(*back)),
    }
}

fn plain_table(topology: &Topology, table: &ForwardingTable) -> PlainTable {
    let rows = table.switches().map(|switch| {
        let row = table.row(switch).unwrap_or_default();
        (topology.name(switch).to_string(), words(row))
    });
    let seconds = |time: Option<Time>| time.map(Time::seconds);
    PlainTable { from: seconds(table.from), until: seconds(table.until), switches: rows.collect() }
}

/// `3:1 4-6:2`: the LIDs of a row that have a port.
fn words(row: &[u8]) -> String {
    let mut text = Vec::new();
    let mut lid = 0;
    for same in row.chunk_by(|a, b| a == b) {
        let (first, last) = (lid, lid + same.len() - 1);
        lid += same.len();
        match same.first() {
            Some(&NO_PORT) | None => {}
            Some(port) if first == last => text.push(format!("{first}:{port}")),
            Some(port) => text.push(format!("{first}-{last}:{port}")),
        }
    }
    text.join(" ")
}

fn add_vertex(draft: &mut Draft, plain: &PlainVertex) {
    if draft.known(&plain.name).is_some() {
        return draft.fault(FaultKind::NameTwice, &plain.name);
    }
    let vertex = draft.vertex(&plain.name, plain.kind);
    let guid = plain.guid.as_deref().map(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16));
    if let Some(Err(_)) = guid {
        draft.fault(FaultKind::BadLine, &format!("{}: guid {:?}", plain.name, plain.guid));
    }
    let facts = draft.facts(vertex);
    facts.name = Some(plain.name.clone());
    facts.aliases.clone_from(&plain.aliases);
    facts.guid = guid.and_then(Result::ok).unwrap_or(0);
    facts.ports = plain.ports;
    facts.group = plain.group.filter(|group| *group < u32::MAX);
    facts.adapters.clone_from(&plain.adapters);
    for lid in &plain.lids {
        match port_code(plain.kind, &plain.adapters, &lid.port) {
            Some(port) => draft.lid(vertex, port, lid.lid, lid.lmc),
            None => draft.fault(FaultKind::BadLine, &format!("{}: port {:?} of a LID", plain.name, lid.port)),
        }
    }
}

fn add_cable(draft: &mut Draft, cable: &PlainCable) -> Result<(), String> {
    let (vertex, port) = end(draft, &cable.a, &cable.a_port)?;
    let (peer, peer_port) = end(draft, &cable.b, &cable.b_port)?;
    let possible = |bytes_per_s: &f64| bytes_per_s.is_finite() && *bytes_per_s > 0.0;
    let capacity = |given: Option<f64>| match given {
        Some(given) if !possible(&given) => Err(format!("{given} bytes/s is no capacity")),
        given => Ok(given.unwrap_or(f64::NAN)),
    };
    let there = capacity(cable.bytes_per_s)?;
    let back = capacity(cable.back_bytes_per_s.or(cable.bytes_per_s))?;
    let (class, rail) = (cable.class, cable.rail);
    draft.claim(PortClaim { vertex, port, peer, peer_port, bytes_per_s: there, class, rail });
    let claim = PortClaim {
        vertex: peer,
        port: peer_port,
        peer: vertex,
        peer_port: port,
        bytes_per_s: back,
        class,
        rail,
    };
    draft.claim(claim);
    Ok(())
}

fn end(draft: &mut Draft, name: &str, label: &str) -> Result<(DraftVertex, u16), String> {
    let vertex = draft.known(name).ok_or_else(|| format!("no vertex is called {name:?}"))?;
    let kind = draft.kind(vertex);
    let port = port_code(kind, &draft.facts(vertex).adapters, label);
    port.map(|port| (vertex, port)).ok_or_else(|| format!("{name} has no port called {label:?}"))
}

fn add_row(draft: &mut Draft, switch: DraftVertex, name: &str, text: &str) {
    for word in text.split_ascii_whitespace() {
        let Some((first, last, port)) = entry(word) else {
            draft.fault(FaultKind::BadLine, &format!("{name}: {word:?} is not lid:port"));
            continue;
        };
        for lid in first..=last {
            draft.forward(switch, lid, port);
        }
    }
}

fn entry(word: &str) -> Option<(u16, u16, u8)> {
    let (lids, port) = word.split_once(':')?;
    let (first, last) = lids.split_once('-').unwrap_or((lids, lids));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some((first, last, port.parse().ok()?))
}
