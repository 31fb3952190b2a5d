//! Contended links that touch and stall alike, as regions with an identity over time.
//!
//! Every tick the contended links are grouped again; each group continues the region it shares most links with. So a
//! region grows, shrinks and splits, and 2,048 links that stall in one second are one region. Where several become one, the
//! oldest of them continues, however small: an incident that was reported keeps its number and its name.

use schemas::{RegionChange, RegionId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Two links that touch belong together if the service times of their flits differ at most by this factor.
const ALIKE: f32 = 3.0;
/// Ticks without a contended link after which a region is over.
const OVER_TICKS: i64 = 5;

/// A contended link as the grouping sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stalling {
    /// Number of its series.
    pub series: u32,
    /// Vertices at its ends.
    pub ends: [u32; 2],
    /// Stalls per flit.
    pub ratio: f32,
}

/// A change of a region at one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Which region.
    pub id: RegionId,
    /// What became of it.
    pub change: RegionChange,
    /// From or into which other one.
    pub other: Option<RegionId>,
}

/// Series of all open regions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RegionBook {
    open: BTreeMap<RegionId, Members>,
    issued: u64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Members {
    /// The links that stall now; if none does, those that did last.
    series: BTreeSet<u32>,
    quiet_since: Option<i64>,
}

impl RegionBook {
    /// Numbers of regions from here on are greater than `begin`.
    pub fn number_from(&mut self, begin: u64) {
        self.issued = self.issued.max(begin);
    }

    /// The greatest number of a region so far.
    pub fn issued_numbers(&self) -> u64 {
        self.issued
    }

    /// Open regions with their series, the quiet ones too.
    pub fn open(&self) -> impl Iterator<Item = (RegionId, &BTreeSet<u32>)> {
        self.open.iter().map(|(id, members)| (*id, &members.series))
    }

    /// Takes all links that stall at `tick`; what became of the regions, in the order of their numbers.
    pub fn step(&mut self, tick: i64, stalling: &[Stalling]) -> Vec<Change> {
        let groups = group(stalling);
        let mut region_of: HashMap<u32, RegionId> = HashMap::new();
        for (id, members) in &self.open {
            region_of.extend(members.series.iter().map(|series| (*series, *id)));
        }
        let heirs = heirs(&groups, &region_of);
        let mut changes = Vec::new();
        let mut taken: BTreeMap<RegionId, RegionId> = BTreeMap::new();
        for (group, heir) in groups.into_iter().zip(heirs) {
            let before: BTreeSet<RegionId> = group.iter().filter_map(|s| region_of.get(s)).copied().collect();
            match heir {
                Some(id) => {
                    taken.extend(before.into_iter().filter(|other| *other != id).map(|other| (other, id)));
                    self.continue_region(id, group, &mut changes);
                }
                None => self.begin(group, before.first().copied(), &mut changes),
            }
        }
        let continuing: BTreeSet<u32> = stalling.iter().map(|link| link.series).collect();
        self.end(tick, &continuing, &taken, &mut changes);
        // Of one region, first its own changes, then the splits from it.
        changes.sort_by_key(|change| (change.id, change.change == RegionChange::Split));
        changes
    }

    fn continue_region(&mut self, id: RegionId, group: BTreeSet<u32>, changes: &mut Vec<Change>) {
        let Some(members) = self.open.get_mut(&id) else { return };
        let change = match group.len().cmp(&members.series.len()) {
            std::cmp::Ordering::Greater => Some(RegionChange::Grew),
            std::cmp::Ordering::Less => Some(RegionChange::Shrank),
            std::cmp::Ordering::Equal => None,
        };
        changes.extend(change.map(|change| Change { id, change, other: None }));
        *members = Members { series: group, quiet_since: None };
    }

    fn begin(&mut self, group: BTreeSet<u32>, of: Option<RegionId>, changes: &mut Vec<Change>) {
        self.issued += 1;
        let id = RegionId(self.issued);
        changes.push(Change { id, change: RegionChange::Began, other: of });
        changes.extend(of.map(|of| Change { id: of, change: RegionChange::Split, other: Some(id) }));
        self.open.insert(id, Members { series: group, quiet_since: None });
    }

