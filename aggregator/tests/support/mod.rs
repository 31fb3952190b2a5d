//! A decoder as plain as can be, to compare the real one with, and the recorded rows.
mod oracle;

use aggregator::{Decoded, Decoder, Outcome};
use schemas::{DropReason, Metric, NOT_MEASURED};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub use oracle::oracle;

pub fn fixtures() -> PathBuf {
    PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../tests/fixtures/ldms")
}

pub fn rows_of(file: &str) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(fixtures().join(file)).unwrap();
    let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    lines.map(<[u8]>::to_vec).collect()
}

/// Recorded Avro messages of a topic.
pub fn messages_of(topic: &str) -> Vec<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let lines = rows_of(&format!("avro/ldms-avro.{topic}.hex"));
    lines.iter().map(|line| line.chunks(2).map(byte).collect()).collect()
}

/// One row, described without numbers of sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub time: i64,
    pub schema: String,
    pub producer: String,
    pub component: String,
    /// Counters by metric and part.
    pub parts: BTreeMap<(Metric, String), Vec<u64>>,
    /// Of the life of links: went down, recovered from errors; empty where no column counts them.
    pub links: BTreeMap<String, Vec<u64>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    Row(Row),
    /// Some events, none, or a drop.
    Job,
    Skipped,
    /// Any of these, where several values of a row are wrong.
    Dropped(Vec<DropReason>),
}

pub fn described(decoder: &Decoder, out: &Decoded) -> Vec<Row> {
    let describe = |(source, time, counters): (_, schemas::Time, &[u64])| {
        let source = decoder.sources().get(source).unwrap();
        let (rates, links) = counters.split_at(source.counters());
        assert!(links.is_empty() || counters.len() == source.counters_with_links());
        let values = (0..).map(|at| rates[source.columns_of(at)].to_vec());
        let links = links.chunks(schemas::LINK_COLUMNS).map(<[u64]>::to_vec);
        Row {
            time: time.0,
            schema: source.schema.to_string(),
            producer: source.producer.to_string(),
            component: source.component.to_string(),
            parts: source.series().map(|(metric, part)| (metric, part.to_string())).zip(values).collect(),
            links: source.parts.iter().map(|part| part.to_string()).zip(links).collect(),
        }
    };
    out.counters.rows().map(describe).collect()
}

/// A metric and a part.
pub fn key(metric: &str, part: &str) -> (Metric, String) {
    (Metric::from_name(metric).unwrap(), part.to_string())
}

/// Whether `outcome` and `out`, which holds this line alone, match the oracle.
pub fn check(line: &[u8], decoder: &Decoder, outcome: Outcome, out: &Decoded) {
    let shown = String::from_utf8_lossy(line);
    match oracle(line) {
        Expected::Row(row) => {
            let is_read = row.parts.values().flatten().all(|counter| *counter != NOT_MEASURED);
            let in_part = matches!(outcome, Outcome::Rows(1, Some(_))) && !is_read;
            assert!(outcome == Outcome::Row || in_part, "{outcome:?}: {shown}");
            assert_eq!(described(decoder, out), [row], "{shown}");
            assert!(out.jobs.iter().all(|event| event.seen), "{shown}");
        }
        Expected::Skipped => {
            assert_eq!(outcome, Outcome::Skipped, "{shown}");
            assert!(out.is_empty(), "{shown}");
        }
        Expected::Dropped(reasons) => {
            assert!(
                matches!(outcome, Outcome::Dropped(reason) if reasons.contains(&reason)),
                "{outcome:?} instead of {reasons:?}: {shown}"
            );
            assert!(out.is_empty(), "{shown}");
        }
        Expected::Job => {
            assert!(out.counters.is_empty(), "{shown}");
            let jobs = if let Outcome::Jobs(jobs) = outcome { jobs } else { 0 };
            assert_eq!(out.jobs.iter().filter(|event| !event.seen).count(), jobs, "{shown}");
            assert_ne!(outcome, Outcome::Row, "{shown}");
        }
    }
}
