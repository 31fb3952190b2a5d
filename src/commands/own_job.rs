//! The job in which a command runs, and its requests to Tailback.

use anyhow::{Context, ensure};
use clap::Args;
use reqwest::header::CONTENT_TYPE;
use schemas::Name;
use serde_json::Value;
use std::time::Duration;

/// Variables with the number of the job: our own, then the scheduler's.
const JOB_VARIABLES: [&str; 2] = ["TAILBACK_JOB_ID", "SLURM_JOB_ID"];
/// What a URL of a Unix socket begins with.
const SOCKET_SCHEME: &str = "unix:";
/// Longest answer that is read.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Longest text of a refusal that is shown.
const ERROR_CHARACTERS_MAX: usize = 400;

/// Which job, and where
#[derive(Debug, Args)]
pub struct OwnJobArgs {
    /// Number of the job; without it that in TAILBACK_JOB_ID or SLURM_JOB_ID
    #[arg(long, value_name = "ID")]
    job: Option<String>,
    /// Address of Tailback, http://HOST:PORT or unix:PATH; without it that in TAILBACK_URL. The token is in TAILBACK_JOB_TOKEN
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Seconds to wait for the answer
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    timeout_s: u64,
}

impl OwnJobArgs {
    /// The job's number, of the arguments or the environment.
    ///
    /// # Errors
    /// There is none, or it is no number of a job.
    pub fn job(&self) -> anyhow::Result<Name> {
        let job = self.job.clone().or_else(|| JOB_VARIABLES.iter().find_map(|name| variable(name)));
        let job = job
            .context("no job: give --job, or set TAILBACK_JOB_ID; inside a Slurm job SLURM_JOB_ID is set")?;
        Name::parse(&job).with_context(|| format!("{job:?} is no number of a job"))
    }

    /// The server, of the arguments or the environment.
    ///
    /// # Errors
    /// No address is given.
    pub fn server(&self) -> anyhow::Result<Server> {
        let url = self.url.clone().or_else(|| variable("TAILBACK_URL"));
        let url = url.context(
            "no address: give --url, or let the prolog set TAILBACK_URL (docs/operations.md, Jobs that ask)",
        )?;
        Ok(Server { url, timeout: Duration::from_secs(self.timeout_s) })
    }
}

/// Where requests go.
pub struct Server {
    url: String,
    timeout: Duration,
}

impl Server {
    /// Sends a request about `job` with the job's token, with a body of JSON a POST; returns the body of the answer.
    ///
    /// # Errors
    /// No server answers, or it refuses.
    pub fn send(&self, job: &Name, what: &str, body: Option<String>) -> anyhow::Result<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.answer(job, what, body))
    }

    async fn answer(&self, job: &Name, what: &str, body: Option<String>) -> anyhow::Result<String> {
        let url = &self.url;
        let client = reqwest::Client::builder().timeout(self.timeout).no_proxy();
        let (client, base) = match url.strip_prefix(SOCKET_SCHEME) {
            Some(path) => (client.unix_socket(path), "http://localhost"),
            None => (client, url.trim_end_matches('/')),
        };
        let (client, path) = (client.build()?, format!("{base}/api/v1/jobs/{}/{what}", escaped(job)));
        let mut request = match body {
            Some(body) => client.post(path).header(CONTENT_TYPE, "application/json").body(body),
            None => client.get(path),
        };
        if let Some(token) = variable("TAILBACK_JOB_TOKEN") {
            request = request.bearer_auth(token);
        }
        let sent = request.send().await.map_err(reqwest::Error::without_url);
        let mut response = sent.with_context(|| format!("nothing answers at {url}"))?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(reqwest::Error::without_url)? {
            ensure!(body.len() + part.len() <= ANSWER_BYTES_MAX, "{url} sent more than an answer");
            body.extend_from_slice(&part);
        }
        let text = String::from_utf8_lossy(&body).into_owned();
        let refusal = || format!("{url} refused with status {}: {}", status.as_u16(), error_text(&text));
        ensure!(status.is_success(), refusal());
        Ok(text)
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// A job's number in a path: of its characters `#` alone has a meaning there.
fn escaped(job: &Name) -> String {
    job.as_str().replace('#', "%23")
}

/// The text of a refusal: its `error`, or its first line.
fn error_text(body: &str) -> String {
    let error =
        serde_json::from_str(body).ok().and_then(|json: Value| json["error"].as_str().map(str::to_string));
    let line = error.unwrap_or_else(|| body.lines().next().unwrap_or_default().to_string());
    plain(&line).chars().take(ERROR_CHARACTERS_MAX).collect()
}

/// Texts of a server must not control a terminal.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_its_text() {
        assert_eq!(error_text(r#"{"error":"job 7 does not run"}"#), "job 7 does not run");
        assert_eq!(error_text("this token is of job 8\nmore"), "this token is of job 8");
        assert_eq!(error_text(&"x".repeat(1_000)).len(), ERROR_CHARACTERS_MAX);
    }
}
