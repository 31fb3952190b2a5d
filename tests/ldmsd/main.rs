//! A real ldmsd with the generated files: it accepts every one of them, and rows go from samplers through both levels
//! to files that our decoder reads.
//!
//! ldmsd is `TAILBACK_LDMSD`, else the one in `PATH`, else `/opt/ovis/sbin/ldmsd`. Without one the tests say that they
//! were skipped.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and says what it skips"
)]

mod daemon;
mod hardware;
mod site;

use daemon::{Daemon, ldmsd};
use site::Installed;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time for daemons to start, connect and deliver, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);
/// Rows of each set that are waited for.
const ROWS: usize = 6;

#[test]
fn ldmsd_accepts_every_generated_file() {
    let Some(program) = ldmsd() else { return };
    for name in ["aries", "infiniband", "slingshot"] {
        let installed = Installed::good(name);
        for (what, arguments) in installed.commands() {
            let refusal = daemon::refusal(&program, &arguments, &installed);
            assert_eq!(refusal, None, "{name}: {what}");
        }
    }
}

#[test]
fn rows_go_through_both_levels_to_files_that_our_decoder_reads() {
    let Some(program) = ldmsd() else { return };
    let aries = daemon::has_plugin(&program, "aries_rtr_mmr");
    if !aries {
        println!("this ldmsd has no aries_rtr_mmr (it needs Cray's libgpcd): routers are left out");
    }
    let installed = Installed::lab(aries, "format = \"csv\"");
    let daemons: Vec<Daemon> = installed
        .commands()
        .iter()
        .map(|(_, arguments)| Daemon::start(&program, arguments, &installed))
        .collect();
    let csv = installed.folder().join("csv/lab");
    let schemas = site::schemas(aries);
    let begin = Instant::now();
    while !schemas.iter().all(|(schema, producers)| rows(&csv, schema, *producers)) {
        for daemon in &daemons {
            daemon.assert_running();
        }
        assert!(begin.elapsed() < PATIENCE, "not all of {schemas:?} came:\n{}", daemon::logs(&daemons));
        std::thread::sleep(Duration::from_millis(200));
    }
    drop(daemons);
    decoded(&csv, &schemas, aries);
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

fn decoded(csv: &Path, schemas: &[(&'static str, usize)], aries: bool) {
    // No metric of Tailback uses Slingshot yet; its rows were seen above.
    let known = schemas.iter().filter(|(schema, _)| *schema != "slingshot");
    let files: Vec<PathBuf> = known.map(|(schema, _)| csv.join(schema)).collect();
    let mut replay = aggregator::Replay::open(&files).unwrap();
    let (mut decoder, mut out) = (aggregator::Decoder::default(), aggregator::Decoded::default());
    let mut times: BTreeMap<(String, String), Vec<i64>> = BTreeMap::new();
    let mut series = BTreeSet::new();
    while replay.next_batch(&mut decoder, &mut out).unwrap() {
        for (source, time, counters) in out.counters.rows() {
            let source = decoder.sources().get(source).unwrap();
            if source.schema.as_str() == "lustre_client" {
                assert_eq!(counters, [hardware::WRITTEN_BYTES]);
            }
            let key = (source.producer.to_string(), source.schema.to_string());
            times.entry(key).or_default().push(time.0);
            series.extend(
                source
                    .parts
                    .iter()
                    .map(|part| format!("{}/{}/{part}", source.metric.name(), source.component)),
            );
        }
    }
    assert_eq!(decoder.drops().total(), 0, "{:?}", decoder.examples());
    assert_eq!(series, site::series(aries));
    for ((producer, schema), times) in times {
        timed(&format!("{producer} {schema}"), times);
    }
}

/// Samples are taken on the second, and none is skipped or comes twice. Medians, since a machine may be stopped in between.
fn timed(who: &str, mut times: Vec<i64>) {
    times.sort_unstable();
    let unique: BTreeSet<&i64> = times.iter().collect();
    assert_eq!(unique.len(), times.len(), "{who}: a sample came twice");
    let mut phases: Vec<i64> = times.iter().map(|time| time.rem_euclid(1_000_000)).collect();
    let mut gaps: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    phases.sort_unstable();
    gaps.sort_unstable();
    let (phase, gap) = (phases[phases.len() / 2], gaps[gaps.len() / 2]);
    println!("{who}: {} rows, {} us after the second, {} us apart (medians)", times.len(), phase, gap);
    assert!(phase < site::LEVEL1_OFFSET_US, "{who}: {phase} us after the second, level 1 would come first");
    assert!((900_000..1_100_000).contains(&gap), "{who}: {gap} us apart");
}
