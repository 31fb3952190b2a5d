//! One switch, router or host: its ports and peers.

use super::{rate, vertex_called};
use aggregator::topology::TopologyReading;
use serde_json::json;
use std::io::Write;

pub(super) fn show(
    reading: &TopologyReading,
    name: &str,
    json: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let topology = &reading.topology;
    let vertex = vertex_called(reading, name)?;
    let guid = topology.guid(vertex).map(|guid| format!("0x{guid:016x}"));
    let links: Vec<_> = topology.links_from(vertex).collect();
    let label = |link| topology.port_label(topology.from(link), topology.port(link));
    if json {
        let ports = links.iter().map(|link| {
            let carries = Some(topology.bytes_per_s(*link)).filter(|carries| !carries.is_nan());
            json!({
                "port": label(*link),
                "peer": topology.name(topology.to(*link)),
                "peer_port": label(topology.reverse(*link)),
                "class": topology.class(*link).name(),
                "rail": topology.rail(*link),
                "bytes_per_s": carries,
                "series": topology.series_name(*link),
            })
        });
        let (kind, level, group) =
            (topology.kind(vertex).name(), topology.level(vertex), topology.group(vertex));
        let answer = json!({
            "name": name, "kind": kind, "level": level, "group": group, "guid": guid,
            "ports": topology.port_count(vertex), "links": ports.collect::<Vec<_>>(),
        });
        return Ok(writeln!(out, "{answer:#}")?);
    }
    let number = |number: Option<u32>| number.map_or("-".to_string(), |number| number.to_string());
    writeln!(
        out,
        "{name}: {}, level {}, group {}, {} of {} ports connected{}",
        topology.kind(vertex).name(),
        number(topology.level(vertex).map(u32::from)),
        number(topology.group(vertex)),
        links.len(),
        topology.port_count(vertex),
        guid.map(|guid| format!(", GUID {guid}")).unwrap_or_default()
    )?;
    let wide =
        links.iter().map(|link| topology.name(topology.to(*link)).as_str().len()).max().unwrap_or(0).max(4);
    writeln!(
        out,
        "\n{:<12} {:<wide$}  {:<10} class  capacity     series of what it sends",
        "port", "peer", "its port"
    )?;
    for link in links {
        let series = topology.series_name(link).unwrap_or_else(|| "-".to_string());
        writeln!(
            out,
            "{:<12} {:<wide$}  {:<10} {:<6} {:<12} {series}",
            label(link),
            topology.name(topology.to(link)).as_str(),
            label(topology.reverse(link)),
            topology.class(link).name(),
            rate(topology.bytes_per_s(link)),
        )?;
    }
    Ok(())
}
