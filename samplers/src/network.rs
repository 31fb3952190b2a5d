//! Load and stalls on every link, and the counters of the tiles that see them.

use crate::aries::{
    CHANNELS, FLIT_BYTES, LINK_BYTES_PER_S, Layout, NODES_PER_ROUTER, TILES, route, stall_ratio,
    tiles_between,
};
use crate::rng::Rng;
use crate::truth::Blame;
use interface::Interface;
use std::collections::BTreeMap;
use traffic::{Contended, Traffic};

mod interface;
mod traffic;

/// How the flits of a tile spread over its virtual channels: requests and responses on four, little on the rest.
pub(crate) const CHANNEL_PARTS: [f64; CHANNELS] = [0.245, 0.245, 0.005, 0.005, 0.245, 0.245, 0.005, 0.005];
/// Background traffic has a ratio of 0 in most seconds, and below 10 in the rest.
const BACKGROUND_STALLS: f64 = 0.1;

/// A tile: its counters, and what flows through it now.
#[derive(Clone, Debug)]
struct Tile {
    flits: f64,
    stalls: f64,
    flits_marked: f64,
    stalls_marked: f64,
    /// Where the counters stood when the simulation began: channels, then stalls.
    base: [u64; CHANNELS + 1],
    wired: bool,
    background: f64,
    background_ratio: f64,
    carried: f64,
    ratio: f64,
    /// Ratio that a load balance adds during this second.
    spike: f64,
    load_noise: f64,
    ratio_noise: f64,
}

/// Spread of the noise on loads and ratios (log-normal).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) load: f64,
    pub(crate) ratio: f64,
}

/// All tiles and the jobs that send.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    tiles: Vec<Tile>,
    interfaces: Vec<Interface>,
    traffic: Vec<Traffic>,
    pub(crate) contended: Vec<Contended>,
    spread: Spread,
    rng: Rng,
}

impl Network {
    pub(crate) fn new(layout: Layout, spread: Spread, seed: u64) -> Network {
        let mut rng = Rng::new(seed, 0xA41E5);
        let all = (0..layout.routers()).flat_map(|router| (0..TILES).map(move |tile| (router, tile)));
        let tiles =
            all.map(|(router, tile)| new_tile(layout.sender(router, tile).is_some(), &mut rng)).collect();
        let interfaces = (0..layout.nodes()).map(|node| Interface::new(node, seed)).collect();
        Network { tiles, interfaces, traffic: Vec::new(), contended: Vec::new(), spread, rng }
    }

    /// Adds a job that sends `flows` between its `nodes`; silent until [`Network::set_sending`].
    pub(crate) fn add(&mut self, job: u64, nodes: &[u32], flows: &[(usize, usize, f64)]) {
        let mut loads: BTreeMap<u32, f64> = BTreeMap::new();
        let mut sent: BTreeMap<u32, f64> = BTreeMap::new();
        for (from, to, rate) in flows {
            *sent.entry(nodes[*from]).or_default() += rate;
            let mut at = nodes[*from] / NODES_PER_ROUTER;
            for next in route(at, nodes[*to] / NODES_PER_ROUTER) {
                let lanes = tiles_between(at, next);
                let part = rate / lanes.len() as f64;
                for tile in lanes {
                    *loads.entry(next * TILES + tile).or_default() += part;
                }
                at = next;
            }
        }
        let links = loads
            .into_iter()
            .map(|(tile, load)| (tile, load, stall_ratio(load / LINK_BYTES_PER_S)))
            .collect();
        self.traffic.push(Traffic {
            job,
            links,
            sent: sent.into_iter().collect(),
            sending: false,
            lost: 0.0,
            blame: Vec::new(),
            contended: false,
        });
    }

    pub(crate) fn set_sending(&mut self, job: u64) {
        for traffic in self.traffic.iter_mut().filter(|t| t.job == job) {
            traffic.sending = true;
        }
    }

