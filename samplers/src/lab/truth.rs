//! What really happens in the lab: what jobs lose, which links are contended, and the aggressors.

use super::job::TrafficClass;
use schemas::{Cause, CauseKind};
use std::collections::BTreeMap;
use topology::LinkIndex;

/// Seconds lost, against an empty network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lost {
    /// To the job's own traffic. They are part of its run time alone.
    pub self_s: f64,
    /// To links that failed or run at a part of their width: what the job would not lose with all of them whole.
    pub failover_s: f64,
    /// To each other job, by the sort of its traffic.
    pub to: BTreeMap<(u64, TrafficClass), f64>,
}

impl Lost {
    /// To all other jobs.
    pub fn to_others_s(&self) -> f64 {
        self.to.values().sum()
    }

    /// To other jobs and failures: by so much the run is longer than alone.
    pub fn longer_s(&self) -> f64 {
        self.to_others_s() + self.failover_s
    }

    /// All of it.
    pub fn total_s(&self) -> f64 {
        self.longer_s() + self.self_s
    }
}

/// What became of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct LabJobTruth {
    /// The scheduler's number.
    pub job_id: u64,
    /// Whether the scheduler reports it.
    pub known: bool,
    /// Start, in seconds from the start of the lab.
    pub start_s: f64,
    /// End, in seconds from the start of the lab; `None` while it runs.
    pub end_s: Option<f64>,
    /// Run time when no other job uses the network and nothing fails, in seconds.
    pub alone_s: f64,
    /// What it lost.
    pub lost: Lost,
}

impl LabJobTruth {
    /// True run time in seconds; `None` while it runs.
    pub fn run_s(&self) -> Option<f64> {
        Some(self.end_s? - self.start_s)
    }
}

/// A share of the load that makes a link wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggressor {
    /// Whose traffic.
    pub job_id: u64,
    /// What sort of traffic.
    pub class: TrafficClass,
    /// Whether the scheduler reports the job.
    pub known: bool,
    /// Its share, 0 to 1; the shares of a link sum to 1.
    pub share: f64,
}

/// Parts of a second that the victim loses on one link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkLoss {
    /// To its own traffic.
    pub own: f64,
    /// To messages of other jobs that the scheduler reports.
    pub mpi: f64,
    /// To I/O of other jobs that the scheduler reports.
    pub io: f64,
    /// To jobs that the scheduler does not report.
    pub unknown: f64,
    /// To failed or narrowed links.
    pub failover: f64,
}

/// A link that is contended during a second.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkTruth {
    /// Which link.
    pub link: LinkIndex,
    /// Bytes that want through over its capacity.
    pub utilisation: f64,
    /// Stalls a word, without noise.
    pub ratio: f64,
    /// The job with flows on it that loses most to others or to a failure; itself, where no job does.
    pub victim: u64,
    /// What the victim loses on this link.
    pub lost: LinkLoss,
    /// The largest part of what the victim loses.
    pub cause: Cause,
    /// What could be done about it, at the root.
    pub kind: CauseKind,
    /// Where the congestion begins: the link itself, or a full one behind it.
    pub root: LinkIndex,
    /// Sources of the load at the root, the largest share first.
    pub aggressors: Vec<Aggressor>,
}

/// Contended links from one second on, until the next such list.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretch {
    pub from_s: u32,
    pub links: Vec<LinkTruth>,
}

/// The truth up to now.
#[derive(Clone, Debug, Default)]
pub struct LabTruth {
    /// Jobs that started, in the order in which they were given.
    pub jobs: Vec<LabJobTruth>,
    pub(super) stretches: Vec<Stretch>,
    pub(super) seconds: u32,
}

impl LabTruth {
    /// What became of a job; `None` if it has not started.
    pub fn job(&self, job_id: u64) -> Option<&LabJobTruth> {
        self.jobs.iter().find(|job| job.job_id == job_id)
    }

    /// Seconds that were played.
    pub fn seconds(&self) -> u32 {
        self.seconds
    }

    /// The links that were contended during the second that began at `second`, by number. A link that is not
    /// in the list was not.
    pub fn links_at(&self, second: u32) -> &[LinkTruth] {
        let next = self.stretches.partition_point(|stretch| stretch.from_s <= second);
        let stretch = next.checked_sub(1).filter(|_| second < self.seconds);
        stretch.map_or(&[], |at| &self.stretches[at].links)
    }

    /// The truth about one link during one second; `None`: it was not contended.
    pub fn link_at(&self, link: LinkIndex, second: u32) -> Option<&LinkTruth> {
        let links = self.links_at(second);
        links.binary_search_by_key(&link, |truth| truth.link).ok().map(|at| &links[at])
    }

    /// Whole seconds `from..until` during which `link` was contended.
    pub fn contended(&self, link: LinkIndex) -> Vec<(u32, u32)> {
        let ends = self.stretches.iter().skip(1).map(|next| next.from_s).chain([self.seconds]);
        let mut found: Vec<(u32, u32)> = Vec::new();
        for (stretch, end) in self.stretches.iter().zip(ends) {
            if stretch.links.binary_search_by_key(&link, |truth| truth.link).is_err() {
                continue;
            }
            match found.last_mut() {
                Some(last) if last.1 == stretch.from_s => last.1 = end,
                _ => found.push((stretch.from_s, end)),
            }
        }
        found
    }

    /// All links that were ever contended, by number.
    pub fn ever_contended(&self) -> Vec<LinkIndex> {
        let mut links: Vec<LinkIndex> =
            self.stretches.iter().flat_map(|s| &s.links).map(|l| l.link).collect();
        links.sort_unstable();
        links.dedup();
        links
    }
}
