//! Claims of files or generators, and the topology that results. What contradicts is a fault and decided by a
//! fixed rule; nothing stops the rest.

mod cables;
mod columns;
mod naming;

use super::class::{LinkClass, Shape, VertexKind};
use super::fault::{FaultKind, Faults, Origin};
use super::forwarding::{ForwardingTable, LID_MAX};
use super::graph::{Topology, VertexIndex};
use super::{check, levels};
use schemas::Time;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A vertex of a draft. Its number stays: the topology has the same vertices in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DraftVertex(pub(super) u32);

impl DraftVertex {
    /// The vertex in the finished topology.
    pub fn index(self) -> VertexIndex {
        VertexIndex(self.0)
    }
}

/// Facts of a vertex from the files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexFacts {
    /// What people call it, as it stands in the file; made a [`schemas::Name`] at the end.
    pub name: Option<String>,
    /// Other names that lead to it, where no vertex has them as its own.
    pub aliases: Vec<String>,
    /// Its GUID, 0 for none.
    pub guid: u64,
    /// How many ports it has, connected or not.
    pub ports: u16,
    /// Dragonfly group or pod.
    pub group: Option<u32>,
    /// Channel adapters of a host.
    pub adapters: Vec<String>,
}

/// A cable as one of its ends reports it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortClaim {
    /// The end that reports.
    pub vertex: DraftVertex,
    /// Its port, see [`Topology::port`].
    pub port: u16,
    /// The vertex at the other end.
    pub peer: DraftVertex,
    /// The port there.
    pub peer_port: u16,
    /// What it transmits at most, in bytes a second; NaN if not given.
    pub bytes_per_s: f64,
    /// Its class, if given; else it follows from the levels.
    pub class: Option<LinkClass>,
    /// Its rail, if given; else it follows from what is connected.
    pub rail: Option<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Claim {
    end: PortClaim,
    file: u16,
    line: u32,
}

#[derive(Clone, Copy, Debug)]
struct LidClaim {
    vertex: DraftVertex,
    port: u16,
    lid: u16,
    lmc: u8,
    file: u16,
    line: u32,
}

#[derive(Clone, Debug)]
struct DraftTable {
    from: Option<Time>,
    until: Option<Time>,
    entries: Vec<(u32, u16, u8)>,
}

/// Everything read so far.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// How it is wired; `None` to find out.
    pub shape: Option<Shape>,
    kinds: Vec<VertexKind>,
    facts: Vec<VertexFacts>,
    /// File and line where each vertex first appears.
    locations: Vec<(u16, u32)>,
    by_key: HashMap<String, DraftVertex>,
    claims: Vec<Claim>,
    lids: Vec<LidClaim>,
    /// LIDs of ends that are left out, each with a switch of their subnet and its LMC.
    left_out_lids: Vec<(DraftVertex, u16, u8)>,
    tables: Vec<DraftTable>,
    files: Vec<Arc<str>>,
    line: u32,
    faults: Faults,
}

impl Draft {
    /// An empty draft of a known shape, or of one to be found out.
    pub fn new(shape: Option<Shape>) -> Draft {
        Draft { shape, ..Draft::default() }
    }

    /// Following calls add content of this file.
    pub fn begin_file(&mut self, name: &str) {
        self.files.push(name.into());
        self.line = 0;
    }

    /// Following calls add content of this line of the file, from 1.
    pub fn at_line(&mut self, line: u32) {
        self.line = line;
    }

    fn location(&self) -> (u16, u32) {
        (self.files.len().min(usize::from(u16::MAX)) as u16, self.line)
    }

    fn origin(&self, file: u16, line: u32) -> Origin {
        let file = usize::from(file).checked_sub(1).and_then(|at| self.files.get(at)).cloned();
        Origin { file, line }
    }

    /// Notes that something is wrong here.
    pub fn fault(&mut self, kind: FaultKind, value: &str) {
        let (file, line) = self.location();
        self.faults.note(kind, self.origin(file, line), value);
    }

    /// The vertex called `key` among its likes; made if it is new. Keys are not names: GUIDs, for example.
    pub fn vertex(&mut self, key: &str, kind: VertexKind) -> DraftVertex {
        if let Some(known) = self.by_key.get(key) {
            return *known;
        }
        let vertex = DraftVertex(self.kinds.len() as u32);
        self.kinds.push(kind);
        self.facts.push(VertexFacts::default());
        self.locations.push(self.location());
        self.by_key.insert(key.to_string(), vertex);
        vertex
    }

    /// The vertex called `key`, if there is one.
    pub fn known(&self, key: &str) -> Option<DraftVertex> {
        self.by_key.get(key).copied()
    }

