//! Max-min fair shares of links by water filling.

use topology::LinkIndex;

/// What one flow offers.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// Bytes a second that it wants.
    pub demand: f64,
    /// The links that it crosses.
    pub links: &'a [LinkIndex],
}

/// What each flow gets, in the order of the offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    /// Bytes a second.
    pub rates: Vec<f64>,
    /// The full link that holds a flow back; `None` for one that gets what it wants.
    pub held_at: Vec<Option<LinkIndex>>,
}

/// Fills all links at once until each flow has what it wants or meets a full link: none can have more without taking from one
/// that has no more than it. Capacities are bytes a second, by link.
pub fn max_min(offers: &[Offer<'_>], capacities: &[f64]) -> Shares {
    let mut wanted = vec![0.0; capacities.len()];
    for offer in offers {
        offer.links.iter().for_each(|link| wanted[link.at()] += offer.demand);
    }
    let is_short: Vec<bool> = wanted.iter().zip(capacities).map(|(wanted, has)| wanted > has).collect();
    let mut level = Level::new(offers, capacities, &is_short);
    // Flows that want the least have enough first.
    let mut order: Vec<usize> = (0..offers.len()).filter(|at| level.is_open[*at]).collect();
    order.sort_by(|a, b| offers[*a].demand.total_cmp(&offers[*b].demand));
    let mut next = 0;
    while let Some((link, share)) = level.tightest() {
        let before = next;
        while next < order.len() && offers[order[next]].demand <= share {
            level.settle(order[next], offers[order[next]].demand, None);
            next += 1;
        }
        if next == before {
            for at in std::mem::take(&mut level.members[link]) {
                level.settle(at, share, Some(LinkIndex(link as u32)));
            }
        }
    }
    Shares { rates: level.rates, held_at: level.held_at }
}

/// The state while links fill.
struct Level<'a> {
    offers: &'a [Offer<'a>],
    rates: Vec<f64>,
    held_at: Vec<Option<LinkIndex>>,
    is_open: Vec<bool>,
    /// By link: room that is left, open flows, all flows; of links that are short.
    room: Vec<f64>,
    open: Vec<u32>,
    members: Vec<Vec<usize>>,
    short: Vec<usize>,
}

impl<'a> Level<'a> {
    fn new(offers: &'a [Offer<'a>], capacities: &[f64], is_short: &[bool]) -> Level<'a> {
        let mut level = Level {
            offers,
            rates: offers.iter().map(|offer| offer.demand).collect(),
            held_at: vec![None; offers.len()],
            is_open: vec![false; offers.len()],
            room: capacities.to_vec(),
            open: vec![0; capacities.len()],
            members: vec![Vec::new(); capacities.len()],
            short: (0..capacities.len()).filter(|link| is_short[*link]).collect(),
        };
        for (at, offer) in offers.iter().enumerate() {
            for link in offer.links.iter().map(|link| link.at()).filter(|link| is_short[*link]) {
                level.members[link].push(at);
                level.open[link] += 1;
                level.is_open[at] = true;
            }
        }
        level
    }

    /// The short link whose even share among its open flows is the least.
    fn tightest(&self) -> Option<(usize, f64)> {
        let open = self.short.iter().filter(|link| self.open[**link] > 0);
        let shares = open.map(|link| (*link, self.room[*link].max(0.0) / f64::from(self.open[*link])));
        shares.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn settle(&mut self, at: usize, rate: f64, held_at: Option<LinkIndex>) {
        if !std::mem::take(&mut self.is_open[at]) {
            return;
        }
        (self.rates[at], self.held_at[at]) = (rate, held_at);
        for link in self.offers[at].links.iter().map(|link| link.at()) {
            self.room[link] -= rate;
            self.open[link] = self.open[link].saturating_sub(1);
        }
    }
}
