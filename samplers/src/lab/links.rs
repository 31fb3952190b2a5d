//! Which links are contended, whose fault it is, and what could be done.

use super::job::{LabJob, TrafficClass};
use super::losses::Split;
use super::scene::{Alone, Scene, User};
use super::stalls::{Load, own_ratio};
use super::truth::{Aggressor, LinkLoss, LinkTruth};
use schemas::{Cause, CauseKind};
use topology::{LinkClass, LinkIndex, ParallelLinks, Topology};

/// A link is contended when others raise its ratio to this many times what a job has alone, ...
const RISE_MIN: f64 = 2.0;
/// ... and by at least this much: a rise that no application would feel is no contention.
const RISE_STALLS_MIN: f64 = 0.02;
/// A job saturates a link that its own traffic uses to more than this part.
const SATURATED: f64 = 0.95;
/// Evening the loads of parallel links helps if they would then be used to less than this part.
const EVENED_MAX: f64 = 0.8;

/// What is needed to judge links.
pub(super) struct Judge<'s> {
    pub topology: &'s Topology,
    pub capacities: &'s [f64],
    pub parallel: &'s ParallelLinks,
    pub down: &'s [bool],
    pub jobs: &'s [LabJob],
    /// By index of the job.
    pub alone: &'s [&'s Alone],
    pub scene: &'s Scene<'s>,
    /// The network with all links up and at full width, if some are not.
    pub healthy: Option<&'s Load>,
    /// Whether flows choose their paths by the load that others make.
    pub adaptive: bool,
}

/// A job with traffic on a link.
struct Candidate {
    job: u32,
    split: Split,
    /// Bytes a second that it has there alone.
    own: f64,
    rises: bool,
    saturates: bool,
}

impl Judge<'_> {
    /// All contended links, by number.
    pub(super) fn contended(&self) -> Vec<LinkTruth> {
        self.scene.users.iter().filter_map(|(link, users)| self.judge(*link, users)).collect()
    }

    fn judge(&self, link: u32, users: &[User]) -> Option<LinkTruth> {
        let victim = self.victim(link, users)?;
        let job = &self.jobs[victim.job as usize];
        let weights = self.scene.weights(link);
        let lost = self.loss(&victim, &weights);
        let sends = users.iter().any(|u| u.job == victim.job && u.class == TrafficClass::Mpi);
        let root = self.scene.root(link);
        Some(LinkTruth {
            link: LinkIndex(link),
            utilisation: self.scene.now.arriving[link as usize] / self.capacities[link as usize],
            ratio: self.scene.now.ratio[link as usize],
            victim: job.job_id,
            lost,
            cause: if job.known { cause(&lost, sends) } else { Cause::Unknown },
            kind: self.kind(root),
            root: LinkIndex(root),
            aggressors: self.aggressors(&weights),
        })
    }

    /// The job that loses most to others or to a failure; where no job does, the one that saturates the link.
    /// Jobs that the scheduler reports come first: the loss of an unknown one is of no use.
    fn victim(&self, link: u32, users: &[User]) -> Option<Candidate> {
        let candidates: Vec<Candidate> =
            users.iter().map(|user| self.candidate(link, user.job, users)).collect();
        let rising = candidates.iter().any(|c| c.rises);
        let key = |c: &Candidate| {
            let longer = c.split.others + c.split.failover;
            let known = self.jobs[c.job as usize].known;
            (known, if rising { longer } else { c.own })
        };
        let counts = candidates.into_iter().filter(|c| if rising { c.rises } else { c.saturates });
        counts.max_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
    }

    fn candidate(&self, link: u32, job: u32, users: &[User]) -> Candidate {
        let now = self.scene.now.ratio[link as usize];
        let (own, alone) = self.alone[job as usize].link(link);
        // What a job brings to a link that it avoids when it is alone is its own traffic all the same.
        let alone = if self.adaptive { alone.max(self.brought(link, job, users)) } else { alone };
        let healthy = self.healthy.map_or(now, |load| load.ratio[link as usize]);
        Candidate {
            job,
            split: Split::of(alone, healthy, now),
            own,
            rises: now >= RISE_MIN * alone && now - alone >= RISE_STALLS_MIN,
            saturates: own > SATURATED * self.capacities[link as usize],
        }
    }

    /// Stalls a word that the job's present traffic alone would make on the link.
    fn brought(&self, link: u32, job: u32, users: &[User]) -> f64 {
        let bytes: f64 = users.iter().filter(|user| user.job == job).map(|user| user.arriving).sum();
        own_ratio(bytes / self.capacities[link as usize])
    }

    fn loss(&self, victim: &Candidate, weights: &[(u32, TrafficClass, f64)]) -> LinkLoss {
        let mut lost =
            LinkLoss { own: victim.split.own, failover: victim.split.failover, ..LinkLoss::default() };
        let others = || weights.iter().filter(|(job, ..)| *job != victim.job);
        let all: f64 = others().map(|(.., weight)| weight).sum();
        for (job, class, weight) in others().filter(|_| all > 0.0) {
            let part = match (self.jobs[*job as usize].known, class) {
                (false, _) => &mut lost.unknown,
                (true, TrafficClass::Mpi) => &mut lost.mpi,
                (true, TrafficClass::Io) => &mut lost.io,
            };
            *part += victim.split.others * weight / all;
        }
        lost
    }

    fn aggressors(&self, weights: &[(u32, TrafficClass, f64)]) -> Vec<Aggressor> {
        let all: f64 = weights.iter().map(|(.., weight)| weight).sum();
        let of = |(job, class, weight): &(u32, TrafficClass, f64)| {
            let job = &self.jobs[*job as usize];
            Aggressor { job_id: job.job_id, class: *class, known: job.known, share: weight / all }
        };
        let mut aggressors: Vec<Aggressor> = weights.iter().filter(|_| all > 0.0).map(of).collect();
        aggressors.sort_by(|a, b| b.share.total_cmp(&a.share));
        aggressors
    }

    fn kind(&self, root: u32) -> CauseKind {
        let arriving = self.scene.now.arriving[root as usize];
        let to_full_hosts = self.scene.to_full_hosts[root as usize] > 0.5 * arriving;
        if to_full_hosts || self.topology.class(LinkIndex(root)) == LinkClass::Host {
            return CauseKind::Endpoint;
        }
        let groups = self.parallel.groups_of(LinkIndex(root));
        let helps = |group: &u32| self.evened(*group as usize) < EVENED_MAX;
        if groups.iter().any(helps) { CauseKind::Avoidable } else { CauseKind::Capacity }
    }

    /// Utilisation of parallel links that are up, if they carried the same.
    fn evened(&self, group: usize) -> f64 {
        let up = || self.parallel.links(group).iter().filter(|link| !self.down[link.at()]);
        let asked: f64 = up().map(|link| self.scene.now.arriving[link.at()]).sum();
        asked / up().map(|link| self.capacities[link.at()]).sum::<f64>()
    }
}

/// The largest part; `sends` if the victim has messages there.
fn cause(lost: &LinkLoss, sends: bool) -> Cause {
    let io = if sends { Cause::IoOnMpi } else { Cause::OtherJob };
    let parts = [
        (lost.own, Cause::SelfInflicted),
        (lost.mpi, Cause::OtherJob),
        (lost.io, io),
        (lost.failover, Cause::FailoverInduced),
        (lost.unknown, Cause::Unknown),
    ];
    let largest = parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    largest.map_or(Cause::Unknown, |(_, cause)| cause)
}
