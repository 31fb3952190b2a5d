//! From recorded rows of ports to regions and their causes, on small fat trees of the lab. Uplinks fail, and only the
//! ports' counters show it. Another test changes `[fabric]` of the configuration.

use samplers::lab::scenarios::{DURATION_S, ScenarioKind, labelled};
use samplers::lab::{Lab, put_port_rows};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use topology::PlainTopology;

/// Writes rows, jobs and topology of a case as a site would have them.
fn record(folder: &Path, kind: ScenarioKind, seed: u64) {
    let mut lab = Lab::new(labelled(kind, seed).unwrap().setup).unwrap();
    let topology = serde_json::to_string(&PlainTopology::of(lab.topology())).unwrap();
    std::fs::write(folder.join("topology.json"), topology).unwrap();
    let (mut rows, mut jobs) = (Vec::new(), std::fs::File::create(folder.join("jobs.jsonl")).unwrap());
    for _ in 0..DURATION_S {
        let tick = lab.step();
        put_port_rows(&mut rows, tick.sources, tick.counters);
        for job in tick.jobs {
            let line = serde_json::json!({
                "job_id": job.job_id, "user": job.user, "name": job.name, "nodes": job.nodes,
                "start": job.start.seconds(), "end": job.end.map(schemas::Time::seconds),
            });
            writeln!(jobs, "{line}").unwrap();
        }
    }
    std::fs::write(folder.join("ports.jsonl"), rows).unwrap();
}

/// Causes of the regions that a replay of the recorded rows finds, with `fabric` as the `[fabric]` section.
fn causes(folder: &Path, fabric: &str) -> BTreeSet<String> {
    let (rows, out, config) = (folder.join("ports.jsonl"), folder.join("out"), folder.join("tailback.toml"));
    std::fs::write(&config, format!("[fabric]\n{fabric}\n")).unwrap();
    let _ = std::fs::remove_dir_all(&out);
    let output = Command::new(crate::TAILBACK)
        .arg("replay")
        .arg(rows)
        .arg("--topology")
        .arg(folder.join("topology.json"))
        .arg("--config")
        .arg(config)
        .arg("--jobs")
        .arg(folder.join("jobs.jsonl"))
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let dropped = std::fs::read_to_string(out.join("dropped.json")).unwrap();
    assert!(!dropped.contains("bad_value") && !dropped.contains("missing_column"), "{dropped}");
    let store = rusqlite::Connection::open(out.join("tailback.db")).unwrap();
    let mut query = store.prepare("SELECT cause FROM regions").unwrap();
    let causes = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    causes.collect::<Result<_, _>>().unwrap()
}

#[test]
fn failure_in_uplink_counters_makes_the_region_failover_induced() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), ScenarioKind::FailoverInduced, 1);
    assert_eq!(causes(folder.path(), ""), BTreeSet::from(["failover_induced".to_string()]));
}

#[test]
fn failure_is_unknown_without_these_counters() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), ScenarioKind::FailoverInduced, 1);
    let rows = std::fs::read_to_string(folder.path().join("ports.jsonl")).unwrap();
    let silent = rows.replace("LinkDownedCounter", "other").replace("link_downed", "other");
    std::fs::write(folder.path().join("ports.jsonl"), silent).unwrap();
    let causes = causes(folder.path(), "");
    assert!(!causes.is_empty() && !causes.contains("failover_induced"), "{causes:?}");
}

#[test]
fn a_lower_known_ratio_makes_regions_of_traffic_that_hardly_stalls() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), ScenarioKind::TrafficWithoutStalls, 1);
    assert_eq!(causes(folder.path(), ""), BTreeSet::new());
    assert_ne!(causes(folder.path(), "known_ratio = 0.01"), BTreeSet::new());
}
