//! Which process answers at this machine's `http.listen`.

use configuration::sections::Http;
use reqwest::{Client, StatusCode};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// What answers at `http.listen`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// Port 0: the address is in the log of `tailback run`.
    AnyPort,
    /// Nothing.
    Silent(SocketAddr),
    /// Not Tailback, or it refuses.
    Other(SocketAddr, StatusCode),
    /// Tailback; the reason if it is not ready.
    Tailback(SocketAddr, Option<String>),
}

/// Requests `/metrics` and `/readyz`.
pub async fn look(config: &Http, timeout: Duration) -> Endpoint {
    let mut address = config.listen;
    if address.port() == 0 {
        return Endpoint::AnyPort;
    }
    if address.ip().is_unspecified() {
        address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    let Some((status, text)) = get(config, address, "/metrics", timeout).await else {
        return Endpoint::Silent(address);
    };
    if !status.is_success() || !text.contains("tailback_") {
        return Endpoint::Other(address, status);
    }
    let ready = get(config, address, "/readyz", timeout).await;
    let trouble = ready.filter(|(status, _)| !status.is_success()).map(|(_, text)| text.trim().to_string());
    Endpoint::Tailback(address, trouble)
}

async fn get(
    config: &Http,
    address: SocketAddr,
    path: &str,
    timeout: Duration,
) -> Option<(StatusCode, String)> {
    let client = Client::builder().timeout(timeout).no_proxy().build().ok()?;
    let mut request = client.get(format!("http://{address}{path}"));
    if let Some(token) = &config.token {
        request = request.bearer_auth(token.reveal());
    }
    let response = request.send().await.ok()?;
    Some((response.status(), response.text().await.unwrap_or_default()))
}
