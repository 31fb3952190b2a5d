//! The commands and their arguments.

use crate::commands::alerts::AlertsArgs;
use crate::commands::ask::AskArgs;
use crate::commands::backtest::BacktestArgs;
use crate::commands::check::CheckArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::explain::ExplainArgs;
use crate::commands::generate::GenerateArgs;
use crate::commands::health::HealthArgs;
use crate::commands::jobs::JobsArgs;
use crate::commands::lab::LabArgs;
use crate::commands::ldms_config::LdmsConfigArgs;
use crate::commands::metrics::MetricsArgs;
use crate::commands::migrate::MigrateArgs;
use crate::commands::progress::ProgressArgs;
use crate::commands::replay::ReplayArgs;
use crate::commands::report::ReportArgs;
use crate::commands::sample::SampleArgs;
use crate::commands::serve::ServeArgs;
use crate::commands::simulate::SimulateArgs;
use crate::commands::state::StateArgs;
use crate::commands::topology::TopologyArgs;
use crate::runtime::RunArgs;
use clap::{CommandFactory, Parser, Subcommand};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Contention monitor for supercomputers: which job lost how many seconds, on which links, and the cause
/// What `--version` prints: logins at Kafka depend on how the program was built.
const VERSION: &str = if cfg!(feature = "gssapi") {
    concat!(env!("CARGO_PKG_VERSION"), "\nKafka: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, GSSAPI")
} else {
    concat!(env!("CARGO_PKG_VERSION"), "\nKafka: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER")
};

#[derive(Debug, Parser)]
#[command(name = "tailback", version, long_version = VERSION, about)]
struct Cli {
    /// Folder of metric files (TOML) beside the built-in ones; a file with a known name replaces ours
    #[arg(long, global = true, value_name = "DIR")]
    metrics: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show everything on a simulated cluster, with the page on localhost
    Demo(DemoArgs),
    /// Turn recorded LDMS rows into signals, episodes and job results
    Replay(ReplayArgs),
    /// Write the rows that a simulated cluster's LDMS would, with the truth beside them
    Simulate(SimulateArgs),
    /// Play experiments on simulated machines whose truth is known: those of the papers, and your own
    Lab(LabArgs),
    /// Score configurations on recorded rows whose truth is known, and propose one
    Backtest(BacktestArgs),
    /// Show the page over a store that was written before
    Serve(ServeArgs),
    /// List jobs with what they lost
    Jobs(JobsArgs),
    /// Report what a job lost, when, on which resource, and the cause
    Report(ReportArgs),
    /// Ask inside a job whether it is contended: exit status 0 clear, 3 contended, 4 not judged
    Ask(AskArgs),
    /// Report inside a job what it counted so far: exit status 0 taken, 4 not taken
    Progress(ProgressArgs),
    /// Explain why a stretch was called contended: what was measured, which rule decided, and what was missing
    Explain(ExplainArgs),
    /// Validate a configuration and print the effective values; uses no network
    Check(CheckArgs),
    /// List incidents and their deliveries, send notices again, or silence them for a while
    Alerts(AlertsArgs),
    /// Print the default configuration, which explains every key
    Config,
    /// List the metrics, check metric files, or try one on recorded rows
    Metrics(MetricsArgs),
    /// Bring the database's schema up to this version
    Migrate(MigrateArgs),
    /// Export the states of all stages to a file, import them, or list them
    State(StateArgs),
    /// Look at brokers, topics, rows, samplers, database and stages, and print how to fix what is wrong
    Doctor(DoctorArgs),
    /// Check whether the local `tailback run` is ready
    Health(HealthArgs),
    /// Show, check or draw the network, from what fabric tools print or from its parameters
    Topology(TopologyArgs),
    /// Write the configuration of a site's ldmsd, samplers and aggregators
    LdmsConfig(LdmsConfigArgs),
    /// Consume what ldmsd publishes to Kafka, and write to the database
    Run(RunArgs),
    /// Read this node's InfiniBand, Lustre and Slingshot counters every second and write them as LDMS rows
    Sample(SampleArgs),
    /// Write completions of shells and man pages
    #[command(hide = true)]
    Generate(GenerateArgs),
}

/// Runs the command of the process' arguments.
///
/// # Errors
/// What stopped it, as a chain of sentences.
pub fn run() -> anyhow::Result<ExitCode> {
    let Cli { metrics, command } = Cli::parse();
    if let Some(folder) = metrics {
        configuration::metrics::use_folder(&folder)?;
    }
    let done = match command {
        Command::Ask(args) => {
            return crate::commands::ask::run(&args, &mut std::io::stdout().lock()).map(ExitCode::from);
        }
        Command::Progress(args) => {
            return crate::commands::progress::run(&args, &mut std::io::stderr().lock()).map(ExitCode::from);
        }
        Command::Demo(args) => crate::commands::demo::run(&args),
        Command::Replay(args) => crate::commands::replay::run(&args),
        Command::Simulate(args) => crate::commands::simulate::run(&args),
        Command::Lab(args) => crate::commands::lab::run(&args, &mut std::io::stdout().lock()),
        Command::Backtest(args) => crate::commands::backtest::run(&args),
        Command::Serve(args) => crate::commands::serve::run(args),
        Command::Report(args) => {
            let mut out = std::io::stdout().lock();
            crate::commands::report::run(&args, &mut out)?;
            Ok(out.flush()?)
        }
        Command::Jobs(args) => {
            let mut out = std::io::stdout().lock();
            crate::commands::jobs::run(&args, &mut out)?;
            Ok(out.flush()?)
        }
        Command::Explain(args) => {
            let mut out = std::io::stdout().lock();
            crate::commands::explain::run(&args, &mut out)?;
            Ok(out.flush()?)
        }
        Command::Check(args) => crate::commands::check::run(&args, &mut std::io::stdout().lock()),
        Command::Alerts(args) => crate::commands::alerts::run(&args, &mut std::io::stdout().lock()),
        Command::Health(args) => crate::commands::health::run(&args, &mut std::io::stdout().lock()),
        Command::Metrics(args) => crate::commands::metrics::run(&args, &mut std::io::stdout().lock()),
        Command::Migrate(args) => crate::commands::migrate::run(&args, &mut std::io::stdout().lock()),
        Command::State(args) => crate::commands::state::run(&args, &mut std::io::stdout().lock()),
        Command::Doctor(args) => crate::commands::doctor::run(&args, &mut std::io::stdout().lock()),
        Command::Topology(args) => crate::commands::topology::run(&args, &mut std::io::stdout().lock()),
        Command::LdmsConfig(args) => crate::commands::ldms_config::run(&args, &mut std::io::stdout().lock()),
        Command::Run(args) => crate::runtime::run(&args),
        Command::Sample(args) => crate::commands::sample::run(&args),
        Command::Generate(args) => crate::commands::generate::run(&args, Cli::command()),
        Command::Config => crate::commands::check::print_defaults(&mut std::io::stdout().lock()),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// An error and its causes as one sentence; a cause that the text before it contains is left out.
pub fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(cause.as_str()) {
            let colon = if text.is_empty() { "" } else { ": " };
            text = text + colon + &cause;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn repeated_cause_is_printed_once() {
        let error = anyhow::anyhow!("Is a directory").context("rows cannot be read: Is a directory");
        assert_eq!(super::sentence(&error), "rows cannot be read: Is a directory");
    }

    #[test]
    fn the_arguments_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
