//! Every kind of recorded row gives the sources, counters, jobs and drops that it should.

use crate::integration::support::{Row, described, fixtures, key};
use aggregator::{CsvFile, Decoded, Decoder, JobBook, Outcome, Replay};
use schemas::{DropReason, Job, Metric, NOT_MEASURED, Name, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

struct Replayed {
    rows: Vec<Row>,
    jobs: JobBook,
    decoder: Decoder,
    skipped: usize,
}

fn replay(files: &[PathBuf]) -> Replayed {
    let mut replay = Replay::open(files).unwrap();
    let mut decoder = Decoder::default();
    let mut out = Decoded::default();
    let (mut rows, mut jobs) = (Vec::new(), JobBook::default());
    while replay.next_batch(&mut decoder, &mut out).unwrap() {
        rows.extend(described(&decoder, &out));
        jobs.fold(&out.jobs);
    }
    assert_eq!(replay.bytes_read(), replay.total_bytes());
    Replayed { rows, jobs, decoder, skipped: replay.skipped().len() }
}

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(fixtures().join(folder)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn series(rows: &[Row]) -> BTreeSet<String> {
    let name =
        |row: &Row, (metric, part): &(Metric, String)| format!("{}/{}/{part}", metric.name(), row.component);
    rows.iter().flat_map(|row| row.parts.keys().map(|key| name(row, key))).collect()
}

fn counts(rows: &[Row]) -> BTreeMap<(&str, &str), usize> {
    let mut counts = BTreeMap::new();
    for row in rows {
        *counts.entry((row.schema.as_str(), row.producer.as_str())).or_default() += 1;
    }
    counts
}

fn job(id: &str, user: &str, name: &str, node: &str, start: i64, end: i64) -> Job {
    Job {
        job_id: Name::parse(id).unwrap(),
        user: user.to_string(),
        name: name.to_string(),
        nodes: vec![Name::parse(node).unwrap()],
        start: Time(start * 1_000_000),
        end: Some(Time(end * 1_000_000)),
        end_presumed: false,
        label: String::new(),
        app: None,
    }
}

fn recorded_jobs() -> Vec<Job> {
    vec![
        job("6", "alice", "ior_victim", "nid00001", 1_795_217_430, 1_795_217_701),
        job("7", "bob", "checkpoint_aggressor", "nid00002", 1_795_217_540, 1_795_217_637),
        job("8", "bob", "post proc", "nid00002", 1_795_217_667, 1_795_217_682),
    ]
}

#[test]
fn topics_give_all_sources() {
    let all = replay(&files("kafka"));
    assert_eq!(all.skipped, 1);
    let counts = counts(&all.rows);
    assert_eq!(counts[&("lustre_client", "nid00001")], 644);
    assert_eq!(counts[&("lustre_client", "nid00002")], 644);
    assert_eq!(counts[&("aries_rtr", "nid00002")], 322 + 9);
    assert_eq!(counts[&("lustre2_client", "nid00001")], 20);
    assert_eq!(counts[&("lustre2_client", "nid00002")], 20);
    for schema in ["ib_sysfs", "ibmad", "ibmad_records", "sysclassib"] {
        assert!(counts[&(schema, "nid00001")] >= 10, "{schema}");
    }
    assert_eq!(all.decoder.drops().get(DropReason::Unattributable), 10);
    assert_eq!(all.decoder.drops().get(DropReason::UnusedSchema), 6);
    assert_eq!(all.decoder.drops().total(), 16);
    let names = series(&all.rows);
    let others: Vec<_> = names.iter().filter(|name| !name.starts_with("aries_stall")).collect();
    assert_eq!(
        others,
        [
            "aries_nic_stall_ratio/nid00001/c0-0c0s0a0",
            "aries_nic_stall_ratio/nid00002/c0-0c0s0a0",
            "ib_wait_ratio/nid00001/mlx5_0.1",
            "ib_wait_ratio/nid00002/mlx5_0.1",
            "lustre_metadata_rate/nid00001/snx11168",
            "lustre_metadata_rate/nid00002/snx11168",
            "lustre_read_rate/nid00001/snx11168",
            "lustre_read_rate/nid00002/snx11168",
            "lustre_write_rate/nid00001/snx11168",
            "lustre_write_rate/nid00002/snx11168",
        ]
    );
    assert_eq!(names.len() - others.len(), 20);
    assert!(names.contains("aries_stall_ratio/c0-0c0s0/r4c3"));
    // As they arrived, so not quite in order: two nodes of one second may be exchanged.
    assert!(all.rows.windows(2).all(|pair| pair[1].time > pair[0].time - 1_000_000));
}

#[test]
fn csv_and_json_of_one_set_agree() {
    // Each topic and file has its own order of arrival.
    let sorted = |path: &str| {
        let mut rows = replay(&[fixtures().join(path)]);
        rows.rows.sort_by_key(|row| row.time);
        rows
    };
    let json = sorted("kafka/ldms.lustre_client.jsonl");
    let as_is = sorted("kafka/ldms-asis.lustre_client_0aba9c8.jsonl");
    let csv = sorted("csv/decomp/lustre_client");
    assert_eq!(json.rows.len(), 644);
    assert_eq!(json.rows, csv.rows);
    assert_eq!(json.rows, as_is.rows);
    assert_eq!(json.rows[0].parts[&key("lustre_write_rate", "snx11168")], [5_543_888_420_864]);
    assert_eq!(json.rows[0].time, 1_795_217_419_001_813);
    let tiles = replay(&[fixtures().join("kafka/ldms.aries_rtr_2tiles.jsonl")]);
    assert_eq!(tiles.rows.len(), 645);
    assert!(
        tiles.rows.iter().all(|row| row.parts.keys().map(|(_, part)| part.as_str()).eq(["r0c0", "r0c1"]))
    );
}

#[test]
fn csv_folders_are_read_with_their_companions() {
    for (folder, companions) in [("csv/classic", 21), ("csv/decomp", 26)] {
        let all = replay(&files(folder));
        assert_eq!(all.skipped, companions, "{folder}");
        assert_eq!(all.decoder.drops().total(), all.decoder.drops().get(DropReason::UnusedSchema));
        let names = series(&all.rows);
        for name in ["lustre_write_rate/nid00002/snx11168", "ib_wait_ratio/nid00001/mlx5_0.1"] {
            assert!(names.contains(name), "{folder}: {name}");
        }
        let jobs: Vec<Job> = all.jobs.jobs().filter(|job| job.job_id.as_str() > "5").collect();
        assert_eq!(jobs, recorded_jobs(), "{folder}");
    }
}

#[test]
fn all_job_samplers_report_the_same_jobs() {
    for topic in ["ldms.slurm_jobs", "ldms-asis.mt-slurm2_5bd0733", "ldms.mt-slurm_5d68ee2"] {
        let jobs = replay(&[fixtures().join(format!("kafka/{topic}.jsonl"))]).jobs;
        assert_eq!(jobs.jobs().collect::<Vec<_>>(), recorded_jobs(), "{topic}");
    }
    let info = replay(&[fixtures().join("kafka/ldms.jobinfo_777211b.jsonl")]);
    let mut jobs = info.jobs.jobs();
    assert_eq!(jobs.next(), Some(job("3", "alice", "ior_victim", "nid00001", 1_795_217_003, 1_795_217_273)));
}

#[test]
fn rows_of_avro_clients_are_counted_not_misread() {
    let mut decoded = files("avro");
    decoded.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let all = replay(&decoded);
    assert!(all.rows.is_empty());
    assert!(all.decoder.drops().total() >= 15);
}

fn decode(lines: &[&str]) -> (Vec<Outcome>, Decoder, Decoded) {
    let mut decoder = Decoder::default();
    let mut out = Decoded::default();
    let outcomes = lines.iter().map(|line| decoder.json_line(None, line.as_bytes(), &mut out)).collect();
    (outcomes, decoder, out)
}

fn lustre(rest: &str) -> String {
    format!(r#"{{"timestamp":1795217419.5,"component_id":1,"fs_name":"a",{rest}}}"#)
}

fn assert_dropped(line: &str, reason: DropReason) {
    let (outcomes, decoder, out) = decode(&[line]);
    assert_eq!(outcomes, [Outcome::Dropped(reason)], "{line:.200}");
    assert!(out.is_empty());
    assert!(decoder.examples().get(reason).unwrap().starts_with(":0: "), "{line:.200}");
}

#[test]
fn rows_with_bad_values_are_counted_with_reason_and_example() {
    for (rest, reason) in [
        (r#""write_bytes.sum":-1"#, DropReason::NegativeCounter),
        (r#""write_bytes.sum":nan"#, DropReason::InvalidJson),
        (r#""write_bytes.sum":1,"x.rate":nan"#, DropReason::InvalidJson),
        (r#""write_bytes.sum":1,"x":["#, DropReason::InvalidJson),
        (r#""write_bytes.sum":"1""#, DropReason::BadValue),
        (r#""write_bytes.sum":1.0"#, DropReason::BadValue),
        (r#""write_bytes.sum":18446744073709551616"#, DropReason::BadValue),
        (r#""write_bytes.sum":1,"producer":"a/b""#, DropReason::BadName),
        (r#""llite":"a-1""#, DropReason::MissingColumn),
    ] {
        assert_dropped(&lustre(rest), reason);
    }
    let line = lustre(r#""write_bytes.sum":1"#);
    assert_dropped(&"[".repeat(100_000), DropReason::InvalidJson);
    assert_dropped(&line[..30], DropReason::InvalidJson);
    for (old, new, reason) in [
        ("1795217419.5", "17", DropReason::BadTimestamp),
        ("timestamp", "when", DropReason::MissingTimestamp),
        ("component_id", "x", DropReason::Unattributable),
        (r#""write_bytes.sum""#, r#""wrote""#, DropReason::UnknownSchema),
    ] {
        assert_dropped(&line.replace(old, new), reason);
    }
}

#[test]
fn job_rows_without_start_or_node_are_counted() {
    for rest in [
        r#""component_id":1,"job_id":6,"job_start":0"#,
        r#""component_id":1,"job_start":1795217419"#,
        r#""component_id":1,"job_id":6,"job_start":18446744073709551615"#,
        r#""component_id":1,"job_id":6,"job_start":1795217419,"job_end":1795217418"#,
        r#""job_id":6,"job_start":1795217419"#,
        r#""component_id":[1],"job_id":[6,7],"job_start":[1795217419,0]"#,
    ] {
        assert_dropped(&format!(r#"{{"timestamp":1795217419.5,{rest}}}"#), DropReason::BadJob);
    }
}

#[test]
fn odd_but_valid_rows_are_read() {
    for line in [
        "\u{feff}{\"timestamp\":1795217419.5,\"component_id\":1,\"fs_name\":\"a\",\"write_bytes.sum\":7}\r",
        "{ \"write_bytes.sum\" : 7 , \"fs_n\\u0061me\" : \"\\u0061\", \"component_id\":1, \"timestamp\" : 1795217419.500000 }",
        r#"{"timestamp":1795217419.5,"producer":"nid00001","component_id":9,"fs_name":"a","x":{"y":[{}]},"write_bytes.sum":-3,"write_bytes.sum":7}"#,
        r#"{"timestamp":1795217419.5,"producer":"","component_id":1,"x":"\ud800","fs_name":"a","write_bytes.sum":7}"#,
    ] {
        let (outcomes, decoder, out) = decode(&[line, line]);
        assert_eq!(outcomes, [Outcome::Row; 2], "{line}");
        let row = described(&decoder, &out).remove(1);
        assert_eq!((row.time, row.producer.as_str()), (1_795_217_419_500_000, "nid00001"));
        assert_eq!(row.parts, BTreeMap::from([(key("lustre_write_rate", "a"), vec![7])]));
    }
}

#[test]
fn free_text_of_users_is_tamed() {
    let name = format!("a\\u0007b\\u202e{}", "x".repeat(300));
    let line = format!(
        r#"{{"timestamp":1795217419.5,"producer":"n","job_id":"6_1","user":"bob \"q\"","job_name":"{name}","job_start":1795217419,"job_end":0}}"#
    );
    let (_, _, out) = decode(&[&line]);
    let event = &out.jobs[0];
    assert_eq!(event.job_id.as_str(), "6_1");
    assert_eq!(event.user, "bob \"q\"");
    assert!(event.name.starts_with("a\u{fffd}b\u{fffd}xx"));
    assert_eq!(event.name.chars().count(), 128);
    assert_eq!(event.end, None);
}

#[test]
fn a_row_with_several_ports_is_one_source_with_several_parts() {
    let line = r#"{"timestamp":1795217419.5,"component_id":3,"ib.port_xmit_data#b.1":4,"ib.port_xmit_wait#b.1":3,"ib.port_xmit_wait#a.1":1,"ib.port_xmit_data#a.1":2,"ib.port_xmit_wait#c.1":9}"#;
    let (_, decoder, out) = decode(&[line]);
    let (source, _, counters) = out.counters.rows().next().unwrap();
    assert_eq!(counters, [1, 2, 3, 4]);
    assert_eq!(decoder.sources().get(source).unwrap().rank, 3);
    assert_eq!(described(&decoder, &out)[0].parts.len(), 2);
}

#[test]
fn sources_beyond_the_limit_are_dropped_and_known_ones_go_on() {
    let mut decoder = Decoder::new(aggregator::NodeNaming::default(), 2);
    let mut out = Decoded::default();
    let mut decode = |id: u32| {
        let line =
            format!(r#"{{"timestamp":1795217419.5,"component_id":{id},"fs_name":"a","write_bytes.sum":1}}"#);
        decoder.json_line(None, line.as_bytes(), &mut out)
    };
    for (id, outcome) in [
        (1, Outcome::Row),
        (2, Outcome::Row),
        (3, Outcome::Dropped(DropReason::BufferFull)),
        (1, Outcome::Row),
    ] {
        // The layout has a new plan after the general way, so each is asked twice.
        assert_eq!(decode(id), outcome);
        assert_eq!(decode(id), outcome);
    }
}

#[test]
fn csv_headers_may_change_in_mid_file() {
    let mut decoder = Decoder::default();
    let mut out = Decoded::default();
    let mut file = CsvFile::new("lustre_client");
    let mut decode = |line: &str| decoder.csv_line(&mut file, line.as_bytes(), &mut out);
    let dropped = Outcome::Dropped;
    for (line, outcome) in [
        ("1795217419.5,500000,nid00001,a,7", dropped(DropReason::CsvWithoutHeader)),
        ("#Time,Time_usec,ProducerName,fs_name,write_bytes.sum\r", Outcome::Skipped),
        ("#!ldms-kinds!timestamp,u64,char[]64,char[],u64", Outcome::Skipped),
        ("1795217419.5,500000,nid00001,a,7\r", Outcome::Row),
        ("", Outcome::Skipped),
        ("1795217419.5,500000,nid00001,a", dropped(DropReason::InvalidCsv)),
        ("1795217419.5,500000,nid00001,a,-7", dropped(DropReason::NegativeCounter)),
        ("1795217419.5,500000,nid00001,a,nan", dropped(DropReason::BadValue)),
        ("#Time,Time_usec,ProducerName,llite,write_bytes.sum,fs_name", Outcome::Skipped),
        ("1795217420.5,500000,nid00001,b-1,8,b", Outcome::Row),
        ("#Time,Time_usec,ProducerName,x", Outcome::Skipped),
        ("1795217420.5,500000,nid00001,1", dropped(DropReason::UnknownSchema)),
    ] {
        assert_eq!(decode(line), outcome, "{line}");
    }
    let rows = described(&decoder, &out);
    assert_eq!(rows[1].parts, BTreeMap::from([(key("lustre_write_rate", "b"), vec![8])]));
}

/// LDMS cuts the name of a file system at its first dash; the llite directory has all of it.
#[test]
fn file_systems_with_dashes_in_names_are_distinguished() {
    let mut decoder = Decoder::default();
    let mut decoded = Decoded::default();
    for (mount, bytes) in [("proj-a-ffff8f0011223000", 1), ("proj-b-ffff8f0011224000", 2)] {
        let row = format!(
            r#"{{"timestamp":1500000000.0,"producer":"c1","component_id":1,"fs_name":"proj","llite":"{mount}","write_bytes.sum":{bytes}}}"#
        );
        assert_eq!(decoder.json_line(None, row.as_bytes(), &mut decoded), Outcome::Row);
    }
    let parts: Vec<&str> = decoder.sources().as_slice().iter().map(|s| s.parts[0].as_str()).collect();
    assert_eq!(parts, ["proj-a", "proj-b"]);
}

/// What cannot be read of one metric costs that one alone.
#[test]
fn row_of_several_metrics_is_used_as_far_as_it_can_be_read() {
    let row = |read: &str, opened: &str| {
        format!(
            r#"{{"timestamp":1500000000.0,"producer":"c1","fs_name":"a","read_bytes.sum":{read},"write_bytes.sum":5,"open":{opened}}}"#
        )
    };
    let operations = |opened: u64| {
        let mut counters = vec![NOT_MEASURED; 16];
        counters[0] = opened;
        counters
    };
    let lost = Some(DropReason::BadValue);
    for (read, opened, outcome, counters) in [
        ("4", "3", Outcome::Row, (operations(3), 4)),
        ("null", "3", Outcome::Rows(1, lost), (operations(3), NOT_MEASURED)),
        ("4", "null", Outcome::Rows(1, lost), (operations(NOT_MEASURED), 4)),
    ] {
        let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
        assert_eq!(
            decoder.json_line(None, row(read, opened).as_bytes(), &mut out),
            outcome,
            "{read} {opened}"
        );
        let wanted = BTreeMap::from([
            (key("lustre_metadata_rate", "a"), counters.0),
            (key("lustre_read_rate", "a"), vec![counters.1]),
            (key("lustre_write_rate", "a"), vec![5]),
        ]);
        assert_eq!(described(&decoder, &out)[0].parts, wanted, "{read} {opened}");
    }
}
