//! Lists of jobs read from a store.

use super::check;
use super::store_file::{batch, stored};
use crate::{JobFilter, Source};

fn ids(source: &Source, filter: &JobFilter) -> Vec<String> {
    let json: serde_json::Value =
        serde_json::from_str(&source.jobs(filter).unwrap().json().unwrap()).unwrap();
    json.as_array().unwrap().iter().map(|job| job["job_id"].as_str().unwrap().to_string()).collect()
}

/// 4711 still runs, 4698 is of another user, 4700 lost nothing for certain and is the oldest.
fn source() -> (tempfile::TempDir, Source) {
    let mut batch = batch();
    batch.jobs[0].end = None;
    batch.jobs[1].user = "bob".to_string();
    batch.jobs[2].start = batch.jobs[2].start.plus_seconds(-10_000.0);
    batch.jobs[2].end = Some(batch.jobs[0].start.plus_seconds(-5_000.0));
    let (folder, path) = stored(&batch);
    (folder, Source::Store(path))
}

#[test]
fn jobs_are_filtered_and_ordered() {
    let (_folder, source) = source();
    let all = JobFilter { limit: 10, ..JobFilter::default() };
    assert_eq!(ids(&source, &all), ["4698", "4711", "4700"]);
    assert_eq!(ids(&source, &JobFilter { by_loss: true, ..all.clone() }), ["4711", "4698", "4700"]);
    assert_eq!(ids(&source, &JobFilter { user: Some("bob".to_string()), ..all.clone() }), ["4698"]);
    assert_eq!(ids(&source, &JobFilter { running: Some(true), ..all.clone() }), ["4711"]);
    assert_eq!(ids(&source, &JobFilter { running: Some(false), ..all.clone() }), ["4698", "4700"]);
    assert_eq!(ids(&source, &JobFilter { within_s: Some(3_600.0), ..all.clone() }), ["4698", "4711"]);
    assert_eq!(ids(&source, &JobFilter { limit: 1, ..all.clone() }), ["4698"]);
    let none = JobFilter { user: Some("eve".to_string()), ..all };
    assert_eq!(source.jobs(&none).unwrap().text(100), "no such jobs\n");
}

#[test]
fn table_of_jobs() {
    let (_folder, source) = source();
    let jobs = source.jobs(&JobFilter { by_loss: true, limit: 10, ..JobFilter::default() }).unwrap();
    check("jobs.txt", &jobs.text(100));
}
