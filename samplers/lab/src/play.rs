//! A case through all stages: what really happened, and what Tailback reports.

use super::experiment::{Case, IorSpec, ModelSpec};
use super::paths::Paths;
use aggregator::Decoded;
use detector::fabric::lifecycle::PairState;
use detector::fabric::{FabricSettings, Network};
use detector::model::ModelKind;
use detector::settings::Settings;
use samplers::lab::{self, Lab, LabJobTruth, Setup};
use samplers::truth::JobTruth;
use samplers::{Cluster, Rows, scenario};
use schemas::{EpisodeId, JobResult, Name, Region, RegionId, ResultBatch, Time};
use serde::{Deserialize, Serialize};
use stages::in_process::{InProcess, InProcessSettings};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use topology::{PlainTopology, Topology};

/// What a case gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// Seconds that were played.
    pub seconds: u32,
    /// Jobs, in the order of the file.
    pub jobs: Vec<JobPlayed>,
    /// Contended regions, by their start.
    pub regions: Vec<RegionPlayed>,
    /// Series of each contended stretch.
    pub episodes: Vec<String>,
    /// What became of links, incident by incident: `down`, `recovered` and so on.
    pub incidents: Vec<String>,
    /// By host with an event at one of its links: second by second, how its links connect it, as reported.
    pub paths: BTreeMap<String, Vec<PairState>>,
    /// By the same hosts: bytes that they really sent, second by second.
    pub sent: BTreeMap<String, Vec<f64>>,
    /// Second by second.
    pub timeline: Timeline,
}

/// A job: the truth, and what Tailback reports. Times in seconds, the start of the case being 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobPlayed {
    /// The scheduler's number.
    pub job_id: u64,
    /// When it started.
    pub start_s: f64,
    /// When it ended; `null` if the case was over before.
    pub end_s: Option<f64>,
    /// How long it takes alone.
    pub alone_s: f64,
    /// Lost to itself, which is part of its time alone.
    pub lost_self_s: f64,
    /// Lost to other jobs.
    pub lost_others_s: f64,
    /// Lost to links that failed.
    pub lost_failover_s: f64,
    /// What Tailback reports; `null` where it reports nothing.
    pub found: Option<FoundOfJob>,
    /// Shares of its loss by cause: the word of the cause, and the job or series that is named for it.
    #[serde(default)]
    pub causes: Vec<(String, String, f64)>,
}

/// What Tailback reports of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundOfJob {
    /// Seconds lost.
    pub slowdown_s: f64,
    /// Lower end of the 95% interval.
    pub lo_s: f64,
    /// Upper end of it.
    pub hi_s: f64,
    /// Seconds lost on links to itself.
    pub self_s: f64,
    /// Seconds lost on links to others and to failures.
    pub others_s: f64,
    /// Share of its data that was there.
    pub completeness: f64,
}

/// A contended region as last reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegionPlayed {
    /// Its readable name.
    pub name: String,
    /// Its largest cause.
    pub cause: String,
    /// What could be done about it.
    pub kind: String,
    /// From when.
    pub start_s: f64,
    /// Until when.
    pub end_s: f64,
    /// Most links it had.
    pub links_most: u32,
    /// Its relief bound.
    pub relief: f64,
    /// Cause, job or series, share.
    pub causes: Vec<(String, String, f64)>,
    /// Its worst series.
    pub series: Vec<String>,
}

/// Second by second, for a picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Links or series that are contended in truth.
    pub truth: Vec<u32>,
    /// Links in open regions, or open episodes, as reported at that second.
    pub reported: Vec<u32>,
}

fn settings(model: ModelSpec) -> Settings {
    Settings::of(match model {
        ModelSpec::Robust => ModelKind::Robust,
        ModelSpec::Published => ModelKind::Published,
    })
}

