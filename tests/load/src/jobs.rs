//! Which job runs on which node, and the rows of `slurm_jobs` that the nodes send about it.
//!
//! The nodes are cut into blocks of one job each. In every third block the job ends in the run, and another follows.

use crate::rng::Rng;
use crate::rows::put_time;
use crate::site::Site;
use samplers::aries::node_name;
use serde::Serialize;

/// Nodes of a job on a whole Trinity; on a smaller machine they shrink with it.
const SIZES: [f64; 6] = [64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0];
const USERS: [&str; 8] = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi"];
const NAMES: [&str; 6] = ["ior_victim", "milc", "vasp_relax", "lammps", "checkpoint_aggressor", "nalu"];
const FIRST_JOB: u64 = 100_001;
const FIRST_UID: usize = 1001;
const TASKS_PER_NODE: u32 = 32;

/// A job and its nodes, as in a line of a job file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Job {
    /// Number, as text.
    pub job_id: String,
    /// User name.
    pub user: String,
    /// Job name.
    pub name: String,
    /// Names of its nodes.
    pub nodes: Vec<String>,
    /// Start in seconds since the epoch.
    pub start: i64,
    /// End; `None` if it continues after the run.
    pub end: Option<i64>,
    #[serde(skip)]
    number: u64,
    #[serde(skip)]
    first_node: u32,
    #[serde(skip)]
    uid: usize,
}

/// All jobs, and the one that each node runs now.
#[derive(Clone, Debug)]
pub struct Jobs {
    list: Vec<Job>,
    on_node: Vec<u64>,
    /// Start of the run, in seconds since the epoch.
    start: i64,
    gossip: Rng,
}

impl Jobs {
    /// The jobs of a run that begins at `start` and lasts so many seconds.
    pub fn new(site: Site, start: i64, seconds: u32, seed: u64) -> Jobs {
        let mut rng = Rng::new(seed, 4);
        let mut list: Vec<Job> = Vec::new();
        let mut first = 0;
        while first < site.nodes() {
            let whole = SIZES[rng.below(SIZES.len() as u32) as usize];
            let size = (whole * f64::from(site.nodes()) / 20_000.0).round().max(2.0) as u32;
            let nodes = first..(first + size).min(site.nodes());
            let before = start - rng.between(600.0, 70_000.0) as i64;
            let end =
                rng.below(3).eq(&0).then(|| start + (f64::from(seconds) * rng.between(0.3, 0.7)) as i64);
            list.push(job(&mut rng, list.len(), nodes.clone(), before, end));
            if let Some(end) = end {
                let next = end + rng.between(2.0, 6.0) as i64;
                list.push(job(&mut rng, list.len(), nodes.clone(), next, None));
            }
            first = nodes.end;
        }
        Jobs { list, on_node: vec![0; site.nodes() as usize], start, gossip: Rng::new(seed, 5) }
    }

    /// All jobs.
    pub fn list(&self) -> &[Job] {
        &self.list
    }

    /// Number of the job on a node; 0 if there is none.
    pub fn on(&self, node: u32) -> u64 {
        self.on_node.get(node as usize).copied().unwrap_or(0)
    }

    /// Gives all rows of one second of the run to `sink`.
    ///
    /// An aggregator that connects reports an unchanged set again, with its old timestamp. The rows of second 0 are
    /// such rows, about jobs that run already. One node in three reports a start twice, the first time before the
    /// scheduler has set name and user.
    ///
    /// # Errors
    /// The first error of `sink`.
    pub fn events<E>(&mut self, second: u32, mut sink: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let now = self.start + i64::from(second);
        let mut row = Vec::new();
        for job in &self.list {
            let starts = job.start == now || (second == 0 && job.start < now);
            let ends = job.end == Some(now);
            if !starts && !ends {
                continue;
            }
            let at = if ends { now } else { job.start };
            for node in job.first_node..job.first_node + job.nodes.len() as u32 {
                self.on_node[node as usize] = if ends { 0 } else { job.number };
                let mut time_us = at * 1_000_000 + self.gossip.between(70_000.0, 350_000.0) as i64;
                if starts && self.gossip.below(3) == 0 {
                    put(&mut row, job, node, time_us, false, false);
                    sink(&row)?;
                    time_us += 100_000;
                }
                put(&mut row, job, node, time_us, true, ends);
                sink(&row)?;
            }
        }
        Ok(())
    }
}

fn job(rng: &mut Rng, at: usize, nodes: std::ops::Range<u32>, start: i64, end: Option<i64>) -> Job {
    let user = rng.below(USERS.len() as u32) as usize;
    let number = FIRST_JOB + at as u64;
    Job {
        job_id: number.to_string(),
        user: USERS[user].to_string(),
        name: NAMES[rng.below(NAMES.len() as u32) as usize].to_string(),
        nodes: nodes.clone().map(node_name).collect(),
        start,
        end,
        number,
        first_node: nodes.start,
        uid: FIRST_UID + user,
    }
}

/// A row of `slurm_jobs` in place of what `out` held. Rare, so it may allocate.
fn put(out: &mut Vec<u8>, job: &Job, node: u32, time_us: i64, known: bool, ended: bool) {
    out.clear();
    put_time(out, time_us);
    let producer = node_name(node);
    let (user, name) = if known { (job.user.as_str(), job.name.as_str()) } else { ("", "") };
    let (nodes, tasks) = if known { (job.nodes.len(), TASKS_PER_NODE) } else { (0, 0) };
    let end = job.end.filter(|_| ended).unwrap_or(0);
    let rest = format!(
        ",\"producer\":\"{producer}\",\"instance\":\"{producer}/slurm2\",\"component_id\":{node},\
         \"job_id\":{},\"app_id\":0,\"user\":\"{user}\",\"job_name\":\"{name}\",\"job_uid\":{},\
         \"job_start\":{},\"job_end\":{end},\"node_count\":{nodes},\"task_count\":{tasks}}}",
        job.number, job.uid, job.start,
    );
    out.extend_from_slice(rest.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_dozen_jobs_cover_all_nodes_all_the_time_but_for_the_seconds_between() {
        let site = Site::of_trinities(1.0);
        let mut jobs = Jobs::new(site, 1_800_000_000, 120, 3);
        assert!((20..120).contains(&jobs.list().len()), "{}", jobs.list().len());
        for second in 0..120 {
            jobs.events(second, |_| Ok::<(), ()>(())).unwrap();
            let idle = jobs.on_node.iter().filter(|number| **number == 0).count();
            assert!(idle < 10_000, "{second} {idle}");
            assert!(second > 0 && second < 118 || idle == 0, "{second} {idle}");
        }
    }
}
