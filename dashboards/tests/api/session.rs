//! Log in, read with the cookie, log out.

use super::{body_of, sample};
use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use axum::response::Response;
use dashboards::access::Access;
use dashboards::guard::Hosts;
use dashboards::job_token::JobKeys;
use dashboards::login::{Login, Right};
use dashboards::process::Process;
use dashboards::router::{Routes, Shown, router};
use schemas::secret::Redacted;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tower::ServiceExt;

const TOKEN: &str = "0123456789abcdef";

/// A server that wants a token for reading.
fn closed(store: &Path) -> Router {
    let login = Arc::new(Login::new(vec![(Redacted::new(TOKEN.into()), Right::Read)]));
    let process = Process { metrics: Arc::new(|| "up 1\n".into()), health: Arc::new(|_| Ok("ok\n".into())) };
    let routes = Routes {
        read: Access::Login(Arc::clone(&login), Right::Read),
        login,
        page: Some((super::state_of(store), Shown::Everything)),
        job_keys: JobKeys::default(),
        process: Some(process),
        posts: None,
        frame_ancestors: Vec::new(),
    };
    router(routes, Hosts::of(SocketAddr::from(([127, 0, 0, 1], 8600)), &[]))
}

async fn send(
    server: &Router,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Response {
    let mut request = Request::builder().method(method).uri(path).header(header::HOST, "localhost:8600");
    if headers.iter().all(|(name, _)| *name != "content-type") {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    server.clone().oneshot(request.body(body).unwrap()).await.unwrap()
}

async fn get(server: &Router, path: &str, headers: &[(&str, &str)]) -> StatusCode {
    send(server, Method::GET, path, headers, &Value::Null).await.status()
}

/// The cookie of a response, without its attributes, and the whole line.
fn cookie(response: &Response) -> (String, String) {
    let line = response.headers()[header::SET_COOKIE].to_str().unwrap().to_string();
    (line.split(';').next().unwrap().to_string(), line)
}

#[tokio::test]
async fn files_of_the_page_need_no_token_and_data_does() {
    let folder = tempfile::tempdir().unwrap();
    let server = closed(&sample::store(folder.path()));
    for open in ["/", "/js/main.js", "/api/v1/session"] {
        assert_eq!(get(&server, open, &[]).await, StatusCode::OK, "{open}");
    }
    let bearer = format!("Bearer {TOKEN}");
    let paths = ["now", "jobs/4710", "stream", "advice", "placement?nodes=n1"];
    let paths = paths.map(|path| format!("/api/v1/{path}")).into_iter();
    for path in paths.chain(["/metrics", "/healthz", "/readyz"].map(String::from)) {
        assert_eq!(get(&server, &path, &[]).await, StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(get(&server, &path, &[("cookie", "tailback_session_8600=")]).await, 401, "{path}");
        assert_eq!(get(&server, &path, &[("authorization", &bearer)]).await, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn a_session_reads_until_it_logs_out() {
    let folder = tempfile::tempdir().unwrap();
    let server = closed(&sample::store(folder.path()));
    let path = "/api/v1/session";
    let answer = send(&server, Method::POST, path, &[], &json!({ "token": TOKEN })).await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    let (cookie_of, line) = cookie(&answer);
    for part in ["tailback_session_8600=", "; Path=/", "; Max-Age=43200", "; HttpOnly", "; SameSite=Strict"] {
        assert!(line.contains(part), "{line}");
    }
    assert!(!line.contains("Secure"), "{line}");
    let held = [("cookie", cookie_of.as_str())];
    let state = send(&server, Method::GET, path, &held, &Value::Null).await;
    let state: Value = serde_json::from_str(&body_of(state).await).unwrap();
    assert_eq!((&state["needed"], &state["may_change"]), (&json!(true), &json!(false)));
    assert!(state["ends_in_s"].as_u64().unwrap() > 43_000, "{state}");
    for path in ["/api/v1/now", "/api/v1/stream"] {
        assert_eq!(get(&server, path, &held).await, StatusCode::OK, "{path}");
    }
    let ended = send(&server, Method::DELETE, path, &held, &Value::Null).await;
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    assert!(cookie(&ended).1.contains("Max-Age=0"));
    assert_eq!(get(&server, "/api/v1/now", &held).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn wrong_logins_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = closed(&sample::store(folder.path()));
    let path = "/api/v1/session";
    for (headers, body, status) in [
        (&[][..], json!({ "token": "0123456789abcdeg" }), 401),
        (&[], json!({ "password": TOKEN }), 422),
        (&[("content-type", "text/plain")], json!({ "token": TOKEN }), 415),
        (&[("origin", "https://evil.example")], json!({ "token": TOKEN }), 403),
        (&[], json!({ "token": "x".repeat(70_000) }), 413),
    ] {
        let answer = send(&server, Method::POST, path, headers, &body).await;
        assert_eq!(answer.status(), status, "{headers:?}");
        assert!(answer.headers().get(header::SET_COOKIE).is_none());
    }
    for _ in 0..20 {
        send(&server, Method::POST, path, &[], &json!({ "token": "wrong" })).await;
    }
    assert_eq!(send(&server, Method::POST, path, &[], &json!({ "token": TOKEN })).await.status(), 429);
}

#[tokio::test]
async fn behind_tls_the_cookie_is_secure() {
    let folder = tempfile::tempdir().unwrap();
    let server = closed(&sample::store(folder.path()));
    let origin = [("origin", "https://localhost:8600")];
    let answer = send(&server, Method::POST, "/api/v1/session", &origin, &json!({ "token": TOKEN })).await;
    assert!(cookie(&answer).1.ends_with("; Secure"));
}
