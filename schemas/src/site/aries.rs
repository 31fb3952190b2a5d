//! Where nodes sit on Aries routers, and which half of its router a node reports.
//!
//! Redundancy as in SAND2016-9525, section 3.3: the two service nodes of a router both collect all its tiles, each of
//! four compute nodes one half of them, so that every counter has two reporters. Which half follows from the node's
//! number: the left one (tile columns 0 to 3) at even positions of the blade, the right one (4 to 7) at odd ones.

use super::file::{AriesFile, Role, RoutersFile};
use super::host_list::parse_range;
use crate::Name;
use std::collections::BTreeMap;

/// Numbers that are set aside for the nodes of one router, whether a blade carries four or two.
pub const NIDS_PER_ROUTER: u64 = 4;
/// Routers (slots) of a chassis, and chassis of a cabinet.
const SLOTS: u64 = 16;
const CHASSIS: u64 = 3;

/// Tiles of a router that a node reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Half {
    /// Columns 0 to 3.
    Left,
    /// Columns 4 to 7.
    Right,
    /// All columns.
    Whole,
}

impl Half {
    /// Schema of its rows, which is the last word of their topic too.
    pub fn schema(self) -> &'static str {
        match self {
            Half::Left => "aries_rtr_left",
            Half::Right => "aries_rtr_right",
            Half::Whole => "aries_rtr",
        }
    }

    /// Whether it has this side.
    pub fn covers(self, side: Half) -> bool {
        self == Half::Whole || self == side
    }

    /// Columns of tiles.
    pub fn columns(self) -> std::ops::Range<u32> {
        match self {
            Half::Left => 0..4,
            Half::Right => 4..8,
            Half::Whole => 0..8,
        }
    }
}

/// The part of a router that a node reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterHalf {
    /// Cname without the chip: `c0-0c1s8`.
    pub router: Name,
    /// Which tiles.
    pub half: Half,
}

/// From node numbers to routers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AriesMap {
    /// Reporters wanted for each tile: 1 or 2.
    pub redundancy: usize,
    /// Stretches of node numbers.
    stretches: Vec<Stretch>,
}

/// Node numbers in order, [`NIDS_PER_ROUTER`] a router, from a first router on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stretch {
    first: Cname,
    from: u64,
    to: u64,
    cabinets_per_row: Option<u64>,
}

/// `c<cabinet>-<row>c<chassis>s<slot>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cname {
    cabinet: u64,
    row: u64,
    chassis: u64,
    slot: u64,
}

impl Cname {
    fn parse(text: &str) -> Option<Cname> {
        let rest = text.strip_prefix('c')?;
        let (cabinet, rest) = rest.split_once('-')?;
        let (row, rest) = rest.split_once('c')?;
        let (chassis, slot) = rest.split_once('s')?;
        let number = |text: &str| parse_range(text).filter(|_| text.len() <= 4).map(|(first, ..)| first);
        let cname = Cname {
            cabinet: number(cabinet)?,
            row: number(row)?,
            chassis: number(chassis)?,
            slot: number(slot)?,
        };
        (cname.chassis < CHASSIS && cname.slot < SLOTS).then_some(cname)
    }

    /// The router that stands `steps` slots later.
    fn later(self, steps: u64, cabinets_per_row: Option<u64>) -> Cname {
        let slots = self.slot + steps;
        let chassis = self.chassis + slots / SLOTS;
        let cabinet = self.cabinet + chassis / CHASSIS;
        let (row, cabinet) = match cabinets_per_row {
            Some(width) => (self.row + cabinet / width, cabinet % width),
            None => (self.row, cabinet),
        };
        Cname { cabinet, row, chassis: chassis % CHASSIS, slot: slots % SLOTS }
    }

    fn name(self) -> Option<Name> {
        let Cname { cabinet, row, chassis, slot } = self;
        Name::parse(&format!("c{cabinet}-{row}c{chassis}s{slot}")).ok()
    }
}

/// The number at the end of a host's name.
pub fn node_number(host: &Name) -> Option<u64> {
    let stem = host.as_str().trim_end_matches(|c: char| c.is_ascii_digit());
    host.as_str()[stem.len()..].parse().ok()
}

impl AriesMap {
    /// Reads `[aries]`; on the other side keys and sentences.
    pub(super) fn of(file: &AriesFile) -> Result<AriesMap, Vec<(String, String)>> {
        let mut problems = Vec::new();
        if !(1..=2).contains(&file.redundancy) {
            let text = format!("must be 1 or 2, not {}: a half of a router has two nodes", file.redundancy);
            problems.push(("aries.redundancy".to_string(), text));
        }
        let mut stretches: Vec<Stretch> = Vec::new();
        for (at, routers) in file.routers.iter().enumerate() {
            match Stretch::of(routers) {
                Ok(stretch) => {
                    match stretches.iter().find(|s| s.from <= stretch.to && stretch.from <= s.to) {
                        Some(other) => problems.push((
                            format!("aries.routers[{at}].nids"),
                            format!("{} overlaps with {}-{}", routers.nids, other.from, other.to),
                        )),
                        None => stretches.push(stretch),
                    }
                }
                Err((key, text)) => problems.push((format!("aries.routers[{at}].{key}"), text)),
            }
        }
        match problems.is_empty() {
            true => Ok(AriesMap { redundancy: file.redundancy, stretches }),
            false => Err(problems),
        }
    }

