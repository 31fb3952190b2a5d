//! `tailback ask`: whether the job that asks is contended; and tokens of jobs, for prologs.

mod answer;

use answer::Answer;
use anyhow::{Context, anyhow, ensure};
use clap::Args;
use configuration::secrets::read_secret;
use dashboards::job_token::JobKeys;
use schemas::Name;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Variables with the number of the job: our own, then the scheduler's.
const JOB_VARIABLES: [&str; 2] = ["TAILBACK_JOB_ID", "SLURM_JOB_ID"];
/// What a URL of a Unix socket begins with.
const SOCKET_SCHEME: &str = "unix:";
/// Longest answer that is read.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Which job, and where
#[derive(Debug, Args)]
pub struct AskArgs {
    /// Number of the job; without it that in TAILBACK_JOB_ID or SLURM_JOB_ID
    #[arg(long, value_name = "ID")]
    job: Option<String>,
    /// Address of Tailback, http://HOST:PORT or unix:PATH; without it that in TAILBACK_URL. The token is in TAILBACK_JOB_TOKEN
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    /// Seconds to wait for the answer
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    timeout_s: u64,
    /// Print a token for the job instead, made with the key in --key-file: for prologs
    #[arg(long, requires = "key_file", conflicts_with_all = ["url", "json"])]
    issue: bool,
    /// File with keys of job tokens, that of http.job_token_key_file; the first one is used
    #[arg(long, value_name = "FILE", requires = "issue")]
    key_file: Option<PathBuf>,
    /// Seconds for which the token is valid: the time limit of the job, at most 366 days
    #[arg(long, value_name = "S", requires = "issue", default_value_t = 7 * 86_400,
          value_parser = clap::value_parser!(u64).range(1..=366 * 86_400))]
    valid_s: u64,
}

/// Prints the answer or a token; returns the exit status.
///
/// # Errors
/// No job or no address is given, or the key cannot be read. A server without an answer is none: the job is not judged.
pub fn run(args: &AskArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let job = args.job.clone().or_else(|| JOB_VARIABLES.iter().find_map(|name| variable(name)));
    let job =
        job.context("no job: give --job, or set TAILBACK_JOB_ID; inside a Slurm job SLURM_JOB_ID is set")?;
    let job = Name::parse(&job).with_context(|| format!("{job:?} is no number of a job"))?;
    if args.issue {
        writeln!(out, "{}", issue(args, &job)?)?;
        return Ok(0);
    }
    let url = args.url.clone().or_else(|| variable("TAILBACK_URL"));
    let url = url.context(
        "no address: give --url, or let the prolog set TAILBACK_URL (docs/operations.md, Jobs that ask)",
    )?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let timeout = Duration::from_secs(args.timeout_s);
    let asked = runtime.block_on(ask(&url, &job, variable("TAILBACK_JOB_TOKEN"), timeout));
    let answer = asked.unwrap_or_else(|error| Answer::none(&job, &crate::cli::sentence(&error)));
    out.write_all(if args.json { answer.json() } else { answer.text() }.as_bytes())?;
    Ok(answer.status())
}

/// Keys of job tokens in a file that `option` names.
///
/// # Errors
/// What is wrong with the file.
pub fn keys(option: &str, file: &Path) -> anyhow::Result<JobKeys> {
    let secret = read_secret("http.job_token_key_file", file);
    Ok(JobKeys::of(Some(&secret.map_err(|reason| anyhow!("{option} {} {reason}", file.display()))?)))
}

fn issue(args: &AskArgs, job: &Name) -> anyhow::Result<String> {
    let file = args.key_file.as_deref().context("--issue needs --key-file")?;
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    keys("--key-file", file)?.issue(job, now_s + args.valid_s).context("the key file has no key")
}

async fn ask(url: &str, job: &Name, token: Option<String>, timeout: Duration) -> anyhow::Result<Answer> {
    let client = reqwest::Client::builder().timeout(timeout).no_proxy();
    let (client, base) = match url.strip_prefix(SOCKET_SCHEME) {
        Some(path) => (client.unix_socket(path), "http://localhost"),
        None => (client, url.trim_end_matches('/')),
    };
    let mut request = client.build()?.get(format!("{base}/api/v1/jobs/{}/contention", escaped(job)));
    if let Some(token) = token {
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
    let text = String::from_utf8_lossy(&body);
    ensure!(
        status.is_success(),
        "{url} refused with status {}: {}",
        status.as_u16(),
        answer::error_text(&text)
    );
    Answer::parse(&text).with_context(|| format!("{url} sent no answer of Tailback"))
}

/// A job's number in a path: of its characters `#` alone has a meaning there.
fn escaped(job: &Name) -> String {
    job.as_str().replace('#', "%23")
}
