//! `ibdiagnet.lst` and `opensm-subnet.lst`: a line a link, all numbers but the speed hexadecimal.
//!
//! ```text
//! { CA Ports:01 SystemGUID:… NodeGUID:… PortGUID:… VenID:… DevID:… Rev:… {node01 mlx5_0} LID:0007 PN:01 }
//! { SW Ports:24 … {leaf01} LID:0003 PN:01 } PHY=4x LOG=ACT SPD=25
//! ```
//! (one line; the description is absent in some versions).

use super::fabric::{Fabric, Port, key_of};
use crate::rate::bytes_per_s;
use crate::{FaultKind, VertexKind};

struct Side<'a> {
    kind: VertexKind,
    ports: u16,
    guid: u64,
    description: &'a str,
    lid: u16,
    port: u16,
}

pub(super) fn read(fabric: &mut Fabric, name: &str, text: &str) {
    fabric.begin_file(name);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        fabric.at_line(at + 1);
        if link(fabric, line).is_none() {
            fabric.fault(FaultKind::BadLine, line);
        }
    }
}

fn link(fabric: &mut Fabric, line: &str) -> Option<()> {
    let (near, rest) = side(line)?;
    let (far, rest) = side(rest)?;
    let word = |key: &str| rest.split_ascii_whitespace().find_map(|word| word.strip_prefix(key));
    let (width, speed) = (word("PHY="), word("SPD="));
    let rate = width.zip(speed).and_then(|(width, speed)| bytes_per_s(width, speed));
    if rate.is_none() {
        fabric.fault(FaultKind::UnknownRate, rest);
    }
    let (near, far) = (add_port(fabric, &near), add_port(fabric, &far));
    fabric.end(near.clone(), far.clone(), rate.unwrap_or(f64::NAN));
    fabric.end(far, near, rate.unwrap_or(f64::NAN));
    Some(())
}

fn add_port(fabric: &mut Fabric, side: &Side<'_>) -> Port {
    let key = key_of(side.kind, side.guid);
    fabric.node(&key, side.kind, side.ports, side.description);
    let lid_port = if side.kind == VertexKind::Switch { 0 } else { side.port };
    if side.lid > 0 {
        fabric.lid(Port { key: key.clone(), number: lid_port }, side.lid, 0);
    }
    Port { key, number: side.port }
}

/// One pair of braces, and what follows it.
fn side(text: &str) -> Option<(Side<'_>, &str)> {
    let text = text.trim_start().strip_prefix('{')?;
    let (fields, rest) = text.split_once(" PN:")?;
    let (port, rest) = rest.split_once('}')?;
    let (head, lid) = fields.rsplit_once("LID:")?;
    let (head, description) = match head.split_once('{') {
        Some((head, rest)) => (head, rest.rsplit_once('}')?.0),
        None => (head, ""),
    };
    let field = |key: &str| head.split_ascii_whitespace().find_map(|word| word.strip_prefix(key));
    let kind = match head.split_ascii_whitespace().next()?.trim_end_matches("-SM") {
        "SW" => VertexKind::Switch,
        "CA" | "Rt" | "RT" => VertexKind::Host,
        _ => return None,
    };
    let side = Side {
        kind,
        ports: u16::from_str_radix(field("Ports:")?, 16).ok()?,
        guid: u64::from_str_radix(field("NodeGUID:")?, 16).ok()?,
        description,
        lid: u16::from_str_radix(lid.trim(), 16).ok()?,
        port: u16::from_str_radix(port.trim(), 16).ok().filter(|port| *port < 256)?,
    };
    Some((side, rest))
}
