//! Devices and mounts appear, vanish and contain garbage; sampling of the others continues.

use crate::integration::native::support::{Bench, described, text, value};
use crate::integration::native::tree::{MOUNT, Tree};
use std::fs;
use std::path::Path;

fn node_with_two_of_each() -> Tree {
    let tree = Tree::recorded();
    tree.add_adapter("mlx5_1", &[1, 2]);
    tree.add_mount(&tree.proc_llite(), "home-ffff88103d6bd111");
    tree
}

const ALL: [&str; 5] = [
    "nid00001/ib_sysfs/mlx5_0.1",
    "nid00001/ib_sysfs/mlx5_1.1",
    "nid00001/ib_sysfs/mlx5_1.2",
    "nid00001/home-ffff88103d6bd111",
    "nid00001/snx11168-ffff88103d6bd000",
];

#[test]
fn a_device_that_vanishes_and_returns_does_not_stop_the_others() {
    let tree = node_with_two_of_each();
    let mut bench = Bench::new(&tree);
    assert_eq!(bench.rescan().len(), 5);
    assert_eq!(bench.instances(), ALL);
    tree.remove_adapter("mlx5_1");
    let events = bench.rescan();
    assert_eq!(events.len(), 2, "one line a port: {events:?}");
    assert!(events[0].contains("mlx5_1.1 is gone"));
    for _ in 0..3 {
        assert_eq!(bench.rescan(), Vec::<String>::new(), "reported once");
        assert_eq!(bench.instances(), [ALL[0], ALL[3], ALL[4]]);
    }
    tree.add_adapter("mlx5_1", &[1, 2]);
    fs::write(tree.wait_file("mlx5_1", 2), "77\n").unwrap();
    assert_eq!(bench.rescan().len(), 2);
    let (lines, _) = bench.sample();
    assert_eq!(lines.len(), 5);
    assert_eq!(value(&lines[2], "port_xmit_wait#mlx5_1.2"), 77, "the new device's file is read");
}

#[test]
fn device_replaced_between_two_rescans_is_reopened() {
    let tree = Tree::recorded();
    let mut bench = Bench::new(&tree);
    bench.rescan();
    bench.sample();
    tree.remove_adapter("mlx5_0");
    tree.add_adapter("mlx5_0", &[1]);
    fs::write(tree.wait_file("mlx5_0", 1), "5\n").unwrap();
    let events = bench.rescan();
    assert!(events.len() == 2 && events[0].contains("replaced"), "{events:?}");
    assert_eq!(value(&bench.sample().0[0], "port_xmit_wait#mlx5_0.1"), 5);
}

#[test]
fn mounts_come_and_go() {
    let tree = Tree::empty();
    let mut bench = Bench::new(&tree);
    assert!(bench.rescan().is_empty() && bench.sample().0.is_empty());
    tree.add_mount(&tree.proc_llite(), MOUNT);
    assert_eq!(bench.rescan(), [format!("Lustre mount {MOUNT} is sampled")]);
    assert_eq!(bench.instances(), [format!("nid00001/{MOUNT}")]);
    fs::remove_dir_all(tree.proc().join("fs")).unwrap();
    assert_eq!(bench.rescan().len(), 1);
    assert!(bench.instances().is_empty());
    // Another mount has another superblock.
    tree.add_mount(&tree.proc_llite(), "snx11168-ffff88103d6bd222");
    assert_eq!(bench.rescan().len(), 1);
    assert_eq!(text(&bench.sample().0[0], "fs_name"), "snx11168");
}

#[test]
fn both_places_of_lustre_are_read_and_a_mount_once() {
    let tree = Tree::empty();
    tree.add_mount(&tree.proc_llite(), "old-ffff000000000001");
    tree.add_mount(&tree.debug_llite(), "new-ffff000000000002");
    for llite in [tree.proc_llite(), tree.debug_llite()] {
        tree.add_mount(&llite, MOUNT);
    }
    let stats = tree.debug_llite().join(MOUNT).join("stats");
    fs::write(&stats, "snapshot_time 1.0\nwrite_bytes 1 samples [bytes] 8 8 8\n").unwrap();
    let mut bench = Bench::new(&tree);
    assert_eq!(bench.rescan().len(), 3);
    let (lines, _) = bench.sample();
    let names: Vec<String> = lines.iter().map(|line| text(line, "fs_name")).collect();
    assert_eq!(names, ["new", "old", "snx11168"]);
    assert_eq!(value(&lines[2], "write_bytes.sum"), 8, "debugfs precedes procfs");
    // A stale file in the preferred path does not hide the other one.
    fs::write(&stats, "").unwrap();
    let mut other = Bench::new(&tree);
    other.rescan();
    assert_eq!(value(&other.sample().0[2], "write_bytes.sum"), 5_627_524_939_776_u64);
}

