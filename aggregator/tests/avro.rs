//! Avro messages: recorded ones against the JSON rows of the same samples, faults, schemas that change.

use crate::integration::support::{Row, described, fixtures, key, messages_of, rows_of};
use aggregator::{AvroSchemas, Decoded, Decoder, Outcome};
use schemas::{DropReason, Time};
use std::collections::BTreeSet;

fn recorded_schemas() -> AvroSchemas {
    let mut schemas = AvroSchemas::default();
    assert_eq!(schemas.load_dir(&fixtures().join("avro")).unwrap(), 8);
    schemas
}

/// Fields of a Lustre row; `{type}` is that of its counter.
fn lustre_schema(counter: &str) -> String {
    format!(
        r#"{{"name":"lustre_client","type":"record","fields":[
            {{"name":"timestamp","type":{{"type":"long","logicalType":"timestamp-millis"}}}},
            {{"name":"producer","type":"string"}},{{"name":"fs_name","type":"string"}},
            {{"name":"write_bytes_sum","type":{counter}}}]}}"#
    )
}

const U64: &str = r#"{"type":"long","logicalType":"unsigned-long"}"#;
const U32: &str = r#"{"type":"long","logicalType":"unsigned-int"}"#;
/// 2026-11-20 23:30:19.001 in milliseconds, as a variable-length number.
const TIME: [u8; 6] = [0xf2, 0xab, 0xdf, 0xb4, 0xbf, 0x68];

/// A message of schema 1: [`lustre_schema`] with these last bytes.
fn lustre(counter: &[u8]) -> Vec<u8> {
    [&[0, 0, 0, 0, 1][..], &TIME, b"\x02n", b"\x02a", counter].concat()
}

fn with_schema(schema: &str) -> AvroSchemas {
    let mut schemas = AvroSchemas::default();
    schemas.insert(1, schema).unwrap();
    schemas
}

fn decoded(schemas: &AvroSchemas, message: &[u8]) -> (Outcome, Vec<Row>, Decoder) {
    let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
    let outcome = decoder.message(None, message, schemas, &mut out);
    let rows = described(&decoder, &out);
    assert_eq!(rows.len(), usize::from(outcome == Outcome::Row));
    assert_eq!(decoder.drops().total(), u64::from(matches!(outcome, Outcome::Dropped(_))));
    (outcome, rows, decoder)
}

#[test]
fn recorded_messages_give_the_rows_that_json_gives() {
    let schemas = recorded_schemas();
    for topic in ["aries_nic", "aries_rtr", "ib_sysfs_64a115e", "ibmad", "lustre_client"] {
        let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
        for line in rows_of(&format!("kafka/ldms.{topic}.jsonl")) {
            decoder.message(Some(topic), &line, &schemas, &mut out);
        }
        let mut known: BTreeSet<Row> = described(&decoder, &out).into_iter().collect();
        // The store cuts timestamps to milliseconds.
        known = known.into_iter().map(|row| Row { time: row.time / 1_000 * 1_000, ..row }).collect();
        let sources = decoder.sources().as_slice().len();
        for message in messages_of(topic) {
            out.clear();
            assert_eq!(decoder.message(Some(topic), &message, &schemas, &mut out), Outcome::Row, "{topic}");
            let row = described(&decoder, &out).remove(0);
            assert!(known.contains(&row), "{row:?}");
        }
        assert_eq!(decoder.sources().as_slice().len(), sources, "{topic}: the same sources as in JSON");
    }
}

#[test]
fn recorded_messages_of_no_use_are_counted() {
    let schemas = recorded_schemas();
    for (topic, reason) in [
        ("meminfo", DropReason::UnusedSchema),
        ("procnetdev_c7a516f", DropReason::UnusedSchema),
        ("slurm_jobs", DropReason::AvroU32Zero),
    ] {
        for message in messages_of(topic) {
            assert_eq!(decoded(&schemas, &message).0, Outcome::Dropped(reason), "{topic}");
        }
    }
}

