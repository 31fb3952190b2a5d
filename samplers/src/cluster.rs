//! The simulated cluster: the machine's physics, second by second, as the rows its samplers would send.

use crate::aries::{CHANNELS, Link, NODES_PER_ROUTER, TILES, node_name, tile_series};
use crate::faults::Path;
use crate::ldms_rows::{ClientRow, FILE_SYSTEM, JobRow, RowWriter, Rows, Schema};
use crate::machine::{Component, Machine, Run};
use crate::rng::Rng;
use crate::scenario::{Scenario, ScenarioError, TAIL_S};
use crate::truth::{JobTruth, SeriesTruth, Truth};
use schemas::{Job, Name, Time};

mod job_events;
#[cfg(test)]
mod tests;

/// Latest moment of a sample after the whole second.
const SAMPLE_LATEST_S: f64 = 0.0045;
/// Samples are taken between the whole second and this much later; the physics stops at both.
const SAMPLE_SPAN_S: f64 = 0.005;
/// Bytes that each client had written before the start, at most.
const WRITTEN_BEFORE_MAX: f64 = 6e12;

/// A cluster that plays a scenario.
#[derive(Clone, Debug)]
pub struct Cluster {
    machine: Machine,
    start: Time,
    /// The second whose rows the next tick writes.
    second: u32,
    /// The second in which the present round of the scenario began.
    round: u32,
    over: bool,
    writer: RowWriter,
    path: Path,
    routers: Vec<u32>,
    clients: Vec<u32>,
    interfaces: Vec<u32>,
    /// What each client had written before the start.
    written_before: Vec<f64>,
    job_rows: Vec<JobRow>,
    users: Vec<String>,
    jitter: Rng,
    gossip: Rng,
}

impl Cluster {
    /// A cluster at the whole second in which `start` lies, before its first tick.
    ///
    /// # Errors
    /// [`ScenarioError`] if the scenario does not fit its machine.
    pub fn new(scenario: Scenario, start: Time, seed: u64) -> Result<Cluster, ScenarioError> {
        scenario.check()?;
        let mut users: Vec<String> = scenario.jobs.iter().map(|job| job.user.clone()).collect();
        users.sort();
        users.dedup();
        let layout = scenario.layout;
        let mut before = Rng::new(seed, 0xB4);
        Ok(Cluster {
            start: Time(start.0 - start.0.rem_euclid(1_000_000)),
            second: 0,
            round: 0,
            over: false,
            writer: RowWriter::new(layout.nodes()),
            path: Path::new(scenario.faults.clone(), seed),
            routers: scenario.reporting.routers.numbers(layout.routers()),
            clients: scenario.reporting.clients.numbers(layout.nodes()),
            interfaces: scenario.reporting.interfaces.numbers(layout.nodes()),
            written_before: (0..layout.nodes())
                .map(|_| before.between(0.0, WRITTEN_BEFORE_MAX).floor())
                .collect(),
            job_rows: Vec::new(),
            users,
            jitter: Rng::new(seed, 0x717),
            gossip: Rng::new(seed, 0x60551),
            machine: Machine::new(scenario, seed),
        })
    }

    /// Lets one second pass and replaces the content of `out` by its rows. The first call gives the samples of the
    /// start itself. After the last second one more tick brings the rows that are still on their way, if there are any.
    /// False, with nothing in `out`, when the scenario is over.
    pub fn tick(&mut self, out: &mut Rows) -> bool {
        out.clear();
        if self.over {
            let late = self.path.holds_rows();
            self.path.end_of_tick(out, f64::INFINITY);
            return late;
        }
        self.pass_second();
        self.write_jobs(out);
        self.write_clients(out);
        self.write_interfaces(out);
        self.write_routers(out);
        self.path.end_of_tick(out, f64::from(self.second));
        self.finish_round();
        self.second += 1;
        true
    }

    /// End of the second whose rows the last tick wrote; the start before the first tick.
    pub fn time(&self) -> Time {
        self.start.plus_seconds(f64::from(self.second.saturating_sub(1)))
    }

    /// The directed links of the machine, with the tile that sees each.
    pub fn links(&self) -> Vec<Link> {
        self.machine.scenario.layout.links()
    }

    /// The jobs that have started, as a scheduler's list would give them. An endless scenario
    /// remembers the present round and the one before, here and in [`Cluster::truth`].
    pub fn jobs(&self) -> Vec<Job> {
        self.machine
            .runs
            .iter()
            .filter_map(|run| {
                let spec = self.machine.spec(run);
                Some(Job {
                    job_id: Name::parse(&run.id.to_string()).ok()?,
                    user: spec.user.clone(),
                    name: spec.name.clone(),
                    nodes: spec.nodes.iter().filter_map(|node| Name::parse(&node_name(*node)).ok()).collect(),
                    start: self.start.plus_seconds(run.start),
                    end: run.end.map(|end| self.start.plus_seconds(end)),
                    end_presumed: false,
                    label: String::new(),
                    app: Some(spec.name.clone()),
                })
            })
            .collect()
    }

    /// What really happened up to now.
    pub fn truth(&self) -> Truth {
        let jobs = self.machine.runs.iter().map(|run| self.job_truth(run)).collect();
        let series = self.machine.series.iter().map(|(component, loss)| SeriesTruth {
            series: series_name(*component),
            contended: loss.intervals(self.start),
            contended_s: loss.contended_s(),
            slowdown_s: loss.seconds,
            by: loss.takers(),
        });
        Truth { jobs, series: series.collect() }
    }

