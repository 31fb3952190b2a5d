//! What a running job is answered that asks, and who may ask.

use super::{body_of, sample, state_of};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::Response;
use dashboards::access::Access;
use dashboards::connections::PeerUid;
use dashboards::contention::{Answers, Book, Gate, Reporters, keep, router as of_jobs};
use dashboards::guard::Hosts;
use dashboards::job_token::JobKeys;
use dashboards::login::{Login, Right};
use dashboards::reader::StoreReader;
use dashboards::router::{Routes, Shown, router};
use futures_util::StreamExt;
use rusqlite::Connection;
use schemas::Name;
use schemas::secret::Redacted;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use tower::ServiceExt;

const KEY: &str = "0123456789abcdef0123456789abcdef";
const TOKEN: &str = "0123456789abcdef";
const FUTURE_S: u64 = 4_000_000_000;
/// Long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server that does not stop.
static RUNNING: LazyLock<watch::Sender<bool>> = LazyLock::new(|| watch::Sender::new(false));

fn keys() -> JobKeys {
    JobKeys::of(Some(&Redacted::new(KEY.into())))
}

fn token(job: &str, until_s: u64) -> String {
    keys().issue(&Name::parse(job).unwrap(), until_s).unwrap()
}

/// A server that wants a token for reading, and takes those of jobs.
fn server(store: &Path, shown: Shown) -> Router {
    let mut state = state_of(store);
    state.stopping = RUNNING.subscribe();
    tokio::spawn(keep(Arc::clone(&state.contention)));
    let login = Arc::new(Login::new(vec![(Redacted::new(TOKEN.into()), Right::Read)]));
    let routes = Routes {
        read: Access::Login(Arc::clone(&login), Right::Read),
        login,
        page: Some((state, shown)),
        job_keys: keys(),
        process: None,
        posts: None,
        frame_ancestors: Vec::new(),
    };
    router(routes, Hosts::of(SocketAddr::from(([127, 0, 0, 1], 8600)), &[]))
}

async fn get(server: &Router, job: &str, token: Option<&str>) -> Response {
    let path = format!("/api/v1/jobs/{job}");
    let mut request = Request::get(path).header(header::HOST, "localhost:8600");
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    server.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
}

async fn ask(server: &Router, job: &str, token: Option<&str>) -> (StatusCode, String) {
    let response = get(server, &format!("{job}/contention"), token).await;
    (response.status(), body_of(response).await)
}

async fn answer(server: &Router, job: &str) -> Value {
    let (status, text) = ask(server, job, Some(&token(job, FUTURE_S))).await;
    assert_eq!(status, StatusCode::OK, "{text}");
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn applications_are_closed_where_only_advice_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    for (shown, status) in [(Shown::Everything, StatusCode::OK), (Shown::Advice, StatusCode::FORBIDDEN)] {
        let server = server(&store, shown);
        let of = async |query: &str| {
            let request =
                Request::get(format!("/api/v1/placement?{query}")).header(header::HOST, "localhost:8600");
            let request = request.header(header::AUTHORIZATION, format!("Bearer {TOKEN}"));
            let response = server.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
            (response.status(), body_of(response).await)
        };
        assert_eq!(of("nodes=nid00012").await.0, StatusCode::OK);
        let (got, text) = of("app=cfd").await;
        assert_eq!((got, text.contains("http.token_file")), (status, shown == Shown::Advice), "{text}");
    }
}

