//! One host under several names: with its domain or without, in capitals or not.

use std::path::Path;
use std::process::Command;

/// Four minutes of a client called `producer`, which writes 2 GB/s and in the second half a quarter of that.
fn client(producer: &str) -> String {
    let mut written = 0_u64;
    let row = |second: u64| {
        written += if second < 120 { 2_000_000_000 } else { 500_000_000 };
        let time = 1_795_217_400 + second;
        format!(
            r#"{{"timestamp":{time}.002,"producer":"{producer}","fs_name":"scratch","llite":"scratch-1","write_bytes.sum":{written}}}"#
        )
    };
    (0..240).map(row).collect::<Vec<_>>().join("\n") + "\n"
}

/// Replays rows with a job on `node`: the job's result, and what a person reads.
fn replayed(rows: &str, node: &str, more: &[&str]) -> (serde_json::Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("rows.jsonl", rows);
    let job = format!(
        r#"{{"job_id":"42","user":"alice","name":"ior","nodes":["{node}"],"start":1795217400,"end":1795217639}}"#
    );
    write("jobs.jsonl", &job);
    let mut command = Command::new(crate::TAILBACK);
    command.current_dir(folder.path()).args(["replay", "rows.jsonl", "--jobs", "jobs.jsonl", "--out", "out"]);
    let done = command.arg("--no-store").args(more).output().unwrap();
    let error = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{error}");
    let jobs = std::fs::read_to_string(folder.path().join("out/jobs.jsonl")).unwrap();
    (serde_json::from_str(jobs.lines().next().unwrap()).unwrap(), error)
}

#[test]
fn job_finds_its_node_whatever_the_domain_and_case() {
    let rows = [client("node001.cluster.example"), client("node002.cluster.example")].concat();
    for node in ["node001", "NODE001", "node001.cluster.example"] {
        let (job, error) = replayed(&rows, node, &[]);
        let lost_s = job["slowdown_s"].as_f64().unwrap();
        assert!(
            (80.0..95.0).contains(&lost_s) && !error.contains("jobs without rows"),
            "{node}: {job} {error}"
        );
    }
    let (job, _) = replayed(&client("NODE001"), "node001.cluster.example", &[]);
    assert!(job["completeness"].as_f64().unwrap() > 0.99, "{job}");
}

#[test]
fn name_that_may_be_either_of_two_hosts_is_none_of_them() {
    let rows = [client("node001.a.example"), client("node001.b.example")].concat();
    let (job, error) = replayed(&rows, "node001", &[]);
    assert_eq!(job["completeness"].as_f64(), Some(0.0), "{job}");
    assert!(error.contains("jobs without rows of any node: 1 (42 on node001)"), "{error}");
    let (job, _) = replayed(&client("node001.a.example"), "node001.c.example", &[]);
    assert_eq!(job["completeness"].as_f64(), Some(0.0), "of another domain: {job}");
    let (job, _) = replayed(&rows, "node001.b.example", &[]);
    assert!(job["completeness"].as_f64().unwrap() > 0.99, "{job}");
}

#[test]
fn replay_names_jobs_and_ports_that_fit_nothing() {
    let port = r#"{"timestamp":1795217400.002,"producer":"elsewhere","port_xmit_wait#mlx5_0.1":1,"port_xmit_data#mlx5_0.1":1}"#;
    let rows = [client("node001"), port.to_string() + "\n"].concat();
    let topology = support::paths::root().join("schemas/topology/tests/readers/fixtures/pt_pt.csv");
    let more = ["--topology", topology.to_str().unwrap()];
    assert!(Path::new(more[1]).exists());
    let (_, error) = replayed(&rows, "node009", &more);
    for wanted in [
        "jobs without rows of any node: 1 (42 on node009); rows name nodes as in \"node001\"",
        "ports that are not in the topology: 1 (ib_wait_ratio/elsewhere/mlx5_0.1)",
    ] {
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn row_with_a_number_alone_is_of_the_host_that_ends_with_it() {
    let rows = client("n0007").replace(r#""producer":"n0007""#, r#""component_id":7"#);
    let (job, error) = replayed(&rows, "n0007", &[]);
    assert!(job["completeness"].as_f64().unwrap() > 0.99, "{job} {error}");
}
