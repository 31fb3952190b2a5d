//! Forwarding tables: `ibdiagnet.fdbs` and `opensm.fdbs`; output of `ibroute`, `dump_lfts.sh`, `dump_fts` and
//! opensm's own dump. A comment `# valid from <seconds> until <seconds>` (either part) gives the time of validity.
//!
//! ```text
//! osm_ucast_mgr_dump_ucast_routes: Switch 0x0002c90300000010
//! LID    : Port : Hops : Optimal
//! 0x0007 : 001  : 00   : yes
//!
//! Unicast lids [0x0-0x9] of switch Lid 3 guid 0x0002c90300000010 (leaf01):
//!   Lid  Out   Destination
//! 0x0007 001 : (Channel Adapter portguid 0x0002c90300000021: 'node01 mlx5_0')
//! ```

use super::fabric::Fabric;
use crate::FaultKind;
use schemas::Time;

pub(super) fn read(fabric: &mut Fabric, name: &str, text: &str) {
    fabric.begin_file(name);
    let (from, until) = validity(text);
    fabric.begin_table(from, until);
    let mut switch = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(guid) = fdbs_switch(line).or_else(|| lfts_switch(line)) {
            switch = Some(guid);
        } else if line.starts_with("0x") {
            fabric.at_line(at + 1);
            match (switch, entry(line)) {
                (_, Some(None)) => {}
                (Some(guid), Some(Some((lid, port)))) => fabric.forward(guid, lid, port),
                _ => fabric.fault(FaultKind::BadLine, line),
            }
        } else if line.contains("Switch 0x") || line.starts_with("Unicast lids") {
            // What follows belongs to a switch that cannot be read: drop it, do not add it to the one before.
            switch = None;
            fabric.at_line(at + 1);
            fabric.fault(FaultKind::BadLine, line);
        }
    }
}

fn validity(text: &str) -> (Option<Time>, Option<Time>) {
    let comment = text.lines().take(50).find_map(|line| line.trim().strip_prefix("# valid"));
    let after = |word: &str| {
        let mut words = comment?.split_ascii_whitespace().skip_while(|found| *found != word);
        let seconds: f64 = words.nth(1)?.parse().ok()?;
        seconds.is_finite().then(|| Time::from_seconds(seconds))
    };
    (after("from"), after("until"))
}

/// `…dump_ucast_routes: Switch 0x0002c90300000010`.
pub(super) fn fdbs_switch(line: &str) -> Option<u64> {
    let (_, guid) = line.split_once("ucast_routes: Switch 0x")?;
    u64::from_str_radix(guid.trim(), 16).ok()
}

/// `Unicast lids [0-9] of switch Lid 3 guid 0x0002c90300000010 ('leaf01'):`.
fn lfts_switch(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix("Unicast lids")?.split_once("guid 0x")?;
    let digits = rest.split(|c: char| !c.is_ascii_hexdigit()).next()?;
    u64::from_str_radix(digits, 16).ok()
}

/// LID and port; `Some(None)` for a LID without way.
fn entry(line: &str) -> Option<Option<(u16, u8)>> {
    let mut words = line.split(|c: char| c.is_whitespace() || c == ':').filter(|word| !word.is_empty());
    let lid = u16::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    match words.next()? {
        "UNREACHABLE" => Some(None),
        port => port.parse().ok().map(|port| Some((lid, port)).filter(|(_, port)| *port < u8::MAX)),
    }
}
