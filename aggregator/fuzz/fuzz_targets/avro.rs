//! A schema, a byte 0, then a message body: no panic, no endless work, and every message is accounted for.
#![no_main]

use aggregator::{AvroSchemas, Decoded, Decoder, Outcome};
use libfuzzer_sys::fuzz_target;

const LUSTRE: &str = r#"{"name":"l","type":"record","fields":[
    {"name":"timestamp","type":{"type":"long","logicalType":"timestamp-millis"}},
    {"name":"component_id","type":"long"},{"name":"fs_name","type":["null","string"]},
    {"name":"x","type":{"type":"array","items":{"type":"map","values":"int"}}},
    {"name":"write_bytes_sum","type":{"type":"long","logicalType":"unsigned-long"}}]}"#;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(2, |b| *b == 0);
    let schema = std::str::from_utf8(parts.next().unwrap_or_default()).unwrap_or_default();
    let body = parts.next().unwrap_or_default();
    let mut schemas = AvroSchemas::default();
    // An empty schema stands for one of use, so that bodies get their share.
    let _ = schemas.insert(1, if schema.is_empty() { LUSTRE } else { schema });
    let message = [&[0, 0, 0, 0, 1], body].concat();
    let mut decoder = Decoder::default();
    let mut out = Decoded::default();
    let outcome = decoder.message(None, &message, &schemas, &mut out);
    assert!(!matches!(outcome, Outcome::NeedsSchema(_)));
    assert_eq!(decoder.drops().total(), u64::from(matches!(outcome, Outcome::Dropped(_))));
    assert_eq!(out.counters.len(), usize::from(outcome == Outcome::Row));
    if let Outcome::Jobs(events) = outcome {
        assert_eq!(out.jobs.iter().filter(|event| !event.seen).count(), events);
    }
});
