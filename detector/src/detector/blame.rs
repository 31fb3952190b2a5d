//! Judgement of falls, and the causes of an onset.

use super::Detector;
use crate::evidence::{self, Client, Evidence, Mount, Scene, Shift, Taker};
use crate::gains::Gain;
use crate::model::{Judgement, ModelEvent, Suspicion};
use schemas::{Cause, CauseKind, CauseShare, Job, Name, SeriesIndex, Time};
use std::collections::BTreeSet;

/// Seconds between a job's start and an onset that make it a suspect, and the share of the loss that such
/// a coincidence explains.
const COINCIDENCE_S: f64 = 3.0;
const COINCIDENCE_SHARE: f64 = 0.8;

/// Least share of a block's ticks that must have been seen for the block to be used.
const SEEN_SHARE: f64 = 0.7;
/// Shifts kept for the suspicions that follow in the same tick.
const SHIFTS_KEPT: usize = 8;

impl Detector {
    /// Judges a fall, once the others' rows of that time must have come.
    pub(super) fn consider(&mut self, series: SeriesIndex, time: Time, suspicion: &Suspicion) {
        let slot = self.series[series.at()];
        let mount = self.mount_of(series);
        let has_others =
            |mount: &Mount| self.has_other_clients(mount, series) || self.ingest.is_served(&mount.1);
        let evidence = match mount.filter(has_others) {
            None => Evidence::alone(),
            Some(_) if !self.is_decidable(suspicion, time) => return,
            Some(mount) if !self.has_evidence(&mount, series, suspicion) => Evidence::alone(),
            Some(mount) => {
                let own = self.jobs_of(series, suspicion.start).next().cloned();
                let shift = self.shift(&mount, suspicion);
                let client = Client { series, metric: slot.metric, number: slot.number as usize };
                let found = shift.judge(suspicion, client, own.as_ref());
                // What a server counts proves who took something; that none did, only the clients prove.
                let is_taken = found.judgement != Judgement::OwnPhase;
                if shift.has_witnesses(series) || is_taken { found } else { Evidence::alone() }
            }
        };
        if evidence.may_be_server {
            self.coverage.hold(series, suspicion.start);
        }
        let causes = self.blame(series, suspicion, &evidence);
        let event = self.banks[slot.metric.at()].judge(slot.number as usize, evidence.judgement);
        if event == ModelEvent::Began {
            self.hold_gainers(series, time, suspicion);
            let onset = if evidence.has_others && !evidence.by_node { Some(causes.clone()) } else { None };
            self.begin(series, time, causes);
            onset.into_iter().for_each(|onset| self.follow_takers(series, onset));
        }
    }

    /// Whether other nodes than that of `series` were seen on a file system: a second mount of the same node is no other.
    fn has_other_clients(&self, mount: &Mount, series: SeriesIndex) -> bool {
        let table = self.ingest.series();
        let own = &table[series.at()].component;
        let is_other = |client: &SeriesIndex| table[client.at()].component != *own;
        self.clients.get(mount).is_some_and(|clients| clients.iter().any(is_other))
    }

    /// Whether other clients were seen, or servers count by job at the time in question.
    fn has_evidence(&mut self, mount: &Mount, series: SeriesIndex, suspicion: &Suspicion) -> bool {
        let tick_s = self.settings.stream.tick_s;
        let tick = (evidence::decidable_at(suspicion, tick_s).seconds() / tick_s).round() as i64;
        self.settle_served(tick);
        self.has_other_clients(mount, series)
            || self.served.get(mount).is_some_and(|served| served.is_current(tick))
    }

    /// Whether the others' rows of the time in question must have come.
    fn is_decidable(&self, suspicion: &Suspicion, time: Time) -> bool {
        let stream = &self.settings.stream;
        let half_tick_s = stream.tick_s / 2.0;
        let sampled = evidence::decidable_at(suspicion, stream.tick_s);
        time.seconds_since(sampled) >= stream.lateness_s - half_tick_s
    }

    /// The clients that took what the series lost reached their level in contention, which may cost them too.
    fn hold_gainers(&mut self, series: SeriesIndex, time: Time, suspicion: &Suspicion) {
        let Some(mount) = self.mount_of(series) else { return };
        let gain = Gain { at: time, since: suspicion.start };
        let shift = self.shift(&mount, suspicion);
        let tick = shift.start_tick();
        for gainer in shift.gainers_without(gain, series) {
            self.gains.add(gainer, tick, gain);
            self.series[gainer.at()].has_gains = true;
        }
    }

