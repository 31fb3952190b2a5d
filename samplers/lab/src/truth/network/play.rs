//! A scenario through all stages: rows of ports, tiles and clients, and jobs, in; results out.

use super::super::reported::Reported;
use super::world::{Lost, Scenario, World};
use detector::fabric::{FabricSettings, Network};
use detector::model::ModelKind;
use detector::settings::Settings;
use samplers::lab::{Counters, LabJob, Lustre, Sampled, Traffic, at};
use schemas::{CauseKind, EpisodeId, JobResult, Name, NameError, Region, RegionId};
use stages::in_process::{InProcess, InProcessSettings};
use std::collections::BTreeMap;
use std::sync::Arc;
use topology::{LinkClass, LinkIndex, Topology, VertexIndex};

/// What came of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// Jobs, in the order of the scenario.
    pub jobs: Vec<JobPlayed>,
    /// Regions as last reported, with whether flows were truly slowed on one of their links then.
    pub regions: Vec<(Region, bool)>,
    /// Seconds in episodes of the links that carry most, and seconds of all these.
    pub flagged_s: f64,
}

/// A job: the truth, and what Tailback reports.
#[derive(Clone, Debug, Default)]
pub struct JobPlayed {
    /// What it truly lost.
    pub lost: Lost,
    /// What Tailback reports last.
    pub result: Option<JobResult>,
    /// When a loss of it was first reported at or after its onset, in seconds of the scenario.
    pub reported_s: Option<f64>,
}

/// Seconds around a region in which flows may be slowed on its links for it to be a true one.
const AROUND_S: f64 = 10.0;

/// Plays a scenario.
///
/// # Errors
/// A name that is none, or a machine whose ports have no metric.
pub fn play(scenario: &Scenario) -> anyhow::Result<Played> {
    let network = Arc::new(Network::of(Topology::clone(&scenario.topology)));
    let settings = Settings::of(ModelKind::Robust);
    let fabric = FabricSettings::default();
    let settings = InProcessSettings { fabric, network: Some(network), ..InProcessSettings::of(settings) };
    let mut stages = InProcess::new(&settings);
    let mut world = World::new(scenario);
    let mut clients: Vec<VertexIndex> = scenario.jobs.iter().flat_map(|job| job.nodes.clone()).collect();
    clients.sort_unstable();
    // The truth of a network has its own queues and knows no marks.
    let sampled = Sampled::Costs;
    let lustre = Lustre { clients: &clients, servers: &[] };
    let mut counters = Counters::new(&scenario.topology, lustre, sampled, scenario.noise, scenario.seed)?;
    let number = |id: u64| scenario.jobs.iter().position(|job| job.job_id == id);
    let with_steps = scenario.reports.iter().filter_map(|(id, steps)| Some((number(*id)?, *id, *steps)));
    let reported = Reported::of(with_steps, &mut counters.sources)?;
    let mut known = vec![None; scenario.jobs.len()];
    let mut reports = Reports::of(scenario);
    let down = vec![false; scenario.topology.link_count()];
    for second in 1..=scenario.seconds {
        world.start();
        stages.declare(changed_jobs(scenario, &world, &mut known)?);
        world.step();
        let (carried, ratio) = (&world.now.carried, &world.now.ratio);
        let traffic = Traffic {
            carried,
            ratio,
            down: &down,
            written: &world.written,
            waited: &world.written,
            stored: &[],
            congestion: None,
        };
        counters.pass(&traffic, at(f64::from(second)));
        stages.declare(changed_jobs(scenario, &world, &mut known)?);
        let time = (second, at(f64::from(second)));
        reported.sample(time, |job| world.runs[job].made(), &mut counters.batch);
        stages.feed_counters(&counters.sources, &counters.batch);
        reports.take(stages.take(), f64::from(second), &world, &scenario.topology);
        if world.runs.iter().all(|run| run.end_s.is_some()) {
            break;
        }
    }
    reports.take(stages.finish(), f64::from(scenario.seconds), &world, &scenario.topology);
    Ok(reports.played(scenario, &world, &stages))
}

