//! Judgement of falls, and who is to blame for an onset.

use super::Detector;
use crate::evidence::{self, Evidence};
use crate::model::{Happening, Suspicion};
use schemas::{Cause, CauseKind, CauseShare, Job, Name, SeriesIndex, Time};
use std::collections::BTreeSet;

/// Seconds between a job's start and an onset that make it a suspect, and the share of the loss that such
/// a coincidence explains.
const COINCIDENCE_S: f64 = 3.0;
const COINCIDENCE_SHARE: f64 = 0.8;

impl Detector {
    /// Judges a fall, once the others' rows of that time must have come.
    pub(super) fn consider(&mut self, series: SeriesIndex, time: Time, suspicion: &Suspicion) {
        let place = self.series[series.at()];
        let none = Vec::new();
        let part = self.ingest.series()[series.at()].part.clone();
        let members = part.as_ref().and_then(|part| self.clients.get(part)).unwrap_or(&none);
        let waited = time.seconds_since(suspicion.since) >= self.settings.stream.lateness_s;
        if members.len() > 1 && !waited {
            return;
        }
        let bank = &self.banks[place.metric as usize];
        let own: Vec<&Name> = self.jobs_of(series, suspicion.start);
        let same_job = |m: u32| {
            let other = self.members[place.metric as usize][m as usize];
            self.jobs_of(other, suspicion.start).iter().any(|job| own.contains(job))
        };
        let evidence = evidence::judge(bank, members, place.number, suspicion, same_job);
        let causes = self.blame(series, suspicion, &evidence);
        let happening = self.banks[place.metric as usize].judge(place.number as usize, evidence.judgement);
        if happening == Happening::Began {
            self.begin(series, causes);
        }
    }

    /// Jobs that started on the router's nodes just when its links became contended. The coincidence is
    /// all that is known of them here, so a part of the loss stays unexplained.
    pub(super) fn newcomers(&self, series: SeriesIndex, onset: Time) -> Vec<CauseShare> {
        let router = &self.ingest.series()[series.at()].component;
        let nodes = self.ingest.nodes_of(router);
        let mut started: BTreeSet<&Name> = BTreeSet::new();
        for node in &nodes {
            let just_started = |job: &&Job| onset.seconds_since(job.start).abs() <= COINCIDENCE_S;
            let jobs = self.jobs.on_node_at(node, onset.plus_seconds(COINCIDENCE_S));
            started.extend(jobs.into_iter().filter(just_started).map(|job| &job.job_id));
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

    /// Who gained what the series lost, by job where jobs are known.
    pub(super) fn blame(
        &self,
        series: SeriesIndex,
        suspicion: &Suspicion,
        evidence: &Evidence,
    ) -> Vec<CauseShare> {
        let place = self.series[series.at()];
        let own = self.jobs_of(series, suspicion.start);
        let mut shares: Vec<CauseShare> = Vec::new();
        for (member, gain) in &evidence.gainers {
            let other = self.members[place.metric as usize][*member as usize];
            let theirs = self.jobs_of(other, suspicion.since);
            let (cause, name) = match theirs.first() {
                Some(job) if own.contains(job) => (Cause::SelfInflicted, job.to_string()),
                Some(job) => (Cause::OtherJob, job.to_string()),
                None if own.is_empty() => (Cause::Unknown, self.ingest.series()[other.at()].name()),
                None => (Cause::OtherJob, self.ingest.series()[other.at()].name()),
            };
            let share = gain / evidence.gained;
            match shares.iter_mut().find(|s| s.series_or_job == name) {
                Some(known) => known.share += share,
                None => {
                    shares.push(CauseShare { cause, kind: CauseKind::Capacity, series_or_job: name, share })
                }
            }
        }
        shares
    }

    pub(super) fn jobs_of(&self, series: SeriesIndex, time: Time) -> Vec<&Name> {
        let node = &self.ingest.series()[series.at()].component;
        self.jobs.on_node_at(node, time).into_iter().map(|job| &job.job_id).collect()
    }
}