    /// How the clients of `mount` changed, taken once per tick.
    fn shift(&mut self, mount: &Mount, suspicion: &Suspicion) -> &mut Shift {
        let tick_s = self.settings.stream.tick_s;
        let known = self.shifts.iter().position(|s| s.is_of(mount, suspicion, tick_s));
        let at = known.unwrap_or_else(|| {
            let client = |series: &SeriesIndex| {
                let slot = &self.series[series.at()];
                Client { series: *series, metric: slot.metric, number: slot.number as usize }
            };
            let clients: Vec<Client> = self.clients.get(mount).into_iter().flatten().map(client).collect();
            let jobs_of = |series: SeriesIndex, times: [Time; 2]| self.jobs_at(series, times);
            let was_seen = |series: SeriesIndex, from: Time, to: Time| {
                self.coverage.completeness(series, from, to, tick_s) > SEEN_SHARE
            };
            let scene = Scene { mount, clients: &clients, served: self.served.get(mount) };
            let shift = Shift::of(scene, &self.banks, suspicion, tick_s, was_seen, jobs_of);
            if self.shifts.len() == SHIFTS_KEPT {
                self.shifts.pop_front();
            }
            self.shifts.push_back(shift);
            self.shifts.len() - 1
        });
        &mut self.shifts[at]
    }

    /// Jobs that started on the router's nodes just when its links became contended. The coincidence is
    /// all that is known of them here, so a part of the loss stays unexplained.
    pub(super) fn newcomers(&self, series: SeriesIndex, onset: Time) -> Vec<CauseShare> {
        let router = &self.ingest.series()[series.at()].component;
        let nodes = self.ingest.nodes_of(router);
        let mut started: BTreeSet<&Name> = BTreeSet::new();
        for node in &nodes {
            let just_started = |job: &&Job| onset.seconds_since(job.start).abs() <= COINCIDENCE_S;
            let jobs = self.jobs.on_node_at(self.node_of_jobs(node), onset.plus_seconds(COINCIDENCE_S));
            started.extend(jobs.filter(just_started).map(|job| &job.job_id));
        }
        let share = COINCIDENCE_SHARE / started.len().max(1) as f64;
        let cause = |job: &Name| CauseShare {
            cause: Cause::OtherJob,
            kind: CauseKind::Unknown,
            series_or_job: job.to_string(),
            share,
        };
        started.into_iter().map(cause).collect()
    }

    /// Causes: clients that took what the series lost, by job where jobs are known, and what a slower server cost it.
    pub(super) fn blame(
        &self,
        series: SeriesIndex,
        suspicion: &Suspicion,
        evidence: &Evidence,
    ) -> Vec<CauseShare> {
        let own: Vec<Name> = self.jobs_of(series, suspicion.start).cloned().collect();
        let blamed = |(taker, share): &(Taker, f64)| self.cause_of(&own, taker, *share);
        let mut shares: Vec<CauseShare> = evidence.takers.iter().map(blamed).collect();
        if evidence.by_server > 0.0 {
            shares.push(self.cause_of_server(series, evidence.by_server));
        }
        if evidence.by_node {
            let node = self.cause_of_server(series, 1.0);
            shares.push(CauseShare { cause: Cause::Node, kind: CauseKind::Endpoint, ..node });
        }
        shares
    }

    /// A slower server as the cause of a `share` of what `series` lost.
    pub(super) fn cause_of_server(&self, series: SeriesIndex, share: f64) -> CauseShare {
        let series_or_job = self.ingest.series()[series.at()].name();
        CauseShare { cause: Cause::Server, kind: CauseKind::Capacity, series_or_job, share }
    }

    /// A job, or a client of no known job, as the cause of a `share` of what one of the jobs `own` lost.
    pub(super) fn cause_of(&self, own: &[Name], taker: &Taker, share: f64) -> CauseShare {
        let (cause, series_or_job) = match taker {
            Taker::Job(job) if own.contains(job) => (Cause::SelfInflicted, job.to_string()),
            Taker::Job(job) => (Cause::OtherJob, job.to_string()),
            Taker::Client(other) => {
                let cause = if own.is_empty() { Cause::Unknown } else { Cause::OtherJob };
                (cause, self.ingest.series()[other.at()].name())
            }
        };
        CauseShare { cause, kind: CauseKind::Capacity, series_or_job, share }
    }

    /// Jobs on the node of a series at `time`.
    pub(super) fn jobs_of(&self, series: SeriesIndex, time: Time) -> impl Iterator<Item = &Name> {
        self.jobs_with(series).filter(move |job| job.overlaps(time, time + 1)).map(|job| &job.job_id)
    }

    /// The first job on the node of a series at each of two times.
    fn jobs_at(&self, series: SeriesIndex, times: [Time; 2]) -> [Option<&Name>; 2] {
        let mut found = [None; 2];
        for job in self.jobs_with(series) {
            for (found, time) in found.iter_mut().zip(times) {
                if found.is_none() && job.overlaps(time, time + 1) {
                    *found = Some(&job.job_id);
                }
            }
        }
        found
    }

    /// Jobs that are kept on the node of a series.
    fn jobs_with(&self, series: SeriesIndex) -> impl Iterator<Item = &Job> {
        let node = &self.ingest.series()[series.at()].component;
        self.jobs.on_host(node, || self.ingest.is_ambiguous(node))
    }
}
