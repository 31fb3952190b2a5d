//! A node whose sysfs and procfs are folders.

use crate::paths::root;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// An ordinary node: one adapter with two ports, two mounts; counters of the ports are real attributes of sysfs
/// where the machine has a loopback interface, so that reading them goes through the kernel as on a node.
pub fn node(folder: &Path) {
    let recorded = root().join("tests/fixtures/ldms/kernel/nid00001");
    let loopback = Path::new("/sys/class/net/lo/statistics/rx_bytes");
    for port in ["1", "2"] {
        for below in ["counters", "hw_counters"] {
            let to = folder.join("sys/class/infiniband/mlx5_0/ports").join(port).join(below);
            fs::create_dir_all(&to).unwrap();
            for file in fs::read_dir(recorded.join("infiniband/mlx5_0/ports/1").join(below)).unwrap() {
                let file = file.unwrap();
                let to = to.join(file.file_name());
                if loopback.exists() {
                    symlink(loopback, to).unwrap();
                } else {
                    fs::copy(file.path(), to).unwrap();
                }
            }
        }
    }
    let stats = recorded.join("lustre/llite/snx11168-ffff88103d6bd000/stats");
    for mount in ["snx11168-ffff88103d6bd000", "home-ffff88103d6bd111"] {
        let to = folder.join("proc/fs/lustre/llite").join(mount);
        fs::create_dir_all(&to).unwrap();
        fs::copy(&stats, to.join("stats")).unwrap();
    }
}
