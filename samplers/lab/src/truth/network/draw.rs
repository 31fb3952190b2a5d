//! Scenarios of the network kinds, drawn from a seed: machine, placement, patterns, loads, times, coupling and noise.

use super::super::scenario::Steps;
use super::machine::{Net, leaves};
use super::world::Scenario;
use samplers::lab::{Change, Event, LabIo, LabJob, Noise, Pattern, Phases, Routing, asked};
use samplers::rng::Rng;
use schemas::{Cause, CauseKind};
use std::sync::Arc;
use topology::{LinkClass, LinkIndex, Topology, VertexIndex, VertexKind};

/// Draws on a machine before another one is drawn, and machines before a seed is given up.
const TRIES: usize = 40;
/// See [`TRIES`].
const MACHINES: usize = 20;
/// Second in which contention begins at the earliest.
const ONSET_S: [f64; 2] = [130.0, 200.0];
/// Most load of a link that is to have room, of its capacity.
const ROOM: f64 = 0.9;
/// Least load of a job on a link that counts as shared, of its capacity.
const SHARED: f64 = 0.1;

/// The scenario of a network kind and seed; `None` if the kind is none of the network.
///
/// # Errors
/// A machine that cannot be built, or no draw that fits.
pub fn scenario(kind: &str, seed: u64) -> anyhow::Result<Option<Scenario>> {
    let draw: fn(&mut Draw) -> Option<Scenario> = match kind {
        "network_known" => Draw::known,
        "network_mean" => Draw::cth_and_imb,
        "network_mix" => Draw::mix,
        "network_tidy" => Draw::tidy,
        "network_quiet_jobs" => Draw::quiet_jobs,
        "network_incast" => Draw::incast,
        "network_cable" => Draw::cable,
        "network_full" => Draw::full,
        "network_steps" => Draw::steps,
        _ => return Ok(None),
    };
    let number = kind.bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut rng = Rng::new(seed, number);
    // Not every machine has hosts and cables that fit.
    for _ in 0..MACHINES {
        let net = match kind {
            "network_mean" => Net::Demo,
            "network_incast" => Net::Aries,
            "network_full" => Net::NarrowTree,
            _ => Net::ALL[rng.below(Net::ALL.len())],
        };
        let topology = net.build(&mut rng)?;
        let routing =
            if matches!(net, Net::Tree | Net::NarrowTree) { Routing::Tables } else { Routing::Minimal };
        let leaves = leaves(&topology);
        let mut of = Draw { rng: rng.clone(), topology, routing, leaves, seed };
        if let Some(found) = (0..TRIES).find_map(|_| draw(&mut of)) {
            return Ok(Some(found));
        }
        rng = of.rng;
    }
    anyhow::bail!("{kind}, seed {seed}: no draw fits")
}

/// Demanded utilisation of each link.
type Loads = Vec<f64>;

struct Draw {
    rng: Rng,
    topology: Arc<Topology>,
    routing: Routing,
    leaves: Vec<Vec<VertexIndex>>,
    seed: u64,
}

impl Draw {
    fn between(&mut self, range: [f64; 2]) -> f64 {
        self.rng.between(range[0], range[1])
    }

    fn seconds(&mut self, low: f64, high: f64) -> u32 {
        self.rng.between(low, high) as u32
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        (1..list.len()).rev().for_each(|at| list.swap(at, self.rng.below(at + 1)));
    }

    /// So many lots of hosts on some leaves: each has hosts on all of them, none two lots.
    fn lots(&mut self, count: usize, leaves: [usize; 2]) -> Vec<Vec<VertexIndex>> {
        let mut used = self.leaves.clone();
        self.shuffle(&mut used);
        let most = leaves[1].min(used.len());
        used.truncate(leaves[0].min(most) + self.rng.below(most + 1 - leaves[0].min(most)));
        let mut lots = vec![Vec::new(); count];
        for mut hosts in used {
            self.shuffle(&mut hosts);
            hosts.into_iter().enumerate().for_each(|(at, host)| lots[at % count].push(host));
        }
        lots.iter_mut().for_each(|lot| self.shuffle(lot));
        lots
    }

    fn pattern(&mut self) -> Pattern {
        let patterns = [Pattern::AllToAll, Pattern::AllToAll, Pattern::Uniform, Pattern::Stencil3d];
        patterns[self.rng.below(patterns.len())]
    }

