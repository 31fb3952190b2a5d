//! One scenario's own topics, database and configuration on the common services.

use super::feed::Feed;
use super::process::{Process, Program};
use super::rows::{OF_JOBS, OF_SERVERS, RAW_PARTITIONS, Row};
use super::tables::{Database, QUIET, SLOWER_MAX, STAY, Tables};
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication, TopicResult};
use rdkafka::client::DefaultClientContext;
use rdkafka::types::RDKafkaErrorCode;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use support::stack::Services;

/// Partitions of Tailback's own topics.
pub const PARTITIONS: i32 = 6;
/// LDMS schemas of the rows.
const SCHEMAS: [&str; 5] = ["slurm_jobs", "lustre_client", OF_SERVERS, OF_JOBS, "aries_rtr"];

/// What one scenario uses.
pub struct Site {
    /// The common services.
    pub services: &'static Services,
    /// Begin of all its names.
    pub name: String,
    /// Its database.
    pub database: Database,
    /// Its configuration.
    pub config: PathBuf,
}

/// Topics whose deletion a broker has accepted.
pub struct Deleted {
    admin: AdminClient<DefaultClientContext>,
    topics: Vec<String>,
}

impl Deleted {
    /// Waits until the broker knows none of them any more. No process may create them meanwhile.
    pub fn wait_until_gone(&self) {
        let deadline = Instant::now() + Duration::from_secs(240);
        let known = || {
            let metadata = self.admin.inner().fetch_metadata(None, Duration::from_secs(10)).unwrap();
            metadata.topics().iter().any(|topic| self.topics.iter().any(|deleted| deleted == topic.name()))
        };
        while known() {
            assert!(Instant::now() < deadline, "the topics are still there");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// The machine of the rows: one chassis of an Aries group.
const TOPOLOGY: &str = "kind = \"aries\"\ngroups = 1\npopulated = [\"c0-0c0\"]\n";

impl Site {
    /// Topics, a database with all migrations, and the usual configuration.
    pub fn new(services: &'static Services, name: &str) -> Site {
        let site = Site::bare(services, name);
        let migrated = Program::new("migrate", &site.config).output();
        assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
        site
    }

    /// The same without migrations.
    pub fn bare(services: &'static Services, name: &str) -> Site {
        let database = Database::create(&services.server, name);
        let config = services.dir.join(format!("{name}.toml"));
        let site = Site { services, name: name.to_string(), database, config };
        site.configure("");
        site.create_raw_topics();
        site
    }

    /// Writes the configuration, with `more` at its end.
    pub fn configure(&self, more: &str) {
        let (name, broker, url) = (&self.name, &self.services.broker, &self.database.url);
        let registry = &self.services.registry;
        let file = self.topology();
        std::fs::write(&file, TOPOLOGY).unwrap();
        let topology = file.display();
        let text = format!(
            r#"
[kafka]
brokers = ["{broker}"]
raw_topics = ["^{name}\\.ldms\\..*"]
group = "{name}"
counters_topic = "{name}.counters"
jobs_topic = "{name}.jobs"
progress_topic = "{name}.progress"
partials_topic = "{name}.partials"
verdicts_topic = "{name}.verdicts"
partitions = {PARTITIONS}
[kafka.librdkafka]
"reconnect.backoff.max.ms" = 500
[kafka.consumer]
"session.timeout.ms" = 6000
"heartbeat.interval.ms" = 1000
[schema_registry]
url = "{registry}"
[database]
url = "{url}"
storage = "all"
commit_interval_ms = 100
snapshot_interval_s = 1
connect_timeout_s = 2
raw_days = 0
ten_second_days = 0
minute_days = 0
[site]
topology = ["{topology}"]
[http]
listen = "127.0.0.1:0"
{more}
"#
        );
        std::fs::write(&self.config, text).unwrap();
    }

    /// The file of its machine, which is its own: another scenario must not read a file that is being written.
    pub fn topology(&self) -> PathBuf {
        self.services.dir.join(format!("{}.topology.toml", self.name))
    }

    /// The raw topic of an LDMS schema.
    pub fn raw_topic(&self, schema: &str) -> String {
        format!("{}.ldms.{schema}", self.name)
    }

    /// Deletes its raw topics, and waits until the broker knows none of them any more.
    pub fn delete_raw_topics(&self) {
        self.delete_topics(&SCHEMAS.map(|schema| self.raw_topic(schema))).wait_until_gone();
    }

    /// Deletes the topics that stages write and read. The broker may take messages for them a while longer.
    pub fn delete_own_topics(&self) -> Deleted {
        self.delete_topics(
            &["counters", "partials", "verdicts"].map(|topic| format!("{}.{topic}", self.name)),
        )
    }

    fn delete_topics(&self, topics: &[String]) -> Deleted {
        let admin: AdminClient<DefaultClientContext> =
            ClientConfig::new().set("bootstrap.servers", &self.services.broker).create().unwrap();
        let names: Vec<&str> = topics.iter().map(String::as_str).collect();
        let deleted = admin.delete_topics(&names, &AdminOptions::new());
        let deleted = self.database.runtime.block_on(deleted).unwrap();
        assert!(deleted.iter().all(Result::is_ok), "{deleted:?}");
        Deleted { admin, topics: topics.to_vec() }
    }

    /// Creates its raw topics.
    pub fn create_raw_topics(&self) {
        let topics: Vec<String> = SCHEMAS.iter().map(|schema| self.raw_topic(schema)).collect();
        let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
        self.create_topics(&topics);
    }

    /// Creates raw topics. A broker that lost its controller for a moment, as busy machines let it, reports too few brokers.
    pub fn create_topics(&self, topics: &[&str]) {
        let admin: AdminClient<DefaultClientContext> =
            ClientConfig::new().set("bootstrap.servers", &self.services.broker).create().unwrap();
        let new: Vec<NewTopic<'_>> = topics
            .iter()
            .map(|topic| NewTopic::new(topic, RAW_PARTITIONS as i32, TopicReplication::Fixed(1)))
            .collect();
        let deadline = Instant::now() + Duration::from_secs(240);
        loop {
            let created = admin.create_topics(&new, &AdminOptions::new());
            let output = self.database.runtime.block_on(created).unwrap();
            let is_away =
                |output: &TopicResult| matches!(output, Err((_, RDKafkaErrorCode::InvalidReplicationFactor)));
            if output.iter().any(is_away) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(500));
                continue;
            }
            let is_there = |output: &TopicResult| {
                matches!(output, Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists)))
            };
            assert!(output.iter().all(is_there), "{output:?}");
            return;
        }
    }

    /// Creates one of Tailback's own topics, for messages of `bytes` at most.
    pub fn create_topic_for_messages_of(&self, topic: &str, bytes: usize) {
        let admin: AdminClient<DefaultClientContext> =
            ClientConfig::new().set("bootstrap.servers", &self.services.broker).create().unwrap();
        let bytes = bytes.to_string();
        let new =
            NewTopic::new(topic, PARTITIONS, TopicReplication::Fixed(1)).set("max.message.bytes", &bytes);
        let created = admin.create_topics([&new], &AdminOptions::new());
        let answers = self.database.runtime.block_on(created).unwrap();
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    }

    /// Starts `tailback run`.
    pub fn start(&self) -> Process {
        Program::new("run", &self.config).start()
    }

    /// Starts `tailback run` with these stages only, comma-separated.
    pub fn start_stages(&self, stages: &str) -> Process {
        Program::new("run", &self.config).env("TAILBACK_RUN__STAGES", stages).start()
    }

    /// What the tables hold after these rows, pushed before the start, with nothing else happening.
    pub fn tables_of(services: &'static Services, name: &str, rows: &[Row]) -> Tables {
        Site::new(services, name).tables_when(rows, Site::settled)
    }

    /// The same with `more` at the end of the configuration.
    pub fn tables_with(services: &'static Services, name: &str, more: &str, rows: &[Row]) -> Tables {
        let site = Site::new(services, name);
        site.configure(more);
        site.tables_when(rows, Site::settled)
    }

    /// The same where the rows of `expected` must come about.
    pub fn same_tables(services: &'static Services, name: &str, rows: &[Row], expected: &Tables) -> Tables {
        Site::new(services, name).tables_when(rows, |site| site.settles_as(expected))
    }

    fn tables_when(self, rows: &[Row], when: impl Fn(&Site) -> Tables) -> Tables {
        Feed::to(&self).all(rows);
        let process = self.start();
        let tables = when(&self);
        process.finish();
        self.accounts_for(rows);
        tables
    }

    /// What the tables hold when everything was read and nothing changes any more, also when nothing more comes.
    pub fn settled(&self) -> Tables {
        // On a busy machine what is known after the last row takes longer, too.
        let reading = self.wait_until_read();
        self.database.wait_until_silent();
        self.database.wait_until_quiet(QUIET + reading.min(SLOWER_MAX));
        self.database.dump()
    }

    /// What the tables hold when everything was read; more may come of it that more rows would change.
    pub fn settled_for_now(&self) -> Tables {
        self.wait_until_read();
        self.database.wait_until_quiet(STAY);
        self.database.dump()
    }

    /// The tables once they hold the rows of `expected` and stay so after everything is read. How long that takes depends
    /// on when a process was killed; the result does not.
    pub fn settles_as(&self, expected: &Tables) -> Tables {
        self.wait_until_read();
        self.database.wait_until_rows_are(expected)
    }
}
