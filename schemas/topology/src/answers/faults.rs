//! Every contradiction, by kind, with file, line and value.

use super::AnswerError;
use crate::readers::TopologyReading;
use crate::{Fault, UnknownPort, unknown_ports};
use schemas::{Metric, Name, SeriesInfo};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

/// Faults of a kind that the text lists; JSON has a thousand.
const SHOWN: usize = 20;

/// Writes the faults of the files, and of `series`, a file of reporting series, those that stand nowhere.
///
/// # Errors
/// If there are faults, `series` cannot be read, or `out` fails.
pub fn faults(
    reading: &TopologyReading,
    series: Option<&Path>,
    json: bool,
    out: &mut impl Write,
) -> Result<(), AnswerError> {
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
    if wrong > 0 { Err(AnswerError::Faults { count: wrong }) } else { Ok(()) }
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
fn reported(path: &Path) -> Result<Vec<SeriesInfo>, AnswerError> {
    let failed = |source| AnswerError::Read { path: path.to_path_buf(), source };
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let mut names = BTreeSet::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let location = || format!("{}:{}", path.display(), at + 1);
        let name = if line.trim_start().starts_with('{') {
            let row: serde_json::Value = serde_json::from_str(line)
                .map_err(|source| AnswerError::Line { location: location(), source })?;
            row["series"].as_str().ok_or_else(|| AnswerError::NoKey(location()))?.to_string()
        } else {
            line.trim().to_string()
        };
        names.insert(name);
    }
    let unknown = |name: &String| AnswerError::NoSeries { path: path.to_path_buf(), name: name.clone() };
    names.iter().map(|name| named(name).ok_or_else(|| unknown(name))).collect()
}

fn named(name: &str) -> Option<SeriesInfo> {
    let mut words = name.splitn(3, '/');
    let metric = Metric::from_name(words.next()?)?;
    let component = Name::parse(words.next()?).ok()?;
    let part = words.next().map(Name::parse).transpose().ok()?;
    Some(SeriesInfo { metric, component, part })
}
