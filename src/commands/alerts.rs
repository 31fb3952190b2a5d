//! `tailback alerts`: incidents, deliveries of their notices, dead letters, silences.

use crate::runtime::clock;
use alerts::listing;
use alerts::silence::{Wanted, silence};
use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use configuration::RunConfig;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use store::outbox::OutboxStore;

/// Incidents that are listed.
const LISTED_MAX: usize = 1_000;
/// Seconds into the past of `list --all`.
const ALL_S: f64 = 7.0 * 86_400.0;

/// Which command, and on which database
#[derive(Debug, Args)]
pub struct AlertsArgs {
    #[command(subcommand)]
    command: Command,
    /// The store that `tailback demo` writes
    #[arg(long, value_name = "FILE", default_value = "tailback.db", global = true)]
    store: PathBuf,
    /// Ask the database of this configuration (TOML) instead of a store
    #[arg(long, value_name = "FILE", conflicts_with = "store", global = true)]
    config: Option<PathBuf>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List incidents that fire, what was not delivered, and silences
    List {
        /// Incidents of the last seven days too that are over
        #[arg(long)]
        all: bool,
    },
    /// Show an incident: measurements, advice, and deliveries
    Show {
        /// Its number, as `list` prints it
        incident: String,
    },
    /// Send dead letters again, and what waits at once
    Retry {
        /// A notice's key or an incident's number
        #[arg(required_unless_present = "all")]
        what: Option<String>,
        /// All of them
        #[arg(long, conflicts_with = "what")]
        all: bool,
        /// Of this receiver alone
        #[arg(long, default_value = "", hide_default_value = true)]
        receiver: String,
    },
    /// Hold back notices whose labels match, for a while
    Silence {
        /// LABEL=TEXT, as alertname=link_contended or subject=leaf-*; all must match
        #[arg(required_unless_present = "end", value_name = "LABEL=TEXT")]
        matchers: Vec<String>,
        /// For how long: 90s, 30m, 2h, 7d
        #[arg(long = "for", value_name = "TIME", default_value = "1h")]
        length: String,
        /// In which time it begins: 30m, 2h, 7d; without it now
        #[arg(long = "in", value_name = "TIME", conflicts_with = "end")]
        begins_in: Option<String>,
        /// Why
        #[arg(long, default_value = "", hide_default_value = true)]
        comment: String,
        /// End the silence of this number instead
        #[arg(long, value_name = "NUMBER", conflicts_with = "matchers")]
        end: Option<String>,
    },
}

/// Runs a command.
///
/// # Errors
/// One sentence: a database that does not answer, an incident or matcher that is none.
pub fn run(args: &AlertsArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut outbox = match &args.config {
        Some(file) => OutboxStore::server(RunConfig::load(Some(file))?.database.pg_settings()),
        None => {
            ensure!(args.store.exists(), "there is no store {}; name one with --store", args.store.display());
            match args.command {
                Command::List { .. } | Command::Show { .. } => OutboxStore::file_to_read(&args.store)?,
                Command::Retry { .. } | Command::Silence { .. } => OutboxStore::file(&args.store)?,
            }
        }
    };
    let now_s = clock::now().seconds();
    let (json, text) = runtime.block_on(answer(&args.command, &mut outbox, now_s))?;
    let answer = if args.json { format!("{json:#}\n") } else { text };
    out.write_all(answer.as_bytes()).context("the answer cannot be written")
}

/// The answer as JSON and for people.
async fn answer(command: &Command, outbox: &mut OutboxStore, now_s: f64) -> anyhow::Result<(Value, String)> {
    match command {
        Command::List { all } => list(outbox, *all, now_s).await,
        Command::Show { incident } => show(outbox, incident).await,
        Command::Retry { what, receiver, .. } => {
            let what = what.as_deref().unwrap_or_default();
            let retried = outbox.retry(what, receiver).await?;
            ensure!(
                retried > 0 || what.is_empty(),
                "nothing of {what} waits or is a dead letter that its receiver needs"
            );
            Ok((json!({ "again": retried }), format!("{retried} notices will be sent again\n")))
        }
        Command::Silence { end: Some(id), .. } => {
            ensure!(outbox.end_silence(id, now_s).await?, "there is no active silence {id}");
            Ok((json!({ "ended": id }), format!("silence {id} ended\n")))
        }
        Command::Silence { matchers, length, begins_in, comment, .. } => {
            let author = &std::env::var("USER").unwrap_or_default();
            let begins_in = begins_in.as_deref().unwrap_or("0s");
            let silence = silence(&Wanted { matchers, begins_in, length, author, comment }, now_s)?;
            outbox.put_silence(&silence).await?;
            let [from, until] = [silence.from_s, silence.until_s].map(listing::time);
            Ok((json!(silence), format!("silence {} holds from {from} until {until}\n", silence.id)))
        }
    }
}

async fn list(outbox: &mut OutboxStore, all: bool, now_s: f64) -> anyhow::Result<(Value, String)> {
    let incidents = outbox.incidents(all.then_some(now_s - ALL_S), LISTED_MAX).await?;
    let undelivered = outbox.undelivered().await?;
    let silences = outbox.silences(now_s).await?;
    let json = json!({ "incidents": incidents, "undelivered": undelivered, "silences": silences });
    Ok((json, listing::list(&incidents, &undelivered, &silences)))
}

async fn show(outbox: &mut OutboxStore, incident: &str) -> anyhow::Result<(Value, String)> {
    let number = incident.split_once('.').map_or(incident, |(number, _)| number);
    let notice =
        outbox.incident(number).await?.with_context(|| format!("there is no incident {incident:?}"))?;
    let deliveries = outbox.deliveries(number).await?;
    let json = json!({ "incident": notice, "deliveries": deliveries });
    Ok((json, listing::show(&notice, &deliveries)))
}
