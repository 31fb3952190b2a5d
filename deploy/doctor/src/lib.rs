//! What is wrong with an installation, and how to mend it. Nothing is changed anywhere.
//!
//! Looking and judging are apart: facts come from brokers, rows and database; checks are functions of facts.
//! [`examine`] has the order of all checks.
//!
//! | module | what it holds |
//! |---|---|
//! | [`facts`] | what brokers, rows, database and endpoints return |
//! | [`checks`] | judgements of facts |
//! | [`finding`] | one sentence, its level, what to do |
//! | [`render`] | findings for people and for programs |
//! | [`words`] | numbers as a person reads them |

pub mod checks;
pub mod facts;
pub mod finding;
pub mod render;
pub mod words;

use checks::{
    arrival, brokers, clocks, conditions, endpoint, lag, own_topics, positions, raw_topics, receivers,
    registry, rejected, rows, samplers, server, tiers, topology, versions,
};
use configuration::{Examined, RunConfig};
use facts::Site;
use facts::database::{DatabaseFacts, Refusal};
use finding::{Finding, Group, judged, skipped};

/// Looks at everything and judges it; findings are in the order in which a person reads.
pub async fn examine(examined: &Examined) -> Vec<Finding> {
    let mut findings = checks::configuration::check(examined);
    match &examined.config {
        Some(config) => findings.extend(check(&Site::look(config).await)),
        None => {
            let all = "everything else, until the configuration is valid";
            findings.extend(skipped(Group::Configuration, "all", all));
        }
    }
    findings.sort_by_key(|finding| finding.group);
    findings
}

/// Every check, in its order.
fn check(site: &Site<'_>) -> Vec<Finding> {
    let mut findings = of_kafka(site);
    findings.extend(of_rows(site));
    findings.extend(of_samplers(site));
    findings.extend(of_topology(site));
    findings.extend(of_database(site.config, &site.database));
    findings.extend(of_stages(site));
    findings.extend(receivers::check(&site.receivers));
    findings.extend(versions::list(site));
    findings
}

fn of_kafka(site: &Site<'_>) -> Vec<Finding> {
    match &site.kafka {
        Ok(facts) => {
            let mut findings = brokers::answering(facts, &site.unreachable);
            findings.extend(raw_topics::check(site.config, facts));
            findings.extend(own_topics::check(site.config, facts));
            findings
        }
        Err(why) => brokers::silent(&site.config.kafka.brokers, site.timeout, why),
    }
}

fn of_rows(site: &Site<'_>) -> Vec<Finding> {
    let facts = site.rows.as_ref().map_err(String::as_str);
    let mut findings = judged(Group::Rows, "rows_used", facts, |facts| {
        let mut findings = arrival::check(facts, site.now_s, site.config.doctor.silent_after_s);
        findings.extend(rows::used(facts, site.config.health.dropped_share));
        findings.extend(rows::partial(facts));
        findings.extend(rows::names(facts));
        findings
    });
    let dropped = site.of_database(|facts| &facts.dropped);
    findings.extend(judged(Group::Rows, "rows_dropped", dropped, |counts| rows::dropped(counts)));
    let avro = facts.is_ok_and(|facts| facts.topics.iter().any(|rows| !rows.waiting.is_empty()));
    findings.extend(registry::check(&site.registry, avro));
    findings
}

fn of_samplers(site: &Site<'_>) -> Vec<Finding> {
    let (group, limits) = (Group::Samplers, &site.config.doctor);
    let reporting = site.of_database(|facts| &facts.samplers);
    let mut findings = judged(group, "samplers_silent", reporting, |reporting| {
        samplers::silent(reporting, limits.silent_after_s)
    });
    let nodes = site.of_database(|facts| &facts.unknown_nodes);
    findings.extend(judged(group, "jobs_nodes", nodes, |nodes| samplers::unsampled_nodes(nodes)));
    let missing = site.of_database(|facts| &facts.never_seen);
    findings.extend(judged(group, "samplers_expected", missing, |missing| {
        let each_tick = site.config.site.expected.iter().filter(|expected| !expected.event_driven);
        samplers::never_seen(missing, each_tick.count())
    }));
    let rows = site.rows.as_ref().map_err(String::as_str);
    findings.extend(judged(group, "clocks", rows, |rows| {
        clocks::skewed(&rows.stamps, limits.skew_warn_s, site.now_s)
    }));
    findings
}

fn of_topology(site: &Site<'_>) -> Vec<Finding> {
    let ports = site.of_database(|facts| &facts.ports);
    topology::check(&site.config.site.topology, ports.map(Vec::as_slice))
}

fn of_database(config: &RunConfig, database: &Result<DatabaseFacts, Refusal>) -> Vec<Finding> {
    match database {
        Ok(facts) => {
            let mut findings = server::check(config, &facts.server, facts.ahead_s);
            findings.extend(match &facts.tiers {
                Ok(tiers) => tiers::check(config, tiers, &facts.failing),
                Err(refusal) => tiers::unreadable(refusal),
            });
            findings
        }
        Err(refusal) => server::silent(refusal),
    }
}

fn of_stages(site: &Site<'_>) -> Vec<Finding> {
    let stages = site.stages.as_ref().map_err(String::as_str);
    let mut findings = judged(Group::Stages, "lag", stages, |stages| {
        let known = site.of_database(|facts| &facts.positions);
        let mut findings = known.map_or_else(|why| skipped(Group::Stages, "positions", why), |_| Vec::new());
        // The aggregator's positions are in Kafka.
        for stage in stages.iter().filter(|stage| known.is_ok() || stage.name == "aggregator") {
            findings.extend(lag::check(stage, site.now_s, &site.config.health));
            let interval_s = site.config.database.snapshot_interval_s;
            findings.extend(positions::check(stage, interval_s, site.now_s));
        }
        findings
    });
    let passed_over = site.of_database(|facts| &facts.rejected);
    findings.extend(judged(Group::Stages, "rejected_messages", passed_over, |passed_over| {
        rejected::check(passed_over, site.now_s)
    }));
    let conditions = site.of_database(|facts| &facts.conditions);
    findings.extend(judged(Group::Stages, "limits", conditions, |conditions| conditions::check(conditions)));
    findings.extend(endpoint::check(&site.endpoint));
    findings
}
