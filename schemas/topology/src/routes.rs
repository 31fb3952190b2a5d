//! The forwarding tables valid at one time: where a flow goes, and what it adds to each link (Brown 2018, 4.2).

use super::class::VertexKind;
use super::forwarding::NO_PORT;
use super::graph::{LinkIndex, Topology, VertexIndex};
use schemas::Time;

/// Links of the longest walk believed; InfiniBand drops a packet after 64 hops.
const HOPS_MAX: usize = 64;

/// Bytes that go, or a rate that flows, from a host to a LID.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// The sender.
    pub from: VertexIndex,
    /// In which rail.
    pub rail: u8,
    /// To which LID.
    pub lid: u16,
    /// How much: bytes, or bytes a second.
    pub bytes: f64,
}

/// Why a walk does not arrive. The vertex is where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// No port has the LID.
    #[error("no port has LID {0}")]
    UnknownLid(u16),
    /// The host has no port in this rail.
    #[error("the sender has no link in this rail")]
    NoLink(VertexIndex),
    /// There is no table of this switch at this time.
    #[error("there is no forwarding table of a switch on the way")]
    NoTable(VertexIndex),
    /// The switch drops what goes to the LID.
    #[error("a switch on the way has no entry for the LID")]
    NoEntry(VertexIndex),
    /// The switch sends on through a port that leads nowhere.
    #[error("a switch on the way forwards to port {1}, which leads nowhere")]
    DeadPort(VertexIndex, u8),
    /// It comes to a host that is not the destination.
    #[error("the way ends at another host")]
    WrongHost(VertexIndex),
    /// It goes round.
    #[error("the way goes round in a circle")]
    Loop(VertexIndex),
}

/// Forwarding tables as they were at one time.
#[derive(Clone, Debug)]
pub struct Routes<'t> {
    topology: &'t Topology,
    rows: Vec<Option<&'t [u8]>>,
}

impl Topology {
    /// The tables valid at `time`; without a time the latest. Of several for one switch the one that began last.
    pub fn routes_at(&self, time: Option<Time>) -> Routes<'_> {
        let mut rows = vec![None; self.vertex_count()];
        for table in self.forwarding.iter().filter(|table| table.holds(time)) {
            for switch in table.switches() {
                rows[switch.at()] = table.row(switch);
            }
        }
        Routes { topology: self, rows }
    }
}

impl<'t> Routes<'t> {
    /// Whether there is any table.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(Option::is_none)
    }

    /// The network they are about.
    pub fn topology(&self) -> &'t Topology {
        self.topology
    }

    /// Switches with a table, in the order of their numbers.
    pub fn switches(&self) -> impl Iterator<Item = (VertexIndex, &'t [u8])> + '_ {
        let rows = self.rows.iter().zip(0..);
        rows.filter_map(|(row, at)| row.map(|row| (VertexIndex(at), row)))
    }

    /// The link on which `at` sends on what goes to `lid`.
    ///
    /// # Errors
    /// [`RouteError`] of this one switch.
    #[inline]
    pub fn next(&self, at: VertexIndex, lid: u16) -> Result<LinkIndex, RouteError> {
        let row = self.rows[at.at()].ok_or(RouteError::NoTable(at))?;
        let port = row.get(usize::from(lid)).copied().unwrap_or(NO_PORT);
        if port == NO_PORT {
            return Err(RouteError::NoEntry(at));
        }
        self.topology.link(at, u16::from(port)).ok_or(RouteError::DeadPort(at, port))
    }

    /// The links from `from` to the owner of `lid`, appended to `path`.
    ///
    /// # Errors
    /// [`RouteError`] names where it ends; `path` then holds the links up to there.
    pub fn walk_into(
        &self,
        from: VertexIndex,
        rail: u8,
        lid: u16,
        path: &mut Vec<LinkIndex>,
    ) -> Result<(), RouteError> {
        let topology = self.topology;
        let (goal, _) = topology.lids().owner(rail, lid).ok_or(RouteError::UnknownLid(lid))?;
        let mut at = from;
        if at != goal && topology.kind(at) == VertexKind::Host {
            let first = topology.links_from(at).find(|link| topology.rail(*link) == rail);
            let first = first.ok_or(RouteError::NoLink(at))?;
            path.push(first);
            at = topology.to(first);
        }
        for _ in 0..HOPS_MAX {
            if at == goal {
                return Ok(());
            }
            if topology.kind(at) == VertexKind::Host {
                return Err(RouteError::WrongHost(at));
            }
            let next = self.next(at, lid)?;
            path.push(next);
            at = topology.to(next);
        }
        Err(RouteError::Loop(at))
    }

    /// The links from `from` to the owner of `lid`.
    ///
    /// # Errors
    /// [`RouteError`] names where it ends.
    pub fn walk(&self, from: VertexIndex, rail: u8, lid: u16) -> Result<Vec<LinkIndex>, RouteError> {
        let mut path = Vec::new();
        self.walk_into(from, rail, lid, &mut path)?;
        Ok(path)
    }

    /// Adds each flow to the links it takes; `loads` has one entry for each link. The result is how much did not
    /// arrive, which is added to no link.
    pub fn project(&self, flows: &[Flow], loads: &mut [f64]) -> f64 {
        let mut lost = 0.0;
        let mut path = Vec::with_capacity(HOPS_MAX);
        for flow in flows {
            path.clear();
            match self.walk_into(flow.from, flow.rail, flow.lid, &mut path) {
                Ok(()) => path.iter().for_each(|link| loads[link.at()] += flow.bytes),
                Err(_) => lost += flow.bytes,
            }
        }
        lost
    }

    /// The flows, by their index in `flows`, that cross `link`.
    pub fn crossing<'f>(&'f self, flows: &'f [Flow], link: LinkIndex) -> impl Iterator<Item = usize> + 'f {
        let crosses = move |flow: &Flow| {
            let path = self.walk(flow.from, flow.rail, flow.lid);
            path.is_ok_and(|path| path.contains(&link))
        };
        flows.iter().enumerate().filter(move |(_, flow)| crosses(flow)).map(|(at, _)| at)
    }
}
