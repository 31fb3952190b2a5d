//! `/api/v1/jobs/{id}/report`: the post-mortem of a job as a page of its own, or as text.

use crate::answer::{ApiError, Checked, checked_job_id};
use crate::router::PageState;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use report::{PostMortem, Stamp};
use schemas::Time;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// Most columns of the text.
const WIDTH: usize = 100;

/// Allows the style of the page by its hash, and nothing else.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(report::PAGE_STYLE));
    let text = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    // Base64 is always valid; without the hash the page has no style.
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("default-src 'none'"))
});

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportQuery {
    #[serde(default)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Html,
    Text,
}

/// Answers `/api/v1/jobs/{id}/report`.
///
/// # Errors
/// 400 for bad parameters, 404 for an unknown job.
pub async fn report(
    State(state): State<PageState>,
    Path(id): Path<String>,
    Checked(query): Checked<ReportQuery>,
) -> Result<Response, ApiError> {
    let id = checked_job_id(&id)?;
    let stamp = stamp(&state, query.format);
    let unknown = ApiError::NotFound(format!("no job {id}"));
    let facts = state.reader.read(move |store| Ok(PostMortem::of(store, id.as_str())?)).await?;
    let facts = facts.ok_or(unknown)?;
    Ok(match query.format {
        Format::Text => facts.text(WIDTH, false, &stamp).into_response(),
        Format::Html => {
            let html = "text/html; charset=utf-8";
            let headers = [
                (header::CONTENT_SECURITY_POLICY, POLICY.clone()),
                (header::CONTENT_TYPE, HeaderValue::from_static(html)),
            ];
            (headers, facts.html(None, &stamp)).into_response()
        }
    })
}

/// Without a known address, links of HTML are relative to this server.
fn stamp(state: &PageState, format: Format) -> Stamp {
    let relative = (format == Format::Html).then(String::new);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Stamp {
        version: env!("CARGO_PKG_VERSION"),
        written: Time(since.as_micros() as i64),
        page: state.public_url.clone().or(relative),
    }
}
