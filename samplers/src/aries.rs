//! One dragonfly group of Aries routers: names, tiles, routes, and what load does to a link.
//!
//! A group has up to six chassis of sixteen routers, four nodes a router. A link is directed and is seen by the
//! input tile of the router that receives it: that is where `INQ_PRF_INCOMING_FLIT` and `ROWBUS_STALL_CNT` count.
//!
//! Assignment of the 40 network tiles of a router, tile `k` being row `k / 8`, column `k % 8`:
//!
//! | tiles | link |
//! |---|---|
//! | 0 to 14 | green, from the other fifteen slots of the chassis, in order of slot |
//! | 15 to 29 | black, three from the same slot of each of the other five chassis, in order of chassis |
//! | 30 to 39 | blue, to other groups; silent here, as there is one group |
//!
//! A real Aries is wired otherwise; the fixed order is ours. Links to chassis that are not there are silent too.

use serde::{Deserialize, Serialize};

/// Rows of network tiles.
pub const ROWS: u32 = 5;
/// Columns of tiles.
pub const COLUMNS: u32 = 8;
/// Network tiles of a router.
pub const TILES: u32 = ROWS * COLUMNS;
/// Virtual channels of a tile.
pub const CHANNELS: usize = 8;
/// Routers of a chassis.
pub const SLOTS: u32 = 16;
/// Chassis of a whole group: two cabinets of three.
pub const CHASSIS_MAX: u32 = 6;
/// Nodes of a router.
pub const NODES_PER_ROUTER: u32 = 4;
/// What an electrical link carries in one direction, in bytes a second.
pub const LINK_BYTES_PER_S: f64 = 5.25e9;
/// Payload of a flit. Only the scale of the flit counters hangs on it, no ratio does.
pub const FLIT_BYTES: f64 = 16.0;
/// Lanes of a black connection.
const LANES: u32 = 3;
const FIRST_BLACK: u32 = 15;
const FIRST_BLUE: u32 = 30;

/// Class of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkClass {
    /// Inside a chassis.
    Green,
    /// Between the chassis of a group.
    Black,
}

/// A directed link and the tile that sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Router that receives, and whose tile counts.
    pub router: String,
    /// Row of the tile.
    pub row: u32,
    /// Column of the tile.
    pub column: u32,
    /// Its class.
    pub class: LinkClass,
    /// Router that sends.
    pub from: String,
}

/// How many routers there are and how they are wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Chassis, 1 to [`CHASSIS_MAX`].
    pub chassis: u32,
}

impl Layout {
    /// Number of routers.
    pub fn routers(self) -> u32 {
        self.chassis * SLOTS
    }

    /// Number of nodes.
    pub fn nodes(self) -> u32 {
        self.routers() * NODES_PER_ROUTER
    }

    /// All links, in the order of router and tile.
    pub fn links(self) -> Vec<Link> {
        let tiles = (0..self.routers()).flat_map(|router| (0..TILES).map(move |tile| (router, tile)));
        tiles
            .filter_map(|(router, tile)| {
                let (class, from) = self.sender(router, tile)?;
                Some(Link {
                    router: router_name(router),
                    row: tile / COLUMNS,
                    column: tile % COLUMNS,
                    class,
                    from: router_name(from),
                })
            })
            .collect()
    }

    /// The router at the other end of a tile, if that end exists in this machine.
    pub fn sender(self, router: u32, tile: u32) -> Option<(LinkClass, u32)> {
        let (chassis, slot) = (router / SLOTS, router % SLOTS);
        if tile < FIRST_BLACK {
            let from = if tile < slot { tile } else { tile + 1 };
            return Some((LinkClass::Green, chassis * SLOTS + from));
        }
        if tile >= FIRST_BLUE {
            return None;
        }
        let rank = (tile - FIRST_BLACK) / LANES;
        let from = if rank < chassis { rank } else { rank + 1 };
        (from < self.chassis).then_some((LinkClass::Black, from * SLOTS + slot))
    }
}

/// The routers that a packet visits after `from`: the minimal route, at most one green and one black hop.
/// Which of the two comes first hangs on the parity of the ends, so that both are used and each pair is fixed.
pub fn route(from: u32, to: u32) -> Vec<u32> {
    let (a, b) = ((from / SLOTS, from % SLOTS), (to / SLOTS, to % SLOTS));
    if from == to {
        return Vec::new();
    }
    if a.0 == b.0 || a.1 == b.1 {
        return vec![to];
    }
    let green_first = (a.0 + a.1 + b.0 + b.1).is_multiple_of(2);
    let between = if green_first { a.0 * SLOTS + b.1 } else { b.0 * SLOTS + a.1 };
    vec![between, to]
}

