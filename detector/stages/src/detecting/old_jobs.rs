//! Jobs that were over long ago: reported to the database, and not kept in the state.
//!
//! Time is that of the stream, up to which all raw partitions were read: while older rows are read again, older jobs are kept.

use super::ordered::Ordered;
use aggregator::JobBook;
use schemas::{JobEvent, Time};
use std::borrow::Cow;

/// Seconds of the stream between two looks for jobs to forget.
const LOOK_S: f64 = 60.0;

impl Ordered {
    /// Passes whole jobs that were over long ago straight to the results; what is left of `events` comes back.
    pub(super) fn pass_old_jobs<'a>(&mut self, events: &'a [JobEvent]) -> Cow<'a, [JobEvent]> {
        if !events.iter().any(|event| self.is_old(event)) {
            return events.into();
        }
        let (old, current): (Vec<&JobEvent>, Vec<&JobEvent>) =
            events.iter().partition(|event| self.is_old(event));
        for event in old {
            for job in JobBook::default().fold(std::slice::from_ref(event)) {
                self.detector.pass_job(job);
            }
        }
        current.into_iter().cloned().collect::<Vec<_>>().into()
    }

    /// Whether the event describes a whole job that ended long ago. One of a single node may be one of many that describe
    /// the same job: it is kept for a minute.
    fn is_old(&self, event: &JobEvent) -> bool {
        event.nodes.len() > 1
            && event.start.is_some()
            && event.end.is_some_and(|end| end < self.over)
            && !self.jobs.knows(&event.job_id)
    }

    /// Forgets jobs that ended long before the stream's rows, all partitions being read up to `watermark`; whether it was
    /// time to look. Without newer rows than `newest` the stream stands still, and jobs may still be reported.
    pub(super) fn forget_jobs(&mut self, watermark: Time, newest: Option<Time>) -> bool {
        let now = newest.map_or(watermark, |newest| newest.min(watermark));
        let over = now.plus_seconds(-self.detector.settings().jobs_kept_s());
        if now == Time::MIN || (self.over != Time::MIN && over.seconds_since(self.over) < LOOK_S) {
            return false;
        }
        self.over = over;
        let open_max_s = self.detector.settings().jobs.open_max_s;
        self.jobs.forget_over(over, open_max_s);
        self.links.forget_jobs(over, open_max_s);
        self.detector.forget_jobs(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Detecting, DetectingSettings};
    use crate::stage::{Extent, Stage};
    use detector::model::ModelKind;
    use detector::settings::Settings;
    use schemas::wire::{Reached, begin_job_rows, end_job_rows, put_job_row, write_progress};
    use schemas::{JobEvent, Name, Time};
    use store::storage_policy::StoragePolicy;

    const NOW_S: f64 = 1_800_000_000.0;

    fn fresh() -> Detecting {
        let settings = DetectingSettings {
            settings: Settings::of(ModelKind::Robust),
            waiting_rows_max: 1_000,
            storage: Some(StoragePolicy::default()),
            links: true,
            alerts: false,
        };
        Detecting::fresh(0, &settings)
    }

    /// The raw partition was read up to `seconds` after the beginning.
    fn progress(work: &mut Detecting, seconds: f64) {
        let (mut message, time) = (Vec::new(), Time::from_seconds(NOW_S + seconds));
        let reached = [Reached { topic: "posted".to_string(), partition: 0, time }];
        write_progress(&mut message, "a", time, &reached);
        work.message(&message).unwrap();
    }

    /// Posts `count` jobs on 50 nodes each that ended `ago_s` before the beginning; how many jobs the results name.
    fn post(work: &mut Detecting, first: usize, count: usize, ago_s: f64) -> usize {
        let end = Time::from_seconds(NOW_S - ago_s);
        let event = |id: usize| JobEvent {
            time: end,
            nodes: (0..50).map(|node| Name::parse(&format!("n{node}")).unwrap()).collect(),
            job_id: Name::parse(&id.to_string()).unwrap(),
            label: String::new(),
            user: "cleo".to_string(),
            name: "md".to_string(),
            start: Some(end.plus_seconds(-600.0)),
            end: Some(end),
            seen: false,
        };
        let events: Vec<JobEvent> = (first..first + count).map(event).collect();
        let mut message = Vec::new();
        begin_job_rows(&mut message, "posted", 0);
        put_job_row(&mut message, first as i64, end, false, &events);
        end_job_rows(&mut message);
        work.message(&message).unwrap();
        progress(work, 1.0);
        work.drain(0, Extent::AllJobs).results.jobs.len()
    }

    #[test]
    fn old_jobs_are_reported_and_take_no_room_in_the_state() {
        let mut work = fresh();
        progress(&mut work, 0.0);
        assert_eq!(post(&mut work, 1, 10, 60.0), 10);
        let before = work.write().unwrap().len();
        assert_eq!(post(&mut work, 100, 200, 3.0 * 86_400.0), 200, "the database has them all");
        let after = work.write().unwrap().len();
        assert!(after < before + 100, "{before} bytes became {after}");
    }

    #[test]
    fn ended_jobs_leave_the_state_after_a_day_without_any_rows() {
        let mut work = fresh();
        progress(&mut work, 0.0);
        let before = work.write().unwrap().len();
        assert_eq!(post(&mut work, 1, 100, 60.0), 100);
        assert!(work.write().unwrap().len() > before + 20_000);
        progress(&mut work, 86_500.0);
        let after = work.write().unwrap().len();
        assert!(after < before + 500, "{before} bytes became {after}");
    }
}
