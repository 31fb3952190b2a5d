//! Avro rows through a real registry equal JSON rows; a new version of the schema in the middle, and a registry that
//! comes late, lose nothing.

use super::feed::Feed;
use super::rows::{self, Row};
use super::site::Site;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;
use support::stack::{Services, turn};

/// Columns of a client's row: name in Avro, name in JSON, whether it is text.
type Column = (&'static str, &'static str, bool);

const FIRST: [Column; 12] = [
    ("producer", "producer", true),
    ("instance", "instance", true),
    ("component_id", "component_id", false),
    ("job_id", "job_id", false),
    ("fs_name", "fs_name", true),
    ("llite", "llite", true),
    ("read_bytes_sum", "read_bytes.sum", false),
    ("write_bytes_sum", "write_bytes.sum", false),
    ("open", "open", false),
    ("close", "close", false),
    ("getattr", "getattr", false),
    ("statfs", "statfs", false),
];

/// Columns added and in another order.
const SECOND: [Column; 14] = [
    ("producer", "producer", true),
    ("write_bytes_sum", "write_bytes.sum", false),
    ("open", "open", false),
    ("instance", "instance", true),
    ("llite", "llite", true),
    ("component_id", "component_id", false),
    ("fs_name", "fs_name", true),
    ("statfs", "statfs", false),
    ("read_bytes_sum", "read_bytes.sum", false),
    ("job_id", "job_id", false),
    ("getattr", "getattr", false),
    ("fsync", "fsync", false),
    ("dirty_pages_hits", "dirty_pages_hits", false),
    ("close", "close", false),
];

fn schema(columns: &[Column]) -> String {
    let time = json!({"name": "timestamp", "type": {"type": "long", "logicalType": "timestamp-millis"}});
    let field = |(name, _, text): &Column| match text {
        true => json!({"name": name, "type": "string", "default": ""}),
        false => {
            json!({"name": name, "type": {"type": "long", "logicalType": "unsigned-long"}, "default": 0})
        }
    };
    let fields: Vec<Value> = [time].into_iter().chain(columns.iter().map(field)).collect();
    json!({"name": "lustre_client", "type": "record", "fields": fields}).to_string()
}

fn put_long(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// A row of JSON in Confluent's framing.
fn avro(row: &Row, id: u32, columns: &[Column]) -> Vec<u8> {
    let value: Value = serde_json::from_slice(&row.payload).unwrap();
    let mut out = vec![0];
    out.extend(id.to_be_bytes());
    put_long(&mut out, row.time_us / 1000);
    for (_, name, text) in columns {
        if *text {
            let text = value[name].as_str().unwrap();
            put_long(&mut out, text.len() as i64);
            out.extend(text.as_bytes());
        } else {
            put_long(&mut out, value[name].as_i64().unwrap());
        }
    }
    out
}

/// The row with a timestamp that Avro can hold: whole milliseconds.
fn in_milliseconds(mut row: Row) -> Row {
    let text = String::from_utf8(row.payload).unwrap();
    let (_, rest) = text.split_once(',').unwrap();
    row.time_us -= row.time_us.rem_euclid(1000);
    let (seconds, ms) = (row.time_us / 1_000_000, row.time_us / 1000 % 1000);
    row.payload = format!("{{\"timestamp\":{seconds}.{ms:03}000,{rest}").into_bytes();
    row
}

/// Registers both versions; their ids.
fn register(site: &Site, services: &Services) -> [u32; 2] {
    let url = format!("{}/subjects/lustre_client/versions", services.registry);
    [schema(&FIRST), schema(&SECOND)].map(|schema| {
        site.database.runtime.block_on(async {
            let client = reqwest::Client::new();
            let answer = client.post(&url).json(&json!({"schema": schema})).send().await.unwrap();
            let answer: Value = answer.json().await.unwrap();
            answer["id"].as_u64().unwrap_or_else(|| panic!("{answer}")) as u32
        })
    })
}

#[test]
fn avro_equals_json_across_versions_with_a_late_registry() {
    let Some((services, _turn)) = turn() else { return };
    let json: Vec<Row> = rows::undisturbed().into_iter().map(in_milliseconds).collect();
    let expected = Site::tables_of(services, "json", &json);
    let site = Site::new(services, "avro");
    let ids = register(&site, services);
    let hung = std::fs::read_to_string(services.dir.join("registry/pid")).unwrap();
    let signal = |signal: &str| {
        assert!(Command::new("kill").args(["-s", signal, hung.trim()]).status().unwrap().success())
    };
    signal("STOP");
    let middle_us = (json[0].time_us + json[json.len() - 1].time_us) / 2;
    let mut rows = json;
    for row in rows.iter_mut().filter(|row| row.schema == "lustre_client") {
        row.payload = match row.time_us < middle_us {
            true => avro(row, ids[0], &FIRST),
            false => avro(row, ids[1], &SECOND),
        };
    }
    Feed::to(&site).all(&rows);
    let process = site.start();
    std::thread::sleep(Duration::from_secs(4));
    signal("CONT");
    site.settles_as(&expected).drops_equal(&expected);
    process.finish();
}
