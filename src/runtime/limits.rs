//! Limits of what grows with the site: how far each is used, and a line where one is reached.

use super::partition_state::PartitionState;
use configuration::sections::Limits;
use metrics::{describe_gauge, gauge};
use stages::labels;
use stages::stage::Stage;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Limits that were reached and are used by nine tenths still.
static REACHED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Sets the limits that other crates keep to, and describes all.
pub fn set(limits: &Limits) {
    describe_gauge!("tailback_limit", "Limits of the section [limits], by name");
    describe_gauge!(
        "tailback_limit_used",
        "Use of each limit, by name: of the fullest partition, of the largest body so far, of the job that used most"
    );
    describe_gauge!("tailback_book_entries", "Entries of what a stage keeps by name, by stage and book");
    dashboards::connections::limit(limits.http_connections);
    labels::limit(limits.metric_topics);
    for (name, most) in [
        ("sources", limits.sources),
        ("series", limits.series),
        ("jobs", limits.jobs),
        ("http_connections", dashboards::connections::connections_max()),
        ("post_bytes", limits.post_bytes),
        ("post_events", limits.post_events),
        ("progress_bytes", limits.progress_bytes),
        ("progress_reports", limits.progress_reports),
        ("progress_per_s", limits.progress_per_s),
        ("progress_names", limits.progress_names),
        ("progress_ranks", limits.progress_ranks),
        ("progress_jobs", limits.progress_jobs),
        ("metric_topics", limits.metric_topics),
    ] {
        gauge!("tailback_limit", "name" => name).set(most as f64);
    }
}

/// Notes the use of a limit.
pub fn note(name: &'static str, used: usize, most: usize) {
    gauge!("tailback_limit_used", "name" => name).set(used as f64);
    let mut reached = REACHED.lock().unwrap_or_else(PoisonError::into_inner);
    if used >= most {
        if reached.insert(name) {
            tracing::warn!(
                limit = name,
                used,
                most,
                "limit reached: what exceeds it is refused; raise it in [limits]"
            );
        }
    } else if used < most / 10 * 9 && reached.remove(name) {
        tracing::info!(limit = name, used, most, "limit no longer reached");
    }
}

/// The same of bodies, by the largest so far.
pub fn note_largest(name: &'static str, size: usize, most: usize) {
    static LARGEST: Mutex<BTreeMap<&str, usize>> = Mutex::new(BTreeMap::new());
    let mut largest = LARGEST.lock().unwrap_or_else(PoisonError::into_inner);
    let known = largest.entry(name).or_default();
    *known = size.max(*known);
    note(name, *known, most);
}

/// Entries of the books of a stage, and the limits of its partitions.
pub fn note_books<S: Stage>(limits: &Limits, held: &BTreeMap<i32, PartitionState<S>>) {
    let mut books: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
    for (book, entries) in held.values().flat_map(|held| held.stage.books()) {
        let (sum, most) = books.entry(book).or_default();
        (*sum, *most) = (*sum + entries, entries.max(*most));
    }
    for (book, (sum, _)) in &books {
        gauge!("tailback_book_entries", "stage" => S::STAGE, "book" => *book).set(*sum as f64);
    }
    for (name, book, limit) in [("series", "series", limits.series), ("jobs", "reported_jobs", limits.jobs)] {
        if let Some((_, fullest)) = books.get(book) {
            note(name, *fullest, limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_reached(name: &str) -> bool {
        REACHED.lock().unwrap().contains(name)
    }

    #[test]
    fn limit_is_reached_until_a_tenth_is_free() {
        for (used, reached) in [(99, false), (100, true), (95, true), (89, false), (120, true)] {
            note("tested", used, 100);
            assert_eq!(is_reached("tested"), reached, "{used}");
        }
        note_largest("largest", 7, 10);
        note_largest("largest", 12, 10);
        note_largest("largest", 1, 10);
        assert!(is_reached("largest"));
    }
}
