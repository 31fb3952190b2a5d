//! Post-mortems and comparisons read from a store.

use super::check;
use super::facts::{at, contended, job, name, result, stamp};
use super::network::factors;
use super::store_file::{batch, stored};
use crate::Source;
use schemas::{JobFactors, ResultBatch};
use store::read::jobs::SeriesCount;
use store::sqlite::{Retention, Store};

#[test]
fn what_was_committed_is_what_is_reported() {
    let (_folder, path) = stored(&batch());
    let mut want = contended();
    want.series = SeriesCount { total: 2, without_readings: 0, fell_silent: 1 };
    assert_eq!(Source::Store(path).post_mortem("4711").unwrap(), want);
}

/// An earlier run that lost less.
fn earlier() -> ResultBatch {
    let mut earlier =
        ResultBatch { jobs: vec![job()], job_results: vec![result()], ..ResultBatch::default() };
    (earlier.jobs[0].job_id, earlier.jobs[0].start) = (name("4650"), at(73.0));
    (earlier.job_results[0].job_id, earlier.job_results[0].slowdown_s) = (name("4650"), 13.0);
    earlier.factors =
        vec![JobFactors { job_id: name("4650"), configuration: "ior 8 nodes".to_string(), ..factors() }];
    earlier
}

#[test]
fn two_runs_side_by_side() {
    let (_folder, path) = stored(&batch());
    Store::open(&path, Retention::default()).unwrap().commit(&earlier(), &[]).unwrap();
    let source = Source::Store(path);
    let facts = source.post_mortem("4711").unwrap();
    let compared = source.comparison(&facts, "4650").unwrap();
    check("compared.txt", &compared.text(100));
    let object: serde_json::Value = serde_json::from_str(&compared.json().unwrap()).unwrap();
    assert_eq!((&object["jobs"][1], &object["items"][3]["difference"]), (&"4650".into(), &200.0.into()));
    assert!(object["items"][0]["note"].as_str().unwrap().starts_with("configurations differ"));
    let page = facts.html(Some(&compared), &stamp());
    assert!(page.contains("<h2>Compared with job 4650</h2>"), "{page}");
    let unknown = source.comparison(&facts, "9").unwrap_err().to_string();
    assert!(unknown.contains("job 9 is not known"), "{unknown}");
}

#[test]
fn an_unknown_job_is_named_with_its_nearest() {
    let (_folder, path) = stored(&batch());
    let error = Source::Store(path).post_mortem("4117").unwrap_err().to_string();
    assert!(
        error.ends_with("store.db: job 4117 is not known; the nearest known ids are 4711, 4698, 4700"),
        "{error}"
    );
}

#[test]
fn a_store_that_is_not_there_is_named() {
    let error = Source::Store("no/such/store.db".into()).post_mortem("4711").unwrap_err().to_string();
    assert!(error.starts_with("no/such/store.db: the store cannot be opened"), "{error}");
}
