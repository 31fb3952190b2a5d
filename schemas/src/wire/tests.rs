//! Messages against the Avro library and the schemas in `schemas/wire/`.

use super::*;
use crate::{JobEvent, Metric, Name, Source};
use apache_avro::Schema;
use apache_avro::rabin::Rabin;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::types::Value;
use proptest::prelude::*;

/// Schemas with their kinds, the version of each, and the CRC-64-AVRO of that version's schema.
const SCHEMAS: [(&str, Kind, u8, u64); 5] = [
    (include_str!("../../wire/counters.avsc"), Kind::Counters, 4, 0x7B08_2B9B_F30D_2C72),
    (include_str!("../../wire/job_rows.avsc"), Kind::JobRows, 2, 0x4DE9_97C9_13FB_AEBA),
    (include_str!("../../wire/dropped.avsc"), Kind::Dropped, 1, 0x88E4_D551_C85A_28F0),
    (include_str!("../../wire/progress.avsc"), Kind::Progress, 1, 0xBD8B_4B84_49B8_ED1E),
    (include_str!("../../wire/rejected.avsc"), Kind::Rejected, 2, 0x7AB2_F3E8_55A9_C2F4),
];

fn datum(message: &[u8]) -> Value {
    let (kind, mut content) = Kind::split(message).unwrap();
    let (text, ..) = SCHEMAS.iter().find(|(_, of, ..)| *of == kind).unwrap();
    let schema = Schema::parse_str(text).unwrap();
    let value = GenericDatumReader::builder(&schema).build().unwrap().read_value(&mut content).unwrap();
    assert!(content.is_empty());
    value
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn source(parts: Vec<Name>, set: Option<Name>) -> Source {
    let metrics = ["aries_stall_ratio", "lustre_write_rate"].map(|name| Metric::from_name(name).unwrap());
    Source {
        schema: name("aries_rtr"),
        producer: name("nid1"),
        metrics: metrics.to_vec(),
        component: name("c0-0c0s0"),
        set,
        parts,
        rank: 2,
        by_job: false,
    }
}

/// A schema that changes needs another version.
#[test]
fn versions_are_those_of_the_schemas() {
    for (text, kind, version, fingerprint) in SCHEMAS {
        let found = Schema::parse_str(text).unwrap().fingerprint::<Rabin>();
        let found = u64::from_le_bytes(found.bytes.try_into().unwrap());
        assert_eq!((kind.version(), format!("{found:#018X}")), (version, format!("{fingerprint:#018X}")));
        let [number, version] = kind.header();
        let doc = format!("\"doc\": \"Kind {number}, version {version}. ");
        assert!(text.contains(&doc), "the schema of {kind:?} has no {doc}");
    }
}

#[test]
fn unknown_kind_or_version_is_an_error_with_its_number() {
    let mut message = Vec::new();
    write_dropped(&mut message, "ldms.x", 1, &[]);
    message[1] = 77;
    let error = read(&message).unwrap_err();
    assert_eq!(error, WireError::UnknownVersion { kind: 3, version: 77 });
    assert_eq!(error.to_string(), "unknown version of messages of kind 3: 77");
    message[0] = 99;
    let error = read(&message).unwrap_err();
    assert_eq!(error, WireError::UnknownKind(99));
    assert_eq!(error.to_string(), "unknown kind of message on this topic: 99");
    assert_eq!(read(&Kind::Links.header()).unwrap_err(), WireError::UnknownKind(17));
    assert!(matches!(read(&message[..1]), Err(WireError::Damaged(_))));
}

#[test]
fn kinds_have_different_numbers() {
    let numbers: std::collections::BTreeSet<u8> = Kind::ALL.iter().map(|kind| *kind as u8).collect();
    assert_eq!(numbers.len(), Kind::ALL.len());
}

proptest! {
    #[test]
    fn a_row_reads_back_and_reads_alike_in_the_avro_library(
        counters in proptest::collection::vec((any::<u64>(), 0..64_u32).prop_map(|(bits, less)| bits >> less), 0..200),
        parts in proptest::collection::vec("[a-z0-9]{1,5}", 0..45),
        set in proptest::option::of("[a-z]{1,9}"),
        (partition, offset, arrived, time) in (0..99_i32, any::<i64>(), any::<i64>(), any::<i64>()),
    ) {
        let source = source(parts.iter().map(|p| name(p)).collect(), set.map(|s| name(&s)));
        let origin = Origin { topic: "ldms.aries_rtr", partition, offset, arrived: Time(arrived) };
        let (mut described, mut message) = (Vec::new(), Vec::new());
        write_source(&mut described, &source);
        write_counters(&mut message, &origin, Time(time), &described, &counters);
        let Ok(Message::Counters(view)) = read(&message) else { panic!("not read back") };
        let mut back = Vec::new();
        prop_assert_eq!(view.counters(&mut back).unwrap(), counters.len());
        prop_assert_eq!(&back, &counters);
        prop_assert_eq!((view.origin, view.time), (origin, Time(time)));
        prop_assert_eq!(read_source(view.source).unwrap(), source);
        let Value::Record(fields) = datum(&message) else { panic!("no record") };
        let longs = counters.iter().map(|c| Value::Long(c.cast_signed())).collect();
        prop_assert_eq!(&fields[6].1, &Value::Array(longs));
        prop_assert_eq!(&fields[2].1, &Value::Long(offset));
    }

    #[test]
    fn damaged_messages_are_refused_and_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), cut in 0..80_usize, kind in 0..SCHEMAS.len()) {
        let mut message = Vec::from(SCHEMAS[kind].1.header());
        message.extend(&bytes);
        message.truncate(cut);
        if let Ok(Message::Counters(view)) = read(&message) {
            let _ = (view.counters(&mut Vec::new()), read_source(view.source));
        }
    }
}

