//! Sources of a network, as the decoder describes them.

use super::{Counters, Part, Row, Sampled, is_port};
use crate::lab::{FILE_SYSTEM, LabError};
use schemas::metric::catalogue::catalogue;
use schemas::{LINK_COLUMNS, Metric, Name, Source};
use topology::{LinkIndex, Topology, VertexIndex, VertexKind};

/// Counters begin anywhere below this.
const BASE_MAX: u64 = 1_000_000_000_000;
/// Metrics of a Lustre client that the lab simulates, in the order of their counters.
const CLIENT_METRICS: [&str; 2] = ["lustre_read_rate", "lustre_write_rate"];
/// Metrics of a switch's port with those of congestion, in the order of their counters.
const PORT_METRICS: [&str; 3] = ["ib_congested_ratio", "ib_fecn_ratio", "ib_wait_ratio"];

impl Counters {
    /// Adds a client of Lustre.
    pub(super) fn add_client(&mut self, topology: &Topology, node: VertexIndex) -> Result<(), LabError> {
        let mount = vec![name(FILE_SYSTEM)?];
        let source = source(topology, node, "lustre_client", &CLIENT_METRICS, node, mount)?;
        self.add(source, node, vec![Part::Client(node)]);
        Ok(())
    }

    /// Adds the requests of a client to the OSTs.
    pub(super) fn add_requests(&mut self, topology: &Topology, node: VertexIndex) -> Result<(), LabError> {
        if self.sampled == Sampled::All {
            let part = vec![name(FILE_SYSTEM)?];
            let source = source(topology, node, "lustre_osc", &["lustre_data_wait"], node, part)?;
            self.add(source, node, vec![Part::Requests(node)]);
        }
        Ok(())
    }

    /// Adds the OST of a server, the file system's `number`-th.
    pub(super) fn add_target(
        &mut self,
        topology: &Topology,
        server: VertexIndex,
        number: usize,
    ) -> Result<(), LabError> {
        if self.sampled == Sampled::All {
            let part = vec![name(&format!("{FILE_SYSTEM}-OST{number:04x}"))?];
            let source = source(topology, server, "lustre_ost", &["lustre_ost_load"], server, part)?;
            self.add(source, server, vec![Part::Target(server)]);
        }
        Ok(())
    }

    /// Adds the ports of a vertex: a router or host reports all of them in one row, a switch each in its own.
    pub(super) fn add_ports(&mut self, topology: &Topology, vertex: VertexIndex) -> Result<(), LabError> {
        let label = |link: LinkIndex| name(&topology.port_label(vertex, topology.port(link)));
        let links: Vec<LinkIndex> = topology.links_from(vertex).collect();
        let labels: Vec<Name> = links.iter().map(|link| label(*link)).collect::<Result<_, _>>()?;
        let measured = |link: &LinkIndex| topology.series(*link).is_some_and(|series| is_port(series.metric));
        match topology.kind(vertex) {
            VertexKind::Router => {
                // A router's row comes from one of its nodes.
                let node = links.iter().map(|link| topology.to(*link));
                let node = node.filter(|v| topology.kind(*v) == VertexKind::Host).min().unwrap_or(vertex);
                let source = source(topology, vertex, "aries_rtr", &[], node, labels)?;
                let tiles = links.iter().map(|link| Part::Tile(topology.reverse(*link)));
                self.add(source, vertex, tiles.collect());
            }
            VertexKind::Host if !links.is_empty() && links.iter().all(measured) => {
                let source = source(topology, vertex, "ib_sysfs", &[], vertex, labels)?;
                self.add(source, vertex, links.into_iter().map(Part::Port).collect());
            }
            VertexKind::Host => self.add_interface(topology, vertex)?,
            VertexKind::Switch => {
                for (link, label) in links.into_iter().zip(labels) {
                    self.add_switch_port(topology, vertex, link, label)?;
                }
            }
        }
        Ok(())
    }

