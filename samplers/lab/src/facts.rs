//! Values of measures of one case.

use super::adapting::saved::{Adapted, Saved};
use super::calculations::{of_messages, of_requests};
use super::case::is_inner;
use super::experiment::{Case, JobSpec};
use super::measure::Measure;
use super::play::{JobPlayed, Played};
use anyhow::Context;
use regex_lite::Regex;
use samplers::lab::{self, LabJob, Pattern, Setup};
use std::collections::{BTreeMap, BTreeSet};
use topology::{LinkClass, LinkIndex, VertexIndex, VertexKind};

/// All that is known of a case.
pub struct Facts<'e> {
    /// Its words.
    pub case: &'e Case,
    /// The lab, if it has one.
    pub setup: Option<Setup>,
    /// What came of it, if it was played.
    pub played: Option<Played>,
    /// What jobs that ask saved, if it has a file system.
    pub adapted: Option<Adapted>,
    /// Its seed.
    pub seed: u64,
    /// Its jobs, as in the file.
    pub specs: Vec<&'e JobSpec>,
}

impl Facts<'_> {
    /// The value of a measure of this case.
    ///
    /// # Errors
    /// There is no such job or class of links, or the case was not played.
    pub fn measure(&self, measure: &Measure) -> anyhow::Result<f64> {
        if measure.is_played() { self.of_play(measure) } else { self.standing(measure) }
    }

    fn of_play(&self, measure: &Measure) -> anyhow::Result<f64> {
        if let Some(adapted) = &self.adapted {
            let number = measure.job(0)?;
            let saved = adapted.of_job(number);
            return of_saved(
                saved.with_context(|| format!("{measure}: there is no writer {number}"))?,
                measure,
            );
        }
        let played = self.played.as_ref().context("the case was not played")?;
        let regions = &played.regions;
        Ok(match measure.name.as_str() {
            "regions" => match measure.arguments.first() {
                Some(word) => regions.iter().filter(|r| r.cause == *word || r.kind == *word).count() as f64,
                None => regions.len() as f64,
            },
            "first_s" => regions.first().context("no region was reported")?.start_s,
            "links_most" => f64::from(regions.iter().map(|region| region.links_most).max().unwrap_or(0)),
            "relief" => regions.iter().map(|region| region.relief).fold(0.0, f64::max),
            "blamed" => blamed(played, &measure.job(0)?.to_string()),
            "series" => series(played, measure, true)?,
            "series_outside" => series(played, measure, false)?,
            "incidents" => {
                let word = measure.argument(0)?;
                played.incidents.iter().filter(|incident| *incident == word).count() as f64
            }
            "paths_s" => paths_s(played, measure)?,
            "sends_mb_per_s" => sends_mb_per_s(played, measure)?,
            "episodes" => {
                let pattern = Regex::new(measure.argument(0)?)?;
                played.episodes.iter().filter(|series| pattern.is_match(series)).count() as f64
            }
            _ => {
                let number = measure.job(0)?;
                let job = played.jobs.iter().find(|job| job.job_id == number);
                of_job(job.with_context(|| format!("{measure}: there is no job {number}"))?, measure)?
            }
        })
    }

    fn standing(&self, measure: &Measure) -> anyhow::Result<f64> {
        if let Some(spec) = &self.case.requests {
            return of_requests(spec, self.seed, measure);
        }
        if let Some(spec) = &self.case.messages {
            return of_messages(spec, measure);
        }
        let setup = self.setup.as_ref().with_context(|| format!("{measure}: the case has no network"))?;
        let topology = &setup.topology;
        Ok(match measure.name.as_str() {
            "hosts" => topology.vertices_of(VertexKind::Host).count() as f64,
            "links" => links(setup, measure.argument(0)?)?.len() as f64,
            "level" => {
                let level: u8 = measure.argument(0)?.parse().context("a level is a number")?;
                topology.vertices().filter(|vertex| topology.level(*vertex) == Some(level)).count() as f64
            }
            "sent" => {
                let link = *links(setup, measure.argument(1)?)?.first().context("there is no such link")?;
                job(setup, measure.job(0)?)?.bytes_per_s / topology.bytes_per_s(link)
            }
            "cycles" => self.cycles(measure.job(0)?, setup)?,
            "shared" => shared(setup, measure.job(0)?, measure.job(1)?)?,
            "descends" => descends(setup, measure.job(0)?)?,
            "bandwidth" => bandwidth(setup, job(setup, measure.job(0)?)?)?,
            "ring_bandwidth" => ring_bandwidth(setup, job(setup, measure.job(0)?)?)?,
            _ => load(setup, measure)?,
        })
    }
}

