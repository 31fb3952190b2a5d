//! The owner of each LID, and through which port a switch sends on what goes there, from when until when.

use super::graph::{NONE, VertexIndex};
use schemas::Time;

/// Highest unicast LID of InfiniBand.
pub const LID_MAX: u16 = 0xbfff;
/// No port: the switch drops what goes there.
pub(super) const NO_PORT: u8 = u8::MAX;

/// The ends that LIDs name. Each rail is a subnet with LIDs of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lids {
    /// By rail and LID: the vertex, or none.
    rails: Vec<Vec<u32>>,
    /// By rail and LID: the port of that vertex; 0 for the management port of a switch.
    ports: Vec<Vec<u16>>,
}

impl Lids {
    /// Gives `lid` of `rail` to a port. `Err` is the vertex and port that have it already.
    pub(super) fn give(
        &mut self,
        rail: u8,
        lid: u16,
        vertex: VertexIndex,
        port: u16,
    ) -> Result<(), (VertexIndex, u16)> {
        let (rail, lid) = (usize::from(rail), usize::from(lid));
        if self.rails.len() <= rail {
            self.rails.resize(rail + 1, Vec::new());
            self.ports.resize(rail + 1, Vec::new());
        }
        if self.rails[rail].len() <= lid {
            self.rails[rail].resize(lid + 1, NONE);
            self.ports[rail].resize(lid + 1, 0);
        }
        let (owner, at) = (self.rails[rail][lid], self.ports[rail][lid]);
        if owner != NONE {
            return if (owner, at) == (vertex.0, port) { Ok(()) } else { Err((VertexIndex(owner), at)) };
        }
        (self.rails[rail][lid], self.ports[rail][lid]) = (vertex.0, port);
        Ok(())
    }

    /// The vertex and port that `lid` names in `rail`.
    pub fn owner(&self, rail: u8, lid: u16) -> Option<(VertexIndex, u16)> {
        let vertex = *self.rails.get(usize::from(rail))?.get(usize::from(lid))?;
        let port = *self.ports.get(usize::from(rail))?.get(usize::from(lid))?;
        (vertex != NONE).then_some((VertexIndex(vertex), port))
    }

    /// All LIDs of `rail` that a port has, in their order.
    pub fn of_rail(&self, rail: u8) -> impl Iterator<Item = (u16, VertexIndex, u16)> + '_ {
        let lids = self.rails.get(usize::from(rail)).map_or(0, Vec::len);
        (0..lids as u32).filter_map(move |lid| {
            let lid = lid as u16;
            self.owner(rail, lid).map(|(vertex, port)| (lid, vertex, port))
        })
    }

    /// The LIDs of `vertex` in `rail`, in their order: several for each port where the LMC is above 0.
    pub fn of_vertex(&self, rail: u8, vertex: VertexIndex) -> impl Iterator<Item = u16> + '_ {
        self.of_rail(rail).filter(move |(_, owner, _)| *owner == vertex).map(|(lid, ..)| lid)
    }

    /// The lowest LID of each of `vertices` in `rail`, by the number of the vertex; 0 where there is none.
    pub fn lowest(&self, rail: u8, vertices: usize) -> Vec<u16> {
        let mut lowest = vec![0; vertices];
        for (lid, vertex, _) in self.of_rail(rail) {
            if lowest[vertex.at()] == 0 {
                lowest[vertex.at()] = lid;
            }
        }
        lowest
    }

    /// Number of rails with LIDs.
    pub fn rail_count(&self) -> usize {
        self.rails.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.rails.iter().map(|lids| lids.len() * 6).sum()
    }
}

/// Linear forwarding tables of switches during one time.
#[derive(Clone, Debug, PartialEq)]
pub struct ForwardingTable {
    /// Valid from this time on; `None`: since ever.
    pub from: Option<Time>,
    /// Valid before this time; `None`: for ever.
    pub until: Option<Time>,
    /// The row of each vertex, or none.
    rows: Vec<u32>,
    /// LIDs of a row.
    width: usize,
    ports: Vec<u8>,
}

impl ForwardingTable {
    /// An empty table over `vertices`, for LIDs below `width`.
    pub fn new(vertices: usize, width: usize, from: Option<Time>, until: Option<Time>) -> ForwardingTable {
        ForwardingTable { from, until, rows: vec![NONE; vertices], width, ports: Vec::new() }
    }

    /// Lets `switch` send on through `port` what goes to `lid`. LIDs beyond the width are not kept.
    pub fn set(&mut self, switch: VertexIndex, lid: u16, port: u8) {
        let (row, lid) = (self.row_of(switch), usize::from(lid));
        if lid < self.width {
            self.ports[row * self.width + lid] = port;
        }
    }

    fn row_of(&mut self, switch: VertexIndex) -> usize {
        if self.rows[switch.at()] == NONE {
            self.rows[switch.at()] = (self.ports.len() / self.width.max(1)) as u32;
            self.ports.resize(self.ports.len() + self.width.max(1), NO_PORT);
        }
        self.rows[switch.at()] as usize
    }

    /// The ports of `switch` by LID, 255 where there is none; `None` if there is no table of it.
    pub fn row(&self, switch: VertexIndex) -> Option<&[u8]> {
        let row = *self.rows.get(switch.at())?;
        let start = row as usize * self.width;
        if row == NONE { None } else { self.ports.get(start..start + self.width) }
    }

    /// The port through which `switch` sends on what goes to `lid`.
    pub fn port(&self, switch: VertexIndex, lid: u16) -> Option<u8> {
        self.row(switch)?.get(usize::from(lid)).copied().filter(|port| *port != NO_PORT)
    }

    /// Whether it is valid at `time`. Without a time: whether it still is.
    pub fn holds(&self, time: Option<Time>) -> bool {
        match time {
            Some(time) => {
                self.from.is_none_or(|from| from <= time) && self.until.is_none_or(|until| time < until)
            }
            None => self.until.is_none(),
        }
    }

    /// The vertices that have a table.
    pub fn switches(&self) -> impl Iterator<Item = VertexIndex> + '_ {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| **row != NONE).map(|(at, _)| VertexIndex(at as u32))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.rows.len() * 4 + self.ports.len()
    }
}
