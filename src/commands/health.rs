//! `tailback health`: whether the `tailback run` of this configuration on this machine is ready, for supervisors.

use anyhow::{Context, bail};
use clap::Args;
use configuration::RunConfig;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

/// Which process, and how patiently.
#[derive(Debug, Args)]
pub struct HealthArgs {
    /// Configuration (TOML) of the process: its `http.listen` and token
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Only whether it lives, not whether it is ready: brokers and database may be away
    #[arg(long)]
    pub alive: bool,
    /// Seconds to wait for the answer
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    pub timeout_s: u64,
}

/// Queries the local process and prints its answer.
///
/// # Errors
/// If nothing answers, or it is not ready: the answer contains the reason.
pub fn run(args: &HealthArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let http = RunConfig::load(args.config.as_deref())?.http;
    let mut address = http.listen;
    if address.ip().is_unspecified() {
        address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    let path = if args.alive { "healthz" } else { "readyz" };
    let timeout = Duration::from_secs(args.timeout_s);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = reqwest::Client::builder().timeout(timeout).no_proxy().build()?;
        let mut request = client.get(format!("http://{address}/{path}"));
        if let Some(token) = &http.token {
            request = request.bearer_auth(token.reveal());
        }
        let sent = request.send().await.map_err(reqwest::Error::without_url);
        let response = sent.with_context(|| format!("nothing answers at {address}"))?;
        let (status, text) = (response.status(), response.text().await.unwrap_or_default());
        if !status.is_success() {
            bail!("{address} is not {}: {}", if args.alive { "alive" } else { "ready" }, text.trim());
        }
        Ok(write!(out, "{text}")?)
    })
}
