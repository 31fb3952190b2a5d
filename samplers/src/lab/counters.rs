//! What samplers would report: cumulative counters of ports, tiles and clients.

use super::job::Noise;
use super::{FILE_SYSTEM, LabError};
use crate::aries::{CHANNELS, FLIT_BYTES};
use crate::network::CHANNEL_PARTS;
use crate::rng::Rng;
use schemas::metric::catalogue::catalogue;
use schemas::metric::file::LinkEnd;
use schemas::{CounterBatch, LINK_COLUMNS, Metric, Name, Source, SourceIndex, Sources, Time};
use topology::{LinkIndex, Topology, VertexIndex, VertexKind};

/// Payload of a word of InfiniBand's data counters.
const WORD_BYTES: f64 = 4.0;
/// Seconds of ten in which background traffic stalls.
const BACKGROUND_STALLS: f64 = 0.1;
/// Counters begin anywhere below this.
const BASE_MAX: u64 = 1_000_000_000_000;

/// What flows through the network during a second.
#[derive(Clone, Copy, Debug)]
pub struct Traffic<'a> {
    /// Bytes a second that get through, by link.
    pub carried: &'a [f64],
    /// Stalls a word, by link.
    pub ratio: &'a [f64],
    /// Whether it is down, by link.
    pub down: &'a [bool],
    /// Bytes a second written, by vertex.
    pub written: &'a [f64],
}

/// What one counter or pair of counters is about.
#[derive(Clone, Copy, Debug)]
enum Part {
    Port(LinkIndex),
    Tile(LinkIndex),
    Client(VertexIndex),
}

#[derive(Clone, Debug)]
struct Row {
    source: SourceIndex,
    component: VertexIndex,
    parts: Vec<Part>,
    counters: Vec<u64>,
    /// How often the links of InfiniBand's ports went down, and recovered from errors, of which the lab knows none.
    links: Vec<u64>,
}

/// All sources, with their counters as they stand.
#[derive(Clone, Debug)]
pub struct Counters {
    /// All sources; the same in every second.
    pub sources: Sources,
    /// The rows of the last second.
    pub batch: CounterBatch,
    rows: Vec<Row>,
    background: Vec<f64>,
    /// By link of a port of InfiniBand: its row and its index there.
    ports: Vec<Option<(u32, u32)>>,
    /// By vertex: whether its rows are missing.
    silent: Vec<bool>,
    /// By vertex: microseconds by which its rows are stamped too late.
    skew_us: Vec<i64>,
    noise: Noise,
    rng: Rng,
    losses: Rng,
}

impl Counters {
    /// Of all ports and tiles of `topology`, and of `clients`, which are sorted.
    ///
    /// # Errors
    /// A label of the topology that is no name, or a catalogue without the metrics of ports and tiles.
    pub fn new(
        topology: &Topology,
        clients: &[VertexIndex],
        noise: Noise,
        seed: u64,
    ) -> Result<Counters, LabError> {
        let mut rng = Rng::new(seed, 0x1AB_0C0);
        let background = topology.links().map(|_| rng.log_between(1_000.0, 10_000.0)).collect();
        let mut counters = Counters {
            sources: Sources::default(),
            batch: CounterBatch::default(),
            rows: Vec::new(),
            background,
            ports: vec![None; topology.link_count()],
            silent: vec![false; topology.vertex_count()],
            skew_us: vec![0; topology.vertex_count()],
            noise,
            rng,
            losses: Rng::new(seed, 0x1AB_105),
        };
        for vertex in topology.vertices() {
            counters.add_ports(topology, vertex)?;
            if clients.binary_search(&vertex).is_ok() {
                let source = source(
                    topology,
                    vertex,
                    "lustre_client",
                    &CLIENT_METRICS,
                    vertex,
                    vec![name(FILE_SYSTEM)?],
                )?;
                counters.add(source, vertex, vec![Part::Client(vertex)]);
            }
        }
        Ok(counters)
    }

