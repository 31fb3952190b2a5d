//! The catalogue of metrics in a store, so that SQL asks what a metric measures and names none.

use schemas::Direction;
use schemas::metric::catalogue::catalogue;
use schemas::metric::file::{Measures, MetricFile};

/// A row of the table `metrics`.
pub(crate) struct MetricRow {
    pub metric: &'static str,
    pub subject: &'static str,
    pub title: &'static str,
    pub unit: &'static str,
    pub direction: &'static str,
    pub measures: &'static str,
    pub resource: Option<&'static str>,
}

/// The rows of all metrics.
pub(crate) fn rows() -> impl Iterator<Item = MetricRow> {
    catalogue().files().map(row)
}

fn row(file: &'static MetricFile) -> MetricRow {
    let direction = match file.direction {
        Direction::Rising => "rising",
        Direction::Falling => "falling",
    };
    let measures = match file.measures {
        Measures::Link => "link",
        Measures::Progress => "progress",
        Measures::Server => "server",
        Measures::Application => "application",
    };
    MetricRow {
        metric: &file.name,
        subject: &file.subject,
        title: &file.title,
        unit: &file.unit,
        direction,
        measures,
        resource: file.resource.as_deref(),
    }
}
