//! Rules of a site file. All errors are reported at once.

use super::file::{AggregatorFile, Auth, Format, HostsFile, Lists, Scheduler, SiteFile};
use super::host_list::{HOSTS_MAX, expand, host_name};
use super::problem::{SiteError, SiteProblem, line_of};
use super::{Aggregator, AriesMap, HostClass, IbSampler, Role, Site};
use crate::Name;
use std::collections::{BTreeMap, BTreeSet};

mod collecting;
mod collection;

/// Notes of what is wrong.
struct Notes<'a> {
    text: &'a str,
    problems: Vec<SiteProblem>,
    warnings: Vec<SiteProblem>,
}

impl Notes<'_> {
    fn wrong(&mut self, key: &str, text: impl Into<String>) {
        let line = line_of(self.text, key);
        self.problems.push(SiteProblem { line, key: key.to_string(), text: text.into() });
    }

    fn warn(&mut self, key: &str, text: impl Into<String>) {
        let line = line_of(self.text, key);
        self.warnings.push(SiteProblem { line, key: key.to_string(), text: text.into() });
    }
}

/// Checks the keys of a file.
pub(super) fn site(file: &SiteFile, text: &str) -> Result<Site, SiteError> {
    let mut notes = Notes { text, problems: Vec::new(), warnings: Vec::new() };
    let name = Name::parse(&file.name).map_err(|error| notes.wrong("name", error.to_string())).ok();
    store(file, &mut notes);
    daemons(file, &mut notes);
    schedule(file, &mut notes);
    let aries = aries(file, &mut notes);
    let classes: Vec<HostClass> =
        file.hosts.iter().enumerate().map(|(at, hosts)| class(at, hosts, file, &mut notes)).collect();
    let aggregators: Vec<Aggregator> = file
        .aggregators
        .iter()
        .enumerate()
        .filter_map(|(at, entry)| aggregator(at, entry, &mut notes))
        .collect();
    let (Some(name), true) = (name, notes.problems.is_empty()) else { return Err(SiteError(notes.problems)) };
    let mut site = Site {
        name,
        format: file.format,
        brokers: file.brokers.clone(),
        registry: file.registry.clone(),
        topic: file.topic.clone(),
        csv_dir: file.csv_dir.clone(),
        scheduler: file.scheduler,
        ldmsd: file.ldmsd.clone(),
        schedule: file.schedule,
        aries,
        classes,
        aggregators,
        warnings: Vec::new(),
    };
    unique(&site, &mut notes);
    collecting::check(&site, &mut notes);
    collection::check(&site, &mut notes);
    site.warnings = notes.warnings;
    if notes.problems.is_empty() { Ok(site) } else { Err(SiteError(notes.problems)) }
}

/// Whether a word may stand in a line of ldmsd's configuration, which splits at blanks and expands `$`.
fn plain(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-:,+%=@~[]".contains(&b))
}

fn path(key: &str, path: &str, notes: &mut Notes<'_>) {
    if !path.starts_with('/') || !plain(path) || path.split('/').any(|step| step == "..") {
        notes.wrong(key, format!("must be an absolute path without blanks and quotes, not {path:?}"));
    }
}

fn store(file: &SiteFile, notes: &mut Notes<'_>) {
    let kafka = file.format != Format::Csv;
    if kafka && file.brokers.is_empty() {
        notes.wrong("brokers", "rows go to Kafka: name at least one broker, brokers = [\"host:9092\"]");
    }
    for broker in &file.brokers {
        let port = broker.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
        if !plain(broker)
            || broker.contains(',')
            || port.is_none_or(|(host, port)| host.is_empty() || port == 0)
        {
            notes.wrong("brokers", format!("{broker:?} is not host:port"));
        }
    }
    let http = file.registry.starts_with("http://") || file.registry.starts_with("https://");
    if file.format == Format::Avro && (!http || !plain(&file.registry)) {
        let text = format!("Avro needs the schema registry's URL, http://host:port, not {:?}", file.registry);
        notes.wrong("registry", text);
    }
    if kafka {
        topic(&file.topic, notes);
    } else {
        path("csv_dir", &file.csv_dir, notes);
    }
}

fn topic(topic: &str, notes: &mut Notes<'_>) {
    const TOPIC_BYTES_MAX: usize = 100;
    let fixed = topic.replacen("%S", "", 1);
    let allowed = fixed.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    if !topic.contains("%S") || !allowed || topic.len() > TOPIC_BYTES_MAX {
        let text = format!(
            "must be letters, digits, dots, hyphens and underscores with one %S for the schema, such as ldms.%S, not {topic:?}"
        );
        notes.wrong("topic", text);
    } else if !topic.starts_with("ldms.") {
        let text = format!(
            "{topic:?} is not among the topics that tailback reads by default: set kafka.raw_topics in its configuration"
        );
        notes.warn("topic", text);
    }
}

fn daemons(file: &SiteFile, notes: &mut Notes<'_>) {
    path("ldmsd.conf_dir", &file.ldmsd.conf_dir, notes);
    if file.ldmsd.port == 0 {
        notes.wrong("ldmsd.port", "must be 1 to 65535, not 0");
    }
    match file.ldmsd.auth {
        Auth::Ovis => path("ldmsd.auth_file", &file.ldmsd.auth_file, notes),
        Auth::Munge => {}
        Auth::None => {
            notes.warn(
                "ldmsd.auth",
                "\"none\": any host that reaches the port can read all sets and stop the daemon",
            );
        }
    }
}