/// Tiles of `to` that face its neighbour `from`: one for green, three for black.
pub(crate) fn tiles_between(from: u32, to: u32) -> std::ops::Range<u32> {
    let (a, b) = ((from / SLOTS, from % SLOTS), (to / SLOTS, to % SLOTS));
    let rank = |other: u32, own: u32| {
        if other < own { other } else { other.saturating_sub(1) }
    };
    if a.0 == b.0 {
        let first = rank(a.1, b.1);
        first..first + 1
    } else {
        let first = FIRST_BLACK + LANES * rank(a.0, b.0);
        first..first + LANES
    }
}

/// Stalls per flit of a link at a utilisation (bytes asked for over capacity).
///
/// Below 0.96 it grows like the queue of M/M/1, `0.02 + 0.042 u / (1 - u)`: 0.025 at 0.1, 0.06 at 0.5, 0.4 at 0.9,
/// 1.03 at 0.96. Beyond, where that formula has its pole, a straight line continues to 5 at 1.46: queues are finite.
pub fn stall_ratio(utilisation: f64) -> f64 {
    const KNEE: f64 = 0.96;
    let queue = |u: f64| 0.02 + 0.042 * u / (1.0 - u);
    if utilisation < KNEE {
        queue(utilisation.max(0.0))
    } else {
        (queue(KNEE) + 8.0 * (utilisation - KNEE)).min(5.0)
    }
}

/// Name of a node: `nid00012`.
pub fn node_name(node: u32) -> String {
    format!("nid{node:05}")
}

/// Name of a router without the suffix `a0`: `c0-0c1s8`.
pub fn router_name(router: u32) -> String {
    let (chassis, slot) = (router / SLOTS, router % SLOTS);
    format!("c{}-0c{}s{slot}", chassis / 3, chassis % 3)
}

/// Name of the series of a tile's stall ratio.
pub fn tile_series(router: u32, tile: u32) -> String {
    let (row, column) = (tile / COLUMNS, tile % COLUMNS);
    format!("aries_stall_ratio/{}/r{row}c{column}", router_name(router))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_group_has_15_green_and_15_black_links_a_router() {
        let links = Layout { chassis: 6 }.links();
        assert_eq!(links.len(), 96 * 30);
        let of_one = |class| links.iter().filter(|l| l.router == "c1-0c2s7" && l.class == class).count();
        assert_eq!((of_one(LinkClass::Green), of_one(LinkClass::Black)), (15, 15));
    }

    #[test]
    fn a_tile_and_its_sender_agree() {
        let layout = Layout { chassis: 6 };
        for to in 0..layout.routers() {
            for tile in 0..FIRST_BLUE {
                let (_, from) = layout.sender(to, tile).unwrap();
                assert!(tiles_between(from, to).contains(&tile), "{from} {to} {tile}");
            }
        }
    }

    #[test]
    fn routes_take_at_most_one_green_and_one_black_hop() {
        for from in 0..96 {
            for to in 0..96 {
                let mut last = from;
                for next in route(from, to) {
                    assert!(last / SLOTS == next / SLOTS || last % SLOTS == next % SLOTS);
                    last = next;
                }
                assert_eq!(last, to);
                assert!(route(from, to).len() <= 2);
            }
        }
    }

    #[test]
    fn stalls_never_fall_with_load_and_pass_the_documented_points() {
        let points: Vec<f64> = (0..200).map(|i| stall_ratio(f64::from(i) / 100.0)).collect();
        assert!(points.windows(2).all(|w| w[0] <= w[1]));
        assert!((stall_ratio(0.9) - 0.4).abs() < 0.01 && stall_ratio(3.0) == 5.0);
        assert!((0.02..0.05).contains(&stall_ratio(0.3)));
    }

    #[test]
    fn names_are_those_of_the_machine_room() {
        assert_eq!(router_name(24), "c0-0c1s8");
        assert_eq!(router_name(3 * 16), "c1-0c0s0");
        assert_eq!(tile_series(24, 3), "aries_stall_ratio/c0-0c1s8/r0c3");
    }
}
