//! Tables and JSON rows as LDMS' stores, decompositions and people write them: all give the same rows.

use crate::integration::files::folder;
use aggregator::{Decoded, Decoder, Outcome, Replay};
use schemas::{DropReason, JobEvent, Time};

/// Time in microseconds after the first, node, file system, counter.
type Row = (i64, String, String, u64);

fn rows_of(name: &str, content: &[u8]) -> (Vec<Row>, Decoder) {
    let (_folder, paths) = folder(&[(name, content)]);
    let (mut decoder, mut out, mut rows) = (Decoder::default(), Decoded::default(), Vec::new());
    let mut replay = Replay::open(&paths).unwrap();
    while replay.next_batch(&mut decoder, &mut out).unwrap() {
        rows.extend(out.counters.rows().map(|(source, time, counters)| {
            let source = decoder.sources().get(source).unwrap();
            let part = source.only_part().unwrap().to_string();
            (time.0 - 1_795_217_400_000_000, source.producer.to_string(), part, counters[0])
        }));
    }
    (rows, decoder)
}

fn expected() -> Vec<Row> {
    let row = |micros, node: &str, bytes| (micros, node.to_string(), "home".to_string(), bytes);
    vec![row(2_470, "n1", 100), row(2_480, "n2", 7), row(1_002_470, "n1", 300), row(1_002_480, "n2", 9)]
}

#[track_caller]
fn assert_same(content: &str) {
    let (rows, decoder) = rows_of("rows", content.as_bytes());
    assert_eq!(rows, expected(), "{content}");
    assert_eq!(decoder.drops().total(), 0, "{content}");
}

#[test]
fn options_of_store_csv_change_nothing() {
    for content in [
        "#Time,Time_usec,ProducerName,fs_name,write_bytes.sum\n1795217400.002470,2470,n1,home,100\n\
         1795217400.002480,2480,n2,home,7\n1795217401.002470,2470,n1,home,300\n1795217401.002480,2480,n2,home,9\n",
        // ietfcsv=1
        "#\"Time\",\"Time_usec\",\"ProducerName\",\"fs_name\",\"write_bytes.sum\"\n1795217400.002470,2470,\"n1\",\"home\",100\n\
         1795217400.002480,2480,\"n2\",\"home\",7\n1795217401.002470,2470,\"n1\",\"home\",300\n\
         1795217401.002480,2480,\"n2\",\"home\",9\n",
        // time_format=1
        "#Time_msec,Time_usec,ProducerName,fs_name,write_bytes.sum\n1795217400002,470,n1,home,100\n\
         1795217400002,480,n2,home,7\n1795217401002,470,n1,home,300\n1795217401002,480,n2,home,9\n",
        // userdata=1
        "#Time,Time_usec,ProducerName,fs_name.userdata,fs_name.value,write_bytes.sum.userdata,write_bytes.sum.value\n\
         1795217400.002470,2470,n1,1,home,1,100\n1795217400.002480,2480,n2,1,home,1,7\n\
         1795217401.002470,2470,n1,1,home,1,300\n1795217401.002480,2480,n2,1,home,1,9\n",
        // A decomposition that begins with a counter: the header has a comma more than the rows.
        "#,write_bytes.sum,Time,Time_usec,producer,fs_name\n100,1795217400.002470,2470,n1,home\n\
         7,1795217400.002480,2480,n2,home\n300,1795217401.002470,2470,n1,home\n9,1795217401.002480,2480,n2,home\n",
    ] {
        assert_same(content);
    }
}