    /// The jobs of the latest round of an endless scenario that is complete; `None` in the first.
    pub fn last_round(&self) -> Option<Vec<JobTruth>> {
        let is_over = |run: &&Run| run.start < self.machine.round_start;
        let jobs: Vec<JobTruth> =
            self.machine.runs.iter().filter(is_over).map(|run| self.job_truth(run)).collect();
        (!jobs.is_empty()).then_some(jobs)
    }

    fn job_truth(&self, run: &Run) -> JobTruth {
        let spec = self.machine.spec(run);
        JobTruth {
            job_id: run.id.to_string(),
            name: spec.name.clone(),
            user: spec.user.clone(),
            nodes: spec.nodes.iter().map(|node| node_name(*node)).collect(),
            start: self.start.plus_seconds(run.start).seconds(),
            end: run.end.map(|end| self.start.plus_seconds(end).seconds()),
            contended: run.loss.intervals(self.start),
            contended_s: run.loss.contended_s(),
            slowdown_s: run.loss.seconds,
            by: run.loss.takers(),
        }
    }

    /// The physics up to the latest sample of the second. Counters are known at the whole second and shortly after;
    /// a sample in between is a point on that line, so that all copies of a counter agree and none ever falls.
    fn pass_second(&mut self) {
        if let Some((node, second)) = self.path.faults.reset_at
            && second == self.second
        {
            self.machine.reset(node);
            self.written_before[node as usize] = 0.0;
        }
        let second = f64::from(self.second);
        self.machine.begin_tick();
        self.machine.advance(second);
        self.machine.files.mark();
        self.machine.network.mark();
        self.machine.advance(second + SAMPLE_SPAN_S);
    }

    fn finish_round(&mut self) {
        let elapsed = self.second - self.round;
        let over = match self.machine.scenario.duration_s {
            Some(duration) => elapsed >= duration,
            None => {
                let end = self.machine.all_done();
                end.is_some_and(|end| f64::from(self.second) >= end + TAIL_S)
            }
        };
        if over && self.machine.scenario.endless {
            self.machine.repeat();
            self.round = self.second;
        } else {
            self.over = over;
        }
    }

    /// Seconds after the whole second at which a sampler takes its sample: 1 to 4.5 ms, half of them before 2.0.
    fn sample_delay_s(&mut self) -> f64 {
        const SPREAD: f64 = 0.39;
        let delay = 0.001 * (1.0 + (SPREAD * self.jitter.normal()).exp());
        delay.min(SAMPLE_LATEST_S)
    }

    /// The timestamp of a sample taken `delay_s` after the second, by the clock of `node`.
    fn stamp(&self, node: u32, delay_s: f64) -> Time {
        self.start.plus_seconds(f64::from(self.second) + delay_s) + self.path.skew_us(node)
    }

    fn write_clients(&mut self, out: &mut Rows) {
        for at in 0..self.clients.len() {
            let node = self.clients[at];
            let delay = self.sample_delay_s();
            if self.path.is_silent(node, self.second) {
                continue;
            }
            let written = self.machine.files.written(node, delay / SAMPLE_SPAN_S);
            let row = ClientRow {
                time: self.stamp(node, delay),
                job: self.machine.node_jobs[node as usize],
                written: self.written_before[node as usize] + written,
                second: u64::from(self.second),
            };
            let start = out.bytes(Schema::LustreClient).len();
            self.writer.client(out.buffer(Schema::LustreClient), node, row);
            self.path.row_written(out, Schema::LustreClient, start, self.second);
        }
    }

    fn write_interfaces(&mut self, out: &mut Rows) {
        for at in 0..self.interfaces.len() {
            let node = self.interfaces[at];
            let delay = self.sample_delay_s();
            if self.path.is_silent(node, self.second) {
                continue;
            }
            let counters = self.machine.network.sent(node, delay / SAMPLE_SPAN_S);
            let (time, job) = (self.stamp(node, delay), self.machine.node_jobs[node as usize]);
            let start = out.bytes(Schema::AriesNic).len();
            self.writer.interface(out.buffer(Schema::AriesNic), node, job, time, counters);
            self.path.row_written(out, Schema::AriesNic, start, self.second);
        }
    }

    fn write_routers(&mut self, out: &mut Rows) {
        for at in 0..self.routers.len() {
            let router = self.routers[at];
            for node in router * NODES_PER_ROUTER..(router + 1) * NODES_PER_ROUTER {
                let delay = self.sample_delay_s();
                if self.path.is_silent(node, self.second) {
                    continue;
                }
                let mut counters = [[0; CHANNELS + 1]; TILES as usize];
                for (tile, counters) in (router * TILES..).zip(&mut counters) {
                    *counters = self.machine.network.counters(tile, delay / SAMPLE_SPAN_S);
                }
                let time = self.stamp(node, delay);
                let job = self.machine.node_jobs[node as usize];
                let start = out.bytes(Schema::AriesRtr).len();
                self.writer.router(out.buffer(Schema::AriesRtr), node, job, time, &counters);
                self.path.row_written(out, Schema::AriesRtr, start, self.second);
            }
        }
    }
}

fn series_name(component: Component) -> String {
    match component {
        Component::Client(node) => format!("lustre_write_rate/{}/{FILE_SYSTEM}", node_name(node)),
        Component::Tile(tile) => tile_series(tile / TILES, tile % TILES),
    }
}