    /// As the decoder describes them: a router or host reports all its ports in one row, a switch each in its own.
    fn add_ports(&mut self, topology: &Topology, vertex: VertexIndex) -> Result<(), LabError> {
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
            VertexKind::Host => {}
            VertexKind::Switch => {
                for (link, label) in links.into_iter().zip(labels) {
                    let source = source(topology, vertex, "ibnet", &[], vertex, vec![label])?;
                    self.add(source, vertex, vec![Part::Port(link)]);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, source: Source, component: VertexIndex, parts: Vec<Part>) {
        let mut counters: Vec<u64> = vec![0; source.counters()];
        // Clients have read nothing so far.
        let drawn = if source.reports(Metric::is_progress) { parts.len() } else { 0 };
        counters[drawn..].iter_mut().for_each(|counter| *counter = self.rng.next_u64() % BASE_MAX);
        let of_links = if source.reports(is_port) { parts.len() * LINK_COLUMNS } else { 0 };
        let source = self.sources.intern(source);
        for (part_index, part) in (0..).zip(&parts) {
            if let Part::Port(link) = part {
                self.ports[link.at()] = Some((self.rows.len() as u32, part_index));
            }
        }
        self.rows.push(Row { source, component, parts, counters, links: vec![0; of_links] });
    }

    /// Lets a second pass and replaces the batch by the rows at its end, `time`.
    pub fn pass(&mut self, traffic: &Traffic<'_>, time: Time) {
        self.batch.clear();
        let mut last = None;
        let mut lost = false;
        for at in 0..self.rows.len() {
            let mut row = std::mem::take(&mut self.rows[at].counters);
            let columns = row.len() / self.rows[at].parts.len().max(1);
            for (part_index, counters) in row.chunks_exact_mut(columns.max(1)).enumerate() {
                self.count(self.rows[at].parts[part_index], counters, traffic);
            }
            // All rows of a component are lost together.
            let component = self.rows[at].component;
            if last.replace(component) != Some(component) {
                lost = self.losses.chance(self.noise.missing);
            }
            self.rows[at].counters = row;
            if !lost && !self.silent[component.at()] {
                self.push(at, time + self.skew_us[component.at()]);
            }
        }
    }

    /// The port that transmits on `link` counts that it went down.
    pub fn note_failure(&mut self, link: LinkIndex) {
        if let Some((row, part_index)) = self.ports[link.at()] {
            self.rows[row as usize].links[part_index as usize * LINK_COLUMNS] += 1;
        }
    }

    /// All counters of `component` begin again at 0.
    pub(super) fn reset(&mut self, component: VertexIndex) {
        for row in self.rows.iter_mut().filter(|row| row.component == component) {
            row.counters.fill(0);
            row.links.fill(0);
        }
    }

    /// Whether the rows of `component` are missing from now on.
    pub(super) fn set_silent(&mut self, component: VertexIndex, silent: bool) {
        self.silent[component.at()] = silent;
    }

    /// The rows of `component` are stamped by so many milliseconds too late from now on.
    pub(super) fn skew(&mut self, component: VertexIndex, ms: i32) {
        self.skew_us[component.at()] = i64::from(ms) * 1000;
    }

    fn push(&mut self, at: usize, time: Time) {
        let Row { source, counters, links, .. } = &self.rows[at];
        let (rates, of_links) = self.batch.open(counters.len() + links.len()).split_at_mut(counters.len());
        rates.copy_from_slice(counters);
        of_links.copy_from_slice(links);
        self.batch.seal(*source, time);
    }

    fn count(&mut self, part: Part, counters: &mut [u64], traffic: &Traffic<'_>) {
        match part {
            Part::Client(node) => {
                let written = traffic.written[node.at()];
                if written > 0.0 {
                    counters[1] += (written * self.rng.factor(self.noise.load)) as u64;
                }
            }
            Part::Port(link) => {
                let (words, waits) = self.words(link, WORD_BYTES, traffic);
                counters[0] += waits as u64;
                counters[1] += words as u64;
            }
            Part::Tile(link) => {
                let (flits, stalls) = self.words(link, FLIT_BYTES, traffic);
                counters[0] += stalls as u64;
                for channel in 0..CHANNELS {
                    counters[1 + channel] += (flits * CHANNEL_PARTS[channel]) as u64;
                }
            }
        }
    }

    /// Words and stalls of a second.
    fn words(&mut self, link: LinkIndex, word_bytes: f64, traffic: &Traffic<'_>) -> (f64, f64) {
        let (mut words, mut stalls) = (0.0, 0.0);
        if self.noise.background && !traffic.down[link.at()] {
            words = self.background[link.at()] * self.rng.factor(self.noise.load);
            if self.rng.chance(BACKGROUND_STALLS) {
                stalls = words * self.rng.log_between(0.01, 9.9);
            }
        }
        let carried = traffic.carried[link.at()];
        if carried > 0.0 {
            let sent = carried / word_bytes * self.rng.factor(self.noise.load);
            words += sent;
            stalls += sent * traffic.ratio[link.at()] * self.rng.factor(self.noise.ratio);
        }
        (words, stalls)
    }
}

fn name(text: &str) -> Result<Name, LabError> {
    Ok(Name::parse(text)?)
}

/// Metrics of a Lustre client that the lab simulates, in the order of their counters.
const CLIENT_METRICS: [&str; 2] = ["lustre_read_rate", "lustre_write_rate"];

/// Whether a metric is that of ports that count what they send.
pub(super) fn is_port(metric: Metric) -> bool {
    metric.measured_at() == Some(LinkEnd::Sender)
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
