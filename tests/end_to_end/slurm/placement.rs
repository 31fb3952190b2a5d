//! Advice before placement: `tailback-placement` beside a server with three runs of an application, and `job_submit.lua` in a real Slurm.

use crate::serve::serving::Serving;
use rusqlite::Connection;
use schemas::{Action, Advice, Notice, NoticeKind, Severity};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};
use store::sqlite::{Retention, Store};
use support::answers::batch;
use support::documents;
use support::paths::root;
use support::service::{Service, open_folder};

const SCRIPT: &str = "deploy/slurm/tailback-placement";
/// The lower end of what `cfd` lost is 1.9% of its run time.
const SETTINGS: &str = "TAILBACK_LOST_LEAST=0.01\nTAILBACK_CHANGES_MAX=2\n";
const LIST: &str = "# application\ncfd switches=1 wait_s=120 prefer=quiet\nother switches=1\n";

/// A store with an incident whose advice names nodes, a server, and the script's settings.
struct Advised {
    _serving: Serving,
    folder: tempfile::TempDir,
}

/// A notice of contended links behind which these nodes are.
fn notice(nodes: &[&str]) -> Notice {
    let advice = Advice {
        valid_until_s: 1_795_169_900.0,
        links: vec!["aries_stall_ratio/c0-0c0s0/r0c0".to_string()],
        nodes: nodes.iter().map(ToString::to_string).collect(),
        jobs: Vec::new(),
        causes: Vec::new(),
        action: Action::SpreadPlacement,
        expected_relief: 0.5,
        confidence: 0.75,
    };
    Notice {
        version: 1,
        key: "0123456789abcdef.1".to_string(),
        kind: NoticeKind::Firing,
        incident: "0123456789abcdef".to_string(),
        sequence: 1,
        rule: "region_contended".to_string(),
        severity: Severity::Warning,
        subject: "router c0-0c0s0".to_string(),
        labels: BTreeMap::new(),
        started_s: 1_795_168_900.0,
        fired_s: 1_795_168_960.0,
        resolved_s: None,
        summary: "router c0-0c0s0 is contended".to_string(),
        description: String::new(),
        hint: String::new(),
        members: 2,
        slowdown_s: 60.0,
        slowdown_lo_s: 45.0,
        slowdown_hi_s: 75.0,
        completeness: 1.0,
        advice,
    }
}

impl Advised {
    fn start() -> Advised {
        let folder = open_folder();
        let path = folder.path().join("tailback.db");
        Store::open(&path, Retention::default()).unwrap().commit(&batch("ann", "ben"), &[]).unwrap();
        let token = folder.path().join("token");
        std::fs::write(&token, "0123456789abcdef\n").unwrap();
        let mut command = Command::new(crate::TAILBACK);
        command.args(["serve", "--listen", "127.0.0.1:0", "--store"]).arg(&path);
        command.arg("--token-file").arg(&token);
        let (serving, page) = Serving::of(command).page_of();
        let advised = Advised { _serving: serving, folder };
        let settings = format!(
            "TAILBACK_URL={}\nTAILBACK_TOKEN_FILE={}\nTAILBACK_APPLICATIONS={}\nTAILBACK_PLACEMENT_FILE={}\nTAILBACK_WEIGHTS_FILE={}\n{SETTINGS}",
            page.url("").trim_end_matches("/api/v1/"),
            token.display(),
            advised.path("list").display(),
            advised.path("advice").display(),
            advised.path("weights").display(),
        );
        std::fs::write(advised.path("conf"), settings).unwrap();
        std::fs::write(advised.path("list"), LIST).unwrap();
        advised
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The only incident fires for `nodes`; without nodes it is over.
    fn contended(&self, nodes: &[&str]) {
        let store = Connection::open(self.path("tailback.db")).unwrap();
        store.execute("DELETE FROM alert_incidents", []).unwrap();
        if !nodes.is_empty() {
            let sql = "INSERT INTO alert_incidents VALUES ('0123456789abcdef', 'region_contended', 'warning', 'router c0-0c0s0',
                       'firing', 1795168900, 1795168960, NULL, 1795169900, 1, 'spread_placement', 'a sentence', ?1)";
            store.execute(sql, [serde_json::to_string(&notice(nodes)).unwrap()]).unwrap();
        }
    }

    /// The script's output with Slurm's configuration.
    fn run(&self, slurm_conf: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(root().join(SCRIPT));
        command.arg("--config").arg(self.path("conf")).args(arguments).env("SLURM_CONF", slurm_conf);
        command.output().unwrap()
    }