#[test]
fn counters_are_believed_up_to_64_bits_but_no_zero_of_32() {
    let dropped = Outcome::Dropped;
    for (kind, counter, outcome) in [
        (U64, &[0][..], Outcome::Row),
        (U64, &[1], Outcome::Row),
        (r#""long""#, &[0], Outcome::Row),
        (r#""long""#, &[1], dropped(DropReason::NegativeCounter)),
        (r#""int""#, &[0], Outcome::Row),
        (U32, &[0], dropped(DropReason::AvroU32Zero)),
        (U32, &[2], Outcome::Row),
        (r#"["null","long"]"#, &[2, 14], Outcome::Row),
        (r#"["null","long"]"#, &[0], dropped(DropReason::BadValue)),
        (r#"["null","long"]"#, &[4, 14], dropped(DropReason::InvalidAvro)),
        (r#"["null","long"]"#, &[1, 14], dropped(DropReason::InvalidAvro)),
        (r#""double""#, &[0; 8], dropped(DropReason::BadValue)),
        (r#""string""#, b"\x02a", dropped(DropReason::BadValue)),
        (r#""boolean""#, &[2], dropped(DropReason::InvalidAvro)),
        (r#"{"type":"array","items":"null"}"#, b"\xfe\xff\xff\xff\x0f\0", dropped(DropReason::BadValue)),
        (r#"{"type":"array","items":"long"}"#, b"\xfe\xff\xff\xff\x0f\0", dropped(DropReason::InvalidAvro)),
    ] {
        assert_eq!(decoded(&with_schema(&lustre_schema(kind)), &lustre(counter)).0, outcome, "{kind}");
    }
    let (_, rows, _) = decoded(&with_schema(&lustre_schema(U64)), &lustre(&[1]));
    assert_eq!(rows[0].parts[&key("lustre_write_rate", "a")], [u64::MAX]);
    assert_eq!(rows[0].time, 1_795_217_419_001_000);
}

#[test]
fn damaged_messages_are_counted() {
    let schemas = with_schema(&lustre_schema(U64));
    let whole = lustre(&[0x80, 0x7f]);
    let refused = |message: &[u8]| {
        let (outcome, _, decoder) = decoded(&schemas, message);
        assert_eq!(outcome, Outcome::Dropped(DropReason::InvalidAvro), "{message:?}");
        assert!(decoder.examples().get(DropReason::InvalidAvro).is_some());
    };
    (1..whole.len()).for_each(|end| refused(&whole[..end]));
    refused(&[&whole[..], &[0]].concat());
    // A string that claims to be longer than there are bytes, or shorter than nothing.
    for length in [&[0xff; 9][..], &[0xfe, 0xff, 0xff, 0xff, 0x0f], &[1]] {
        refused(&[&whole[..11], length, &whole[11..]].concat());
    }
    let (outcome, ..) = decoded(&schemas, &[&[7], &whole[1..]].concat());
    assert_eq!(outcome, Outcome::Dropped(DropReason::InvalidJson));
    assert_eq!(decoded(&schemas, b"").0, Outcome::Skipped);
    let early = [&whole[..5], &[2], &whole[11..]].concat();
    assert_eq!(decoded(&schemas, &early).0, Outcome::Dropped(DropReason::BadTimestamp));
}

#[test]
fn a_message_waits_for_its_schema_uncounted() {
    let mut schemas = AvroSchemas::default();
    let message = lustre(&[14]);
    assert_eq!(decoded(&schemas, &message).0, Outcome::NeedsSchema(1));
    assert!(!schemas.knows(1));
    schemas.refuse(1, DropReason::UnknownSchemaId, "the registry answers 404");
    assert!(schemas.knows(1));
    let (outcome, _, decoder) = decoded(&schemas, &message);
    assert_eq!(outcome, Outcome::Dropped(DropReason::UnknownSchemaId));
    let example = decoder.examples().get(DropReason::UnknownSchemaId).unwrap();
    assert!(example.ends_with("schema 1: the registry answers 404"), "{example}");
    schemas.forget(1);
    assert_eq!(decoded(&schemas, &message).0, Outcome::NeedsSchema(1));
    assert!(schemas.insert(1, r#"{"type":"enum","name":"e","symbols":["a"]}"#).is_err());
    assert_eq!(decoded(&schemas, &message).0, Outcome::Dropped(DropReason::BadAvroSchema));
    schemas.insert(1, &lustre_schema(U64)).unwrap();
    assert_eq!(decoded(&schemas, &message).0, Outcome::Row);
}

#[test]
fn new_version_continues_the_same_source_between_json_rows() {
    let mut schemas = with_schema(&lustre_schema(U64));
    let newer = lustre_schema(U64).replace(
        r#"{"name":"producer","type":"string"}"#,
        r#"{"name":"fsync","type":"long"},{"name":"x","type":{"type":"map","values":"double"}},{"name":"producer","type":"string"}"#,
    );
    let json = br#"{"timestamp":1795217421.5,"producer":"n","fs_name":"a","write_bytes.sum":9}"#;
    let second = [&[0, 0, 0, 0, 2][..], &TIME, &[6, 0], b"\x02n", b"\x02a", &[16]].concat();
    let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
    assert_eq!(decoder.message(None, &lustre(&[14]), &schemas, &mut out), Outcome::Row);
    assert_eq!(decoder.message(None, &second, &schemas, &mut out), Outcome::NeedsSchema(2));
    schemas.insert(2, &newer).unwrap();
    assert_eq!(decoder.message(None, &second, &schemas, &mut out), Outcome::Row);
    assert_eq!(decoder.message(None, json, &schemas, &mut out), Outcome::Row);
    let rows: Vec<_> = out.counters.rows().map(|(source, _, counters)| (source.0, counters[0])).collect();
    assert_eq!(rows, [(0, 7), (0, 8), (0, 9)]);
}

#[test]
fn a_job_row_with_a_start_is_an_event() {
    let jobs = r#"{"name":"slurm_jobs","type":"record","fields":[
        {"name":"timestamp","type":{"type":"long","logicalType":"timestamp-millis"}},
        {"name":"component_id","type":"long"},{"name":"job_id","type":"long"},
        {"name":"user","type":"string"},{"name":"job_name","type":"string"},
        {"name":"job_start","type":{"type":"long","logicalType":"unsigned-int"}},
        {"name":"job_end","type":{"type":"long","logicalType":"unsigned-int"}}]}"#;
    let schemas = with_schema(jobs);
    let message = |job: u8, start: &[u8]| {
        [&[0, 0, 0, 0, 1][..], &TIME, &[2, job], b"\x06bob", b"\x08a\"\xffb", start, &[0]].concat()
    };
    // 1795217419 s.
    let start = [0x96, 0xe0, 0x86, 0xb0, 0x0d];
    let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
    assert_eq!(decoder.message(None, &message(12, &start), &schemas, &mut out), Outcome::Jobs(1));
    let event = &out.jobs[0];
    assert_eq!((event.nodes[0].as_str(), event.job_id.as_str()), ("nid00001", "6"));
    assert_eq!((event.user.as_str(), event.name.as_str()), ("bob", "a\"\u{fffd}b"));
    assert_eq!((event.start, event.end), (Some(Time(1_795_217_419_000_000)), None));
    assert_eq!(event.time, Time(1_795_217_419_001_000));
    let dropped = decoder.message(None, &message(12, &[0]), &schemas, &mut out);
    assert_eq!(dropped, Outcome::Dropped(DropReason::AvroU32Zero));
    assert_eq!(decoder.message(None, &message(0, &[0]), &schemas, &mut out), Outcome::Skipped);
}

#[test]
fn schemas_are_kept_in_files_and_bad_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("schemas");
    AvroSchemas::save(&cache, 7, &lustre_schema(U64)).unwrap();
    AvroSchemas::save(&cache, 7, &lustre_schema(U32)).unwrap();
    let wrong = AvroSchemas::save(&cache, 8, "{}").unwrap_err().to_string();
    assert_eq!(wrong, "Avro schema 8: not a record, so its messages are no rows");
    assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 1);
    let mut schemas = AvroSchemas::default();
    assert_eq!(schemas.load_dir(&cache).unwrap(), 1);
    assert!(schemas.knows(7) && !schemas.knows(8));
    for (name, text, why) in [
        ("x.avsc", "{}", "not the schema's number"),
        ("9.avsc", "{", "no JSON"),
        ("a.json", r#"{"schema":"{}"}"#, "neither"),
        ("9.json", r#"{"id":-1,"schema":"{}"}"#, "neither"),
        ("9.json", "{}", "lacks \"schema\""),
        ("9.json", r#"{"schemaType":"PROTOBUF","schema":"x"}"#, "PROTOBUF"),
    ] {
        let path = cache.join(name);
        std::fs::write(&path, text).unwrap();
        let error = AvroSchemas::default().load_dir(&cache).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(why), "{error}");
        std::fs::remove_file(&path).unwrap();
    }
    assert!(AvroSchemas::default().load_dir(&folder.path().join("none")).is_err());
}

#[test]
fn ever_new_schemas_do_not_fill_the_memory() {
    let mut schemas = AvroSchemas::default();
    for id in 0..aggregator::avro::SCHEMAS_MAX as u32 + 10 {
        schemas.insert(id, &lustre_schema(U64)).unwrap();
    }
    assert_eq!(schemas.len(), aggregator::avro::SCHEMAS_MAX);
    assert!(!schemas.knows(9) && schemas.knows(10));
    let wide: Vec<String> = (0..15_000).map(|n| format!(r#"{{"name":"c{n}","type":"long"}}"#)).collect();
    let wide = format!(r#"{{"name":"w","type":"record","fields":[{}]}}"#, wide.join(","));
    (0..100).for_each(|id| schemas.insert(id, &wide).unwrap());
    assert!(schemas.len() < 70 && schemas.knows(99));
}
