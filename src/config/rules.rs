//! Every key with what it may be. `default.toml` documents the same; tests compare both.

use schemas::hostlist;
use toml::Value;

/// Hosts that one list may name: those of the largest machine that is planned for.
pub const HOSTS_MAX: usize = 20_000;

/// What a key may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// `true` or `false`.
    Flag,
    /// A whole number within both bounds, in a unit.
    Whole(i64, i64, &'static str),
    /// A number within both bounds, in a unit.
    Number(f64, f64, &'static str),
    /// A whole number whose bounds depend on other keys.
    Count,
    /// A number whose bounds depend on other keys.
    Quantity,
    /// Any text; what it must be is checked with the section.
    Text,
    /// A path, or "" for none.
    File,
    /// Address and port.
    Address,
    /// A name by Kafka's rules, up to so many characters.
    Name(usize),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Some of these words, each once.
    Words(&'static [&'static str]),
    /// Texts, at least one; or one text with commas.
    Texts,
    /// Paths, also none.
    Files,
    /// Lists of hosts, also none; a text is one list.
    Hosts,
    /// Machines, `host` or `host:port`, also none.
    Machines,
    /// Origins of web pages, `https://host` or `https://host:port`, also none.
    Origins,
    /// Users by name or number, also none.
    Users,
}

const MODELS: &[&str] = &["robust", "published"];
const STAGES: &[&str] = &["aggregator", "detector", "rollup"];
const FORMS: &[&str] = &["corrected", "published", "service_time", "none"];
const HOURS: Rule = Rule::Whole(1, 87_600, " hours");
const DAYS: Rule = Rule::Whole(0, 36_500, " days");

