//! `tailback ask`: whether the job that asks is contended; and tokens of jobs, for prologs.

mod answer;

use super::own_job::OwnJobArgs;
use answer::Answer;
use anyhow::{Context, anyhow};
use clap::Args;
use configuration::secrets::read_secret;
use dashboards::job_token::JobKeys;
use schemas::Name;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Which job, and where
#[derive(Debug, Args)]
pub struct AskArgs {
    #[command(flatten)]
    own: OwnJobArgs,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
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
    let job = args.own.job()?;
    if args.issue {
        writeln!(out, "{}", issue(args, &job)?)?;
        return Ok(0);
    }
    let asked = args
        .own
        .server()?
        .send(&job, "contention", None)
        .and_then(|text| Answer::parse(&text).context("the server sent no answer of Tailback"));
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
