//! The network while nothing changes: what flows move, and what counters of links show meanwhile.
//!
//! A flow never gets more than its max-min share. Below that its words wait in queues, and since it sends the next one when the
//! last has arrived, waiting makes it slower. A job that waits for its slowest flow sends no faster on the others.
//! Rates are a fixed point of the three, found by damped iteration.

use super::shares::{Offer, max_min};
use samplers::lab::FlowPath;
use topology::LinkIndex;

/// Iterations until rates rest.
const ROUNDS: i32 = 60;
/// Step of the first iteration, and what a step is of the one before.
const STEP: (f64, f64) = (0.5, 0.93);
/// Utilisation up to which the mean of a queue is that of M/M/1.
const KNEE: f64 = 0.96;
/// Part of what a full link holds back of its flows that the links before it show as stalls.
const BACK_PRESSURE: f64 = 0.3;
/// Part of its rate alone below which a flow is slowed in earnest.
const SLOWED: f64 = 0.97;
/// Part of the stalls where a flow waits from which a link on its way shows them: less than what a full link passes back.
const SHOWS: f64 = 0.25;
/// Part of a link's stalls that full links pass back to it, from which it shows them.
const PASSED_BACK: f64 = 0.3;

/// Flows that make progress together.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// 1: all as fast as the slowest; 0: each for itself.
    pub coupling: f64,
    /// Its flows.
    pub flows: &'a [FlowPath],
}

/// The links: by number.
#[derive(Clone, Copy, Debug)]
pub struct Links<'a> {
    /// Bytes a second.
    pub capacities: &'a [f64],
    /// Stalls a word in the queue of a link that is half used.
    pub queue_at_half: f64,
    /// Stalls a word of a link without load.
    pub unloaded: f64,
}

/// What became of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupMoment {
    /// Bytes that it moves over those that it wants to move, 0 to 1.
    pub speed: f64,
    /// Bytes a second of each flow.
    pub rates: Vec<f64>,
    /// By flow: its part of what slows the group, and the link where it waits.
    pub waits: Vec<(f64, LinkIndex)>,
}

/// Rates, loads and stalls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moment {
    /// By group.
    pub groups: Vec<GroupMoment>,
    /// Bytes a second that links carry, by number.
    pub carried: Vec<f64>,
    /// Stalls a word of links, by number.
    pub ratio: Vec<f64>,
    /// Links where flows are slowed in earnest.
    pub slow: Vec<LinkIndex>,
}

/// The state of the iteration.
struct State<'a> {
    links: Links<'a>,
    groups: &'a [Group<'a>],
    /// By group: the part of its demand that its slowest flow gets.
    pace: Vec<f64>,
    queue: Vec<f64>,
    /// Stalls a word by what full links hold back.
    held: Vec<f64>,
    rates: Vec<f64>,
    held_at: Vec<Option<LinkIndex>>,
    carried: Vec<f64>,
}

/// Solves a moment.
pub fn moment(groups: &[Group<'_>], links: Links<'_>) -> Moment {
    let count = links.capacities.len();
    let mut state = State {
        links,
        groups,
        pace: vec![1.0; groups.len()],
        queue: vec![0.0; count],
        held: vec![0.0; count],
        rates: Vec::new(),
        held_at: Vec::new(),
        carried: vec![0.0; count],
    };
    for round in 0..ROUNDS {
        state.advance(STEP.0 * STEP.1.powi(round));
    }
    state.conclude()
}

impl State<'_> {
    /// The part of its demand that queues alone leave a flow.
    fn freely(&self, flow: &FlowPath) -> f64 {
        1.0 / (1.0 + flow.links.iter().map(|link| self.queue[link.at()]).fold(0.0, f64::max))
    }

    fn advance(&mut self, step: f64) {
        let mut offers = Vec::new();
        for (group, pace) in self.groups.iter().zip(&self.pace) {
            for flow in group.flows {
                let freely = self.freely(flow);
                let part = group.coupling * pace.min(freely) + (1.0 - group.coupling) * freely;
                offers.push(Offer { demand: flow.demand * part, links: &flow.links });
            }
        }
        let shares = max_min(&offers, self.links.capacities);
        self.carried.fill(0.0);
        for (offer, rate) in offers.iter().zip(&shares.rates) {
            offer.links.iter().for_each(|link| self.carried[link.at()] += rate);
        }
        (self.rates, self.held_at) = (shares.rates, shares.held_at);
        let gain = self.links.queue_at_half;
        for ((queue, carried), capacity) in
            self.queue.iter_mut().zip(&self.carried).zip(self.links.capacities)
        {
            let utilisation = carried / capacity;
            let now = gain * utilisation / (1.0 - utilisation.min(KNEE));
            *queue += step * (now - *queue);
        }
        self.pace_and_hold(step);
    }

    fn pace_and_hold(&mut self, step: f64) {
        let mut held = vec![0.0; self.held.len()];
        let mut at = 0;
        for (number, group) in self.groups.iter().enumerate() {
            let mut slowest: f64 = 1.0;
            for flow in group.flows {
                let freely = self.freely(flow);
                let (rate, full) = (self.rates[at], self.held_at[at]);
                let gets = if full.is_some() { (rate / flow.demand).min(freely) } else { freely };
                slowest = slowest.min(gets);
                if let Some(full) = full {
                    let back = (flow.demand * freely - rate).max(0.0);
                    let mut part = BACK_PRESSURE;
                    for link in &flow.links {
                        part = if *link == full { 1.0 } else { part };
                        held[link.at()] += part * back / self.carried[link.at()].max(1.0);
                        if *link == full {
                            break;
                        }
                    }
                }
                at += 1;
            }
            self.pace[number] += step * (slowest - self.pace[number]);
        }
        self.held.iter_mut().zip(held).for_each(|(known, now)| *known += step * (now - *known));
    }

    fn conclude(self) -> Moment {
        let ratio = |link: usize| self.links.unloaded + self.queue[link] + self.held[link];
        let ratios: Vec<f64> = (0..self.carried.len()).map(ratio).collect();
        let mut moment = Moment::default();
        let mut at = 0;
        for (group, pace) in self.groups.iter().zip(&self.pace) {
            let wanted: f64 = group.flows.iter().map(|flow| flow.demand).sum();
            let mut found = GroupMoment::default();
            for flow in group.flows {
                let rate = self.rates[at];
                let worst = flow.links.iter().max_by(|a, b| ratios[a.at()].total_cmp(&ratios[b.at()]));
                let worst = worst.copied().unwrap_or(LinkIndex(0));
                let gets = if self.held_at[at].is_some() { rate / flow.demand } else { self.freely(flow) };
                let is_slowest = gets <= pace * 1.02;
                let of_slowest = if is_slowest { group.coupling } else { 0.0 };
                let weight = of_slowest + (1.0 - group.coupling) * (1.0 - gets).max(0.0);
                found.waits.push((weight * flow.demand / wanted, worst));
                if gets < SLOWED {
                    let shows = |link: &&LinkIndex| {
                        let ratio = ratios[link.at()];
                        ratio > SHOWS * ratios[worst.at()] || self.held[link.at()] > PASSED_BACK * ratio
                    };
                    moment.slow.extend(flow.links.iter().filter(shows));
                }
                found.rates.push(rate);
                at += 1;
            }
            found.speed = if wanted > 0.0 { found.rates.iter().sum::<f64>() / wanted } else { 1.0 };
            moment.groups.push(found);
        }
        moment.slow.sort_unstable();
        moment.slow.dedup();
        (moment.carried, moment.ratio) = (self.carried, ratios);
        moment
    }
}