/// All keys but the metrics', in the order of `default.toml`.
const KEYS: &[(&str, Rule)] = &[
    ("model", Rule::Word(MODELS)),
    ("kafka.brokers", Rule::Texts),
    ("kafka.client_id", Rule::Name(249)),
    ("kafka.raw_topics", Rule::Texts),
    ("kafka.slurm_topics", Rule::Texts),
    ("kafka.home_cluster", Rule::Text),
    ("kafka.group", Rule::Name(200)),
    ("kafka.counters_topic", Rule::Name(249)),
    ("kafka.jobs_topic", Rule::Name(249)),
    ("kafka.progress_topic", Rule::Name(249)),
    ("kafka.partials_topic", Rule::Name(249)),
    ("kafka.verdicts_topic", Rule::Name(249)),
    ("kafka.create_topics", Rule::Flag),
    ("kafka.partitions", Rule::Whole(1, 10_000, "")),
    ("kafka.replication", Rule::Whole(1, 32, "")),
    ("kafka.counters_retention_h", HOURS),
    ("kafka.jobs_retention_h", HOURS),
    ("kafka.progress_retention_h", HOURS),
    ("kafka.partials_retention_h", HOURS),
    ("kafka.verdicts_retention_h", HOURS),
    ("kafka.message_max_bytes", Rule::Whole(1_000_000, 50_000_000, " bytes")),
    ("kafka.sasl_password_file", Rule::File),
    ("kafka.sasl_oauthbearer_client_secret_file", Rule::File),
    ("kafka.ssl_key_password_file", Rule::File),
    ("kafka.message_key_file", Rule::File),
    ("schema_registry.url", Rule::Text),
    ("schema_registry.user", Rule::Text),
    ("schema_registry.password_file", Rule::File),
    ("schema_registry.cache_dir", Rule::File),
    ("database.url", Rule::Text),
    ("database.password_file", Rule::File),
    ("database.tls_ca_file", Rule::File),
    ("database.tls_cert_file", Rule::File),
    ("database.tls_key_file", Rule::File),
    ("database.storage", Rule::Word(&["changes", "all"])),
    ("database.direct_columnstore", Rule::Word(&["auto", "on", "off"])),
    ("database.commit_interval_ms", Rule::Whole(10, 60_000, " ms")),
    ("database.snapshot_interval_s", Rule::Whole(1, 3_600, " s")),
    ("database.synchronous_commit", Rule::Flag),
    ("database.raw_days", DAYS),
    ("database.ten_second_days", DAYS),
    ("database.minute_days", DAYS),
    ("database.episode_days", DAYS),
    ("database.connect_timeout_s", Rule::Whole(1, 300, " s")),
    ("run.stages", Rule::Words(STAGES)),
    ("run.instance", Rule::Text),
    ("run.threads", Rule::Whole(0, 1_024, "")),
    ("run.max_rows_in_flight", Rule::Whole(1_000, 100_000_000, "")),
    ("run.max_buffer_mb", Rule::Whole(16, 1_000_000, " MB")),
    ("run.drain_s", Rule::Whole(1, 600, " s")),
    ("limits.sources", Rule::Whole(1_000, 100_000_000, "")),
    ("limits.series", Rule::Whole(1_000, 100_000_000, "")),
    ("limits.jobs", Rule::Whole(1_000, 100_000_000, "")),
    ("limits.http_connections", Rule::Whole(4, 65_536, "")),
    ("limits.post_bytes", Rule::Whole(1_000, 100_000_000, " bytes")),
    ("limits.post_events", Rule::Whole(1, 1_000_000, "")),
    ("limits.progress_bytes", Rule::Whole(100, 10_000_000, " bytes")),
    ("limits.progress_reports", Rule::Whole(1, 100_000, "")),
    ("limits.progress_per_s", Rule::Whole(1, 100_000, "")),
    ("limits.progress_names", Rule::Whole(1, 1_000, "")),
    ("limits.progress_ranks", Rule::Whole(1, 100_000, "")),
    ("limits.progress_jobs", Rule::Whole(1, 10_000_000, "")),
    ("limits.metric_topics", Rule::Whole(1, 100_000, "")),
    ("metrics.folder", Rule::File),
    ("stream.tick_s", Rule::Number(0.1, 60.0, " s")),
    ("stream.lateness_s", Rule::Quantity),
    ("stream.silence_s", Rule::Quantity),
    ("stream.gap_s", Rule::Quantity),
    ("stream.forget_after_days", Rule::Whole(1, 3_650, " days")),
    ("jobs.open_max_h", Rule::Whole(1, 8_760, " hours")),
    ("jobs.shared_nodes", Rule::Flag),
    ("fabric.known_ratio", Rule::Number(0.01, 1_000.0, " stalls per flit")),
    ("fabric.io_servers", Rule::Hosts),
    ("site.file", Rule::File),
    ("site.topology", Rule::Files),
    ("http.listen", Rule::Address),
    ("http.token_file", Rule::File),
    ("http.silence_token_file", Rule::File),
    ("http.jobs_token_file", Rule::File),
    ("http.job_token_key_file", Rule::File),
    ("http.socket", Rule::File),
    ("http.socket_users", Rule::Users),
    ("http.job_hosts_max", Rule::Whole(1, 10_000_000, "")),
    ("http.hosts", Rule::Machines),
    ("http.public_url", Rule::Text),
    ("http.frame_ancestors", Rule::Origins),
    ("alerts.rules", Rule::Files),
    ("alerts.receivers", Rule::Files),
    ("alerts.hosts", Rule::Machines),
    ("alerts.heartbeat", Rule::Flag),
    ("alerts.poll_ms", Rule::Whole(20, 60_000, " ms")),
    ("alerts.keep_days", Rule::Whole(1, 36_500, " days")),
    ("log.level", Rule::Word(&["error", "warn", "info", "debug", "trace"])),
    ("log.format", Rule::Word(&["text", "json"])),
    ("health.data_age_s", Rule::Number(1.0, 86_400.0, " s")),
    ("health.lag_s", Rule::Number(1.0, 86_400.0, " s")),
    ("health.backlog_messages", Rule::Whole(1, 1_000_000_000, "")),
    ("health.stalled_s", Rule::Number(10.0, 86_400.0, " s")),
    ("health.silent_share", Rule::Number(0.0, 1.0, "")),
    ("health.dropped_rows", Rule::Whole(0, 1_000_000_000, "")),
    ("health.dropped_share", Rule::Number(0.0, 1.0, "")),
    ("health.rejected_messages", Rule::Whole(0, 1_000_000_000, "")),
    ("health.waiting_notices", Rule::Whole(0, 1_000_000_000, "")),
    ("doctor.silent_after_s", Rule::Number(1.0, 86_400.0, " s")),
    ("doctor.skew_warn_s", Rule::Number(0.001, 3_600.0, " s")),
    ("doctor.timeout_s", Rule::Number(1.0, 300.0, " s")),
];

/// Keys of each `[metric.<name>]`; their ranges stand with the models' parameters.
const METRIC_KEYS: &[(&str, Rule)] = &[
    ("window", Rule::Count),
    ("eta", Rule::Quantity),
    ("slowdown", Rule::Word(FORMS)),
    ("floor", Rule::Quantity),
    ("least_effect", Rule::Quantity),
    ("least_change", Rule::Quantity),
];

/// Tables with keys of others: any property of librdkafka.
pub const FREE_TABLES: [&str; 3] = ["kafka.librdkafka", "kafka.consumer", "kafka.producer"];

/// Every key with its rule, in the order of `default.toml`.
pub fn all() -> impl Iterator<Item = (String, Rule)> {
    let keys = |keys: &'static [(&str, Rule)]| keys.iter().map(|(key, rule)| ((*key).to_string(), *rule));
    let of_metric = |metric: schemas::Metric| {
        METRIC_KEYS.iter().map(move |(key, rule)| (format!("metric.{}.{key}", metric.name()), *rule))
    };
    let after_stream = KEYS.iter().position(|(key, _)| key.starts_with("jobs.")).unwrap_or(KEYS.len());
    keys(&KEYS[..after_stream])
        .chain(schemas::Metric::all().flat_map(of_metric))
        .chain(keys(&KEYS[after_stream..]))
}