    pub(crate) fn remove_job(&mut self, job: u64) {
        self.traffic.retain(|t| t.job != job);
    }

    /// Draws the noise of the coming second and forgets the spikes of the last.
    pub(crate) fn begin_tick(&mut self) {
        for tile in self.tiles.iter_mut().filter(|t| t.wired) {
            tile.spike = 0.0;
            tile.load_noise = self.rng.factor(self.spread.load);
            tile.ratio_noise = self.rng.factor(self.spread.ratio);
            let stalls = self.rng.chance(BACKGROUND_STALLS);
            let ratio = self.rng.log_between(0.01, 9.9);
            tile.background_ratio = if stalls { ratio } else { 0.0 };
        }
        for interface in &mut self.interfaces {
            interface.draw(self.spread);
        }
    }

    /// A load balance of `job`: for this second its links stall `times` as often as its own load makes them,
    /// and carry less, since the cycles wait.
    pub(crate) fn spike(&mut self, job: u64, times: f64) {
        const FEWER_FLITS: f64 = 0.6;
        for traffic in self.traffic.iter().filter(|t| t.job == job && t.sending) {
            for (node, _) in &traffic.sent {
                self.interfaces[*node as usize].slow(FEWER_FLITS);
            }
            for (tile, _, own) in &traffic.links {
                let tile = &mut self.tiles[*tile as usize];
                tile.spike += own * (times - 1.0);
                tile.load_noise *= FEWER_FLITS;
            }
        }
    }

    /// Computes loads, stalls and losses again, after a job started, ended or began to send.
    pub(crate) fn solve(&mut self) {
        let mut users: BTreeMap<u32, Vec<(u64, f64)>> = BTreeMap::new();
        for traffic in self.traffic.iter().filter(|t| t.sending) {
            for (tile, load, _) in &traffic.links {
                users.entry(*tile).or_default().push((traffic.job, *load));
            }
        }
        for tile in &mut self.tiles {
            (tile.carried, tile.ratio) = (0.0, 0.0);
        }
        for (tile, loads) in &users {
            let load: f64 = loads.iter().map(|(_, load)| load).sum();
            let tile = &mut self.tiles[*tile as usize];
            tile.carried = load.min(LINK_BYTES_PER_S) / FLIT_BYTES;
            tile.ratio = stall_ratio(load / LINK_BYTES_PER_S);
        }
        let mut contended: BTreeMap<u32, Contended> = BTreeMap::new();
        for traffic in &mut self.traffic {
            traffic.weigh(&self.tiles, &users, &mut contended);
        }
        self.contended = contended.into_values().collect();
        // Bursts do not ask for less because they wait, but there are fewer of them: a job that is slowed sends for longer.
        self.interfaces.iter_mut().for_each(|interface| interface.bytes_per_s = 0.0);
        for traffic in self.traffic.iter().filter(|t| t.sending) {
            for (node, rate) in &traffic.sent {
                self.interfaces[*node as usize].bytes_per_s += rate * (1.0 - traffic.lost);
            }
        }
    }

    /// Seconds that `job` loses a second, the aggressor, and whether one of its links counts as contended.
    pub(crate) fn loss_of(&self, job: u64) -> Option<(f64, &Blame, bool)> {
        let traffic = self.traffic.iter().find(|t| t.job == job)?;
        Some((traffic.lost, &traffic.blame, traffic.contended))
    }

    pub(crate) fn advance(&mut self, seconds: f64) {
        for tile in self.tiles.iter_mut().filter(|t| t.wired) {
            let flits = tile.carried * tile.load_noise * seconds;
            let background = tile.background * tile.load_noise * seconds;
            tile.flits += flits + background;
            tile.stalls +=
                flits * (tile.ratio * tile.ratio_noise + tile.spike) + background * tile.background_ratio;
        }
        for interface in &mut self.interfaces {
            interface.advance(seconds);
        }
    }

