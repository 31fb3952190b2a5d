//! Requests of the page to the API, over a store with a handful of rows.

mod alerts;
mod beside;
mod contention;
mod counters;
mod embed;
mod fabric;
mod failures;
mod lists;
mod map;
mod placement;
mod report;
mod safety;
mod sample;
mod session;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use axum::response::Response;
use dashboards::Progress;
use dashboards::access::Access;
use dashboards::contention::Book;
use dashboards::guard::Hosts;
use dashboards::job_token::JobKeys;
use dashboards::login::Login;
use dashboards::reader::StoreReader;
use dashboards::router::{PageState, Routes, Shown, router};
use sample::NOW;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;
use tower::ServiceExt;

fn state_of(store: &Path) -> PageState {
    let reader = StoreReader::new(store);
    PageState {
        contention: Book::new(Arc::clone(&reader), None),
        reader,
        clock: None,
        run_note: Some("a test".to_string()),
        public_url: None,
        ticks: watch::channel(Progress::default()).1,
        events: watch::Sender::new("".into()),
        stopping: watch::channel(true).1,
        readings: Arc::default(),
    }
}

fn page_of(store: &Path) -> Router {
    let routes = Routes {
        read: Access::Open,
        login: Arc::new(Login::new(Vec::new())),
        page: Some((state_of(store), Shown::Everything)),
        job_keys: JobKeys::default(),
        process: None,
        posts: None,
        frame_ancestors: Vec::new(),
    };
    router(routes, Hosts::of(SocketAddr::from(([127, 0, 0, 1], 8600)), &[]))
}

async fn get_as(store: &Path, path: &str, host: &str) -> Response {
    let request = Request::get(path).header(header::HOST, host).body(Body::empty()).unwrap();
    page_of(store).oneshot(request).await.unwrap()
}

async fn body_of(response: Response) -> String {
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The response to `path` from the sample store: status and JSON.
async fn ask(path: &str) -> (StatusCode, Value) {
    let folder = tempfile::tempdir().unwrap();
    ask_of(&sample::store(folder.path()), path).await
}

async fn ask_of(store: &Path, path: &str) -> (StatusCode, Value) {
    let response = get_as(store, path, "localhost:8600").await;
    let status = response.status();
    (status, serde_json::from_str(&body_of(response).await).unwrap())
}

async fn answer(path: &str) -> Value {
    let (status, json) = ask(path).await;
    assert_eq!(status, StatusCode::OK, "{path}: {json}");
    json
}

#[tokio::test]
async fn now_has_columns_counts_and_the_worst_series() {
    let now = answer("/api/v1/now").await;
    assert_eq!(now["clock"], NOW);
    assert_eq!(now["total"], 4);
    assert_eq!(now["totals"]["states"]["contended"], 1);
    // Series 3 had no signal for more than 5 s: unknown, though its latest state is "clear".
    assert_eq!(now["totals"]["states"]["unknown"], 1);
    assert_eq!(now["totals"]["states"]["clear"], 1);
    assert_eq!(now["totals"]["completeness"], 0.75);
    assert_eq!(now["totals"]["at"], now["clock"]);
    assert_eq!(now["totals"]["links"], serde_json::json!({"total": 3, "reporting": 2, "contended": 0}));
    assert_eq!(now["totals"]["clients"], serde_json::json!({"total": 1, "reporting": 1, "contended": 1}));
    assert_eq!(now["series"]["name"][0], "lustre_write_rate/nid00012/snx11137");
    assert_eq!(now["series"]["mean"][2], Value::Null);
    assert_eq!(now["top"][0]["name"], "lustre_write_rate/nid00012/snx11137");
    let unknown = now["series"]["state"][3].as_u64().unwrap() as usize;
    assert_eq!(now["states"][unknown], "unknown");
}

#[tokio::test]
async fn components_keep_their_order_if_another_series_is_the_worst() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    let connection = rusqlite::Connection::open(&store).unwrap();
    // A tile of the first router that is numbered behind the second one's.
    connection
        .execute_batch(
            "INSERT INTO series VALUES (9, 'aries_stall_ratio/c0-0c0s0/r1c0', 'aries_stall_ratio', 'c0-0c0s0', 'r1c0');
             INSERT INTO series_latest VALUES (9, 1800000600.0, 0.3, 0.3, 0.3, 0.4, 'idle', 0.0)",
        )
        .unwrap();
    let mut places = Vec::new();
    for worst in [1, 9] {
        let state = format!(
            "UPDATE series_latest SET state = CASE series_id WHEN {worst} THEN 'contended' ELSE 'clear' END"
        );
        connection.execute_batch(&state).unwrap();
        let (_, now) = ask_of(&store, "/api/v1/now?by=component").await;
        places.push((now["series"]["component"].clone(), now["series"]["id"].clone()));
    }
    assert_eq!(places[0].0, places[1].0);
    assert_ne!(places[0].1, places[1].1);
}