impl Facts<'_> {
    fn cycles(&self, job_id: u64, setup: &Setup) -> anyhow::Result<f64> {
        let spec = self.specs.iter().find(|spec| spec.id == job_id).and_then(|spec| spec.io.as_ref());
        let collective = spec.and_then(|io| Some((io.collective?, io.writers)));
        let (collective, writers) =
            collective.with_context(|| format!("job {job_id} has no collective I/O"))?;
        Ok(collective.cycles(job(setup, job_id)?.nodes.len(), writers))
    }
}

fn of_saved(saved: &Saved, measure: &Measure) -> anyhow::Result<f64> {
    let interval = || format!("{measure}: fewer than five seeds have no interval");
    Ok(match measure.name.as_str() {
        "saved_s" => saved.saved_s,
        "saved_lo_s" => saved.saved_lo_s.with_context(interval)?,
        "saved_hi_s" => saved.saved_hi_s.with_context(interval)?,
        "saved_least_s" => saved.saved_least_s,
        "saved_share" => saved.saved_s / saved.silent_s,
        "late_s" => saved.late_s,
        "waited_s" => saved.waited_s,
        _ => anyhow::bail!("{measure}: the case has a file system and no network"),
    })
}

fn of_job(job: &JobPlayed, measure: &Measure) -> anyhow::Result<f64> {
    let run_s = || job.end_s.map(|end_s| end_s - job.start_s).context("the job had not ended");
    let found = || job.found.with_context(|| format!("{measure}: Tailback reports nothing of the job"));
    Ok(match measure.name.as_str() {
        "run_s" => run_s()?,
        "alone_s" => job.alone_s,
        "slowdown" => run_s()? / job.alone_s,
        "lost_self_s" => job.lost_self_s,
        "lost_others_s" => job.lost_others_s,
        "lost_failover_s" => job.lost_failover_s,
        "found_s" => found()?.slowdown_s,
        "found_lo_s" => found()?.lo_s,
        "found_hi_s" => found()?.hi_s,
        "found_self_s" => found()?.self_s,
        "found_others_s" => found()?.others_s,
        "completeness" => found()?.completeness,
        "laid_to" => laid_to(job, measure.argument(1)?),
        _ => anyhow::bail!("{measure} is no measure of a job"),
    })
}

fn laid_to(job: &JobPlayed, source: &str) -> f64 {
    let is_of = |cause: &&(String, String, f64)| cause.0 == source || cause.1 == source;
    job.causes.iter().filter(is_of).map(|(.., share)| share).sum()
}

fn paths_s(played: &Played, measure: &Measure) -> anyhow::Result<f64> {
    let state = measure.argument(0)?;
    let states = within(&played.paths, measure, 1)?;
    Ok(states.iter().filter(|found| found.name() == state).count() as f64)
}

fn sends_mb_per_s(played: &Played, measure: &Measure) -> anyhow::Result<f64> {
    let sent = within(&played.sent, measure, 0)?;
    Ok(sent.iter().sum::<f64>() / sent.len().max(1) as f64 / 1e6)
}

/// What is known of a host in the seconds that a measure names, from the argument `at` on: host, first second, last.
fn within<'p, T>(of: &'p BTreeMap<String, Vec<T>>, measure: &Measure, at: usize) -> anyhow::Result<&'p [T]> {
    let second = |at| -> anyhow::Result<usize> {
        measure.argument(at)?.parse().with_context(|| format!("{measure}: seconds are whole numbers"))
    };
    let host = measure.argument(at)?;
    let hosts = || of.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let known =
        of.get(host).with_context(|| format!("{measure}: links fail of these hosts alone: {}", hosts()))?;
    let seconds = known.get(second(at + 1)?..second(at + 2)?);
    seconds.with_context(|| format!("{measure}: the case lasts {} seconds", known.len()))
}

fn blamed(played: &Played, job: &str) -> f64 {
    let is_other = |cause: &str| matches!(cause, "other_job" | "io_on_mpi");
    let of_region = |region: &super::play::RegionPlayed| -> f64 {
        region
            .causes
            .iter()
            .filter(|(cause, source, _)| is_other(cause) && source == job)
            .map(|(.., share)| share)
            .sum()
    };
    played.regions.iter().map(of_region).fold(0.0, f64::max)
}

fn series(played: &Played, measure: &Measure, inside: bool) -> anyhow::Result<f64> {
    let pattern = Regex::new(measure.argument(0)?)?;
    let all: BTreeSet<&String> = played.regions.iter().flat_map(|region| &region.series).collect();
    Ok(all.into_iter().filter(|series| pattern.is_match(series) == inside).count() as f64)
}

