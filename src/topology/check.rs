//! Every contradiction, by kind, with file, line and value.

use aggregator::topology::TopologyReading;
use anyhow::Context;
use schemas::topology::{Fault, UnknownPort, unknown_ports};
use schemas::{Metric, Name, SeriesInfo};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

/// Faults of a kind that the text lists; JSON has a thousand.
const SHOWN: usize = 20;

pub(super) fn check(
    reading: &TopologyReading,
    series: Option<&Path>,
    json: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let reported = series.map(reported).transpose()?.unwrap_or_default();
    let unknown = unknown_ports(&reading.topology, &reported);
    if json {
        let counts = reading.faults.nonzero().map(|(kind, count)| (kind.name(), json!(count)));
        let counts: serde_json::Map<_, _> = counts.map(|(name, count)| (name.to_string(), count)).collect();
        let faults = reading.faults.examples();
        writeln!(out, "{:#}", json!({ "counts": counts, "faults": faults, "unknown_ports": unknown }))?;
    } else {
        print(reading, &unknown, out)?;
    }
    let wrong = reading.faults.total() + unknown.len() as u64;
    anyhow::ensure!(wrong == 0, "the topology has {wrong} fault{}", if wrong == 1 { "" } else { "s" });
    Ok(())
}

fn print(reading: &TopologyReading, unknown: &[UnknownPort], out: &mut impl Write) -> std::io::Result<()> {
    for (kind, count) in reading.faults.nonzero() {
        writeln!(out, "{}, {count} times: {}", kind.name(), kind.meaning())?;
        let of_kind: Vec<&Fault> = reading.faults.examples().iter().filter(|f| f.kind == kind).collect();
        for fault in of_kind.iter().take(SHOWN) {
            writeln!(out, "  {}{}", fault.origin, fault.value)?;
        }
        if count > SHOWN as u64 {
            writeln!(out, "  and {} more", count - of_kind.len().min(SHOWN) as u64)?;
        }
    }
    for port in unknown {
        writeln!(out, "{} reports, but its {:?} is not in the topology", port.series, port.unknown)?;
    }
    if reading.faults.is_empty() && unknown.is_empty() {
        let topology = &reading.topology;
        writeln!(
            out,
            "no faults: {} vertices, {} cables",
            topology.vertex_count(),
            topology.link_count() / 2
        )?;
    }
    Ok(())
}

/// The series named in `path`, each once: a name a line, or objects with a key `series`.
fn reported(path: &Path) -> anyhow::Result<Vec<SeriesInfo>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut names = BTreeSet::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let location = || format!("{}:{}", path.display(), at + 1);
        let name = if line.trim_start().starts_with('{') {
            let row: serde_json::Value = serde_json::from_str(line).with_context(location)?;
            row["series"].as_str().with_context(|| format!("{}: no key \"series\"", location()))?.to_string()
        } else {
            line.trim().to_string()
        };
        names.insert(name);
    }
    let parsed = names.iter().map(|name| {
        series(name)
            .with_context(|| format!("{}: {name:?} is not <metric>/<component>/<part>", path.display()))
    });
    parsed.collect()
}

fn series(name: &str) -> Option<SeriesInfo> {
    let mut words = name.splitn(3, '/');
    let metric = Metric::from_name(words.next()?)?;
    let component = Name::parse(words.next()?).ok()?;
    let part = words.next().map(Name::parse).transpose().ok()?;
    Some(SeriesInfo { metric, component, part })
}
