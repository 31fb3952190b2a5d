//! Labelled cases with narrowed cables, drawn by a seed.
//!
//! A cable keeps a quarter or half of its width from [`ONSET_S`] on. Which job is slowed by that, and which by another job,
//! follows from flows and capacities alone: the lab compares the network with the same network at full width.

use samplers::lab::scenarios::ONSET_S;
use samplers::lab::{Change, Event, LabJob, Noise, Pattern, Routing, Setup, asked};
use samplers::rng::Rng;
use std::collections::BTreeMap;
use std::sync::Arc;
use topology::generate::FatTree;
use topology::machines;
use topology::{LinkIndex, Machine, MachineError, Topology, VertexIndex, VertexKind};

/// Draws of nodes and cables before a seed is given up.
const TRIES: usize = 200;

/// What a case consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// One job, whose cable is narrowed.
    Alone,
    /// The same, while a job begins nearby that does not use the cable.
    Bystander,
    /// Two jobs use the cable, both before and after.
    Shared,
    /// A job with little traffic on the cable begins within seconds of the narrowing.
    Newcomer,
    /// Two cables of one job, one after the other.
    Two,
    /// Two jobs far from each other, one cable of each.
    TwoPlaces,
    /// A job slows another; the narrowed cable belongs to a third one.
    Unused,
    /// A job slows another, and no cable is narrowed.
    Control,
}

impl Sort {
    /// All of them.
    pub const ALL: [Sort; 8] = [
        Sort::Alone,
        Sort::Bystander,
        Sort::Shared,
        Sort::Newcomer,
        Sort::Two,
        Sort::TwoPlaces,
        Sort::Unused,
        Sort::Control,
    ];
}

/// A network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Net {
    /// Two levels, 6 leaves, 4 spines.
    Tree,
    /// Two levels, 9 leaves of 10 hosts, 5 uplinks at 12.5 GB/s.
    TreeWide,
    /// Three levels, 128 hosts.
    Tree3,
    /// Dragonfly+ with 5 groups and forwarding tables.
    Dfp,
    /// The same, the fabric does not know the tables.
    DfpNoTables,
    /// An Aries chassis, minimal routing.
    Aries,
}

impl Net {
    /// All of them.
    pub const ALL: [Net; 6] = [Net::Tree, Net::TreeWide, Net::Tree3, Net::Dfp, Net::DfpNoTables, Net::Aries];

    /// Whether the fabric knows forwarding tables.
    pub fn has_tables(self) -> bool {
        !matches!(self, Net::DfpNoTables | Net::Aries)
    }

    fn build(self) -> Result<Arc<Topology>, MachineError> {
        match self {
            Net::Tree => machines::two_level(6, 4, 8),
            Net::TreeWide => {
                let tree = FatTree {
                    ports: 18,
                    leaves_per_pod: 9,
                    nodes_per_leaf: 10,
                    uplinks_per_leaf: 5,
                    bytes_per_s: 12.5e9,
                    ..FatTree::vishnu(0)
                };
                Machine::FatTree(tree).build().map(Arc::new)
            }
            Net::Tree3 => machines::three_level_small(),
            Net::Dfp | Net::DfpNoTables => machines::dragonfly_plus_small(),
            Net::Aries => machines::aries_chassis(),
        }
    }
}

/// A case of `sort` on `net`, the same for the same seed; `None` where hosts and cables that fit were not drawn.
pub fn drawn(sort: Sort, net: Net, seed: u64) -> Option<Setup> {
    let topology = net.build().unwrap();
    let rng = Rng::new(seed, 0x4A22 + 64 * sort as u64 + net as u64);
    let routing = if net.has_tables() { Routing::Tables } else { Routing::Minimal };
    let leaves = leaves(&topology);
    let mut draw = Draw { rng, topology, routing, leaves, seed };
    (0..TRIES).find_map(|_| draw.of(sort))
}

/// Hosts by the switch that they hang on.
fn leaves(topology: &Topology) -> Vec<Vec<VertexIndex>> {
    let mut leaves: BTreeMap<VertexIndex, Vec<VertexIndex>> = BTreeMap::new();
    for host in topology.vertices_of(VertexKind::Host) {
        if let Some(link) = topology.links_from(host).next() {
            leaves.entry(topology.to(link)).or_default().push(host);
        }
    }
    leaves.into_values().collect()
}

fn shuffle<T>(list: &mut [T], rng: &mut Rng) {
    (1..list.len()).rev().for_each(|at| list.swap(at, rng.below(at + 1)));
}

struct Draw {
    rng: Rng,
    topology: Arc<Topology>,
    routing: Routing,
    leaves: Vec<Vec<VertexIndex>>,
    seed: u64,
}

/// Demanded utilisation of each link.
type Loads = Vec<f64>;

impl Draw {
    fn of(&mut self, sort: Sort) -> Option<Setup> {
        match sort {
            Sort::Alone => self.alone(),
            Sort::Bystander => self.bystander(),
            Sort::Shared => self.shared(),
            Sort::Newcomer => self.newcomer(),
            Sort::Two => self.two(),
            Sort::TwoPlaces => self.two_places(),
            Sort::Unused => self.slowed(true),
            Sort::Control => self.slowed(false),
        }
    }

    fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.rng.uniform()
    }

    /// Two lots of hosts on the same three to five leaves out of `of`.
    fn lots(&mut self, of: std::ops::Range<usize>) -> [Vec<VertexIndex>; 2] {
        let mut leaves = self.leaves[of].to_vec();
        shuffle(&mut leaves, &mut self.rng);
        let count = 3 + self.rng.below(3);
        let mut lots = [Vec::new(), Vec::new()];
        for mut hosts in leaves.into_iter().take(count) {
            shuffle(&mut hosts, &mut self.rng);
            let (mine, theirs) = hosts.split_at(hosts.len() / 2);
            lots[0].extend(mine);
            lots[1].extend(theirs);
        }
        lots.iter_mut().for_each(|lot| lot.sort_unstable());
        lots
    }

    /// A job that uses its busiest link between switches to `peak`, and its demand on all links.
    fn job(&mut self, job_id: u64, hosts: &[VertexIndex], peak: f64) -> (LabJob, Loads) {
        let pattern = [Pattern::AllToAll, Pattern::AllToAll, Pattern::Uniform][self.rng.below(3)];
        let mut job = LabJob::new(job_id, hosts.to_vec(), pattern, 1.0);
        let mut loads = asked(&self.topology, self.routing, std::slice::from_ref(&job), self.seed);
        // A job whose messages hardly leave their leaf fills a link of a host first.
        let host = loads.iter().copied().fold(0.0, f64::max);
        let most = self.inner().map(|link| loads[link.at()]).fold(0.8 * host, f64::max);
        job.bytes_per_s = peak / most;
        loads.iter_mut().for_each(|load| *load *= peak / most);
        (job, loads)
    }

    fn inner(&self) -> impl Iterator<Item = LinkIndex> + '_ {
        let host = |vertex| self.topology.kind(vertex) == VertexKind::Host;
        self.topology.links().filter(move |l| !host(self.topology.from(*l)) && !host(self.topology.to(*l)))
    }

    fn pick(&mut self, fits: impl Fn(LinkIndex) -> bool) -> Option<LinkIndex> {
        let links: Vec<LinkIndex> = self.inner().filter(|link| fits(*link)).collect();
        (!links.is_empty()).then(|| links[self.rng.below(links.len())])
    }

    /// What is left of the cable in percent, and how much of it a job may use before.
    fn width(&mut self) -> (u8, f64) {
        if self.rng.below(2) == 0 { (25, self.between(0.3, 0.5)) } else { (50, self.between(0.6, 0.75)) }
    }

    fn setup(&self, jobs: Vec<LabJob>, narrowed: &[(LinkIndex, u8, u32)]) -> Setup {
        let event = |(link, percent, at_s): &(LinkIndex, u8, u32)| Event {
            at_s: *at_s,
            change: Change::Narrow { link: *link, percent: *percent },
        };
        Setup {
            topology: Arc::clone(&self.topology),
            routing: self.routing,
            jobs,
            events: narrowed.iter().map(event).collect(),
            noise: Noise::default(),
            seed: self.seed,
        }
    }

    /// A cable that `loads` fill once it has `percent` of its width.
    fn cable(&mut self, loads: &Loads, percent: u8) -> Option<LinkIndex> {
        self.pick(|link| loads[link.at()] * 100.0 / f64::from(percent) > 1.05)
    }

    /// The largest utilisation of a link, by the demand of all these.
    fn most(&self, all: &[&Loads]) -> f64 {
        let sum = |at: usize| all.iter().map(|loads| loads[at]).sum::<f64>();
        self.inner().map(|link| sum(link.at())).fold(0.0, f64::max)
    }

    /// By what `added` must be multiplied for the busiest link of `base` to have `utilisation`.
    fn factor(&self, base: &Loads, added: &Loads, utilisation: f64) -> Option<f64> {
        let shared = self.inner().filter(|l| base[l.at()] >= 0.15 && added[l.at()] > 1e-3);
        shared.map(|l| (utilisation - base[l.at()]) / added[l.at()]).reduce(f64::min)
    }

    fn crosses(&self, loads: &Loads, cable: LinkIndex) -> bool {
        loads[cable.at()] + loads[self.topology.reverse(cable).at()] > 0.0
    }

    /// Something within so many seconds of the onset.
    fn near_onset(&mut self, seconds: usize) -> u32 {
        ONSET_S - seconds as u32 + self.rng.below(2 * seconds + 1) as u32
    }

    fn alone(&mut self) -> Option<Setup> {
        let (percent, peak) = self.width();
        let [hosts, _] = self.lots(0..self.leaves.len());
        let (job, loads) = self.job(1, &hosts, peak);
        let cable = self.cable(&loads, percent)?;
        Some(self.setup(vec![job], &[(cable, percent, ONSET_S)]))
    }

    fn bystander(&mut self) -> Option<Setup> {
        let (percent, peak) = self.width();
        let [mine, theirs] = self.lots(0..self.leaves.len());
        let (job, loads) = self.job(1, &mine, peak);
        let cable = self.cable(&loads, percent)?;
        // Some of the other hosts on the same leaves.
        let from = self.rng.below(theirs.len() / 2);
        let count = 2 + self.rng.below(theirs.len() - from - 1);
        let theirs: Vec<VertexIndex> = theirs.into_iter().skip(from).take(count).collect();
        let peak = self.between(0.2, 0.5);
        let (mut other, others) = self.job(2, &theirs, peak);
        if self.crosses(&others, cable) || self.most(&[&loads, &others]) > 0.8 {
            return None;
        }
        (other.start_s, other.work_s) = (self.near_onset(6), 200.0);
        Some(self.setup(vec![job, other], &[(cable, percent, ONSET_S)]))
    }

    fn shared(&mut self) -> Option<Setup> {
        let (percent, peak) = self.width();
        let [mine, theirs] = self.lots(0..self.leaves.len());
        let part = self.between(0.3, 0.7);
        let (job, loads) = self.job(1, &mine, part * peak);
        let (other, others) = self.job(2, &theirs, (1.0 - part) * peak);
        let both: Loads = loads.iter().zip(&others).map(|(a, b)| a + b).collect();
        let cable = self.cable(&both, percent)?;
        let used = loads[cable.at()] > 0.05 && others[cable.at()] > 0.05;
        let fits = used && self.most(&[&both]) < 0.8;
        fits.then(|| self.setup(vec![job, other], &[(cable, percent, ONSET_S)]))
    }

    fn newcomer(&mut self) -> Option<Setup> {
        let (percent, peak) = self.width();
        let [mine, theirs] = self.lots(0..self.leaves.len());
        let (job, loads) = self.job(1, &mine, peak);
        let cable = self.cable(&loads, percent)?;
        let peak = self.between(0.05, 0.15);
        let (mut other, others) = self.job(2, &theirs, peak);
        if others[cable.at()] < 0.02 || self.most(&[&loads, &others]) > 0.85 {
            return None;
        }
        (other.start_s, other.work_s) = (self.near_onset(6), 200.0);
        Some(self.setup(vec![job, other], &[(cable, percent, ONSET_S)]))
    }

    fn two(&mut self) -> Option<Setup> {
        let (percent, peak) = self.width();
        let [mine, theirs] = self.lots(0..self.leaves.len());
        let (job, loads) = self.job(1, &mine, peak);
        let first = self.cable(&loads, percent)?;
        let second = self.cable(&loads, percent)?;
        if second == first || second == self.topology.reverse(first) {
            return None;
        }
        let (other, others) = self.job(2, &theirs, 0.15);
        let later = [0, 0, 3, 40, 90][self.rng.below(5)];
        let cables = [(first, percent, ONSET_S), (second, percent, ONSET_S + later)];
        let fits = self.most(&[&loads, &others]) < 0.9;
        fits.then(|| self.setup(vec![job, other], &cables))
    }

    fn two_places(&mut self) -> Option<Setup> {
        let (percent, peak) = self.width();
        let half = self.leaves.len() / 2;
        let [mine, near] = self.lots(0..half);
        let [theirs, _] = self.lots(half..self.leaves.len());
        let (job, loads) = self.job(1, &mine, peak);
        let (other, others) = self.job(2, &theirs, peak);
        let (third, thirds) = self.job(3, &near, 0.15);
        let first = self.cable(&loads, percent)?;
        let second = self.cable(&others, percent)?;
        if self.most(&[&loads, &others, &thirds]) > 0.95 || self.crosses(&others, first) {
            return None;
        }
        let later = self.rng.below(4) as u32;
        let cables = [(first, percent, ONSET_S), (second, percent, ONSET_S + later)];
        Some(self.setup(vec![job, other, third], &cables))
    }

    /// Job 2 slows job 1; where `narrowed`, a cable of job 3 is narrowed within seconds of that.
    fn slowed(&mut self, narrowed: bool) -> Option<Setup> {
        let half = if narrowed { self.leaves.len() / 2 } else { self.leaves.len() };
        let [mine, theirs] = self.lots(0..half);
        let peak = self.between(0.35, 0.5);
        let (victim, loads) = self.job(1, &mine, peak);
        let (mut other, others) = self.job(2, &theirs, 0.1);
        let together = self.between(1.05, 1.3);
        // Alone it fills no link.
        let factor = self.factor(&loads, &others, together)?.min(9.3);
        if factor < 3.0 {
            return None;
        }
        other.bytes_per_s *= factor;
        (other.start_s, other.work_s) = (ONSET_S, 150.0);
        if !narrowed {
            return Some(self.setup(vec![victim, other], &[]));
        }
        let (percent, peak) = self.width();
        let [third, _] = self.lots(half..self.leaves.len());
        let (job, thirds) = self.job(3, &third, peak);
        let cable = self.cable(&thirds, percent)?;
        if self.crosses(&loads, cable) || self.crosses(&others, cable) {
            return None;
        }
        let at_s = self.near_onset(6);
        Some(self.setup(vec![victim, other, job], &[(cable, percent, at_s)]))
    }
}
