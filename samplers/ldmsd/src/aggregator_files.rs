//! Files of aggregator daemons: their sources, their schedule, and where rows go.

use crate::Files;
use crate::decomposition;
use crate::fill::{auth_line, fill, unit, us};
use aggregator::ldms;
use schemas::site::{Aggregator, Format, HostClass, Role};
use schemas::{Name, Site};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Folder of these files.
const FOLDER: &str = "aggregators";
/// Memory of sets: what a daemon needs at least, and for each producer.
const MEMORY_MB: usize = 64;
const MEMORY_PER_HOST_KB: usize = 96;
/// A host that queries switches has a set for each of their ports.
const MEMORY_SWITCHES_KB: usize = 512 * 1024;

/// Adds the files.
///
/// # Errors
/// See [`fill`].
pub fn write(site: &Site, files: &mut Files) -> anyhow::Result<()> {
    let ports: BTreeMap<&Name, u16> = site.aggregators.iter().map(|a| (&a.name, a.port)).collect();
    for aggregator in &site.aggregators {
        let text = daemon(site, aggregator, &ports)?;
        let name = &aggregator.name;
        files.insert(in_folder(&format!("{name}.conf")), text);
        let arguments = format!("-c {}/{name}.conf", site.ldmsd.conf_dir);
        files.insert(in_folder(&format!("{name}.service")), unit(&format!("aggregator {name}"), &arguments));
    }
    let decomposition = decomposition::of(site)?;
    files.insert(in_folder("decomposition.json"), decomposition);
    if site.format != Format::Csv {
        let brokers = site.brokers.join(",");
        files.insert(in_folder("kafka.conf"), fill(ldms::KAFKA, &[("BROKERS", &brokers)])?);
    }
    if site.format == Format::Avro {
        files.insert(in_folder("serdes.conf"), fill(ldms::SERDES, &[("REGISTRY", &site.registry)])?);
    }
    Ok(())
}

fn in_folder(name: &str) -> PathBuf {
    PathBuf::from(FOLDER).join(name)
}

fn daemon(site: &Site, aggregator: &Aggregator, ports: &BTreeMap<&Name, u16>) -> anyhow::Result<String> {
    let level = aggregator.level;
    let memory =
        MEMORY_MB + samplers_below(site, aggregator).map(|host| memory_kb(site, host)).sum::<usize>() / 1024;
    let mut text = format!(
        "# Aggregator {} of level {level} at {}.\nset_memory size={memory}M\n{}\nlisten xprt={} port={}\n\n",
        aggregator.name,
        site.name,
        auth_line(site),
        site.ldmsd.transport.name(),
        aggregator.port,
    );
    for name in &aggregator.takes {
        let port = if level == 1 { site.ldmsd.port } else { ports.get(name).copied().unwrap_or(0) };
        let values =
            [("NAME", name.as_str()), ("XPRT", site.ldmsd.transport.name()), ("PORT", &port.to_string())];
        text += &fill(ldms::PRODUCER, &values)?;
    }
    let schedule = &site.schedule;
    let offset = if level == 1 { schedule.level1_offset_ms } else { schedule.level2_offset_ms };
    let times = [("INTERVAL_US", &*us(schedule.update_interval_ms)), ("OFFSET_US", &us(offset))];
    text += &fill(ldms::COLLECT, &times)?;
    if level == site.storing_level() {
        text += &stores(site)?;
    }
    Ok(text)
}

/// Hosts whose sets come through an aggregator.
fn samplers_below<'a>(site: &'a Site, aggregator: &'a Aggregator) -> impl Iterator<Item = &'a Name> {
    let below = move |other: &&Aggregator| match aggregator.level {
        1 => other.name == aggregator.name,
        _ => other.level == 1 && aggregator.takes.contains(&other.name),
    };
    site.aggregators.iter().filter(below).flat_map(|aggregator| &aggregator.takes)
}

fn memory_kb(site: &Site, host: &Name) -> usize {
    let has_host = |class: &HostClass| class.role == Role::IbSwitches && class.hosts.contains(host);
    if site.classes.iter().any(has_host) { MEMORY_SWITCHES_KB } else { MEMORY_PER_HOST_KB }
}

fn stores(site: &Site) -> anyhow::Result<String> {
    let all: Vec<&str> = decomposition::matches(site).into_iter().map(|(_, pattern)| pattern).collect();
    let (jobs, counters): (Vec<&str>, Vec<&str>) =
        all.iter().copied().partition(|pattern| *pattern == decomposition::JOB_SETS);
    match site.format {
        Format::Json => kafka(site, "kafka_json", "json", &all),
        Format::Csv => {
            let values = [
                ("CSV_DIR", site.csv_dir.as_str()),
                ("SITE", site.name.as_str()),
                ("SCHEMAS", &any_of(&all)),
                ("CONF_DIR", &site.ldmsd.conf_dir),
            ];
            fill(ldms::STORE_CSV, &values)
        }
        Format::Avro => {
            // Start and end of jobs have 32 bits without sign, which the store writes as 0 in Avro.
            let avro = if counters.is_empty() {
                String::new()
            } else {
                kafka(site, "kafka_avro", "avro", &counters)?
            };
            let json =
                if jobs.is_empty() { String::new() } else { kafka(site, "kafka_jobs", "json", &jobs)? };
            Ok(avro + &json)
        }
    }
}

fn any_of(patterns: &[&str]) -> String {
    format!("^({})$", patterns.join("|"))
}

fn kafka(site: &Site, store: &str, encoding: &str, patterns: &[&str]) -> anyhow::Result<String> {
    let serdes = match encoding {
        "avro" => format!(" serdes_conf={}/serdes.conf", site.ldmsd.conf_dir),
        _ => String::new(),
    };
    let values = [
        ("STORE", store),
        ("ENCODING", encoding),
        ("SERDES", &serdes),
        ("CONF_DIR", &site.ldmsd.conf_dir),
        ("TOPIC", &site.topic),
        ("BROKERS", &site.brokers.join(",")),
        ("SCHEMAS", &any_of(patterns)),
    ];
    fill(ldms::STORE_KAFKA, &values)
}