/// Plays a lab; `second` is called after each of its seconds.
///
/// # Errors
/// What the lab refuses.
pub fn network(case: &Case, setup: &Setup, seconds: u32, mut second: impl FnMut()) -> anyhow::Result<Played> {
    let topology =
        if case.tables { Topology::clone(&setup.topology) } else { without_tables(&setup.topology)? };
    let io_servers = setup.jobs.iter().filter_map(|job| job.io.as_ref()).flat_map(|io| &io.targets);
    let io_servers = io_servers.filter(|_| case.servers_named).map(|host| setup.topology.name(*host).clone());
    let fabric = FabricSettings { io_servers: io_servers.collect(), ..FabricSettings::default() };
    let network = Some(Arc::new(Network::of(topology)));
    let settings = InProcessSettings { fabric, network, ..InProcessSettings::of(settings(case.model)) };
    let mut stages = InProcess::new(&settings);
    let mut lab = Lab::new(setup.clone())?;
    let mut reported = Reported::default();
    let mut timeline = Timeline::default();
    let mut paths = Paths::of(setup);
    for _ in 0..seconds {
        let tick = lab.step();
        stages.declare(tick.jobs.to_vec());
        stages.feed_counters(tick.sources, tick.counters);
        reported.take(stages.take(), &stages);
        paths.look(&stages, lab.carried());
        timeline.truth.push(lab.contended().len() as u32);
        timeline.reported.push(reported.links_now());
        second();
    }
    reported.take(stages.finish(), &stages);
    paths.finish(&stages);
    let jobs = lab.truth().jobs.iter().map(|truth| of_lab(truth, &reported, &stages)).collect();
    Ok(Played {
        seconds,
        jobs,
        regions: reported.regions(lab::START),
        episodes: reported.series_of_episodes(),
        incidents: paths.incidents(),
        paths: paths.reported,
        sent: paths.sent,
        timeline,
    })
}

fn of_lab(truth: &LabJobTruth, reported: &Reported, stages: &InProcess) -> JobPlayed {
    JobPlayed {
        job_id: truth.job_id,
        start_s: truth.start_s,
        end_s: truth.end_s,
        alone_s: truth.alone_s,
        lost_self_s: truth.lost.self_s,
        lost_others_s: truth.lost.to_others_s(),
        lost_failover_s: truth.lost.failover_s,
        found: reported.of_job(&truth.job_id.to_string(), stages),
        causes: reported.causes_of_job(&truth.job_id.to_string()),
    }
}

fn without_tables(topology: &Topology) -> anyhow::Result<Topology> {
    let mut plain = PlainTopology::of(topology);
    plain.tables.clear();
    Ok(plain.build()?.0)
}

/// Plays a schedule of IOR on Lustre; jobs are numbered by their start, from 1.
///
/// # Errors
/// There is no such schedule.
pub fn ior(case: &Case, spec: IorSpec, seed: u64, mut second: impl FnMut()) -> anyhow::Result<Played> {
    let start = lab::START;
    let mut cluster = Cluster::new(scenario::ior(spec.case, spec.noise)?, start, seed)?;
    let mut stages = InProcess::new(&InProcessSettings::of(settings(case.model)));
    let (mut rows, mut decoded) = (Rows::default(), Decoded::default());
    let mut reported = Reported::default();
    let mut timeline = Timeline::default();
    while cluster.tick(&mut rows) {
        decoded.clear();
        for (schema, line) in rows.lines() {
            stages.decoder.json_line(Some(schema.name()), line, &mut decoded);
        }
        stages.feed(&decoded);
        reported.take(stages.take(), &stages);
        timeline.reported.push(reported.episodes_now());
        second();
    }
    reported.take(stages.finish(), &stages);
    let truth = cluster.truth();
    let seconds = timeline.reported.len() as u32;
    timeline.truth = (0..seconds)
        .map(|at| {
            let at_s = start.seconds() + f64::from(at) + 0.5;
            let during = |series: &&samplers::truth::SeriesTruth| {
                series.contended.iter().any(|stretch| (stretch.start..stretch.end).contains(&at_s))
            };
            truth.series.iter().filter(during).count() as u32
        })
        .collect();
    let jobs = (1..).zip(&truth.jobs).map(|(number, job)| of_ior(number, job, start, &reported, &stages));
    Ok(Played {
        seconds,
        jobs: jobs.collect(),
        regions: Vec::new(),
        episodes: reported.series_of_episodes(),
        incidents: Vec::new(),
        paths: BTreeMap::new(),
        sent: BTreeMap::new(),
        timeline,
    })
}

