//! A case, or the simulated cluster, as a site would have it on disk: rows of LDMS, jobs, topology, and the truth beside them.

use super::case;
use super::experiment::Case;
use super::files::{create, make, write_jobs};
use anyhow::Context;
use samplers::lab::{
    self, Lab, LabJob, LabTruth, Lost, Sampled, Setup, put_client_rows, put_nic_rows, put_port_rows,
    put_router_rows, put_target_rows, put_wait_rows,
};
use samplers::truth::{Interval, JobTruth, SeriesTruth, Taker, Truth};
use samplers::{Cluster, Rows, Schema};
use schemas::{CounterBatch, Job, Sources};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use topology::{LinkIndex, PlainTopology, Topology};

/// A case to write.
pub struct Recording {
    setup: Setup,
    /// Seconds to play.
    pub seconds: u32,
}

impl Recording {
    /// The case of a built-in experiment, or of one in a file; the first one without a name.
    ///
    /// # Errors
    /// There is no such experiment or case, or it has no network.
    pub fn of(experiment: &str, case: Option<&str>) -> anyhow::Result<Recording> {
        let (name, experiment) = super::run::named(experiment)?;
        let chosen = |known: &&Case| case.is_none_or(|name| known.name == name);
        let case = experiment.cases.iter().find(chosen).with_context(|| {
            let names: Vec<&str> = experiment.cases.iter().map(|case| case.name.as_str()).collect();
            format!("experiment {name} has no such case; it has {}", names.join(", "))
        })?;
        anyhow::ensure!(
            case.ior.is_none() && case.has_network(),
            "case {} of {name} has no network; `tailback simulate` writes rows of IOR",
            case.name
        );
        let setup = case::setup(&experiment, case).with_context(|| format!("experiment {name}"))?;
        Ok(Recording { setup, seconds: case.seconds.unwrap_or(experiment.seconds) })
    }

    /// Plays the case and writes what came of it into a folder; calls `second` after each second.
    ///
    /// # Errors
    /// A case that cannot be played, or a disk that refuses.
    pub fn write(self, folder: &Path, second: impl Fn()) -> anyhow::Result<()> {
        make(folder)?;
        let mut lab = Lab::sampled(self.setup, Sampled::All)?;
        let mut record = Record::create(folder)?;
        for _ in 0..self.seconds {
            let tick = lab.step();
            record.rows(tick.sources, tick.counters)?;
            for job in tick.jobs {
                record.jobs.insert(job.job_id.to_string(), job.clone());
            }
            second();
        }
        record.finish(folder, lab.topology())?;
        write_truth(&truth_of(&lab, &lab.truth()), folder)
    }
}

/// Writes what a simulated cluster's LDMS would store, with its jobs and the truth, into a folder; calls `second` after each
/// second.
///
/// # Errors
/// A disk that refuses.
pub fn simulation(mut cluster: Cluster, folder: &Path, second: impl Fn()) -> anyhow::Result<()> {
    make(folder)?;
    let mut files = Vec::new();
    for schema in Schema::ALL {
        files.push((schema, create(&folder.join(format!("ldms.{}.jsonl", schema.name())))?));
    }
    let mut rows = Rows::default();
    while cluster.tick(&mut rows) {
        for (schema, file) in &mut files {
            file.write_all(rows.bytes(*schema))?;
        }
        second();
    }
    files.iter_mut().try_for_each(|(_, file)| file.flush())?;
    write_jobs(&cluster.jobs(), &folder.join("jobs.jsonl"))?;
    write_truth(&cluster.truth(), folder)
}

fn write_truth(truth: &Truth, folder: &Path) -> anyhow::Result<()> {
    let mut file = create(&folder.join("truth.jsonl"))?;
    truth.write_jsonl(&mut file)?;
    Ok(file.flush()?)
}

type PutRows = fn(&mut Vec<u8>, &Sources, &CounterBatch);

/// Who writes which file.
const FILES: [(&str, PutRows); 6] = [
    ("ldms.ports.jsonl", put_port_rows),
    ("ldms.aries_rtr.jsonl", put_router_rows),
    ("ldms.aries_nic.jsonl", put_nic_rows),
    ("ldms.lustre_client.jsonl", put_client_rows),
    ("ldms.lustre_osc.jsonl", put_wait_rows),
    ("ldms.lustre_ost.jsonl", put_target_rows),
];

/// The files of a site.
struct Record {
    files: Vec<(BufWriter<File>, PutRows)>,
    rows: Vec<u8>,
    /// As the scheduler last reported them.
    jobs: BTreeMap<String, Job>,
}

