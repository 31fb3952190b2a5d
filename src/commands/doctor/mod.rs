//! `tailback doctor`: what is wrong with an installation, and how to mend it. Nothing is changed anywhere.
//!
//! Looking and judging are apart: facts come from brokers, rows and database, each question bounded by
//! `doctor.timeout_s`; judgements are functions of facts. The order of all checks stands in `examine`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`finding`] | one sentence, its level, what to do |
//! | [`render`] | findings for people and for programs |
//! | [`words`] | numbers as a person reads them |
//! | [`kafka`] | facts: brokers, topics, groups, offsets |
//! | [`sample`] | facts: a few messages, read without a group |
//! | [`rows`] | facts: what became of sampled rows |
//! | [`database`] | facts: server, tiers, positions, producers |
//! | [`endpoint`] | facts: registry, `/metrics`, reachable brokers |
//! | [`topics`] | judges brokers and topics |
//! | [`drift`] | judges rows: reasons, silence, changed schemas |
//! | [`producers`] | judges samplers: silence, clocks |
//! | [`server`] | judges the database server |
//! | [`rejected`] | judges messages that stages passed over |
//! | [`stages`] | judges Tailback's stages: lag, positions, snapshots |

pub mod database;
pub mod drift;
pub mod endpoint;
pub mod finding;
pub mod kafka;
pub mod producers;
pub mod rejected;
pub mod render;
pub mod rows;
pub mod sample;
pub mod server;
pub mod stages;
pub mod topics;
mod topology;
pub mod words;

use crate::config::{self, Examined, RunConfig};
use clap::Args;
use database::DatabaseFacts;
use finding::{Finding, Group, Level, Notes, skipped};
use kafka::{KafkaFacts, Reader};
use render::Style;
use rows::{RowFacts, Schemas};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Which configuration, and how to answer.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Configuration (TOML); `tailback config` prints the defaults
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Answer as one JSON object: findings and summary
    #[arg(long)]
    pub json: bool,
}

/// Looks at everything and prints what was found.
///
/// # Errors
/// If the output cannot be written, or something must be mended, after everything was printed.
pub fn run(args: &DoctorArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let examined = config::examine(args.config.as_deref(), config::environment());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let mut findings = runtime.block_on(examine(&examined));
    // The order of what depends on what is not the order in which a person reads.
    findings.sort_by_key(|finding| finding.group);
    let style = if std::io::stdout().is_terminal() { Style::Marks } else { Style::Plain };
    match args.json {
        true => render::json(&findings, out)?,
        false => render::text(&findings, style, out)?,
    }
    out.flush()?;
    let errors = findings.iter().filter(|finding| finding.level == Level::Error).count();
    anyhow::ensure!(errors == 0, "{} must be mended", words::many(errors, "finding"));
    Ok(())
}

/// What could be learnt of an installation; an error is the reason why not.
struct Site<'a> {
    config: &'a RunConfig,
    timeout: Duration,
    kafka: Result<(Reader, KafkaFacts), String>,
    database: Result<DatabaseFacts, String>,
    rows: Result<RowFacts, String>,
}

/// Every check, in its order.
async fn examine(examined: &Examined) -> Vec<Finding> {
    let mut findings = configuration(examined);
    let Some(config) = &examined.config else {
        findings.extend(skipped(
            Group::Configuration,
            "all",
            "everything else, until the configuration is valid",
        ));
        return findings;
    };
    let site = Site::look(config).await;
    findings.extend(site.brokers_and_topics().await);
    findings.extend(site.rows().await);
    findings.extend(site.samplers());
    findings.extend(site.topology());
    findings.extend(site.server());
    findings.extend(site.stages());
    findings.extend(site.rejected());
    findings.extend(endpoint::metrics(&config.http, site.timeout).await);
    findings.extend(site.versions());
    findings
}

fn configuration(examined: &Examined) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Configuration, "configuration");
    for problem in &examined.problems {
        notes
            .error(problem.to_string(), "correct it; `tailback config` prints every key with what it may be");
    }
    for warning in &examined.warnings {
        notes.warn(warning.to_string(), "");
    }
    if notes.problems() == 0 {
        notes.ok("the configuration is valid");
    }
    notes.done()
}

