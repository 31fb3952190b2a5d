//! Lines of CSV: no panic, and every line is a row, jobs, nothing or a counted drop.
#![no_main]

use aggregator::{CsvFile, Decoded, Decoder, Outcome};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut decoder = Decoder::default();
    let mut file = CsvFile::new("lustre_client");
    let mut out = Decoded::default();
    let (mut rows, mut jobs, mut dropped) = (0, 0, 0);
    for line in data.split(|b| *b == b'\n') {
        match decoder.csv_line(&mut file, line, &mut out) {
            Outcome::Row => rows += 1,
            Outcome::Rows(..) => unreachable!("a line of CSV is one row"),
            Outcome::Jobs(events) => jobs += events,
            Outcome::Skipped => {}
            Outcome::Dropped(_) => dropped += 1,
            Outcome::NeedsSchema(_) => unreachable!("CSV has no schema numbers"),
        }
    }
    // Jobs that rows' own numbers show come beside the rows.
    let said = out.jobs.iter().filter(|event| !event.seen).count();
    assert_eq!((out.counters.len(), said), (rows, jobs));
    assert_eq!(decoder.drops().total(), dropped);
});