#[tokio::test]
async fn now_can_be_filtered_rolled_up_and_stripped_of_names() {
    let idle = answer("/api/v1/now?state=idle").await;
    assert_eq!(idle["series"]["name"], serde_json::json!(["aries_stall_ratio/c0-0c0s0/r0c1"]));
    let found = answer("/api/v1/now?search=r0c&limit=1&order=slowdown").await;
    assert_eq!((found["total"].as_i64(), found["series"]["id"].as_array().unwrap().len()), (Some(2), 1));
    let values = answer("/api/v1/now?names=false").await;
    assert_eq!(values["series"].get("name"), None);
    let rolled = answer("/api/v1/now?by=component&metric=aries_stall_ratio").await;
    assert_eq!(rolled["series"]["component"], serde_json::json!(["c0-0c0s0", "c0-0c0s1"]));
}

#[tokio::test]
async fn episodes_are_listed_open_first_and_filtered() {
    let ids = |json: &Value| -> Vec<i64> {
        json["episodes"].as_array().unwrap().iter().map(|e| e["id"].as_i64().unwrap()).collect()
    };
    assert_eq!(ids(&answer("/api/v1/episodes").await), [2, 1]);
    assert_eq!(ids(&answer("/api/v1/episodes?state=ended").await), [1]);
    let of_series = "/api/v1/episodes?series=lustre_write_rate/nid00012/snx11137";
    assert_eq!(ids(&answer(of_series).await), [2, 1]);
    assert_eq!(ids(&answer(&format!("{of_series}&job=4711&state=open")).await), [2]);
    assert_eq!(answer("/api/v1/episodes?job=4711").await["total"], 1);
    assert_eq!(ids(&answer("/api/v1/episodes?job=4710").await), [2, 1]);
    // This job began after the first episode had ended.
    assert_eq!(ids(&answer("/api/v1/episodes?job=4711").await), [2]);
    assert_eq!(ids(&answer("/api/v1/episodes?series=aries_stall_ratio/c0-0c0s0/r0c0").await), [0i64; 0]);
    assert_eq!(answer("/api/v1/episodes?limit=1").await["total"], 2);
}

#[tokio::test]
async fn an_episode_comes_with_its_points_causes_and_jobs() {
    let one = answer("/api/v1/episodes/1").await;
    assert_eq!(one["episode"]["series"], "lustre_write_rate/nid00012/snx11137");
    assert_eq!(one["episode"]["causes"][0]["cause"], "other_job");
    assert_eq!(one["metric"]["direction"], "falling");
    // 60 s before, 96 s of it, 60 s after, both ends included.
    assert_eq!(one["points"]["time"].as_array().unwrap().len(), 217);
    assert_eq!(one["points"]["ticks_per_point"], 1);
    assert_eq!(one["jobs"][0]["job_id"], "4710");
    // The loss begins at the dated start, 60 s after the first point, and stays after the end.
    let lost = |at: usize| one["lost_s"][at].as_f64().unwrap();
    assert_eq!((lost(60), lost(216)), (0.0, 31.7));
    assert!((lost(108) - 31.7 / 2.0).abs() < 1e-9);
    let spans = one["spans"].as_array().unwrap();
    assert_eq!((spans.len(), spans[0]["start"].as_f64()), (1, Some(NOW - 500.0)));
}

#[tokio::test]
async fn a_series_has_points_in_a_range() {
    let path = "/api/v1/series/lustre_write_rate/nid00012/snx11137/points";
    assert_eq!(answer(path).await["points"]["time"].as_array().unwrap().len(), 601);
    let part = answer(&format!("{path}?from={}&to={NOW}", NOW - 9.0)).await;
    assert_eq!(part["points"]["time"].as_array().unwrap().len(), 10);
    assert_eq!(part["series"]["state"], "contended");
    // Both episodes touch the last ten minutes; the one that is open lasts until now.
    assert_eq!(answer(path).await["spans"].as_array().unwrap().len(), 2);
    assert_eq!(part["spans"][0]["open"], true);
}