    /// What it prints when it succeeds.
    fn printed(&self, slurm_conf: &str, arguments: &[&str]) -> String {
        let output = self.run(slurm_conf, arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// A Slurm whose job_submit.lua is the deployed one. It ends before its folder is removed: the order of the fields.
struct Submitting {
    slurm: Service,
    folder: tempfile::TempDir,
}

impl Submitting {
    /// The deployed script as a site sets it up: the path of the file, and whether it only logs.
    fn script(advice: &Path, dry_run: bool) -> String {
        let text = std::fs::read_to_string(root().join("deploy/slurm/job_submit.lua")).unwrap();
        let set = |text: String, from: &str, to: &str| {
            assert_eq!(text.matches(from).count(), 1, "{from}");
            text.replace(from, to)
        };
        let text = set(text, "/var/lib/tailback-placement/advice", advice.to_str().unwrap());
        set(text, "local DRY_RUN = true", &format!("local DRY_RUN = {dry_run}"))
    }

    fn start(advice: &Path) -> Option<Submitting> {
        let folder = open_folder();
        let script = folder.path().join("job_submit.lua");
        std::fs::write(&script, Submitting::script(advice, true)).unwrap();
        let variables: [(&str, &Path); 1] = [("TAILBACK_JOB_SUBMIT", &script)];
        let slurm = Service::start_in("slurm", &folder.path().join("slurm"), &[], &variables)?;
        Some(Submitting { slurm, folder })
    }

    fn slurm(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        command.args(arguments).env("SLURM_CONF", &self.slurm.address).current_dir(self.folder.path());
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{program} {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    }

    /// Submits a held job; what Slurm shows of it.
    fn job(&self, options: &[&str]) -> String {
        let mut arguments = vec!["--parsable", "--hold", "-o", "/dev/null", "-N2"];
        arguments.extend(options);
        arguments.extend(["--wrap", "true"]);
        let job = self.slurm("sbatch", &arguments);
        self.slurm("scontrol", &["show", "job", "-o", &job])
    }

    /// The script is read again when it is younger than the last one: a minute, whatever the clock's step.
    fn only_logs(&self, advice: &Path, dry_run: bool) {
        let path = self.folder.path().join("slurm/job_submit.lua");
        std::fs::write(&path, Submitting::script(advice, dry_run)).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    }

    fn weights(&self) -> Vec<String> {
        self.slurm("sinfo", &["-h", "-N", "-o", "%N %w"]).lines().map(str::to_string).collect()
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("slurm/log/slurmctld.log")).unwrap()
    }
}

const EQUAL: [&str; 4] = ["tb01 1", "tb02 1", "tb03 1", "tb04 1"];

fn has(shown: &str, word: &str) -> bool {
    shown.split_whitespace().any(|found| found == word)
}

fn is_unchanged(shown: &str) -> bool {
    !["Switches=", "Prefer=", "AdminComment="].iter().any(|key| shown.contains(key))
}

#[test]
fn jobs_of_a_suffering_application_get_what_its_runs_speak_for() {
    let advised = Advised::start();
    let Some(slurm) = Submitting::start(&advised.path("advice")) else { return };
    let conf = slurm.slurm.address.as_str();
    assert!(is_unchanged(&slurm.job(&["-J", "cfd"])), "there is no file yet");

    advised.contended(&["tb01", "tb02", "tb03"]);
    let printed = advised.printed(conf, &["--weights"]);
    assert!(printed.contains("would write ") && printed.contains("would run: scontrol update "), "{printed}");
    assert!(!advised.path("advice").exists() && !advised.path("weights").exists(), "the dry run wrote");
    assert_eq!(slurm.weights(), EQUAL);

    let printed = advised.printed(conf, &["--apply"]);
    assert!(printed.contains("other: nothing; unknown: 0 of at least 3 runs were judged"), "{printed}");
    assert!(is_unchanged(&slurm.job(&["-J", "cfd"])), "job_submit.lua only logs");
    assert!(
        slurm.log().contains(
            "dry run: tailback-placement: switches=1 wait_s=120 prefer=quiet, lost 2.5% [1.9%, 3.1%]"
        )
    );

    slurm.only_logs(&advised.path("advice"), false);
    let job = slurm.job(&["-J", "cfd"]);
    assert!(has(&job, "Switches=1@00:02:00") && has(&job, "Prefer=quiet"), "{job}");
    assert!(
        job.contains("AdminComment=tailback-placement: switches=1 wait_s=120 prefer=quiet, lost 2.5%"),
        "{job}"
    );
    assert!(is_unchanged(&slurm.job(&["-J", "other"])), "nothing is known of it");
    let own = slurm.job(&["-J", "cfd", "--switches", "2@1:00", "-C", "quiet"]);
    assert!(
        has(&own, "Switches=2@00:01:00") && !own.contains("Prefer="),
        "what the user asked for stays: {own}"
    );

    let file = std::fs::read_to_string(advised.path("advice")).unwrap();
    let (first, rest) = file.split_once('\n').unwrap();
    let written_s: u64 = first.rsplit(' ').next().unwrap().parse().unwrap();
    for broken in
        [format!("tailback-placement 1 {}\n{rest}", written_s - 3_600), rest.to_string(), "x".repeat(70_000)]
    {
        std::fs::write(advised.path("advice"), broken).unwrap();
        assert!(is_unchanged(&slurm.job(&["-J", "cfd"])));
    }
}

#[test]
fn nodes_behind_contended_links_are_used_last_until_it_is_over() {
    let advised = Advised::start();
    let Some(slurm) = Submitting::start(&advised.path("advice")) else { return };
    let conf = slurm.slurm.address.as_str();
    slurm.slurm("scontrol", &["update", "NodeName=tb02", "Weight=5"]);
    advised.contended(&["tb01", "tb02", "tb03", "unknown"]);
    let printed = advised.printed(conf, &["--weights", "--apply"]);
    assert!(printed.contains("1 more nodes wait for the next run: TAILBACK_CHANGES_MAX is 2"), "{printed}");
    assert_eq!(slurm.weights(), ["tb01 1001", "tb02 1005", "tb03 1", "tb04 1"]);
    advised.printed(conf, &["--weights", "--apply"]);
    assert_eq!(slurm.weights(), ["tb01 1001", "tb02 1005", "tb03 1001", "tb04 1"]);
    let used = slurm.slurm("srun", &["-N1", "-J", "other", "printenv", "SLURM_JOB_NODELIST"]);
    assert_eq!(used, "tb04");

    // An administrator's weight stays.
    slurm.slurm("scontrol", &["update", "NodeName=tb03", "Weight=7"]);
    advised.contended(&["tb02"]);
    advised.printed(conf, &["--weights", "--apply"]);
    assert_eq!(slurm.weights(), ["tb01 1", "tb02 1005", "tb03 7", "tb04 1"]);
    advised.contended(&[]);
    advised.printed(conf, &["--weights", "--apply"]);
    assert_eq!(slurm.weights(), ["tb01 1", "tb02 5", "tb03 7", "tb04 1"]);
    assert_eq!(std::fs::read_to_string(advised.path("weights")).unwrap(), "{}");
}

#[test]
fn a_server_that_is_away_changes_nothing_and_expired_weights_are_restored() {
    let advised = Advised::start();
    let Some(slurm) = Submitting::start(&advised.path("advice")) else { return };
    let conf = slurm.slurm.address.as_str();
    let settings = std::fs::read_to_string(advised.path("conf")).unwrap();
    let away = settings.replacen("TAILBACK_URL=", "TAILBACK_URL=http://127.0.0.1:1/", 1);
    std::fs::write(advised.path("conf"), away).unwrap();
    slurm.slurm("scontrol", &["update", "NodeName=tb01,tb02", "Weight=1001"]);
    std::fs::write(
        advised.path("weights"),
        r#"{"tb01": [1, 1001, 1000.0], "tb02": [1, 1001, 4000000000.0]}"#,
    )
    .unwrap();
    let output = advised.run(conf, &["--weights", "--apply"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && error.contains("does not answer"), "{error}");
    assert!(!advised.path("advice").exists());
    assert_eq!(slurm.weights(), ["tb01 1", "tb02 1001", "tb03 1", "tb04 1"]);
}

#[test]
fn two_runs_at_once_do_not_both_change() {
    let advised = Advised::start();
    let mut command = Command::new("flock");
    command.arg(advised.path("weights.lock")).arg(root().join(SCRIPT)).arg("--apply");
    let output = command.arg("--config").arg(advised.path("conf")).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && error.contains("another run holds "), "{error}");
    assert!(!advised.path("advice").exists());
}

#[test]
fn settings_and_lists_with_mistakes_are_refused_with_a_sentence() {
    let advised = Advised::start();
    let good = std::fs::read_to_string(advised.path("conf")).unwrap();
    for (name, text, said) in [
        ("conf", "TAILBACK_URL=monitor\n", "TAILBACK_URL is 'monitor': give http:// or https://"),
        ("conf", "TAILBACK_URI=http://a\n", "line 1: give KEY=VALUE with one of"),
        (
            "conf",
            "TAILBACK_URL=http://a\nTAILBACK_CHANGES_MAX=0\n",
            "TAILBACK_CHANGES_MAX is '0': give a number from 1 to",
        ),
        ("list", "cfd switches=many\n", "line 1: switches is 'many': give a number from 1 to 1000"),
        (
            "list",
            "cfd\n'a\tb' prefer=quiet\n",
            "line 2: a name has 1 to 128 characters, and no control characters",
        ),
        ("list", "cfd prefer=a|b\n", "'prefer=a|b' is none of"),
    ] {
        std::fs::write(advised.path("conf"), &good).unwrap();
        std::fs::write(advised.path(name), text).unwrap();
        let output = advised.run("/nowhere", &["--apply"]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && error.contains(said), "{text}: {error}");
        assert!(!error.contains("Traceback") && !advised.path("advice").exists(), "{error}");
    }
}

#[test]
fn operations_sets_up_the_scripts_where_both_packages_put_them() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let page = documents::block("docs/operations.md", "cp /usr/lib/tailback/slurm/job_submit.lua");
    for script in [SCRIPT, "deploy/slurm/job_submit.lua"] {
        assert_eq!(manifest.matches(&format!("\"{script}\"")).count(), 2, "{script}");
        let place = format!("/usr/lib/tailback/slurm/{}", script.rsplit('/').next().unwrap());
        assert!(page.contains(&place), "{place}: {page}");
    }
}
