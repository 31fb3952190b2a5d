//! What each job's traffic adds to chosen links (Brown 2018, 4.2: projection of flows along forwarding tables).
//!
//! The pairs that exchange messages are not measured. Measured is what a node sends and receives, and its Lustre writes;
//! between the nodes of a job the rest is spread as a gravity model does: from each in proportion to what it sends,
//! to each in proportion to what it receives. Writes go to the I/O servers. Where no client reports its writes, but the
//! servers are named, what the nodes of a job send beyond what they receive is written: messages stay in the job.

use super::links::{Links, is_host_link, out_of};
use super::ways::{Targets, Ways};
use schemas::{Job, Name};
use std::collections::BTreeSet;
use topology::{LinkIndex, Topology, VertexIndex};

/// Pairs of nodes that a job's traffic is sampled from.
const PAIRS_MAX: usize = 4_096;
/// Pairs where each needs a search, since there are no tables.
const PAIRS_MAX_SEARCHED: usize = 1_024;
/// What a node sends where it is not measured: one of an unknown unit, to be scaled by what the links carry.
const UNMEASURED: f64 = 1.0;
/// Part of what a job sends by which that may exceed what it receives without being I/O: ports are not read at once.
const EXCESS_LEAST: f64 = 0.05;

/// Bytes a second of one job over one link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Load {
    /// Messages.
    pub(super) mpi: f64,
    /// Writes to Lustre.
    pub(super) io: f64,
}

impl Load {
    /// Both together.
    pub(super) fn sum(self) -> f64 {
        self.mpi + self.io
    }
}

/// What the nodes of a job send and receive, in one rail.
#[derive(Default)]
struct Nodes {
    vertices: Vec<VertexIndex>,
    sent: Vec<f64>,
    received: Vec<f64>,
    written: Vec<f64>,
    /// Whether the traffic of any of them is measured.
    measured: bool,
    /// Whether what any of them receives is measured, not taken from what its router passes on.
    receipts_measured: bool,
    /// Whether the Lustre client of any of them reports its writes.
    writes_reported: bool,
}

/// A job's traffic over the targets.
#[derive(Clone, Debug)]
pub(super) struct JobTraffic {
    /// Which job.
    pub(super) job_id: Name,
    /// Over each target.
    pub(super) loads: Vec<Load>,
    /// Whether what its nodes send is measured; else `mpi` has an unknown unit.
    pub(super) measured: bool,
    /// What its nodes send in all.
    pub(super) sent: f64,
    /// What its nodes write in all.
    pub(super) written: f64,
    /// Whether Lustre clients report `written`; else it is inferred.
    pub(super) writes_reported: bool,
}

impl JobTraffic {
    /// Of a job that does not run.
    pub(super) fn none(job: &Job, targets: &Targets) -> JobTraffic {
        let loads = vec![Load::default(); targets.links.len()];
        JobTraffic {
            job_id: job.job_id.clone(),
            loads,
            measured: true,
            sent: 0.0,
            written: 0.0,
            writes_reported: false,
        }
    }
}

/// I/O servers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Servers {
    /// Where they are, and bytes a second that each receives.
    pub(super) received: Vec<(VertexIndex, f64)>,
    /// Whether the site configuration names them; else they are hosts without jobs that receive something.
    pub(super) named: bool,
}

impl Servers {
    fn received_bytes_per_s(&self) -> f64 {
        self.received.iter().map(|(_, received)| received).sum()
    }
}

/// What `job` adds to `targets` at the end of `tick`.
pub(super) fn of_job(
    job: &Job,
    tick: i64,
    links: &Links,
    servers: &Servers,
    ways: &mut Ways<'_>,
    targets: &Targets,
) -> JobTraffic {
    let mut traffic = JobTraffic { measured: false, ..JobTraffic::none(job, targets) };
    for rail in 0..ways.topology().rail_count() as u8 {
        let Some(nodes) = nodes_of(job, rail, tick, links, servers, ways.topology()) else { continue };
        traffic.measured |= nodes.measured;
        traffic.writes_reported |= nodes.writes_reported;
        traffic.sent += nodes.sent.iter().sum::<f64>();
        traffic.written += nodes.written.iter().sum::<f64>();
        messages(&nodes, rail, ways, targets, &mut traffic.loads);
        writes(&nodes, rail, servers, ways, targets, &mut traffic.loads);
    }
    traffic
}

