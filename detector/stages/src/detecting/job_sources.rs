//! Samplers of jobs that report: their rows become job events, so the detector never sees them as sources.

use schemas::{JobEvent, LastSeen, Name, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Their schema, as the generated configuration of ldmsd and the site file call it.
const SCHEMA: &str = "slurm_jobs";
/// Nodes that are remembered; further ones are not.
const NODES_MAX: usize = 200_000;

/// Nodes by their latest row, and those that the database does not have yet.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct JobSources {
    seen: BTreeMap<Name, (Time, u64)>,
    changed: BTreeSet<Name>,
}

impl JobSources {
    /// Nodes that the events of a sampler's row are about, with the times of the row.
    pub fn of(events: &[JobEvent]) -> Vec<(Name, Time)> {
        events.iter().filter_map(|event| Some((event.nodes.first()?.clone(), event.time))).collect()
    }

    /// Rows of these nodes arrived.
    pub fn note(&mut self, sources: Vec<(Name, Time)>) {
        for (node, time) in sources {
            if self.seen.len() >= NODES_MAX && !self.seen.contains_key(&node) {
                continue;
            }
            let (latest, rows) = self.seen.entry(node.clone()).or_insert((time, 0));
            (*latest, *rows) = (time.max(*latest), *rows + 1);
            self.changed.insert(node);
        }
    }

    /// Nodes seen since they were returned last, `most` at most.
    pub fn take(&mut self, most: usize) -> Vec<LastSeen> {
        let Ok(schema) = Name::parse(SCHEMA) else { return Vec::new() };
        let mut found = Vec::new();
        while found.len() < most
            && let Some(node) = self.changed.pop_first()
        {
            let Some((last_time, rows)) = self.seen.get(&node).copied() else { continue };
            let (producer, component, schema) = (node.clone(), node, schema.clone());
            found.push(LastSeen { producer, schema, component, part: None, last_time, rows });
        }
        found
    }

    /// Returns all nodes again.
    pub fn report_again(&mut self) {
        self.changed.extend(self.seen.keys().cloned());
    }

    /// Forgets nodes whose latest row is older than `before`.
    pub fn forget(&mut self, before: Time) {
        let changed = &self.changed;
        self.seen.retain(|node, (latest, _)| *latest >= before || changed.contains(node));
    }

    /// Nodes that are remembered.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether there are nodes that [`JobSources::take`] did not return yet.
    pub fn has_more(&self) -> bool {
        !self.changed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_with_samplers_of_jobs_are_returned_once_a_change() {
        let node = |name: &str, second: f64| (Name::parse(name).unwrap(), Time::from_seconds(second));
        let mut sources = JobSources::default();
        sources.note(vec![node("n1", 10.0), node("n2", 11.0), node("n1", 9.0)]);
        let first = sources.take(1);
        assert_eq!(
            (first[0].producer.as_str(), first[0].rows, first[0].last_time),
            ("n1", 2, Time::from_seconds(10.0))
        );
        assert!(sources.has_more());
        assert_eq!(sources.take(usize::MAX).len(), 1);
        assert!(!sources.has_more());
        sources.note(vec![node("n2", 12.0)]);
        assert_eq!(sources.take(usize::MAX)[0].rows, 2);
    }
}
