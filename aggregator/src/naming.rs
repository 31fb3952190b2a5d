//! Which node a row without a `producer` column is about.
//!
//! Such rows carry only `component_id`. The name must not depend on which rows were decoded before, or the
//! same files in another order would give other series; so a decoder never uses a name that it happened to
//! meet. The name comes from what is fixed before the first row: a table, else the convention of the site.
//! `merge::Replay` fixes both from the heads of all its files. Producers that contradict are counted and shown.

use schemas::Name;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// How `component_id` becomes a node name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeNaming {
    /// What stands before the number.
    pub prefix: String,
    /// Digits of the number, zeros in front.
    pub width: usize,
    /// Nodes that do not follow the convention.
    pub known: BTreeMap<u64, Name>,
}

impl Default for NodeNaming {
    /// Cray's: `nid00001`.
    fn default() -> Self {
        NodeNaming { prefix: "nid".to_string(), width: 5, known: BTreeMap::new() }
    }
}

/// Producers by the `component_id` in the same rows; `None` where there were several.
#[derive(Clone, Debug, Default)]
pub struct NodePairs(BTreeMap<u64, Option<Name>>);

impl NodePairs {
    /// Notes that both stood in a row.
    pub fn note(&mut self, component_id: u64, producer: &Name) {
        match self.0.entry(component_id) {
            Entry::Vacant(entry) => _ = entry.insert(Some(producer.clone())),
            Entry::Occupied(entry) => _ = entry.into_mut().take_if(|known| known != producer),
        }
    }

    /// Numbers noted.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no number was noted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl NodeNaming {
    /// The node with this number; `None` if the convention makes no valid name, or for 0,
    /// which samplers report when no number is configured.
    pub fn node(&self, component_id: u64) -> Option<Name> {
        if let Some(name) = self.known.get(&component_id) {
            return Some(name.clone());
        }
        if component_id == 0 {
            return None;
        }
        Name::parse(&format!("{}{component_id:0width$}", self.prefix, width = self.width.min(32))).ok()
    }

    /// This naming, corrected by names of hosts that are known from elsewhere (jobs, topology, site file): a number at the end
    /// of a name is taken for the node's. Numbers that several hosts end with show nothing.
    #[must_use]
    pub fn corrected_by_hosts<'a>(self, hosts: impl IntoIterator<Item = &'a Name>) -> NodeNaming {
        let mut pairs = NodePairs::default();
        for host in hosts {
            let text = host.as_str();
            let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
            // The last of several numbers, as in a rack's, is no node's.
            let is_numbered = !stem.contains(|c: char| c.is_ascii_digit());
            if let Some(number) = text[stem.len()..].parse().ok().filter(|_| is_numbered) {
                pairs.note(number, host);
            }
        }
        self.corrected_by(&pairs)
    }

    /// This naming, corrected by `pairs`: if another convention explains all of them, it is taken;
    /// otherwise numbers that always came with one producer are kept in the table.
    #[must_use]
    pub fn corrected_by(mut self, pairs: &NodePairs) -> NodeNaming {
        let known = pairs.0.iter().filter(|(id, _)| **id != 0);
        let unique: Vec<(u64, &Name)> = known.filter_map(|(id, name)| Some((*id, name.as_ref()?))).collect();
        if let Some((prefix, width)) = convention_of(&unique) {
            (self.prefix, self.width) = (prefix, width);
        }
        for (id, name) in unique {
            if self.node(id).as_ref() != Some(name) {
                self.known.insert(id, name.clone());
            }
        }
        self
    }
}

/// The prefix and width that explain all pairs, if there is one pair or more.
fn convention_of(pairs: &[(u64, &Name)]) -> Option<(String, usize)> {
    // The smallest number shows the width best: 12345 fits every width up to 5.
    let (_, name) = pairs.first()?;
    let prefix = name.as_str().trim_end_matches(|c: char| c.is_ascii_digit());
    let width = name.as_str().len() - prefix.len();
    let explains = |(id, name): &(u64, &Name)| name.as_str() == format!("{prefix}{id:0width$}");
    (width > 0 && pairs.iter().all(explains)).then(|| (prefix.to_string(), width))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(u64, &str)]) -> NodePairs {
        let mut pairs = NodePairs::default();
        for (id, name) in list {
            pairs.note(*id, &Name::parse(name).unwrap());
        }
        pairs
    }

    fn node(naming: &NodeNaming, id: u64) -> String {
        naming.node(id).unwrap().to_string()
    }

    #[test]
    fn default_convention_is_crays() {
        let naming = NodeNaming::default();
        assert_eq!(node(&naming, 12), "nid00012");
        assert_eq!(node(&naming, 123_456), "nid123456");
        assert_eq!(naming.node(0), None);
    }

    #[test]
    fn another_convention_is_read_off_the_pairs() {
        let naming = NodeNaming::default().corrected_by(&pairs(&[(7, "n007"), (12, "n012")]));
        assert_eq!(node(&naming, 9), "n009");
        assert!(naming.known.is_empty());
    }

    #[test]
    fn another_convention_is_read_off_known_hosts() {
        let hosts = ["nid0001", "nid0002", "nid0012", "oss1", "login", "c0-0c0s0n7"]
            .map(|host| Name::parse(host).unwrap());
        let naming = NodeNaming::default().corrected_by_hosts(&hosts);
        assert_eq!(["nid0002", "nid0007", "nid0012"], [2, 7, 12].map(|id| node(&naming, id)));
        assert_eq!(node(&NodeNaming::default().corrected_by_hosts(&[]), 1), "nid00001");
    }

    #[test]
    fn pairs_without_a_convention_are_kept_one_by_one() {
        let reported = pairs(&[(1, "login-a"), (2, "nid00002"), (3, "x"), (3, "y")]);
        let naming = NodeNaming::default().corrected_by(&reported);
        assert_eq!(node(&naming, 1), "login-a");
        assert_eq!(node(&naming, 2), "nid00002");
        assert_eq!(node(&naming, 3), "nid00003");
    }
}
