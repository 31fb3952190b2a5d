//! A scenario through all stages: rows of Lustre clients and jobs in, results out.

use super::physics::{Lost, World};
use super::reported::Reported;
use super::scenario::{Counts, Job, Scenario};
use super::servers::Servers;
use detector::model::ModelKind;
use detector::settings::Settings;
use samplers::rng::Rng;
use schemas::{
    CounterBatch, EpisodeId, JobResult, Metric, Name, NameError, Source, SourceIndex, Sources, Time,
};
use stages::in_process::{InProcess, InProcessSettings};
use std::collections::{BTreeMap, HashMap};

/// Second 0 of a scenario, in seconds since the epoch.
pub(crate) const START_S: f64 = 1_800_000_000.0;
/// A sample is taken at most so many seconds before the whole second.
const EARLIEST_S: f64 = 0.01;

/// Metrics of a client that counts bytes, in the order of their counters; and that of operations.
const METRICS: [&str; 2] = ["lustre_read_rate", "lustre_write_rate"];
const METADATA: &str = "lustre_metadata_rate";
/// Counters of operations by their place in the metric: looks at entries are these two, half each, changes the other two.
const LOOKS: [usize; 2] = [0, 2];
const CHANGES: [usize; 2] = [5, 7];

fn metrics(counts: Counts) -> anyhow::Result<Vec<Metric>> {
    let metric =
        |name| Metric::from_name(name).ok_or_else(|| anyhow::anyhow!("the catalogue has no metric {name}"));
    match counts {
        Counts::Bytes => METRICS.into_iter().map(metric).collect(),
        Counts::Operations { .. } => Ok(vec![metric(METADATA)?]),
    }
}

/// What came of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// By job, in the order of the scenario.
    pub jobs: Vec<JobPlayed>,
    /// Seconds in episodes, of all series.
    pub flagged_s: f64,
    /// Seconds times series.
    pub series_s: f64,
}

/// A job: the truth, and what Tailback reports.
#[derive(Clone, Debug, Default)]
pub struct JobPlayed {
    /// What it truly lost.
    pub lost: Lost,
    /// What Tailback reports last.
    pub result: Option<JobResult>,
    /// When an episode of a series of it was first reported at or after its onset, in seconds of the scenario.
    pub reported_s: Option<f64>,
}

/// Plays a scenario.
///
/// # Errors
/// A name that is none.
pub fn play(scenario: &Scenario) -> anyhow::Result<Played> {
    let mut world = World::new(scenario);
    let mut clients = Clients::of(scenario)?;
    let mut servers = match scenario.served_by_job {
        true => Some(Servers::of(scenario, &metrics(scenario.counts)?, &mut clients.sources)?),
        false => None,
    };
    let with_steps = scenario.jobs.iter().enumerate().filter_map(|(at, job)| Some((at, job.id, job.steps?)));
    let reported = Reported::of(with_steps, &mut clients.sources)?;
    let mut stages = InProcess::new(&InProcessSettings::of(Settings::of(ModelKind::Robust)));
    let mut known: Vec<Option<bool>> = vec![None; scenario.jobs.len()];
    let mut reports = Reports::new(scenario);
    let mut second = 0;
    loop {
        stages.declare(changed_jobs(scenario, &world, f64::from(second), &mut known)?);
        if !world.step() {
            break;
        }
        second += 1;
        clients.sample(scenario, &world, f64::from(second));
        if let Some(servers) = &mut servers {
            let at = (f64::from(second), at_s(f64::from(second)));
            servers.sample(scenario, &world, at, &mut clients.batch)?;
        }
        reported.sample((second, at_s(f64::from(second))), |job| world.steps(job), &mut clients.batch);
        stages.feed_counters(&clients.sources, &clients.batch);
        let batch = stages.take();
        let series = stages.detector().series();
        for episode in &batch.episodes {
            let job = clients.job_of.get(&series[episode.series.at()].component);
            reports.take(episode, job.copied(), f64::from(second), &world);
        }
    }
    for episode in &stages.finish().episodes {
        reports.lengths.insert(episode.id, episode.duration_s());
    }
    let results = stages.job_results();
    let job = |(at, job): (usize, &Job)| JobPlayed {
        lost: world.lost(at).clone(),
        result: results.iter().find(|result| result.job_id.as_str() == job.id.to_string()).cloned(),
        reported_s: reports.first_s[at],
    };
    Ok(Played {
        jobs: scenario.jobs.iter().enumerate().map(job).collect(),
        flagged_s: reports.lengths.values().fold(0.0, |sum, length_s| sum + length_s),
        series_s: f64::from(scenario.seconds)
            * scenario.jobs.iter().map(|job| f64::from(job.nodes)).sum::<f64>(),
    })
}

