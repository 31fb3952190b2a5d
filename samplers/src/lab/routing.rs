//! Ways through the network, and what becomes of them while links are down.

mod adaptive;
mod hops;
mod striping;
mod valiant;

pub use adaptive::fpar;
pub use striping::{Striping, reweigh};

use super::flows::Paths;
use hops::{Draw, Hops, push_distinct, without_loops};
use topology::{LinkIndex, Routes, Topology, VertexIndex};
use valiant::Groups;

/// Paths over which a flow is divided where no forwarding tables contain several LIDs.
pub const STRIPES: usize = 4;

/// How a flow finds its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// By the forwarding tables of the topology that are valid last; where it has none, as `Minimal`. Where hosts
    /// are in several rails, the hash of sender and receiver decides on one.
    Tables,
    /// A shortest path; among equal links the hash of sender and receiver decides, again at every switch.
    Minimal,
    /// Over an intermediate switch, to it and from it on shortest paths. The hash of sender and receiver chooses it: a
    /// leaf or router of a third group; in a tree one of the switches at which a shortest path can turn from up to
    /// down. Inside a group, and with fewer than three groups, as `Minimal`.
    Valiant,
    /// The minimal path while its queue is short, else a longer one, by the rule [`fpar`]. The score of a path is
    /// the highest utilisation of its links between switches, at most 1, by what all other flows ask for on the
    /// paths that they have taken. Flows choose one after the other, and again with all others in place, thrice at
    /// most.
    ///
    /// Between groups the longer paths go over a spine and over a leaf of a third group (Kang 2019), or over two of
    /// its routers; inside a group over another spine or router. In trees, and with two groups, there are up to three
    /// shortest paths.
    Adaptive {
        /// A path is busy from this score on, in percent, 0 to 100.
        threshold_percent: u8,
    },
    /// Every flow in parts, over all LIDs of its destination, in all rails; without forwarding tables over
    /// [`STRIPES`] shortest paths with hashes of their own, of which some may be the same. A flow is as slow as its
    /// slowest part.
    Striped(Striping),
}

impl Routing {
    /// Whether paths depend on the loads that others make.
    pub(super) fn is_adaptive(self) -> bool {
        matches!(self, Routing::Adaptive { .. } | Routing::Striped(Striping::Adaptive { .. }))
    }
}

/// Finds ways while some links are down.
pub(super) struct Router<'t> {
    topology: &'t Topology,
    routing: Routing,
    tables: Option<Routes<'t>>,
    /// By rail and vertex: its lowest LID.
    lids: Vec<Vec<u16>>,
    /// By vertex, where flows are striped: its LIDs, each with its rail.
    stripes: Vec<Vec<(u8, u16)>>,
    hops: Hops<'t>,
    groups: Option<Groups>,
}

