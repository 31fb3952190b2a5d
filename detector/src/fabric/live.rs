//! An open region: what its parties lose each second, and to which source.

use super::cause::{Lost, Parties, Party, Use, lost};
use super::kind::Finding;
use super::links::Links;
use super::narrowed::WaitsFor;
use super::shares;
use super::victims::{JobLosses, LEAST_SHARE, Victims};
use schemas::{Cause, CauseKind, Evidence, Name, Region, RegionCause};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use topology::Topology;

/// Confidence in ways that are assumed, not known.
const ASSUMED: f64 = 0.7;

/// A region and what its verdict rests on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Live {
    pub(super) region: Region,
    /// Whether it was reported.
    pub(super) is_reported: bool,
    pub(super) parties: Parties,
    /// Tick of the latest look at parties and kind, and links there were.
    pub(super) judged: Option<(i64, u32)>,
    /// First tick.
    pub(super) onset: i64,
    /// A parallel link that went down before it began: all that is lost is lost to that.
    pub(super) down: Option<u32>,
    /// Its links that wait for narrowed ones.
    pub(super) waits_for: WaitsFor,
    pub(super) victims: Victims,
    /// Seconds lost to each cause by all victims, and by those that were there before contention began: these
    /// are preferred, since jobs that came with it wait too.
    blame: BTreeMap<(Cause, String), f64>,
    blame_before: BTreeMap<(Cause, String), f64>,
    /// The largest part of a second that a job lost.
    pub(super) worst: f64,
    kinds: [f64; CauseKind::ALL.len()],
    kind_sure: f64,
    evidence: BTreeMap<String, Vec<Evidence>>,
}

/// What a victim loses in one region in one second.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hurt {
    pub(super) lost: Lost,
    /// What it loses if it does not wait for its slowest flow, but for the mean of them.
    pub(super) least: f64,
    /// The part of the second that only the fall of what it sends shows, not stalls: it is possible, not sure.
    pub(super) by_fall: f64,
    /// Seconds by which the reading of one of its links is off the tick: it covers partly another second.
    pub(super) off_s: f64,
    /// Losses by source, as parts of the second.
    pub(super) to: BTreeMap<(Cause, String), f64>,
    pub(super) kind: CauseKind,
    /// Whether it was there before contention began.
    pub(super) before: bool,
}

impl Live {
    pub(super) fn new(region: Region, onset: i64) -> Live {
        Live {
            region,
            is_reported: false,
            parties: Parties::default(),
            judged: None,
            onset,
            down: None,
            waits_for: WaitsFor::new(),
            victims: Victims::default(),
            blame: BTreeMap::new(),
            blame_before: BTreeMap::new(),
            worst: 0.0,
            kinds: [0.0; CauseKind::ALL.len()],
            kind_sure: 0.0,
            evidence: BTreeMap::new(),
        }
    }

    /// Takes what a look at it found.
    pub(super) fn judge(&mut self, parties: Parties, finding: Finding, tick: i64, weight: f64) {
        for party in &parties.jobs {
            let known = self.evidence.entry(party.job_id.to_string()).or_default();
            known.extend(party.evidence.iter().copied());
            known.sort();
            known.dedup();
        }
        self.parties = parties;
        self.judged = Some((tick, self.region.links));
        self.kinds[finding.kind as usize] += weight;
        self.kind_sure += weight * finding.confidence;
        self.region.relief = finding.relief.max(self.region.relief);
        let all: f64 = self.kinds.iter().sum();
        let best = CauseKind::ALL
            .into_iter()
            .max_by(|a, b| self.kinds[*a as usize].total_cmp(&self.kinds[*b as usize]));
        self.region.kind = best.unwrap_or(CauseKind::Unknown);
        let agreeing = self.kinds[self.region.kind as usize] / all.max(1e-9);
        self.region.kind_confidence = (agreeing * self.kind_sure / all.max(1e-9)).clamp(0.0, 1.0);
        if self.region.kind != CauseKind::Avoidable {
            self.region.relief = 0.0;
        }
    }

    /// What each party that `runs` loses in `seconds`; it is added to the region's victims.
    pub(super) fn hurt(
        &mut self,
        links: &Links,
        topology: &Topology,
        seconds: f64,
        runs: impl Fn(&Name) -> bool,
    ) -> Vec<(Name, Hurt)> {
        let mut all = Vec::with_capacity(self.parties.jobs.len());
        for party in self.parties.jobs.iter().filter(|party| runs(&party.job_id)) {
            let hurt = self.hurt_of(party, links, topology);
            if hurt.lost.sum() > 0.0 {
                all.push((party.job_id.clone(), hurt));
            }
        }
        for (job_id, hurt) in &all {
            self.victims.add(job_id, hurt.lost.sum() * seconds, hurt.least * seconds);
            for (source, lost) in &hurt.to {
                *self.blame.entry(source.clone()).or_default() += lost * seconds;
                if hurt.before {
                    *self.blame_before.entry(source.clone()).or_default() += lost * seconds;
                }
            }
            self.worst = self.worst.max(hurt.lost.sum());
        }
        all
    }