/// What is reported while the scenario is played.
struct Reports {
    lengths: BTreeMap<EpisodeId, f64>,
    first_s: Vec<Option<f64>>,
}

impl Reports {
    fn new(scenario: &Scenario) -> Reports {
        Reports { lengths: BTreeMap::new(), first_s: vec![None; scenario.jobs.len()] }
    }

    fn take(&mut self, episode: &schemas::Episode, job: Option<usize>, second_s: f64, world: &World<'_>) {
        self.lengths.insert(episode.id, episode.duration_s());
        if let Some(job) = job
            && world.lost(job).onset_s.is_some()
        {
            self.first_s[job].get_or_insert(second_s);
        }
    }
}

/// Jobs whose start or end is new.
pub(crate) fn changed_jobs(
    scenario: &Scenario,
    world: &World<'_>,
    now_s: f64,
    known: &mut [Option<bool>],
) -> Result<Vec<schemas::Job>, NameError> {
    let mut changed = Vec::new();
    for (at, job) in scenario.jobs.iter().enumerate() {
        let ended_s = world.ended_s(at);
        if job.start_s <= now_s && known[at] != Some(ended_s.is_some()) {
            known[at] = Some(ended_s.is_some());
            changed.push(schemas::Job {
                job_id: Name::parse(&job.id.to_string())?,
                label: String::new(),
                user: format!("user{}", job.id),
                name: job.app.clone(),
                nodes: (0..job.nodes).map(|node| node_name(job, node)).collect::<Result<_, _>>()?,
                start: at_s(job.start_s),
                end: ended_s.map(at_s),
                end_presumed: false,
                app: Some(job.app.clone()),
            });
        }
    }
    Ok(changed)
}

fn at_s(second_s: f64) -> Time {
    Time::from_seconds(START_S + second_s)
}

fn node_name(job: &Job, node: u32) -> Result<Name, NameError> {
    Name::parse(&format!("n{}x{node}", job.id))
}

/// The clients of all jobs, and the rows of a second.
pub(crate) struct Clients {
    /// Their sources.
    pub sources: Sources,
    /// Job, node, source; bytes read and written as they were sampled last.
    rows: Vec<(usize, usize, SourceIndex, [f64; 2])>,
    job_of: HashMap<Name, usize>,
    /// The rows of the last second.
    pub batch: CounterBatch,
    rng: Rng,
}

impl Clients {
    /// None of which was sampled.
    pub(crate) fn of(scenario: &Scenario) -> anyhow::Result<Clients> {
        let metrics = metrics(scenario.counts)?;
        let mut clients = Clients {
            sources: Sources::default(),
            rows: Vec::new(),
            job_of: HashMap::new(),
            batch: CounterBatch::default(),
            rng: Rng::new(scenario.seed, 0x7A3),
        };
        for (at, job) in scenario.jobs.iter().enumerate() {
            for node in 0..job.nodes {
                let component = node_name(job, node)?;
                let source = clients.sources.intern(Source {
                    schema: Name::parse("lustre_client")?,
                    producer: component.clone(),
                    metrics: metrics.clone(),
                    component: component.clone(),
                    set: None,
                    parts: vec![Name::parse(&scenario.systems[job.system].name)?],
                    rank: 0,
                    by_job: false,
                });
                clients.rows.push((at, node as usize, source, [0.0; 2]));
                clients.job_of.insert(component, at);
            }
        }
        Ok(clients)
    }

    /// Samples all of them at the end of a second.
    pub(crate) fn sample(&mut self, scenario: &Scenario, world: &World<'_>, second_s: f64) {
        self.batch.clear();
        for (job, node, source, counters) in &mut self.rows {
            let earlier_s = EARLIEST_S * self.rng.uniform();
            if world.is_unseen(*job, second_s) {
                continue;
            }
            let share = world.read_share(*job, second_s);
            let moved = world.written(*job, *node, earlier_s);
            let new = (moved - counters.iter().sum::<f64>()).max(0.0);
            *counters = [counters[0] + share * new, counters[1] + (1.0 - share) * new];
            let time = at_s(second_s - earlier_s);
            match scenario.counts {
                Counts::Bytes => self.batch.push(*source, time, &counters.map(|counter| counter as u64)),
                Counts::Operations { bytes } => {
                    let cost = scenario.jobs[*job].operation_cost;
                    self.batch.push(*source, time, &operations(moved / (f64::from(bytes) * cost), cost));
                }
            }
        }
    }
}

/// The counters of a client after so many operations.
fn operations(done: f64, cost: f64) -> [u64; 16] {
    let mut counters = [0; 16];
    let kinds = if cost > 1.0 { CHANGES } else { LOOKS };
    kinds.iter().for_each(|kind| counters[*kind] = (done / 2.0) as u64);
    counters
}
