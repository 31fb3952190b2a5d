//! One switch, router or host: its ports and peers.

use super::{AnswerError, vertex_called};
use crate::rate::rate_text;
use crate::readers::TopologyReading;
use crate::{LinkIndex, Topology, VertexIndex};
use serde_json::{Value, json};
use std::io::Write;

/// Writes the ports and peers of the vertex called `name`.
///
/// # Errors
/// If there is none, or `out` fails.
pub fn ports(
    reading: &TopologyReading,
    name: &str,
    json: bool,
    out: &mut impl Write,
) -> Result<(), AnswerError> {
    let vertex = vertex_called(reading, name)?;
    if json {
        writeln!(out, "{:#}", as_json(&reading.topology, vertex))?;
    } else {
        print(&reading.topology, vertex, out)?;
    }
    Ok(())
}

fn label(topology: &Topology, link: LinkIndex) -> String {
    topology.port_label(topology.from(link), topology.port(link))
}

fn guid(topology: &Topology, vertex: VertexIndex) -> Option<String> {
    topology.guid(vertex).map(|guid| format!("0x{guid:016x}"))
}

fn as_json(topology: &Topology, vertex: VertexIndex) -> Value {
    let links = topology.links_from(vertex).map(|link| {
        let carries = Some(topology.bytes_per_s(link)).filter(|carries| !carries.is_nan());
        json!({
            "port": label(topology, link),
            "peer": topology.name(topology.to(link)),
            "peer_port": label(topology, topology.reverse(link)),
            "class": topology.class(link).name(),
            "rail": topology.rail(link),
            "bytes_per_s": carries,
            "series": topology.series_name(link),
        })
    });
    json!({
        "name": topology.name(vertex),
        "kind": topology.kind(vertex).name(),
        "level": topology.level(vertex),
        "group": topology.group(vertex),
        "guid": guid(topology, vertex),
        "ports": topology.port_count(vertex),
        "links": links.collect::<Vec<_>>(),
    })
}

fn print(topology: &Topology, vertex: VertexIndex, out: &mut impl Write) -> std::io::Result<()> {
    let number = |number: Option<u32>| number.map_or("-".to_string(), |number| number.to_string());
    writeln!(
        out,
        "{}: {}, level {}, group {}, {} of {} ports connected{}",
        topology.name(vertex),
        topology.kind(vertex).name(),
        number(topology.level(vertex).map(u32::from)),
        number(topology.group(vertex)),
        topology.links_from(vertex).count(),
        topology.port_count(vertex),
        guid(topology, vertex).map(|guid| format!(", GUID {guid}")).unwrap_or_default()
    )?;
    let peer = |link| topology.name(topology.to(link)).as_str();
    let wide = topology.links_from(vertex).map(|link| peer(link).len()).max().unwrap_or(0).max(4);
    let (port, its_port) = ("port", "its port");
    writeln!(
        out,
        "\n{port:<12} {:<wide$}  {its_port:<10} class  capacity     series of what it sends",
        "peer"
    )?;
    for link in topology.links_from(vertex) {
        writeln!(
            out,
            "{:<12} {:<wide$}  {:<10} {:<6} {:<12} {}",
            label(topology, link),
            peer(link),
            label(topology, topology.reverse(link)),
            topology.class(link).name(),
            rate_text(topology.bytes_per_s(link)),
            topology.series_name(link).unwrap_or_else(|| "-".to_string()),
        )?;
    }
    Ok(())
}
