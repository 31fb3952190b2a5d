//! The schema registry, judged.

use crate::finding::{Finding, Group, Notes};
use crate::words::many;

/// Whether the registry answers; `answer` is the number of subjects, or why there is none.
pub fn check(answer: &Option<Result<usize, String>>, avro: bool) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Rows, "schema_registry");
    match answer {
        Some(Ok(subjects)) => notes.ok(format!("the schema registry answers: {}", many(*subjects, "subject"))),
        Some(Err(why)) => notes.error(
            format!("the schema registry cannot be used: {why}"),
            "start it, or correct schema_registry.url, user and password_file; until then Avro rows of new schemas wait in Kafka",
        ),
        None if avro => {
            notes.error("rows come as Avro, and no schema registry is configured", "set schema_registry.url");
        }
        None => notes.ok("no schema registry is configured, and no row needs one"),
    }
    notes.done()
}
