//! A line of the point-to-point file: its cells, its two sides, its type.

use crate::LinkClass;
use schemas::xname::CableEnd;

/// The columns, in their order.
const COLUMNS: [&str; 17] = [
    "cable_id",
    "src_conn_a",
    "src_conn_b",
    "dst_conn_a",
    "dst_conn_b",
    "stage",
    "src_egress_a",
    "src_egress_b",
    "dst_egress_a",
    "dst_egress_b",
    "link_type",
    "src_group",
    "dst_group",
    "part_number",
    "part_length",
    "calculated_distance",
    "route",
];
const LINK_TYPE: usize = 10;
/// Columns of the two ends and of the group.
const SOURCE: (usize, usize, usize) = (1, 2, 11);
const DESTINATION: (usize, usize, usize) = (3, 4, 12);
/// Longest part of a cell that a fault repeats, in characters.
const CELL_CHARS: usize = 32;

/// What a line holds.
#[derive(Debug, PartialEq)]
pub(super) enum PointLine {
    /// A comment, or no text.
    Nothing,
    /// The names of the columns.
    Header,
    Cable(Cable),
}

/// A cable as the file describes it.
#[derive(Debug, PartialEq)]
pub(super) struct Cable {
    pub class: LinkClass,
    pub source: Side,
    pub destination: Side,
}

/// One side of a cable: up to two ends, and their group.
#[derive(Debug, PartialEq)]
pub(super) struct Side {
    pub ends: Vec<CableEnd>,
    pub group: Option<GroupCell>,
}

/// A group, and the column that gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupCell {
    pub column: &'static str,
    pub number: u32,
}

/// Whether `line` is a header or a cable of a point-to-point file.
pub(super) fn is_point_line(line: &str) -> bool {
    let cells = cells(line);
    let has_jack = || cells.get(SOURCE.0).is_some_and(|cell| CableEnd::parse(cell).is_some());
    let has_type = || cells.get(LINK_TYPE).is_some_and(|cell| class(cell).is_some());
    is_header(&cells) || (cells.len() == COLUMNS.len() && has_jack() && has_type())
}

/// What `line` holds.
///
/// # Errors
/// The column and value that fit no cable.
pub(super) fn parse(line: &str) -> Result<PointLine, String> {
    let text = line.trim_start_matches('\u{feff}').trim_start_matches(['"', ' ', '\t']);
    if text.starts_with('#') || text.chars().all(|c| c == ',' || c.is_whitespace()) {
        return Ok(PointLine::Nothing);
    }
    let cells = cells(line);
    if is_header(&cells) {
        return header(&cells);
    }
    if cells.len() < COLUMNS.len() {
        return Err(format!("the line has {} columns, not {}.", cells.len(), COLUMNS.len()));
    }
    let class =
        class(cells[LINK_TYPE]).ok_or_else(|| bad(&cells, LINK_TYPE, "is not edge, local or global"))?;
    let (source, destination) = (side(&cells, SOURCE)?, side(&cells, DESTINATION)?);
    if source.ends.is_empty() && destination.ends.is_empty() {
        return Err("src_conn_a to dst_conn_b name no end.".to_string());
    }
    Ok(PointLine::Cable(Cable { class, source, destination }))
}

/// At most as many cells as there are columns, without quotes. A comma between quotes is part of a cell.
fn cells(line: &str) -> Vec<&str> {
    let mut quoted = false;
    let separates = |c: char| {
        quoted ^= c == '"';
        c == ',' && !quoted
    };
    let cells = line.trim_start_matches('\u{feff}').split(separates).take(COLUMNS.len());
    cells.map(|cell| cell.trim().trim_matches('"').trim()).collect()
}

fn is_header(cells: &[&str]) -> bool {
    cells.len() > 1 && cells.iter().zip(COLUMNS).take(2).all(|(cell, name)| cell.eq_ignore_ascii_case(name))
}

/// The columns up to the groups are read by position, so their names must be the known ones.
fn header(cells: &[&str]) -> Result<PointLine, String> {
    for (at, name) in COLUMNS.iter().enumerate().take(DESTINATION.2 + 1) {
        let cell = cells.get(at).copied().unwrap_or("");
        if !cell.eq_ignore_ascii_case(name) {
            return Err(format!("column {} of the header is {:?}, not {name:?}.", at + 1, cut(cell)));
        }
    }
    Ok(PointLine::Header)
}

fn class(cell: &str) -> Option<LinkClass> {
    match cell.to_ascii_lowercase().as_str() {
        "edge" => Some(LinkClass::Host),
        "local" => Some(LinkClass::Local),
        "global" => Some(LinkClass::Global),
        _ => None,
    }
}

fn side(cells: &[&str], (a, b, group): (usize, usize, usize)) -> Result<Side, String> {
    let mut ends = Vec::new();
    for at in [a, b] {
        ends.extend(given(cells, at).map(|cell| end(cells, at, cell)).transpose()?);
    }
    // Some files write the only end into both columns.
    ends.dedup();
    let number = |cell: &str| match cell.parse::<u16>() {
        Ok(number) => Ok(GroupCell { column: COLUMNS[group], number: u32::from(number) }),
        Err(_) => Err(bad(cells, group, "is not the number of a group, and not none")),
    };
    Ok(Side { ends, group: given(cells, group).map(number).transpose()? })
}

fn end(cells: &[&str], at: usize, cell: &str) -> Result<CableEnd, String> {
    let wrong = || bad(cells, at, "is neither a jack (x3000c0r15j14) nor a NIC (x3000c0s17b1n0h0)");
    CableEnd::parse(cell).ok_or_else(wrong)
}

/// The cell, unless it is one of the words for none.
fn given<'a>(cells: &[&'a str], at: usize) -> Option<&'a str> {
    let none = ["", "none", "n/a"];
    cells.get(at).copied().filter(|cell| !none.iter().any(|word| cell.eq_ignore_ascii_case(word)))
}

fn bad(cells: &[&str], at: usize, why: &str) -> String {
    format!("{} {:?} {why}.", COLUMNS[at], cut(cells[at]))
}

fn cut(cell: &str) -> String {
    cell.chars().take(CELL_CHARS).collect()
}
