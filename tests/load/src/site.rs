//! How large the machine is, and the names of its routers, links and clients.

use samplers::aries::{COLUMNS, NODES_PER_ROUTER, SLOTS, TILES};

/// Routers of one Trinity.
pub const TRINITY_ROUTERS: f64 = 5_000.0;
/// Chassis of a cabinet.
const CHASSIS_PER_CABINET: u32 = 3;
/// Cabinets in a row: the `X` of a cname; its `Y` is the row in the machine room.
const CABINETS_PER_ROW: u32 = 12;

/// A machine of whole routers, each with four nodes that write to one Lustre file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Aries routers.
    pub routers: u32,
}

impl Site {
    /// So many Trinities; one router at least.
    pub fn of_trinities(trinities: f64) -> Site {
        Site { routers: (TRINITY_ROUTERS * trinities).round().max(1.0) as u32 }
    }

    /// Compute nodes; each is a Lustre client.
    pub fn nodes(self) -> u32 {
        self.routers * NODES_PER_ROUTER
    }

    /// Network tiles.
    pub fn tiles(self) -> u32 {
        self.routers * TILES
    }

    /// Series that the rows make: one a tile, one a client.
    pub fn series(self) -> u32 {
        self.tiles() + SERIES_OF_A_CLIENT * self.nodes()
    }
}

/// What a client writes, what it reads, and its metadata operations.
const SERIES_OF_A_CLIENT: u32 = 3;

/// The router's name without the suffix `a0`: `c11-2c1s8`.
pub fn router_name(router: u32) -> String {
    let (chassis, slot) = (router / SLOTS, router % SLOTS);
    let cabinet = chassis / CHASSIS_PER_CABINET;
    let (x, y) = (cabinet % CABINETS_PER_ROW, cabinet / CABINETS_PER_ROW);
    format!("c{x}-{y}c{}s{slot}", chassis % CHASSIS_PER_CABINET)
}

/// The series of a tile, tiles of all routers being numbered through.
pub fn tile_series(tile: u32) -> String {
    let (row, column) = (tile % TILES / COLUMNS, tile % COLUMNS);
    format!("aries_stall_ratio/{}/r{row}c{column}", router_name(tile / TILES))
}

/// The series of a client.
pub fn client_series(node: u32) -> String {
    let (node, mount) = (samplers::aries::node_name(node), samplers::ldms_rows::FILE_SYSTEM);
    format!("lustre_write_rate/{node}/{mount}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_trinity_has_the_series_of_the_design() {
        let site = Site::of_trinities(1.0);
        assert_eq!((site.routers, site.nodes(), site.series()), (5_000, 20_000, 260_000));
        let names: BTreeSet<String> = (0..site.routers).map(router_name).collect();
        assert_eq!(names.len(), 5_000);
        assert!(names.contains("c11-2c1s8") && names.contains("c0-0c0s0"));
    }

    #[test]
    fn series_have_the_names_that_the_decoder_gives() {
        assert_eq!(tile_series(0), "aries_stall_ratio/c0-0c0s0/r0c0");
        assert_eq!(tile_series(40 * 24 + 39), "aries_stall_ratio/c0-0c1s8/r4c7");
        assert_eq!(client_series(12), "lustre_write_rate/nid00012/snx11137");
    }
}
