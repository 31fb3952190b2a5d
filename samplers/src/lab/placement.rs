//! Flows on their way: which of the possible paths each takes, and in which parts.

use super::flows::{Flow, Flows, Paths};
use super::osts::Served;
use super::routing::{Router, Routing, Striping, fpar, reweigh};
use super::shares::max_min;
use super::stalls::Load;
use std::ops::Range;
use std::sync::Arc;
use topology::{LinkIndex, Topology, VertexKind};

/// How often flows that route adaptively choose.
const CHOICES_MAX: usize = 3;
/// How often striped flows weigh their paths before the network is taken as it is.
const REWEIGHS_MAX: usize = 200;
/// Weights that change by less than this part of their flow, at an alpha of 1, are steady.
const STEADY: f64 = 1e-4;
/// A path that carries less than this part of its flow carries nothing.
const NOTHING: f64 = 1e-6;

/// Where the paths or parts of each flow begin; one more than there are flows. `None`: each flow has one.
type Firsts = Option<Arc<Vec<u32>>>;

fn range(firsts: &Firsts, flow: u32) -> Range<u32> {
    match firsts {
        Some(firsts) => firsts[flow as usize]..firsts[flow as usize + 1],
        None => flow..flow + 1,
    }
}

/// Flows in parts, each part on its path. A flow that is not divided is its only part.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// Demands are those of the parts.
    pub parts: Arc<Vec<Flow>>,
    /// By part.
    pub paths: Arc<Paths>,
    firsts: Firsts,
    /// What the OSTs let through of flows that write to them.
    pub served: Served,
}

/// What holds a flow back most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Holder {
    /// Nothing: it has no path.
    Nothing,
    /// The link of this number.
    Link(u32),
    /// The OSTs that it writes to.
    Osts,
}

impl Placed {
    /// Parts of `flows` that send anything.
    pub(super) fn active(&self, flows: &[u32]) -> Vec<u32> {
        let sends = |part: &u32| self.parts[*part as usize].demand > 0.0;
        flows.iter().flat_map(|flow| range(&self.firsts, *flow).filter(sends)).collect()
    }

    /// The network under `flows`.
    pub(super) fn load(&self, flows: &[u32], capacities: &[f64]) -> Load {
        Load::of(&self.parts, self.active(flows), &self.paths, capacities)
    }

    /// The flow of a part.
    pub(super) fn flow_of(&self, part: u32) -> u32 {
        let of_divided = |firsts: &Arc<Vec<u32>>| firsts.partition_point(|first| *first <= part) as u32 - 1;
        self.firsts.as_ref().map_or(part, of_divided)
    }

    /// Stalls a word of the worst link of a flow that is active in `load`, or by the OSTs where these hold it back more;
    /// infinite without a path.
    pub(super) fn worst(&self, flow: u32, load: &Load) -> (f64, Holder) {
        let parts = range(&self.firsts, flow).filter(|part| self.parts[*part as usize].demand > 0.0);
        let worst = parts.map(|part| load.worst(part, &self.paths)).max_by(|a, b| a.0.total_cmp(&b.0));
        match worst {
            Some((ratio, Some(link))) => match self.served.waits(flow) {
                waits if waits > ratio => (waits, Holder::Osts),
                _ => (ratio, Holder::Link(link)),
            },
            _ => (f64::INFINITY, Holder::Nothing),
        }
    }

    /// Bytes a second of each of `flows` if its slowest part holds the others up.
    pub(super) fn bandwidths(&self, flows: &[u32], capacities: &[f64]) -> Vec<f64> {
        let active = self.active(flows);
        let rates = max_min(&self.parts, &active, &self.paths, capacities).rates;
        let mut bandwidths = Vec::with_capacity(flows.len());
        let mut parts = active.iter().zip(rates).peekable();
        for flow in flows {
            let of_flow = range(&self.firsts, *flow);
            let (mut whole, mut slowest) = (0.0, f64::INFINITY);
            while let Some((part, rate)) = parts.next_if(|(part, _)| of_flow.contains(part)) {
                let demand = self.parts[*part as usize].demand;
                whole += demand;
                slowest = slowest.min(rate / demand);
            }
            bandwidths.push(if whole > 0.0 { whole * slowest } else { 0.0 });
        }
        bandwidths
    }
}

