//! Names that people know, made such that they may stand anywhere, and each of one vertex alone.

use super::Draft;
use crate::fault::FaultKind;
use schemas::Name;
use schemas::name::NAME_BYTES_MAX;
use std::collections::HashSet;

/// Room for what makes a name unique.
const SUFFIX_BYTES: usize = 24;

impl Draft {
    /// A unique name for each vertex.
    pub(super) fn names(&mut self) -> Vec<Name> {
        let mut taken: HashSet<Name> = HashSet::with_capacity(self.facts.len());
        let mut names = Vec::with_capacity(self.facts.len());
        for at in 0..self.facts.len() {
            let wanted = self.wanted(at);
            let name = if taken.contains(&wanted) { self.other_than(&taken, at, &wanted) } else { wanted };
            taken.insert(name.clone());
            names.push(name);
        }
        names
    }

    fn fault_of(&mut self, at: usize, kind: FaultKind, value: &str) {
        let (file, line) = self.locations[at];
        self.faults.note(kind, self.origin(file, line), value);
    }

    fn wanted(&mut self, at: usize) -> Name {
        let (given, guid) = (self.facts[at].name.clone().unwrap_or_default(), self.facts[at].guid);
        if given.trim().is_empty() {
            let name = unnamed(at, guid);
            self.fault_of(at, FaultKind::NoName, name.as_str());
            return name;
        }
        match Name::parse(&given) {
            Ok(name) => name,
            Err(_) => {
                self.fault_of(at, FaultKind::BadName, &given);
                sanitised(&given).unwrap_or_else(|| unnamed(at, guid))
            }
        }
    }

    fn other_than(&mut self, taken: &HashSet<Name>, at: usize, wanted: &Name) -> Name {
        self.fault_of(at, FaultKind::NameTwice, wanted.as_str());
        let stem: String = wanted.as_str().chars().take(NAME_BYTES_MAX - SUFFIX_BYTES).collect();
        let guid = self.facts[at].guid;
        let numbers = (2..).map(|number| format!("{stem}-{number}"));
        let of_guid = (guid != 0).then(|| format!("{stem}-{guid:016x}"));
        let free = of_guid.into_iter().chain(numbers).filter_map(|text| Name::parse(&text).ok());
        free.into_iter().find(|name| !taken.contains(name)).unwrap_or_else(|| unnamed(at, guid))
    }
}

/// A name for a vertex without one.
fn unnamed(at: usize, guid: u64) -> Name {
    let text = if guid == 0 { format!("unnamed-{at}") } else { format!("guid-{guid:016x}") };
    Name::parse(&text).unwrap_or_else(|_| unreachable!("letters, digits and a hyphen"))
}

/// `text` with each run of other characters than names may have replaced by one `-`; `None` if nothing is left.
pub(crate) fn sanitised(text: &str) -> Option<Name> {
    let mut name = String::new();
    for c in text.trim().chars() {
        let fits = c.is_ascii_alphanumeric() || "._-:@+#".contains(c);
        match (fits, name.ends_with('-')) {
            (true, _) => name.push(c),
            (false, false) => name.push('-'),
            (false, true) => {}
        }
    }
    name.truncate(NAME_BYTES_MAX);
    let name = name.trim_matches('-');
    if name.chars().any(|c| c.is_ascii_alphanumeric()) { Name::parse(name).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_stand_in_a_name_becomes_one_hyphen() {
        for (text, name) in [
            ("SW1  (Rack  3)", "SW1-Rack-3"),
            (" node01 mlx5_0 ", "node01-mlx5_0"),
            ("<script>", "script"),
            ("../etc", "..-etc"),
        ] {
            assert_eq!(sanitised(text).unwrap().as_str(), name);
        }
        for text in ["", "é", "..", "- -"] {
            assert_eq!(sanitised(text), None, "{text:?}");
        }
    }
}