#[tokio::test]
async fn a_job_reads_what_it_waits_for() {
    let folder = tempfile::tempdir().unwrap();
    let answer = answer(&server(&sample::store(folder.path()), Shown::Everything), "4710").await;
    let expected = json!({
        "state": "contended", "lost_s": 40.0, "lost_lo_s": 37.8, "lost_hi_s": 42.2, "since_s": 1_800_000_575.0,
        "until_s": null, "time_s": sample::NOW, "ask_again_s": 1, "judged_now": 1.0, "judged": 1.0, "completeness": 1.0, "job_id": "4710",
        "reason": null, "resources_total": 1,
        "resources": [{ "about": "file_system", "name": "snx11137", "metric": "lustre_write_rate", "since_s": 1_800_000_575.0,
                        "members": 1, "lost_s": 8.3, "lost_lo_s": 7.9, "lost_hi_s": 8.8, "cause": null, "kind": null,
                        "until_s": null }],
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn an_answer_names_no_other_job() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    let rows = Connection::open(&store).unwrap();
    rows.execute_batch(
        r#"UPDATE episodes SET causes = '[{"cause":"other_job","kind":"endpoint","series_or_job":"4711","share":1}]';
           UPDATE regions SET end_time = 1800000600, open = 1 WHERE region_id = 2;
           INSERT INTO region_causes VALUES (2, 0, 'other_job', '4711', 0.7, 0.8, '[]');"#,
    )
    .unwrap();
    let answer = answer(&server(&store, Shown::Everything), "4710").await;
    assert_eq!(answer["resources"][0]["cause"], "other_job");
    assert_eq!(
        (&answer["resources"][1]["about"], &answer["resources"][1]["lost_s"]),
        (&json!("region"), &json!(3.0))
    );
    assert!(!answer.to_string().contains("4711"), "{answer}");
}

#[tokio::test]
async fn a_job_without_contention_is_clear_and_one_without_data_is_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    let rows = Connection::open(&store).unwrap();
    rows.execute_batch(
        "INSERT INTO jobs (job_id, user_name, name, start_time) VALUES ('1', 'ann', '', 1800000000), ('2', 'ann', '', 1800000000),
                                                                   ('3.r1', 'ann', '', 1800000000);
         INSERT INTO job_series VALUES ('1', 1), ('1', 2), ('2', 3), ('3.r1', 1);",
    )
    .unwrap();
    let server = server(&store, Shown::Everything);
    let clear = answer(&server, "1").await;
    assert_eq!(
        (&clear["state"], &clear["resources_total"], &clear["lost_s"]),
        (&json!("clear"), &json!(0), &Value::Null)
    );
    let silent = answer(&server, "2").await;
    assert_eq!(
        (&silent["state"], &silent["reason"]),
        (&json!("not_judged"), &json!("none of its 1 series has data now"))
    );
    assert_eq!(answer(&server, "3").await["job_id"], "3.r1", "a requeued job keeps its number");
}

#[tokio::test]
async fn each_wrong_token_is_refused_with_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&sample::store(folder.path()), Shown::Everything);
    let forged =
        JobKeys::of(Some(&Redacted::new("f".repeat(32)))).issue(&Name::parse("4710").unwrap(), FUTURE_S);
    for (job, token, status, part) in [
        ("4710", Some(token("4711", FUTURE_S)), 403, "token is of job 4711"),
        ("4710", Some(token("4710", 1)), 401, "--valid-s"),
        ("4710", forged, 401, "job_token_key_file"),
        ("4710", Some("tbjob.4710.9999999999.".into()), 401, "job_token_key_file"),
        ("4710", Some("another".into()), 401, "a token is needed"),
        ("4710", None, 401, "a token is needed"),
        ("99", Some(token("99", FUTURE_S)), 404, "tailback report 99"),
        ("a%20b", Some(TOKEN.into()), 400, "not a job id"),
        ("4710", Some(token("4710", FUTURE_S)), 200, "contended"),
        ("4710", Some(TOKEN.into()), 200, "contended"),
    ] {
        for path in ["contention", "contention/stream"] {
            let response = get(&server, &format!("{job}/{path}"), token.as_deref()).await;
            assert_eq!(response.status(), status, "{job} {path} {token:?}");
            if status != 200 {
                let text = body_of(response).await;
                assert!(text.contains(part), "{text}");
            }
        }
    }
}

#[tokio::test]
async fn a_jobs_token_opens_nothing_but_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&sample::store(folder.path()), Shown::Everything);
    let own = token("4710", FUTURE_S);
    for path in ["4710", "4710/report", "4710/caused", "4711/contention"] {
        assert!(get(&server, path, Some(&own)).await.status().is_client_error(), "{path}");
    }
}

