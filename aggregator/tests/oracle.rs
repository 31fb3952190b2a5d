//! The decoder against a plain one, on recorded rows, on rows with errors and on arbitrary bytes.

use crate::integration::support::{check, rows_of};
use aggregator::{CsvFile, Decoded, Decoder, Outcome};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Topics, each with rows; wide ones first among equals, so that layouts really change.
const FILES: [&str; 14] = [
    "kafka/ldms.aries_rtr_2tiles.jsonl",
    "kafka/ldms.lustre_client.jsonl",
    "kafka/ldms-asis.lustre_client_0aba9c8.jsonl",
    "kafka/ldms.lustre2_client_7ad6011.jsonl",
    "kafka/ldms.lustre2_client_c0a8ab8.jsonl",
    "kafka/ldms.ib_sysfs_64a115e.jsonl",
    "kafka/ldms.ibmad.jsonl",
    "kafka/ldms-asis.ibmad_c5b2991.jsonl",
    "kafka/ldms.ibmad_records_9377fc4.jsonl",
    "kafka/ldms.sysclassib_584acf7.jsonl",
    "kafka/ldms.meminfo.jsonl",
    "kafka/ldms.slurm_jobs.jsonl",
    "kafka/ldms.mt-slurm_5d68ee2.jsonl",
    "kafka/ldms.jobinfo_777211b.jsonl",
];

/// The first five rows of each topic.
static ROWS: LazyLock<Vec<Vec<Vec<u8>>>> = LazyLock::new(|| {
    let rows = |file: &&str| rows_of(file).into_iter().take(5).collect();
    FILES.iter().map(rows).collect()
});

/// A decoder that has learnt the layouts of all recorded rows.
fn trained() -> Decoder {
    let mut decoder = Decoder::default();
    let mut out = Decoded::default();
    for line in ROWS.iter().flatten() {
        decoder.json_line(None, line, &mut out);
    }
    decoder
}

fn check_json(decoder: &mut Decoder, line: &[u8]) {
    let mut out = Decoded::default();
    let before = decoder.drops().total();
    let outcome = decoder.json_line(None, line, &mut out);
    check(line, decoder, outcome, &out);
    let dropped = u64::from(matches!(outcome, Outcome::Dropped(_) | Outcome::Rows(_, Some(_))));
    assert_eq!(decoder.drops().total(), before + dropped);
}

#[test]
fn every_recorded_row_decodes_as_the_plain_decoder_does() {
    let more = [
        "kafka/ldms.aries_rtr.jsonl",
        "kafka/ldms-asis.metric_set_rtr_0_2_c_bb88d77.jsonl",
        "kafka/ldms.aries_nic.jsonl",
        "kafka/ldms-asis.mt-slurm2_5bd0733.jsonl",
    ];
    let mut decoder = Decoder::default();
    for line in FILES.iter().chain(&more).flat_map(|file| rows_of(file)) {
        check_json(&mut decoder, &line);
    }
}

