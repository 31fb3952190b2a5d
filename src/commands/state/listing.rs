//! States as lines of text.

use std::fmt::Write;
use store::postgres::ImportedState;
use store::savepoint::{Head, StateHead};

/// A savepoint: when and by what it was written, and its states.
pub(super) fn savepoint(head: &Head, states: &[StateHead]) -> String {
    let time = alerts::listing::time(head.time_s);
    format!("written {time} by Tailback {}\n\n{}", head.written_by, self::states(states))
}

/// A line for each state.
pub(super) fn states(states: &[StateHead]) -> String {
    let mut text = "stage     partition  version       bytes      offset\n".to_string();
    for state in states {
        let StateHead { stage, partition, bytes, .. } = state;
        let version = state.version.map_or("none".to_string(), |version| version.to_string());
        let offset = state.position - state.offset_base;
        // Writing to a string does not fail.
        let _ = writeln!(text, "{stage:<9} {partition:>9}  {version:>7} {bytes:>11} {offset:>11}");
    }
    text
}

/// How many states were imported, and where the database has results after them.
pub(super) fn imported(imported: &[ImportedState]) -> String {
    let mut text = format!("imported {} states\n", imported.len());
    for ImportedState { head, position } in imported {
        let later = position.filter(|position| head.version.is_none() || *position > head.position);
        if let Some(position) = later {
            let (stage, partition) = (&head.stage, head.partition);
            let offset = position - head.offset_base;
            let _ = writeln!(
                text,
                "{stage}/{partition}: the database has results up to offset {offset}; they are not written again"
            );
        }
    }
    text
}