/// All paths that flows could take while the same links are up.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    routing: Routing,
    /// Flows, or their parts at equal weights.
    parts: Arc<Vec<Flow>>,
    paths: Arc<Paths>,
    firsts: Firsts,
    /// By link: whether it leads from switch to switch.
    between: Arc<Vec<bool>>,
}

impl Choices {
    /// Of all `flows` while `down` links are down; `down` has one entry for each link, or none if all are up.
    pub(super) fn of(topology: &Topology, routing: Routing, flows: &Flows, down: &[bool]) -> Choices {
        let mut router = Router::new(topology, routing, down);
        let mut paths = Paths::default();
        let mut firsts = vec![0];
        for flow in flows.all.iter() {
            router.add_paths(flow.from, flow.to, &mut paths);
            firsts.push(paths.len() as u32);
        }
        let several = matches!(routing, Routing::Adaptive { .. } | Routing::Striped(_));
        let is_striped = matches!(routing, Routing::Striped(_));
        let firsts = several.then(|| Arc::new(firsts));
        let parts = if is_striped { Arc::new(divided(&flows.all, &firsts)) } else { Arc::clone(&flows.all) };
        let switch = |vertex| topology.kind(vertex) != VertexKind::Host;
        let between = |link: LinkIndex| switch(topology.from(link)) && switch(topology.to(link));
        let between = topology.links().map(between).collect();
        Choices { routing, parts, paths: Arc::new(paths), firsts, between: Arc::new(between) }
    }

    /// A flow of which a part has no way.
    pub(super) fn stuck(&self, flows: &Flows) -> Option<Flow> {
        let stuck = |flow: &u32| range(&self.firsts, *flow).any(|path| self.paths.of(path).is_empty());
        (0..flows.all.len() as u32).find(stuck).map(|flow| flows.all[flow as usize])
    }

    /// The way that `flows` go if no others are there. Adaptive ones choose by the loads that they make.
    pub(super) fn place(&self, flows: &[u32], capacities: &[f64]) -> Placed {
        let demand = |flow: u32| {
            let parts = &self.parts[as_places(self.parts_of(flow))];
            let on_osts = parts.first().is_some_and(|part| part.on_osts);
            on_osts.then(|| parts.iter().map(|part| part.demand).sum::<f64>())
        };
        let served = Served::of(flows.iter().filter_map(|flow| Some((*flow, demand(*flow)?))));
        let placed = Placed {
            parts: self.held_back(&served),
            paths: Arc::clone(&self.paths),
            firsts: self.firsts.clone(),
            served,
        };
        match self.routing {
            Routing::Adaptive { threshold_percent } => {
                let chosen = self.chosen(flows, capacities, f64::from(threshold_percent) / 100.0);
                Placed { paths: Arc::new(chosen), firsts: None, ..placed }
            }
            Routing::Striped(Striping::Adaptive { alpha_percent }) => {
                weighed(placed, flows, capacities, f64::from(alpha_percent) / 100.0)
            }
            _ => placed,
        }
    }

    /// The parts of a flow. One that chooses among paths is one part.
    fn parts_of(&self, flow: u32) -> Range<u32> {
        if matches!(self.routing, Routing::Striped(_)) { range(&self.firsts, flow) } else { flow..flow + 1 }
    }

    /// All parts, those that OSTs hold back asking for no more than these take.
    fn held_back(&self, served: &Served) -> Arc<Vec<Flow>> {
        if served.is_empty() {
            return Arc::clone(&self.parts);
        }
        let mut parts = self.parts.to_vec();
        for (flow, part) in served.parts() {
            parts[as_places(self.parts_of(flow))].iter_mut().for_each(|flow| flow.demand *= part);
        }
        Arc::new(parts)
    }

