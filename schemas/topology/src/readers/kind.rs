//! The kind of a text, by its first lines.

use super::{hosts, interconnect, names, point_line, tables};
use crate::cname;

/// Lines looked at before a text counts as unknown.
const LINES: usize = 500;

/// A form in which networks are described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TopologyKind {
    /// Output of `ibnetdiscover`.
    Ibnetdiscover,
    /// `ibdiagnet.lst` or `opensm-subnet.lst`.
    Lst,
    /// `ibdiagnet.fdbs` or `opensm.fdbs`.
    Fdbs,
    /// Output of `ibroute`, `dump_lfts.sh` or `opensm -R file`'s dump.
    Lfts,
    /// Node name map: GUIDs and names.
    Names,
    /// Names of nodes with xnames, in the form of `/etc/hosts`.
    Hosts,
    /// Output of Cray's `rtr --interconnect`.
    Interconnect,
    /// Nodes with their numbers and cnames, such as `xtprocadmin` prints.
    Nodes,
    /// HPE's list of Slingshot cables, `Shasta_system_hsn_pt_pt.csv`.
    PointToPoint,
    /// The plain form, TOML or JSON.
    Plain,
    /// Parameters of a machine, TOML or JSON.
    Machine,
}

impl TopologyKind {
    /// The form of `text`, if it is one of them.
    pub fn of(text: &str) -> Option<TopologyKind> {
        let by_line = text.lines().take(LINES).find_map(line_kind);
        by_line.or_else(|| document_kind(text))
    }

    /// Name of the form, for a person.
    pub fn name(self) -> &'static str {
        match self {
            TopologyKind::Ibnetdiscover => "ibnetdiscover",
            TopologyKind::Lst => "list of links (.lst)",
            TopologyKind::Fdbs => "forwarding tables (.fdbs)",
            TopologyKind::Lfts => "forwarding tables (LFT dump)",
            TopologyKind::Names => "node name map",
            TopologyKind::Hosts => "hosts file",
            TopologyKind::Interconnect => "rtr --interconnect",
            TopologyKind::Nodes => "list of cnames",
            TopologyKind::PointToPoint => "point-to-point cables (.csv)",
            TopologyKind::Plain => "plain topology",
            TopologyKind::Machine => "parameters of a machine",
        }
    }

    /// Names of links' ends are read before links; tables and names of known hosts after them.
    pub(super) fn pass(self) -> u8 {
        match self {
            TopologyKind::Names | TopologyKind::Nodes => 0,
            TopologyKind::Fdbs | TopologyKind::Lfts | TopologyKind::Hosts => 2,
            _ => 1,
        }
    }
}

fn line_kind(line: &str) -> Option<TopologyKind> {
    let line = line.trim();
    let starts = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    if line.starts_with('{') && line.contains("NodeGUID:") {
        Some(TopologyKind::Lst)
    } else if starts(&["switchguid=", "caguid=", "rtguid="]) || is_node(line) {
        Some(TopologyKind::Ibnetdiscover)
    } else if tables::fdbs_switch(line).is_some() {
        Some(TopologyKind::Fdbs)
    } else if line.starts_with("Unicast lids ") {
        Some(TopologyKind::Lfts)
    } else if line.contains("->") && cname::parse_tile(line).is_some() {
        Some(TopologyKind::Interconnect)
    } else if point_line::is_point_line(line) {
        Some(TopologyKind::PointToPoint)
    } else if interconnect::node(line).is_some() {
        Some(TopologyKind::Nodes)
    } else if names::entry(line).is_some() {
        Some(TopologyKind::Names)
    } else if hosts::is_line(line) {
        Some(TopologyKind::Hosts)
    } else {
        None
    }
}

/// `Switch 36 "S-…"`.
fn is_node(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let kind = words.next().is_some_and(|word| matches!(word, "Switch" | "Ca" | "Rt" | "Hca"));
    let number = words.next().is_some_and(|word| word.parse::<u16>().is_ok());
    kind && number && words.next().is_some_and(|word| word.starts_with('"'))
}

fn document_kind(text: &str) -> Option<TopologyKind> {
    let has = |key: &str| {
        text.lines().take(LINES).any(|line| {
            let line = line.trim_start().trim_start_matches('{').trim_start();
            let rest = line.strip_prefix('"').unwrap_or(line).strip_prefix(key);
            rest.is_some_and(|rest| rest.trim_start_matches('"').trim_start().starts_with(['=', ':']))
        })
    };
    match (has("format"), has("kind")) {
        (true, _) => Some(TopologyKind::Plain),
        (_, true) => Some(TopologyKind::Machine),
        _ => None,
    }
}