    /// The router of a node, and its position there, 0 to 3.
    pub fn router(&self, nid: u64) -> Option<(Name, u64)> {
        let stretch = self.stretches.iter().find(|s| (s.from..=s.to).contains(&nid))?;
        let steps = (nid - stretch.from) / NIDS_PER_ROUTER;
        let router = stretch.first.later(steps, stretch.cabinets_per_row).name()?;
        Some((router, (nid - stretch.from) % NIDS_PER_ROUTER))
    }

    /// What each of `hosts` reports. Hosts beyond the wanted redundancy report nothing of the router.
    pub fn halves<'a>(&self, hosts: impl Iterator<Item = (&'a Name, Role)>) -> BTreeMap<Name, RouterHalf> {
        let mut halves = BTreeMap::new();
        let mut reporters: BTreeMap<(Name, Half), usize> = BTreeMap::new();
        for (host, role) in hosts {
            let Some((router, position)) = node_number(host).and_then(|nid| self.router(nid)) else {
                continue;
            };
            let half = match (role, position % 2) {
                (Role::Service, _) => Half::Whole,
                (Role::Compute, 0) => Half::Left,
                (Role::Compute, _) => Half::Right,
                (Role::IbHost | Role::IbSwitches | Role::Slingshot, _) => continue,
            };
            let count = reporters.entry((router.clone(), half)).or_default();
            if *count < self.redundancy {
                *count += 1;
                halves.insert(host.clone(), RouterHalf { router, half });
            }
        }
        halves
    }
}

impl Stretch {
    fn of(file: &RoutersFile) -> Result<Stretch, (&'static str, String)> {
        let no_cname =
            || format!("{:?} is no router: c<cabinet>-<row>c<chassis 0-2>s<slot 0-15>", file.first);
        let first = Cname::parse(&file.first).ok_or_else(|| ("first", no_cname()))?;
        let range = || format!("{:?} is no range of node numbers such as 0-127", file.nids);
        let (from, to, _) = parse_range(&file.nids).ok_or_else(|| ("nids", range()))?;
        let width = file.cabinets_per_row.map(u64::from);
        if width.is_some_and(|width| width <= first.cabinet) {
            let text = format!("must be more than {}, the cabinet of {}", first.cabinet, file.first);
            return Err(("cabinets_per_row", text));
        }
        Ok(Stretch { first, from, to, cabinets_per_row: width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(first: &str, nids: &str, cabinets_per_row: Option<u32>) -> AriesMap {
        let routers = vec![RoutersFile { first: first.into(), nids: nids.into(), cabinets_per_row }];
        AriesMap::of(&AriesFile { redundancy: 2, routers }).unwrap()
    }

    fn router(map: &AriesMap, nid: u64) -> String {
        map.router(nid).map_or("none".into(), |(name, position)| format!("{name} n{position}"))
    }

    #[test]
    fn routers_follow_slots_then_chassis_then_cabinets_then_rows() {
        let map = map("c0-0c0s0", "0-9999", Some(2));
        assert_eq!(router(&map, 0), "c0-0c0s0 n0");
        assert_eq!(router(&map, 63), "c0-0c0s15 n3");
        assert_eq!(router(&map, 64), "c0-0c1s0 n0");
        assert_eq!(router(&map, 191), "c0-0c2s15 n3");
        assert_eq!(router(&map, 192), "c1-0c0s0 n0");
        assert_eq!(router(&map, 384), "c0-1c0s0 n0");
        assert_eq!(router(&map, 10_000), "none");
    }

    #[test]
    fn a_stretch_may_begin_anywhere() {
        let map = map("c3-1c1s14", "100-111", None);
        assert_eq!(router(&map, 100), "c3-1c1s14 n0");
        assert_eq!(router(&map, 109), "c3-1c2s0 n1");
    }

    #[test]
    fn the_number_of_a_node_ends_its_name() {
        for (name, number) in [("nid00012", Some(12)), ("r2n08", Some(8)), ("7", Some(7)), ("login-a", None)]
        {
            assert_eq!(node_number(&Name::parse(name).unwrap()), number, "{name}");
        }
    }

    #[test]
    fn what_is_no_router_is_refused() {
        for first in ["c0-0c3s0", "c0-0c0s16", "0-0c0s0", "c0-0c0s0a0", "c0-0c0", "c99999-0c0s0"] {
            assert_eq!(Cname::parse(first), None, "{first}");
        }
    }
}