fn nodes_of(
    job: &Job,
    rail: u8,
    tick: i64,
    links: &Links,
    servers: &Servers,
    topology: &Topology,
) -> Option<Nodes> {
    let mut nodes = Nodes::default();
    let rails = topology.rail_count() as f64;
    for node in &job.nodes {
        let Some(vertex) = topology.vertex(node.as_str()) else { continue };
        let out = || out_of(topology, vertex).filter(|link| topology.rail(*link) == rail);
        if out().next().is_none() {
            continue;
        }
        let sent = links.loads_at(out(), tick);
        let measured = links.loads_at(out().map(|link| topology.reverse(link)), tick);
        nodes.receipts_measured |= measured.is_some();
        let received = measured.or_else(|| passed_to(links, topology, (vertex, rail), tick));
        nodes.measured |= sent.is_some();
        nodes.vertices.push(vertex);
        nodes.sent.push(sent.unwrap_or(UNMEASURED));
        nodes.received.push(received.or(sent).unwrap_or(UNMEASURED));
        let reported = links.writes_at(node, tick);
        nodes.writes_reported |= reported.is_some();
        let written = reported.unwrap_or(0.0) / rails;
        nodes.written.push(sent.map_or(written, |sent| written.min(sent)));
    }
    if nodes.measured {
        if !nodes.writes_reported && servers.named && nodes.receipts_measured {
            nodes.infer_writes(servers.received_bytes_per_s() / rails);
        }
        for (sent, written) in nodes.sent.iter_mut().zip(&nodes.written) {
            *sent -= written;
        }
    }
    (!nodes.vertices.is_empty()).then_some(nodes)
}

/// What a host receives whose links report only what it sends, as on an Aries: its router passes on to its hosts what comes in and
/// does not go out. That is shared as what the hosts send, and the rest evenly.
fn passed_to(links: &Links, topology: &Topology, (host, rail): (VertexIndex, u8), tick: i64) -> Option<f64> {
    let in_rail = |link: &LinkIndex| topology.rail(*link) == rail;
    let of_host = |host| links.loads_at(out_of(topology, host).filter(in_rail), tick);
    let router = topology.to(out_of(topology, host).find(in_rail)?);
    let (mut came, mut passed, mut sent) = (0.0, 0.0, 0.0);
    let mut hosts = BTreeSet::new();
    for link in topology.links_from(router).filter(in_rail) {
        let came_here = links.load_at(topology.reverse(link), tick)?;
        came += came_here;
        if is_host_link(topology, link) {
            hosts.insert(topology.to(link));
            sent += came_here;
        } else {
            passed += links.load_at(link, tick)?;
        }
    }
    let received = (came - passed).max(0.0);
    let rest = received - sent - EXCESS_LEAST * came;
    let own = of_host(host)? * (received / sent.max(1.0)).min(1.0);
    Some(own + rest.max(0.0) / hosts.len().max(1) as f64)
}

impl Nodes {
    /// What leaves the job goes to the servers, of which it cannot be more than they receive; from each node in proportion
    /// to what that sends beyond what it receives.
    fn infer_writes(&mut self, received_by_servers: f64) {
        let (sent, received) = (self.sent.iter().sum::<f64>(), self.received.iter().sum::<f64>());
        let excess = |at: usize| (self.sent[at] - self.received[at]).max(0.0);
        let of_all: f64 = (0..self.vertices.len()).map(excess).sum();
        let leaves = (sent - received).min(received_by_servers);
        if leaves > EXCESS_LEAST * sent && of_all > 0.0 {
            self.written = (0..self.vertices.len()).map(|at| leaves * excess(at) / of_all).collect();
        }
    }
}

fn messages(nodes: &Nodes, rail: u8, ways: &mut Ways<'_>, targets: &Targets, loads: &mut [Load]) {
    let count = nodes.vertices.len();
    let pairs_max = if ways.are_known() { PAIRS_MAX } else { PAIRS_MAX_SEARCHED };
    let of_each = (pairs_max / count).clamp(1, count.saturating_sub(1).max(1));
    for from in 0..count {
        if nodes.sent[from] <= 0.0 || count < 2 {
            continue;
        }
        // The same pairs every time, spread over the others.
        let stride = ((count - 1) as f64 / of_each as f64).max(1.0);
        let partners = (0..of_each).map(|k| (from + 1 + (k as f64 * stride) as usize) % count);
        let partners: Vec<usize> = partners.filter(|to| *to != from).collect();
        let all: f64 = partners.iter().map(|to| nodes.received[*to]).sum();
        for to in partners {
            let part = if all > 0.0 { nodes.received[to] / all } else { 0.0 };
            let rate = nodes.sent[from] * part;
            if rate > 0.0 {
                let way = (nodes.vertices[from], nodes.vertices[to], rail);
                ways.cross(way, targets, |slot, part| loads[slot].mpi += rate * part);
            }
        }
    }
}

fn writes(
    nodes: &Nodes,
    rail: u8,
    servers: &Servers,
    ways: &mut Ways<'_>,
    targets: &Targets,
    loads: &mut [Load],
) {
    let all = servers.received_bytes_per_s();
    for (from, written) in nodes.vertices.iter().zip(&nodes.written).filter(|(_, written)| **written > 0.0) {
        for (server, received) in &servers.received {
            let part = if all > 0.0 { received / all } else { 1.0 / servers.received.len() as f64 };
            ways.cross((*from, *server, rail), targets, |slot, over| {
                loads[slot].io += written * part * over;
            });
        }
    }
}

