//! Hostile clients: foreign names and pages, posts without a token, bodies that expand, slow connections.
//!
//! `tailback run` answers without Kafka and a database: these tests need neither.

mod floods;
mod program;

use program::{Program, TOKEN, get, post, post_over};

const EVENT: &str = r#"{"job_id":81,"user":"dora","nodes":"c[1-3]","start":1795217419}"#;

#[test]
fn every_route_refuses_foreign_hosts_and_origins() {
    let run = Program::run("");
    for path in ["/metrics", "/healthz", "/readyz", "/api/v1/placement?nodes=c1", "/api/v1/advice", "/x"] {
        assert_ne!(run.get(path, "localhost", ""), 403, "{path}");
        for (host, origin) in [
            ("rebound.example", ""),
            ("rebound.example:9464", ""),
            ("10.9.8.7", ""),
            ("localhost", "http://page.example"),
            ("localhost", "http://localhost:3000"),
            ("localhost", "null"),
        ] {
            assert_eq!(run.get(path, host, origin), 403, "{path} {host} {origin}");
        }
    }
    let (status, _) = post(run.address, "rebound.example", TOKEN, EVENT);
    assert_eq!(status, 403);
}

#[test]
fn the_page_refuses_foreign_origins_too() {
    let demo = Program::demo("");
    for path in ["/", "/api/v1/jobs", "/healthz"] {
        let own = demo.get(path, "localhost", "");
        assert!(own == 200 || own == 503, "{path}: {own} (503 while there is no store yet)");
        assert_eq!(get(demo.address, path, "localhost", "https://page.example").0, 403, "{path}");
        assert_eq!(get(demo.address, path, "page.example", "").0, 403, "{path}");
    }
}

#[test]
fn configured_names_of_the_server_are_answered() {
    let run = Program::run("hosts = [\"monitor.site.test\"]\n");
    assert_eq!(run.get("/healthz", "monitor.site.test:443", "https://monitor.site.test"), 200);
    assert_eq!(run.get("/healthz", "other.site.test", ""), 403);
}

#[test]
fn posting_without_a_token_is_refused_with_the_keys_to_set() {
    let run = Program::run("");
    let (status, answer) = post(run.address, "localhost", "", EVENT);
    assert_eq!(status, 403, "{answer}");
    for key in ["http.jobs_token_file", "http.token_file", "http.socket"] {
        assert!(answer.contains(key), "{answer}");
    }
    assert_eq!(run.get("/metrics", "localhost", ""), 200, "reading on the loopback address stays open");
}

#[test]
fn a_token_or_the_user_of_a_socket_opens_posting() {
    let run = Program::run_with_token("");
    assert_eq!(post(run.address, "localhost", "another-token-of-16", EVENT).0, 401);
    // An accepted token leads to 503, since Kafka is not reachable.
    assert_eq!(post(run.address, "localhost", TOKEN, EVENT).0, 503);
    let socket = Program::run("socket = \"jobs.sock\"\n");
    assert_eq!(post_over(&socket.folder().join("jobs.sock"), EVENT).0, 503);
    assert_eq!(post(socket.address, "localhost", "", EVENT).0, 403, "the address stays closed");
}
