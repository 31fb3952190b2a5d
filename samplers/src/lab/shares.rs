//! Max-min fair shares of the links: what each flow gets.

use super::flows::{Flow, Paths};
use topology::LinkIndex;

/// Relative error below which two rates are the same.
const SAME: f64 = 1e-9;

/// What flows get.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    /// Bytes a second of each flow, in the order of the active ones; 0 without a path.
    pub rates: Vec<f64>,
    /// What a full link lets through of each flow; infinite for links that are not full.
    pub levels: Vec<f64>,
}

/// Progressive filling. No flow could have more without one that has less losing some.
pub(super) fn max_min(all: &[Flow], active: &[u32], paths: &Paths, capacities: &[f64]) -> Shares {
    let demand = |index: usize| all[active[index] as usize].demand;
    let mut filling = Filling::new(all, active, paths, capacities);
    // Flows that ask for the least are the first to have enough.
    let mut order: Vec<u32> = (0..active.len() as u32).filter(|p| filling.open[*p as usize]).collect();
    order.sort_unstable_by(|a, b| demand(*a as usize).total_cmp(&demand(*b as usize)).then(a.cmp(b)));
    let mut next = 0;
    while let Some((tightest, level)) = filling.tightest() {
        let satisfied = next;
        while next < order.len() && demand(order[next] as usize) <= level {
            let index = order[next] as usize;
            filling.settle(index, demand(index), paths.of(active[index]));
            next += 1;
        }
        if next == satisfied {
            for index in std::mem::take(&mut filling.members[tightest]) {
                filling.settle(index as usize, level, paths.of(active[index as usize]));
            }
        }
    }
    let levels = levels(&filling.rates, active, paths, capacities);
    Shares { rates: filling.rates, levels }
}

/// The state while links fill.
struct Filling {
    rates: Vec<f64>,
    open: Vec<bool>,
    /// By link: index among the hot ones, or none.
    hot: Vec<u32>,
    room: Vec<f64>,
    waiting: Vec<u32>,
    members: Vec<Vec<u32>>,
}

const NONE: u32 = u32::MAX;

impl Filling {
    /// Only links that are asked for more than they carry can hold a flow back.
    fn new(all: &[Flow], active: &[u32], paths: &Paths, capacities: &[f64]) -> Filling {
        let mut asked = vec![0.0; capacities.len()];
        for flow in active {
            paths.of(*flow).iter().for_each(|link| asked[link.at()] += all[*flow as usize].demand);
        }
        let mut filling = Filling {
            rates: vec![0.0; active.len()],
            open: vec![false; active.len()],
            hot: vec![NONE; capacities.len()],
            room: Vec::new(),
            waiting: Vec::new(),
            members: Vec::new(),
        };
        for (link, capacity) in capacities.iter().enumerate() {
            if asked[link] > capacity * (1.0 + SAME) {
                filling.hot[link] = filling.room.len() as u32;
                filling.room.push(*capacity);
                filling.waiting.push(0);
                filling.members.push(Vec::new());
            }
        }
        filling.enter(all, active, paths);
        filling
    }

    fn enter(&mut self, all: &[Flow], active: &[u32], paths: &Paths) {
        for (index, flow) in active.iter().enumerate() {
            let path = paths.of(*flow);
            for hot in path.iter().map(|link| self.hot[link.at()]).filter(|hot| *hot != NONE) {
                self.members[hot as usize].push(index as u32);
                self.waiting[hot as usize] += 1;
                self.open[index] = true;
            }
            if !self.open[index] && !path.is_empty() {
                self.rates[index] = all[*flow as usize].demand;
            }
        }
    }

    /// The link whose even share among those who wait is the least.
    fn tightest(&self) -> Option<(usize, f64)> {
        let waits = self.waiting.iter().enumerate().filter(|(_, waiting)| **waiting > 0);
        let shares = waits.map(|(hot, waiting)| (hot, self.room[hot].max(0.0) / f64::from(*waiting)));
        shares.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn settle(&mut self, index: usize, rate: f64, path: &[LinkIndex]) {
        if !std::mem::take(&mut self.open[index]) {
            return;
        }
        self.rates[index] = rate;
        for hot in path.iter().map(|link| self.hot[link.at()]).filter(|hot| *hot != NONE) {
            self.room[hot as usize] -= rate;
            self.waiting[hot as usize] -= 1;
        }
    }
}

fn levels(rates: &[f64], active: &[u32], paths: &Paths, capacities: &[f64]) -> Vec<f64> {
    let mut carried = vec![0.0; capacities.len()];
    let mut highest = vec![0.0_f64; capacities.len()];
    for (rate, flow) in rates.iter().zip(active) {
        for link in paths.of(*flow) {
            carried[link.at()] += rate;
            highest[link.at()] = highest[link.at()].max(*rate);
        }
    }
    let full = |link: usize| carried[link] >= capacities[link] * (1.0 - 1e-6);
    (0..capacities.len()).map(|link| if full(link) { highest[link] } else { f64::INFINITY }).collect()
}