impl<'a> Site<'a> {
    async fn look(config: &'a RunConfig) -> Site<'a> {
        let timeout = Duration::from_secs_f64(config.doctor.timeout_s);
        // First where the stages stand, then where the topics end: the other way round, working stages seem ahead.
        let database = database::look(config, timeout).await;
        let kafka = kafka::look(config, timeout).await;
        let rows = match &kafka {
            Ok((reader, facts)) => sampled(config, reader, facts, timeout).await,
            Err(_) => Err("the broker does not answer".to_string()),
        };
        Site { config, timeout, kafka, database, rows }
    }

    async fn brokers_and_topics(&self) -> Vec<Finding> {
        match &self.kafka {
            Ok((_, facts)) => {
                let unreachable = endpoint::unreachable(facts, self.timeout).await;
                let mut findings = topics::brokers(facts, &unreachable);
                findings.extend(topics::raw(self.config, facts));
                findings.extend(topics::own(self.config, facts));
                findings
            }
            Err(why) => {
                let mut notes = Notes::of(Group::Kafka, "brokers");
                let brokers = self.config.kafka.brokers.join(", ");
                notes.error(
                    format!(
                        "no broker answers at {brokers} within {}: {why}",
                        words::span(self.timeout.as_secs_f64())
                    ),
                    "start the broker, or correct kafka.brokers; with TLS or SASL see [kafka.librdkafka]",
                );
                notes.unknown("topics, since the broker does not answer");
                notes.done()
            }
        }
    }

    async fn rows(&self) -> Vec<Finding> {
        let limits = &self.config.doctor;
        let mut findings = Vec::new();
        let mut avro = false;
        match &self.rows {
            Ok(facts) => {
                findings.extend(drift::silent(facts, now_s(), limits.silent_after_s));
                findings.extend(drift::usable(facts));
                avro = facts.topics.iter().any(|rows| !rows.waiting.is_empty());
            }
            Err(why) => findings.extend(skipped(Group::Rows, "rows_used", why)),
        }
        match &self.database {
            Ok(facts) => findings.extend(match &facts.dropped {
                Ok(counts) => drift::dropped(counts),
                Err(why) => skipped(Group::Rows, "rows_dropped", why),
            }),
            Err(_) => {
                findings.extend(skipped(Group::Rows, "rows_dropped", "the database does not answer"));
            }
        }
        let answer = endpoint::subjects(&self.config.schema_registry, self.timeout).await;
        findings.extend(drift::registry(answer, avro));
        findings
    }

    fn topology(&self) -> Vec<Finding> {
        let none = Err("the database does not answer".to_string());
        let ports = self.database.as_ref().map_or(&none, |facts| &facts.ports);
        topology::check(&self.config.site.topology, ports)
    }

    fn samplers(&self) -> Vec<Finding> {
        let limits = &self.config.doctor;
        let mut findings = match &self.database {
            Ok(DatabaseFacts { samplers: Ok(samplers), .. }) => {
                producers::silent(samplers, limits.silent_after_s)
            }
            Ok(DatabaseFacts { samplers: Err(why), .. }) => skipped(Group::Samplers, "samplers_silent", why),
            Err(_) => skipped(Group::Samplers, "samplers_silent", "the database does not answer"),
        };
        findings.extend(match &self.database {
            Ok(DatabaseFacts { unknown_nodes: Ok(nodes), .. }) => producers::unsampled_nodes(nodes),
            Ok(DatabaseFacts { unknown_nodes: Err(why), .. }) => skipped(Group::Samplers, "jobs_nodes", why),
            Err(_) => skipped(Group::Samplers, "jobs_nodes", "the database does not answer"),
        });
        findings.extend(match &self.database {
            Ok(DatabaseFacts { never_seen: Ok(sources), .. }) => {
                let each_tick = self.config.site.expected.iter().filter(|expected| !expected.event_driven);
                producers::never_seen(sources, each_tick.count())
            }
            Ok(DatabaseFacts { never_seen: Err(why), .. }) => {
                skipped(Group::Samplers, "samplers_expected", why)
            }
            Err(_) => skipped(Group::Samplers, "samplers_expected", "the database does not answer"),
        });
        findings.extend(match &self.rows {
            Ok(facts) => producers::skewed(&facts.stamps, limits.skew_warn_s, now_s()),
            Err(why) => skipped(Group::Samplers, "clocks", why),
        });
        findings
    }

    fn server(&self) -> Vec<Finding> {
        match &self.database {
            Ok(facts) => {
                let mut findings = server::server(self.config, &facts.server);
                findings.extend(server::tiers(self.config, facts));
                findings
            }
            Err(why) => {
                let mut notes = Notes::of(Group::Database, "server");
                notes.error(
                    why.clone(),
                    "start the server, or correct database.url and database.password_file",
                );
                notes.unknown("tables, policies and roles, since the database does not answer");
                notes.done()
            }
        }
    }

    fn stages(&self) -> Vec<Finding> {
        let (reader, kafka) = match &self.kafka {
            Ok((reader, kafka)) => (reader, kafka),
            Err(_) => return skipped(Group::Stages, "lag", "the broker does not answer"),
        };
        let mut findings = Vec::new();
        let positions = match &self.database {
            Ok(DatabaseFacts { positions: Ok(positions), .. }) => positions.as_slice(),
            Ok(DatabaseFacts { positions: Err(why), .. }) => {
                findings.extend(skipped(Group::Stages, "positions", why));
                &[]
            }
            Err(_) => {
                findings.extend(skipped(Group::Stages, "positions", "the database does not answer"));
                &[]
            }
        };
        let are_positions_known = findings.is_empty();
        for stage in stages::gather(self.config, kafka, positions, reader, self.timeout) {
            if are_positions_known || stage.name == "aggregator" {
                findings.extend(stages::lag(&stage, now_s(), self.config.doctor.lag_warn_s));
                let interval_s = self.config.database.snapshot_interval_s;
                findings.extend(stages::positions(&stage, interval_s, now_s()));
            }
        }
        findings
    }

    fn rejected(&self) -> Vec<Finding> {
        match &self.database {
            Ok(DatabaseFacts { rejected: Ok(rejected), .. }) => rejected::check(rejected, now_s()),
            Ok(DatabaseFacts { rejected: Err(why), .. }) => skipped(Group::Stages, "rejected_messages", why),
            Err(_) => skipped(Group::Stages, "rejected_messages", "the database does not answer"),
        }
    }

    fn versions(&self) -> Vec<Finding> {
        let mut notes = Notes::of(Group::Versions, "versions");
        let (_, librdkafka) = rdkafka::util::get_rdkafka_version();
        let broker = match &self.kafka {
            Ok((_, facts)) => facts.protocol.clone().unwrap_or("not reported".into()),
            Err(_) => "unknown".to_string(),
        };
        let tiers = self.database.as_ref().ok().and_then(|facts| facts.tiers.as_ref().ok());
        let server = tiers.map_or("unknown", |tiers| &tiers.server_version);
        let none = if tiers.is_some() { "none" } else { "unknown" };
        let timescale = tiers.and_then(|tiers| tiers.timescale_version.as_deref()).unwrap_or(none);
        notes.ok(format!(
            "tailback {}, librdkafka {librdkafka}, broker's protocol {broker}, PostgreSQL {server}, TimescaleDB {timescale}",
            env!("CARGO_PKG_VERSION")
        ));
        notes.done()
    }
}

async fn sampled(
    config: &RunConfig,
    reader: &Reader,
    facts: &KafkaFacts,
    timeout: Duration,
) -> Result<RowFacts, String> {
    let own = kafka::own_topics(config);
    let wants = sample::tails(facts.raw(&own));
    let sample =
        sample::read(reader, &wants, timeout).map_err(|error| format!("rows cannot be read: {error}"))?;
    match (wants.is_empty(), sample.is_empty()) {
        (true, _) => return Err("there are no rows in the raw topics".to_string()),
        (false, true) => return Err(format!("no row came within {} s", timeout.as_secs_f64())),
        (false, false) => {}
    }
    let mut schemas = Schemas::new(&config.schema_registry, timeout)?;
    Ok(rows::decode(&sample, &mut schemas).await)
}

/// The clock of this machine, in seconds since the epoch.
fn now_s() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