    fn add_switch_port(
        &mut self,
        topology: &Topology,
        switch: VertexIndex,
        out: LinkIndex,
        label: Name,
    ) -> Result<(), LabError> {
        let (metrics, part) = match self.sampled {
            Sampled::Costs => (&[][..], Part::Port(out)),
            Sampled::All => (&PORT_METRICS[..], Part::CongestionPort { out, into: topology.reverse(out) }),
        };
        let source = source(topology, switch, "ibnet", metrics, switch, vec![label])?;
        self.add(source, switch, vec![part]);
        Ok(())
    }

    /// Adds the interface of a node that hangs on a router of Aries, by whose name it is known.
    fn add_interface(&mut self, topology: &Topology, node: VertexIndex) -> Result<(), LabError> {
        let to_router = |link: &LinkIndex| topology.kind(topology.to(*link)) == VertexKind::Router;
        let links: Vec<LinkIndex> = topology.links_from(node).filter(to_router).collect();
        let ([first, rest @ ..], Sampled::All) = (links.as_slice(), self.sampled) else { return Ok(()) };
        let part = vec![name(&format!("{}a0", topology.name(topology.to(*first))))?];
        let source = source(topology, node, "aries_nic", &["aries_nic_stall_ratio"], node, part)?;
        self.add(source, node, vec![Part::Interface { first: *first, second: rest.first().copied() }]);
        Ok(())
    }

    fn add(&mut self, source: Source, component: VertexIndex, parts: Vec<Part>) {
        let counters = self.first_counters(&source, &parts);
        let of_links = if source.reports(is_port) { parts.len() * LINK_COLUMNS } else { 0 };
        let source = self.sources.intern(source);
        for (part_index, part) in (0..).zip(&parts) {
            if let Part::Port(link) | Part::CongestionPort { out: link, .. } = part {
                self.ports[link.at()] = Some((self.rows.len() as u32, part_index));
            }
        }
        self.rows.push(Row { source, component, parts, counters, links: vec![0; of_links] });
    }

    /// Where the counters of a row begin. Clients have read nothing so far.
    fn first_counters(&mut self, source: &Source, parts: &[Part]) -> Vec<u64> {
        let mut counters: Vec<u64> = vec![0; source.counters()];
        let untouched = if source.reports(Metric::is_progress) { parts.len() } else { 0 };
        for (at, (metric, _)) in source.series().enumerate() {
            let rng = if metric.costs() { &mut self.rng } else { &mut self.rng_of_all };
            let drawn = source.columns_of(at).filter(|column| *column >= untouched);
            drawn.for_each(|column| counters[column] = rng.next_u64() % BASE_MAX);
        }
        if let ([Part::CongestionPort { .. }], [_, sent, .., sent_again]) = (parts, counters.as_mut_slice()) {
            // One column of LDMS.
            *sent = *sent_again;
        }
        counters
    }
}

fn name(text: &str) -> Result<Name, LabError> {
    Ok(Name::parse(text)?)
}

/// A source of a schema with these of its metrics; none are all that seconds lost follow from.
fn source(
    topology: &Topology,
    component: VertexIndex,
    schema: &str,
    metrics: &[&str],
    producer: VertexIndex,
    parts: Vec<Name>,
) -> Result<Source, LabError> {
    let of_schema = catalogue().of_schema(schema);
    let simulated = |metric: &Metric| match metrics {
        [] => metric.costs(),
        named => named.contains(&metric.name()),
    };
    let metrics: Vec<Metric> = of_schema.into_iter().filter(simulated).collect();
    if metrics.is_empty() {
        return Err(LabError::Schema(schema.to_string()));
    }
    Ok(Source {
        schema: name(schema)?,
        producer: topology.name(producer).clone(),
        metrics,
        component: topology.name(component).clone(),
        set: None,
        parts,
        rank: 0,
        by_job: false,
    })
}
