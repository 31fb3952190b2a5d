//! The way from one host to another: by the latest forwarding tables, for each rail and LID.

use super::{AnswerError, vertex_called};
use crate::readers::TopologyReading;
use crate::{LinkIndex, Routes, Topology, VertexIndex, shortest::shortest_path};
use serde_json::{Value, json};
use std::io::Write;

/// One way, or why there is none.
struct Way {
    rail: Option<u8>,
    lid: Option<u16>,
    links: Vec<LinkIndex>,
    error: Option<String>,
}

/// Writes the ways between the two hosts.
///
/// # Errors
/// If a name is unknown, a way does not arrive, or `out` fails.
pub fn path(
    reading: &TopologyReading,
    from: &str,
    to: &str,
    json: bool,
    out: &mut impl Write,
) -> Result<(), AnswerError> {
    let topology = &reading.topology;
    let ends = (vertex_called(reading, from)?, vertex_called(reading, to)?);
    let routes = topology.routes_at(None);
    let ways = if routes.is_empty() { vec![shortest(topology, ends)] } else { walks(&routes, ends) };
    if ways.is_empty() {
        return Err(AnswerError::NoLid(to.to_string()));
    }
    if json {
        let ways: Vec<Value> = ways.iter().map(|way| as_json(topology, way)).collect();
        writeln!(out, "{:#}", json!({ "from": from, "to": to, "ways": ways }))?;
    } else {
        for way in &ways {
            print(topology, way, out)?;
        }
    }
    let lost = ways.iter().filter(|way| way.error.is_some()).count();
    if lost > 0 { Err(AnswerError::Lost { lost, all: ways.len() }) } else { Ok(()) }
}

fn walks(routes: &Routes<'_>, (from, to): (VertexIndex, VertexIndex)) -> Vec<Way> {
    let lids = routes.topology().lids();
    let mut ways = Vec::new();
    for rail in 0..lids.rail_count() as u8 {
        for lid in lids.of_vertex(rail, to) {
            let mut links = Vec::new();
            let error = routes.walk_into(from, rail, lid, &mut links).err().map(|error| error.to_string());
            ways.push(Way { rail: Some(rail), lid: Some(lid), links, error });
        }
    }
    ways
}

fn shortest(topology: &Topology, (from, to): (VertexIndex, VertexIndex)) -> Way {
    let found = shortest_path(topology, from, to);
    let error = found.is_none().then(|| "nothing connects them".to_string());
    Way { rail: None, lid: None, links: found.unwrap_or_default(), error }
}

fn hop(topology: &Topology, link: LinkIndex) -> [String; 4] {
    let end = |link| {
        let vertex = topology.from(link);
        (topology.name(vertex).to_string(), topology.port_label(vertex, topology.port(link)))
    };
    let ((from, port), (to, peer_port)) = (end(link), end(topology.reverse(link)));
    [from, port, to, peer_port]
}

fn print(topology: &Topology, way: &Way, out: &mut impl Write) -> std::io::Result<()> {
    match (way.rail, way.lid) {
        (Some(rail), Some(lid)) => writeln!(out, "rail {rail}, LID {lid}: {} links", way.links.len())?,
        _ => writeln!(out, "no forwarding tables; one of the shortest paths: {} links", way.links.len())?,
    }
    for link in &way.links {
        let [from, port, to, peer_port] = hop(topology, *link);
        writeln!(out, "  {from}[{port}] to {to}[{peer_port}]  {}", topology.class(*link).name())?;
    }
    match &way.error {
        Some(error) => writeln!(out, "  and no further: {error}"),
        None => Ok(()),
    }
}

fn as_json(topology: &Topology, way: &Way) -> Value {
    let links = way.links.iter().map(|link| {
        let [from, port, to, peer_port] = hop(topology, *link);
        let series = topology.series_name(*link);
        json!({ "from": from, "port": port, "to": to, "peer_port": peer_port, "series": series })
    });
    json!({ "rail": way.rail, "lid": way.lid, "links": links.collect::<Vec<_>>(), "error": way.error })
}
