//! The summary: what there is of each level and class, and what it carries.

use crate::rate::rate_text;
use crate::readers::TopologyReading;
use crate::{LinkClass, ParallelLinks, Topology, VertexKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;

/// Counts of a topology.
struct Summary {
    levels: BTreeMap<Option<u8>, BTreeMap<&'static str, usize>>,
    /// By class: directed links, lowest, highest and summed capacity.
    classes: BTreeMap<LinkClass, (usize, f64, f64, f64)>,
}

impl Summary {
    fn of(topology: &Topology) -> Summary {
        let mut summary = Summary { levels: BTreeMap::new(), classes: BTreeMap::new() };
        for vertex in topology.vertices() {
            let level = summary.levels.entry(topology.level(vertex)).or_default();
            *level.entry(topology.kind(vertex).name()).or_default() += 1;
        }
        for link in topology.links() {
            let carries = topology.bytes_per_s(link);
            let class =
                summary.classes.entry(topology.class(link)).or_insert((0, f64::NAN, f64::NAN, f64::NAN));
            *class = (class.0 + 1, class.1.min(carries), class.2.max(carries), sum(class.3, carries));
        }
        summary
    }
}

/// The sum of what is known: NaN only if neither is.
fn sum(all: f64, carries: f64) -> f64 {
    match (all.is_nan(), carries.is_nan()) {
        (true, _) => carries,
        (_, true) => all,
        _ => all + carries,
    }
}

/// Writes the summary.
///
/// # Errors
/// If `out` fails.
pub fn summary(reading: &TopologyReading, json: bool, out: &mut impl Write) -> std::io::Result<()> {
    let topology = &reading.topology;
    let summary = Summary::of(topology);
    if json {
        return writeln!(out, "{:#}", as_json(reading, &summary));
    }
    for (name, kind) in &reading.kinds {
        writeln!(out, "{name}: {}", kind.name())?;
    }
    let hosts = topology.vertices_of(VertexKind::Host).count();
    let (switches, cables) = (topology.vertex_count() - hosts, topology.link_count() / 2);
    writeln!(out, "{}: {hosts} hosts, {switches} switches, {cables} cables", topology.shape().name())?;
    writeln!(
        out,
        "{} groups, {} rails, {} groups of parallel links, {} forwarding tables, {:.1} MiB",
        topology.group_count(),
        topology.rail_count(),
        ParallelLinks::of(topology).len(),
        topology.forwarding().len(),
        topology.memory_bytes() as f64 / f64::from(1 << 20)
    )?;
    writeln!(out, "\nlevel  vertices")?;
    for (level, kinds) in &summary.levels {
        let level = level.map_or("-".to_string(), |level| level.to_string());
        let kinds: Vec<String> = kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        writeln!(out, "{level:>5}  {}", kinds.join(", "))?;
    }
    writeln!(out, "\nclass   directed links  each               all")?;
    for (class, (links, low, high, sum)) in &summary.classes {
        let each =
            if low < high { format!("{} to {}", rate_text(*low), rate_text(*high)) } else { rate_text(*low) };
        writeln!(out, "{:<7} {links:>14}  {each:<18} {}", class.name(), rate_text(*sum))?;
    }
    match reading.faults.total() {
        0 => Ok(()),
        faults => writeln!(out, "\n{faults} faults: tailback topology check lists them"),
    }
}

fn as_json(reading: &TopologyReading, summary: &Summary) -> Value {
    let topology = &reading.topology;
    let levels = summary.levels.iter().map(|(level, kinds)| json!({ "level": level, "vertices": kinds }));
    let number = |value: f64| if value.is_nan() { Value::Null } else { json!(value) };
    let classes = summary.classes.iter().map(|(class, (links, low, high, sum))| {
        json!({
            "class": class.name(),
            "directed_links": links,
            "bytes_per_s_min": number(*low),
            "bytes_per_s_max": number(*high),
            "bytes_per_s_all": number(*sum),
        })
    });
    json!({
        "shape": topology.shape().name(),
        "vertices": topology.vertex_count(),
        "hosts": topology.vertices_of(VertexKind::Host).count(),
        "cables": topology.link_count() / 2,
        "directed_links": topology.link_count(),
        "groups": topology.group_count(),
        "rails": topology.rail_count(),
        "parallel_groups": ParallelLinks::of(topology).len(),
        "forwarding_tables": topology.forwarding().len(),
        "memory_bytes": topology.memory_bytes(),
        "levels": levels.collect::<Vec<_>>(),
        "classes": classes.collect::<Vec<_>>(),
        "faults": reading.faults.total(),
        "files": reading.kinds.iter().map(|(name, kind)| json!([name, kind.name()])).collect::<Vec<_>>(),
    })
}
