//! The network in columns, and the way from names and ports to numbers.

use super::class::{LinkClass, Shape, VertexKind};
use super::forwarding::{ForwardingTable, Lids};
use super::spellings::HostSpellings;
use schemas::Name;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Range;

/// Stands for "none" in columns of numbers.
pub(super) const NONE: u32 = u32::MAX;
/// Level of what no host can reach.
pub(super) const NO_LEVEL: u8 = u8::MAX;

macro_rules! dense {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into a column.
            #[inline]
            pub fn at(self) -> usize {
                self.0 as usize
            }
        }
    };
}

dense! {
    /// Dense number of a switch, router or host, from 0.
    VertexIndex
}
dense! {
    /// Dense number of a directed link, from 0; it is also the number of the port that transmits.
    LinkIndex
}

/// Columns of vertices. All have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Vertices {
    pub names: Vec<Name>,
    pub kinds: Vec<VertexKind>,
    pub levels: Vec<u8>,
    pub groups: Vec<u32>,
    pub guids: Vec<u64>,
    pub ports: Vec<u16>,
    pub adapters: Vec<Box<[Name]>>,
    /// Where the links of a vertex begin; one more than there are vertices.
    pub first_link: Vec<u32>,
}

/// Columns of directed links. All have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Links {
    pub from: Vec<VertexIndex>,
    pub to: Vec<VertexIndex>,
    pub reverse: Vec<LinkIndex>,
    pub port: Vec<u16>,
    pub class: Vec<LinkClass>,
    pub rail: Vec<u8>,
    pub bytes_per_s: Vec<f64>,
}

/// A network. Built by [`super::Draft`].
#[derive(Clone, Debug)]
pub struct Topology {
    pub(super) shape: Shape,
    pub(super) vertices: Vertices,
    pub(super) links: Links,
    pub(super) lids: Lids,
    pub(super) forwarding: Vec<ForwardingTable>,
    pub(super) by_name: HashMap<Name, VertexIndex>,
    pub(super) spellings: HostSpellings,
}