/// The links of a class, see [`super::measure`].
fn links(setup: &Setup, class: &str) -> anyhow::Result<Vec<LinkIndex>> {
    let topology = &*setup.topology;
    let level = |vertex: VertexIndex| topology.level(vertex).unwrap_or(0);
    let of = |wanted: &dyn Fn(LinkIndex) -> bool| topology.links().filter(|link| wanted(*link)).collect();
    Ok(match class {
        "all" => topology.links().collect(),
        "inner" => of(&|link| is_inner(topology, link)),
        "level3" => of(&|link| level(topology.from(link)).max(level(topology.to(link))) == 3),
        "first_group" => of(&|link| {
            topology.class(link) == LinkClass::Global && topology.group(topology.from(link)) == Some(0)
        }),
        "uplinks" => {
            let host = setup.jobs.first().and_then(|job| job.nodes.first()).context("the case has no job")?;
            let leaf = topology.links_from(*host).next().map(|link| topology.to(link));
            of(&|link| Some(topology.from(link)) == leaf && is_inner(topology, link))
        }
        _ => {
            let class = LinkClass::ALL.iter().find(|known| known.name() == class);
            let class = *class.context("there is no such class of links")?;
            of(&|link| topology.class(link) == class)
        }
    })
}

fn load(setup: &Setup, measure: &Measure) -> anyhow::Result<f64> {
    let jobs: Vec<LabJob> = match measure.arguments.len() {
        0 | 1 => setup.jobs.clone(),
        _ => vec![job(setup, measure.job(1)?)?.clone()],
    };
    let loads = lab::asked(&setup.topology, setup.routing, &jobs, setup.seed);
    let links = links(setup, measure.argument(0)?).with_context(|| measure.to_string())?;
    let of_links: Vec<f64> = links.iter().map(|link| loads[link.at()]).collect();
    let used = of_links.iter().filter(|load| **load > 0.0).count();
    let (sum, most) = (of_links.iter().sum::<f64>(), of_links.iter().copied().fold(0.0, f64::max));
    Ok(match measure.name.as_str() {
        "load_max" => most,
        "load_sum" => sum,
        "load_mean" => sum / used.max(1) as f64,
        "idle" => (of_links.len() - used) as f64,
        "max_over_mean" => most / (sum / of_links.len().max(1) as f64),
        _ => anyhow::bail!("{measure} is no measure of a network"),
    })
}

fn job(setup: &Setup, job_id: u64) -> anyhow::Result<&LabJob> {
    setup.jobs.iter().find(|job| job.job_id == job_id).with_context(|| format!("there is no job {job_id}"))
}

/// Utilisations by the writes of a job alone.
fn writes(setup: &Setup, job_id: u64) -> anyhow::Result<Vec<f64>> {
    let writer = LabJob { bytes_per_s: 0.0, ..job(setup, job_id)?.clone() };
    anyhow::ensure!(writer.io.is_some(), "job {job_id} writes nothing");
    Ok(lab::asked(&setup.topology, setup.routing, &[writer], setup.seed))
}

fn shared(setup: &Setup, messages: u64, writer: u64) -> anyhow::Result<f64> {
    let sender = job(setup, messages)?.clone();
    let sent = lab::asked(&setup.topology, setup.routing, &[LabJob { io: None, ..sender }], setup.seed);
    let written = writes(setup, writer)?;
    let both = |link: &LinkIndex| sent[link.at()] > 0.0 && written[link.at()] > 0.0;
    Ok(links(setup, "inner")?.into_iter().filter(|link| both(link)).count() as f64)
}

fn descends(setup: &Setup, writer: u64) -> anyhow::Result<f64> {
    let topology = &setup.topology;
    let written = writes(setup, writer)?;
    let down = |link: &LinkIndex| {
        topology.level(topology.from(*link)) == Some(2) && topology.level(topology.to(*link)) == Some(1)
    };
    let used = links(setup, "inner")?.into_iter().filter(|link| down(link) && written[link.at()] > 0.0);
    Ok(used.map(|link| topology.from(link)).collect::<BTreeSet<_>>().len() as f64)
}

fn bandwidth(setup: &Setup, job: &LabJob) -> anyhow::Result<f64> {
    let host = *job.nodes.first().context("the job has no nodes")?;
    let link = setup.topology.links_from(host).next().context("its first host has no link")?;
    let of_flows =
        lab::flow_bandwidths(&setup.topology, setup.routing, std::slice::from_ref(job), setup.seed);
    anyhow::ensure!(!of_flows.is_empty(), "the job sends nothing");
    Ok(of_flows.iter().sum::<f64>() / of_flows.len() as f64 / setup.topology.bytes_per_s(link))
}

fn ring_bandwidth(setup: &Setup, job: &LabJob) -> anyhow::Result<f64> {
    let steps = 1..job.nodes.len();
    let count = steps.len().max(1);
    let of_step = |step| bandwidth(setup, &LabJob { pattern: Pattern::Ring { step }, ..job.clone() });
    Ok(steps.map(of_step).sum::<anyhow::Result<f64>>()? / count as f64)
}
