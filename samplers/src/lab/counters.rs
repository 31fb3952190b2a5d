//! What samplers would report: cumulative counters of ports, tiles, interfaces and clients.
//!
//! With [`Sampled::All`] ports of InfiniBand's switches and interfaces of Aries' nodes also count what shows that something
//! waits, but not how long:
//!
//! | metric | what it counts in the lab | why |
//! |---|---|---|
//! | `ib_congested_ratio`, at the sender | time in which the port's own queue is full | [`super::congestion`] |
//! | `ib_fecn_ratio`, at the receiver | packets that crossed such a port and were marked there | [`super::congestion`] |
//! | `aries_nic_stall_ratio`, at the sender | stalls a flit of the links from the node to its router, together | a link has one queue in the lab: requests wait there for credits, as the router's tile at its other end shows; all traffic is requests |
//!
//! | `lustre_ost_load`, of a server that jobs write to | bytes that arrive at its one OST | no job reads in the lab |
//! | `lustre_data_wait`, of a client | writes of a request's size, and how long they take: as long as in an empty network, times what the worst link or the OSTs make of it | [`super::osts`] |
//!
//! These counters are as wide as all others: a port whose counters of 32 bits stop at their maximum is not simulated.
//! Operations on metadata are left out. The lab has OSTs, but no metadata server, so `lustre_mdt_load` is left out, too.

mod add;

use super::LabError;
use super::congestion::Congestion;
use super::job::Noise;
use crate::aries::FLIT_BYTES;
use crate::network::CHANNEL_PARTS;
use crate::rng::Rng;
use schemas::metric::file::LinkEnd;
use schemas::{CounterBatch, LINK_COLUMNS, Metric, SourceIndex, Sources, Time};
use topology::{LinkIndex, Topology, VertexIndex};

/// Payload of a word of InfiniBand's data counters.
const WORD_BYTES: f64 = 4.0;
/// Seconds of ten in which background traffic stalls.
const BACKGROUND_STALLS: f64 = 0.1;
/// Bytes of a request to an OST, and microseconds that one takes in an empty network.
const REQUEST_BYTES: f64 = 4_194_304.0;
const REQUEST_US: f64 = 4_000.0;
/// Payload of a full packet of InfiniBand at the usual MTU.
const PACKET_BYTES: f64 = 2048.0;

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
    /// The same, each byte times as long as it takes against an empty network.
    pub waited: &'a [f64],
    /// Bytes a second written to a server, by vertex.
    pub stored: &'a [f64],
    /// What ports of InfiniBand's switches count of it; `None` where they do not.
    pub congestion: Option<&'a Congestion>,
}

/// Which metrics rows have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampled {
    /// Those that seconds lost follow from.
    Costs,
    /// Those that only show that something waits, too.
    All,
}

/// What one counter or pair of counters is about.
#[derive(Clone, Copy, Debug)]
enum Part {
    Port(LinkIndex),
    /// A port of a switch that counts congestion, too: what it sends and what it receives.
    CongestionPort {
        out: LinkIndex,
        into: LinkIndex,
    },
    Tile(LinkIndex),
    /// An interface, with its links to its router: an Aries has two of them.
    Interface {
        first: LinkIndex,
        second: Option<LinkIndex>,
    },
    Client(VertexIndex),
    /// Requests of a client to the OSTs.
    Requests(VertexIndex),
    /// The OST of a server.
    Target(VertexIndex),
}

/// Who takes part in a file system; both are sorted.
#[derive(Clone, Copy, Debug)]
pub struct Lustre<'a> {
    /// Nodes that mount it.
    pub clients: &'a [VertexIndex],
    /// Hosts that store its data, an OST each.
    pub servers: &'a [VertexIndex],
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
    sampled: Sampled,
    noise: Noise,
    rng: Rng,
    /// Of the metrics that are not always there: the others are the same with and without them.
    rng_of_all: Rng,
    losses: Rng,
}

