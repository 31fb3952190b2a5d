//! Lines of JSON: no panic, every line accounted for, and a decoder that knows layouts agrees with one that does not.
#![no_main]

use aggregator::{Decoded, Decoder, Outcome};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut decoder = Decoder::default();
    let mut out = Decoded::default();
    for line in data.split(|b| *b == b'\n') {
        out.clear();
        let outcome = decoder.json_line(None, line, &mut out);
        let mut fresh = Decoder::default();
        let mut alone = Decoded::default();
        assert_eq!(fresh.json_line(None, line, &mut alone), outcome);
        let described = |decoder: &Decoder, out: &Decoded| -> Vec<_> {
            let rows = out.counters.rows();
            rows.map(|(source, time, counters)| {
                (decoder.sources().get(source).cloned(), time, counters.to_vec())
            })
            .collect()
        };
        assert_eq!(described(&decoder, &out), described(&fresh, &alone));
        // What rows' own numbers show depends on the rows before.
        let said = |out: &Decoded| -> Vec<_> { out.jobs.iter().filter(|event| !event.seen).cloned().collect() };
        assert_eq!(said(&out), said(&alone));
        let rows = match outcome {
            Outcome::Row => 1,
            Outcome::Rows(rows, _) => rows,
            _ => 0,
        };
        assert_eq!(out.counters.len(), rows);
    }
});
