//! Jobs come, change their phase and go.

use super::{Change, INSTANT_S, Machine, Run, work_s};
use crate::jobs::Behaviour;
use crate::rng::Rng;
use crate::truth::Loss;

impl Machine {
    pub(super) fn is_done(&self, run: &Run) -> bool {
        match &self.spec(run).behaviour {
            Behaviour::Write { .. } => !self.files.writers.iter().any(|w| w.job == run.id),
            Behaviour::CheckpointWriter(checkpoint) => run.start + checkpoint.run_s <= self.now + INSTANT_S,
            Behaviour::HaloExchange(_) | Behaviour::AllToAll { .. } => {
                work_s(&self.spec(run).behaviour).is_some_and(|work| run.done >= work - INSTANT_S)
            }
        }
    }

    pub(super) fn start(&mut self, spec: usize) {
        let id = self.next_id;
        self.next_id += 1;
        let mut run = Run {
            id,
            spec,
            start: self.now,
            end: None,
            loss: Loss::default(),
            done: 0.0,
            next_phase: f64::INFINITY,
            active: true,
            next_spike: f64::INFINITY,
            rng: Rng::new(self.seed, 0x10B ^ (id << 16)),
        };
        self.occupy(&mut run);
        self.runs.push_back(run);
        self.changes.push(Change::Started(id));
        self.stale = true;
    }

    /// Puts the processes of a job on their nodes and sets its first phase.
    fn occupy(&mut self, run: &mut Run) {
        let job = &self.scenario.jobs[run.spec];
        for node in &job.nodes {
            self.node_jobs[*node as usize] = run.id;
        }
        let mut write = |left: f64, asks: f64| {
            for node in &job.nodes {
                self.files.add(*node, run.id, left, asks);
            }
        };
        match &job.behaviour {
            Behaviour::Write { bytes_per_node, limit_bytes_per_s } => {
                write(*bytes_per_node, *limit_bytes_per_s)
            }
            Behaviour::CheckpointWriter(checkpoint) => {
                write(f64::INFINITY, 0.0);
                run.active = false;
                run.next_phase = self.now + run.rng.between(0.0, checkpoint.off_s.end);
            }
            Behaviour::HaloExchange(halo) => {
                run.active = false;
                run.next_phase = self.now + halo.quiet_start_s;
            }
            Behaviour::AllToAll { .. } => {}
        }
        self.network.add(run.id, &job.nodes, &job.behaviour.flows(job.nodes.len()));
        if run.active {
            self.network.set_sending(run.id);
        }
    }

    /// The next phase of a job: from set-up to exchange, or from computing to writing and back.
    pub(super) fn turn(&mut self, id: u64) {
        self.stale = true;
        let Some(run) = self.runs.iter_mut().find(|r| r.id == id) else {
            return;
        };
        run.active = !run.active;
        match &self.scenario.jobs[run.spec].behaviour {
            Behaviour::CheckpointWriter(checkpoint) => {
                let (phase, asks) = if run.active {
                    (&checkpoint.on_s, checkpoint.bytes_per_s)
                } else {
                    (&checkpoint.off_s, 0.0)
                };
                run.next_phase = self.now + run.rng.between(phase.start, phase.end);
                for writer in self.files.writers.iter_mut().filter(|w| w.job == id) {
                    writer.asks = asks;
                }
            }
            Behaviour::HaloExchange(halo) => {
                run.next_phase = f64::INFINITY;
                run.next_spike =
                    self.now + run.rng.between(halo.balance_every_s.start, halo.balance_every_s.end);
                self.network.set_sending(id);
            }
            Behaviour::Write { .. } | Behaviour::AllToAll { .. } => {}
        }
    }

    pub(super) fn end(&mut self, id: u64) {
        for run in self.runs.iter_mut().filter(|r| r.id == id) {
            run.end = Some(self.now);
        }
        for job in self.node_jobs.iter_mut().filter(|job| **job == id) {
            *job = 0;
        }
        self.files.remove_job(id);
        self.network.remove_job(id);
        self.changes.push(Change::Ended(id));
        self.last_end = self.now;
        self.stale = true;
    }
}
