//! Decoding speed: generated rows of whole Aries routers and recorded rows, in bytes and in rows a second.

use aggregator::{AvroSchemas, CsvFile, Decoded, Decoder, Outcome};
use criterion::{Criterion, Throughput, criterion_group};
use std::fmt::Write;
use std::hint::black_box;

/// A router's row in the shape of `metric_set_rtr_*_2_s`: 40 tiles, columns of a tile row interleaved, flits and
/// packets of eight virtual channels and stalls: 680 columns, of which 360 are counters that are used.
fn aries_row(router: usize, tick: u64) -> String {
    let mut row = format!(
        "{{\"timestamp\":{}.00{:04},\"producer\":\"nid{router:05}\",\"instance\":\"nid{router:05}/aries_rtr_mmr\",\
         \"component_id\":{router},\"job_id\":0,\"app_id\":0,\"aries_rtr_id\":\"c{}-0c0s{}a0\"",
        1_795_217_418 + tick,
        1_700 + router % 97,
        router / 16,
        router % 16
    );
    let mut value = 104_857_600_000 + tick * 6_018_272;
    for tile_row in 0..5 {
        let mut column = |name: &str| {
            for tile_column in 0..8 {
                value += 7_919_424_242;
                write!(row, ",\"AR_RTR_{tile_row}_{tile_column}_INQ_PRF_{name}\":{value}").unwrap();
            }
        };
        for channel in 0..8 {
            column(&format!("INCOMING_FLIT_VC{channel}"));
            column(&format!("INCOMING_PKT_VC{channel}_FILTER_FLIT{channel}_CNT"));
        }
        column("ROWBUS_STALL_CNT");
    }
    row + "}"
}

fn decode_all(decoder: &mut Decoder, out: &mut Decoded, lines: &[Vec<u8>]) {
    out.clear();
    for line in lines {
        let outcome = decoder.json_line(Some("aries_rtr"), line, out);
        assert_eq!(outcome, Outcome::Row);
    }
    black_box(&out);
}

fn json(c: &mut Criterion, name: &str, lines: &[Vec<u8>]) {
    let mut decoder = Decoder::default();
    let mut out = Decoded::default();
    let mut group = c.benchmark_group(name);
    let bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
    for (unit, amount) in
        [("bytes", Throughput::Bytes(bytes as u64)), ("rows", Throughput::Elements(lines.len() as u64))]
    {
        group.throughput(amount);
        group.bench_function(unit, |b| b.iter(|| decode_all(&mut decoder, &mut out, lines)));
    }
    group.finish();
}

fn recorded(file: &str) -> Vec<Vec<u8>> {
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let path = std::path::Path::new(&package).join("../fixtures/ldms").join(file);
    let bytes = std::fs::read(path).unwrap();
    let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    lines.map(<[u8]>::to_vec).collect()
}

/// The general way: as a decoder's first row, and as one of a known layout that has an odd value.
fn json_general(c: &mut Criterion, lines: &[Vec<u8>]) {
    let mut out = Decoded::default();
    let mut group = c.benchmark_group("aries_json_general");
    group.throughput(Throughput::Bytes(lines.iter().map(|line| line.len() as u64 + 1).sum()));
    group.bench_function("first", |b| {
        b.iter(|| {
            for line in lines {
                out.clear();
                assert_eq!(Decoder::default().json_line(None, line, &mut out), Outcome::Row);
            }
        });
    });
    let odd =
        |line: &Vec<u8>| String::from_utf8_lossy(line).replace("\"app_id\":0", "\"app_id\":1e5").into_bytes();
    let (odd, mut decoder) = (lines.iter().map(odd).collect::<Vec<_>>(), Decoder::default());
    group.bench_function("odd_value", |b| b.iter(|| decode_all(&mut decoder, &mut out, &odd)));
    group.finish();
}

fn csv(c: &mut Criterion) {
    let header = recorded("csv/decomp/aries_rtr.HEADER");
    let lines = recorded("csv/decomp/aries_rtr");
    let mut decoder = Decoder::default();
    let mut file = CsvFile::new("aries_rtr");
    let mut out = Decoded::default();
    decoder.csv_line(&mut file, &header[0], &mut out);
    let mut group = c.benchmark_group("aries_csv_recorded");
    group.throughput(Throughput::Bytes(lines.iter().map(|line| line.len() as u64 + 1).sum()));
    group.bench_function("bytes", |b| {
        b.iter(|| {
            out.clear();
            for line in &lines {
                assert_eq!(decoder.csv_line(&mut file, line, &mut out), Outcome::Row);
            }
        });
    });
    group.finish();
}

/// Recorded rows of 20 tiles: 180 counters.
fn avro(c: &mut Criterion) {
    let mut schemas = AvroSchemas::default();
    schemas.insert(6, &String::from_utf8(recorded("avro/6.avsc").concat()).unwrap()).unwrap();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let messages: Vec<Vec<u8>> = recorded("avro/ldms-avro.aries_rtr.hex")
        .iter()
        .map(|line| line.chunks(2).map(byte).collect())
        .collect();
    let mut decoder = Decoder::default();
    let mut out = Decoded::default();
    let mut group = c.benchmark_group("aries_avro_recorded");
    let bytes: usize = messages.iter().map(Vec::len).sum();
    for (unit, amount) in
        [("bytes", Throughput::Bytes(bytes as u64)), ("rows", Throughput::Elements(messages.len() as u64))]
    {
        group.throughput(amount);
        group.bench_function(unit, |b| {
            b.iter(|| {
                out.clear();
                for message in &messages {
                    assert_eq!(decoder.avro_message(message, &schemas, &mut out), Outcome::Row);
                }
                black_box(&out);
            });
        });
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    let generated: Vec<Vec<u8>> = (0..200).map(|i| aries_row(i % 100, i as u64 / 100).into_bytes()).collect();
    json(c, "aries_json_generated", &generated);
    json_general(c, &generated[..20]);
    json(c, "aries_json_recorded", &recorded("kafka/ldms.aries_rtr.jsonl"));
    json(c, "lustre_json_recorded", &recorded("kafka/ldms.lustre_client.jsonl"));
    csv(c);
    avro(c);
}

criterion_group!(benchmarks, all);
