//! Node name maps, as opensm and infiniband-diags read them: `0x0002c90300000010 "leaf01"`, comments with `#`.

use super::fabric::Fabric;
use crate::FaultKind;

pub(super) fn read(fabric: &mut Fabric, name: &str, text: &str) {
    fabric.begin_file(name);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        match entry(line) {
            Some((guid, name)) => fabric.name(guid, name),
            None if line.is_empty() || line.starts_with('#') => {}
            None => {
                fabric.at_line(at + 1);
                fabric.fault(FaultKind::BadLine, line);
            }
        }
    }
}

/// GUID and name.
pub(super) fn entry(line: &str) -> Option<(u64, &str)> {
    let (guid, rest) = line.strip_prefix("0x")?.split_once(char::is_whitespace)?;
    let name = rest.trim().strip_prefix('"')?.split_once('"')?.0;
    Some((u64::from_str_radix(guid, 16).ok()?, name))
}