#[tokio::test]
async fn where_only_advice_is_shown_a_job_needs_its_token() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&sample::store(folder.path()), Shown::Advice);
    let (status, text) = ask(&server, "4710", None).await;
    assert!(status == StatusCode::FORBIDDEN && text.contains("TAILBACK_JOB_TOKEN"), "{text}");
    assert_eq!(answer(&server, "4710").await["state"], "contended");
}

#[tokio::test]
async fn over_a_unix_socket_users_read_the_answers_of_own_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    let rows = Connection::open(&store).unwrap();
    rows.execute_batch("UPDATE jobs SET user_name = 'daemon' WHERE job_id = '4710'; UPDATE jobs SET user_name = '7' WHERE job_id = '4711'")
        .unwrap();
    let book = Book::new(StoreReader::new(&*store), None);
    tokio::spawn(keep(Arc::clone(&book)));
    let (_stop, stopping) = watch::channel(false);
    let gate = Gate::new(Access::Users([0].into()), JobKeys::default());
    let server = of_jobs(Answers { gate, book, stopping });
    let daemon = 1;
    for (job, uid, status) in [
        ("4710", Some(daemon), 200),
        ("4711", Some(daemon), 403),
        ("4711", Some(7), 200),
        ("4710", Some(7), 403),
        ("4710", Some(0), 200),
        ("4710", None, 403),
    ] {
        let mut request = Request::get(format!("/api/v1/jobs/{job}/contention")).body(Body::empty()).unwrap();
        if let Some(uid) = uid {
            request.extensions_mut().insert(PeerUid(uid));
        }
        let response = server.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), status, "{job} {uid:?}");
    }
}

#[tokio::test]
async fn over_a_unix_socket_users_report_for_own_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    let rows = Connection::open(&store).unwrap();
    rows.execute_batch("UPDATE jobs SET user_name = '7' WHERE job_id = '4710'").unwrap();
    let book = Book::new(StoreReader::new(&*store), None);
    tokio::spawn(keep(Arc::clone(&book)));
    let gate = || Gate::new(Access::Users([0].into()), keys());
    let (with_users, without) = (Reporters::new(gate(), Some(book)), Reporters::new(gate(), None));
    for (reporters, job, uid, status) in [
        (&with_users, "4710", 7, 200),
        (&with_users, "4710", 8, 403),
        (&with_users, "99", 7, 404),
        (&with_users, "99", 0, 200),
        (&with_users, "a b", 0, 400),
        (&without, "4710", 7, 403),
        (&without, "4710", 0, 200),
    ] {
        let admitted = reporters.admit(&HeaderMap::new(), Some(PeerUid(uid)), job).await;
        let found = admitted.map_or_else(|refusal| refusal.status().as_u16(), |_| 200);
        assert_eq!(found, status, "{job} {uid}");
    }
}

#[tokio::test]
async fn a_change_is_an_event_and_the_end_of_the_job_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    let rows = Connection::open(&store).unwrap();
    let server = server(&store, Shown::Everything);
    let response = get(&server, "4710/contention/stream", Some(&token("4710", FUTURE_S))).await;
    let mut events = response.into_body().into_data_stream();
    let mut text = String::new();
    for (change, event) in [
        ("", "\"state\":\"contended\""),
        ("UPDATE episodes SET open = 0", "\"state\":\"clear\""),
        ("UPDATE jobs SET end_time = 1800000600 WHERE job_id = '4710'", "event: ended\n"),
    ] {
        rows.execute_batch(change).unwrap();
        while !text.contains(event) {
            let part = timeout(TIMEOUT, events.next()).await.unwrap().unwrap().unwrap();
            text += &String::from_utf8_lossy(&part);
        }
    }
    assert_eq!(text.matches("event: contention\n").count(), 2, "{text}");
    assert!(timeout(TIMEOUT, events.next()).await.unwrap().is_none(), "the stream ends");
}

#[tokio::test]
async fn without_a_store_the_answer_names_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder.path().join("none.db"), Shown::Everything);
    let (status, text) = ask(&server, "4710", Some(&token("4710", FUTURE_S))).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(text.contains("no data yet"), "{text}");
}