impl Counters {
    /// Of all ports, tiles and interfaces of `topology`, and of clients and servers of Lustre.
    ///
    /// # Errors
    /// A label of the topology that is no name, or a catalogue without the metrics of ports and tiles.
    pub fn new(
        topology: &Topology,
        lustre: Lustre<'_>,
        sampled: Sampled,
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
            sampled,
            noise,
            rng,
            rng_of_all: Rng::new(seed, 0x1AB_A11),
            losses: Rng::new(seed, 0x1AB_105),
        };
        for vertex in topology.vertices() {
            counters.add_ports(topology, vertex)?;
            if lustre.clients.binary_search(&vertex).is_ok() {
                counters.add_client(topology, vertex)?;
                counters.add_requests(topology, vertex)?;
            }
            if let Ok(number) = lustre.servers.binary_search(&vertex) {
                counters.add_target(topology, vertex, number)?;
            }
        }
        Ok(counters)
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
        let noise = self.noise;
        let words = |rng: &mut Rng, link: LinkIndex, bytes| {
            words(rng, noise, self.background[link.at()], link, bytes, traffic)
        };
        match (part, counters) {
            (Part::Client(node), [_read, written, ..]) => {
                let bytes = traffic.written[node.at()];
                if bytes > 0.0 {
                    *written += (bytes * self.rng.factor(noise.load)) as u64;
                }
            }
            (Part::Requests(node), [waited, requests, ..]) => {
                let [bytes, waits] = [traffic.written, traffic.waited].map(|of| of[node.at()]);
                let us = REQUEST_US / REQUEST_BYTES * self.rng_of_all.factor(noise.ratio);
                add([(requests, bytes / REQUEST_BYTES), (waited, waits * us)]);
            }
            (Part::Target(server), [_read, written]) => {
                add([(written, traffic.stored[server.at()] * self.rng_of_all.factor(noise.load))]);
            }
            (Part::Port(link), [waits, sent, ..]) => {
                let (words, stalls) = words(&mut self.rng, link, WORD_BYTES);
                add([(waits, stalls), (sent, words)]);
            }
            (Part::CongestionPort { out, into }, [ticks, sent, marks, packets, waits, sent_again]) => {
                let (words, stalls) = words(&mut self.rng, out, WORD_BYTES);
                add([(waits, stalls), (sent_again, words), (sent, words)]);
                let [congested, marked, received] = self.congestion(out, into, traffic);
                add([(ticks, congested), (marks, marked), (packets, received)]);
            }
            (Part::Interface { first, second }, [stalled, sent, ..]) => {
                for link in [Some(first), second].into_iter().flatten() {
                    let (flits, stalls) = words(&mut self.rng_of_all, link, FLIT_BYTES);
                    add([(&mut *stalled, stalls), (&mut *sent, flits)]);
                }
            }
            (Part::Tile(link), [stalled, channels @ ..]) => {
                let (flits, stalls) = words(&mut self.rng, link, FLIT_BYTES);
                add([(stalled, stalls)]);
                add(channels.iter_mut().zip(CHANNEL_PARTS).map(|(channel, part)| (channel, flits * part)));
            }
            _ => {}
        }
    }

    /// Of a second: ticks in which the port that sends on `out` is congested; packets with a mark, and all, that it receives on `into`.
    fn congestion(&mut self, out: LinkIndex, into: LinkIndex, traffic: &Traffic<'_>) -> [f64; 3] {
        let (rng, noise) = (&mut self.rng_of_all, self.noise);
        let Some(Congestion { marked, congested }) = traffic.congestion else { return [0.0; 3] };
        let (words, _) = words(rng, noise, self.background[into.at()], into, WORD_BYTES, traffic);
        let packets = words * WORD_BYTES / PACKET_BYTES;
        let share = marked[into.at()] / traffic.carried[into.at()].max(f64::MIN_POSITIVE);
        let ticks = congested[out.at()] / WORD_BYTES * rng.factor(noise.ratio);
        [ticks, packets * (share * rng.factor(noise.ratio)).min(1.0), packets]
    }
}

/// Adds what is whole of each amount to its counter.
fn add<'c>(amounts: impl IntoIterator<Item = (&'c mut u64, f64)>) {
    amounts.into_iter().for_each(|(counter, amount)| *counter += amount as u64);
}

/// Words and stalls of a second on a link with so many words of `background`.
fn words(
    rng: &mut Rng,
    noise: Noise,
    background: f64,
    link: LinkIndex,
    word_bytes: f64,
    traffic: &Traffic<'_>,
) -> (f64, f64) {
    let (mut words, mut stalls) = (0.0, 0.0);
    if noise.background && !traffic.down[link.at()] {
        words = background * rng.factor(noise.load);
        if rng.chance(BACKGROUND_STALLS) {
            stalls = words * rng.log_between(0.01, 9.9);
        }
    }
    let carried = traffic.carried[link.at()];
    if carried > 0.0 {
        let sent = carried / word_bytes * rng.factor(noise.load);
        words += sent;
        stalls += sent * traffic.ratio[link.at()] * rng.factor(noise.ratio);
    }
    (words, stalls)
}

/// Whether a metric is that of ports that count what they send, and from which seconds lost follow.
pub(super) fn is_port(metric: Metric) -> bool {
    metric.measured_at() == Some(LinkEnd::Sender) && metric.costs()
}
