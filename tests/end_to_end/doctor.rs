//! `tailback doctor` as an administrator runs it, against a real broker and a real database, healthy and broken; and
//! `tailback migrate` where the runbook names it.

use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions};
use rdkafka::client::DefaultClientContext;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use support::paths::tailback;
use support::service::Service;

/// Services, their folder and a configuration; all is stopped at the end.
struct Site {
    folder: tempfile::TempDir,
    kafka: Service,
    postgres: Service,
    run: Option<Child>,
    /// Latest findings of doctor, a line each: printed when the test fails.
    latest: RefCell<String>,
}

impl Site {
    /// Starts the services; `None` where they may not be started.
    fn start() -> Option<Site> {
        let (kafka, postgres) = (Service::start("kafka")?, Service::start("postgres")?);
        let folder = tempfile::tempdir().unwrap();
        let site = Site { folder, kafka, postgres, run: None, latest: RefCell::default() };
        site.configure("");
        Some(site)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn configure(&self, more: &str) {
        let (brokers, database) = (&self.kafka.address, &self.postgres.address);
        let text = format!(
            "[kafka]\nbrokers = [\"{brokers}\"]\npartitions = 4\n[database]\nurl = \"{database}\"\n\
             [http]\nlisten = \"127.0.0.1:0\"\n[doctor]\ntimeout_s = 15.0\n{more}"
        );
        std::fs::write(self.path("tailback.toml"), text).unwrap();
    }

    fn tailback(&self, arguments: &[&str]) -> Command {
        let mut command = tailback();
        command.args(arguments).arg("--config").arg(self.path("tailback.toml"));
        command
    }

    /// Whether doctor succeeds, and its findings.
    fn doctor(&self) -> (bool, Vec<Value>) {
        let output = self.tailback(&["doctor", "--json"]).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        let findings = report["findings"].as_array().unwrap().clone();
        self.latest.replace(findings.iter().map(line).collect::<Vec<_>>().join("\n"));
        (output.status.success(), findings)
    }

    /// What `tailback migrate` prints.
    fn migrate(&self, more: &[&str]) -> String {
        let output = self.tailback(&[&["migrate"], more].concat()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn delete_topics(&self, topics: &[&str]) {
        let admin: AdminClient<DefaultClientContext> =
            ClientConfig::new().set("bootstrap.servers", &self.kafka.address).create().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let deleted = runtime.block_on(admin.delete_topics(topics, &AdminOptions::new())).unwrap();
        assert!(deleted.iter().all(Result::is_ok), "{deleted:?}");
    }

    fn run(&mut self) {
        let log = std::fs::File::create(self.path("run.log")).unwrap();
        self.run = Some(self.tailback(&["run"]).stdout(Stdio::null()).stderr(log).spawn().unwrap());
    }

    /// Runs it until it exits with an error message that contains `words`.
    fn run_ends_with(&mut self, words: &[&str]) {
        self.run();
        let run = self.run.as_mut().unwrap();
        let deadline = Instant::now() + Duration::from_secs(240);
        while run.try_wait().unwrap().is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(run.try_wait().unwrap().and_then(|status| status.code()), Some(1));
        let log = std::fs::read_to_string(self.path("run.log")).unwrap();
        let last = log.trim_end().lines().last().unwrap_or_default();
        assert!(words.iter().all(|word| last.contains(word)), "{words:?} are not in {last:?}");
    }

    fn stop_run(&mut self) {
        let Some(mut child) = self.run.take() else { return };
        let id = child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let _ = child.wait();
    }

    /// Rows of Lustre clients for the last `seconds`, up to now; `ahead_s` sets the clocks of producers.
    fn publish(&self, seconds: i64, producers: &[(&str, f64)]) {
        self.publish_since(unix_s() - seconds, producers);
    }

    /// Rows from the second `first` up to now; gives the second after the last.
    fn publish_since(&self, first: i64, producers: &[(&str, f64)]) -> i64 {
        let producer: BaseProducer =
            ClientConfig::new().set("bootstrap.servers", &self.kafka.address).create().unwrap();
        let now = unix_s();
        for second in first..now {
            for (i, (name, ahead_s)) in producers.iter().enumerate() {
                let time = second as f64 + 0.002 + ahead_s;
                let row = format!(
                    "{{\"timestamp\":{time:.6},\"component_id\":{i},\"job_id\":0,\"producer\":\"{name}\",\
                     \"instance\":\"{name}/lustre_client\",\"fs_name\":\"snx11137\",\
                     \"llite\":\"snx11137-ffff88105a9b0800\",\"write_bytes.sum\":{}}}",
                    second * 1_000_000
                );
                let partition = ((second + i as i64) % 4) as i32;
                let record =
                    BaseRecord::<(), str>::to("ldms.lustre_client").payload(&row).partition(partition);
                producer.send(record.timestamp(second * 1_000 + 100)).unwrap();
            }
            producer.poll(Duration::ZERO);
        }
        producer.flush(Duration::from_secs(120)).unwrap();
        now
    }

    fn publish_to(&self, topic: &str, rows: &[&str]) {
        let producer: BaseProducer =
            ClientConfig::new().set("bootstrap.servers", &self.kafka.address).create().unwrap();
        for row in rows {
            producer.send(BaseRecord::<(), str>::to(topic).payload(row)).unwrap();
        }
        producer.flush(Duration::from_secs(120)).unwrap();
    }

    /// Runs doctor until a finding is there; the stages need some seconds.
    fn until(&self, there: impl Fn(&[Value]) -> bool) -> (bool, Vec<Value>) {
        let deadline = Instant::now() + Duration::from_secs(240);
        loop {
            let (well, findings) = self.doctor();
            if there(&findings) {
                return (well, findings);
            }
            assert!(Instant::now() < deadline, "not found within four minutes");
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.path("run.log")).unwrap_or_default();
            eprintln!("what doctor found last:\n{}\nthe log of the run:\n{log}", self.latest.borrow());
        }
        self.stop_run();
    }
}

fn unix_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

fn line(finding: &Value) -> String {
    let text = |key: &str| finding[key].as_str().unwrap().to_string();
    format!("{:5} {}: {}", text("level"), text("check"), text("what"))
}

fn has(findings: &[Value], level: &str, what: &str) -> bool {
    let same = |f: &Value| f["level"] == level && f["what"].as_str().unwrap().contains(what);
    findings.iter().any(same)
}

fn errors(findings: &[Value]) -> Vec<String> {
    findings.iter().filter(|finding| finding["level"] == "error").map(line).collect()
}

/// Topics and tables are missing; a dry run does not create them.
fn is_set_up_by_migrate(site: &Site) {
    let missing = site.migrate(&["--dry-run"]);
    assert!(missing.starts_with("missing 0001_schema"), "{missing}");
    let (well, found) = site.doctor();
    assert!(!well);
    assert!(has(&found, "error", "no topic matches kafka.raw_topics"));
    assert!(has(&found, "error", "the database has no tables of Tailback yet"));
    let applied = site.migrate(&[]).lines().filter(|line| line.starts_with("applied ")).count();
    assert_eq!(missing.lines().last(), Some(format!("{applied} migrations are missing").as_str()));
    assert_eq!(site.migrate(&["--dry-run"]), "0 migrations are missing\n");
}

/// A row of the runbook: what a run reports about a state that another version wrote.
fn refuses_state_of_another_version(site: &mut Site) {
    let database = site.postgres.address.clone();
    let versions = |change: &str| {
        let update =
            format!("UPDATE stage_snapshots SET version = version {change} WHERE stage = 'detector'");
        let done = Command::new("psql").args(["-XAtq", &database, "-c", &update]).status().unwrap();
        assert!(done.success());
    };
    versions("+ 1");
    site.run_ends_with(&["the state of detector/", "a newer Tailback wrote it", "tailback state import"]);
    versions("- 2");
    site.run_ends_with(&["the state of detector/", "its version is 0", "--forget-positions"]);
    versions("+ 1");
}

/// Deletes Tailback's topics while no stage runs; after `--forget-positions` the stages continue with new topics.
fn continues_with_new_topics(site: &mut Site) {
    site.delete_topics(&["tailback.counters", "tailback.partials"]);
    let printed = site.migrate(&["--forget-positions"]);
    assert!(printed.ends_with("forgot the positions of 8 partitions\n"), "{printed}");
    site.run();
    // Missing rows are an error too. All positions were forgotten, so a stage that reports a commit has continued.
    let continues = |found: &[Value], stage: &str| {
        let mut lag = found.iter().filter(|f| f["check"] == "lag" && f["level"] == "ok").map(line);
        lag.any(|line| line.contains(&format!("{stage}: 1 member")) && line.contains("last commit"))
    };
    site.until(|found| {
        has(found, "ok", "aggregator: 1 member, 0 messages")
            && continues(found, "detector")
            && continues(found, "rollup")
            && errors(found).iter().all(|line| line.contains("rows_arrive"))
    });
    site.stop_run();
}

#[test]
fn an_installation_is_examined_from_its_first_hour_to_its_failures() {
    let Some(mut site) = Site::start() else { return };

    is_set_up_by_migrate(&site);

    // Healthy: the samplers report, however long the stages take to start.
    let nodes = [("nid00001", 0.0), ("nid00002", 0.0), ("nid00003", 0.0)];
    let sampled = Cell::new(site.publish_since(unix_s() - 40, &nodes));
    site.run();
    let (well, found) = site.until(|found| {
        sampled.set(site.publish_since(sampled.get(), &nodes));
        has(found, "ok", "all 3 samplers report")
            && has(found, "ok", "detector: 1 member")
            && errors(found).is_empty()
    });
    assert!(well);
    assert!(has(&found, "ok", "the clocks of 3 producers agree"));
    assert!(has(&found, "ok", "ldms.lustre_client: all of "));

    // A topic without usable rows, a clock that is ahead, a sampler that went silent.
    site.publish_to("ldms.vmstat", &["{\"timestamp\":1.0,\"nr_free_pages\":5}"; 3]);
    site.configure("silent_after_s = 5.0\n");
    std::thread::sleep(Duration::from_secs(8));
    site.publish(4, &[("nid00001", 0.0), ("nid00002", 0.0), ("nid00004", 2.0), ("nid00005", 0.0)]);
    let (_, found) = site.until(|found| has(found, "warn", "nid00003 lustre_client (for"));
    assert!(has(&found, "warn", "ldms.vmstat: none of 3 sampled rows"));
    assert!(has(&found, "warn", "nid00004 2.0 s ahead"));

    // Stages that do not run.
    site.stop_run();
    site.publish(5, &nodes);
    let (well, found) = site.doctor();
    assert!(!well);
    assert!(has(&found, "error", "aggregator: does not run"));

    refuses_state_of_another_version(&mut site);
    continues_with_new_topics(&mut site);

    // No database: doctor checks the rest, and reports what it could not check.
    site.postgres.command("stop");
    let (well, found) = site.doctor();
    assert!(!well);
    assert!(has(&found, "error", "the database does not answer"));
    assert!(has(&found, "warn", "not checked: the database does not answer"));
    assert!(has(&found, "ok", "1 broker answers"));

    // No broker.
    site.kafka.command("stop");
    let begun = Instant::now();
    let (well, found) = site.doctor();
    assert!(!well);
    assert!(has(&found, "error", "no broker answers at 127.0.0.1"));
    assert!(has(&found, "warn", "not checked: the broker does not answer"));
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn invalid_configuration_is_reported_and_nothing_else_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tailback.toml");
    std::fs::write(&file, "[kafka]\nbrokerz = [\"secret:9092\"]\n").unwrap();
    let output = Command::new(crate::TAILBACK).args(["doctor", "--config"]).arg(&file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success());
    assert!(text.contains("ERROR") && text.contains("brokerz") && text.contains("not checked"), "{text}");
    assert!(text.trim_end().ends_with("0 ok, 1 warning, 1 error"), "{text}");
}
