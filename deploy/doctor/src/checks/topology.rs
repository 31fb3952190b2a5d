//! The topology against itself, and against the ports that report.

use crate::finding::{Finding, Group, Notes};
use crate::words::{few, many};
use schemas::SeriesInfo;
use std::path::PathBuf;
use topology::readers::read;
use topology::{Faults, Topology, UnknownPort, unknown_ports};

/// Ports and contradictions that are named; the rest is counted.
const NAMED: usize = 5;

/// The topology of the files of `[site] topology`, and the `reported` series that it does not contain.
pub fn check(files: &[PathBuf], reported: Result<&[SeriesInfo], &str>) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Topology, "topology");
    if files.is_empty() {
        notes.unknown("no topology is named as [site] topology: links have no names, classes and peers");
        return notes.done();
    }
    let reading = match read(files) {
        Ok(reading) => reading,
        Err(error) => {
            notes.error(
                format!("the topology cannot be read: {error}"),
                "correct [site] topology, or that file",
            );
            return notes.done();
        }
    };
    faults(&reading.faults, &reading.topology, &mut notes);
    match reported {
        Ok(series) => ports(&unknown_ports(&reading.topology, series), &mut notes),
        Err(why) => notes.unknown(&format!("which ports report, since {why}")),
    }
    notes.done()
}

fn faults(faults: &Faults, topology: &Topology, notes: &mut Notes) {
    if faults.is_empty() {
        let (vertices, links) = (topology.vertices().count(), topology.links().count());
        let links = many(links, "directed link");
        notes.ok(format!("the topology agrees with itself: {vertices} switches, routers and hosts, {links}"));
        return;
    }
    let named: Vec<String> = faults.examples().iter().take(NAMED).map(ToString::to_string).collect();
    let total = faults.total() as usize;
    let more = if total > NAMED { format!(" and {} more", total - NAMED) } else { String::new() };
    let (count, named) = (many(total, "place"), named.join("; "));
    notes.warn(
        format!("the topology contradicts itself in {count}: {named}{more}"),
        "`tailback topology check FILE…` names all of them; what is not contradicted is used",
    );
}

fn ports(unknown: &[UnknownPort], notes: &mut Notes) {
    if unknown.is_empty() {
        notes.ok("every port that reports stands in the topology");
        return;
    }
    let (count, names) = (many(unknown.len(), "port"), unknown.iter().map(|port| port.series.as_str()));
    notes.warn(
        format!("{count} report and stand nowhere in the topology: {}", few(names, NAMED)),
        "read the topology again (ibnetdiscover, `rtr --interconnect`), or give a hosts file that maps xnames; until then these links have no peer and no class",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Level;
    use schemas::{Metric, Name};

    /// Two leaves with two hosts each under two spines.
    const MACHINE: &str = "kind = \"fat_tree\"\nports = 4\npods = 1\nleaves_per_pod = 2\nnodes_per_leaf = 2\nuplinks_per_leaf = 2\n";

    fn series(component: &str, part: &str) -> SeriesInfo {
        let name = |text: &str| Name::parse(text).unwrap();
        SeriesInfo {
            metric: Metric::from_name("ib_wait_ratio").unwrap(),
            component: name(component),
            part: Some(name(part)),
        }
    }

    fn file(folder: &tempfile::TempDir, text: &str) -> Vec<PathBuf> {
        let path = folder.path().join("topology.toml");
        std::fs::write(&path, text).unwrap();
        vec![path]
    }

    #[test]
    fn ports_that_stand_nowhere_are_named_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let files = file(&folder, MACHINE);
        let reading = read(&files).unwrap();
        let link = reading.topology.links().next().unwrap();
        let known = reading.topology.series(link).unwrap();
        let found = check(&files, Ok(&[known, series("nowhere", "1"), series("nowhere", "2")]));
        let last = found.last().unwrap();
        assert_eq!(last.level, Level::Warn, "{found:?}");
        assert!(
            last.what
                .starts_with("2 ports report and stand nowhere in the topology: ib_wait_ratio/nowhere/1")
        );
    }

    #[test]
    fn unreadable_file_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let found = check(&file(&folder, "hello\n"), Ok(&[]));
        assert_eq!(found[0].level, Level::Error, "{found:?}");
        assert_eq!(check(&[], Ok(&[])).len(), 1);
    }
}