impl Record {
    fn create(folder: &Path) -> anyhow::Result<Record> {
        let files = FILES.iter().map(|(name, put)| Ok((create(&folder.join(name))?, *put)));
        Ok(Record { files: files.collect::<anyhow::Result<_>>()?, rows: Vec::new(), jobs: BTreeMap::new() })
    }

    fn rows(&mut self, sources: &Sources, counters: &CounterBatch) -> anyhow::Result<()> {
        for (file, put) in &mut self.files {
            self.rows.clear();
            put(&mut self.rows, sources, counters);
            file.write_all(&self.rows)?;
        }
        Ok(())
    }

    fn finish(mut self, folder: &Path, topology: &Topology) -> anyhow::Result<()> {
        self.files.iter_mut().try_for_each(|(file, _)| file.flush())?;
        for (name, _) in FILES {
            // A network has ports or tiles, seldom both: what has no rows is no file.
            let path = folder.join(name);
            if std::fs::metadata(&path)?.len() == 0 {
                std::fs::remove_file(path)?;
            }
        }
        write_jobs(self.jobs.values(), &folder.join("jobs.jsonl"))?;
        let mut file = create(&folder.join("topology.json"))?;
        serde_json::to_writer(&mut file, &PlainTopology::of(topology))?;
        Ok(file.flush()?)
    }
}

/// The truth in the words of `tailback simulate`.
fn truth_of(lab: &Lab, truth: &LabTruth) -> Truth {
    let series = truth.ever_contended().into_iter().filter_map(|link| of_series(lab, truth, link)).collect();
    let jobs = truth.jobs.iter().filter(|job| job.known).filter_map(|of| {
        let job = lab.setup().jobs.iter().find(|job| job.job_id == of.job_id)?;
        let contended = victim_stretches(truth, of.job_id);
        Some(JobTruth {
            job_id: of.job_id.to_string(),
            name: job.name.clone(),
            user: job.user.clone(),
            nodes: nodes(lab, job),
            start: seconds(of.start_s),
            end: of.end_s.map(seconds),
            contended_s: length_s(&contended),
            contended,
            slowdown_s: of.lost.longer_s(),
            by: takers(&of.lost),
        })
    });
    Truth { jobs: jobs.collect(), series }
}

fn nodes(lab: &Lab, job: &LabJob) -> Vec<String> {
    job.nodes.iter().map(|node| lab.topology().name(*node).to_string()).collect()
}

fn seconds(of_lab: f64) -> f64 {
    lab::at(of_lab).seconds()
}

fn interval((from, until): (u32, u32)) -> Interval {
    Interval { start: seconds(f64::from(from)), end: seconds(f64::from(until)) }
}

fn length_s(intervals: &[Interval]) -> f64 {
    intervals.iter().map(|interval| interval.end - interval.start).sum()
}

fn takers(lost: &Lost) -> Vec<Taker> {
    let all = lost.to_others_s();
    let mut by: BTreeMap<u64, f64> = BTreeMap::new();
    for ((job, _), lost_s) in lost.to.iter().filter(|_| all > 0.0) {
        *by.entry(*job).or_default() += lost_s / all;
    }
    let mut takers: Vec<Taker> =
        by.into_iter().map(|(job, share)| Taker { job_id: job.to_string(), share }).collect();
    takers.sort_by(|a, b| b.share.total_cmp(&a.share));
    takers
}

/// When the job was the one that lost most on some link, to others.
fn victim_stretches(truth: &LabTruth, job_id: u64) -> Vec<Interval> {
    let suffers = |second: u32| {
        let is_victim = |link: &lab::LinkTruth| {
            link.victim == job_id
                && link.lost.mpi + link.lost.io + link.lost.unknown + link.lost.failover > 0.0
        };
        truth.links_at(second).iter().any(is_victim)
    };
    let mut stretches: Vec<(u32, u32)> = Vec::new();
    for second in (0..truth.seconds()).filter(|second| suffers(*second)) {
        match stretches.last_mut() {
            Some(last) if last.1 == second => last.1 = second + 1,
            _ => stretches.push((second, second + 1)),
        }
    }
    stretches.into_iter().map(interval).collect()
}

fn of_series(lab: &Lab, truth: &LabTruth, link: LinkIndex) -> Option<SeriesTruth> {
    let contended: Vec<Interval> = truth.contended(link).into_iter().map(interval).collect();
    let lost = |second: u32| {
        truth
            .link_at(link, second)
            .map_or(0.0, |of| of.lost.mpi + of.lost.io + of.lost.unknown + of.lost.failover)
    };
    Some(SeriesTruth {
        series: lab.topology().series_name(link)?,
        contended_s: length_s(&contended),
        contended,
        slowdown_s: (0..truth.seconds()).map(lost).sum(),
        by: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