#[test]
fn tables_of_people_need_no_mark_no_order_and_no_comma() {
    for content in [
        "ProducerName\tfs_name\tTIME\tWrite_Bytes.sum\nn1\thome\t1795217400.002470\t100\nn2\thome\t1795217400.002480\t7\n\
         n1\thome\t1795217401.002470\t300\nn2\thome\t1795217401.002480\t9\n",
        "write_bytes.sum;ts;prdcr;fs_name\n100;1795217400.002470;n1;home\n7;1795217400.002480;n2;home\n\
         300;1795217401.002470;n1;home\n9;1795217401.002480;n2;home\n",
        // Every value between quotes, a comma in one, and a number before each row.
        "\"\",\"timestamp\",\"note\",\"host\",\"fs_name\",\"write_bytes_sum\"\n\
         \"1\",\"1795217400.002470\",\"a, b\",\"n1\",\"home\",\"100\"\n\"2\",\"1795217400.002480\",\"\",\"n2\",\"home\",\"7\"\n\
         \"3\",\"1795217401.002470\",\"\",\"n1\",\"home\",\"300\"\n\"4\",\"1795217401.002480\",\"\",\"n2\",\"home\",\"9\"\n",
        // Tabs, a number before each row, an empty field behind it.
        "\tts\tprdcr\tfs_name\twrite_bytes.sum\tnote\n1\t1795217400.002470\tn1\thome\t100\t\n\
         2\t1795217400.002480\tn2\thome\t7\t\r\n3\t1795217401.002470\tn1\thome\t300\tx\n\
         4\t1795217401.002480\tn2\thome\t9\t\n",
        // Microseconds, node after node, and a header in between.
        "timestamp,producer,fs_name,write_bytes.sum\n1795217400002470,n1,home,100\n1795217401002470,n1,home,300\n\
         producer,timestamp,fs_name,write_bytes.sum\nn2,1795217400002480,home,7\nn2,1795217401002480,home,9\n",
    ] {
        assert_same(content);
    }
}

#[test]
fn renamed_columns_and_rows_in_lists_are_the_same_rows() {
    let rows = [(0, 2_470, "n1", 100), (0, 2_480, "n2", 7), (1, 2_470, "n1", 300), (1, 2_480, "n2", 9)];
    let written = |row: &dyn Fn(&str, &str, u64) -> String| -> Vec<String> {
        let time = |second: u64, micros: u64| format!("{}.{micros:06}", 1_795_217_400 + second);
        rows.iter().map(|(second, micros, node, bytes)| row(&time(*second, *micros), node, *bytes)).collect()
    };
    let renamed = written(&|time, node, bytes| {
        format!(
            r#"{{"ts":{time},"prdcr":"{node}","inst":"{node}/x","fs_name":"home","write_bytes.sum":{bytes}}}"#
        )
    });
    let special = written(&|time, node, bytes| {
        format!(
            r#"{{"M_timestamp":{time},"M_producer":"{node}","fs_name":"home","write_bytes.sum":{bytes}}}"#
        )
    });
    let parts = written(&|time, node, bytes| {
        let mount = format!(r#"{{"fs_name":"home","write_bytes":{{"sum":{bytes},"n":2}}}}"#);
        format!(r#"{{"timestamp":{time},"producer":"{node}","mounts":[{mount}]}}"#)
    });
    for rows in [&renamed, &special, &parts] {
        assert_same(&rows.join("\n"));
        assert_same(&format!("[{}]", rows.join(",")));
        assert_same(&format!("[\n {}\n]\n", rows.join(",\n ").replace(",\"", ",\n  \"")));
        assert_same(&format!("[{}]\n[{}]\n", rows[..2].join(","), rows[2..].join(",")));
    }
}

#[test]
fn each_record_of_a_set_is_a_row_of_its_own() {
    let line = r#"{"timestamp":1795217400.5,"producer":"n1","ib_nics":[
        {"ca_name":"mlx5_0","port":1,"port_xmit_wait":5,"port_xmit_data":6},
        {"ca_name":"mlx5_0","port":2,"port_xmit_wait":7,"port_xmit_data":8},
        {"ca_name":"mlx5_0","port":3,"port_xmit_wait":-1,"port_xmit_data":8}]}"#;
    let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
    let outcome = decoder.json_line(None, line.as_bytes(), &mut out);
    assert_eq!(outcome, Outcome::Rows(2, Some(DropReason::NegativeCounter)));
    let counters: Vec<_> = out.counters.rows().map(|(_, _, counters)| counters.to_vec()).collect();
    assert_eq!(counters, [[5, 6], [7, 8]]);
    assert_eq!(decoder.drops().get(DropReason::NegativeCounter), 1);
    let written = "#Time,Time_usec,ProducerName,ib_nics_entry_idx,ib_nics_ca_name,ib_nics_port,ib_nics_port_xmit_wait,\
                   ib_nics_port_xmit_data\n1795217400.5,500000,n1,0,mlx5_0,1,5,6\n";
    assert_eq!(rows_of("x", written.as_bytes()).0, [(500_000, "n1".into(), "mlx5_0.1".into(), 5)]);
}

