//! Names of Cray's machine room: `c1-0c2s7a0l13` is cabinet column 1 of row 0, chassis 2, slot 7, Aries 0,
//! tile row 1 column 3; `c1-0c2s7n3` is a node of that slot.

use std::fmt;

/// Chassis of a cabinet.
pub const CHASSIS_PER_CABINET: u32 = 3;
/// Slots of a chassis.
pub const SLOTS: u32 = 16;
/// Nodes of a slot, which share one router.
pub const NODES_PER_ROUTER: u32 = 4;
/// Cabinets of a group.
pub const CABINETS_PER_GROUP: u32 = 2;

/// A slot, which holds one router: `c1-0c2s7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// Row of cabinets.
    pub row: u32,
    /// Cabinet of the row, called column.
    pub column: u32,
    /// Chassis of the cabinet, 0 to 2.
    pub chassis: u32,
    /// Slot of the chassis, 0 to 15.
    pub slot: u32,
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}-{}c{}s{}", self.column, self.row, self.chassis, self.slot)
    }
}

impl Slot {
    /// The slot that `text` begins with, and what follows it.
    pub fn parse_prefix(text: &str) -> Option<(Slot, &str)> {
        let (column, rest) = number(text.strip_prefix('c')?)?;
        let (row, rest) = number(rest.strip_prefix('-')?)?;
        let (chassis, rest) = number(rest.strip_prefix('c')?)?;
        let (slot, rest) = number(rest.strip_prefix('s')?)?;
        (chassis < CHASSIS_PER_CABINET && slot < SLOTS).then_some(())?;
        Some((Slot { row, column, chassis, slot }, rest))
    }

    /// A slot or its router: `c1-0c2s7` or `c1-0c2s7a0`.
    pub fn parse(text: &str) -> Option<Slot> {
        match Slot::parse_prefix(text)? {
            (slot, "" | "a0") => Some(slot),
            _ => None,
        }
    }

    /// Chassis of the group: 0 to 5, three of the even cabinet column, then three of the odd one.
    pub fn chassis_in_group(self) -> u32 {
        self.column % CABINETS_PER_GROUP * CHASSIS_PER_CABINET + self.chassis
    }

    /// Whether both slots are in the same chassis.
    pub fn same_chassis(self, other: Slot) -> bool {
        (self.row, self.column, self.chassis) == (other.row, other.column, other.chassis)
    }

    /// Whether both slots are in the same pair of cabinets.
    pub fn same_group(self, other: Slot) -> bool {
        (self.row, self.column / CABINETS_PER_GROUP) == (other.row, other.column / CABINETS_PER_GROUP)
    }
}

/// A tile: `c1-0c2s7a0l13`. What follows it is returned too.
pub fn parse_tile(text: &str) -> Option<(Slot, u16, &str)> {
    let (slot, rest) = Slot::parse_prefix(text)?;
    let tile = rest.strip_prefix("a0l")?;
    match tile.as_bytes() {
        [row @ b'0'..=b'5', column @ b'0'..=b'7', ..] => {
            Some((slot, u16::from(row - b'0') * 8 + u16::from(column - b'0'), &tile[2..]))
        }
        _ => None,
    }
}

/// A node: `c1-0c2s7n3` is the slot and 3.
pub fn parse_node(text: &str) -> Option<(Slot, u32)> {
    let (slot, rest) = Slot::parse_prefix(text)?;
    let (node, rest) = number(rest.strip_prefix('n')?)?;
    (rest.is_empty() && node < NODES_PER_ROUTER).then_some((slot, node))
}

/// Up to five digits, and what follows.
fn number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=5).contains(&digits).then_some(())?;
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cnames_are_read_and_written() {
        let slot = Slot { row: 0, column: 1, chassis: 2, slot: 7 };
        assert_eq!((Slot::parse("c1-0c2s7a0"), slot.to_string().as_str()), (Some(slot), "c1-0c2s7"));
        assert_eq!(parse_tile("c1-0c2s7a0l13(0:5:7)"), Some((slot, 11, "(0:5:7)")));
        assert_eq!(parse_node("c1-0c2s7n3"), Some((slot, 3)));
        assert_eq!(slot.chassis_in_group(), 5);
        for text in ["", "c", "c1-0c3s0", "c1-0c0s16", "c1-0c0s0a1", "c999999-0c0s0", "c1-0c0s0a0é"] {
            assert_eq!(Slot::parse(text), None, "{text}");
        }
        for text in ["c0-0c0s0a0l58", "c0-0c0s0a0l6", "c0-0c0s0a0lé"] {
            assert_eq!(parse_tile(text), None, "{text}");
        }
    }
}
