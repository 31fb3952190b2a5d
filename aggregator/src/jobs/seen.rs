//! Jobs that only rows' own `job_id` shows, where others name jobs too.
//!
//! A scheduler's or a job file's job of a node at a time precedes the one in its rows: a job array's task, or a
//! job whose number a site writes in another way, would otherwise be two jobs on the same nodes.

use super::runs::{Entry, Span};
use schemas::Name;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Seconds by which a scheduler and rows may differ about the start or the end of a job.
const SLACK_S: f64 = 5.0;

/// Which numbers are known on which node.
#[derive(Clone, Debug, Default)]
pub(super) struct OnNodes(HashMap<Name, BTreeSet<Name>>);

impl OnNodes {
    /// All numbers of `entries`.
    pub(super) fn of(entries: &BTreeMap<Name, Entry>) -> OnNodes {
        let mut found = OnNodes::default();
        for (job_id, entry) in entries {
            entry.nodes().for_each(|node| found.add(node, job_id));
        }
        found
    }

    /// Notes that `job_id` runs on `node`.
    pub(super) fn add(&mut self, node: &Name, job_id: &Name) {
        match self.0.get_mut(node) {
            Some(known) => {
                known.insert(job_id.clone());
            }
            None => {
                self.0.insert(node.clone(), BTreeSet::from([job_id.clone()]));
            }
        }
    }

    /// Numbers known on `node`.
    pub(super) fn on(&self, node: &Name) -> impl Iterator<Item = &Name> {
        self.0.get(node).into_iter().flatten()
    }
}

/// What is left of `span` where others are named; `None` if nothing is.
pub(super) fn left(span: Span, named: &[Span]) -> Option<Span> {
    let mut span = span;
    loop {
        let before = span;
        for other in named {
            let covers_start =
                other.start <= span.start.plus_seconds(SLACK_S) && other.ends_after(span.start);
            if covers_start {
                span.start = span.start.max(other.end?);
            }
            let covers_end = match (span.end, other.end) {
                (Some(end), Some(other)) => other.plus_seconds(SLACK_S) >= end,
                (_, other) => other.is_none(),
            };
            if covers_end && !covers_start && span.ends_after(other.start) {
                span.end = Some(other.start);
            }
        }
        if span.end.is_some_and(|end| end.seconds_since(span.start) <= SLACK_S) && span != before {
            return None;
        }
        if span == before {
            return Some(span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemas::Time;

    fn span(start: i64, end: Option<i64>) -> Span {
        Span { start: Time(start * 1_000_000), end: end.map(|end| Time(end * 1_000_000)) }
    }

    #[test]
    fn what_a_scheduler_names_is_cut_out() {
        let job = span(100, Some(200));
        for (named, expected) in [
            (vec![], Some(job)),
            (vec![span(10, Some(90)), span(210, None)], Some(job)),
            (vec![span(99, Some(201))], None),
            (vec![span(102, Some(198))], None),
            (vec![span(0, None)], None),
            (vec![span(50, Some(150))], Some(span(150, Some(200)))),
            (vec![span(150, None)], Some(span(100, Some(150)))),
            (vec![span(90, Some(150)), span(150, Some(300))], None),
            (vec![span(120, Some(130))], Some(job)),
        ] {
            assert_eq!(left(job, &named), expected, "{named:?}");
        }
        assert_eq!(left(span(100, None), &[span(150, None)]), Some(span(100, Some(150))));
        assert_eq!(left(span(100, None), &[span(50, Some(150))]), Some(span(150, None)));
    }
}
