//! A second of the stage: what changed of the links, regions, a look at those that are new or changed, losses, reports.

use super::Fabric;
use super::live::{Hurt, Live};
use super::losses::LinkLosses;
use super::receivers;
use super::regions::{Change, Stalling};
use super::sent::GRID_TICKS;
use super::tick::{self, LinkTick};
use super::victims::Ended;
use schemas::{Job, Name, Region, RegionChange, RegionStep};
use std::collections::BTreeMap;

/// Seconds after its end when a job is forgotten here.
const FORGOTTEN_S: f64 = 900.0;
/// Ticks that a region lasts before it is reported.
const LASTED_TICKS: i64 = 8;
/// The same of one that is contended for a host that takes no more.
const SELDOM_STALE_TICKS: i64 = tick::AGAIN_TICKS + 2;
/// Part of a second that at least one job must lose for a region to be reported.
const WAITS_LEAST: f64 = 0.03;
/// Ticks without an update after which a contended link is unknown.
const STALE_TICKS: i64 = tick::AGAIN_CONTENDED_TICKS + 2;
/// Ticks after which a job that lost something is reported again by its progress.
const PROGRESS_REPORTED_TICKS: i64 = 30;
/// Ticks between two looks at what can be forgotten.
const TIDIED_TICKS: i64 = 60;

impl Fabric {
    /// What changed of the links, regions, a look at those that are new or changed, losses.
    pub(super) fn second(&mut self, tick: &LinkTick) {
        let since = self.update(tick);
        tick.events.iter().for_each(|event| self.link_event(event));
        self.now = tick.tick;
        if !tick.is_empty() {
            self.latest_tick = tick.tick;
        }
        self.forget_stale();
        let stalling = self.stalling();
        for change in self.book.step(tick.tick, &stalling) {
            self.change(&change, &since);
        }
        self.note_members();
        self.look();
        self.lose();
        self.announce();
        self.note_progress();
        self.tidy();
    }

    /// Takes what changed; for series whose contention began, how many ticks ago.
    fn update(&mut self, tick: &LinkTick) -> BTreeMap<u32, i64> {
        let mut since = BTreeMap::new();
        for report in &tick.reports {
            let number = report.series.0;
            self.links.set(number, report, tick.tick);
            let metric = self.links.info[report.series.at()].metric;
            let is_link = !metric.is_progress() && report.exceeds_background(metric);
            let known = report.active && f64::from(report.value) >= self.settings.known_ratio;
            if is_link && (report.contended || known) {
                if self.stalling.insert(number) {
                    since.insert(number, tick.tick - i64::from(report.since_ticks));
                }
            } else {
                self.stalling.remove(&number);
            }
        }
        self.note_full_hosts(tick);
        since.extend(self.note_filled());
        self.stalling.extend(self.filled.values().filter_map(|filled| filled.busiest));
        since
    }

    /// Links that came with contention have no baseline that shows it. Those that stall for a host that takes no more show it by
    /// what their router passes on.
    fn note_full_hosts(&mut self, tick: &LinkTick) {
        let Some(network) = self.network.as_ref() else { return };
        for report in tick.reports.iter().filter(|report| report.active && !report.contended) {
            let number = report.series.0;
            let metric = self.links.info[report.series.at()].metric;
            if metric.is_link()
                && report.exceeds_background(metric)
                && receivers::stalls_for_full_host(&network.topology, &self.links, number)
            {
                self.stalling.insert(number);
            }
        }
    }

    /// A contended link is reported every few seconds. Whether one without a report is still contended is unknown.
    fn forget_stale(&mut self) {
        let (links, now) = (&self.links, self.now);
        self.stalling.retain(|series| {
            let at = *series as usize;
            let is_often = links.contended[at] || tick::is_high(links.value[at]);
            now - links.reported_at[at] <= if is_often { STALE_TICKS } else { SELDOM_STALE_TICKS }
        });
    }

    fn stalling(&self) -> Vec<Stalling> {
        let topology = self.network.as_ref().map(|network| &network.topology);
        let of = |series: &u32| {
            let ends = self.links.ends(*series, topology)?;
            Some(Stalling { series: *series, ends, ratio: self.links.value[*series as usize] })
        };
        self.stalling.iter().filter_map(of).collect()
    }

    fn change(&mut self, change: &Change, since: &BTreeMap<u32, i64>) {
        let step = RegionStep {
            time: self.time(self.now),
            change: change.change,
            other: change.other,
            links: 0,
            worst_series: String::new(),
            worst: 0.0,
        };
        if change.change == RegionChange::Began {
            self.begin(change, since);
        }
        self.changed.insert(change.id);
        let Some(live) = self.live.get_mut(&change.id) else { return };
        live.region.steps.push(step);
        if matches!(change.change, RegionChange::Ended | RegionChange::WentInto)
            && let Some(mut live) = self.live.remove(&change.id)
        {
            live.region.open = false;
            if let Some(step) = live.region.steps.last_mut() {
                (step.links, step.worst) = (0, live.region.peak);
                step.worst_series = live.region.series.first().cloned().unwrap_or_default();
            }
            live.conclude(self.job_losses());
            if live.is_reported {
                self.ended.insert(change.id, Ended::new(live.region, live.victims, self.now));
            }
        }
    }

