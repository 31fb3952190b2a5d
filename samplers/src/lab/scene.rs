//! The network at one moment as all see it, as each job would have it alone, and as it would be without failures.

use super::flows::{Flow, Paths};
use super::job::TrafficClass;
use super::placement::Placed;
use super::stalls::{Load, UNLOADED};
use std::collections::{BTreeMap, HashMap};

/// What a job would have alone, with all links up.
#[derive(Clone, Debug, Default)]
pub(super) struct Alone {
    /// Stalls a word of the worst link of each of its flows, in their order.
    pub worst: Vec<f64>,
    /// Bytes a second that they move together.
    pub moves: f64,
    /// By link: bytes a second that arrive, stalls a word.
    links: HashMap<u32, (f64, f64)>,
}

impl Alone {
    /// Of the job's active `flows`, in the order in which they are asked for later.
    pub(super) fn of(flows: &[u32], placed: &Placed, load: &Load) -> Alone {
        let worst = flows.iter().map(|flow| placed.worst(*flow, load).0).collect();
        let used = load.arriving.iter().enumerate().filter(|(_, bytes)| **bytes > 0.0);
        let links = used.map(|(link, bytes)| (link as u32, (*bytes, load.ratio[link]))).collect();
        Alone { worst, moves: load.rates.iter().sum(), links }
    }

    /// Bytes a second and stalls a word of a link.
    pub(super) fn link(&self, link: u32) -> (f64, f64) {
        self.links.get(&link).copied().unwrap_or((0.0, UNLOADED))
    }
}

/// Traffic of one job and class on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct User {
    pub job: u32,
    pub class: TrafficClass,
    /// Bytes a second that arrive.
    pub arriving: f64,
}

/// Aggressor of a link: index of the job, class, weight in stalls a word.
pub(super) type Weights = Vec<(u32, TrafficClass, f64)>;

/// One moment.
pub(super) struct Scene<'a> {
    pub placed: &'a Placed,
    paths: &'a Paths,
    pub now: &'a Load,
    /// Users of a link, by its number.
    pub users: BTreeMap<u32, Vec<User>>,
    /// By link and the full link behind it that makes it wait: stalls a word.
    back: BTreeMap<(u32, u32), f64>,
    /// By link: bytes a second towards hosts that are asked for more than they can take.
    pub to_full_hosts: Vec<f64>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(placed: &'a Placed, now: &'a Load, capacities: &[f64]) -> Scene<'a> {
        let paths = &*placed.paths;
        let mut scene = Scene {
            placed,
            paths,
            now,
            users: BTreeMap::new(),
            back: BTreeMap::new(),
            to_full_hosts: vec![0.0; capacities.len()],
        };
        scene.count_users(&placed.parts);
        scene.follow_to_hosts(&placed.parts, capacities);
        for held in &now.held {
            let path = paths.of(now.active[held.active_index as usize]);
            let root = path[held.hop as usize].0;
            for (link, stalls) in now.back_pressure(*held, paths) {
                *scene.back.entry((link as u32, root)).or_default() += stalls;
            }
        }
        scene
    }

    fn arrivals(&self, flow: u32, demand: f64) -> impl Iterator<Item = (u32, f64)> + 'a {
        let (paths, now) = (self.paths, self.now);
        paths.of(flow).iter().scan(demand, |wanted, link| {
            let arriving = *wanted;
            *wanted = arriving.min(now.levels[link.at()]);
            Some((link.0, arriving))
        })
    }

    fn count_users(&mut self, all: &[Flow]) {
        for flow in &self.now.active {
            let Flow { job, class, demand, .. } = all[*flow as usize];
            for (link, arriving) in self.arrivals(*flow, demand) {
                let users = self.users.entry(link).or_default();
                // The flows of one job and class follow each other.
                match users.last_mut() {
                    Some(last) if (last.job, last.class) == (job, class) => last.arriving += arriving,
                    _ => users.push(User { job, class, arriving }),
                }
            }
        }
    }

    /// A host is full if the flows to it, as far as their own hosts can send them, exceed its link. Links of the same
    /// capacity on the way can fill up first, but evening their loads would not help.
    fn follow_to_hosts(&mut self, all: &[Flow], capacities: &[f64]) {
        let mut asked: BTreeMap<u32, f64> = BTreeMap::new();
        let ends = |flow: u32| {
            let path = self.paths.of(flow);
            Some((path.first()?.at(), path.last()?.0))
        };
        for flow in &self.now.active {
            if let Some((first, last)) = ends(*flow) {
                let sent = all[*flow as usize].demand.min(self.now.levels[first]);
                *asked.entry(last).or_default() += sent;
            }
        }
        let full =
            |link: u32| asked.get(&link).is_some_and(|asked| *asked > capacities[link as usize] * 1.000_001);
        let to_full = |flow: &&u32| ends(**flow).is_some_and(|(_, last)| full(last));
        for flow in self.now.active.iter().filter(to_full) {
            for (link, arriving) in self.arrivals(*flow, all[*flow as usize].demand) {
                self.to_full_hosts[link as usize] += arriving;
            }
        }
    }

    fn behind(&self, link: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.back.range((link, 0)..=(link, u32::MAX)).map(|((_, root), stalls)| (*root, *stalls))
    }

    /// Where the congestion of `link` begins: there, if its own load makes most of its stalls.
    pub(super) fn root(&self, link: u32) -> u32 {
        let own = self.now.own[link as usize] - UNLOADED;
        let all: f64 = self.behind(link).map(|(_, stalls)| stalls).sum();
        let worst = self.behind(link).max_by(|a, b| a.1.total_cmp(&b.1));
        worst.filter(|_| all > own).map_or(link, |(root, _)| root)
    }

    /// Aggressors of the OSTs: all writers, by what they write.
    pub(super) fn writers(&self) -> Weights {
        let mut weights: BTreeMap<(u32, TrafficClass), f64> = BTreeMap::new();
        for (part, rate) in self.now.active.iter().zip(&self.now.rates) {
            let flow = &self.placed.parts[*part as usize];
            if flow.on_osts {
                *weights.entry((flow.job, flow.class)).or_default() += rate;
            }
        }
        weights.into_iter().map(|((job, class), weight)| (job, class, weight)).collect()
    }

    /// Aggressors of `link`: its users by their traffic, and those of full links behind it.
    pub(super) fn weights(&self, link: u32) -> Weights {
        let mut weights: BTreeMap<(u32, TrafficClass), f64> = BTreeMap::new();
        let own = (link, self.now.own[link as usize] - UNLOADED);
        for (at, stalls) in self.behind(link).chain([own]) {
            let users = self.users.get(&at).map_or(&[][..], Vec::as_slice);
            let all: f64 = users.iter().map(|user| user.arriving).sum();
            for user in users {
                *weights.entry((user.job, user.class)).or_default() += stalls * user.arriving / all;
            }
        }
        weights.into_iter().map(|((job, class), weight)| (job, class, weight)).collect()
    }
}
