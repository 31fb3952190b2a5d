//! Output of `ibnetdiscover` (infiniband-diags), and what `ibsim` reads: records of nodes, each followed by its
//! connected ports.
//!
//! ```text
//! Switch  36 "S-0002c90300000010"   # "leaf01" enhanced port 0 lid 3 lmc 0
//! [1]     "H-0002c90300000020"[1](2c90300000021)    # "node01 mlx5_0" lid 7 4xEDR
//! Ca      1 "H-0002c90300000020"    # "node01 mlx5_0"
//! [1](2c90300000021)  "S-0002c90300000010"[1]       # lid 7 lmc 0 "leaf01" lid 3 4xEDR
//! ```

use super::fabric::{Fabric, Port};
use crate::rate::bytes_per_s_of;
use crate::{FaultKind, VertexKind};

/// The node whose ports the lines list.
struct Current {
    key: String,
    kind: VertexKind,
}

pub(super) fn read(fabric: &mut Fabric, name: &str, text: &str) {
    fabric.begin_file(name);
    let mut current: Option<Current> = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let first = line.split(|c: char| c.is_whitespace() || c == '=').next().unwrap_or("");
        let kind = match first {
            "Switch" => VertexKind::Switch,
            "Ca" | "Rt" | "Hca" => VertexKind::Host,
            _ if line.starts_with('[') => {
                fabric.at_line(at + 1);
                let port = current.as_ref().and_then(|current| port_line(fabric, current, line));
                if port.is_none() {
                    fabric.fault(FaultKind::BadLine, line);
                }
                continue;
            }
            _ => continue,
        };
        fabric.at_line(at + 1);
        current = node_line(fabric, kind, line);
        if current.is_none() {
            fabric.fault(FaultKind::BadLine, line);
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        fabric.fault(FaultKind::Truncated, text.lines().last().unwrap_or(""));
    }
}

fn node_line(fabric: &mut Fabric, kind: VertexKind, line: &str) -> Option<Current> {
    let (record, comment) = line.split_once('#').unwrap_or((line, ""));
    let ports: u16 = record.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let (key, _) = quoted(record)?;
    let (description, behind) = last_quoted(comment).unwrap_or(("", comment));
    fabric.node(key, kind, ports, description);
    if kind == VertexKind::Switch
        && let Some(lid) = number_after(behind, "lid").filter(|lid| *lid > 0)
    {
        let lmc = number_after(behind, "lmc").unwrap_or(0) as u8;
        fabric.lid(Port { key: key.to_string(), number: 0 }, lid, lmc);
    }
    Some(Current { key: key.to_string(), kind })
}

/// `[1](guid) "S-…"[17] # …`
fn port_line(fabric: &mut Fabric, current: &Current, line: &str) -> Option<()> {
    // A description may hold a hash, a key cannot: the comment begins behind the peer's port.
    let (number, rest) = bracketed(line)?;
    let (key, rest) = quoted(rest)?;
    let (peer_number, rest) = bracketed(rest.trim_start())?;
    let comment = rest.split_once('#').map_or("", |(_, comment)| comment);
    let (description, behind) = last_quoted(comment).unwrap_or(("", comment));
    let peer_kind = if key.starts_with('S') { VertexKind::Switch } else { VertexKind::Host };
    fabric.node(key, peer_kind, 0, description);
    let port = Port { key: current.key.clone(), number };
    let peer = Port { key: key.to_string(), number: peer_number };
    let own = comment.split('"').next().unwrap_or("");
    if current.kind == VertexKind::Host
        && let Some(lid) = number_after(own, "lid").filter(|lid| *lid > 0)
    {
        fabric.lid(port.clone(), lid, number_after(own, "lmc").unwrap_or(0).min(7) as u8);
    }
    let rate = behind
        .split_ascii_whitespace()
        .find(|word| word.contains('x') && word.as_bytes()[0].is_ascii_digit());
    let bytes_per_s = rate.and_then(bytes_per_s_of);
    if bytes_per_s.is_none() && rate.is_some() {
        fabric.fault(FaultKind::UnknownRate, rate.unwrap_or(""));
    }
    fabric.end(port, peer, bytes_per_s.unwrap_or(f64::NAN));
    Some(())
}

/// `[17]` at the beginning; `[ext 3]` and `(guid)` behind it are passed over.
fn bracketed(text: &str) -> Option<(u16, &str)> {
    let (number, rest) = text.strip_prefix('[')?.split_once(']')?;
    let number: u16 = number.trim().parse().ok().filter(|number| *number < 256)?;
    let rest = match rest.strip_prefix("[ext") {
        Some(outside) => outside.split_once(']')?.1,
        None => rest,
    };
    Some((number, rest))
}

/// The first text between quotes, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = text.split_once('"')?;
    rest.split_once('"')
}

/// The text between the first and the last quote, and what follows: descriptions may hold quotes.
fn last_quoted(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = text.split_once('"')?;
    rest.rsplit_once('"')
}

/// `lid 7` gives 7.
fn number_after(text: &str, word: &str) -> Option<u16> {
    let mut words = text.split_ascii_whitespace().skip_while(|found| *found != word);
    words.nth(1)?.parse().ok()
}
