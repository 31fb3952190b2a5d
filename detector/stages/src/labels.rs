//! Labels of metrics that are names of a site: only so many, so that a monitoring system is not filled by topics that come
//! and go.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Label of what has none of its own.
const OTHER: &str = "other";

static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static MOST: AtomicUsize = AtomicUsize::new(1_000);

/// At most so many names become labels.
pub fn limit(most: usize) {
    MOST.store(most, Ordering::Relaxed);
}

/// Names that are labels.
pub fn used() -> usize {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).len()
}

/// The label of a topic or table: its name, or `other` if there are too many.
pub fn of(name: &str) -> String {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.contains(name) {
        return name.to_string();
    }
    if known.len() >= MOST.load(Ordering::Relaxed) {
        return OTHER.to_string();
    }
    known.insert(name.to_string());
    name.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_names_share_a_label() {
        limit(2);
        assert_eq!(["a", "b", "c", "a", "d"].map(of), ["a", "b", OTHER, "a", OTHER]);
        assert_eq!(used(), 2);
    }
}
