//! Placement: which hosts a job has.

use samplers::rng::Rng;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use topology::{Topology, VertexIndex, VertexKind};

/// Some hosts. By default all of them, leaf by leaf.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Groups or pods: `0-3,5`.
    pub groups: Option<Ranges>,
    /// Leaves or routers, counted within each group if `groups` is there, else over the whole machine.
    pub leaves: Option<Ranges>,
    /// Places of a leaf.
    pub places: Option<Ranges>,
    /// Seed of a random order; without it the order of the machine is kept.
    pub scattered: Option<u64>,
    /// How many, the first ones.
    pub count: Option<usize>,
    /// Jobs of the same case whose hosts are left out; they stand before this one in the file.
    #[serde(default)]
    pub beside: Vec<u64>,
}

/// Numbers as people write them: `0-3,5`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Ranges(Vec<(usize, usize)>);

impl TryFrom<String> for Ranges {
    type Error = String;

    fn try_from(text: String) -> Result<Ranges, String> {
        let number =
            |part: &str| part.trim().parse::<usize>().map_err(|_| format!("{text:?} is no list like 0-3,5"));
        let range = |part: &str| match part.split_once('-') {
            Some((from, to)) => Ok((number(from)?, number(to)?)),
            None => number(part).map(|one| (one, one)),
        };
        text.split(',').map(range).collect::<Result<_, _>>().map(Ranges)
    }
}

impl Ranges {
    fn has(&self, number: usize) -> bool {
        self.0.iter().any(|(from, to)| (*from..=*to).contains(&number))
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().flat_map(|(from, to)| *from..=*to)
    }
}

/// The hosts of a machine, leaf by leaf.
pub struct Leaves {
    /// Each leaf's hosts in their order, with the leaf's group and its place in it.
    leaves: Vec<(usize, usize, Vec<VertexIndex>)>,
    /// The leaves themselves.
    pub switches: Vec<VertexIndex>,
}

impl Leaves {
    /// Of `topology`; of several rails the first counts.
    pub fn of(topology: &Topology) -> Leaves {
        let mut seen: BTreeSet<VertexIndex> = BTreeSet::new();
        let mut in_group: BTreeMap<u32, usize> = BTreeMap::new();
        let (mut leaves, mut switches) = (Vec::new(), Vec::new());
        for switch in topology.vertices().filter(|vertex| topology.kind(*vertex) != VertexKind::Host) {
            let ends = topology.links_from(switch).map(|link| topology.to(link));
            let hosts: BTreeSet<VertexIndex> =
                ends.filter(|end| topology.kind(*end) == VertexKind::Host && !seen.contains(end)).collect();
            if hosts.is_empty() {
                continue;
            }
            seen.extend(&hosts);
            let group = topology.group(switch).unwrap_or(0);
            let place = in_group.entry(group).or_default();
            leaves.push((group as usize, *place, hosts.into_iter().collect()));
            switches.push(switch);
            *place += 1;
        }
        Leaves { leaves, switches }
    }

    /// The host at a place of a leaf.
    pub fn host(&self, leaf: usize, place: usize) -> Option<VertexIndex> {
        self.leaves.get(leaf)?.2.get(place).copied()
    }

    fn chosen(&self, selection: &Selection) -> Vec<VertexIndex> {
        let Selection { groups, leaves, places, .. } = selection;
        let wanted =
            |all: &Option<Ranges>, number: usize| all.as_ref().is_none_or(|ranges| ranges.has(number));
        let order: Vec<usize> = match (groups, leaves) {
            // As it is written: `5,0-2` begins at leaf 5.
            (None, Some(ranges)) => ranges.iter().filter(|at| *at < self.leaves.len()).collect(),
            _ => (0..self.leaves.len()).collect(),
        };
        let mut chosen = Vec::new();
        for at in order {
            let (group, in_group, hosts) = &self.leaves[at];
            let number = if groups.is_some() { *in_group } else { at };
            if wanted(groups, *group) && wanted(leaves, number) {
                let hosts = hosts.iter().enumerate().filter(|(place, _)| wanted(places, *place));
                chosen.extend(hosts.map(|(_, host)| *host));
            }
        }
        chosen
    }

    /// The hosts of all `selections`, one after the other; `taken` are those of earlier jobs.
    ///
    /// # Errors
    /// None is left, or fewer than were asked for.
    pub fn select(
        &self,
        selections: &[Selection],
        taken: &BTreeMap<u64, Vec<VertexIndex>>,
    ) -> anyhow::Result<Vec<VertexIndex>> {
        let mut all = Vec::new();
        for selection in selections {
            let mut hosts = self.chosen(selection);
            for job in &selection.beside {
                let Some(others) = taken.get(job) else {
                    anyhow::bail!("there is no job {job} before this one")
                };
                let others: BTreeSet<&VertexIndex> = others.iter().collect();
                hosts.retain(|host| !others.contains(host));
            }
            if let Some(seed) = selection.scattered {
                shuffle(&mut hosts, &mut Rng::new(seed, 0x5CA77));
            }
            if let Some(count) = selection.count {
                anyhow::ensure!(
                    count <= hosts.len(),
                    "{count} hosts are asked for, {} are there",
                    hosts.len()
                );
                hosts.truncate(count);
            }
            all.extend(hosts);
        }
        anyhow::ensure!(!all.is_empty(), "no hosts are chosen");
        Ok(all)
    }
}

fn shuffle(hosts: &mut [VertexIndex], rng: &mut Rng) {
    for at in (1..hosts.len()).rev() {
        hosts.swap(at, rng.below(at + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topology::machines::{dragonfly_plus_small, two_level};

    fn select(leaves: &Leaves, text: &str) -> anyhow::Result<Vec<VertexIndex>> {
        leaves.select(&[toml::from_str(text).unwrap()], &BTreeMap::from([(1, vec![VertexIndex(0)])]))
    }

    #[test]
    fn hosts_are_chosen_by_leaf_place_group_and_count() {
        let tree = Leaves::of(&two_level(4, 2, 3).unwrap());
        assert_eq!(select(&tree, "").unwrap().len(), 12);
        let of_leaf = |leaf: usize| (0..3).map(|place| tree.host(leaf, place).unwrap()).collect::<Vec<_>>();
        assert_eq!(select(&tree, "leaves = '3,1'").unwrap(), [of_leaf(3), of_leaf(1)].concat());
        let second: Vec<_> = (0..4).map(|leaf| tree.host(leaf, 1).unwrap()).collect();
        assert_eq!(select(&tree, "places = '1'").unwrap(), second);
        let dragonfly = Leaves::of(&dragonfly_plus_small().unwrap());
        assert_eq!(select(&dragonfly, "groups = '0-1'\nleaves = '0'").unwrap().len(), 8);
        let mixed = select(&tree, "scattered = 1\ncount = 5").unwrap();
        assert_eq!(mixed, select(&tree, "scattered = 1\ncount = 5").unwrap());
        assert_ne!(mixed, select(&tree, "scattered = 2\ncount = 5").unwrap());
    }

    #[test]
    fn invalid_choice_is_reported() {
        let tree = Leaves::of(&two_level(4, 2, 3).unwrap());
        assert!(select(&tree, "count = 13").unwrap_err().to_string().contains("12 are there"));
        assert!(select(&tree, "beside = [9]").unwrap_err().to_string().contains("no job 9"));
        assert!(toml::from_str::<Selection>("leaves = 'a-3'").is_err());
        assert!(toml::from_str::<Selection>("leaf = '3'").is_err());
    }
}
