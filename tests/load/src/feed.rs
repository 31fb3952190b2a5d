//! All rows of one second, in the order in which an aggregator hands them to its store.

use crate::jobs::Jobs;
use crate::model::Model;
use crate::rng::Rng;
use crate::rows::RowWriter;
use crate::site::Site;
use samplers::Schema;
use samplers::aries::{NODES_PER_ROUTER, TILES};

/// Schemas of the rows.
pub const SCHEMAS: [Schema; 3] = [Schema::SlurmJobs, Schema::LustreClient, Schema::AriesRtr];

/// A row on its way to the broker.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Schema, which determines the topic.
    pub schema: Schema,
    /// Kafka's timestamp: the aggregator's clock when it publishes, in milliseconds.
    pub published_ms: i64,
    /// The payload.
    pub json: &'a [u8],
}

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The machine.
    pub site: Site,
    /// Whether all four nodes report a half of their router, or only the two that are needed.
    pub redundancy: bool,
    /// Time of the first rows, in seconds since the epoch.
    pub start: i64,
    /// Seconds of rows.
    pub seconds: u32,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// The rows of a run, a second at a time.
#[derive(Clone, Debug)]
pub struct Feed {
    plan: Plan,
    model: Model,
    jobs: Jobs,
    writer: RowWriter,
    delays: Rng,
    second: u32,
    row: Vec<u8>,
}

impl Feed {
    /// The run at its first second.
    pub fn new(plan: Plan) -> Feed {
        let Plan { site, start, seconds, seed, .. } = plan;
        Feed {
            plan,
            model: Model::new(site, seconds, seed),
            jobs: Jobs::new(site, start, seconds, seed),
            writer: RowWriter::new(site),
            delays: Rng::new(seed, 6),
            second: 0,
            row: Vec::new(),
        }
    }

    /// The counters, and the spans of contention.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The jobs.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Gives all rows of the next second to `sink`.
    ///
    /// # Errors
    /// The first error of `sink`.
    pub fn second<E>(&mut self, mut sink: impl FnMut(Row<'_>) -> Result<(), E>) -> Result<(), E> {
        if self.second > 0 {
            self.model.advance();
        }
        let tick_us = (self.plan.start + i64::from(self.second)) * 1_000_000;
        let delays = &mut self.delays;
        self.jobs.events(self.second, |json| {
            let published_ms = published(tick_us, delays);
            sink(Row { schema: Schema::SlurmJobs, published_ms, json })
        })?;
        for node in 0..self.plan.site.nodes() {
            self.row.clear();
            let time_us = tick_us + sampled(&mut self.delays);
            let job = self.jobs.on(node);
            let written = self.model.clients[node as usize];
            self.writer.client(&mut self.row, node, job, time_us, written, self.second);
            let published_ms = published(time_us, &mut self.delays);
            sink(Row { schema: Schema::LustreClient, published_ms, json: &self.row })?;
            let reports = self.plan.redundancy || node % NODES_PER_ROUTER < 2;
            if !reports {
                continue;
            }
            self.row.clear();
            let time_us = tick_us + sampled(&mut self.delays);
            let first = (node / NODES_PER_ROUTER * TILES) as usize;
            let tiles = &self.model.tiles[first..first + TILES as usize];
            self.writer.router(&mut self.row, node, job, time_us, tiles);
            let published_ms = published(time_us, &mut self.delays);
            sink(Row { schema: Schema::AriesRtr, published_ms, json: &self.row })?;
        }
        self.second += 1;
        Ok(())
    }
}

/// A sample ends 1 to 4.5 ms after the whole second, as in recorded rows.
fn sampled(delays: &mut Rng) -> i64 {
    1_000 + i64::from(delays.below(3_500))
}

/// The store publishes 100 to 150 ms later.
fn published(time_us: i64, delays: &mut Rng) -> i64 {
    time_us / 1_000 + 100 + i64::from(delays.below(50))
}