    /// Regions whose links went into another one are over at once, quiet ones after a while.
    fn end(
        &mut self,
        tick: i64,
        stalling: &BTreeSet<u32>,
        taken: &BTreeMap<RegionId, RegionId>,
        changes: &mut Vec<Change>,
    ) {
        let mut held: HashMap<u32, usize> = HashMap::new();
        for members in self.open.values() {
            members.series.iter().for_each(|series| *held.entry(*series).or_default() += 1);
        }
        self.open.retain(|id, members| {
            let stalls = members.series.iter().any(|series| stalling.contains(series));
            // Its links are counted in another region too: they were taken up by it.
            let lost = members.series.iter().any(|series| held.get(series).is_some_and(|n| *n > 1));
            if let Some(into) = taken.get(id).filter(|_| lost && !changes.iter().any(|c| c.id == *id)) {
                changes.push(Change { id: *id, change: RegionChange::WentInto, other: Some(*into) });
                changes.push(Change { id: *into, change: RegionChange::TookUp, other: Some(*id) });
                return false;
            }
            if stalls {
                members.quiet_since = None;
                return true;
            }
            let since = *members.quiet_since.get_or_insert(tick);
            let over = tick - since >= OVER_TICKS;
            if over {
                changes.push(Change { id: *id, change: RegionChange::Ended, other: None });
            }
            !over
        });
    }
}

/// The region each group continues: of all pairs the one that shares most links first, and an older one that would be taken up
/// instead.
fn heirs(groups: &[BTreeSet<u32>], region_of: &HashMap<u32, RegionId>) -> Vec<Option<RegionId>> {
    let mut shared: Vec<(usize, RegionId, usize)> = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let mut counts: BTreeMap<RegionId, usize> = BTreeMap::new();
        for series in group {
            if let Some(id) = region_of.get(series) {
                *counts.entry(*id).or_default() += 1;
            }
        }
        shared.extend(counts.into_iter().map(|(id, links)| (links, id, at)));
    }
    shared.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut heirs = vec![None; groups.len()];
    let mut given = BTreeSet::new();
    for (_, id, at) in &shared {
        if heirs[*at].is_none() && given.insert(*id) {
            heirs[*at] = Some(*id);
        }
    }
    for (_, id, at) in shared {
        if heirs[at].is_some_and(|heir| id < heir) && given.insert(id) {
            heirs[at] = Some(id);
        }
    }
    heirs
}

/// Groups of links that touch and stall alike, in the order of their lowest series.
fn group(stalling: &[Stalling]) -> Vec<BTreeSet<u32>> {
    let mut links = stalling.to_vec();
    links.sort_by_key(|link| link.series);
    let mut at_vertex: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (slot, link) in links.iter().enumerate() {
        at_vertex.entry(link.ends[0]).or_default().push(slot);
        if link.ends[1] != link.ends[0] {
            at_vertex.entry(link.ends[1]).or_default().push(slot);
        }
    }
    let mut sets: Vec<usize> = (0..links.len()).collect();
    for touching in at_vertex.values_mut() {
        // In the order of their stalls neighbours show a boundary: a gap between two of them parts all below from all above.
        touching.sort_by(|a, b| links[*a].ratio.total_cmp(&links[*b].ratio));
        for pair in touching.windows(2) {
            let (low, high) = (&links[pair[0]], &links[pair[1]]);
            if 1.0 + high.ratio <= ALIKE * (1.0 + low.ratio) {
                let (a, b) = (first(&mut sets, pair[0]), first(&mut sets, pair[1]));
                sets[a.max(b)] = a.min(b);
            }
        }
    }
    let mut groups: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for (slot, link) in links.iter().enumerate() {
        groups.entry(first(&mut sets, slot)).or_default().insert(link.series);
    }
    groups.into_values().collect()
}

fn first(sets: &mut [usize], mut at: usize) -> usize {
    while sets[at] != at {
        sets[at] = sets[sets[at]];
        at = sets[at];
    }
    at
}

#[cfg(test)]
mod tests;
