//! Host names, headers and foreign files.

use super::{body_of, get_as, sample};
use axum::http::{StatusCode, header};

#[tokio::test]
async fn foreign_hosts_are_refused_on_every_path() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    for path in ["/", "/healthz", "/api/v1/now", "/api/v1/stream"] {
        for host in ["evil.example", "evil.example:8600", "192.168.0.1:8600", ""] {
            assert_eq!(get_as(&store, path, host).await.status(), StatusCode::FORBIDDEN, "{path} {host}");
        }
    }
    assert_eq!(get_as(&store, "/healthz", "[::1]:8600").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn every_answer_carries_the_security_headers() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    for path in ["/", "/js/main.js", "/api/v1/now", "/api/v1/jobs/none"] {
        let response = get_as(&store, path, "127.0.0.1:8600").await;
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'self';") && !policy.contains("unsafe"), "{path}");
        assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        let caching = if path.starts_with("/api") { "no-store" } else { "no-cache" };
        assert_eq!(response.headers()[header::CACHE_CONTROL], caching, "{path}");
    }
}

#[tokio::test]
async fn the_page_names_nothing_outside_of_itself() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    let page = body_of(get_as(&store, "/", "localhost").await).await;
    assert!(page.contains("<title>Tailback</title>") && !page.contains("//"), "{page}");
    let response = get_as(&store, "/../Cargo.toml", "localhost").await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
}
