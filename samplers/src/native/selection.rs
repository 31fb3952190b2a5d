//! Which counters are read.

use schemas::Name;
use std::collections::BTreeSet;
use std::path::Path;

/// Which counters are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Those of the lists, the most useful ones for contention.
    #[default]
    Listed,
    /// Those of the lists, then all others there are.
    All,
}

/// A counter file that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Below the folder of the set, `counters/port_xmit_wait`, or a whole path.
    pub(crate) file: String,
    /// Name of its column, without the set's own part: `port_xmit_wait`, `hw.out_of_sequence`.
    pub(crate) column: String,
    /// Whether rows are of no use without it.
    pub(crate) needed: bool,
}

/// Counters of a retry handler (HPE's libcxi, retry_handler/stats.c): packets that the target refused, all of them and for want of
/// resources, and packets without an answer.
const RETRY_HANDLER: [&str; 3] = ["nacks", "nack_resource_busy", "spt_timeouts"];

impl Selection {
    /// Counters of an InfiniBand port.
    pub(crate) fn of_port(self, port: &Path) -> Vec<Wanted> {
        self.of(include_str!("ib_counters.txt"), port, &["counters/", "hw_counters/"])
    }

    /// Counters of a Slingshot interface, and those of its retry handler.
    pub(crate) fn of_interface(self, telemetry: &Path, retry_handler: Option<&Path>) -> Vec<Wanted> {
        let mut wanted = self.of(include_str!("slingshot_counters.txt"), telemetry, &[""]);
        let files =
            retry_handler.into_iter().flat_map(|folder| RETRY_HANDLER.map(|name| (folder.join(name), name)));
        wanted.extend(files.filter_map(|(file, name)| {
            let file = file.into_os_string().into_string().ok()?;
            Some(Wanted { file, column: format!("rh_{name}"), needed: false })
        }));
        wanted
    }

    fn of(self, list: &str, folder: &Path, below: &[&str]) -> Vec<Wanted> {
        let lines = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut wanted: Vec<Wanted> = lines.map(listed).collect();
        if self == Selection::All {
            let known: BTreeSet<String> = wanted.iter().map(|wanted| wanted.file.clone()).collect();
            for below in below {
                wanted.extend(
                    others(folder, below).filter(|file| !known.contains(file)).map(|file| listed(&file)),
                );
            }
        }
        wanted
    }
}

fn listed(line: &str) -> Wanted {
    let (file, mark) = line.split_once(' ').unwrap_or((line, ""));
    let column = match file.split_once('/') {
        // As in the recorded configuration of LDMS's filesingle.
        Some(("hw_counters", name)) => format!("hw.{name}"),
        Some((_, name)) => name.to_string(),
        None => file.to_string(),
    };
    Wanted { file: file.to_string(), column, needed: mark == "needed" }
}

/// Files of a folder that may be counters, in the order of their names.
fn others(folder: &Path, below: &str) -> impl Iterator<Item = String> {
    const NO_COUNTERS: [&str; 3] = ["ALL-in-binary", "reset_counters", "lifespan"];
    let entries = std::fs::read_dir(folder.join(below)).into_iter().flatten().flatten();
    let names = entries.filter(|entry| std::fs::metadata(entry.path()).is_ok_and(|of| of.is_file()));
    let names: BTreeSet<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let counters = |name: &String| Name::parse(name).is_ok() && !NO_COUNTERS.contains(&name.as_str());
    let below = below.to_string();
    names.into_iter().filter(counters).map(move |name| format!("{below}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_name_every_counter_once() {
        for wanted in [
            Selection::Listed.of_port(Path::new("")),
            Selection::Listed.of_interface(Path::new(""), Some(Path::new("/run/cxi/cxi0"))),
        ] {
            let columns: BTreeSet<&str> = wanted.iter().map(|wanted| wanted.column.as_str()).collect();
            assert_eq!(columns.len(), wanted.len());
            assert!(columns.iter().all(|column| Name::parse(column).is_ok()));
        }
        let port = Selection::Listed.of_port(Path::new(""));
        let needed: Vec<&str> = port.iter().filter(|w| w.needed).map(|w| w.column.as_str()).collect();
        assert_eq!(needed, ["port_xmit_data", "port_xmit_wait"]);
        assert_eq!(port[8].column, "hw.rx_write_requests");
    }
}
