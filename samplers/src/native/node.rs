//! Where the sampler reads, and whose rows it writes.

use schemas::{Name, NameError};
use std::path::{Path, PathBuf};

/// Mount points of the kernel's file systems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// `/sys`.
    pub sysfs: PathBuf,
    /// `/proc`.
    pub procfs: PathBuf,
    /// `/sys/kernel/debug`; only root may read it by default.
    pub debugfs: PathBuf,
    /// `/run`, where Slingshot's retry handlers show their counters.
    pub run: PathBuf,
}

impl Roots {
    /// debugfs lies in sysfs by default.
    pub fn new(sysfs: &Path, procfs: &Path, debugfs: Option<&Path>) -> Roots {
        let debugfs = debugfs.map_or_else(|| sysfs.join("kernel/debug"), Path::to_path_buf);
        Roots {
            sysfs: sysfs.to_path_buf(),
            procfs: procfs.to_path_buf(),
            debugfs,
            run: PathBuf::from("/run"),
        }
    }
}

impl Default for Roots {
    fn default() -> Self {
        Roots::new(Path::new("/sys"), Path::new("/proc"), None)
    }
}

/// The node as rows name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// LDMS's producer: the node's name as Slurm knows it.
    pub producer: Name,
    /// LDMS's number of the node; 0 if it has none.
    pub component_id: u64,
}

impl Node {
    /// A node whose number is what `producer` ends in, as LDMS sites number them: `nid00012` is 12, `login-a` is 0.
    pub fn named(producer: Name) -> Node {
        let text = producer.as_str();
        let digits = trailing_digits(text);
        let component_id = text[text.len() - digits..].parse().unwrap_or(0);
        Node { producer, component_id }
    }

    /// The name of this host, up to its first dot.
    ///
    /// # Errors
    /// A host name that no row may carry.
    pub fn host_name(procfs: &Path) -> Result<Name, NameError> {
        let name = std::fs::read_to_string(procfs.join("sys/kernel/hostname")).unwrap_or_default();
        Name::parse(name.trim().split('.').next().unwrap_or_default())
    }
}

fn trailing_digits(text: &str) -> usize {
    text.bytes().rev().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_numbered_by_the_digits_its_name_ends_in() {
        for (name, number) in
            [("nid00012", 12), ("login-a", 0), ("n1r2", 2), ("77", 77), ("x99999999999999999999999999", 0)]
        {
            assert_eq!(Node::named(Name::parse(name).unwrap()).component_id, number, "{name}");
        }
    }

    #[test]
    fn a_host_is_named_without_its_domain() {
        let proc = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(proc.path().join("sys/kernel")).unwrap();
        let write = |name: &str| std::fs::write(proc.path().join("sys/kernel/hostname"), name).unwrap();
        write("nid00007.cluster.example\n");
        assert_eq!(Node::host_name(proc.path()).unwrap().as_str(), "nid00007");
        write("bad name\n");
        assert!(Node::host_name(proc.path()).is_err());
        std::fs::remove_file(proc.path().join("sys/kernel/hostname")).unwrap();
        assert!(Node::host_name(proc.path()).is_err());
    }
}
