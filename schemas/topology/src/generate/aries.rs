//! Cray XC with Aries routers (SAND2016-9525, 2.1; WP-Aries01-1112).
//!
//! A group is two cabinets of three chassis of sixteen slots; a slot holds one router and four nodes. Green links
//! connect a router with the fifteen others of its chassis, black ones, three for each, with the same slot of the
//! five other chassis, blue ones with other groups.
//!
//! | tiles, row by row | link |
//! |---|---|
//! | 0 to 14 | green, to the other fifteen slots in their order |
//! | 15 to 29 | black, three to each of the other five chassis in their order |
//! | 30 to 39 | blue, to other groups |
//! | 40 to 47 | processor tiles, two for each node |
//!
//! That is the assignment of `samplers::aries`; a real one differs and is read from `rtr --interconnect`.

use super::{MachineError, at_least, cable, named, not_too_large, positive, product, wrong};
use crate::class::{LinkClass, Shape, VertexKind};
use crate::cname::{CABINETS_PER_GROUP, CHASSIS_PER_CABINET, NODES_PER_ROUTER, SLOTS, Slot};
use crate::draft::{Draft, DraftVertex};
use crate::graph::Topology;
use serde::{Deserialize, Serialize};

const CHASSIS: u32 = CABINETS_PER_GROUP * CHASSIS_PER_CABINET;
const ROUTERS_PER_GROUP: u32 = CHASSIS * SLOTS;
/// Lanes of a black connection.
const LANES: u32 = 3;
const FIRST_BLACK: u32 = 15;
const FIRST_BLUE: u32 = 30;
const FIRST_PROCESSOR: u32 = 40;
const TILES: u32 = 48;
const BLUE_PER_ROUTER: u32 = FIRST_PROCESSOR - FIRST_BLUE;
/// Processor tiles of a node.
const TILES_PER_NODE: u32 = 2;

/// Parameters of a Cray XC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aries {
    /// Groups, each of two cabinets.
    pub groups: u32,
    /// Cabinets of a row, even; 0: all stand in one row.
    #[serde(default)]
    pub cabinets_per_row: u32,
    /// Slots that hold a blade: `c0-0c0` for a chassis, `c0-0c1s3`, `c0-0c1s0-8` for some of its slots. Empty: all.
    #[serde(default)]
    pub populated: Vec<String>,
    /// Blue links between two groups; without it, as many as the ports allow.
    #[serde(default)]
    pub blue_per_pair: Option<u32>,
    /// Green and black links, bytes a second and direction (4.7 to 5.25 GB/s, SAND2016-9525, 2.1).
    #[serde(default = "electrical")]
    pub electrical_bytes_per_s: f64,
    /// Blue links, bytes a second and direction.
    #[serde(default = "optical")]
    pub optical_bytes_per_s: f64,
    /// One of the two processor tiles of a node, bytes a second and direction: half of PCIe 3.0 x16.
    #[serde(default = "processor")]
    pub processor_bytes_per_s: f64,
}

fn electrical() -> f64 {
    5.25e9
}

fn optical() -> f64 {
    4.7e9
}

fn processor() -> f64 {
    8e9
}

impl Aries {
    /// A machine of `groups` full groups, with the usual capacities.
    pub fn new(groups: u32) -> Aries {
        Aries {
            groups,
            cabinets_per_row: 0,
            populated: Vec::new(),
            blue_per_pair: None,
            electrical_bytes_per_s: electrical(),
            optical_bytes_per_s: optical(),
            processor_bytes_per_s: processor(),
        }
    }

    pub(super) fn build(&self) -> Result<Topology, MachineError> {
        self.check()?;
        let mut draft = Draft::new(Some(Shape::Aries));
        let routers = self.routers(&mut draft)?;
        for group in routers.chunks(ROUTERS_PER_GROUP as usize) {
            self.green(&mut draft, group);
            self.black(&mut draft, group);
        }
        self.blue(&mut draft, &routers);
        self.nodes(&mut draft, &routers);
        Ok(draft.finish_unchecked())
    }

    fn check(&self) -> Result<(), MachineError> {
        at_least("groups", self.groups, 1)?;
        let routers = product(&[self.groups, ROUTERS_PER_GROUP]);
        not_too_large(routers.saturating_mul(5), routers.saturating_mul(28))?;
        if !self.cabinets_per_row.is_multiple_of(CABINETS_PER_GROUP) {
            return Err(wrong("cabinets_per_row", self.cabinets_per_row, "an even number"));
        }
        let most = self.blue_most();
        if self.blue_per_pair.is_some_and(|asked| asked > most) {
            let why = format!("at most {most} with {} groups", self.groups);
            return Err(wrong("blue_per_pair", self.blue_per_pair.unwrap_or(0), why));
        }
        positive("electrical_bytes_per_s", self.electrical_bytes_per_s)?;
        positive("optical_bytes_per_s", self.optical_bytes_per_s)?;
        positive("processor_bytes_per_s", self.processor_bytes_per_s)
    }

    fn blue_most(&self) -> u32 {
        (ROUTERS_PER_GROUP * BLUE_PER_ROUTER).checked_div(self.groups - 1).unwrap_or(0)
    }

