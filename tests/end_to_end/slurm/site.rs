//! Slurm, Kafka, PostgreSQL and a `tailback run` that receives job events from Slurm's scripts; all end with the test.

use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::documents;
use support::paths::{programs, root, tailback};
use support::service::{Service, open_folder};

const TOKEN: &str = "a-token-for-tests-only";
const KEY: &str = "0123456789abcdef0123456789abcdef";

/// A row of `jobs` with its nodes.
#[derive(Debug)]
pub struct JobRow {
    pub job_id: String,
    pub label: String,
    pub user: String,
    pub name: String,
    pub start_s: f64,
    pub end_s: Option<f64>,
    pub end_presumed: bool,
    pub nodes: Vec<String>,
}

/// All services of the test.
pub struct Site {
    slurm: Service,
    kafka: Service,
    postgres: Service,
    folder: tempfile::TempDir,
    port: u16,
    slurm_conf: PathBuf,
    run: Option<Child>,
}

/// Lines of the golden file.
pub fn jobcomp_messages() -> Vec<String> {
    let file = root().join("tests/fixtures/slurm/jobcomp_kafka.jsonl");
    std::fs::read_to_string(file).unwrap().lines().map(str::to_string).collect()
}

impl Site {
    /// Starts everything; records a skip and returns `None` where there is no Slurm.
    pub fn start() -> Option<Site> {
        let folder = open_folder();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let script = Site::script(folder.path(), port);
        let on_nodes = Site::on_nodes(folder.path(), port);
        let variables: [(&str, &Path); 3] =
            [("TAILBACK_PROLOG", &script), ("TAILBACK_EPILOG", &script), ("TAILBACK_ON_NODES", &on_nodes)];
        let slurm = folder.path().join("slurm");
        let mut site = Site {
            slurm_conf: slurm.join("slurm.conf"),
            folder,
            slurm: Service::start_in("slurm", &slurm, &[], &variables)?,
            kafka: Service::start("kafka")?,
            postgres: Service::start("postgres")?,
            port,
            run: None,
        };
        site.run_tailback();
        Some(site)
    }

    /// The script as a site sets it up; only the path of its settings differs.
    fn script(folder: &Path, port: u16) -> PathBuf {
        let (conf, token) = (folder.join("slurm-job.conf"), folder.join("jobs.token"));
        std::fs::write(&token, TOKEN).unwrap();
        std::fs::set_permissions(&token, PermissionsExt::from_mode(0o600)).unwrap();
        let url = format!("http://127.0.0.1:{port}/api/v1/jobs");
        let settings = format!("TAILBACK_URL={url}\nTAILBACK_TOKEN_FILE={}\n", token.display());
        std::fs::write(&conf, settings).unwrap();
        Site::deployed(folder, "tailback-job", &format!("TAILBACK_JOB_CONF={}", conf.display()))
    }

