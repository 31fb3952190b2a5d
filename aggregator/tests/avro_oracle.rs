//! Avro messages of generated schemas, against the library `apache-avro`.

use crate::integration::support::{described, fixtures, messages_of};
use aggregator::{AvroSchemas, Decoded, Decoder, Outcome};
use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::types::Value;
use apache_avro::writer::datum::GenericDatumWriter;
use proptest::prelude::*;
use schemas::DropReason;

/// A type of a column of no use, as a schema and as values. `@` in a schema stands for a new name.
#[derive(Clone, Debug)]
enum Kind {
    Plain(&'static str),
    Array(Box<Kind>),
    Map(Box<Kind>),
    Optional(Box<Kind>),
    Record(Vec<Kind>),
}

const ENUM: &str = r#"{"type":"enum","name":"@","symbols":["A","B","C"]}"#;
const FIXED: &str = r#"{"type":"fixed","name":"@","size":5}"#;
const UNSIGNED: &str = r#"{"type":"long","logicalType":"unsigned-long"}"#;

impl Kind {
    fn schema(&self) -> String {
        match self {
            Kind::Plain(name) if name.starts_with('{') => (*name).to_string(),
            Kind::Plain(name) => format!("{name:?}"),
            Kind::Array(item) => format!(r#"{{"type":"array","items":{}}}"#, item.schema()),
            Kind::Map(item) => format!(r#"{{"type":"map","values":{}}}"#, item.schema()),
            Kind::Optional(some) => format!(r#"["null",{}]"#, some.schema()),
            Kind::Record(fields) => {
                let field =
                    |(at, kind): (usize, &Kind)| format!(r#"{{"name":"f{at}","type":{}}}"#, kind.schema());
                let fields: Vec<String> = fields.iter().enumerate().map(field).collect();
                format!(r#"{{"type":"record","name":"@","fields":[{}]}}"#, fields.join(","))
            }
        }
    }

    fn values(&self) -> BoxedStrategy<Value> {
        match self.clone() {
            Kind::Plain("null") => Just(Value::Null).boxed(),
            Kind::Plain("boolean") => any::<bool>().prop_map(Value::Boolean).boxed(),
            Kind::Plain("int") => any::<i32>().prop_map(Value::Int).boxed(),
            Kind::Plain("float") => any::<f32>().prop_map(Value::Float).boxed(),
            Kind::Plain("double") => any::<f64>().prop_map(Value::Double).boxed(),
            Kind::Plain("string") => ".{0,12}".prop_map(Value::String).boxed(),
            Kind::Plain("bytes") => prop::collection::vec(any::<u8>(), 0..9).prop_map(Value::Bytes).boxed(),
            Kind::Plain(ENUM) => {
                (0..3usize).prop_map(|at| Value::Enum(at as u32, ["A", "B", "C"][at].to_string())).boxed()
            }
            Kind::Plain(FIXED) => any::<[u8; 5]>().prop_map(|bytes| Value::Fixed(5, bytes.to_vec())).boxed(),
            Kind::Plain(_) => any::<i64>().prop_map(Value::Long).boxed(),
            Kind::Array(item) => prop::collection::vec(item.values(), 0..4).prop_map(Value::Array).boxed(),
            Kind::Map(item) => {
                prop::collection::hash_map("[a-z]{0,3}", item.values(), 0..3).prop_map(Value::Map).boxed()
            }
            Kind::Optional(some) => prop_oneof![
                Just(Value::Union(0, Box::new(Value::Null))),
                some.values().prop_map(|value| Value::Union(1, Box::new(value)))
            ]
            .boxed(),
            Kind::Record(fields) => fields
                .iter()
                .map(Kind::values)
                .collect::<Vec<_>>()
                .prop_map(|values| {
                    Value::Record(
                        values.into_iter().enumerate().map(|(at, v)| (format!("f{at}"), v)).collect(),
                    )
                })
                .boxed(),
        }
    }
}

fn kinds() -> impl Strategy<Value = Kind> {
    let plain = prop::sample::select(vec![
        "null", "boolean", "int", "long", "float", "double", "string", "bytes", ENUM, FIXED, UNSIGNED,
    ]);
    plain.prop_map(Kind::Plain).prop_recursive(3, 12, 3, |inner| {
        let some = inner.clone().prop_filter("a union has no two nulls and no union", |kind| {
            !matches!(kind, Kind::Plain("null") | Kind::Optional(_))
        });
        prop_oneof![
            inner.clone().prop_map(|kind| Kind::Array(Box::new(kind))),
            inner.clone().prop_map(|kind| Kind::Map(Box::new(kind))),
            some.prop_map(|kind| Kind::Optional(Box::new(kind))),
            prop::collection::vec(inner, 0..3).prop_map(Kind::Record),
        ]
    })
}

/// Columns in any order: name, schema, value.
type Columns = Vec<(String, String, Value)>;

fn columns() -> impl Strategy<Value = Columns> {
    let others =
        prop::collection::vec(kinds().prop_flat_map(|kind| (Just(kind.schema()), kind.values())), 0..6);
    let millis = 946_684_800_000..8_993_721_600_000i64;
    let shift = 0..63u32;
    (others, millis, any::<i64>(), shift, "[a-z]{1,20}").prop_flat_map(
        |(others, time, bytes, shift, text)| {
            let time_type = r#"{"type":"long","logicalType":"timestamp-millis"}"#.to_string();
            let string = || "\"string\"".to_string();
            let mut all: Columns = vec![
                ("timestamp".to_string(), time_type, Value::TimestampMillis(time)),
                ("producer".to_string(), string(), Value::String(text.clone())),
                ("fs_name".to_string(), string(), Value::String(text)),
                ("write_bytes_sum".to_string(), UNSIGNED.to_string(), Value::Long(bytes >> shift)),
            ];
            all.extend(
                others.into_iter().enumerate().map(|(at, (kind, value))| (format!("other{at}"), kind, value)),
            );
            Just(all).prop_shuffle()
        },
    )
}

/// The schema, and a message of schema 1.
fn written(columns: &Columns) -> (String, Vec<u8>) {
    let field = |(name, kind, _): &(String, String, Value)| format!(r#"{{"name":"{name}","type":{kind}}}"#);
    let fields: Vec<String> = columns.iter().map(field).collect();
    let mut schema = format!(r#"{{"type":"record","name":"row","fields":[{}]}}"#, fields.join(","));
    for number in 0.. {
        if !schema.contains('@') {
            break;
        }
        schema = schema.replacen('@', &format!("n{number}"), 1);
    }
    let parsed = Schema::parse_str(&schema).unwrap();
    let record = columns.iter().map(|(name, _, value)| (name.clone(), value.clone())).collect();
    let writer = GenericDatumWriter::builder(&parsed).build().unwrap();
    let body = writer.write_value_to_vec(Value::Record(record)).unwrap();
    (schema, [&[0, 0, 0, 0, 1][..], &body].concat())
}

/// What the library makes of a message; `None` if it refuses it or bytes are left.
fn by_library(schema: &Schema, message: &[u8]) -> Option<Vec<(String, Value)>> {
    let mut rest = message.get(5..)?;
    let reader = GenericDatumReader::builder(schema).build().unwrap();
    match reader.read_value(&mut rest) {
        Ok(Value::Record(columns)) if rest.is_empty() => Some(columns),
        _ => None,
    }
}

fn value<'a>(columns: &'a [(String, Value)], name: &str) -> &'a Value {
    &columns.iter().find(|(column, _)| column == name).unwrap().1
}

fn check(schema: &str, message: &[u8]) {
    let mut schemas = AvroSchemas::default();
    schemas.insert(1, schema).unwrap();
    let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
    let outcome = decoder.avro_message(message, &schemas, &mut out);
    assert_eq!(out.counters.len(), usize::from(outcome == Outcome::Row));
    assert_eq!(decoder.drops().total(), u64::from(outcome != Outcome::Row));
    // The library also minds what is in columns of no use: text that is none, numbers beyond 32 bits.
    let parsed = Schema::parse_str(schema).unwrap();
    let Some(columns) = by_library(&parsed, message) else { return };
    // It also takes numbers of more than 64 bits, which no writer writes.
    let writer = GenericDatumWriter::builder(&parsed).build().unwrap();
    if writer.write_value_to_vec(Value::Record(columns.clone())).is_ok_and(|body| body == message[5..]) {
        assert_ne!(outcome, Outcome::Dropped(DropReason::InvalidAvro));
    }
    if outcome == Outcome::Row {
        let row = described(&decoder, &out).remove(0);
        assert_eq!(*value(&columns, "timestamp"), Value::TimestampMillis(row.time / 1_000));
        assert_eq!(*value(&columns, "producer"), Value::String(row.producer));
        let ((_, mount), counters) = row.parts.first_key_value().unwrap();
        assert_eq!(*value(&columns, "fs_name"), Value::String(mount.clone()));
        assert_eq!(*value(&columns, "write_bytes_sum"), Value::Long(counters[0] as i64));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_library_writes_is_read(columns in columns()) {
        let (schema, message) = written(&columns);
        let mut schemas = AvroSchemas::default();
        schemas.insert(1, &schema).unwrap();
        let outcome = Decoder::default().avro_message(&message, &schemas, &mut Decoded::default());
        prop_assert_eq!(outcome, Outcome::Row);
        check(&schema, &message);
    }

    #[test]
    fn damaged_messages_agree_as_far_as_the_library_reads_them(
        columns in columns(),
        at: prop::sample::Index,
        byte: u8,
        cut: prop::sample::Index,
        how in 0..3,
    ) {
        let (schema, mut message) = written(&columns);
        let at = 5 + at.index(message.len() - 5);
        match how {
            0 => message[at] = byte,
            1 => message.insert(at, byte),
            _ => message.truncate(5 + cut.index(message.len() - 5)),
        }
        check(&schema, &message);
    }

    #[test]
    fn arbitrary_schemas_and_bytes_are_survived(
        schema in r#"[\[\]{}",:a-z]{0,40}"#,
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut schemas = AvroSchemas::default();
        let _ = schemas.insert(0, &schema);
        let mut out = Decoded::default();
        Decoder::default().message(None, &bytes, &schemas, &mut out);
        Decoder::default().avro_message(&[&[0; 5], &bytes[..]].concat(), &schemas, &mut out);
    }
}

#[test]
fn recorded_counters_are_those_of_the_library() {
    let mut schemas = AvroSchemas::default();
    schemas.load_dir(&fixtures().join("avro")).unwrap();
    let text = std::fs::read_to_string(fixtures().join("avro/6.avsc")).unwrap();
    let schema = Schema::parse_str(&text).unwrap();
    for message in messages_of("aries_rtr") {
        let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
        assert_eq!(decoder.message(None, &message, &schemas, &mut out), Outcome::Row);
        let columns = by_library(&schema, &message).unwrap();
        let row = described(&decoder, &out).remove(0);
        assert_eq!(row.parts.len(), 20);
        for ((_, tile), counters) in row.parts {
            let tile = tile.trim_start_matches('r').replace('c', "_");
            let name = |slot: usize| match slot {
                0 => format!("AR_RTR_{tile}_INQ_PRF_ROWBUS_STALL_CNT"),
                slot => format!("AR_RTR_{tile}_INQ_PRF_INCOMING_FLIT_VC{}", slot - 1),
            };
            for (slot, counter) in counters.iter().enumerate() {
                assert_eq!(*value(&columns, &name(slot)), Value::Long(*counter as i64));
            }
        }
    }
}
