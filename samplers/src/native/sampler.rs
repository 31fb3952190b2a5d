//! All sets of the node: devices and mounts come and go, and none of them stops the others.

use super::clock::Clock;
use super::discovery::{Candidate, discover};
use super::event::{Event, SetId};
use super::node::{Node, Roots};
use super::selection::Selection;
use super::set::{Reading, Set};
use super::tick_rows::TickRows;
use crate::ldms_rows::put_time;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What is sampled on a node.
#[derive(Debug)]
pub struct Sampler {
    roots: Roots,
    node: Node,
    selection: Selection,
    sets: BTreeMap<SetId, Slot>,
    /// Folders and names already reported.
    reported: BTreeSet<PathBuf>,
    /// Contents of a file, and the counters of a row; their memory is kept.
    raw: Vec<u8>,
    body: Vec<u8>,
}

/// A device or mount that is there.
#[derive(Debug)]
enum Slot {
    Sampled(Set),
    /// It cannot be sampled, which was reported once; every rescan retries.
    Waiting,
}

impl Sampler {
    /// A sampler that has not looked for devices yet: see [`Sampler::rescan`].
    pub fn new(roots: Roots, node: Node, selection: Selection) -> Sampler {
        Sampler {
            roots,
            node,
            selection,
            sets: BTreeMap::new(),
            reported: BTreeSet::new(),
            raw: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Sets that are sampled now.
    pub fn sampled(&self) -> impl Iterator<Item = &SetId> {
        self.sets.iter().filter(|(_, slot)| matches!(slot, Slot::Sampled(_))).map(|(id, _)| id)
    }

    /// Looks for devices and mounts that came, went or were replaced.
    pub fn rescan(&mut self, events: &mut Vec<Event>) {
        let found = discover(&self.roots);
        let mut troubles = BTreeSet::new();
        for (path, reason) in found.unreadable {
            if !self.reported.contains(&path) {
                events.push(Event::Unreadable(path.clone(), self.with_advice(&path, reason)));
            }
            troubles.insert(path);
        }
        for path in found.bad_names {
            if !self.reported.contains(&path) {
                events.push(Event::BadName(path.clone()));
            }
            troubles.insert(path);
        }
        self.reported = troubles;
        let there: BTreeSet<&SetId> = found.candidates.iter().map(|candidate| &candidate.id).collect();
        self.sets.retain(|id, slot| {
            let stays = there.contains(id);
            if !stays && matches!(slot, Slot::Sampled(_)) {
                events.push(Event::Lost(id.clone(), "it vanished".to_string()));
            }
            stays
        });
        for candidate in &found.candidates {
            self.look_at(candidate, events);
        }
    }

    /// Opens what is not open, or not any longer what stands there.
    fn look_at(&mut self, candidate: &Candidate, events: &mut Vec<Event>) {
        let before = self.sets.get(&candidate.id);
        let silent = match before {
            Some(Slot::Sampled(set)) if set.is_current(candidate) && !set.is_incomplete() => return,
            // The same device, perhaps with counters that could not be read before.
            Some(Slot::Sampled(set)) => set.is_current(candidate),
            Some(Slot::Waiting) | None => false,
        };
        let id = || candidate.id.clone();
        if matches!(before, Some(Slot::Sampled(_))) && !silent {
            events.push(Event::Lost(id(), "it was replaced".to_string()));
        }
        match Set::open(candidate, &self.node, self.selection) {
            Ok(set) => {
                if !silent {
                    events.push(Event::Found(id()));
                }
                self.sets.insert(id(), Slot::Sampled(set));
            }
            // An open set continues until it fails by itself.
            Err(_) if silent => {}
            Err(failure) => {
                if before.is_none() {
                    events.push(Event::Refused(id(), failure.0));
                }
                self.sets.insert(id(), Slot::Waiting);
            }
        }
    }

    /// debugfs is closed to ordinary users, and nearly always it is this.
    fn with_advice(&self, path: &std::path::Path, reason: String) -> String {
        if !path.starts_with(&self.roots.debugfs) {
            return reason;
        }
        format!(
            "{reason}; Lustre 2.12 and newer keeps its stats there: give the sampler the capability \
             CAP_DAC_READ_SEARCH (systemd: AmbientCapabilities=) to have rows of Lustre, everything else works without it"
        )
    }

    /// Reads all sets into `rows`. The time of a row is that of the end of its reading. Allocates nothing once
    /// memory has grown to its size.
    pub fn sample(&mut self, clock: &dyn Clock, rows: &mut TickRows, events: &mut Vec<Event>) {
        rows.clear();
        for (id, slot) in &mut self.sets {
            let Slot::Sampled(set) = slot else { continue };
            self.body.clear();
            let trouble = match set.read(&mut self.raw, &mut self.body) {
                Ok(Reading::Whole) => None,
                Ok(Reading::Partial(path)) => Some((path.display().to_string(), true)),
                Ok(Reading::Unusable(reason)) => Some((reason, false)),
                Err(failure) => {
                    events.push(Event::Lost(id.clone(), failure.0));
                    *slot = Slot::Waiting;
                    continue;
                }
            };
            if !matches!(trouble, Some((_, false))) {
                let time = clock.now();
                let (head, body) = (&set.head, &self.body);
                rows.push(set.kind, |line| {
                    put_time(line, time);
                    line.extend_from_slice(head);
                    line.extend_from_slice(body);
                    line.push(b'}');
                });
            }
            let was_bad = std::mem::replace(&mut set.bad, trouble.is_some());
            if let Some((what, _)) = trouble.filter(|_| !was_bad) {
                events.push(Event::BadContent(id.clone(), what));
            }
        }
    }
}
