//! Messages against the Avro library and the schemas in `schemas/wire/`.

use super::*;
use crate::{JobEvent, Metric, Name, Source};
use apache_avro::Schema;
use apache_avro::rabin::Rabin;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::types::Value;
use proptest::prelude::*;

const SCHEMAS: [(&str, u64); 6] = [
    (include_str!("../../wire/counters.avsc"), COUNTERS),
    (include_str!("../../wire/jobs.avsc"), JOBS),
    (include_str!("../../wire/dropped.avsc"), DROPPED),
    (include_str!("../../wire/progress.avsc"), PROGRESS),
    (include_str!("../../wire/job_rows.avsc"), JOB_ROWS),
    (include_str!("../../wire/rejected.avsc"), REJECTED),
];

fn schema(at: usize) -> Schema {
    Schema::parse_str(SCHEMAS[at].0).unwrap()
}

fn datum(at: usize, message: &[u8]) -> Value {
    let schema = schema(at);
    GenericDatumReader::builder(&schema).build().unwrap().read_value(&mut &message[10..]).unwrap()
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn source(parts: Vec<Name>, set: Option<Name>) -> Source {
    let metric = Metric::AriesStallRatio;
    Source {
        schema: name("aries_rtr"),
        producer: name("nid1"),
        metric,
        component: name("c0-0c0s0"),
        set,
        parts,
        rank: 2,
    }
}

#[test]
fn fingerprints_are_those_of_the_schemas() {
    let found = SCHEMAS.iter().map(|(text, _)| {
        let fingerprint = Schema::parse_str(text).unwrap().fingerprint::<Rabin>();
        u64::from_le_bytes(fingerprint.bytes.try_into().unwrap())
    });
    let found: Vec<String> = found.map(|f| format!("{f:#018X}")).collect();
    let kept: Vec<String> = SCHEMAS.iter().map(|(_, f)| format!("{f:#018X}")).collect();
    assert_eq!(found, kept);
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
        let Value::Record(fields) = datum(0, &message) else { panic!("no record") };
        let longs = counters.iter().map(|c| Value::Long(c.cast_signed())).collect();
        prop_assert_eq!(&fields[6].1, &Value::Array(longs));
        prop_assert_eq!(&fields[2].1, &Value::Long(offset));
    }

    #[test]
    fn damaged_messages_are_refused_and_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), cut in 0..80_usize, kind in 0..6_usize) {
        let mut message = Vec::from(MARK);
        message.extend(SCHEMAS[kind].1.to_le_bytes());
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
    let of = |offset, events| JobRow { offset, arrived: Time(5), events };
    let told = vec![of(9, events.clone()), of(11, Vec::new()), of(12, events[..1].to_vec())];
    begin_job_rows(&mut out, "ldms.jobinfo", 3);
    told.iter().for_each(|row| put_job_row(&mut out, row.offset, row.arrived, &row.events));
    end_job_rows(&mut out);
    let Ok(Message::Jobs("ldms.jobinfo", 3, back)) = read(&out) else { panic!("not read back") };
    assert_eq!(back, told);
    let Value::Record(fields) = datum(4, &out) else { panic!("no record") };
    assert!(matches!(&fields[2].1, Value::Array(rows) if rows.len() == 3), "{fields:?}");
    let rows = [DroppedRow { offset: 7, reason: DropReason::Late }];
    write_dropped(&mut out, "ldms.x", 1, &rows);
    let Ok(Message::Dropped("ldms.x", 1, back)) = read(&out) else { panic!("not read back") };
    assert_eq!(back, rows);
    datum(2, &out);
    let reached = [Reached { topic: "ldms.x".into(), partition: 1, time: Time(8) }];
    write_progress(&mut out, "a", Time(9), &reached);
    let Ok(Message::Progress("a", Time(9), back)) = read(&out) else { panic!("not read back") };
    assert_eq!(back, reached);
    datum(3, &out);
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
    ] {
        write_rejected(&mut out, &message);
        let Ok(Message::Rejected(back)) = read(&out) else { panic!("not read back") };
        assert_eq!(back, message);
        let Value::Record(fields) = datum(5, &out) else { panic!("no record") };
        assert_eq!(fields[7].1, Value::Bytes(message.head));
    }
}

#[test]
fn news_of_jobs_are_read_as_they_were_written_before_they_went_many_in_a_message() {
    let node = |text: &str| Value::String(text.into());
    let moment = |us| Value::Union(1, Box::new(Value::TimestampMicros(us)));
    let event = Value::Record(vec![
        ("time".into(), Value::TimestampMicros(1)),
        ("nodes".into(), Value::Array(vec![node("nid1"), node("nid2")])),
        ("job_id".into(), node("17")),
        ("label".into(), node("16_1")),
        ("user".into(), node("ann")),
        ("name".into(), node("a")),
        ("start".into(), moment(-4)),
        ("end".into(), Value::Union(0, Box::new(Value::Null))),
    ]);
    let written = Value::Record(vec![
        ("topic".into(), node("ldms.jobinfo")),
        ("partition".into(), Value::Int(3)),
        ("offset".into(), Value::Long(9)),
        ("arrived".into(), Value::TimestampMicros(5)),
        ("events".into(), Value::Array(vec![event])),
    ]);
    let mut message = [MARK.as_slice(), &JOBS.to_le_bytes()].concat();
    let schema = schema(1);
    let body = apache_avro::writer::datum::GenericDatumWriter::builder(&schema).build().unwrap();
    message.extend(body.write_value_to_vec(written).unwrap());
    let Ok(Message::Jobs("ldms.jobinfo", 3, rows)) = read(&message) else { panic!("not read") };
    assert_eq!((rows.len(), rows[0].offset, rows[0].arrived), (1, 9, Time(5)));
    assert_eq!((rows[0].events[0].nodes.len(), rows[0].events[0].start), (2, Some(Time(-4))));
}
