//! Who may ask, and what a browser may do with the answer.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, SocketAddr};

/// Nothing from elsewhere, nothing inline, no frames around the page.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; object-src 'none'";

/// Refuses requests whose `Host` is neither a loopback name nor the bound address. A foreign page that lets
/// its own name point here (DNS rebinding) sends its own name as `Host`, and is stopped by this.
pub async fn refuse_foreign_hosts(State(bound): State<SocketAddr>, request: Request, next: Next) -> Response {
    let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    // HTTP/2 has no Host header: its authority stands in the URI.
    let host = named.or_else(|| request.uri().authority().map(|a| a.as_str()));
    if host.is_some_and(|host| host_is_ours(host, bound.ip())) {
        return next.run(request).await;
    }
    let body = serde_json::json!({ "error": "this page answers only to localhost" });
    (StatusCode::FORBIDDEN, Json(body)).into_response()
}

fn host_is_ours(host: &str, bound: IpAddr) -> bool {
    let name = without_port(host);
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let bare = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
    bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip == bound)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Sets the headers that every answer carries.
pub async fn set_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_and_the_bound_address_are_ours() {
        let bound: IpAddr = "127.0.0.1".parse().unwrap();
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "[::1]", "127.0.0.2"] {
            assert!(host_is_ours(host, bound), "{host}");
        }
        for host in
            ["", "evil.example", "localhost.evil.example:80", "10.0.0.1", "localhost:80:80", "[::2]", "::"]
        {
            assert!(!host_is_ours(host, bound), "{host}");
        }
    }
}