    /// The script that gives jobs their tokens, in the same way.
    fn on_nodes(folder: &Path, port: u16) -> PathBuf {
        let (conf, key) = (folder.join("job-token.conf"), folder.join("job-token.key"));
        std::fs::write(&key, KEY).unwrap();
        std::fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).unwrap();
        let (key, tokens) = (key.display(), folder.join("tokens"));
        let url = format!("http://127.0.0.1:{port}");
        let settings =
            format!("TAILBACK_URL={url}\nTAILBACK_KEY_FILE={key}\nTAILBACK_TOKEN_DIR={}\n", tokens.display());
        std::fs::write(&conf, settings).unwrap();
        let variables =
            format!("PATH={}:/usr/bin:/bin TAILBACK_TOKEN_CONF={}", programs().display(), conf.display());
        Site::deployed(folder, "tailback-job-token", &variables)
    }

    /// A deployed script with variables.
    fn deployed(folder: &Path, name: &str, variables: &str) -> PathBuf {
        let (script, deployed) = (folder.join(name), root().join("deploy/slurm").join(name));
        std::fs::write(&script, format!("#!/bin/sh\n{variables} exec {}\n", deployed.display())).unwrap();
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        script
    }

    fn run_tailback(&mut self) {
        let text = format!(
            "[kafka]\nbrokers = [{:?}]\npartitions = 2\n[database]\nurl = {:?}\ncommit_interval_ms = 100\n\
             [http]\nlisten = \"127.0.0.1:{}\"\njobs_token_file = {:?}\njob_token_key_file = {:?}\n[doctor]\ntimeout_s = 3.0\n",
            self.kafka.address,
            self.postgres.address,
            self.port,
            self.path("jobs.token"),
            self.path("job-token.key")
        );
        std::fs::write(self.path("tailback.toml"), text).unwrap();
        let migrated = self.tailback("migrate").output().unwrap();
        assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
        let log = std::fs::File::create(self.path("run.log")).unwrap();
        self.run = Some(self.tailback("run").stdout(Stdio::null()).stderr(log).spawn().unwrap());
        // The port opens some time after the start of the process.
        let answers = || std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok();
        self.until(Duration::from_secs(240), "tailback to listen", answers);
    }

    /// A file in the folder of the test, which jobs can reach.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command of the program with the site's configuration.
    pub fn tailback(&self, subcommand: &str) -> Command {
        let mut command = tailback();
        command.arg(subcommand).arg("--config").arg(self.path("tailback.toml"));
        command
    }

    /// Waits until `came`; fails with the logs after `timeout`.
    pub fn until(&self, timeout: Duration, what: &str, mut came: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !came() {
            let log = std::fs::read_to_string(self.path("run.log")).unwrap_or_default();
            let slurm = std::fs::read_to_string(self.path("slurm/log/slurmctld.log")).unwrap_or_default();
            assert!(begun.elapsed() < timeout, "timed out waiting for {what}\n{log}\n{slurm}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Runs one of Slurm's programs.
    pub fn slurm(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        command.args(arguments).env("SLURM_CONF", &self.slurm_conf).current_dir(self.folder.path());
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{program} {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    }

    /// Submits a job; its number.
    pub fn sbatch(&self, options: &[&str], what: &str) -> String {
        let mut arguments = vec!["--parsable", "-o", "/dev/null"];
        arguments.extend(options);
        arguments.extend(["--wrap", what]);
        self.slurm("sbatch", &arguments)
    }

    /// A job's state as Slurm names it.
    pub fn state(&self, job: &str) -> String {
        self.of_job(job, "JobState=")
    }

    /// The value of `key` in `scontrol show job`.
    fn of_job(&self, job: &str, key: &str) -> String {
        let shown = self.slurm("scontrol", &["show", "job", "-o", job]);
        let found = shown.split_whitespace().find_map(|word| word.strip_prefix(key));
        found.unwrap_or_else(|| panic!("no {key} in {shown}")).to_string()
    }

    /// Compares a row with the job's start and end in Slurm: whole seconds, and the script runs a little later.
    pub fn agrees(&self, row: &JobRow) {
        for (key, ours) in [("StartTime=", row.start_s), ("EndTime=", row.end_s.unwrap())] {
            let shown = self.of_job(&row.job_id, key);
            let date = Command::new("date").args(["-d", &shown, "+%s"]).output().unwrap();
            let slurms: f64 = String::from_utf8(date.stdout).unwrap().trim().parse().unwrap();
            assert!((ours - slurms).abs() <= 10.0, "{key}{shown} is {slurms} for Slurm, {ours} for {row:?}");
        }
    }

    /// Ends a node's slurmd and what it runs, as a crash would.
    pub fn kill_node(&self, node: &str) {
        self.slurm.command(&format!("kill-node {node}"));
    }

    /// Messages into a topic.
    pub fn publish(&self, topic: &str, messages: &[String]) {
        let producer: BaseProducer =
            ClientConfig::new().set("bootstrap.servers", &self.kafka.address).create().unwrap();
        for message in messages {
            producer.send(BaseRecord::<(), str>::to(topic).payload(message)).unwrap();
        }
        producer.flush(Duration::from_secs(120)).unwrap();
    }

    /// Host and port of the broker.
    pub fn broker(&self) -> &str {
        &self.kafka.address
    }

    /// What a query of the database returns.
    pub fn query(&self, sql: &str) -> Vec<tokio_postgres::Row> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) =
                tokio_postgres::connect(&self.postgres.address, tokio_postgres::NoTls).await.unwrap();
            let connected = tokio::spawn(connection);
            let found = client.query(sql, &[]).await.unwrap();
            drop(client);
            connected.await.unwrap().unwrap();
            found
        })
    }

    /// All rows of jobs in the database.
    pub fn rows(&self) -> Vec<JobRow> {
        let row = |row: &tokio_postgres::Row| JobRow {
            job_id: row.get(0),
            label: row.get(1),
            user: row.get(2),
            name: row.get(3),
            start_s: row.get(4),
            end_s: row.get(5),
            end_presumed: row.get(6),
            nodes: row.get(7),
        };
        self.query(include_str!("jobs.sql")).iter().map(row).collect()
    }

    /// What doctor prints, as JSON, a finding a line.
    pub fn doctor(&self) -> String {
        let output = self.tailback("doctor").arg("--json").output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap();
        findings.iter().map(|finding| format!("{finding}\n")).collect()
    }

    /// Output of the documented `tailback report` for the job with this label.
    pub fn report(&self, label: &str) -> String {
        let command = documents::quoted("docs/install.md", "tailback report ");
        let here = command.replace("1234_7", label);
        assert_ne!(here, command);
        documents::printed(self.folder.path(), &format!("{here} --config tailback.toml"))
    }

    /// Output of the documented curl command that posts a job.
    pub fn curl(&self) -> String {
        let command = documents::block("docs/api.md", "curl -i");
        let here = command.replace("10.0.0.5:9464", &format!("127.0.0.1:{}", self.port));
        assert_ne!(here, command);
        documents::printed(self.folder.path(), &here)
    }

    /// Posts an event with the token, or without.
    pub fn post(&self, body: &str, with_token: bool) -> (u16, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let url = format!("http://127.0.0.1:{}/api/v1/jobs", self.port);
            let mut request = reqwest::Client::new().post(url).header("Content-Type", "application/json");
            if with_token {
                request = request.bearer_auth(TOKEN);
            }
            let answer = request.body(body.to_string()).send().await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        })
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(mut child) = self.run.take() {
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            let _ = child.wait();
        }
    }
}
