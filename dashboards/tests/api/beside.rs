//! The comparison of jobs, and the cost of contention.

use crate::integration::api::sample::NOW;
use crate::integration::api::{answer, ask_of, sample};
use rusqlite::Connection;
use serde_json::{Value, json};

/// The response of the sample store at `path` after `statements` changed it.
async fn after(statements: &str, path: &str) -> (u16, Value) {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    Connection::open(&store).unwrap().execute_batch(statements).unwrap();
    let (status, answer) = ask_of(&store, path).await;
    (status.as_u16(), answer)
}

#[tokio::test]
async fn neighbours_have_shared_resources_and_overlap() {
    let found = answer("/api/v1/jobs/4710/neighbours").await;
    // Both write to one file system; the other job causes the region, and this one waits in another.
    let all = found["neighbours"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{found}");
    let other = &all[0];
    assert_eq!((&other["job_id"], &other["user"]), (&json!("4711"), &json!("bo")));
    assert_eq!((&other["shared"], &other["what"]), (&json!("file system"), &json!("snx11137")));
    // From the start of the later one until now.
    assert_eq!((&other["from"], &other["until"]), (&json!(NOW - 300.0), &json!(NOW)));
    assert_eq!((&other["overlap_s"], &other["count"]), (&json!(300.0), &json!(1)));
}

#[tokio::test]
async fn earlier_runs_are_those_of_the_same_name_and_user_that_began_before() {
    let runs = "INSERT INTO jobs (job_id, user_name, name, start_time, end_time) VALUES
                    ('1', 'bo', 'cfd', 1799990000.0, 1799990100.0), ('2', 'bo', 'cfd', 1799995000.0, 1799995130.0),
                    ('3', 'bo', 'cfd', 1800000000.0, NULL), ('4', 'eve', 'cfd', 1799995000.0, 1799995130.0);
                INSERT INTO job_results VALUES ('2', 40.0, 30.0, 28.0, 32.0, 0.98, 0.98);";
    let (_, found) = after(runs, "/api/v1/jobs/2/earlier").await;
    let ids: Vec<&Value> = found["runs"].as_array().unwrap().iter().map(|run| &run["job_id"]).collect();
    assert_eq!(ids, ["2", "1"], "itself first, no later run, no run of another user");
    let [itself, before] = [&found["runs"][0], &found["runs"][1]];
    assert_eq!((&itself["run_s"], &itself["slowdown_s"]), (&json!(130.0), &json!(30.0)));
    assert_eq!((&before["run_s"], &before["slowdown_s"]), (&json!(100.0), &Value::Null));
}

#[tokio::test]
async fn comparisons_of_unknown_jobs_are_refused() {
    for path in ["/api/v1/jobs/none/neighbours", "/api/v1/jobs/none/earlier"] {
        assert_eq!(after("", path).await.0, 404, "{path}");
    }
    assert_eq!(after("", "/api/v1/jobs/a%20b/earlier").await.0, 400);
}

#[tokio::test]
async fn node_hours_are_those_of_the_hours_of_the_run_by_cause() {
    // An hour before and 600 s of the current hour: 1,800 s lost on two nodes, a quarter of it from an unknown cause.
    let run = "DELETE FROM job_results; DELETE FROM job_causes;
               INSERT INTO jobs (job_id, user_name, name, start_time, end_time) VALUES
                   ('9', 'bo', 'cfd', 1799996400.0, 1800000600.0);
               INSERT INTO job_nodes VALUES ('9', 'a'), ('9', 'b');
               INSERT INTO job_results VALUES ('9', 2000.0, 2100.0, 2000.0, 2200.0, 1.0, 1.0);
               INSERT INTO job_causes VALUES ('9', 0, 'other_job', 'capacity', '4711', 0.75);";
    let (_, found) = after(run, "/api/v1/paid").await;
    let hour = 1_800_000_000.0;
    assert_eq!((&found["from"], &found["hours"]), (&json!(hour - 23.0 * 3600.0), &json!(24.0)));
    let rows: Vec<(f64, &str, [f64; 3])> = found["paid"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["time"].as_f64().unwrap(),
                row["cause"].as_str().unwrap(),
                ["node_hours", "node_hours_lo", "node_hours_hi"].map(|end| row[end].as_f64().unwrap()),
            )
        })
        .collect();
    // Half of each second was lost.
    let wanted = [
        (hour - 3600.0, "other_job", 0.75),
        (hour - 3600.0, "unknown", 0.25),
        (hour, "other_job", 0.125),
        (hour, "unknown", 1.0 / 24.0),
    ];
    assert_eq!(rows.len(), wanted.len(), "{rows:?}");
    for (got, wanted) in rows.iter().zip(wanted) {
        assert_eq!((got.0, got.1), (wanted.0, wanted.1));
        // The ends are those of the job's loss of 2,100 s [2,000, 2,200].
        let ends = [1.0, 2_000.0 / 2_100.0, 2_200.0 / 2_100.0].map(|of| of * wanted.2);
        let near = got.2.iter().zip(ends).all(|(got, wanted)| (got - wanted).abs() < 1e-9);
        assert!(near, "{got:?} is not {ends:?}");
    }
}

#[tokio::test]
async fn an_embedded_store_reports_that_it_has_no_history() {
    let found = answer("/api/v1/health/history").await;
    assert_eq!((&found["kept"], &found["lines"]), (&json!(false), &json!([])));
}
