//! From the words of an experiment to a lab that can be played.

use super::experiment::{
    Case, ChangeSpec, EventSpec, Experiment, JobSpec, NoiseSpec, PatternSpec, RateSpec, RoutingSpec,
};
use super::select::Leaves;
use super::storage::IoSpec;
use anyhow::Context;
use samplers::lab::scenarios::ONSET_S;
use samplers::lab::{Change, Event, LabIo, LabJob, Noise, Pattern, Phases, Routing, Setup, Striping, asked};
use std::collections::BTreeMap;
use std::sync::Arc;
use topology::{LinkClass, LinkIndex, Topology, VertexIndex, VertexKind};

/// Rate of the light run before the onset, as a part of the full one.
const LIGHT: f64 = 0.2;
/// Seconds of work of the full run after it.
const AFTER_LIGHT_S: f64 = 200.0;
/// What is added to the number of a job for its light run.
const LIGHT_ID: u64 = 100;

/// The lab of a case.
///
/// # Errors
/// A machine, a placement or a rate that is not possible, naming the job.
pub fn setup(experiment: &Experiment, case: &Case) -> anyhow::Result<Setup> {
    let machine = case.machine.as_ref().or(experiment.machine.as_ref());
    let topology = machine.context("it has no machine")?.build()?;
    let mut build = Build {
        leaves: Leaves::of(&topology),
        topology,
        routing: routing(case.routing),
        seed: case.seed.unwrap_or(experiment.seed),
        taken: BTreeMap::new(),
    };
    let mut jobs = Vec::new();
    for spec in experiment.jobs_of(case) {
        jobs.extend(build.job(spec).with_context(|| format!("job {}", spec.id))?);
    }
    let events = experiment.events_of(case).map(|event| build.event(event));
    Ok(Setup {
        events: events.collect::<anyhow::Result<_>>()?,
        noise: noise(experiment.noise),
        topology: build.topology,
        routing: build.routing,
        jobs,
        seed: build.seed,
    })
}

fn routing(spec: RoutingSpec) -> Routing {
    match spec {
        RoutingSpec::Tables => Routing::Tables,
        RoutingSpec::Minimal => Routing::Minimal,
        RoutingSpec::Valiant => Routing::Valiant,
        RoutingSpec::Adaptive => Routing::Adaptive { threshold_percent: 50 },
        RoutingSpec::StripedEven => Routing::Striped(Striping::Even),
        RoutingSpec::StripedAdaptive => Routing::Striped(Striping::Adaptive { alpha_percent: 50 }),
    }
}

fn noise(NoiseSpec { load, ratio, background, missing }: NoiseSpec) -> Noise {
    Noise { load, ratio, background, missing }
}

fn pattern(spec: &JobSpec) -> Pattern {
    match spec.pattern {
        PatternSpec::Uniform => Pattern::Uniform,
        PatternSpec::AllToAll => Pattern::AllToAll,
        PatternSpec::Ring => Pattern::Ring { step: spec.step },
        PatternSpec::Stencil3d => Pattern::Stencil3d,
        PatternSpec::Tornado => Pattern::Tornado,
        PatternSpec::Incast => Pattern::Incast,
        PatternSpec::Broadcast => Pattern::Broadcast,
    }
}

struct Build {
    topology: Arc<Topology>,
    leaves: Leaves,
    routing: Routing,
    seed: u64,
    taken: BTreeMap<u64, Vec<VertexIndex>>,
}

impl Build {
    /// The job, and before it its light run, if it has one.
    fn job(&mut self, spec: &JobSpec) -> anyhow::Result<Vec<LabJob>> {
        let hosts = self.leaves.select(&spec.hosts, &self.taken)?;
        self.taken.insert(spec.id, hosts.clone());
        let mut job = LabJob::new(spec.id, hosts, pattern(spec), 0.0);
        (job.start_s, job.work_s) = (spec.start_s, spec.work_s);
        (job.coupling, job.known) = (spec.coupling, spec.known);
        job.phases = spec.phases.map(|phases| Phases { on_s: phases.on_s, off_s: phases.off_s });
        if let Some(rate) = spec.rate {
            job.bytes_per_s = self.bytes_per_s(&job, rate)?;
        }
        if let Some(io) = &spec.io {
            job.io = Some(self.io(io, job.nodes.len())?);
        }
        if !spec.light_first {
            return Ok(vec![job]);
        }
        let mut light = job.clone();
        light.job_id += LIGHT_ID;
        light.bytes_per_s *= LIGHT;
        light.work_s = f64::from(ONSET_S - 5);
        Ok(vec![light, LabJob { start_s: ONSET_S, work_s: AFTER_LIGHT_S, ..job }])
    }

