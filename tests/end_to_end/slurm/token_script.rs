//! The script that gives jobs their tokens, as slurmd calls it: prolog, task prolog, epilog.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use support::paths::root;

const SOURCE: &str = "deploy/slurm/tailback-job-token";

/// What the script prints in a context of Slurm.
fn script(context: &str, conf: &Path, end_s: &str) -> String {
    let path = format!("{}:/usr/bin:/bin", Path::new(crate::TAILBACK).parent().unwrap().display());
    let mut command = Command::new(root().join(SOURCE));
    command.env_clear().env("PATH", path).env("TAILBACK_TOKEN_CONF", conf);
    command.env("SLURM_SCRIPT_CONTEXT", context).env("SLURM_JOB_ID", "1234").env("SLURM_JOB_END_TIME", end_s);
    let uid = std::fs::metadata(root()).unwrap().uid();
    let output = command.env("SLURM_JOB_UID", uid.to_string()).output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tasks_have_the_token_of_their_job_until_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let [conf, key, tokens] = ["conf", "key", "tokens"].map(|name| folder.path().join(name));
    std::fs::write(&key, "0123456789abcdef".repeat(2)).unwrap();
    let settings = format!(
        "TAILBACK_URL=http://10.0.0.5:9464\nTAILBACK_KEY_FILE={}\nTAILBACK_TOKEN_DIR={}\n",
        key.display(),
        tokens.display()
    );
    std::fs::write(&conf, settings).unwrap();
    let now_s = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let end_s = (now_s + 1_000).to_string();
    assert_eq!(script("prolog_slurmd", &conf, &end_s), "");
    let file = tokens.join("1234");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let set = script("prolog_task", &conf, &end_s);
    let set: BTreeMap<&str, &str> =
        set.lines().map(|line| line.strip_prefix("export ").unwrap().split_once('=').unwrap()).collect();
    assert_eq!((set["TAILBACK_URL"], set["TAILBACK_JOB_ID"]), ("http://10.0.0.5:9464", "1234"));
    let until_s: u64 = set["TAILBACK_JOB_TOKEN"].split('.').nth(2).unwrap().parse().unwrap();
    // An hour after the end of the job; the script runs for less than ten minutes.
    assert!((now_s + 4_600..now_s + 5_200).contains(&until_s), "{set:?}");
    assert_eq!(script("epilog_slurmd", &conf, &end_s), "");
    assert!(!file.exists());
}

#[test]
fn the_script_succeeds_whatever_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("conf");
    for context in ["prolog_slurmd", "prolog_task", "epilog_slurmd", "unknown"] {
        assert_eq!(script(context, &conf, ""), "");
    }
    let settings =
        format!("TAILBACK_KEY_FILE=/nowhere/key\nTAILBACK_TOKEN_DIR={}\n", folder.path().display());
    std::fs::write(&conf, settings).unwrap();
    assert_eq!(script("prolog_slurmd", &conf, ""), "");
    let set = script("prolog_task", &conf, "");
    assert!(!set.contains("TAILBACK_JOB_TOKEN"), "{set}");
}
