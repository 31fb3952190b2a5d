//! The page itself: HTML, CSS and JavaScript, embedded in the binary, in debug builds too.

use crate::answer::ApiError;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;
use std::fmt::Write;

#[derive(RustEmbed)]
#[folder = "page/"]
struct PageFiles;

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
