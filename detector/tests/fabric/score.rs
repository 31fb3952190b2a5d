//! What was found, compared with the truth.

use crate::integration::fabric::play::{Played, play};
use samplers::lab::scenarios::{Labelled, ScenarioKind, labelled};
use samplers::lab::{LabTruth, LinkLoss};
use schemas::{Cause, CauseKind, Region};
use std::collections::BTreeMap;
use topology::LinkIndex;

/// Truly contended seconds of its links from which a region is no false one.
const TRUE_SECONDS: u32 = 5;
/// Seconds lost in truth from which a job's loss is compared.
const LOSS_LEAST_S: f64 = 5.0;

/// One region and the truth about its links. Some fields are printed by failures only.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "shown when a limit does not hold")]
pub struct RegionScore {
    pub case: ScenarioKind,
    pub seed: u64,
    pub name: String,
    pub found: (Cause, CauseKind),
    /// `None`: its links were not contended.
    pub truth: Option<(Cause, CauseKind)>,
    /// Whether the job that truly takes most is the first that is named.
    pub culprit: Option<bool>,
    pub from_s: u32,
    pub until_s: u32,
    pub links: u32,
    pub peak: f64,
}

/// A job's loss and its true value, in seconds: to others and failures. Some fields are printed by failures only.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "shown when a limit does not hold")]
pub struct LossScore {
    pub case: ScenarioKind,
    pub seed: u64,
    pub job_id: u64,
    pub found_s: f64,
    pub truth_s: f64,
    pub own_found_s: f64,
    pub own_truth_s: f64,
}

/// All cases of some seeds.
#[derive(Debug, Default)]
pub struct Scores {
    pub regions: Vec<RegionScore>,
    pub losses: Vec<LossScore>,
    /// Cases with contention in which no region is true.
    pub missed: Vec<(ScenarioKind, u64)>,
    pub cases: usize,
}

/// Plays all classes with `seeds`.
pub fn score(seeds: std::ops::Range<u64>, tables: bool) -> Scores {
    let mut scores = Scores::default();
    for kind in ScenarioKind::ALL {
        for seed in seeds.clone() {
            let case = labelled(kind, seed).unwrap();
            let played = play(&case, tables);
            scores.add(kind, seed, &case, &played);
        }
    }
    scores
}

impl Scores {
    fn add(&mut self, case: ScenarioKind, seed: u64, label: &Labelled, played: &Played) {
        self.cases += 1;
        let of = |region: &Region| region_score(case, seed, region, played);
        let regions: Vec<RegionScore> = played.regions.iter().map(of).collect();
        if label.expected.cause.is_some() && regions.iter().all(|region| region.truth.is_none()) {
            self.missed.push((case, seed));
        }
        self.regions.extend(regions);
        for job in &played.truth.jobs {
            let [own_found_s, found_s] = played.lost[&job.job_id];
            let truth_s = job.lost.longer_s();
            let (own_truth_s, job_id) = (job.lost.self_s, job.job_id);
            if job.known && (truth_s > LOSS_LEAST_S || found_s > LOSS_LEAST_S) {
                self.losses.push(LossScore {
                    case,
                    seed,
                    job_id,
                    found_s,
                    truth_s,
                    own_found_s,
                    own_truth_s,
                });
            }
        }
    }

    /// Share of true regions whose cause, and whose kind, is right.
    pub fn right(&self) -> [f64; 2] {
        let judged: Vec<_> = self.regions.iter().filter_map(|r| Some((r.found, r.truth?))).collect();
        let share = |right: usize| right as f64 / judged.len().max(1) as f64;
        let causes = judged.iter().filter(|(found, truth)| found.0 == truth.0).count();
        let kinds = judged.iter().filter(|(found, truth)| found.1 == truth.1).count();
        [share(causes), share(kinds)]
    }

    /// Regions whose links were not contended.
    pub fn false_regions(&self) -> usize {
        self.regions.iter().filter(|region| region.truth.is_none()).count()
    }
}

fn region_score(case: ScenarioKind, seed: u64, region: &Region, played: &Played) -> RegionScore {
    let links: Vec<LinkIndex> = region.series.iter().filter_map(|name| link_of(played, name)).collect();
    let start = samplers::lab::START.seconds();
    let from = (region.start.seconds() - start).max(0.0) as u32;
    let until = (region.end.seconds() - start) as u32;
    let truth = truth_of(&played.truth, &links, from..until, region.kind);
    let named = region.causes.iter().find(|cause| matches!(cause.cause, Cause::OtherJob | Cause::IoOnMpi));
    let culprit = truth.as_ref().and_then(|(_, _, culprit)| {
        let culprit = (*culprit)?;
        Some(named.is_some_and(|cause| cause.series_or_job == culprit.to_string()))
    });
    let (name, found) = (region.name.clone(), (region.cause, region.kind));
    RegionScore {
        case,
        seed,
        name,
        found,
        truth: truth.map(|(cause, kind, _)| (cause, kind)),
        culprit,
        from_s: from,
        until_s: until,
        links: region.links_most,
        peak: region.peak,
    }
}

fn link_of(played: &Played, name: &str) -> Option<LinkIndex> {
    let topology = &played.network.topology;
    topology.links().find(|link| topology.series_name(*link).as_deref() == Some(name))
}

/// Cause and kind of what the links' victims lost most to, and the job that is no victim and takes most.
fn truth_of(
    truth: &LabTruth,
    links: &[LinkIndex],
    seconds: std::ops::Range<u32>,
    found: CauseKind,
) -> Option<(Cause, CauseKind, Option<u64>)> {
    let mut causes: BTreeMap<Cause, f64> = BTreeMap::new();
    let mut kinds = [0.0; CauseKind::ALL.len()];
    let mut culprits: BTreeMap<u64, f64> = BTreeMap::new();
    let mut count = 0;
    for second in seconds {
        let all = |lost: LinkLoss| lost.own + lost.mpi + lost.io + lost.unknown + lost.failover;
        let contended = || links.iter().filter_map(|link| truth.link_at(*link, second));
        // A job that waits there waits for the worst link; of links within 15% of it any may be named.
        let worst = contended().max_by(|a, b| all(a.lost).total_cmp(&all(b.lost)));
        let as_bad = worst.and_then(|worst| {
            contended().find(|link| link.kind == found && all(link.lost) > 0.85 * all(worst.lost))
        });
        if let Some(found) = as_bad.or(worst) {
            count += 1;
            let lost = found.lost;
            for (cause, lost) in [
                (Cause::SelfInflicted, lost.own),
                (Cause::OtherJob, lost.mpi),
                (Cause::IoOnMpi, lost.io),
                (Cause::Unknown, lost.unknown),
                (Cause::FailoverInduced, lost.failover),
            ] {
                *causes.entry(cause).or_default() += lost;
            }
            kinds[found.kind as usize] += all(lost);
            for aggressor in found.aggressors.iter().filter(|a| a.job_id != found.victim && a.known) {
                *culprits.entry(aggressor.job_id).or_default() += aggressor.share * (lost.mpi + lost.io);
            }
        }
    }
    let cause = causes.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(cause, _)| *cause)?;
    let kind = CauseKind::ALL.into_iter().max_by(|a, b| kinds[*a as usize].total_cmp(&kinds[*b as usize]))?;
    let culprit = culprits.into_iter().filter(|(_, w)| *w > 0.0).max_by(|a, b| a.1.total_cmp(&b.1));
    (count >= TRUE_SECONDS).then_some((cause, kind, culprit.map(|(job, _)| job)))
}