fn schedule(file: &SiteFile, notes: &mut Notes<'_>) {
    let s = &file.schedule;
    if !(100..=60_000).contains(&s.interval_ms) {
        notes.wrong("schedule.interval_ms", format!("must be 100 to 60000, not {}", s.interval_ms));
    }
    if s.update_interval_ms > s.interval_ms {
        let text = format!(
            "{} is slower than sampling, every {} ms: samples would be skipped",
            s.update_interval_ms, s.interval_ms
        );
        notes.wrong("schedule.update_interval_ms", text);
    } else if s.update_interval_ms == 0 || !s.interval_ms.is_multiple_of(s.update_interval_ms) {
        let text =
            format!("{} does not divide {}, the sampling interval", s.update_interval_ms, s.interval_ms);
        notes.wrong("schedule.update_interval_ms", text);
    }
    let steps = [
        ("schedule.sample_offset_ms", s.sample_offset_ms),
        ("schedule.level1_offset_ms", s.level1_offset_ms),
        ("schedule.level2_offset_ms", s.level2_offset_ms),
    ];
    for pair in steps.windows(2) {
        let ((before, earlier), (key, later)) = (pair[0], pair[1]);
        if later <= earlier {
            let text = format!("{later} must come after {before} = {earlier}: aggregation follows sampling");
            notes.wrong(key, text);
        }
    }
    for (key, offset) in steps {
        // ldmsd refuses offsets of more than half the interval.
        if offset * 2 > s.update_interval_ms {
            let text = format!("{offset} is more than half of update_interval_ms = {}", s.update_interval_ms);
            notes.wrong(key, text);
        }
    }
}

fn aries(file: &SiteFile, notes: &mut Notes<'_>) -> Option<AriesMap> {
    match AriesMap::of(file.aries.as_ref()?) {
        Ok(map) => Some(map),
        Err(problems) => {
            for (key, text) in problems {
                notes.wrong(&key, text);
            }
            None
        }
    }
}

fn names(key: &str, lists: &Lists, notes: &mut Notes<'_>) -> Vec<Name> {
    let mut names = Vec::new();
    for list in lists.texts() {
        match expand(list) {
            Ok(more) if names.len() + more.len() <= HOSTS_MAX => names.extend(more),
            Ok(_) => notes.wrong(key, format!("these are more than {HOSTS_MAX} hosts")),
            Err(error) => notes.wrong(key, error.to_string()),
        }
    }
    names
}

fn class(at: usize, file: &HostsFile, site: &SiteFile, notes: &mut Notes<'_>) -> HostClass {
    let key = |key: &str| format!("hosts[{at}].{key}");
    let words = |name: &str, texts: &[String], notes: &mut Notes<'_>| {
        let parsed = texts.iter().filter_map(|text| {
            host_name(text).map_err(|error| notes.wrong(&key(name), error.to_string())).ok()
        });
        parsed.collect::<Vec<Name>>()
    };
    let class = HostClass {
        role: file.role,
        hosts: names(&key("names"), &file.names, notes),
        lustre: words("lustre", &file.lustre, notes),
        serves: file.serves.clone(),
        // Switches, service nodes and servers run no jobs.
        jobs: file
            .jobs
            .unwrap_or(file.serves.is_empty() && !matches!(file.role, Role::Service | Role::IbSwitches)),
        ports: words("ports", &file.ports, notes),
        ib_sampler: file.sampler.unwrap_or_default(),
        lid_file: file.lid_file.clone(),
        node_name_map: file.node_name_map.clone(),
        switches: file.switches.as_ref().map_or_else(Vec::new, |lists| names(&key("switches"), lists, notes)),
    };
    collection::class(at, file, &class, site, notes);
    class
}

fn aggregator(at: usize, file: &AggregatorFile, notes: &mut Notes<'_>) -> Option<Aggregator> {
    let key = |key: &str| format!("aggregators[{at}].{key}");
    let name = host_name(&file.name).map_err(|error| notes.wrong(&key("name"), error.to_string())).ok();
    if !(1..=2).contains(&file.level) {
        notes.wrong(&key("level"), format!("must be 1 or 2, not {}", file.level));
    }
    let port = file.port.unwrap_or(super::file::PORT_DEFAULT + u16::from(file.level));
    if port == 0 {
        notes.wrong(&key("port"), "must be 1 to 65535, not 0");
    }
    let takes = names(&key("takes"), &file.takes, notes);
    Some(Aggregator { name: name?, level: file.level, port, takes })
}

/// A name stands for one host, and for one aggregator.
fn unique(site: &Site, notes: &mut Notes<'_>) {
    let mut seen: BTreeSet<&Name> = BTreeSet::new();
    for (at, class) in site.classes.iter().enumerate() {
        if let Some(twice) = class.hosts.iter().find(|host| !seen.insert(*host)) {
            notes.wrong(&format!("hosts[{at}].names"), format!("{twice} is there twice"));
        }
    }
    let mut seen: BTreeMap<&Name, u16> = BTreeMap::new();
    for (at, aggregator) in site.aggregators.iter().enumerate() {
        if seen.insert(&aggregator.name, aggregator.port).is_some() {
            notes.wrong(&format!("aggregators[{at}].name"), format!("{} is there twice", aggregator.name));
        }
        let sampler = site.hosts().any(|(host, _)| *host == aggregator.name);
        if sampler && aggregator.port == site.ldmsd.port {
            let text = format!("{} is the port of the sampler on {} too", aggregator.port, aggregator.name);
            notes.wrong(&format!("aggregators[{at}].port"), text);
        }
    }
}

/// What Avro mode loses: the store writes every column of 32 bits without sign as 0.
fn loses_in_avro(sampler: IbSampler) -> bool {
    sampler == IbSampler::Ibmad
}

fn has_jobs(site: &Site) -> bool {
    site.scheduler == Scheduler::Slurm && site.classes.iter().any(|class| class.jobs)
}
