//! The counters of a row, in their order.

use crate::plan::Role;
use crate::sources::SchemaIndex;
use schemas::{CounterBatch, Metric, NOT_MEASURED, Name};

/// What the rows of a plan report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub schema: SchemaIndex,
    /// Metrics that the columns have all counters of, and the number of these for all parts. Counters are in this order.
    pub metrics: Vec<(Metric, usize)>,
    /// The parts that columns name; empty where values name the one part.
    pub parts: Vec<Name>,
    /// Counters of a row, those of links last.
    pub counters: usize,
    pub of_links: usize,
    /// Whether the name of a job ends the row.
    pub by_job: bool,
    /// Counters that no column gives, and those that are another one's again.
    missing: Vec<u32>,
    copies: Vec<(u32, u32)>,
}

impl Shape {
    /// One without counters yet.
    pub(crate) fn of(schema: SchemaIndex) -> Shape {
        Shape { schema, ..Shape::default() }
    }

    /// Room for the counters of a row.
    pub(crate) fn open<'b>(&self, batch: &'b mut CounterBatch) -> &'b mut [u64] {
        let counters = batch.open(self.counters);
        counters[self.counters - self.of_links..].fill(NOT_MEASURED);
        self.missing.iter().for_each(|at| counters[*at as usize] = NOT_MEASURED);
        counters
    }

    /// Whether a row in which a counter could not be read is of no use: every metric has such a one. A row of one metric alone is
    /// dropped, so that it shows.
    pub(crate) fn is_spoiled(&self, counters: &[u64]) -> bool {
        let mut begin = 0;
        let mut spoiled = self.metrics.iter().map(|(metric, of_metric)| {
            let cells = &counters[begin..begin + of_metric];
            begin += of_metric;
            cells.chunks(metric.columns()).all(|part| !metric.reading().is_measured(part))
        });
        self.metrics.len() < 2 || spoiled.all(|is_spoiled| is_spoiled)
    }

    /// Fills in the counters that are another one's again, once a row's columns were read.
    pub(crate) fn repeat(&self, counters: &mut [u64]) {
        self.copies.iter().for_each(|(from, to)| counters[*to as usize] = counters[*from as usize]);
    }

    /// Numbers the next counter, that of column `at`; without a column it is not measured.
    pub(crate) fn number(&mut self, at: Option<usize>, gauge: bool, roles: &mut [Role]) {
        let number = self.counters as u32;
        self.counters += 1;
        match at {
            None => self.missing.push(number),
            Some(at) => match roles[at] {
                Role::Counter(first) if !gauge => self.copies.push((first, number)),
                Role::Gauge(first) if gauge => self.copies.push((first, number)),
                // One column is never both.
                Role::Counter(_) | Role::Gauge(_) => self.missing.push(number),
                _ if gauge => roles[at] = Role::Gauge(number),
                _ => roles[at] = Role::Counter(number),
            },
        }
    }
}