impl<'t> Router<'t> {
    /// `down` has one entry for each link, or none if all are up.
    pub(super) fn new(topology: &'t Topology, routing: Routing, down: &'t [bool]) -> Router<'t> {
        let by_tables = matches!(routing, Routing::Tables | Routing::Striped(_));
        let tables = Some(topology.routes_at(None)).filter(|t| by_tables && !t.is_empty());
        let rails = 0..topology.rail_count().min(usize::from(u8::MAX)) as u8;
        let lids = rails.clone().map(|rail| topology.lids().lowest(rail, topology.vertex_count()));
        let mut stripes = vec![Vec::new(); topology.vertex_count()];
        if matches!(routing, Routing::Striped(_)) {
            for rail in rails.clone() {
                let lids = topology.lids().of_rail(rail);
                lids.for_each(|(lid, vertex, _)| stripes[vertex.at()].push((rail, lid)));
            }
        }
        let over_groups = matches!(routing, Routing::Valiant | Routing::Adaptive { .. });
        Router {
            topology,
            routing,
            tables,
            lids: lids.collect(),
            stripes,
            hops: Hops::new(topology, down),
            groups: if over_groups { Groups::of(topology) } else { None },
        }
    }

    /// Adds the ways among which a flow may choose or over which it is divided: one for most kinds of routing, an
    /// empty one if there is none.
    ///
    /// A failed link is replaced by another of its trunk; if none is left, the flow takes a shortest path over what
    /// is left of the uplinks and downlinks. In a fat tree that path must not be longer than the usual one: tables
    /// of trees never lead down and up again. What finds no path is lost.
    pub(super) fn add_paths(&mut self, from: VertexIndex, to: VertexIndex, paths: &mut Paths) {
        match self.routing {
            Routing::Tables | Routing::Minimal => {
                let usual = self.usual(from, to);
                paths.push(&self.mended(usual, from, to));
            }
            Routing::Valiant => paths.push(&self.over_an_intermediate(from, to)),
            Routing::Adaptive { .. } => push_distinct(self.choices(from, to), paths),
            Routing::Striped(_) => self.striped(from, to, paths),
        }
    }

    fn mended(
        &mut self,
        usual: Option<Vec<LinkIndex>>,
        from: VertexIndex,
        to: VertexIndex,
    ) -> Vec<LinkIndex> {
        let Some(mut usual) = usual else { return Vec::new() };
        let mended = usual.iter_mut().all(|link| {
            let found = if self.hops.is_down(*link) { self.in_trunk(*link, from, to) } else { Some(*link) };
            found.map(|found| *link = found).is_some()
        });
        if mended {
            return usual;
        }
        let longest = if self.topology.shape().is_tree() { usual.len() } else { usize::MAX };
        let detour = self.shortest(from, to, 0).filter(|path| path.len() <= longest);
        detour.unwrap_or_default()
    }

    fn in_trunk(&self, link: LinkIndex, from: VertexIndex, to: VertexIndex) -> Option<LinkIndex> {
        let (near, far) = (self.topology.from(link), self.topology.to(link));
        let alive = |other: &LinkIndex| self.topology.to(*other) == far && !self.hops.is_down(*other);
        Draw::new(from, to).pick(self.topology.links_from(near).filter(alive), near)
    }

    fn usual(&mut self, from: VertexIndex, to: VertexIndex) -> Option<Vec<LinkIndex>> {
        let Some(tables) = &self.tables else { return self.shortest(from, to, 0) };
        let rails = self.lids.len().max(1) as u64;
        let rail = Draw::new(from, to).at(from.0) % rails;
        // Not every host is in every rail.
        let walk = |rail: usize| tables.walk(from, rail as u8, *self.lids.get(rail)?.get(to.at())?).ok();
        walk(rail as usize).or_else(|| (0..self.lids.len()).find_map(walk))
    }

    fn shortest(&mut self, from: VertexIndex, to: VertexIndex, lane: u32) -> Option<Vec<LinkIndex>> {
        self.hops.shortest(from, to, Draw::new(from, to).lane(lane))
    }

    fn striped(&mut self, from: VertexIndex, to: VertexIndex, paths: &mut Paths) {
        let lids = self.stripes[to.at()].clone();
        if self.tables.is_some() && !lids.is_empty() {
            for (rail, lid) in lids {
                let usual = self.tables.as_ref().and_then(|tables| tables.walk(from, rail, lid).ok());
                paths.push(&self.mended(usual, from, to));
            }
            return;
        }
        for lane in 0..STRIPES as u32 {
            let path = self.shortest(from, to, lane);
            paths.push(&path.unwrap_or_default());
        }
    }

    fn ends(&self, from: VertexIndex, to: VertexIndex) -> Option<[u32; 2]> {
        Some([self.topology.group(from)?, self.topology.group(to)?])
    }

    fn over_an_intermediate(&mut self, from: VertexIndex, to: VertexIndex) -> Vec<LinkIndex> {
        let draw = Draw::new(from, to).lane(1);
        let (Some(groups), Some(ends)) = (&self.groups, self.ends(from, to)) else {
            // In a tree, uplinks drawn again lead to any of the switches where the path turns.
            return self.shortest(from, to, 1).unwrap_or_default();
        };
        let middle = groups.leaf_elsewhere(ends, draw).filter(|_| ends[0] != ends[1]);
        let over = middle.and_then(|middle| self.via(from, middle, to, draw));
        over.or_else(|| self.shortest(from, to, 0)).unwrap_or_default()
    }

    fn via(
        &mut self,
        from: VertexIndex,
        middle: VertexIndex,
        to: VertexIndex,
        draw: Draw,
    ) -> Option<Vec<LinkIndex>> {
        let mut path = self.hops.shortest(from, middle, draw)?;
        path.extend(self.hops.shortest(middle, to, draw)?);
        Some(without_loops(self.topology, path))
    }

    /// Intermediate switches, each with the draw of the way there; `None` if there are none but on shortest paths.
    fn intermediates(&self, from: VertexIndex, to: VertexIndex) -> Option<Vec<(VertexIndex, Draw)>> {
        let (near, far) = (Draw::new(from, to).lane(1), Draw::new(from, to).lane(2));
        let (groups, ends) = (self.groups.as_ref()?, self.ends(from, to)?);
        if ends[0] == ends[1] {
            return Some(vec![(groups.within(ends[0], near)?, near)]);
        }
        Some(vec![(groups.spine_elsewhere(ends, near)?, near), (groups.leaf_elsewhere(ends, far)?, far)])
    }

    /// The shortest path and others to choose from, the longest last.
    fn choices(&mut self, from: VertexIndex, to: VertexIndex) -> Vec<Vec<LinkIndex>> {
        let minimal = self.shortest(from, to, 0).unwrap_or_default();
        // Two hosts of one switch have no choice.
        if minimal.len() <= 2 {
            return vec![minimal];
        }
        let longer = match self.intermediates(from, to) {
            Some(switches) => {
                switches.into_iter().map(|(middle, draw)| self.via(from, middle, to, draw)).collect()
            }
            None => vec![self.shortest(from, to, 1), self.shortest(from, to, 2)],
        };
        let mut found: Vec<Vec<LinkIndex>> = [Some(minimal)].into_iter().chain(longer).flatten().collect();
        found.sort_by_key(Vec::len);
        found
    }
}