#[tokio::test]
async fn jobs_have_loss_and_causes() {
    let jobs = answer("/api/v1/jobs").await;
    assert_eq!(jobs["total"], 2);
    let victim = jobs["jobs"].as_array().unwrap().iter().find(|j| j["job_id"] == "4710").unwrap();
    assert_eq!(victim["name"], "<img src=x onerror=alert(1)>");
    assert_eq!(victim["lost_percent"], 100.0 * 40.0 / 600.0);
    assert_eq!(victim["causes"][0]["series_or_job"], "4711");
    let one = answer("/api/v1/jobs/4710").await;
    assert_eq!(one["node_names"], serde_json::json!(["nid00012"]));
    assert_eq!(one["episodes"].as_array().unwrap().len(), 2);
    let curve = one["loss_curve"]["slowdown_s"].as_array().unwrap();
    assert!((curve.last().unwrap().as_f64().unwrap() - 40.0).abs() < 1e-9);
    // No result is null, not zero.
    assert_eq!(answer("/api/v1/jobs/4711").await["job"]["slowdown_s"], Value::Null);
}

#[tokio::test]
async fn losses_by_a_time_are_those_of_the_courses() {
    // Half of the first episode.
    let at = NOW - 452.0;
    let episodes = answer(&format!("/api/v1/episodes?from={at}&to={at}&at={at}")).await;
    assert_eq!(episodes["total"], 1);
    assert!((episodes["episodes"][0]["lost_until_s"].as_f64().unwrap() - 31.7 / 2.0).abs() < 1e-9);
    let jobs = answer(&format!("/api/v1/jobs?from={at}&to={at}&at={at}")).await;
    // Both episodes together lost as much as the job.
    assert_eq!((&jobs["total"], &jobs["jobs"][0]["job_id"]), (&1.into(), &"4710".into()));
    assert!((jobs["jobs"][0]["lost_until_s"].as_f64().unwrap() - 31.7 / 2.0).abs() < 1e-9);
    // A job without a result has no loss by then, and without a time there is none.
    assert_eq!(
        answer(&format!("/api/v1/jobs?search=bo&at={NOW}")).await["jobs"][0]["lost_until_s"],
        Value::Null
    );
    for path in ["/api/v1/jobs", "/api/v1/episodes"] {
        let list = answer(path).await;
        let first = list["jobs"].get(0).or(list["episodes"].get(0)).unwrap();
        assert_eq!(first["lost_until_s"], Value::Null, "{path}");
    }
}

