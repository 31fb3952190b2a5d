//! The page itself: HTML, CSS and JavaScript, embedded in the binary, in debug builds too.

use crate::answer::ApiError;
use crate::guard::policy_in_frames;
use axum::Router;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rust_embed::RustEmbed;
use std::fmt::Write;

#[derive(RustEmbed)]
#[folder = "page/"]
struct PageFiles;

/// `/embed/job/{id}` and `/embed/node/{name}`: panels for frames in pages of these origins. All other documents are shown in
/// no frame.
pub fn panels(frame_ancestors: &[String]) -> Router {
    // Only an origin that is no text of a header could make it invalid: then no page may show a panel.
    let policy = HeaderValue::from_str(&policy_in_frames(frame_ancestors)).ok();
    let panel = async move |headers: HeaderMap| {
        let mut response = page_file(Uri::from_static("/embed.html"), headers).await;
        if let Some(policy) = policy.clone() {
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        response
    };
    Router::new().route("/embed/job/{id}", get(panel.clone())).route("/embed/node/{name}", get(panel))
}

/// Serves every path that is no API path.
pub async fn page_file(uri: Uri, headers: HeaderMap) -> Response {
    let path = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    let Some(file) = PageFiles::get(path) else {
        return ApiError::NotFound(format!("no page at /{path}")).into_response();
    };
    let tag = entity_tag(&file.metadata.sha256_hash());
    if headers.get(header::IF_NONE_MATCH).is_some_and(|seen| seen.as_bytes() == tag.as_bytes()) {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    // "no-cache" lets a browser store the file, but check for a new version each time.
    let fields = [
        (header::CONTENT_TYPE, content_type(path).to_string()),
        (header::CACHE_CONTROL, "no-cache".to_string()),
        (header::ETAG, tag),
    ];
    (fields, file.data).into_response()
}

fn entity_tag(hash: &[u8; 32]) -> String {
    let mut tag = String::from("\"");
    for byte in &hash[..12] {
        // Writing to a String cannot fail.
        let _ = write!(tag, "{byte:02x}");
    }
    tag.push('"');
    tag
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("md") | None => "text/plain; charset=utf-8",
        Some(_) => "application/octet-stream",
    }
}
