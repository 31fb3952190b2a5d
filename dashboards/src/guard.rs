//! Accepted host names of a server, and security headers for browsers.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Forbids foreign sources, inline code and framing.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; object-src 'none'";

/// The policy of a document that pages of these origins may show in a frame.
pub fn policy_in_frames(ancestors: &[String]) -> String {
    match ancestors {
        [] => CONTENT_SECURITY_POLICY.to_string(),
        _ => CONTENT_SECURITY_POLICY
            .replace("frame-ancestors 'none'", &format!("frame-ancestors {}", ancestors.join(" "))),
    }
}

/// The names of a server. A foreign page whose name resolves to this server (DNS rebinding) sends that name as `Host`;
/// it cannot send an address instead.
#[derive(Clone, Debug)]
pub struct Hosts {
    bound: IpAddr,
    names: Arc<[String]>,
}

impl Hosts {
    /// The names of a server that is bound to `bound`: `localhost`, loopback and bound address, any address if other
    /// machines can reach the server, and `names`.
    pub fn of(bound: SocketAddr, names: &[String]) -> Hosts {
        Hosts { bound: bound.ip(), names: names.iter().map(|name| without_port(name).to_string()).collect() }
    }

    fn has(&self, authority: &str) -> bool {
        let name = without_port(authority);
        if name.eq_ignore_ascii_case("localhost") || self.is_listed(name) {
            return true;
        }
        let bare = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
        let local = |ip: IpAddr| ip.is_loopback() || ip == self.bound;
        bare.parse::<IpAddr>().is_ok_and(|ip| local(ip) || !self.bound.is_loopback())
    }

    fn is_listed(&self, name: &str) -> bool {
        self.names.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Whether a page of `origin` may send requests to `host`: its origin is that host or a listed name.
    fn allows_origin(&self, origin: &str, host: &str) -> bool {
        let origin = origin.parse::<Uri>().ok();
        let authority = origin.as_ref().and_then(Uri::authority).map(|authority| authority.as_str());
        authority.is_some_and(|from| from.eq_ignore_ascii_case(host) || self.is_listed(without_port(from)))
    }

    fn refusal(&self, request: &Request) -> Option<String> {
        let text =
            |name| request.headers().get(name).map(|value: &HeaderValue| value.to_str().unwrap_or("?"));
        // The request line may have the host instead of the header.
        let host = text(header::HOST).or_else(|| request.uri().authority().map(|a| a.as_str()));
        let Some(host) = host else { return Some("the request has no Host header".to_string()) };
        if !self.has(host) {
            return Some(format!("host {:?} is not accepted", shortened(host)));
        }
        let origin = text(header::ORIGIN)?;
        let refused = !self.allows_origin(origin, host);
        refused.then(|| format!("origin {:?} is not accepted", shortened(origin)))
    }
}

/// Refuses requests with a `Host` that is no name of the server, and requests of pages from another origin.
pub async fn refuse_foreign(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let Some(why) = hosts.refusal(&request) else { return next.run(request).await };
    let remedy = "use localhost or an address, or add the name to http.hosts of `tailback run`";
    let body = serde_json::json!({ "error": format!("{why}: {remedy}") });
    (StatusCode::FORBIDDEN, Json(body)).into_response()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Sets the headers of every response.
pub async fn set_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // A page with a style of its own has its own policy.
    let policy = HeaderValue::from_static(CONTENT_SECURITY_POLICY);
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    for (name, value) in [
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

    fn hosts(bound: &str) -> Hosts {
        Hosts::of(bound.parse().unwrap(), &["monitor.site".to_string()])
    }

    #[test]
    fn only_loopback_names_the_bound_address_and_listed_names_are_ours() {
        let own = hosts("127.0.0.1:9464");
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:1",
            "[::1]:8080",
            "[::1]",
            "127.0.0.2",
            "Monitor.site:1",
        ] {
            assert!(own.has(host), "{host}");
        }
        for host in
            ["", "evil.example", "localhost.evil.example:80", "10.0.0.1", "localhost:80:80", "[::2]", "::"]
        {
            assert!(!own.has(host), "{host}");
        }
    }

    #[test]
    fn where_other_machines_reach_a_server_addresses_are_its_names() {
        let own = hosts("0.0.0.0:9464");
        for (host, ours) in [("10.0.0.1:9464", true), ("[fd00::1]:9464", true), ("evil.example:9464", false)]
        {
            assert_eq!(own.has(host), ours, "{host}");
        }
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let own = hosts("127.0.0.1:9464");
        for (origin, allowed) in [
            ("http://localhost:9464", true),
            ("https://monitor.site", true),
            ("http://localhost:3000", false),
            ("https://evil.example", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(own.allows_origin(origin, "localhost:9464"), allowed, "{origin}");
        }
    }
}