#[tokio::test]
async fn jobs_are_searched_and_ordered() {
    let ids = |json: &Value| -> Vec<String> {
        json["jobs"].as_array().unwrap().iter().map(|j| j["job_id"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(ids(&answer("/api/v1/jobs").await), ["4711", "4710"]);
    assert_eq!(ids(&answer("/api/v1/jobs?sort=lost").await), ["4710", "4711"]);
    for search in ["AMEL", "onerror", "hacc", "4710"] {
        let found = answer(&format!("/api/v1/jobs?search={search}")).await;
        assert_eq!((ids(&found), found["total"].as_i64()), (vec!["4710".to_string()], Some(1)), "{search}");
    }
    assert_eq!(ids(&answer("/api/v1/jobs?state=running&limit=1&offset=1").await), ["4710"]);
    assert_eq!(answer("/api/v1/jobs?state=ended").await["total"], 0);
}

#[tokio::test]
async fn a_file_system_has_its_rate_and_jobs() {
    let files = answer("/api/v1/files").await;
    assert_eq!(files["mount"], "snx11137");
    assert_eq!(
        files["metrics"],
        serde_json::json!([{"metric": "lustre_write_rate", "title": "write rate", "unit": "bytes/s", "contended": 1}])
    );
    let mount = &files["mounts"][0];
    assert_eq!((&mount["clients"], &mount["contended"], &mount["active"]), (&1.into(), &1.into(), &1.into()));
    assert_eq!(mount["rate"], 6.7e8);
    let rates = &files["rates"];
    assert_eq!(rates["time"].as_array().unwrap().len(), 30);
    assert_eq!(rates["most"], 1e9);
    assert_eq!(files["jobs"].as_array().unwrap().len(), 2);
    assert_eq!(files["jobs"][0]["contended"], 1);
    let judged = |id: &str| {
        files["jobs"].as_array().unwrap().iter().find(|j| j["job_id"] == id).unwrap()["judged"].clone()
    };
    assert_eq!((judged("4710"), judged("4711")), (1.0.into(), Value::Null));
    let (status, why) = ask("/api/v1/files?mount=nowhere").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(why["error"].as_str().unwrap().contains("nowhere"));
}

#[tokio::test]
async fn health_has_silent_producers_and_reasons_of_drops() {
    let health = answer("/api/v1/health").await;
    assert_eq!(health["producers"][0]["producer"], "nid00099");
    assert_eq!(health["producers"][0]["silent"], true);
    assert_eq!((health["producers_total"].as_i64(), health["producers_silent"].as_i64()), (Some(2), Some(1)));
    assert_eq!(health["completeness"], 0.75);
    let late = schemas::DropReason::Late;
    assert_eq!(health["drops"][0]["meaning"], late.meaning());
    assert!(health["store_bytes"].as_u64().unwrap() > 1_000);
}

#[tokio::test]
async fn bad_input_is_refused_with_a_reason() {
    for (path, status) in [
        ("/api/v1/now?limit=0", 400),
        ("/api/v1/now?limit=x", 400),
        ("/api/v1/now?state=healthy", 400),
        ("/api/v1/now?nonsense=1", 400),
        ("/api/v1/episodes?state=maybe", 400),
        ("/api/v1/episodes?limit=100000", 400),
        ("/api/v1/episodes?series=one", 400),
        ("/api/v1/episodes?job=x%27%3B--", 400),
        ("/api/v1/episodes/one", 400),
        ("/api/v1/episodes/-1", 400),
        ("/api/v1/episodes/99", 404),
        ("/api/v1/jobs?sort=size", 400),
        ("/api/v1/jobs?at=-1", 400),
        ("/api/v1/jobs?at=5&limit=101", 400),
        ("/api/v1/episodes?at=x", 400),
        ("/api/v1/episodes?at=5&limit=101", 400),
        ("/api/v1/jobs/no%20job", 400),
        ("/api/v1/jobs/99", 404),
        ("/api/v1/series/lustre_write_rate/nid00012/snx11137", 404),
        ("/api/v1/series/lustre_write_rate/none/points", 404),
        ("/api/v1/series/lustre_write_rate/none/counters", 404),
        ("/api/v1/series/a/b/c/d/counters", 400),
        ("/api/v1/series/lustre_write_rate/nid00012/snx11137/other", 404),
        ("/api/v1/series/a/b/c/d/points", 400),
        ("/api/v1/series/lustre_write_rate/nid00012/snx11137/points?from=5&to=1", 400),
        ("/api/v1/series/lustre_write_rate/nid00012/snx11137/points?from=NaN", 400),
        ("/api/v1/series/lustre_write_rate/nid00012/snx11137/points?from=0&to=1e9", 400),
        ("/api/v1/fabric?router=c0-0c0s0", 400),
        ("/api/v1/regions/one", 400),
        ("/api/v1/regions/-1", 400),
        ("/api/v1/regions/99", 404),
        ("/api/v1/files?mount=none", 404),
        ("/api/v1/files?metric=lustre_read_rate", 404),
        ("/api/v1/nothing", 404),
    ] {
        let (got, json) = ask(path).await;
        assert_eq!(got, status, "{path}: {json}");
        assert!(json["error"].as_str().is_some_and(|e| !e.is_empty()), "{path}: {json}");
    }
}

#[tokio::test]
async fn without_a_store_the_api_reports_that_it_waits() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.db");
    let response = get_as(&missing, "/api/v1/now", "localhost").await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    let untouched = folder.path().join("empty.db");
    std::fs::write(&untouched, "").unwrap();
    let response = get_as(&untouched, "/api/v1/health", "localhost").await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    let stream = get_as(&missing, "/api/v1/stream", "localhost").await;
    assert!(body_of(stream).await.contains("\"totals\":null"));
}

#[tokio::test]
async fn a_store_without_rows_has_empty_responses() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::empty_store(folder.path());
    for path in ["now", "episodes", "jobs", "fabric", "files", "health"] {
        let response = get_as(&store, &format!("/api/v1/{path}"), "localhost").await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let json: Value = serde_json::from_str(&body_of(response).await).unwrap();
        assert_eq!(json["clock"], Value::Null, "{path}");
    }
}

#[tokio::test]
async fn the_stream_begins_with_the_present() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    // The fixture's server is stopping, so the stream ends after one tick. A beat may precede it.
    let text = body_of(get_as(&store, "/api/v1/stream", "localhost").await).await;
    let data =
        text.lines().filter_map(|line| line.strip_prefix("data: ")).find(|data| *data != "{}").unwrap();
    let tick: Value = serde_json::from_str(data).unwrap();
    assert_eq!(tick["clock"], NOW);
    assert_eq!(tick["run_note"], "a test");
    assert_eq!(tick["open_episodes"], serde_json::json!([2]));
    let lost =
        ["jobs_slowdown_s", "jobs_slowdown_lo_s", "jobs_slowdown_hi_s"].map(|end| &tick["totals"][end]);
    assert_eq!(lost, [&serde_json::json!(40.0), &serde_json::json!(37.8), &serde_json::json!(42.2)]);
}