/// The rule of a key.
pub fn of(key: &str) -> Option<Rule> {
    all().find(|(known, _)| known == key).map(|(_, rule)| rule)
}

impl Rule {
    /// What is allowed, as it continues "must be".
    pub fn allowed(self) -> String {
        match self {
            Rule::Flag => "true or false".to_string(),
            Rule::Whole(least, most, unit) => format!("a whole number from {least} to {most}{unit}"),
            Rule::Number(least, most, unit) => format!("a number from {least} to {most}{unit}"),
            Rule::Count => "a whole number of at least 0".to_string(),
            Rule::Quantity => "a number".to_string(),
            Rule::Text => "a text".to_string(),
            Rule::File => "a path in quotes".to_string(),
            Rule::Address => "an address and port such as \"127.0.0.1:9464\" or \"[::1]:9464\"".to_string(),
            Rule::Name(most) => format!("a text of 1 to {most} letters, digits, `.`, `_`, `-`"),
            Rule::Word(words) => format!("one of {}", words.join(", ")),
            Rule::Words(words) => format!("a list of some of {}, each once", words.join(", ")),
            Rule::Files => "a list of paths".to_string(),
            Rule::Hosts => format!("a list of at most {HOSTS_MAX} hosts such as \"oss[01-08]\""),
            Rule::Machines => "a list of machines, `host` or `host:port`".to_string(),
            Rule::Origins => {
                "a list of origins such as \"https://portal.example.org\" or \"https://*.example.org:8443\", \
                without a path"
                    .to_string()
            }
            Rule::Users => "a list of users, by name or number".to_string(),
            Rule::Texts => "a list of texts, at least one, none empty".to_string(),
        }
    }

    /// The value in the form that the configuration holds, if it is allowed.
    pub fn admit(self, value: &Value) -> Option<Value> {
        match (self, value) {
            (Rule::Flag, Value::Boolean(_)) | (Rule::Text | Rule::File, Value::String(_)) => {}
            (Rule::Whole(least, most, _), Value::Integer(n)) if (least..=most).contains(n) => {}
            (Rule::Count, Value::Integer(n)) if *n >= 0 => {}
            (Rule::Number(..) | Rule::Quantity, Value::Integer(n)) => {
                return self.admit(&Value::Float(*n as f64));
            }
            (Rule::Number(least, most, _), Value::Float(x)) if (least..=most).contains(x) => {}
            (Rule::Quantity, Value::Float(x)) if x.is_finite() => {}
            (Rule::Address, Value::String(text)) if text.parse::<std::net::SocketAddr>().is_ok() => {}
            (Rule::Name(most), Value::String(text)) if is_name(text, most) => {}
            (Rule::Word(words), Value::String(text)) if words.contains(&text.as_str()) => {}
            (Rule::Words(_) | Rule::Texts, _) => return self.admit_list(value),
            (rule, _) if rule.may_be_empty() => return self.admit_list(value),
            _ => return None,
        }
        Some(value.clone())
    }

    /// Whether it is that of a list that may have no items.
    fn may_be_empty(self) -> bool {
        matches!(self, Rule::Files | Rule::Hosts | Rule::Machines | Rule::Origins | Rule::Users)
    }

    /// A list, or a text with commas that stands for one.
    fn admit_list(self, value: &Value) -> Option<Value> {
        let texts: Vec<String> = match value {
            Value::String(text) if text.is_empty() && self.may_be_empty() => Vec::new(),
            // Commas stand in brackets too.
            Value::String(text) if self == Rule::Hosts => vec![text.clone()],
            Value::String(text) => text.split(',').map(|part| part.trim().to_string()).collect(),
            Value::Array(items) => {
                items.iter().map(|item| item.as_str().map(str::to_string)).collect::<Option<_>>()?
            }
            _ => return None,
        };
        let allowed = |(i, text): (usize, &String)| match self {
            Rule::Words(words) => words.contains(&text.as_str()) && !texts[..i].contains(text),
            Rule::Hosts => hostlist::expand(text, HOSTS_MAX).is_ok_and(|hosts| !hosts.is_empty()),
            Rule::Machines => !text.is_empty() && !text.contains(['/', '@', ' ']),
            Rule::Origins => is_origin(text),
            Rule::Users => !text.is_empty() && !text.contains([':', ' ', '\n']),
            _ => !text.is_empty(),
        };
        let fits = (!texts.is_empty() || self.may_be_empty()) && texts.iter().enumerate().all(allowed);
        fits.then(|| Value::Array(texts.into_iter().map(Value::String).collect()))
    }
}

/// Scheme, host and port of web pages. The first label of the host may be `*`.
fn is_origin(text: &str) -> bool {
    let Some(authority) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else {
        return false;
    };
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, "443"));
    let host = host.strip_prefix("*.").unwrap_or(host);
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    host.split('.').all(is_label) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Kafka's rule for names of topics, which holds for groups and clients here too.
pub fn is_name(text: &str, most: usize) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=most).contains(&text.len()) && text.chars().all(plain) && text != "." && text != ".."
}