    /// Facts of `vertex`, to be filled in.
    pub fn facts(&mut self, vertex: DraftVertex) -> &mut VertexFacts {
        &mut self.facts[vertex.0 as usize]
    }

    /// What `vertex` is.
    pub fn kind(&self, vertex: DraftVertex) -> VertexKind {
        self.kinds[vertex.0 as usize]
    }

    /// Number of vertices so far.
    pub fn vertex_count(&self) -> usize {
        self.kinds.len()
    }

    /// Adds a cable as one end reports it.
    pub fn claim(&mut self, end: PortClaim) {
        let (file, line) = self.location();
        self.claims.push(Claim { end, file, line });
    }

    /// Adds a cable as both ends report it, with the same capacity in both directions.
    pub fn connect(&mut self, end: PortClaim) {
        self.claim(end);
        let (vertex, port) = (end.peer, end.peer_port);
        self.claim(PortClaim { vertex, port, peer: end.vertex, peer_port: end.port, ..end });
    }

    /// A port has the LIDs `lid` to `lid + 2^lmc - 1`. Port 0 of a switch is its management port.
    pub fn lid(&mut self, vertex: DraftVertex, port: u16, lid: u16, lmc: u8) {
        let (file, line) = self.location();
        self.lids.push(LidClaim { vertex, port, lid, lmc: lmc.min(7), file, line });
    }

    /// The LIDs `lid` to `lid + 2^lmc - 1` belong to an end that is left out, in the subnet of `switch`: the tables there
    /// have no entries for them.
    pub fn leave_out_lid(&mut self, switch: DraftVertex, lid: u16, lmc: u8) {
        self.left_out_lids.push((switch, lid, lmc.min(7)));
    }

    /// Begins forwarding tables with their time of validity.
    pub fn begin_table(&mut self, from: Option<Time>, until: Option<Time>) {
        self.tables.push(DraftTable { from, until, entries: Vec::new() });
    }

    /// In the tables begun last, `switch` sends on through `port` what goes to `lid`.
    pub fn forward(&mut self, switch: DraftVertex, lid: u16, port: u8) {
        if self.tables.is_empty() {
            self.begin_table(None, None);
        }
        if let Some(table) = self.tables.last_mut().filter(|_| lid <= LID_MAX) {
            table.entries.push((switch.0, lid, port));
        }
    }

    /// The topology, and what is wrong with it, the whole looked at as well as each line.
    pub fn finish(mut self) -> (Topology, Faults) {
        let mut topology = self.build();
        check::links(&topology, &mut self.faults);
        check::ports_of_tables(&topology, &mut self.faults);
        check::destinations(&topology, &mut self.faults);
        topology.forwarding.sort_by_key(|table| table.from);
        (topology, self.faults)
    }

    /// The topology alone, for generators, whose work needs no check.
    pub(super) fn finish_unchecked(mut self) -> Topology {
        self.build()
    }

    fn build(&mut self) -> Topology {
        let names = self.names();
        let cables = self.cables();
        let mut topology = self.columns(names, cables);
        topology.vertices.levels = levels::levels(&topology);
        self.fill_rails(&mut topology);
        topology.shape = self.shape.unwrap_or_else(|| levels::shape(&topology));
        self.fill_groups(&mut topology);
        self.fill_classes(&mut topology);
        self.fill_lids(&mut topology);
        topology.forwarding = self.tables(&topology);
        topology
    }

    /// The LIDs that are left out, by rail.
    fn left_out(&self, topology: &Topology) -> HashSet<(u8, u16)> {
        let all = self.left_out_lids.iter().flat_map(|(switch, lid, lmc)| {
            let rail = check::rail_of(topology, switch.index());
            (0..1u16 << lmc).map(move |path| (rail, lid.saturating_add(path)))
        });
        all.filter(|(rail, lid)| topology.lids.owner(*rail, *lid).is_none()).collect()
    }

    fn tables(&mut self, topology: &Topology) -> Vec<ForwardingTable> {
        let (vertices, left_out) = (topology.vertex_count(), self.left_out(topology));
        let is_kept = |switch: u32, lid: u16| {
            left_out.is_empty() || !left_out.contains(&(check::rail_of(topology, VertexIndex(switch)), lid))
        };
        let tables = std::mem::take(&mut self.tables);
        let finished = tables.into_iter().filter(|table| !table.entries.is_empty()).map(|draft| {
            let lids = draft.entries.iter().map(|(_, lid, _)| usize::from(*lid) + 1);
            let mut table = ForwardingTable::new(vertices, lids.max().unwrap_or(0), draft.from, draft.until);
            for (switch, lid, port) in
                draft.entries.into_iter().filter(|(switch, lid, _)| is_kept(*switch, *lid))
            {
                table.set(VertexIndex(switch), lid, port);
            }
            table
        });
        finished.collect()
    }
}
