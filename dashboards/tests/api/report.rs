//! The report of a job over HTTP.

use super::{ask, body_of, get_as, sample};
use axum::http::header;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

#[tokio::test]
async fn the_report_of_a_job_has_a_style_that_its_policy_allows() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    let path = "/api/v1/jobs/4710/report";
    let response = get_as(&store, path, "localhost:8600").await;
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_string();
    let html = body_of(response).await;
    let style = html.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let hash = STANDARD.encode(Sha256::digest(style));
    assert!(
        policy.contains(&format!("style-src 'sha256-{hash}'")) && policy.starts_with("default-src 'none'")
    );
    assert!(
        html.contains("href=\"/#/job/4710\"") && !html.contains("<img") && !html.contains("style=\""),
        "{html}"
    );
    let text = body_of(get_as(&store, &format!("{path}?format=text"), "localhost:8600").await).await;
    assert!(text.contains("4710") && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    for (path, status) in
        [("jobs/99/report", 404), ("jobs/4710/report?format=pdf", 400), ("jobs/a%20b/report", 400)]
    {
        assert_eq!(ask(&format!("/api/v1/{path}")).await.0.as_u16(), status, "{path}");
    }
}
