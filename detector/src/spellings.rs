//! Names of hosts with or without their domain, in any case: `node001` and `NODE001.cluster.example` are one host, where no other name
//! has the same first label. Names in two domains are two hosts.

use schemas::Name;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;

/// Names, by their first label in small letters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spellings(HashMap<Box<str>, Names>);

/// Names with one first label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Names {
    One(Name),
    Several(Vec<Name>),
}

impl Names {
    fn as_slice(&self) -> &[Name] {
        match self {
            Names::One(name) => std::slice::from_ref(name),
            Names::Several(names) => names,
        }
    }
}

impl Spellings {
    /// Adds a name.
    pub fn add(&mut self, name: &Name) {
        match self.0.get_mut(label(name).as_ref()) {
            None => _ = self.0.insert(label(name).into(), Names::One(name.clone())),
            Some(names) if names.as_slice().contains(name) => {}
            Some(names) => *names = Names::Several([names.as_slice(), std::slice::from_ref(name)].concat()),
        }
    }

    /// Removes a name.
    pub fn remove(&mut self, name: &Name) {
        let label = label(name);
        let Some(names) = self.0.get_mut(label.as_ref()) else { return };
        let mut rest: Vec<Name> = names.as_slice().iter().filter(|known| *known != name).cloned().collect();
        match rest.len() {
            0 => _ = self.0.remove(label.as_ref()),
            1 => *names = Names::One(rest.remove(0)),
            _ => *names = Names::Several(rest),
        }
    }

    /// The one name with the first label of `name`, if it may be the same host. None of several.
    pub fn only(&self, name: &Name) -> Option<&Name> {
        match self.0.get(label(name).as_ref()).map(Names::as_slice) {
            Some([only]) => Some(only).filter(|only| may_be_one(only.as_str(), name.as_str())),
            _ => None,
        }
    }

    /// Whether `name` was added.
    pub fn has(&self, name: &Name) -> bool {
        self.0.get(label(name).as_ref()).is_some_and(|names| names.as_slice().contains(name))
    }

    /// Whether several names have the first label of `name`.
    pub fn is_ambiguous(&self, name: &Name) -> bool {
        self.0.get(label(name).as_ref()).is_some_and(|names| names.as_slice().len() > 1)
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What stands before the first dot, in small letters.
fn label(name: &Name) -> Cow<'_, str> {
    let first = name.as_str().split('.').next().unwrap_or_default();
    match first.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(first.to_ascii_lowercase()),
        false => Cow::Borrowed(first),
    }
}

/// Whether two names are equal, or one is the other with more of its domain.
fn may_be_one(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let (begin, rest) = long.as_bytes().split_at(short.len());
    begin.eq_ignore_ascii_case(short.as_bytes()) && rest.first().is_none_or(|byte| *byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn spelling_without_domain_and_case_is_found_where_it_is_the_only_one() {
        let mut spellings = Spellings::default();
        spellings.add(&name("Node001.cluster.example"));
        spellings.add(&name("Node001.cluster.example"));
        for other in ["node001", "NODE001.Cluster", "Node001.cluster.example"] {
            assert_eq!(spellings.only(&name(other)), Some(&name("Node001.cluster.example")), "{other}");
        }
        for other in ["node0011", "node001.local", "node001.cluster.examples"] {
            assert_eq!(spellings.only(&name(other)), None, "{other}");
        }
        spellings.add(&name("node001.other.example"));
        assert_eq!(spellings.only(&name("node001")), None);
        assert!(spellings.is_ambiguous(&name("node001")));
        spellings.remove(&name("Node001.cluster.example"));
        assert_eq!(spellings.only(&name("node001")), Some(&name("node001.other.example")));
        spellings.remove(&name("node001.other.example"));
        assert!(spellings.is_empty());
    }
}