    fn chosen(&self, flows: &[u32], capacities: &[f64], threshold: f64) -> Paths {
        let mut asked = vec![0.0; capacities.len()];
        let mut taken: Vec<u32> = flows.iter().map(|flow| range(&self.firsts, *flow).start).collect();
        let mut scores = Vec::new();
        for round in 0..CHOICES_MAX {
            let mut changed = round == 0;
            for (flow, taken) in flows.iter().zip(&mut taken) {
                let demand = self.parts[*flow as usize].demand;
                let ways = range(&self.firsts, *flow);
                if round > 0 {
                    self.paths.of(*taken).iter().for_each(|link| asked[link.at()] -= demand);
                }
                scores.clear();
                scores.extend(ways.clone().map(|way| self.score(way, &asked, capacities)));
                let way = ways.start + fpar(&scores, threshold) as u32;
                changed |= std::mem::replace(taken, way) != way;
                self.paths.of(way).iter().for_each(|link| asked[link.at()] += demand);
            }
            if !changed {
                break;
            }
        }
        self.taken(flows, &taken)
    }

    fn score(&self, way: u32, asked: &[f64], capacities: &[f64]) -> f64 {
        let between = self.paths.of(way).iter().map(|link| link.at()).filter(|link| self.between[*link]);
        between.map(|link| asked[link] / capacities[link]).fold(0.0, f64::max).min(1.0)
    }

    /// The paths taken, by flow; none for flows that are not there.
    fn taken(&self, flows: &[u32], taken: &[u32]) -> Paths {
        let mut paths = Paths::default();
        let mut there = flows.iter().zip(taken).peekable();
        for flow in 0..self.parts.len() as u32 {
            match there.next_if(|(next, _)| **next == flow) {
                Some((_, way)) => paths.push(self.paths.of(*way)),
                None => paths.push(&[]),
            }
        }
        paths
    }
}

/// Parts of equal weight, as many as each flow has paths.
fn divided(flows: &[Flow], firsts: &Firsts) -> Vec<Flow> {
    let parts = (0..).zip(flows).flat_map(|(number, flow)| {
        let paths = range(firsts, number);
        let demand = flow.demand / paths.len() as f64;
        paths.map(move |_| Flow { demand, ..*flow })
    });
    parts.collect()
}

/// The weights at which adaptive striping comes to rest, from equal ones.
fn weighed(mut placed: Placed, flows: &[u32], capacities: &[f64], alpha: f64) -> Placed {
    let active = placed.active(flows);
    let mut parts = placed.parts.to_vec();
    for _ in 0..REWEIGHS_MAX {
        let rates = max_min(&parts, &active, &placed.paths, capacities).rates;
        if weigh_again(&mut parts, flows, &placed.firsts, &rates, alpha) < STEADY * alpha {
            break;
        }
    }
    for flow in flows {
        let parts = &mut parts[as_places(range(&placed.firsts, *flow))];
        let whole: f64 = parts.iter().map(|part| part.demand).sum();
        parts.iter_mut().filter(|part| part.demand < NOTHING * whole).for_each(|part| part.demand = 0.0);
    }
    placed.parts = Arc::new(parts);
    placed
}

fn as_places(range: Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// The largest change of a weight, as a part of its flow. `rates` follow the parts of `flows`.
fn weigh_again(parts: &mut [Flow], flows: &[u32], firsts: &Firsts, rates: &[f64], alpha: f64) -> f64 {
    let mut largest = 0.0_f64;
    let mut rates = rates;
    let mut weights = Vec::new();
    for flow in flows {
        let parts = &mut parts[as_places(range(firsts, *flow))];
        let (own, rest) = rates.split_at(parts.len());
        rates = rest;
        weights.clear();
        weights.extend(parts.iter().map(|part| part.demand));
        reweigh(&mut weights, own, alpha, 0.0);
        let whole: f64 = weights.iter().sum();
        for (part, weight) in parts.iter_mut().zip(&weights) {
            largest = largest.max((part.demand - weight).abs() / whole);
            part.demand = *weight;
        }
    }
    largest
}
