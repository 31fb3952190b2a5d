//! `tailback simulate`: the rows that a simulated cluster's LDMS would store, with the truth beside them; or the same
//! published to Kafka in real time.

mod live;

use crate::bars;
use clap::Args;
use configuration::RunConfig;
use samplers::{Cluster, scenario};
use schemas::Time;
use std::path::PathBuf;

/// What to simulate and where to write.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// `demo`, `cth-against-imb`, `background`, or `ior-19` to `ior-42` (the schedules of SAND2016-9525)
    #[arg(long, default_value = "demo")]
    pub scenario: String,
    /// Spread of the noise of IOR schedules, as a part of the rate
    #[arg(long, default_value_t = 0.02, value_parser = noise)]
    pub noise: f64,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Start, in seconds since the epoch: from 2000 to 2200
    #[arg(long, default_value_t = 1_700_000_000, value_parser = clap::value_parser!(i64).range(946_684_800..7_258_118_400))]
    pub start: i64,
    /// Folder for `ldms.SCHEMA.jsonl`, jobs.jsonl and truth.jsonl
    #[arg(long, value_name = "DIR", required_unless_present = "kafka")]
    pub out: Option<PathBuf>,
    /// Publish the rows to Kafka instead, from now on and in real time, again and again until Ctrl-C
    #[arg(long, conflicts_with_all = ["out", "start"])]
    pub kafka: bool,
    /// Configuration whose section `kafka` names the brokers
    #[arg(long, value_name = "FILE", requires = "kafka")]
    pub config: Option<PathBuf>,
    /// What stands before the schema in the name of a topic
    #[arg(long, value_name = "TEXT", default_value = "ldms.", requires = "kafka")]
    pub topic_prefix: String,
    /// Seconds after which publishing ends
    #[arg(long, value_name = "S", requires = "kafka", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
}

/// Noise that leaves a schedule recognisable; far more would let a job run for ever.
fn noise(text: &str) -> Result<f64, String> {
    let noise = text.parse::<f64>().map_err(|error| error.to_string())?;
    if (0.0..=0.5).contains(&noise) { Ok(noise) } else { Err("it must lie between 0 and 0.5".to_string()) }
}

/// Runs a simulation to its end.
///
/// # Errors
/// An unknown scenario, or a disk that refuses.
pub fn run(args: &SimulateArgs) -> anyhow::Result<()> {
    let Some(out) = &args.out else {
        let config = RunConfig::load(args.config.as_deref())?;
        crate::log::install(&config.log);
        let scenario = scenario::named(&args.scenario, args.noise)?.endless();
        let live = live::Live { config: &config, prefix: &args.topic_prefix, seconds: args.seconds };
        return live::publish(scenario, args.seed, &live);
    };
    let scenario = scenario::named(&args.scenario, args.noise)?;
    let cluster = Cluster::new(scenario, Time(args.start * 1_000_000), args.seed)?;
    let bar = bars::of_seconds(None);
    lab::record::simulation(cluster, out, || bar.inc(1))?;
    bar.finish_and_clear();
    Ok(())
}
