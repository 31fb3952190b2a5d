//! The same kernel files give the same rows as LDMS: its recorded rows are written back into files, sampled at their
//! times, and both are decoded.

use crate::integration::native::support::{Bench, described, sampler, text, value};
use crate::integration::native::tree::{MOUNT, Tree, fixtures, recorded};
use aggregator::{Decoded, Decoder, Outcome};
use samplers::native::{Selection, TickRows};
use schemas::{DropReason, Time};
use serde_json::Value;
use std::fs;

fn rows_of(file: &str, node: u64) -> Vec<String> {
    let text = fs::read_to_string(fixtures().join("kafka").join(file)).unwrap();
    let rows: Vec<String> =
        text.lines().filter(|line| value(line, "component_id") == node).map(String::from).collect();
    assert!(rows.len() > 50, "{file}");
    rows
}

fn keys(line: &str) -> Vec<String> {
    let between = line.trim_matches(['{', '}']).split(",\"");
    between.map(|part| part.trim_start_matches('"').split("\":").next().unwrap().to_string()).collect()
}

/// Its digits as they are written: a float would not hold them.
fn time_of(line: &str) -> Time {
    let digits = line.trim_start_matches("{\"timestamp\":").split(',').next().unwrap().replace('.', "");
    Time(digits.parse().unwrap())
}

#[test]
fn lustre_rows_decode_to_those_of_ldms() {
    let tree = Tree::recorded();
    let mut bench = Bench::new(&tree);
    tree.remove_adapter("mlx5_0");
    bench.rescan();
    for recorded in rows_of("ldms.lustre_client.jsonl", 1) {
        let mut stats = "snapshot_time 1.0 secs.nsecs\n".to_string();
        for (column, value) in serde_json::from_str::<serde_json::Map<String, Value>>(&recorded).unwrap() {
            match (column.strip_suffix(".sum"), value.as_u64()) {
                (Some(name), Some(sum)) => stats += &format!("{name} 1 samples [bytes] 1 1 {sum}\n"),
                (None, Some(count)) => stats += &format!("{column} {count} samples [regs]\n"),
                _ => {}
            }
        }
        fs::write(tree.proc_llite().join(MOUNT).join("stats"), stats).unwrap();
        bench.clock.now = time_of(&recorded);
        let (lines, events) = bench.sample();
        assert_eq!((lines.len(), events.len()), (1, 0));
        assert_eq!(described("lustre_client", &lines[0]), described("lustre_client", &recorded));
        let (ours, theirs): (Value, Value) =
            (serde_json::from_str(&lines[0]).unwrap(), serde_json::from_str(&recorded).unwrap());
        for (column, recorded) in theirs.as_object().unwrap() {
            let comparable = !matches!(column.as_str(), "job_id");
            assert!(!comparable || ours[column] == *recorded, "{column}: {} {recorded}", ours[column]);
        }
        let common: Vec<String> =
            keys(&lines[0]).into_iter().filter(|key| theirs.get(key.as_str()).is_some()).collect();
        assert_eq!(common, keys(&recorded), "the columns stand in LDMS's order");
    }
}

#[test]
fn infiniband_rows_decode_to_those_of_ldms() {
    let tree = Tree::recorded();
    let mut bench = Bench::new(&tree);
    fs::remove_dir_all(tree.proc_llite()).unwrap();
    bench.rescan();
    for recorded in rows_of("ldms.ib_sysfs_64a115e.jsonl", 1) {
        let row: Value = serde_json::from_str(&recorded).unwrap();
        for (column, value) in row.as_object().unwrap() {
            let Some(counter) = column.strip_suffix("#mlx5_0.1") else { continue };
            let file = match counter.strip_prefix("hw.") {
                Some(counter) => format!("hw_counters/{counter}"),
                None => format!("counters/{counter}"),
            };
            fs::write(tree.port("mlx5_0", 1).join(file), format!("{value}\n")).unwrap();
        }
        bench.clock.now = time_of(&recorded);
        let (lines, events) = bench.sample();
        assert_eq!((lines.len(), events.len()), (1, 0));
        assert_eq!(described("ib_sysfs_64a115e", &lines[0]), described("ib_sysfs_64a115e", &recorded));
        let ports = |line: &str| keys(line).into_iter().filter(|key| key.contains('#')).collect::<Vec<_>>();
        assert_eq!(ports(&lines[0])[..11], ports(&recorded)[..]);
        let ours: Value = serde_json::from_str(&lines[0]).unwrap();
        assert!(ports(&recorded).iter().all(|column| ours[column] == row[column]));
    }
}

