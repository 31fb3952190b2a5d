//! Which devices and mounts there are now.

use super::event::SetId;
use super::node::Roots;
use super::tick_rows::Kind;
use schemas::Name;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A set that may be sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Which it is.
    pub id: SetId,
    /// Paths of its files: a folder of counters, or a `stats` file; the preferred one first; of connections to Lustre's servers
    /// one of each.
    pub paths: Vec<PathBuf>,
    /// Of a Slingshot interface the folder of its retry handler's counters.
    pub retry_handler: Option<PathBuf>,
}

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// What may be sampled, each once.
    pub candidates: Vec<Candidate>,
    /// Folders that could not be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Devices and mounts whose names no row may carry.
    pub bad_names: Vec<PathBuf>,
}

/// Looks for adapters, mounts and interfaces.
pub fn discover(roots: &Roots) -> Discovery {
    let mut found = Discovery::default();
    for adapter in found.names(&roots.sysfs.join("class/infiniband")) {
        for port in found.names(&adapter.path.join("ports")) {
            // A port is named as in the recorded rows: adapter, dot, number.
            found.add(Kind::InfiniBand, &format!("{}.{}", adapter.name, port.name), &port.path, &port.path);
        }
    }
    // Lustre 2.12 moved the file to debugfs.
    for root in [&roots.debugfs, &roots.procfs.join("fs")] {
        let mounts = found.names(&root.join("lustre/llite"));
        if !mounts.is_empty() && !found.has_connections() {
            found.add_connections(&root.join("lustre"));
        }
        for mount in mounts {
            let stats = mount.path.join("stats");
            // A mount being set up has no file yet; one that may not be read is reported.
            if !matches!(stats.try_exists(), Ok(false)) {
                found.add(Kind::Lustre, &mount.name, &mount.path, &stats);
            }
        }
    }
    for interface in found.names(&roots.sysfs.join("class/cxi")) {
        let telemetry = interface.path.join("device/telemetry");
        if telemetry.is_dir() {
            found.add(Kind::Slingshot, &interface.name, &interface.path, &telemetry);
            let retry_handler = roots.run.join("cxi").join(&interface.name);
            if let Some(candidate) = found.candidates.last_mut().filter(|_| retry_handler.is_dir()) {
                candidate.retry_handler = Some(retry_handler);
            }
        }
    }
    found
}

struct Entry {
    name: String,
    path: PathBuf,
}

impl Discovery {
    /// Entries of a folder in the order of their names; a folder that is not there has none.
    fn names(&mut self, folder: &Path) -> Vec<Entry> {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                    self.unreadable.push((folder.to_path_buf(), error.to_string()));
                }
                return Vec::new();
            }
        };
        let paths = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
        let mut entries: Vec<Entry> = paths
            .map(|path| Entry {
                name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                path,
            })
            .collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries
    }

    fn has_connections(&self) -> bool {
        let is_connection =
            |candidate: &Candidate| matches!(candidate.id.kind, Kind::LustreMetadata | Kind::LustreData);
        self.candidates.iter().any(is_connection)
    }

    /// Adds connections to servers, named `<file system>-MDT0000-mdc-<address>`: those to one metadata server, and those to all
    /// object servers of one file system. Of several mounts of it each has its own.
    fn add_connections(&mut self, lustre: &Path) {
        for (kind, folder, mark) in
            [(Kind::LustreMetadata, "mdc", "-mdc-"), (Kind::LustreData, "osc", "-osc-")]
        {
            for connection in self.names(&lustre.join(folder)) {
                let Some((server, _)) = connection.name.rsplit_once(mark) else { continue };
                let file_system = server.rsplit_once('-').map_or(server, |(name, _)| name);
                let name = if kind == Kind::LustreMetadata { server } else { file_system };
                let stats = connection.path.join("stats");
                if stats.is_file() {
                    self.add(kind, name, &connection.path, &stats);
                }
            }
        }
    }

    /// Adds a candidate, or another path of a known one.
    fn add(&mut self, kind: Kind, name: &str, named_by: &Path, path: &Path) {
        let Ok(name) = Name::parse(name) else {
            self.bad_names.push(named_by.to_path_buf());
            return;
        };
        let id = SetId { kind, name };
        match self.candidates.iter_mut().find(|known| known.id == id) {
            Some(known) => known.paths.push(path.to_path_buf()),
            None => {
                self.candidates.push(Candidate { id, paths: vec![path.to_path_buf()], retry_handler: None })
            }
        }
    }
}