    fn begin(&mut self, change: &Change, since: &BTreeMap<u32, i64>) {
        let Some((_, members)) = self.book.open().find(|(id, _)| *id == change.id) else { return };
        let began = members.iter().filter_map(|series| since.get(series)).min();
        let onset = began.copied().unwrap_or(self.now);
        let Some(first) = members.first() else { return };
        let metric = self.links.info[*first as usize].metric;
        let region = Region::begun(change.id, metric, self.time(onset), self.time(self.now));
        self.live.insert(change.id, Live::new(region, onset));
    }

    /// Charges each job with the worst of the regions that it is in: it waits for its slowest link.
    fn lose(&mut self) {
        let Some(network) = self.network.clone() else { return };
        let now = self.time(self.now);
        let mut worst: BTreeMap<Name, (i64, Hurt)> = BTreeMap::new();
        let mut begun = Vec::new();
        for (id, live) in self.live.iter_mut().filter(|(_, live)| live.region.links > 0) {
            // The first look comes some seconds after the onset; till then it was as it is now.
            let first = live.judged == Some((self.now, live.region.links)) && live.region.victims.is_empty();
            let back = if first { self.now - live.onset } else { 1 };
            let seconds = back.max(1) as f64 * self.settings.tick_s;
            let runs = |job_id: &Name| {
                let job = self.jobs.get(job_id);
                job.is_some_and(|job| job.overlaps(now.plus_seconds(-seconds), now))
            };
            for (job_id, hurt) in live.hurt(&self.links, &network.topology, seconds, runs) {
                let known = worst.get(&job_id).is_some_and(|(_, w)| w.lost.sum() >= hurt.lost.sum());
                if !known {
                    worst.insert(job_id, (back.max(1), hurt));
                }
            }
            if first {
                begun.push(*id);
            }
        }
        for (job_id, (ticks, hurt)) in worst {
            let Some(job) = self.jobs.get(&job_id) else { continue };
            let losses = self.losses.entry(job_id).or_default();
            losses.add(job, self.now, ticks, &hurt, self.settings.tick_s);
        }
        for id in begun {
            self.conclude(id);
        }
    }

    /// A region is reported when it has lasted and a job waits in it. Without a network or known jobs waiting is unknown.
    fn announce(&mut self) {
        let known = self.settings.known_ratio;
        for (id, live) in self.live.iter_mut().filter(|(_, l)| !l.is_reported && l.region.links > 0) {
            let lasted = self.now - live.onset >= LASTED_TICKS;
            let waits =
                live.worst >= WAITS_LEAST || live.parties.jobs.is_empty() || live.region.peak >= known;
            if lasted && waits {
                live.is_reported = true;
                self.changed.insert(*id);
            }
        }
    }

    /// Notes what the nodes of running jobs sent so far; a job that lost something is reported again, as what it lost is known
    /// better later.
    fn note_progress(&mut self) {
        // A quiet machine has ticks in which nothing is reported.
        // Samples are of the same ticks wherever the stream begins.
        let sample = |tick: i64| tick.div_euclid(GRID_TICKS);
        if sample(self.now) == sample(self.sampled_at) {
            return;
        }
        let is_due = self.sampled_at.div_euclid(PROGRESS_REPORTED_TICKS)
            != self.now.div_euclid(PROGRESS_REPORTED_TICKS);
        self.measure_progress(is_due);
    }

    /// Samples the progress of running jobs, and measures what they lost: all of them, or those whose end or last
    /// samples are new.
    pub(super) fn measure_progress(&mut self, all: bool) {
        let Some(network) = self.network.as_ref() else { return };
        self.sampled_at = self.now;
        let now = self.time(self.now);
        for (job_id, job) in self.jobs.iter().filter(|(_, job)| job.start <= now) {
            let progress = self.progress.entry(job_id.clone()).or_default();
            let tick_of = |time| tick::tick_of(time, self.settings.tick_s);
            let runs = (tick_of(job.start), job.end.filter(|end| *end <= now).map(tick_of));
            let was_settled = progress.is_settled();
            let is_new = progress.sample(job, runs, self.now, &self.links, &network.topology);
            if (all && !was_settled || is_new)
                && let Some(losses) = self.losses.get_mut(job_id)
            {
                losses.measure(job, progress, self.settings.tick_s);
            }
        }
        self.follow_ended();
    }

    fn tidy(&mut self) {
        if self.now % TIDIED_TICKS != 0 || self.latest_tick == i64::MIN {
            return;
        }
        let now = self.time(self.latest_tick);
        let losses = &self.losses;
        let has_changed = |job_id: &Name| losses.get(job_id).is_some_and(LinkLosses::has_changed);
        let recent = |job: &Job| job.end.is_none_or(|end| now.seconds_since(end) < FORGOTTEN_S);
        self.jobs.retain(|job_id, job| recent(job) || has_changed(job_id));
        let jobs = &self.jobs;
        // Losses that were not reported yet wait for `take_parts`.
        self.losses.retain(|job_id, losses| jobs.contains_key(job_id) || losses.has_changed());
        self.progress.retain(|job_id, _| jobs.contains_key(job_id));
    }
}
