//! Which output rows go to.

use crate::log;
use crate::runtime::kafka::ONE_BY_ONE;
use anyhow::Context;
use clap::Args;
use configuration::RunConfig;
use configuration::kafka::{Client, Role};
use rdkafka::producer::BaseProducer;
use samplers::native::kafka::{DeliveryReports, KafkaSink};
use samplers::native::targets::{FileTarget, SocketTarget, StdoutTarget};
use samplers::native::{Address, Outlet, Sink};
use schemas::Name;
use std::path::{Path, PathBuf};

/// The output of rows: exactly one.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// File to append rows to, `-` for standard output
    #[arg(long, value_name = "FILE", default_value = "-", conflicts_with_all = ["to", "kafka"])]
    out: PathBuf,
    /// Socket to send rows to: tcp:PORT, tcp:HOST:PORT, unix:PATH, unixgram:PATH
    #[arg(long, value_name = "ADDRESS", conflicts_with = "kafka")]
    to: Option<Address>,
    /// Kafka brokers to publish rows to, HOST:PORT,…; `config` takes them from --config
    #[arg(long, value_name = "BROKERS")]
    kafka: Option<String>,
    /// Configuration with librdkafka's properties in its section [kafka], and the log's
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What stands before the schema in the name of a topic
    #[arg(long, value_name = "TEXT", default_value = "ldms.")]
    topic_prefix: String,
    /// KiB of rows kept while the output does not take them; further ones are dropped and counted
    #[arg(long, value_name = "KIB", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(64..=1_048_576))]
    buffer_kib: u32,
}

impl OutputArgs {
    /// Opens the output, and the log.
    ///
    /// # Errors
    /// What is wrong with the configuration, or refuses.
    pub fn open(&self) -> anyhow::Result<Box<dyn Sink>> {
        let config = RunConfig::load(self.config.as_deref())?;
        log::install(&config.log);
        if let Some(brokers) = &self.kafka {
            // A topic has the characters of a name but for a few; it is checked with a schema behind it.
            Name::parse(&format!("{}x", self.topic_prefix)).context("--topic-prefix")?;
            let configured = || config.kafka.brokers.join(",");
            let brokers = if brokers == "config" { configured() } else { brokers.clone() };
            let kib = self.buffer_kib.to_string();
            let own = [ONE_BY_ONE, ("queue.buffering.max.kbytes", &kib), ("bootstrap.servers", &brokers)];
            let producer: Client<BaseProducer<DeliveryReports>> =
                config.kafka.client(Role::Producer, &own, DeliveryReports::default())?;
            return Ok(Box::new(KafkaSink::new(producer, brokers, &self.topic_prefix)));
        }
        let capacity_bytes = self.buffer_kib as usize * 1024;
        let outlet = match &self.to {
            Some(address) => Outlet::new(Box::new(SocketTarget::new(address.clone())), capacity_bytes),
            None if self.out == Path::new("-") => Outlet::new(Box::new(StdoutTarget), capacity_bytes),
            None => {
                let file = FileTarget::append(&self.out)
                    .with_context(|| format!("{} cannot be written", self.out.display()))?;
                Outlet::new(Box::new(file), capacity_bytes)
            }
        };
        Ok(Box::new(outlet?))
    }
}
