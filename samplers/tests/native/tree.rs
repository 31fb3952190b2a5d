//! Trees of kernel files in a temporary folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// `sys` and `proc` of a node.
pub struct Tree {
    pub folder: TempDir,
}

pub const MOUNT: &str = "snx11168-ffff88103d6bd000";

/// Files as the samplers of a real LDMS read them.
pub fn recorded() -> PathBuf {
    fixtures().join("kernel/nid00001")
}

pub fn fixtures() -> PathBuf {
    PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../tests/fixtures/ldms")
}

impl Tree {
    /// Nothing in it.
    pub fn empty() -> Tree {
        let tree = Tree { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(tree.sys()).unwrap();
        fs::create_dir_all(tree.proc()).unwrap();
        tree
    }

    /// One adapter with one port, one mount: the recorded files.
    pub fn recorded() -> Tree {
        let tree = Tree::empty();
        tree.add_adapter("mlx5_0", &[1]);
        tree.add_mount(&tree.proc_llite(), MOUNT);
        tree
    }

    pub fn sys(&self) -> PathBuf {
        self.folder.path().join("sys")
    }

    pub fn proc(&self) -> PathBuf {
        self.folder.path().join("proc")
    }

    pub fn proc_llite(&self) -> PathBuf {
        self.proc().join("fs/lustre/llite")
    }

    pub fn debug_llite(&self) -> PathBuf {
        self.sys().join("kernel/debug/lustre/llite")
    }

    pub fn port(&self, adapter: &str, port: u32) -> PathBuf {
        self.sys().join(format!("devices/{adapter}/ports/{port}"))
    }

    pub fn wait_file(&self, adapter: &str, port: u32) -> PathBuf {
        self.port(adapter, port).join("counters/port_xmit_wait")
    }

    pub fn telemetry(&self, interface: &str) -> PathBuf {
        self.sys().join(format!("devices/{interface}/telemetry"))
    }

    /// As in sysfs: the class holds links to the devices.
    pub fn add_adapter(&self, adapter: &str, ports: &[u32]) {
        for port in ports {
            copy(&recorded().join("infiniband/mlx5_0/ports/1"), &self.port(adapter, *port));
        }
        self.link(&format!("devices/{adapter}"), &format!("class/infiniband/{adapter}"));
    }

    pub fn remove_adapter(&self, adapter: &str) {
        fs::remove_file(self.sys().join("class/infiniband").join(adapter)).unwrap();
        fs::remove_dir_all(self.sys().join("devices").join(adapter)).unwrap();
    }

    pub fn add_mount(&self, llite: &Path, mount: &str) {
        copy(&recorded().join("lustre/llite").join(MOUNT), &llite.join(mount));
    }

    pub fn add_interface(&self, interface: &str, counters: &[(&str, &str)]) {
        fs::create_dir_all(self.telemetry(interface)).unwrap();
        for (counter, content) in counters {
            fs::write(self.telemetry(interface).join(counter), content).unwrap();
        }
        self.link(&format!("devices/{interface}"), &format!("class/cxi/{interface}/device"));
    }

    fn link(&self, device: &str, class: &str) {
        let class = self.sys().join(class);
        fs::create_dir_all(class.parent().unwrap()).unwrap();
        symlink(self.sys().join(device), class).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
