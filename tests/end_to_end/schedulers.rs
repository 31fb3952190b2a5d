//! What the hook for PBS and the journal's reader for Flux send, with their schedulers' interfaces made by hand.

use schemas::job_post::PostedJob;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use support::paths::root;

const TIMEOUT: Duration = Duration::from_secs(20);

/// A sender that keeps what it is given in a file.
struct Sender {
    folder: tempfile::TempDir,
}

impl Sender {
    fn new() -> Sender {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("sender");
        std::fs::write(&program, "#!/bin/sh\nprintf '%s\\n' \"$2\" >> \"$(dirname \"$0\")/sent\"\n").unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        Sender { folder }
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("sender")
    }

    /// Runs `script` with the interfaces in `fixture`; what it prints.
    fn run(&self, script: &str, fixture: &str, environment: &[(&str, &str)]) -> String {
        let mut command = Command::new("python3");
        command.arg(root().join(script)).env("PYTHONPATH", root().join("tests/fixtures").join(fixture));
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("TAILBACK_SENDER", self.program());
        let output = command.envs(environment.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The events, once there are so many.
    fn sent(&self, count: usize) -> Vec<PostedJob> {
        let begun = Instant::now();
        let read = || std::fs::read_to_string(self.folder.path().join("sent")).unwrap_or_default();
        while read().lines().count() < count && begun.elapsed() < TIMEOUT {
            std::thread::sleep(Duration::from_millis(20));
        }
        let events: Vec<PostedJob> = read().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(events.len(), count, "{events:?}");
        events
    }
}

fn nodes(job: &PostedJob) -> String {
    serde_json::to_string(&job.nodes).unwrap()
}

#[test]
fn hook_of_pbs_reports_a_job_once_and_accepts_it() {
    const HOOK: &str = "deploy/pbs/tailback_hook.py";
    let sender = Sender::new();
    assert_eq!(sender.run(HOOK, "pbs", &[("EVENT", "1")]), "accepted\n");
    sender.sent(1);
    assert_eq!(sender.run(HOOK, "pbs", &[("EVENT", "1"), ("FIRST_HOST", "0")]), "accepted\n");
    assert_eq!(sender.run(HOOK, "pbs", &[("EVENT", "2")]), "accepted\n");
    let [begun, over] = &sender.sent(2)[..] else { panic!() };
    assert_eq!(
        (begun.job_id.as_str(), begun.user.as_str(), begun.name.as_str()),
        ("1234[5].server", "ann", "a \"b\"")
    );
    assert_eq!(nodes(begun), r#"["node1","node2"]"#);
    assert_eq!((begun.start, begun.end), (Some(1_795_217_419.0), None));
    assert_eq!(over.start, begun.start);
    assert!(over.end.is_some());
    let away = [("EVENT", "1"), ("TAILBACK_SENDER", "/nowhere/sender")];
    assert!(sender.run(HOOK, "pbs", &away).ends_with("accepted\n"), "a job starts without Tailback");
}

#[test]
fn journal_of_flux_gives_starts_and_ends_of_jobs_that_ran() {
    let sender = Sender::new();
    sender.run("deploy/flux/tailback-flux", "flux", &[]);
    let mut sent = sender.sent(2);
    // They are sent side by side.
    sent.sort_by_key(|event| event.end.is_some());
    let [begun, over] = &sent[..] else { panic!() };
    assert_eq!(
        (begun.job_id.as_str(), begun.user.as_str(), begun.name.as_str()),
        ("ƒ22EmWZk1mkb", "root", "ior")
    );
    assert_eq!(nodes(begun), r#""node[1-2],node7""#);
    assert_eq!((begun.start, begun.end), (Some(1_795_217_419.25), None));
    assert_eq!((over.start, over.end), (begun.start, Some(1_795_217_500.5)));
}

#[test]
fn both_are_packaged_where_they_look_for_their_sender() {
    let manifest: toml::Table = std::fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let metadata = &manifest["package"]["metadata"];
    for script in ["deploy/pbs/tailback_hook.py", "deploy/flux/tailback-flux"] {
        let has = |list: &toml::Value, source: fn(&toml::Value) -> Option<&str>| {
            list["assets"].as_array().unwrap().iter().any(|asset| source(asset) == Some(script))
        };
        assert!(has(&metadata["deb"], |asset| asset[0].as_str()), "{script}");
        assert!(has(&metadata["generate-rpm"], |asset| asset["source"].as_str()), "{script}");
        let text = std::fs::read_to_string(root().join(script)).unwrap();
        assert!(text.contains("\"/usr/lib/tailback/slurm/tailback-job\""), "{script}");
    }
}
