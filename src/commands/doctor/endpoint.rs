//! Questions over HTTP: the registry, and this machine's `/metrics`; and whether brokers can be reached.

use super::finding::{Finding, Group, Notes};
use super::kafka::KafkaFacts;
use crate::config::sections::{Http, SchemaRegistry};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// Most bytes of a registry's list that are read.
const ANSWER_MAX: usize = 16 << 20;

fn client(timeout: Duration) -> reqwest::Result<reqwest::Client> {
    // A redirect might lead a password elsewhere.
    reqwest::Client::builder().timeout(timeout).redirect(reqwest::redirect::Policy::none()).build()
}

/// Number of subjects of the registry; `None` where none is configured.
pub async fn subjects(config: &SchemaRegistry, timeout: Duration) -> Option<Result<usize, String>> {
    match config.url.is_empty() {
        true => None,
        false => Some(ask_subjects(config, timeout).await),
    }
}

async fn ask_subjects(config: &SchemaRegistry, timeout: Duration) -> Result<usize, String> {
    let plain = |error: reqwest::Error| crate::cli::sentence(&error.without_url().into());
    let url = format!("{}/subjects", config.url.reveal().trim_end_matches('/'));
    let mut request = client(timeout).map_err(plain)?.get(url);
    if !config.user.is_empty() {
        request =
            request.basic_auth(&config.user, config.password.as_ref().map(|password| password.reveal()));
    }
    let mut response = request.send().await.map_err(plain)?;
    if !response.status().is_success() {
        return Err(format!("GET /subjects answers {}", response.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(plain)? {
        if body.len() + chunk.len() > ANSWER_MAX {
            return Err(format!("GET /subjects answers more than {ANSWER_MAX} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    let subjects: Vec<serde_json::Value> = serde_json::from_slice(&body)
        .map_err(|_| "GET /subjects answers no list: is it a schema registry?")?;
    Ok(subjects.len())
}

/// Whether a process of Tailback serves `/metrics` here, and whether it is ready.
pub async fn metrics(config: &Http, timeout: Duration) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Stages, "metrics");
    let mut address = config.listen;
    if address.port() == 0 {
        notes.ok("http.listen has port 0: the address of /metrics is in the log of `tailback run`");
        return notes.done();
    }
    if address.ip().is_unspecified() {
        address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    let ask = async |path: &str| -> Option<(reqwest::StatusCode, String)> {
        let client = reqwest::Client::builder().timeout(timeout).no_proxy().build().ok()?;
        let mut request = client.get(format!("http://{address}{path}"));
        if let Some(token) = &config.token {
            request = request.bearer_auth(token.reveal());
        }
        let response = request.send().await.ok()?;
        Some((response.status(), response.text().await.unwrap_or_default()))
    };
    let Some((status, text)) = ask("/metrics").await else {
        notes.advise(
            format!("nothing answers at http://{address}/metrics"),
            "nothing, if `tailback run` runs on another machine",
        );
        return notes.done();
    };
    match status.is_success() && text.contains("tailback_") {
        true => notes.ok(format!("http://{address}/metrics answers")),
        false => notes.warn(
            format!("http://{address}/metrics answers {status}, but not as Tailback does"),
            "another program may listen there: set http.listen; with 401 check http.token_file",
        ),
    }
    if let Some((status, text)) = ask("/readyz").await.filter(|_| notes.problems() == 0)
        && !status.is_success()
    {
        notes.warn(format!("the process here is not ready: {}", text.trim()), "see its log");
    }
    notes.done()
}

/// Advertised addresses of brokers that do not answer from here, with the reason.
pub async fn unreachable(facts: &KafkaFacts, timeout: Duration) -> Vec<(String, String)> {
    let tries = facts.brokers.iter().map(|(_, address)| async move {
        let why = match tokio::time::timeout(timeout, tokio::net::TcpStream::connect(address)).await {
            Ok(Ok(_)) => return None,
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {} s", timeout.as_secs_f64()),
        };
        Some((address.clone(), why))
    });
    futures::future::join_all(tries).await.into_iter().flatten().collect()
}
