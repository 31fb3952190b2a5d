//! A real ldmsd with the generated files: it accepts every one of them, and rows go from samplers through both levels
//! to files that our decoder reads.
//!
//! ldmsd is `TAILBACK_LDMSD`, else the one in `PATH`, else `/opt/ovis/sbin/ldmsd`. Without one the tests are
//! skipped. Kafka and the schema registry come from `tests/services`.

mod daemon;
mod hardware;
mod kafka;
mod seen;
mod site;
mod streams;

use daemon::{Daemon, ldmsd};
use seen::Seen;
use site::{Has, Installed};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::skip::skip_part;

/// Time for daemons to start, connect and deliver, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(180);
/// Rows of each set that are waited for.
const ROWS: usize = 6;

#[test]
fn ldmsd_accepts_every_generated_file() {
    let Some(program) = ldmsd() else { return };
    let has = has(&program);
    for name in ["aries", "infiniband", "slingshot"].into_iter().filter(|name| has.aries || *name != "aries")
    {
        let installed = Installed::good(name);
        for (what, arguments) in installed.commands() {
            let text = std::fs::read_to_string(arguments.last().unwrap()).unwrap();
            if text.contains("store_avro_kafka") && !has.kafka {
                continue;
            }
            let refusal = daemon::refusal(&program, &arguments, &installed);
            assert_eq!(refusal, None, "{name}: {what}");
        }
    }
}

#[test]
fn rows_go_through_both_levels_to_files_that_our_decoder_reads() {
    let Some(program) = ldmsd() else { return };
    let has = has(&program);
    let installed = Installed::lab(has, "format = \"csv\"");
    let daemons: Vec<Daemon> = installed
        .commands()
        .iter()
        .map(|(_, arguments)| Daemon::start(&program, arguments, &installed))
        .collect();
    let csv = installed.folder().join("csv/lab");
    let schemas = site::schemas(has);
    let begin = Instant::now();
    while !schemas.iter().all(|(schema, producers)| rows(&csv, schema, *producers)) {
        for daemon in &daemons {
            daemon.assert_running();
        }
        assert!(begin.elapsed() < TIMEOUT, "not all of {schemas:?} came:\n{}", daemon::logs(&daemons));
        std::thread::sleep(Duration::from_millis(200));
    }
    drop(daemons);
    decoded(&csv, &schemas, has);
}

/// What can be tried here.
fn has(program: &Path) -> Has {
    let aries = daemon::has_plugin(program, "aries_rtr_mmr");
    if !aries {
        skip_part("this ldmsd has no aries_rtr_mmr (it needs Cray's libgpcd): no routers");
    }
    let servers = daemon::has_mounts();
    if !servers {
        skip_part("this user may not mount below /proc/fs: no Lustre servers");
    }
    let kafka = daemon::has_plugin(program, "store_avro_kafka");
    if !kafka {
        skip_part("this ldmsd has no store_avro_kafka (it needs librdkafka, avro-c and libserdes)");
    }
    Has { aries, servers, kafka }
}

fn start(program: &Path, installed: &Installed) -> Vec<Daemon> {
    installed.commands().iter().map(|(_, arguments)| Daemon::start(program, arguments, installed)).collect()
}

/// Whether each of `producers` sent [`ROWS`] rows.
fn rows(csv: &Path, schema: &str, producers: usize) -> bool {
    let Ok(text) = std::fs::read_to_string(csv.join(schema)) else { return false };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in text.lines() {
        if let Some(producer) = line.split(',').find(|field| field.trim_matches('"').starts_with("127.0.0."))
        {
            *counts.entry(producer).or_default() += 1;
        }
    }
    counts.len() == producers && counts.values().all(|count| *count >= ROWS)
}

fn decoded(csv: &Path, schemas: &[(&'static str, usize)], has: Has) {
    let files: Vec<PathBuf> = schemas.iter().map(|(schema, _)| csv.join(schema)).collect();
    let mut replay = aggregator::Replay::open(&files).unwrap();
    let (mut decoder, mut out) = (aggregator::Decoder::default(), aggregator::Decoded::default());
    let mut seen = Seen::default();
    while replay.next_batch(&mut decoder, &mut out).unwrap() {
        seen.take(&decoder, &out);
    }
    assert_eq!(decoder.drops().total(), 0, "{:?}", decoder.examples());
    assert_eq!(seen.series, site::series(has));
    seen.check();
}
