//! Panels for frames of other pages.

use super::{body_of, sample, state_of};
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::response::Response;
use dashboards::access::Access;
use dashboards::guard::Hosts;
use dashboards::job_token::JobKeys;
use dashboards::login::Login;
use dashboards::router::{Routes, Shown, router};
use std::net::SocketAddr;
use std::sync::Arc;
use tower::ServiceExt;

async fn get(path: &str, frame_ancestors: &[&str]) -> Response {
    let folder = tempfile::tempdir().unwrap();
    let routes = Routes {
        read: Access::Open,
        login: Arc::new(Login::new(Vec::new())),
        page: Some((state_of(&sample::store(folder.path())), Shown::Everything)),
        job_keys: JobKeys::default(),
        process: None,
        posts: None,
        frame_ancestors: frame_ancestors.iter().map(ToString::to_string).collect(),
    };
    let router = router(routes, Hosts::of(SocketAddr::from(([127, 0, 0, 1], 8600)), &[]));
    let request = Request::get(path).header(header::HOST, "localhost").body(Body::empty()).unwrap();
    router.oneshot(request).await.unwrap()
}

fn policy_of(response: &Response) -> &str {
    response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap()
}

#[tokio::test]
async fn panels_are_shown_in_frames_of_the_configured_origins_only() {
    let origins = ["https://ondemand.example.org", "https://cockpit.example.org:8443"];
    for path in ["/embed/job/4710", "/embed/job/4710%5B5%5D.server", "/embed/node/nid00012"] {
        let response = get(path, &origins).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let policy = policy_of(&response).to_string();
        let wanted = "frame-ancestors https://ondemand.example.org https://cockpit.example.org:8443; object-src 'none'";
        assert!(policy.starts_with("default-src 'self';") && policy.ends_with(wanted), "{path}: {policy}");
        assert!(!response.headers().contains_key(header::X_FRAME_OPTIONS));
        let page = body_of(response).await;
        assert!(page.contains("/js/embed.js") && !page.contains("<nav") && !page.contains("//"), "{page}");
        let closed = get(path, &[]).await;
        assert!(policy_of(&closed).contains("frame-ancestors 'none'"), "{path}");
    }
}

#[tokio::test]
async fn all_other_documents_are_shown_in_no_frame() {
    for path in ["/", "/embed.html", "/api/v1/now", "/embed/series/x", "/embed/job/"] {
        let response = get(path, &["https://ondemand.example.org"]).await;
        assert!(policy_of(&response).contains("frame-ancestors 'none'"), "{path}");
    }
}