#[test]
fn counters_change_and_wrap_from_row_to_row() {
    let tree = Tree::recorded();
    let mut bench = Bench::new(&tree);
    bench.rescan();
    for wait in [u64::MAX - 1, u64::MAX, 3, 0] {
        fs::write(tree.wait_file("mlx5_0", 1), format!("{wait}\n")).unwrap();
        let (lines, events) = bench.sample();
        assert!(events.is_empty());
        let (.., parts) = described("ib_sysfs", &lines[0]);
        assert_eq!(parts["mlx5_0.1"], [wait, 9_223_372_149_279_347_863]);
    }
}

#[test]
fn garbage_is_reported_once_and_never_becomes_a_number() {
    let tree = node_with_two_of_each();
    let mut bench = Bench::new(&tree);
    bench.rescan();
    let errors = tree.port("mlx5_0", 1).join("counters/symbol_error");
    let stats = tree.proc_llite().join(MOUNT).join("stats");
    let sound = fs::read(&stats).unwrap();
    let garbage: [&[u8]; 5] = [b"", b"N/A (no PMA)\n", b"\xff\xfe\x00", b"-1\n", &[b'9'; 5000]];
    for content in garbage {
        // An optional counter is missing; the rest of the row stays.
        fs::write(&errors, content).unwrap();
        let (lines, events) = bench.sample();
        assert_eq!((lines.len(), events.len()), (5, 1), "{events:?}");
        assert!(value(&lines[0], "symbol_error#mlx5_0.1").is_null());
        assert_eq!(described("ib_sysfs", &lines[0]).5.len(), 1);
        assert!(bench.sample().1.is_empty(), "reported once");
        fs::write(&errors, "0\n").unwrap();
        assert_eq!(bench.sample().1, Vec::<String>::new());
        // Without those that are needed there is no row.
        fs::write(tree.wait_file("mlx5_0", 1), content).unwrap();
        fs::write(&stats, content).unwrap();
        let (lines, events) = bench.sample();
        assert_eq!((lines.len(), events.len()), (3, 2), "{events:?}");
        assert!(events[0].contains("port_xmit_wait") && events[1].contains("stats"), "{events:?}");
        assert!(bench.sample().1.is_empty());
        fs::write(tree.wait_file("mlx5_0", 1), "1\n").unwrap();
        fs::write(&stats, &sound).unwrap();
        assert_eq!(bench.instances(), ALL);
    }
}

#[test]
fn missing_optional_counters_are_skipped_needed_ones_refuse() {
    let tree = Tree::recorded();
    tree.add_adapter("bare_0", &[1]);
    fs::remove_dir_all(tree.port("mlx5_0", 1).join("hw_counters")).unwrap();
    fs::remove_file(tree.port("mlx5_0", 1).join("counters/port_rcv_data")).unwrap();
    fs::remove_file(tree.wait_file("bare_0", 1)).unwrap();
    let mut bench = Bench::new(&tree);
    let events = bench.rescan();
    assert!(
        events[0].contains("bare_0.1 cannot be sampled") && events[0].contains("port_xmit_wait"),
        "{events:?}"
    );
    assert_eq!(events.len(), 3);
    assert!(bench.rescan().is_empty(), "reported once");
    let (lines, _) = bench.sample();
    assert_eq!(lines.len(), 2);
    assert!(value(&lines[0], "port_rcv_data#mlx5_0.1").is_null());
    assert!(!lines[0].contains("hw."));
    fs::write(tree.wait_file("bare_0", 1), "4\n").unwrap();
    assert_eq!(bench.rescan(), ["InfiniBand port bare_0.1 is sampled"]);
}

#[test]
fn a_file_that_fails_in_the_middle_costs_its_own_rows_only() {
    let tree = node_with_two_of_each();
    let mut bench = Bench::new(&tree);
    // Reading a folder fails with EISDIR, as a device with EIO; the same path later holds a file.
    let wait = tree.wait_file("mlx5_1", 1);
    fs::remove_file(&wait).unwrap();
    fs::create_dir(&wait).unwrap();
    let events = bench.rescan();
    assert_eq!(events.iter().filter(|event| event.contains("cannot be sampled")).count(), 1, "{events:?}");
    assert_eq!(bench.instances(), [ALL[0], ALL[2], ALL[3], ALL[4]]);
    fs::remove_dir(&wait).unwrap();
    fs::write(&wait, "1\n").unwrap();
    assert_eq!(bench.rescan().len(), 1);
    assert_eq!(bench.instances(), ALL);
}