#[test]
fn jobs_drops_and_progress_read_back_and_fit_their_schemas() {
    let event = |end| JobEvent {
        time: Time(1),
        nodes: vec![name("nid1"), name("nid2")],
        job_id: name("17"),
        label: "16_1".into(),
        user: "ann".into(),
        name: "a \"b\"".into(),
        start: Some(Time(-4)),
        end,
        seen: false,
    };
    let lone_end = JobEvent { start: None, nodes: Vec::new(), seen: true, ..event(Some(Time(78))) };
    let events = vec![event(None), event(Some(Time(77))), lone_end];
    let mut out = Vec::new();
    let of = |offset, events| JobRow { offset, arrived: Time(5), sampled: offset == 9, events };
    let sent = vec![of(9, events.clone()), of(11, Vec::new()), of(12, events[..1].to_vec())];
    begin_job_rows(&mut out, "ldms.jobinfo", 3);
    sent.iter().for_each(|row| put_job_row(&mut out, row.offset, row.arrived, row.sampled, &row.events));
    end_job_rows(&mut out);
    let Ok(Message::Jobs("ldms.jobinfo", 3, back)) = read(&out) else { panic!("not read back") };
    assert_eq!(back, sent);
    let Value::Record(fields) = datum(&out) else { panic!("no record") };
    assert!(matches!(&fields[2].1, Value::Array(rows) if rows.len() == 3), "{fields:?}");
    let rows = [DroppedRow { offset: 7, reason: DropReason::Late }];
    write_dropped(&mut out, "ldms.x", 1, &rows);
    let Ok(Message::Dropped("ldms.x", 1, back)) = read(&out) else { panic!("not read back") };
    assert_eq!(back, rows);
    datum(&out);
    let reached = [Reached { topic: "ldms.x".into(), partition: 1, time: Time(8) }];
    write_progress(&mut out, "a", Time(9), &reached);
    let Ok(Message::Progress("a", Time(9), back)) = read(&out) else { panic!("not read back") };
    assert_eq!(back, reached);
    datum(&out);
}

#[test]
fn rejected_message_reads_back_and_fits_its_schema() {
    let rejected = |reason, head| crate::RejectedMessage {
        stage: "aggregator".into(),
        topic: "tailback.jobs".into(),
        partition: 2,
        offset: 77,
        written: false,
        reason,
        detail: "bad_job".into(),
        key: "k".into(),
        size: 9_000,
        head,
    };
    let mut out = Vec::new();
    for message in [
        rejected(crate::RejectReason::BadMessage, vec![0, 0xFF, 7]),
        rejected(crate::RejectReason::TooLarge, Vec::new()),
        rejected(crate::RejectReason::Forged, vec![7]),
    ] {
        write_rejected(&mut out, &message);
        let Ok(Message::Rejected(back)) = read(&out) else { panic!("not read back") };
        assert_eq!(back, message);
        let Value::Record(fields) = datum(&out) else { panic!("no record") };
        assert_eq!(fields[7].1, Value::Bytes(message.head));
    }
}