/// Scales what is of an unknown unit so that all jobs together come as near as possible to what the links carry:
/// least squares with scales of at least 0, one job after the other.
pub(super) fn scale(jobs: &mut [JobTraffic], carried: &[f64]) {
    const ROUNDS: usize = 30;
    let unknown: Vec<usize> = (0..jobs.len()).filter(|at| !jobs[*at].measured).collect();
    if unknown.is_empty() {
        return;
    }
    let mut scales = vec![0.0; jobs.len()];
    for _ in 0..ROUNDS {
        for at in &unknown {
            let (mut above, mut below) = (0.0, 0.0);
            for (slot, carried) in carried.iter().enumerate() {
                let own = jobs[*at].loads[slot].mpi;
                let others: f64 = (0..jobs.len())
                    .map(|j| {
                        let load = jobs[j].loads[slot];
                        let mpi = if jobs[j].measured { load.mpi } else { scales[j] * load.mpi };
                        load.io + if j == *at { 0.0 } else { mpi }
                    })
                    .sum();
                above += own * (carried - others);
                below += own * own;
            }
            scales[*at] = if below > 0.0 { (above / below).max(0.0) } else { 0.0 };
        }
    }
    for at in unknown {
        jobs[at].loads.iter_mut().for_each(|load| load.mpi *= scales[at]);
        jobs[at].sent *= scales[at];
    }
}

#[cfg(test)]
mod tests {
    use super::super::tick::LinkReport;
    use super::*;
    use schemas::{SeriesIndex, Time};
    use topology::generate::FatTree;
    use topology::{Machine, VertexKind};

    fn unknown(loads: &[f64]) -> JobTraffic {
        JobTraffic {
            job_id: Name::parse("1").unwrap(),
            loads: loads.iter().map(|mpi| Load { mpi: *mpi, io: 0.0 }).collect(),
            measured: false,
            sent: 1.0,
            written: 0.0,
            writes_reported: false,
        }
    }

    #[test]
    fn jobs_of_unknown_traffic_are_scaled_to_what_the_links_carry() {
        let mut jobs = [unknown(&[1.0, 1.0, 0.0]), unknown(&[0.0, 1.0, 2.0])];
        scale(&mut jobs, &[3.0, 8.0, 10.0]);
        assert!((jobs[0].loads[0].mpi - 3.0).abs() < 1e-6, "{jobs:?}");
        assert!((jobs[1].loads[2].mpi - 10.0).abs() < 1e-6, "{jobs:?}");
    }

    /// B3: the sender's port and the receiver's report the same bytes.
    #[test]
    fn a_transfer_that_both_ends_report_counts_once() {
        let topology = Machine::FatTree(FatTree::vishnu(0)).build().unwrap();
        let hosts: Vec<VertexIndex> = topology.vertices_of(VertexKind::Host).collect();
        let (from, to) = (hosts[0], hosts[30]);
        let path = {
            let lids = topology.lids().lowest(0, topology.vertex_count());
            topology.routes_at(None).walk(from, 0, lids[to.at()]).unwrap()
        };
        let mut links = Links::default();
        let out_and_in = [from, to].map(|host| out_of(&topology, host).next().unwrap());
        for out in out_and_in {
            for link in [out, topology.reverse(out)] {
                let number = links.add(topology.series(link).unwrap(), Some(&topology));
                let sent = if path.contains(&link) { 5e8 } else { 0.0 };
                let report = LinkReport {
                    series: SeriesIndex(number),
                    load_bytes_per_s: sent,
                    mean_bytes_per_s: sent,
                    value: 0.03,
                    baseline: 0.03,
                    contended: false,
                    active: true,
                    since_ticks: 0,
                    off_ms: 0,
                };
                links.set(number, &report, 100);
            }
        }
        let job = Job {
            job_id: Name::parse("1").unwrap(),
            label: String::new(),
            user: String::new(),
            name: String::new(),
            nodes: [from, to].map(|host| topology.name(host).clone()).to_vec(),
            start: Time::from_seconds(0.0),
            end: None,
            end_presumed: false,
            app: None,
        };
        let targets = Targets::of(path);
        let mut ways = Ways::at(&topology, Time::from_seconds(100.0));
        let traffic = of_job(&job, 100, &links, &Servers::default(), &mut ways, &targets);
        assert!(traffic.loads.iter().all(|load| *load == Load { mpi: 5e8, io: 0.0 }), "{traffic:?}");
        assert_eq!((traffic.loads.len(), traffic.sent), (4, 5e8));
    }

    #[test]
    fn no_job_carries_less_than_nothing() {
        let mut jobs = [unknown(&[1.0, 0.0]), unknown(&[1.0, 1.0])];
        scale(&mut jobs, &[1.0, 5.0]);
        assert!(jobs.iter().flat_map(|job| &job.loads).all(|load| load.mpi >= 0.0));
    }
}