#[test]
fn optional_counter_that_fails_in_a_tick_costs_its_column() {
    let tree = Tree::recorded();
    let errors = tree.port("mlx5_0", 1).join("counters/symbol_error");
    fs::remove_file(&errors).unwrap();
    let mut process = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    std::os::unix::fs::symlink(format!("/proc/{}/oom_score", process.id()), &errors).unwrap();
    let mut bench = Bench::new(&tree);
    bench.rescan();
    assert!(value(&bench.sample().0[0], "symbol_error#mlx5_0.1").is_u64());
    process.kill().unwrap();
    process.wait().unwrap();
    let (lines, events) = bench.sample();
    assert_eq!((lines.len(), events.len()), (2, 1), "{events:?}");
    assert!(events[0].contains("symbol_error"), "{events:?}");
    assert!(value(&lines[0], "symbol_error#mlx5_0.1").is_null());
    assert!(value(&lines[0], "port_xmit_wait#mlx5_0.1").is_u64());
    assert!(bench.sample().1.is_empty(), "reported once");
}

#[test]
fn device_that_fails_in_a_tick_is_reported_once_and_returns() {
    let tree = node_with_two_of_each();
    let wait = tree.wait_file("mlx5_1", 1);
    fs::remove_file(&wait).unwrap();
    // A number that can be read as long as a process lives; an open file of it then fails with ESRCH, as one of a
    // device that was pulled out fails with ENODEV.
    let mut process = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    std::os::unix::fs::symlink(format!("/proc/{}/oom_score", process.id()), &wait).unwrap();
    let mut bench = Bench::new(&tree);
    assert_eq!(bench.rescan().len(), 5);
    assert_eq!(bench.instances(), ALL);
    process.kill().unwrap();
    process.wait().unwrap();
    let (lines, events) = bench.sample();
    assert_eq!((lines.len(), events.len()), (4, 1), "{events:?}");
    assert!(events[0].contains("mlx5_1.1 is gone"), "{events:?}");
    for _ in 0..3 {
        assert!(bench.sample().1.is_empty() && bench.rescan().is_empty(), "reported once");
    }
    fs::remove_file(&wait).unwrap();
    fs::write(&wait, "1\n").unwrap();
    assert_eq!(bench.rescan(), ["InfiniBand port mlx5_1.1 is sampled"]);
    assert_eq!(bench.instances(), ALL);
}

#[test]
fn unreadable_counter_is_retried_silently() {
    let tree = Tree::recorded();
    let errors = tree.port("mlx5_0", 1).join("counters/symbol_error");
    fs::remove_file(&errors).unwrap();
    fs::create_dir(&errors).unwrap();
    let mut bench = Bench::new(&tree);
    assert_eq!(bench.rescan().len(), 2);
    assert!(value(&bench.sample().0[0], "symbol_error#mlx5_0.1").is_null());
    fs::remove_dir(&errors).unwrap();
    fs::write(&errors, "9\n").unwrap();
    assert!(bench.rescan().is_empty());
    assert_eq!(value(&bench.sample().0[0], "symbol_error#mlx5_0.1"), 9);
}

#[test]
fn names_that_no_row_may_carry_are_left_out() {
    let tree = Tree::recorded();
    for name in ["evil\",\"x", "with space", "é"] {
        tree.add_adapter(name, &[1]);
        tree.add_mount(&tree.proc_llite(), name);
    }
    fs::create_dir_all(tree.port("mlx5_0", 1).with_file_name("x y")).unwrap();
    let mut bench = Bench::new(&tree);
    let events = bench.rescan();
    assert_eq!(events.iter().filter(|event| event.contains("left out")).count(), 7, "{events:?}");
    assert!(bench.rescan().is_empty(), "reported once");
    assert_eq!(bench.instances().len(), 2);
}

#[test]
fn dangling_links_and_files_for_folders_are_tolerated() {
    let tree = Tree::recorded();
    let class = tree.sys().join("class/infiniband");
    std::os::unix::fs::symlink(Path::new("/nowhere/at/all"), class.join("mlx5_9")).unwrap();
    fs::write(class.join("abi_version"), "1\n").unwrap();
    fs::create_dir_all(tree.sys().join("class/cxi/cxi0")).unwrap();
    fs::create_dir_all(tree.sys().join("kernel/debug")).unwrap();
    fs::write(tree.sys().join("kernel/debug/lustre"), "").unwrap();
    let mut bench = Bench::new(&tree);
    assert_eq!(bench.rescan().len(), 2);
    assert_eq!(bench.instances().len(), 2);
}