    /// The slot of a router: groups, then chassis, then slots.
    fn slot(&self, router: u32) -> Slot {
        let cabinet = router / (CHASSIS_PER_CABINET * SLOTS);
        let per_row = if self.cabinets_per_row == 0 { u32::MAX } else { self.cabinets_per_row };
        Slot {
            row: cabinet / per_row,
            column: cabinet % per_row,
            chassis: router / SLOTS % CHASSIS_PER_CABINET,
            slot: router % SLOTS,
        }
    }

    /// The router of every slot, `None` where there is no blade.
    fn routers(&self, draft: &mut Draft) -> Result<Vec<Option<DraftVertex>>, MachineError> {
        let selections: Vec<Selection> =
            self.populated.iter().map(|text| Selection::parse(text)).collect::<Result<_, _>>()?;
        let slots: Vec<Slot> = (0..self.groups * ROUTERS_PER_GROUP).map(|router| self.slot(router)).collect();
        if let Some(at) = selections.iter().position(|s| !slots.iter().any(|slot| s.holds(*slot))) {
            return Err(wrong("populated", &self.populated[at], "no slot of this machine"));
        }
        let routers = slots.iter().zip(0..).map(|(slot, at)| {
            let there = selections.is_empty() || selections.iter().any(|s| s.holds(*slot));
            let group = Some(at / ROUTERS_PER_GROUP);
            there.then(|| named(draft, VertexKind::Router, slot.to_string(), TILES, group))
        });
        Ok(routers.collect())
    }

    fn green(&self, draft: &mut Draft, group: &[Option<DraftVertex>]) {
        for chassis in group.chunks(SLOTS as usize) {
            for (a, from) in (0..).zip(chassis) {
                for (b, to) in (0..).zip(chassis).skip(a as usize + 1) {
                    if let (Some(from), Some(to)) = (*from, *to) {
                        let ends = ((from, b - 1), (to, a));
                        cable(draft, ends.0, ends.1, LinkClass::Green, 0, self.electrical_bytes_per_s);
                    }
                }
            }
        }
    }

    fn black(&self, draft: &mut Draft, group: &[Option<DraftVertex>]) {
        for slot in 0..SLOTS {
            for a in 0..CHASSIS {
                for b in a + 1..CHASSIS {
                    let at = |chassis: u32| group[(chassis * SLOTS + slot) as usize];
                    let (Some(from), Some(to)) = (at(a), at(b)) else { continue };
                    for lane in 0..LANES {
                        let (near, far) = (FIRST_BLACK + LANES * (b - 1), FIRST_BLACK + LANES * a);
                        let ends = ((from, near + lane), (to, far + lane));
                        cable(draft, ends.0, ends.1, LinkClass::Black, 0, self.electrical_bytes_per_s);
                    }
                }
            }
        }
    }

    /// The cables of a pair of groups follow each other, and each goes to another router: cable `n` of a group
    /// goes to router `n mod 96`, at its blue port `n / 96`.
    fn blue(&self, draft: &mut Draft, routers: &[Option<DraftVertex>]) {
        let per_pair = self.blue_per_pair.unwrap_or_else(|| self.blue_most());
        let end = |group: u32, other: u32, cable: u32| {
            let rank = if other < group { other } else { other - 1 };
            let number = rank * per_pair + cable;
            let router = routers[(group * ROUTERS_PER_GROUP + number % ROUTERS_PER_GROUP) as usize]?;
            Some((router, FIRST_BLUE + number / ROUTERS_PER_GROUP))
        };
        for a in 0..self.groups {
            for b in a + 1..self.groups {
                for number in 0..per_pair {
                    if let (Some(near), Some(far)) = (end(a, b, number), end(b, a, number)) {
                        cable(draft, near, far, LinkClass::Blue, 0, self.optical_bytes_per_s);
                    }
                }
            }
        }
    }

    fn nodes(&self, draft: &mut Draft, routers: &[Option<DraftVertex>]) {
        for (at, router) in (0..).zip(routers) {
            let Some(router) = *router else { continue };
            for node in 0..NODES_PER_ROUTER {
                let name = format!("nid{:05}", at * NODES_PER_ROUTER + node);
                let group = Some(at / ROUTERS_PER_GROUP);
                let host = named(draft, VertexKind::Host, name, TILES_PER_NODE, group);
                for port in 0..TILES_PER_NODE {
                    let tile = FIRST_PROCESSOR + node * TILES_PER_NODE + port;
                    let ends = ((router, tile), (host, port));
                    cable(draft, ends.0, ends.1, LinkClass::Host, 0, self.processor_bytes_per_s);
                }
            }
        }
    }
}

/// Some slots of a chassis.
#[derive(Clone, Copy, Debug)]
struct Selection {
    first: Slot,
    last: u32,
}

impl Selection {
    fn parse(text: &str) -> Result<Selection, MachineError> {
        let whole = Slot::parse(&format!("{text}s0")).map(|first| Selection { first, last: SLOTS - 1 });
        let some = || {
            let (first, rest) = Slot::parse_prefix(text)?;
            let last = match rest {
                "" => first.slot,
                rest => rest.strip_prefix('-')?.parse().ok().filter(|last| *last < SLOTS)?,
            };
            Some(Selection { first, last })
        };
        let why = "a chassis such as c0-0c1, a slot such as c0-0c1s3, or slots such as c0-0c1s0-8";
        whole.or_else(some).ok_or_else(|| wrong("populated", text, why))
    }

    fn holds(&self, slot: Slot) -> bool {
        self.first.same_chassis(slot) && (self.first.slot..=self.last).contains(&slot.slot)
    }
}
