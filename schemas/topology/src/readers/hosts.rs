//! Names that nodes have beside their xnames: a file in the form of `/etc/hosts`.
//!
//! ```text
//! 10.1.1.5    nid000001-nmn nid000001 x3000c0s1b0n0
//! 10.253.0.5  nid000001-hsn0 x3000c0s1b0n0h0          # the interfaces of a node are the node
//! ```
//!
//! A line with the xname of a host gives that host the first plain name of the line, without its domain. The xname stays
//! a second name of the host. Lines without a host of the topology are about other machines.

use crate::{Draft, DraftVertex, FaultKind, VertexKind};
use schemas::xname::{node_of, switch_of};
use std::collections::HashMap;
use std::net::IpAddr;

/// Networks of CSM that names of interfaces end with: `nid000001-nmn`, `nid000001-hsn0`.
const NETWORKS: [&str; 7] = ["nmn", "hmn", "hsn", "can", "cmn", "chn", "mtl"];

/// Hosts by the names that files gave them, in small letters.
#[derive(Debug, Default)]
pub(super) struct HostNames(HashMap<String, DraftVertex>);

impl HostNames {
    /// Gives the hosts of `draft` the names of one file.
    pub(super) fn read(&mut self, draft: &mut Draft, name: &str, text: &str) {
        draft.begin_file(name);
        for (at, line) in text.lines().enumerate() {
            draft.at_line(u32::try_from(at + 1).unwrap_or(u32::MAX));
            let names = names(line).unwrap_or_default();
            let Some(plain) = names.iter().copied().find(|name| is_plain(name, &names)) else { continue };
            for xname in names.iter().filter_map(|name| node_of(name)) {
                if let Some(host) = draft.known(&xname).filter(|host| draft.kind(*host) == VertexKind::Host) {
                    self.give(draft, (host, &xname), plain);
                }
            }
        }
    }

    fn give(&mut self, draft: &mut Draft, (host, xname): (DraftVertex, &str), plain: &str) {
        let facts = draft.facts(host);
        let earlier = facts.name.clone().filter(|_| !facts.aliases.is_empty());
        if let Some(earlier) = earlier {
            if !earlier.eq_ignore_ascii_case(plain) {
                let value = format!("{plain:?} for {xname}, but an earlier line names it {earlier:?}.");
                draft.fault(FaultKind::NameConflict, &value);
            }
            return;
        }
        let owner = *self.0.entry(plain.to_ascii_lowercase()).or_insert(host);
        if owner == host {
            facts.name = Some(plain.to_string());
            facts.aliases.push(xname.to_string());
        } else {
            let first = draft.facts(owner).aliases.first().cloned().unwrap_or_default();
            let value = format!("{plain:?} for {xname}, but an earlier line gives it to {first}.");
            draft.fault(FaultKind::NameConflict, &value);
        }
    }
}

/// Whether `line` has an address and a name for it.
pub(super) fn is_line(line: &str) -> bool {
    address_and_names(line).is_some()
}

/// The names of a line without their domains. Loopback addresses name the machine that has the file.
fn names(line: &str) -> Option<Vec<&str>> {
    let (address, names) = address_and_names(line)?;
    (!address.is_loopback()).then_some(names)
}

fn address_and_names(line: &str) -> Option<(IpAddr, Vec<&str>)> {
    let line = line.split('#').next()?;
    let mut words = line.split_ascii_whitespace();
    let address = words.next()?.parse().ok()?;
    let names: Vec<&str> = words.filter_map(|name| name.split('.').next()).collect();
    (!names.is_empty()).then_some((address, names))
}

/// Whether `name` is that of a host: no xname, and not the name of an interface among the `names` of its line.
fn is_plain(name: &str, names: &[&str]) -> bool {
    let is_xname = node_of(name).is_some() || switch_of(name).is_some();
    let is_interface = name.rsplit_once('-').is_some_and(|(host, network)| {
        let network = network.trim_end_matches(|c: char| c.is_ascii_digit());
        names.contains(&host) || NETWORKS.iter().any(|known| known.eq_ignore_ascii_case(network))
    });
    !name.is_empty() && !is_xname && !is_interface
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_plain_name_of_a_line_is_the_host() {
        for (line, plain) in [
            ("10.1.1.5 nid000001-nmn nid000001 x3000c0s1b0n0", Some("nid000001")),
            ("10.1.1.5\tx3000c0s1b0n0 nid000001.site.example # nid7", Some("nid000001")),
            ("fd00::5 ncn-m001.nmn ncn-m001-nmn ncn-m001 x3000c0s1b0n0", Some("ncn-m001")),
            ("10.1.1.5 node7-mgmt node7 x3000c0s1b0n0", Some("node7")),
            ("10.253.0.5 nid000001-hsn0 x3000c0s1b0n0h0 x3000c0r15j14 x3000c0r15b0", None),
            ("127.0.1.1 node7 x3000c0s1b0n0", None),
            ("# 10.1.1.5 nid000001 x3000c0s1b0n0", None),
            ("nid000001 x3000c0s1b0n0", None),
        ] {
            let names = names(line).unwrap_or_default();
            assert_eq!(names.iter().copied().find(|name| is_plain(name, &names)), plain, "{line}");
        }
        assert!(is_line("127.0.0.1 localhost") && !is_line("10.1.1.5") && !is_line("1 2 3"));
    }
}