/// `text` with an `E` of Latin-1 for each `~`.
fn latin1(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| if byte == b'~' { 0xe9 } else { byte }).collect()
}

fn only_job(decode: impl FnOnce(&mut Decoder, &mut Decoded) -> Outcome) -> JobEvent {
    let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
    assert_eq!(decode(&mut decoder, &mut out), Outcome::Jobs(1), "{:?}", decoder.examples());
    out.jobs.remove(0)
}

#[test]
fn a_byte_that_is_no_utf8_costs_the_text_and_not_the_row() {
    let row = latin1(
        "{\"timestamp\":1795217400.5,\"job_name\":\"caf~\",\"producer\":\"n1\",\"fs_name\":\"a\",\"write_bytes.sum\":5}",
    );
    assert_eq!(rows_of("x", &row).0, [(500_000, "n1".into(), "a".into(), 5)]);
    let table = latin1("Time,producer,fs_name,note,write_bytes.sum\n1795217400.5,n1,a,caf~,5\n");
    assert_eq!(rows_of("x", &table).0, [(500_000, "n1".into(), "a".into(), 5)]);

    let job = latin1(
        "{\"timestamp\":1795217400.5,\"producer\":\"n1\",\"job_id\":6,\"user\":\"ann\",\"job_name\":\"caf~\",\"job_start\":1795217399,\"job_end\":0}",
    );
    assert_eq!(only_job(|decoder, out| decoder.json_line(None, &job, out)).name, "caf\u{fffd}");
    let mut file = aggregator::CsvFile::new("slurm_jobs");
    let lines = latin1(
        "#Time,producer,job_id,user,job_name,job_start,job_end\n1795217400.5,n1,6,ann,caf~,1795217399,0",
    );
    let lines: Vec<&[u8]> = lines.split(|byte| *byte == b'\n').collect();
    let event = only_job(|decoder, out| {
        decoder.csv_line(&mut file, lines[0], out);
        decoder.csv_line(&mut file, lines[1], out)
    });
    assert_eq!(event.name, "caf\u{fffd}");
}

#[test]
fn messages_of_jobs_survive_a_byte_that_is_no_utf8() {
    let ended = "{\"jobid\":9,\"nodes\":\"n[1-2]\",\"@start\":\"2026-11-21T05:30:00\",\"@end\":\"2026-11-21T05:40:00\",\"username\":\"ann\",\"job_name\":\"caf~\",\"script\":\"# ~\"}";
    let posted =
        "{\"job_id\":\"9\",\"nodes\":[\"n1\"],\"start\":1795217400,\"user\":\"ann\",\"name\":\"caf~\"}";
    for message in [ended, posted] {
        let event =
            only_job(|decoder, out| decoder.job_message(&latin1(message), Time(1_795_300_000_000_000), out));
        assert_eq!((event.name.as_str(), event.user.as_str()), ("caf\u{fffd}", "ann"));
    }
}

#[test]
fn columns_that_are_wanted_are_named_where_none_is_known() {
    let (_folder, paths) = folder(&[("load", b"when,machine,load\nnoon,n1,3\n")]);
    let message = Replay::open(&paths).unwrap_err().to_string();
    for wanted in ["timestamp", "producer", "component_id", "write_bytes.sum"] {
        assert!(message.contains(wanted), "{message}");
    }
}