/// Changes that a person, a store or a cable may make to a row.
#[derive(Clone, Debug)]
enum Change {
    Byte(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Remove(prop::sample::Index, usize),
    Insert(prop::sample::Index, &'static str),
    Value(prop::sample::Index, &'static str),
    SwapColumns(prop::sample::Index, prop::sample::Index),
    RepeatColumn(prop::sample::Index),
    Rename(prop::sample::Index),
}

const TEXTS: [&str; 30] = [
    "0",
    "7",
    "-1",
    "-",
    "nan",
    "inf",
    "1.5",
    "1e3",
    "00",
    "007",
    "18446744073709551615",
    "18446744073709551616",
    "\"x\"",
    "\"\"",
    "\"a b\"",
    "\"\\u0041\"",
    "\"\\\"",
    "null",
    "true",
    "{}",
    "{\"a\":[1,{}]}",
    "[1,2]",
    " ",
    ",",
    "\r",
    "\"é\"",
    "1795217419",
    "1795217419.12345678",
    "946684799.9",
    "\"nid00009\"",
];

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    let text = || prop::sample::select(&TEXTS[..]);
    prop_oneof![
        1 => (at(), any::<u8>()).prop_map(|(i, b)| Change::Byte(i, b)),
        1 => at().prop_map(Change::Cut),
        1 => (at(), 1usize..40).prop_map(|(i, n)| Change::Remove(i, n)),
        2 => (at(), text()).prop_map(|(i, t)| Change::Insert(i, t)),
        6 => (at(), text()).prop_map(|(i, t)| Change::Value(i, t)),
        2 => (at(), at()).prop_map(|(a, b)| Change::SwapColumns(a, b)),
        2 => at().prop_map(Change::RepeatColumn),
        1 => at().prop_map(Change::Rename),
    ]
}

/// Places of the values: behind `":` up to `,"` or the end.
fn values(line: &[u8]) -> Vec<(usize, usize)> {
    let starts = (2..line.len()).filter(|i| line[i - 2..].starts_with(b"\":"));
    let end = |start: usize| {
        let next = (start..line.len()).find(|i| line[*i..].starts_with(b",\""));
        next.unwrap_or(line.len().saturating_sub(1)).max(start)
    };
    starts.map(|start| (start, end(start))).collect()
}

/// The columns of a flat row as text.
fn columns(line: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(line).into_owned();
    let inside = text.trim_start_matches('{').trim_end_matches('}');
    inside
        .split(",\"")
        .enumerate()
        .map(|(i, c)| if i == 0 { c.into() } else { format!("\"{c}").into() })
        .collect()
}

fn joined(columns: &[Vec<u8>]) -> Vec<u8> {
    [b"{", columns.join(&b","[..]).as_slice(), b"}"].concat()
}

fn apply(line: &mut Vec<u8>, change: &Change) {
    if line.is_empty() {
        return;
    }
    match change {
        Change::Byte(at, byte) => *at.get_mut(line) = *byte,
        Change::Cut(at) => line.truncate(at.index(line.len())),
        Change::Remove(at, n) => {
            let at = at.index(line.len());
            line.drain(at..(at + n).min(line.len()));
        }
        Change::Insert(at, text) => {
            let at = at.index(line.len());
            line.splice(at..at, text.bytes());
        }
        Change::Value(at, text) => {
            let values = values(line);
            if !values.is_empty() {
                let (start, end) = *at.get(&values);
                line.splice(start..end, text.bytes());
            }
        }
        Change::SwapColumns(a, b) => {
            let mut all = columns(line);
            let (a, b) = (a.index(all.len()), b.index(all.len()));
            all.swap(a, b);
            *line = joined(&all);
        }
        Change::RepeatColumn(at) => {
            let mut all = columns(line);
            all.push(at.get(&all).clone());
            *line = joined(&all);
        }
        Change::Rename(at) => {
            let mut all = columns(line);
            let column = at.get_mut(&mut all);
            column.insert(column.len().min(1), b'x');
            *line = joined(&all);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn changed_rows_decode_alike_or_are_counted(
        file in 0..FILES.len(),
        row in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 0..4),
    ) {
        let original = row.get(&ROWS[file]);
        let mut line = original.clone();
        for change in &changes {
            apply(&mut line, change);
        }
        line.retain(|b| *b != b'\n');
        check_json(&mut Decoder::default(), &line);
        let mut decoder = Decoder::default();
        let mut out = Decoded::default();
        decoder.json_line(None, original, &mut out);
        for line in [&line, original, &line] {
            check_json(&mut decoder, line);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_json(&mut Decoder::default(), &bytes);
    }

    #[test]
    fn arbitrary_csv_never_panics_and_every_line_is_accounted_for(
        lines in prop::collection::vec(csv_line(), 0..12)
    ) {
        let mut decoder = Decoder::default();
        let mut file = CsvFile::new("lustre_client");
        let mut out = Decoded::default();
        let (mut rows, mut jobs, mut skipped, mut dropped) = (0, 0, 0, 0);
        for line in &lines {
            match decoder.csv_line(&mut file, line, &mut out) {
                Outcome::Row => rows += 1,
                Outcome::Jobs(events) => jobs += events,
                Outcome::Skipped => skipped += 1,
                Outcome::Dropped(_) => dropped += 1,
                Outcome::NeedsSchema(_) | Outcome::Rows(..) => unreachable!(),
            }
        }
        prop_assert_eq!(out.counters.len(), rows);
        prop_assert_eq!(out.jobs.iter().filter(|event| !event.seen).count(), jobs);
        prop_assert_eq!(decoder.drops().total(), dropped as u64);
        prop_assert!(jobs > 0 || rows + skipped + dropped == lines.len());
    }
}

fn csv_line() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(
        &[
            "#Time",
            "Time_usec",
            "producer",
            "component_id",
            "fs_name",
            "write_bytes.sum",
            "job_id",
            "job_start",
            "job_end",
            "1795217419.001813",
            "1795217430",
            "nid00001",
            "7",
            "0",
            "-1",
            "nan",
            "",
            "snx11168",
            "é",
            "\"",
            "#",
            "#!",
        ][..],
    );
    let words = prop::collection::vec(word, 0..6).prop_map(|words| words.join(",").into_bytes());
    let plain = Just(b"#Time,Time_usec,producer,component_id,fs_name,write_bytes.sum".to_vec());
    prop_oneof![
        1 => plain,
        4 => words,
        1 => prop::collection::vec(any::<u8>(), 0..60),
    ]
}

#[test]
fn a_trained_decoder_still_sees_every_error() {
    let mut decoder = trained();
    for line in ROWS.iter().flatten() {
        for (start, end) in values(line) {
            for text in [
                "-1",
                "nan",
                "1.5",
                "007",
                "\"x\"",
                "null",
                "[]",
                "\"\\u0041\"",
                "1e3",
                "\"nid00009\"",
                "2e9",
                "18446744073709551615",
            ] {
                let mut changed = line.clone();
                changed.splice(start..end, text.bytes());
                check_json(&mut decoder, &changed);
            }
        }
    }
}
