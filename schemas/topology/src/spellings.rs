//! Hosts by other spellings of their names: with or without domain, in small or capital letters. Fabrics and samplers
//! take a host's name from different commands.

use super::class::VertexKind;
use super::graph::VertexIndex;
use schemas::Name;
use std::collections::HashMap;

/// The names of all hosts in small letters, in their order, so that a name and its domains stand side by side.
#[derive(Clone, Debug, Default)]
pub(super) struct HostSpellings(Vec<(Box<str>, VertexIndex)>);

impl HostSpellings {
    pub(super) fn of(by_name: &HashMap<Name, VertexIndex>, kinds: &[VertexKind]) -> HostSpellings {
        let hosts = by_name.iter().filter(|(_, vertex)| kinds[vertex.at()] == VertexKind::Host);
        let mut names: Vec<_> = hosts
            .map(|(name, vertex)| (name.as_str().to_ascii_lowercase().into_boxed_str(), *vertex))
            .collect();
        names.sort_unstable();
        HostSpellings(names)
    }

    /// The only host that `name` may mean: the same letters, else one name is the other with more of its domain.
    /// Different domains are different hosts.
    pub(super) fn find(&self, name: &str) -> Option<VertexIndex> {
        let name = name.to_ascii_lowercase();
        let same = self.called(&name);
        if !same.is_empty() {
            return only(same);
        }
        let longer = self.with_domains(&name);
        let dots = name.match_indices('.').map(|(at, _)| at);
        let shorter = dots.flat_map(|at| self.called(&name[..at]));
        only(longer.iter().chain(shorter))
    }

    fn called(&self, name: &str) -> &[(Box<str>, VertexIndex)] {
        let from = self.0.partition_point(|(known, _)| **known < *name);
        let count = self.0[from..].partition_point(|(known, _)| **known == *name);
        &self.0[from..from + count]
    }

    /// The names that continue `name` with a dot.
    fn with_domains(&self, name: &str) -> &[(Box<str>, VertexIndex)] {
        if name.is_empty() {
            return &[];
        }
        let before_domain = format!("{name}.");
        let from = self.0.partition_point(|(known, _)| **known < *before_domain);
        let count = self.0[from..].partition_point(|(known, _)| known.starts_with(&before_domain));
        &self.0[from..from + count]
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.0.iter().map(|(name, _)| name.len() + size_of::<(Box<str>, VertexIndex)>()).sum()
    }
}

/// The vertex that all names lead to. Ends at the second one.
fn only<'n>(names: impl IntoIterator<Item = &'n (Box<str>, VertexIndex)>) -> Option<VertexIndex> {
    let mut vertices = names.into_iter().map(|(_, vertex)| *vertex);
    let first = vertices.next()?;
    vertices.all(|vertex| vertex == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts by these names; `found` is the name of the host that is found.
    fn found(hosts: &[&str], name: &str) -> Option<String> {
        let names = hosts.iter().map(|host| Name::parse(host).unwrap());
        let by_name: HashMap<Name, VertexIndex> = names.zip((0..).map(VertexIndex)).collect();
        let index = HostSpellings::of(&by_name, &vec![VertexKind::Host; hosts.len()]);
        index.find(name).map(|vertex| hosts[vertex.at()].to_string())
    }

    #[test]
    fn a_host_is_found_with_and_without_its_domain() {
        let hosts = ["node01", "Node02.Cluster.example", "node02-ib.cluster.example"];
        for (name, host) in [
            ("node01.cluster.example", 0),
            ("NODE01", 0),
            ("node02", 1),
            ("NODE02.cluster", 1),
            ("node02.cluster.example", 1),
            ("node02-ib", 2),
        ] {
            assert_eq!(found(&hosts, name).as_deref(), Some(hosts[host]), "{name}");
        }
        for name in ["node0", "node02.other.example", "", ".", ".example"] {
            assert_eq!(found(&hosts, name), None, "{name}");
        }
    }

    #[test]
    fn ambiguous_spellings_of_hosts_find_none() {
        for name in ["node01", "NODE01", "node01.c"] {
            assert_eq!(found(&["node01.a", "node01.b"], name), None, "{name}");
        }
        assert_eq!(found(&["node01.a", "node01.b"], "NODE01.A").as_deref(), Some("node01.a"));
        assert_eq!(found(&["Node01", "NODE01"], "node01"), None);
        assert_eq!(found(&["node01", "node01.a"], "NODE01").as_deref(), Some("node01"));
        assert_eq!(found(&["node01", "node01.a"], "node01.a.example"), None);
    }
}
