//! Waits of Lustre's clients for their servers, and refusals of a Slingshot interface's packets.

use crate::integration::native::support::{Bench, node, text, value};
use crate::integration::native::tree::{MOUNT, Tree};
use samplers::native::{Roots, Sampler, Selection};
use std::fs;
use std::path::PathBuf;

const ADDRESS: &str = "ffff88103d6bd000";

/// A mount with connections to one metadata server and to object servers, whose requests waited so many microseconds.
fn mount(object_servers: &[u64]) -> Tree {
    let tree = Tree::empty();
    tree.add_mount(&tree.debug_llite(), MOUNT);
    connect(&tree, &format!("mdc/snx11168-MDT0000-mdc-{ADDRESS}"), 10, 4_000);
    for (at, waited_us) in object_servers.iter().enumerate() {
        connect(&tree, &object_server(at), 100, *waited_us);
    }
    tree
}

fn object_server(at: usize) -> String {
    format!("osc/snx11168-OST{at:04x}-osc-{ADDRESS}")
}

fn folder(tree: &Tree, connection: &str) -> PathBuf {
    tree.sys().join("kernel/debug/lustre").join(connection)
}

fn connect(tree: &Tree, connection: &str, requests: u64, waited_us: u64) {
    fs::create_dir_all(folder(tree, connection)).unwrap();
    let stats = format!(
        "snapshot_time 1.0 secs.nsecs\nreq_waittime {requests} samples [usec] 20 900 {waited_us} 5\n"
    );
    fs::write(folder(tree, connection).join("stats"), stats).unwrap();
}

/// Requests of a row, and how long they waited.
fn waits(line: &str) -> [u64; 2] {
    ["req_waittime__count", "req_waittime__sum"].map(|column| value(line, column).as_u64().unwrap())
}

#[test]
fn waits_for_all_object_servers_are_one_row() {
    let tree = mount(&[90_000, 10_000, 500_000]);
    let mut bench = Bench::new(&tree);
    let events = bench.rescan();
    assert_eq!(events.len(), 3, "{events:?}");
    let (lines, _) = bench.sample();
    let [_, metadata, data] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(
        (text(metadata, "mdc"), text(metadata, "fs_name")),
        ("snx11168-MDT0000".into(), "snx11168".into())
    );
    assert_eq!(waits(metadata), [10, 4_000]);
    assert_eq!(text(data, "fs_name"), "snx11168");
    assert_eq!(waits(data), [300, 600_000]);
    // One server more, and one that is gone: the row continues with those that are there.
    connect(&tree, &object_server(3), 1, 50);
    bench.rescan();
    assert_eq!(value(&bench.sample().0[2], "req_waittime__sum"), 600_050);
    fs::remove_dir_all(folder(&tree, &object_server(2))).unwrap();
    bench.rescan();
    assert_eq!(value(&bench.sample().0[2], "connections"), 3);
}

#[test]
fn file_without_a_sum_of_waits_gives_no_row() {
    let tree = mount(&[90_000, 10_000]);
    let mut bench = Bench::new(&tree);
    bench.rescan();
    let stats = folder(&tree, &object_server(1)).join("stats");
    fs::write(&stats, "snapshot_time 1.0\nreq_waittime 3 samples [usec]\n").unwrap();
    let (lines, events) = bench.sample();
    assert_eq!((lines.len(), events.len()), (2, 1), "{events:?}");
    assert!(events[0].contains("req_waittime has no sum"), "{events:?}");
}

#[test]
fn refusals_of_packets_stand_beside_the_interfaces_counters() {
    let tree = Tree::empty();
    tree.add_interface("cxi0", &[("hni_sts_tx_ok_octets", "7@1.5\n")]);
    let run = tree.folder.path().join("run");
    fs::create_dir_all(run.join("cxi/cxi0")).unwrap();
    fs::write(run.join("cxi/cxi0/nacks"), "31\n").unwrap();
    let mut roots = Roots::new(&tree.sys(), &tree.proc(), None);
    roots.run = run.clone();
    let mut bench = Bench::new(&tree);
    bench.sampler = Sampler::new(roots, node(), Selection::Listed);
    bench.rescan();
    assert_eq!(value(&bench.sample().0[0], "nics.rh_nacks"), 31);
    fs::write(run.join("cxi/cxi0/nacks"), "33\n").unwrap();
    assert_eq!(value(&bench.sample().0[0], "nics.rh_nacks"), 33);
}