    fn coupling(&mut self) -> f64 {
        [0.0, 1.0, self.rng.uniform()][self.rng.below(3)]
    }

    fn inner(&self) -> impl Iterator<Item = LinkIndex> + '_ {
        self.topology.links().filter(|link| self.topology.class(*link) != LinkClass::Host)
    }

    fn loads(&self, job: &LabJob) -> Loads {
        asked(&self.topology, self.routing, std::slice::from_ref(job), self.seed)
    }

    /// A job that wants to use its busiest link to `peak`, and what it wants of all links.
    fn job(&mut self, job_id: u64, hosts: Vec<VertexIndex>, pattern: Pattern, peak: f64) -> (LabJob, Loads) {
        let mut job = LabJob::new(job_id, hosts, pattern, 1.0);
        job.coupling = self.coupling();
        let mut loads = self.loads(&job);
        let most = loads.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        job.bytes_per_s = peak / most;
        loads.iter_mut().for_each(|load| *load *= peak / most);
        (job, loads)
    }

    /// By what `added` must be multiplied for the busiest link between switches that both use to be wanted to `utilisation`.
    fn factor(&self, base: &Loads, added: &Loads, utilisation: f64) -> Option<f64> {
        let shared = self.inner().filter(|link| base[link.at()] >= SHARED && added[link.at()] >= SHARED);
        shared.map(|link| (utilisation - base[link.at()]) / added[link.at()]).reduce(f64::min)
    }

    fn scenario(&mut self, jobs: Vec<LabJob>, seconds: u32, subjects: &[u64]) -> Scenario {
        let load = self.between([0.02, 0.1]);
        let noise = Noise { load, ratio: self.between([0.02, 0.1]), ..Noise::default() };
        Scenario {
            topology: Arc::clone(&self.topology),
            routing: self.routing,
            jobs,
            events: Vec::new(),
            noise,
            stalls: [self.rng.log_between(0.02, 0.08), self.between([0.01, 0.03])],
            seconds,
            subjects: subjects.to_vec(),
            verdict: None,
            reports: Vec::new(),
            seed: self.seed,
        }
    }

    /// A job that ran alone for a while, until another one comes that wants links of it.
    fn known(&mut self) -> Option<Scenario> {
        let lots = self.lots(2, [3, 8]);
        let (mine, peak) = (self.pattern(), self.between([0.3, 0.6]));
        let (mut victim, loads) = self.job(1, lots[0].clone(), mine, peak);
        let theirs = self.pattern();
        let (mut other, others) = self.job(2, lots[1].clone(), theirs, 0.5);
        let together = self.between([1.05, 2.0]);
        let factor = self.factor(&loads, &others, together)?;
        other.bytes_per_s *= Some(factor).filter(|factor| (0.5..4.0).contains(factor))?;
        victim.work_s = self.between([350.0, 450.0]);
        other.start_s = self.seconds(ONSET_S[0], ONSET_S[1]);
        other.work_s = self.between([80.0, 200.0]);
        Some(self.scenario(vec![victim, other], 700, &[1]))
    }

    /// CTH and IMB as the demo has them: neighbours of a stencil, and a job that sends from all to all.
    fn cth_and_imb(&mut self) -> Option<Scenario> {
        let lots = self.lots(2, [6, 16]);
        let peak = self.between([0.25, 0.5]);
        let (mut cth, loads) = self.job(1, lots[0].clone(), Pattern::Stencil3d, peak);
        let (mut imb, others) = self.job(2, lots[1].clone(), Pattern::AllToAll, 0.5);
        let together = self.between([1.1, 2.0]);
        let factor = self.factor(&loads, &others, together)?;
        imb.bytes_per_s *= Some(factor).filter(|factor| (0.5..4.0).contains(factor))?;
        (cth.coupling, imb.coupling) = (0.0, 0.0);
        cth.work_s = self.between([350.0, 450.0]);
        imb.start_s = self.seconds(ONSET_S[0], ONSET_S[1]);
        imb.work_s = self.between([80.0, 200.0]);
        Some(self.scenario(vec![cth, imb], 700, &[1]))
    }

    /// Jobs that come and go at any time, of which none ran before.
    fn mix(&mut self) -> Option<Scenario> {
        let count = 3 + self.rng.below(4);
        let mut jobs = Vec::new();
        for (number, hosts) in (1..).zip(self.lots(count, [4, 12])) {
            if hosts.len() < 3 {
                return None;
            }
            let (pattern, peak) = (self.pattern(), self.between([0.25, 0.8]));
            let (mut job, _) = self.job(number, hosts, pattern, peak);
            job.start_s = if number == 1 { 0 } else { self.seconds(0.0, 400.0) };
            job.work_s = self.between([100.0, 400.0]);
            if self.rng.below(4) == 0 {
                job.phases =
                    Some(Phases { on_s: self.between([20.0, 60.0]), off_s: self.seconds(5.0, 30.0) });
            }
            jobs.push(job);
        }
        Some(self.scenario(jobs, 1_000, &[]))
    }

    /// Jobs that report their steps: one that ran before, or all of a mix.
    fn steps(&mut self) -> Option<Scenario> {
        let mut scenario = if self.rng.chance(0.5) { self.known()? } else { self.mix()? };
        let all = scenario.jobs.iter().map(|job| (job.job_id, Steps::drawn(&mut self.rng)));
        scenario.reports = all.collect();
        Some(scenario)
    }

    /// Jobs that leave each other room; so many of a link is wanted at most, all together.
    fn roomy(&mut self, most: f64, phases: bool) -> Option<Scenario> {
        let count = 3 + self.rng.below(4);
        let mut jobs = Vec::new();
        let mut all: Loads = vec![0.0; self.topology.link_count()];
        for (number, hosts) in (1..).zip(self.lots(count, [4, 12])) {
            if hosts.len() < 3 {
                return None;
            }
            let pattern = self.pattern();
            let (mut job, loads) = self.job(number, hosts, pattern, 0.5);
            all.iter_mut().zip(loads).for_each(|(all, load)| *all += load);
            job.start_s = self.seconds(0.0, 300.0);
            job.work_s = self.between([150.0, 400.0]);
            if phases {
                job.phases =
                    Some(Phases { on_s: self.between([20.0, 80.0]), off_s: self.seconds(5.0, 40.0) });
            }
            jobs.push(job);
        }
        let peak = all.into_iter().fold(0.0, f64::max);
        jobs.iter_mut().for_each(|job| job.bytes_per_s *= most / peak);
        Some(self.scenario(jobs, 800, &[]))
    }

    fn quiet_jobs(&mut self) -> Option<Scenario> {
        let most = self.between([0.3, 0.5]);
        self.roomy(most, true)
    }

    /// The same, while some of them write checkpoints to servers of their own.
    fn tidy(&mut self) -> Option<Scenario> {
        let most = self.between([0.2, 0.35]);
        let mut scenario = self.roomy(most, false)?;
        let busy: Vec<VertexIndex> = scenario.jobs.iter().flat_map(|job| job.nodes.clone()).collect();
        let hosts = self.topology.vertices_of(VertexKind::Host);
        let mut servers: Vec<VertexIndex> = hosts.filter(|host| !busy.contains(host)).collect();
        self.shuffle(&mut servers);
        let idle = servers.len() / scenario.jobs.len();
        let writers: Vec<usize> = (0..scenario.jobs.len()).filter(|at| at % 2 == 0).collect();
        for (at, targets) in writers.into_iter().zip(servers.chunks(idle.clamp(1, 4))) {
            let (every_s, for_s) = (self.seconds(60.0, 120.0), self.seconds(10.0, 30.0));
            let from_s = self.seconds(20.0, 60.0);
            let targets = targets.to_vec();
            let writers = scenario.jobs[at].nodes.len().min(targets.len());
            let capacity =
                self.topology.links_from(targets[0]).map(|l| self.topology.bytes_per_s(l)).next()?;
            let bytes_per_s = 0.1 * capacity;
            let io = LabIo { bytes_per_s, writers, targets, from_s, every_s, for_s, on_osts: false };
            scenario.jobs[at].io = Some(io);
        }
        let peak =
            asked(&self.topology, self.routing, &scenario.jobs, self.seed).into_iter().fold(0.0, f64::max);
        (peak < 0.55).then_some(scenario)
    }

    /// Two jobs send to hosts of one router; the second one too much.
    fn incast(&mut self) -> Option<Scenario> {
        let mut hosts = self.leaves.concat();
        self.shuffle(&mut hosts);
        let server = hosts.pop()?;
        let (mine, theirs) = (4 + self.rng.below(5), 8 + self.rng.below(12));
        let with_server = |hosts: &[VertexIndex]| [&[server], hosts].concat();
        // An Aries host has two tiles.
        let capacity: f64 = self.topology.links_from(server).map(|l| self.topology.bytes_per_s(l)).sum();
        let each = self.between([0.3, 0.45]) * capacity / mine as f64;
        let mut victim = LabJob::new(1, with_server(&hosts[..mine]), Pattern::Incast, each);
        let each = self.between([1.3, 2.5]) * capacity / theirs as f64;
        let mut other = LabJob::new(2, with_server(&hosts[mine..mine + theirs]), Pattern::Incast, each);
        (victim.coupling, victim.work_s) = (self.coupling(), self.between([300.0, 400.0]));
        other.start_s = self.seconds(ONSET_S[0], ONSET_S[1]);
        other.work_s = self.between([60.0, 150.0]);
        let scenario = self.scenario(vec![victim, other], 600, &[1]);
        Some(Scenario { verdict: Some((Cause::OtherJob, Some(CauseKind::Endpoint))), ..scenario })
    }

    /// A cable keeps a quarter of its width, while another job runs nearby or begins then.
    fn cable(&mut self) -> Option<Scenario> {
        let lots = self.lots(2, [3, 6]);
        let (pattern, peak) = (self.pattern(), self.between([0.35, 0.6]));
        let (mut job, loads) = self.job(1, lots[0].clone(), pattern, peak);
        let theirs = self.pattern();
        let part = self.between([0.1, 0.2]);
        let (mut other, others) = self.job(2, lots[1].clone(), theirs, part);
        let fits: Vec<LinkIndex> = self.inner().filter(|link| loads[link.at()] > 0.3).collect();
        let together = (0..loads.len()).map(|link| loads[link] + others[link]).fold(0.0, f64::max);
        if fits.is_empty() || together > 0.75 {
            return None;
        }
        let link = fits[self.rng.below(fits.len())];
        if others[link.at()] > 0.1 * loads[link.at()] {
            return None;
        }
        let at_s = self.seconds(ONSET_S[0], ONSET_S[1]);
        (job.work_s, other.work_s) = (self.between([300.0, 400.0]), self.between([200.0, 300.0]));
        other.start_s = [0, at_s.saturating_sub(20), at_s + 40][self.rng.below(3)];
        let mut scenario = self.scenario(vec![job, other], 700, &[1]);
        scenario.events = vec![Event { at_s, change: Change::Narrow { link, percent: 25 } }];
        Some(Scenario { verdict: Some((Cause::FailoverInduced, None)), ..scenario })
    }

    /// Jobs on all hosts want more than all uplinks carry, and of no host more than its link does.
    fn full(&mut self) -> Option<Scenario> {
        let mut lots = vec![Vec::new(); 3];
        for mut hosts in self.leaves.clone() {
            self.shuffle(&mut hosts);
            hosts.into_iter().enumerate().for_each(|(at, host)| lots[at % 3].push(host));
        }
        let (onset, for_s) = (self.seconds(ONSET_S[0], ONSET_S[1]), self.between([80.0, 150.0]));
        let mut jobs = Vec::new();
        let mut all: Loads = vec![0.0; self.topology.link_count()];
        for (number, hosts) in (1..).zip(lots) {
            let (mut job, loads) = self.job(number, hosts, Pattern::AllToAll, 0.5);
            all.iter_mut().zip(loads).for_each(|(all, load)| *all += load);
            (job.start_s, job.work_s) = if number == 1 { (0, 350.0) } else { (onset, for_s) };
            jobs.push(job);
        }
        let inner: Vec<f64> = self.inner().map(|link| all[link.at()]).collect();
        let mean = inner.iter().sum::<f64>() / inner.len() as f64;
        let wanted = self.between([1.2, 1.6]);
        jobs.iter_mut().for_each(|job| job.bytes_per_s *= wanted / mean);
        let of_hosts = self.topology.links().filter(|link| self.topology.class(*link) == LinkClass::Host);
        let of_hosts = of_hosts.map(|link| all[link.at()] * wanted / mean).fold(0.0, f64::max);
        if of_hosts > ROOM {
            return None;
        }
        let scenario = self.scenario(jobs, 700, &[1]);
        Some(Scenario { verdict: Some((Cause::OtherJob, Some(CauseKind::Capacity))), ..scenario })
    }
}