    /// Remembers the counters of the whole second; samples lie between these and the present ones.
    pub(crate) fn mark(&mut self) {
        for tile in &mut self.tiles {
            (tile.flits_marked, tile.stalls_marked) = (tile.flits, tile.stalls);
        }
        self.interfaces.iter_mut().for_each(Interface::mark);
    }

    /// Flits and stalls of the requests of a node's interface, `part` of the way from the mark to now.
    pub(crate) fn sent(&self, node: u32, part: f64) -> [u64; 2] {
        self.interfaces[node as usize].counters(part)
    }

    /// The counters of a tile, `part` of the way from the mark to now: channels, then stalls.
    pub(crate) fn counters(&self, tile: u32, part: f64) -> [u64; CHANNELS + 1] {
        let tile = &self.tiles[tile as usize];
        let flits = tile.flits_marked + (tile.flits - tile.flits_marked) * part;
        let stalls = tile.stalls_marked + (tile.stalls - tile.stalls_marked) * part;
        let mut counters = tile.base;
        for (counter, share) in counters.iter_mut().zip(CHANNEL_PARTS) {
            *counter += (flits * share) as u64;
        }
        counters[CHANNELS] += stalls as u64;
        counters
    }

    /// The router counts from 0 again.
    pub(crate) fn reset(&mut self, router: u32) {
        let nodes = router * NODES_PER_ROUTER..(router + 1) * NODES_PER_ROUTER;
        nodes.for_each(|node| self.interfaces[node as usize].reset());
        let first = (router * TILES) as usize;
        for tile in &mut self.tiles[first..first + TILES as usize] {
            tile.base = [0; CHANNELS + 1];
            (tile.flits, tile.stalls) = (0.0, 0.0);
            (tile.flits_marked, tile.stalls_marked) = (0.0, 0.0);
        }
    }
}

fn new_tile(wired: bool, rng: &mut Rng) -> Tile {
    const BASE_MAX: u64 = 1_000_000_000_000;
    Tile {
        flits: 0.0,
        stalls: 0.0,
        flits_marked: 0.0,
        stalls_marked: 0.0,
        base: std::array::from_fn(|_| if wired { rng.next_u64() % BASE_MAX } else { 0 }),
        wired,
        background: rng.log_between(1_000.0, 10_000.0),
        background_ratio: 0.0,
        carried: 0.0,
        ratio: 0.0,
        spike: 0.0,
        load_noise: 1.0,
        ratio_noise: 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Spread = Spread { load: 0.0, ratio: 0.0 };

    #[test]
    fn background_alone_stays_within_the_bounds_of_the_report() {
        let mut network = Network::new(Layout { chassis: 1 }, QUIET, 5);
        network.solve();
        for _ in 0..100 {
            network.mark();
            network.begin_tick();
            network.advance(1.0);
            for tile in network.tiles.iter().filter(|t| t.wired) {
                let flits = tile.flits - tile.flits_marked;
                let ratio = (tile.stalls - tile.stalls_marked) / flits;
                assert!((1_000.0..=10_000.0).contains(&flits), "{flits}");
                assert!((0.0..10.0).contains(&ratio), "{ratio}");
            }
        }
    }

    #[test]
    fn two_jobs_on_one_link_contend_and_blame_each_other() {
        let mut network = Network::new(Layout { chassis: 1 }, QUIET, 5);
        let flow = |rate| [(0, 1, rate)];
        network.add(1, &[0, 4], &flow(2.0e9));
        network.add(2, &[1, 5], &flow(3.0e9));
        network.set_sending(1);
        network.solve();
        assert!(network.contended.is_empty());
        network.set_sending(2);
        network.solve();
        assert_eq!(network.contended.len(), 1);
        let (lost, blame, contended) = network.loss_of(1).unwrap();
        let expected = 1.0 - (1.0 + stall_ratio(2.0 / 5.25)) / (1.0 + stall_ratio(5.0 / 5.25));
        assert!((lost - expected).abs() < 1e-9 && contended);
        assert_eq!(blame, &vec![(2, 1.0)]);
    }
}