    fn bytes_per_s(&self, job: &LabJob, rate: RateSpec) -> anyhow::Result<f64> {
        let (wanted, of_one) = match rate {
            RateSpec::Bytes { bytes_per_s } => return Ok(bytes_per_s),
            RateSpec::Messages { message_bytes, interval_us } => {
                return Ok(message_bytes / (interval_us * 1e-6));
            }
            RateSpec::Peak { peak } => {
                let loads = self.asked_by(job);
                let inner = self.topology.links().filter(|link| is_inner(&self.topology, *link));
                (peak, inner.map(|link| loads[link.at()]).fold(0.0, f64::max))
            }
            RateSpec::GlobalMean { global_mean } => {
                let loads = self.asked_by(job);
                let first = |link: &LinkIndex| {
                    self.topology.class(*link) == LinkClass::Global
                        && self.topology.group(self.topology.from(*link)) == Some(0)
                };
                let links: Vec<LinkIndex> = self.topology.links().filter(first).collect();
                (global_mean, links.iter().map(|l| loads[l.at()]).sum::<f64>() / links.len().max(1) as f64)
            }
        };
        anyhow::ensure!(of_one > 0.0, "it crosses no link by which its rate could be set");
        Ok(wanted / of_one)
    }

    /// Utilisations by the job alone, at 1 byte a second.
    fn asked_by(&self, job: &LabJob) -> Vec<f64> {
        let job = LabJob { bytes_per_s: 1.0, ..job.clone() };
        asked(&self.topology, self.routing, std::slice::from_ref(&job), self.seed)
    }

    fn io(&self, spec: &IoSpec, processes: usize) -> anyhow::Result<LabIo> {
        let bytes_per_s = match spec.rate {
            RateSpec::Bytes { bytes_per_s } => bytes_per_s,
            RateSpec::Messages { message_bytes, interval_us } => message_bytes / (interval_us * 1e-6),
            RateSpec::Peak { .. } | RateSpec::GlobalMean { .. } => {
                anyhow::bail!("the rate of its I/O must be bytes_per_s, or message_bytes and interval_us")
            }
        };
        anyhow::ensure!(
            spec.collective.is_some() != (spec.for_s > 0),
            "its I/O needs either for_s or collective, to say how long a checkpoint lasts"
        );
        Ok(LabIo {
            bytes_per_s,
            writers: spec.writers,
            targets: self.leaves.select(&spec.targets, &self.taken).context("targets of its I/O")?,
            from_s: spec.from_s,
            every_s: spec.every_s,
            on_osts: spec.osts,
            for_s: match &spec.collective {
                Some(collective) => {
                    (collective.aggregator_bytes(processes, spec.writers) / bytes_per_s).ceil() as u32
                }
                None => spec.for_s,
            },
        })
    }

    fn event(&self, spec: &EventSpec) -> anyhow::Result<Event> {
        let wrong =
            || format!("the event at second {}: leaf {} has no such link or host", spec.at_s, spec.leaf);
        let link = || self.link(spec).with_context(wrong);
        let vertex = || self.component(spec).with_context(wrong);
        let change = match spec.change {
            ChangeSpec::Down => Change::Down(link()?),
            ChangeSpec::Up => Change::Up(link()?),
            ChangeSpec::Blink => {
                let ms = u16::try_from(spec.ms).ok().context("ms of a blink is 1 to 999")?;
                Change::Blink { link: link()?, ms }
            }
            ChangeSpec::Narrow => Change::Narrow { link: link()?, percent: spec.percent },
            ChangeSpec::Reset => Change::Reset(vertex()?),
            ChangeSpec::Silent => Change::Silent(vertex()?),
            ChangeSpec::Reporting => Change::Reporting(vertex()?),
            ChangeSpec::Skew => Change::Skew { vertex: vertex()?, ms: spec.ms },
        };
        Ok(Event { at_s: spec.at_s, change })
    }

    fn link(&self, spec: &EventSpec) -> Option<LinkIndex> {
        if let Some(place) = spec.host {
            return self.topology.links_from(self.leaves.host(spec.leaf, place)?).nth(spec.rail);
        }
        let links = self.topology.links_from(*self.leaves.switches.get(spec.leaf)?);
        links.filter(|link| is_inner(&self.topology, *link)).nth(spec.uplink?)
    }

    /// The host, or without one the leaf.
    fn component(&self, spec: &EventSpec) -> Option<VertexIndex> {
        match spec.host {
            Some(place) => self.leaves.host(spec.leaf, place),
            None => self.leaves.switches.get(spec.leaf).copied(),
        }
    }
}

/// Whether `link` connects switches or routers.
pub fn is_inner(topology: &Topology, link: LinkIndex) -> bool {
    [topology.from(link), topology.to(link)].iter().all(|end| topology.kind(*end) != VertexKind::Host)
}