fn of_ior(number: u64, truth: &JobTruth, start: Time, reported: &Reported, stages: &InProcess) -> JobPlayed {
    let run_s = truth.end.map_or(0.0, |end| end - truth.start);
    JobPlayed {
        job_id: number,
        start_s: truth.start - start.seconds(),
        end_s: truth.end.map(|end| end - start.seconds()),
        alone_s: run_s - truth.slowdown_s,
        lost_others_s: truth.slowdown_s,
        found: reported.of_job(&truth.job_id, stages),
        causes: reported.causes_of_job(&truth.job_id),
        ..JobPlayed::default()
    }
}

/// Everything that the stages reported so far.
#[derive(Default)]
struct Reported {
    regions: BTreeMap<RegionId, Region>,
    results: BTreeMap<Name, JobResult>,
    episodes: BTreeMap<EpisodeId, String>,
    open: BTreeSet<EpisodeId>,
}

impl Reported {
    fn take(&mut self, batch: ResultBatch, stages: &InProcess) {
        for result in batch.job_results {
            self.results.insert(result.job_id.clone(), result);
        }
        for region in batch.regions {
            self.regions.insert(region.id, region);
        }
        let series = stages.detector().series();
        for episode in batch.episodes {
            let name = || series[episode.series.at()].name();
            self.episodes.entry(episode.id).or_insert_with(name);
            match episode.open {
                true => self.open.insert(episode.id),
                false => self.open.remove(&episode.id),
            };
        }
    }

    fn links_now(&self) -> u32 {
        self.regions.values().filter(|region| region.open).map(|region| region.links).sum()
    }

    fn episodes_now(&self) -> u32 {
        self.open.len() as u32
    }

    fn series_of_episodes(&self) -> Vec<String> {
        self.episodes.values().cloned().collect()
    }

    fn of_job(&self, job_id: &str, stages: &InProcess) -> Option<FoundOfJob> {
        let name = Name::parse(job_id).ok()?;
        let result = self.results.get(&name)?;
        let on_links = stages.fabric().and_then(|fabric| fabric.losses(&name));
        Some(FoundOfJob {
            slowdown_s: result.slowdown_s,
            lo_s: result.slowdown_lo_s,
            hi_s: result.slowdown_hi_s,
            self_s: on_links.map_or(0.0, |losses| losses.own_s),
            others_s: on_links.map_or(0.0, |losses| losses.others_s),
            completeness: result.completeness,
        })
    }

    fn causes_of_job(&self, job_id: &str) -> Vec<(String, String, f64)> {
        let result = Name::parse(job_id).ok().and_then(|name| self.results.get(&name));
        let causes = result.into_iter().flat_map(|result| &result.causes);
        causes
            .map(|cause| (cause.cause.name().to_string(), cause.series_or_job.clone(), cause.share))
            .collect()
    }

    fn regions(&self, start: Time) -> Vec<RegionPlayed> {
        let of = |region: &Region| RegionPlayed {
            name: region.name.clone(),
            cause: region.cause.name().to_string(),
            kind: region.kind.name().to_string(),
            start_s: region.start.seconds_since(start),
            end_s: region.end.seconds_since(start),
            links_most: region.links_most,
            relief: region.relief,
            causes: region
                .causes
                .iter()
                .map(|cause| (cause.cause.name().to_string(), cause.series_or_job.clone(), cause.share))
                .collect(),
            series: region.series.clone(),
        };
        let mut regions: Vec<RegionPlayed> = self.regions.values().map(of).collect();
        regions.sort_by(|a, b| a.start_s.total_cmp(&b.start_s).then_with(|| a.name.cmp(&b.name)));
        regions
    }
}