    fn hurt_of(&self, party: &Party, links: &Links, topology: &Topology) -> Hurt {
        let on_links: Vec<Lost> = party.uses.iter().map(|used| self.lost(used, links, topology)).collect();
        // A job waits for its slowest link.
        let slowest = (0..on_links.len()).max_by(|a, b| on_links[*a].sum().total_cmp(&on_links[*b].sum()));
        let worst = slowest.map_or_else(Lost::default, |at| on_links[at]);
        let by_stalls = party.uses.iter().map(|used| self.lost(&used.without_fall(), links, topology).sum());
        let by_fall = (worst.sum() - by_stalls.fold(0.0, f64::max)).max(0.0);
        let least = of_mean_flow(&party.uses, &on_links, links, topology).min(worst.sum() - by_fall);
        let mut to = BTreeMap::new();
        if worst.own > 0.0 {
            to.insert((Cause::SelfInflicted, party.job_id.to_string()), worst.own);
        }
        let missing = slowest.and_then(|at| self.missing(party.uses[at].series));
        if let Some(series) = missing {
            let name = links.info[series as usize].name();
            to.insert((Cause::FailoverInduced, name), worst.others());
        } else {
            self.lay_to_others(party, &on_links, worst, &mut to);
        }
        let before = party.uses.iter().any(|used| used.before_bytes_per_s.is_some());
        let off = |used: &Use| f64::from(links.off_ms[used.series as usize]).abs() / 1e3;
        let off_s = party.uses.iter().map(off).fold(0.0, f64::max);
        Hurt { lost: worst, least, by_fall, off_s, to, kind: self.region.kind, before }
    }

    /// The link whose missing capacity makes a link of the region wait.
    fn missing(&self, series: u32) -> Option<u32> {
        self.down.or_else(|| self.waits_for.get(&series).copied())
    }

    fn lost(&self, used: &Use, links: &Links, topology: &Topology) -> Lost {
        lost(used, links, topology, self.missing(used.series).is_some())
    }

    /// Adds to `to` what others took of what `party` loses on its worst link: those that it meets where no capacity is
    /// missing.
    fn lay_to_others(
        &self,
        party: &Party,
        on_links: &[Lost],
        worst: Lost,
        to: &mut BTreeMap<(Cause, String), f64>,
    ) {
        let contended = |(used, lost): (&Use, &Lost)| {
            if self.missing(used.series).is_some() { Lost::default() } else { *lost }
        };
        let contended: Vec<Lost> = party.uses.iter().zip(on_links).map(contended).collect();
        let mut named = 0.0;
        for ((cause, job), share) in shares::of_others(&self.parties, party, &contended) {
            let lost = share * if cause == Cause::IoOnMpi { worst.io } else { worst.mpi };
            named += lost;
            if lost > 0.0 {
                to.insert((cause, job.to_string()), lost);
            }
        }
        let rest = worst.others() - named;
        if rest > 1e-9 {
            let series = self.region.series.first().cloned().unwrap_or_default();
            *to.entry((Cause::Unknown, series)).or_default() += rest;
        }
    }

    /// Writes causes and victims into the region.
    pub(super) fn conclude(&mut self, known: JobLosses<'_>) {
        let blame = if self.blame_before.is_empty() { &self.blame } else { &self.blame_before };
        let all: f64 = blame.values().sum();
        let region = &mut self.region;
        let mut classes: BTreeMap<Cause, f64> = BTreeMap::new();
        blame.iter().for_each(|((cause, _), lost)| *classes.entry(*cause).or_default() += lost);
        let best = classes.iter().max_by(|a, b| a.1.total_cmp(b.1));
        region.cause = best.map_or(Cause::Unknown, |(cause, _)| *cause);
        let ways = if self.parties.ways_known { 1.0 } else { ASSUMED };
        let evidence = &self.evidence;
        let missing = if self.down.is_some() { Evidence::LinkDown } else { Evidence::LinkNarrowed };
        let causes = blame.iter().map(|((cause, source), lost)| {
            let evidence = match cause {
                Cause::FailoverInduced => vec![missing],
                _ => evidence.get(source).cloned().unwrap_or_default(),
            };
            let share = lost / all.max(1e-9);
            RegionCause {
                cause: *cause,
                series_or_job: source.clone(),
                share,
                confidence: share * ways,
                evidence,
            }
        });
        region.causes = causes.filter(|cause| cause.share > LEAST_SHARE).collect();
        // Sources of the region's cause first: the first of all is its verdict, with one confidence wherever it is shown.
        let cause = region.cause;
        region.causes.sort_by(|a, b| {
            let others = |of: &RegionCause| of.cause != cause;
            let by_share = b.share.total_cmp(&a.share).then(a.series_or_job.cmp(&b.series_or_job));
            others(a).cmp(&others(b)).then(by_share)
        });
        region.confidence =
            region.causes.first().filter(|first| first.cause == cause).map_or(0.0, |first| first.confidence);
        region.victims = self.victims.known(known, &region.victims);
    }
}

/// What the mean of a job's flows loses in a second, at least. A flow crosses at most one link from one level to the
/// next, so what is lost there adds up; levels do not, since the same flow may wait at several. Between switches of
/// one level a flow may take two links.
fn of_mean_flow(uses: &[Use], on_links: &[Lost], links: &Links, topology: &Topology) -> f64 {
    let mut steps: BTreeMap<(Option<u8>, Option<u8>, u8), f64> = BTreeMap::new();
    for (used, lost) in uses.iter().zip(on_links) {
        let Some(link) = links.link(used.series) else { continue };
        let (from, to) = (topology.level(topology.from(link)), topology.level(topology.to(link)));
        let part = if from == to { 0.5 } else { 1.0 };
        *steps.entry((from, to, topology.rail(link))).or_default() += part * used.crosses * lost.sum();
    }
    steps.into_values().fold(0.0, f64::max)
}
