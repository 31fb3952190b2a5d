//! Where the state of a series is: its bank, its file system, its place among the jobs.

use super::Detector;
use super::traffic::LastMoved;
use schemas::{Metric, SeriesIndex, Time, growth};
use serde::{Deserialize, Serialize};

/// Where a series' state is, and when the next job begins or ends on its node.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct SeriesSlot {
    pub(super) metric: Metric,
    pub(super) number: u32,
    pub(super) next_boundary: Time,
    pub(super) passed_boundary: Time,
    /// Its file system, of a metric of progress.
    pub(super) mount: Option<u32>,
    /// What it moved last, of a client.
    pub(super) last_moved: LastMoved,
    /// Up to which block of its file system it was looked back at.
    pub(super) looked_back: i64,
    /// The block of its file system from which on is to be seen who takes its loss; the largest number where that is not followed.
    pub(super) takings_next: i64,
    /// Up to when it applied what was found out of the other clients of its file system.
    pub(super) shifts_applied: Time,
    /// Whether gains of it wait to be applied.
    pub(super) has_gains: bool,
}

impl SeriesSlot {
    fn new(metric: Metric, number: u32) -> SeriesSlot {
        SeriesSlot {
            metric,
            number,
            next_boundary: Time(i64::MAX),
            passed_boundary: Time::MIN,
            mount: None,
            last_moved: LastMoved::default(),
            looked_back: i64::MIN,
            takings_next: i64::MAX,
            shifts_applied: Time::MIN,
            has_gains: false,
        }
    }

    /// The slot without what is known of its series.
    pub(super) fn renewed(&self) -> SeriesSlot {
        SeriesSlot::new(self.metric, self.number)
    }
}

impl Detector {
    pub(super) fn add_series(&mut self) {
        let series = SeriesIndex(self.series.len() as u32);
        let metric = self.ingest.series()[series.at()].metric;
        let number = self.members[metric.at()].len() as u32;
        growth::push(&mut self.members[metric.at()], series);
        self.banks[metric.at()].add();
        growth::push(&mut self.series, SeriesSlot::new(metric, number));
        self.place_series(series);
    }

    /// Connects a new series with its node and file system.
    pub(super) fn place_series(&mut self, series: SeriesIndex) {
        let info = &self.ingest.series()[series.at()];
        let metric = info.metric;
        let (node, file_system) = (info.component.clone(), info.file_system());
        if let Some(mount) = file_system.filter(|_| metric.is_progress()) {
            let mount = (metric.resource(), mount);
            let clients = self.clients.entry(mount.clone()).or_default();
            clients.insert(clients.partition_point(|client| *client < series), series);
            self.series[series.at()].mount = Some(self.mount_at(&mount));
        }
        if !metric.has_sum() {
            self.set_boundary(series, &node);
        }
    }
}