/// Jobs whose start or end is new.
fn changed_jobs(
    scenario: &Scenario,
    world: &World<'_>,
    known: &mut [Option<bool>],
) -> Result<Vec<schemas::Job>, NameError> {
    let mut changed = Vec::new();
    for ((job, run), known) in scenario.jobs.iter().zip(&world.runs).zip(known) {
        if run.started && job.known && *known != Some(run.end_s.is_some()) {
            *known = Some(run.end_s.is_some());
            changed.push(declared(scenario, job, run.end_s)?);
        }
    }
    Ok(changed)
}

fn declared(scenario: &Scenario, job: &LabJob, end_s: Option<f64>) -> Result<schemas::Job, NameError> {
    Ok(schemas::Job {
        job_id: Name::parse(&job.job_id.to_string())?,
        label: String::new(),
        user: job.user.clone(),
        name: job.name.clone(),
        nodes: job.nodes.iter().map(|node| scenario.topology.name(*node).clone()).collect(),
        start: at(f64::from(job.start_s)),
        end: end_s.map(at),
        end_presumed: false,
        app: Some(job.app.clone()),
    })
}

/// What is reported while the scenario is played.
struct Reports {
    regions: BTreeMap<RegionId, (Region, bool)>,
    lengths: BTreeMap<EpisodeId, f64>,
    first_s: Vec<Option<f64>>,
    numbers: BTreeMap<String, usize>,
    links: BTreeMap<String, LinkIndex>,
}

impl Reports {
    fn of(scenario: &Scenario) -> Reports {
        let topology = &scenario.topology;
        let numbers = scenario.jobs.iter().enumerate().map(|(at, job)| (job.job_id.to_string(), at));
        let links = topology.links().filter_map(|link| Some((topology.series_name(link)?, link)));
        Reports {
            regions: BTreeMap::new(),
            lengths: BTreeMap::new(),
            first_s: vec![None; scenario.jobs.len()],
            numbers: numbers.collect(),
            links: links.collect(),
        }
    }

    fn take(&mut self, batch: schemas::ResultBatch, second_s: f64, world: &World<'_>, topology: &Topology) {
        for episode in &batch.episodes {
            self.lengths.insert(episode.id, episode.duration_s());
        }
        for result in batch.job_results.iter().filter(|result| result.slowdown_s > 0.0) {
            if let Some(at) = self.numbers.get(result.job_id.as_str())
                && world.runs[*at].lost.onset_s.is_some()
            {
                self.first_s[*at].get_or_insert(second_s);
            }
        }
        for region in batch.regions {
            let before = self.regions.get(&region.id).is_some_and(|(_, is_true)| *is_true);
            let is_true = before || self.is_true(&region, world, topology);
            self.regions.insert(region.id, (region, is_true));
        }
    }

    fn is_true(&self, region: &Region, world: &World<'_>, topology: &Topology) -> bool {
        let from_s = region.start.seconds_since(samplers::lab::START) - AROUND_S;
        let to_s = region.end.seconds_since(samplers::lab::START) + AROUND_S;
        let named = region.series.iter().chain(&region.left).filter_map(|name| self.links.get(name).copied());
        // A region of an endpoint is of the links to it and of those to its hosts, which may be unmeasured.
        let is_of_hosts = region.kind == CauseKind::Endpoint;
        let to_hosts = |link: LinkIndex| {
            let behind = topology.links_from(topology.to(link));
            behind.filter(move |next| is_of_hosts && topology.class(*next) == LinkClass::Host)
        };
        let meets = |(first, last): &(u32, u32)| f64::from(*first) <= to_s && f64::from(*last) >= from_s;
        let links = named.flat_map(|link| std::iter::once(link).chain(to_hosts(link)));
        links.filter_map(|link| world.slow.get(&link)).any(meets)
    }

    fn played(self, scenario: &Scenario, world: &World<'_>, stages: &InProcess) -> Played {
        let results = stages.job_results();
        let of = |(at, job): (usize, &LabJob)| JobPlayed {
            lost: world.runs[at].lost.clone(),
            result: results.iter().find(|result| result.job_id.as_str() == job.job_id.to_string()).cloned(),
            reported_s: self.first_s[at],
        };
        Played {
            jobs: scenario.jobs.iter().enumerate().map(of).collect(),
            regions: self.regions.into_values().collect(),
            flagged_s: self.lengths.values().fold(0.0, |sum, length_s| sum + length_s),
        }
    }
}