#[test]
fn the_recorded_files_are_read_digit_by_digit() {
    let tree = Tree::recorded();
    let mut bench = Bench::new(&tree);
    assert_eq!(bench.rescan().len(), 2);
    let (lines, _) = bench.sample();
    let head = concat!(
        r#"{"timestamp":1795217419.001813,"producer":"nid00001","instance":"nid00001/ib_sysfs/mlx5_0.1","#,
        r#""component_id":1,"job_id":0,"app_id":0,"port_xmit_data#mlx5_0.1":"#
    );
    assert!(lines[0].starts_with(head), "{}", lines[0]);
    for counter in ["port_xmit_data", "port_xmit_wait", "symbol_error"] {
        let file = recorded().join("infiniband/mlx5_0/ports/1/counters").join(counter);
        let content = fs::read_to_string(file).unwrap();
        assert_eq!(value(&lines[0], &format!("{counter}#mlx5_0.1")).to_string(), content.trim());
    }
    assert_eq!(value(&lines[0], "port_xmit_data#mlx5_0.1"), 9_223_372_149_279_347_863_u64);
    assert_eq!(value(&lines[1], "write_bytes.sum"), 5_627_524_939_776_u64);
    assert_eq!(value(&lines[1], "inode_permission"), 13_662);
    assert_eq!(value(&lines[1], "mkdir"), 0);
    assert_eq!(text(&lines[1], "instance"), format!("nid00001/{MOUNT}"));
}

#[test]
fn all_counters_are_read_when_asked_for() {
    let tree = Tree::recorded();
    let mut events = Vec::new();
    let mut all = sampler(&tree, Selection::All);
    all.rescan(&mut events);
    let mut rows = TickRows::default();
    all.sample(&Bench::new(&tree).clock, &mut rows, &mut events);
    let line = String::from_utf8(rows.lines().next().unwrap().1.to_vec()).unwrap();
    for file in fs::read_dir(recorded().join("infiniband/mlx5_0/ports/1/counters")).unwrap() {
        let column = format!("{}#mlx5_0.1", file.unwrap().file_name().into_string().unwrap());
        assert!(value(&line, &column).is_u64(), "{column}");
    }
    assert!(value(&line, "hw.rx_dct_connect#mlx5_0.1").is_u64());
    assert!(value(&line, "hw.lifespan#mlx5_0.1").is_null(), "milliseconds of a cache, no counter");
    assert_eq!(described("ib_sysfs", &line).5.len(), 1);
}

#[test]
fn slingshot_rows_are_read_once_every_priority_is_there() {
    let tree = Tree::empty();
    let counters = [
        ("hni_sts_tx_ok_octets", "103060429480@1743569213.088677609\n"),
        ("hni_tx_paused_0", "17@1743569213.088677610\n"),
        ("cq_cq_oxe_num_stalls", "0@1743569213.088677611\n"),
        ("not_listed", "5@1743569213.088677612\n"),
    ];
    tree.add_interface("cxi0", &counters);
    let mut bench = Bench::new(&tree);
    assert_eq!(bench.rescan(), ["Slingshot interface cxi0 is sampled"]);
    let (lines, events) = bench.sample();
    assert!(events.is_empty(), "the other counters of the list are not on this driver: {events:?}");
    assert_eq!(text(&lines[0], "nics.name"), "cxi0");
    assert_eq!(value(&lines[0], "nics.hni_sts_tx_ok_octets"), 103_060_429_480_u64);
    assert_eq!(value(&lines[0], "nics.hni_tx_paused_0"), 17);
    assert_eq!(value(&lines[0], "nics.not_listed"), Value::Null);
    let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
    let outcome = decoder.json_line(Some("slingshot_metrics"), lines[0].as_bytes(), &mut out);
    assert_eq!(outcome, Outcome::Dropped(DropReason::MissingColumn), "seven priorities are missing");
    let paused: Vec<String> = (0..8).map(|priority| format!("hni_tx_paused_{priority}")).collect();
    let whole: Vec<(&str, &str)> = paused.iter().map(|name| (name.as_str(), "17@1743569213.0\n")).collect();
    let tree = Tree::empty();
    tree.add_interface("cxi0", &[&counters[..1], &whole].concat());
    let mut bench = Bench::new(&tree);
    bench.rescan();
    let row = bench.sample().0.remove(0);
    assert_eq!(decoder.json_line(Some("slingshot_metrics"), row.as_bytes(), &mut out), Outcome::Row);
}