impl Topology {
    /// How it is wired.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.vertices.names.len()
    }

    /// Number of directed links, twice the number of cables.
    pub fn link_count(&self) -> usize {
        self.links.to.len()
    }

    /// All vertices, in the order of their numbers.
    pub fn vertices(&self) -> impl Iterator<Item = VertexIndex> + Clone + use<> {
        (0..self.vertex_count() as u32).map(VertexIndex)
    }

    /// All directed links, in the order of their numbers.
    pub fn links(&self) -> impl Iterator<Item = LinkIndex> + Clone + use<> {
        (0..self.link_count() as u32).map(LinkIndex)
    }

    /// The vertices of `kind`, in the order of their numbers.
    pub fn vertices_of(&self, kind: VertexKind) -> impl Iterator<Item = VertexIndex> + '_ {
        self.vertices().filter(move |v| self.kind(*v) == kind)
    }

    /// Its name: unique, and what people call it.
    pub fn name(&self, vertex: VertexIndex) -> &Name {
        &self.vertices.names[vertex.at()]
    }

    /// What it is.
    pub fn kind(&self, vertex: VertexIndex) -> VertexKind {
        self.vertices.kinds[vertex.at()]
    }

    /// Hops to the nearest host; `None` if there is no way.
    pub fn level(&self, vertex: VertexIndex) -> Option<u8> {
        Some(self.vertices.levels[vertex.at()]).filter(|level| *level != NO_LEVEL)
    }

    /// Its group: Dragonfly group or pod.
    pub fn group(&self, vertex: VertexIndex) -> Option<u32> {
        Some(self.vertices.groups[vertex.at()]).filter(|group| *group != NONE)
    }

    /// Its GUID, if it has one.
    pub fn guid(&self, vertex: VertexIndex) -> Option<u64> {
        Some(self.vertices.guids[vertex.at()]).filter(|guid| *guid != 0)
    }

    /// How many ports it has, connected or not; switches number them from 1 or by jacks, routers' tiles from 0.
    pub fn port_count(&self, vertex: VertexIndex) -> u16 {
        self.vertices.ports[vertex.at()]
    }

    /// Channel adapters of a host, whose numbers stand in the upper byte of its ports.
    pub fn adapters(&self, vertex: VertexIndex) -> &[Name] {
        &self.vertices.adapters[vertex.at()]
    }

    /// The links that `vertex` transmits on, in the order of their ports.
    pub fn links_from(&self, vertex: VertexIndex) -> impl Iterator<Item = LinkIndex> + Clone + use<> {
        self.range(vertex).map(LinkIndex)
    }

    pub(super) fn range(&self, vertex: VertexIndex) -> Range<u32> {
        let first = &self.vertices.first_link;
        first[vertex.at()]..first[vertex.at() + 1]
    }

    /// The vertex that transmits.
    #[inline]
    pub fn from(&self, link: LinkIndex) -> VertexIndex {
        self.links.from[link.at()]
    }

    /// The vertex that receives.
    #[inline]
    pub fn to(&self, link: LinkIndex) -> VertexIndex {
        self.links.to[link.at()]
    }

    /// The other direction of the same cable.
    #[inline]
    pub fn reverse(&self, link: LinkIndex) -> LinkIndex {
        self.links.reverse[link.at()]
    }

    /// The port that transmits. Switches: its number, or [`JackPort::number`]. Routers: tile, row times 8 plus column.
    /// Hosts: adapter times 256 plus its port.
    ///
    /// [`JackPort::number`]: schemas::xname::JackPort::number
    pub fn port(&self, link: LinkIndex) -> u16 {
        self.links.port[link.at()]
    }

    /// What it connects.
    #[inline]
    pub fn class(&self, link: LinkIndex) -> LinkClass {
        self.links.class[link.at()]
    }

    /// Which of several networks side by side it belongs to, from 0.
    #[inline]
    pub fn rail(&self, link: LinkIndex) -> u8 {
        self.links.rail[link.at()]
    }

    /// What it carries in its direction, in bytes a second; NaN if unknown.
    #[inline]
    pub fn bytes_per_s(&self, link: LinkIndex) -> f64 {
        self.links.bytes_per_s[link.at()]
    }

    /// All capacities in bytes a second, by the number of the link; NaN where unknown.
    pub fn capacities(&self) -> &[f64] {
        &self.links.bytes_per_s
    }

    /// The vertex called `name`, else the only host that this may be another spelling of: with or without its domain, in
    /// small or capital letters.
    pub fn vertex(&self, name: &str) -> Option<VertexIndex> {
        let exact = Name::parse(name).ok().and_then(|name| self.by_name.get(&name).copied());
        exact.or_else(|| self.spellings.find(name))
    }

    /// Other names than [`Topology::name`], each with its vertex, in no order.
    pub fn aliases(&self) -> impl Iterator<Item = (&Name, VertexIndex)> {
        let all = self.by_name.iter().map(|(name, vertex)| (name, *vertex));
        all.filter(|(name, vertex)| self.name(*vertex) != *name)
    }

    /// The link that `port` of `vertex` transmits on.
    pub fn link(&self, vertex: VertexIndex, port: u16) -> Option<LinkIndex> {
        let range = self.range(vertex);
        let ports = &self.links.port[range.start as usize..range.end as usize];
        let at = ports.binary_search(&port).ok()?;
        Some(LinkIndex(range.start + at as u32))
    }

    /// Number of rails, at least 1.
    pub fn rail_count(&self) -> usize {
        self.links.rail.iter().max().map_or(1, |rail| usize::from(*rail) + 1)
    }

    /// Number of groups: one more than the highest.
    pub fn group_count(&self) -> usize {
        let groups = self.vertices.groups.iter().filter(|group| **group != NONE);
        groups.max().map_or(0, |group| *group as usize + 1)
    }

    /// The owners of LIDs.
    pub fn lids(&self) -> &Lids {
        &self.lids
    }

    /// Forwarding tables, in the order of the beginning of their validity.
    pub fn forwarding(&self) -> &[ForwardingTable] {
        &self.forwarding
    }

    /// Memory of the columns, names and tables, in bytes, without what the allocator adds.
    pub fn memory_bytes(&self) -> usize {
        let names: usize = self.vertices.names.iter().map(|name| name.as_str().len() + 16).sum();
        let vertex = size_of::<Name>() * 2 + 1 + 1 + 4 + 8 + 2 + size_of::<Box<[Name]>>() + 4 + 4 + 1;
        let link = 4 + 4 + 4 + 2 + 1 + 1 + 8;
        let tables: usize = self.forwarding.iter().map(ForwardingTable::memory_bytes).sum();
        let aliases: usize =
            self.aliases().map(|(name, _)| name.as_str().len() + 16 + size_of::<Name>() + 4 + 1).sum();
        names
            + aliases
            + self.vertex_count() * vertex
            + self.link_count() * link
            + self.spellings.memory_bytes()
            + self.lids.memory_bytes()
            + tables
    }
}
