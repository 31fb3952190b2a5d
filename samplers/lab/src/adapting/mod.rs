//! Jobs that ask Tailback while they run and move their writes, beside the same jobs that do not ask: seconds saved, in truth.
//!
//! Each seed is played twice with the same jobs. Run times are those of the simulator. A job that asks sees its own answer only,
//! as old as the case has it: never the simulator's truth.
//!
//! | module | what it holds |
//! |---|---|
//! | [`spec`] | file systems and jobs, as in the file of an experiment |
//! | [`asking`] | rows to stages to a store, and what a job is answered out of it |
//! | [`behaviour`] | what a job does with its answer |
//! | [`saved`] | run times of all seeds, and what was saved |
//! | [`picture`] | the first seed as SVG |
//! | `words` | what was saved as lines and as a table |

pub mod asking;
pub mod behaviour;
pub mod picture;
pub mod saved;
pub mod spec;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use crate::truth::Half;
use crate::truth::physics::{Doing, World};
use crate::truth::play::{Clients, changed_jobs};
use crate::truth::scenario::Scenario;
use anyhow::Context;
use asking::Asking;
use behaviour::{Behaviour, Step};
use saved::{Activity, Adapted, JobTimes, SeedTimes};
use spec::{FileSystemSpec, WriterSpec, scenario};

/// A job whose loss in a second is above this share is contended in the picture.
const CONTENDED: f64 = 0.05;

/// A case: a file system and its jobs.
pub struct Play<'e> {
    /// The file system.
    pub system: &'e FileSystemSpec,
    /// The jobs.
    pub writers: Vec<&'e WriterSpec>,
    /// Most seconds of a play.
    pub seconds: u32,
    /// This seed alone, instead of those of the file.
    pub seed: Option<u64>,
}

impl Play<'_> {
    /// Plays each seed twice; calls `second` after each second of a job that asks.
    ///
    /// # Errors
    /// A job that does not end in time, or a store that cannot be written.
    pub fn run(&self, second: &(dyn Fn() + Sync)) -> anyhow::Result<Adapted> {
        let half = if self.system.tuning { Half::Tuning } else { Half::HeldOut };
        let seeds: Vec<u64> = match self.seed {
            Some(seed) => vec![seed],
            None => half.seeds(self.system.seeds).collect(),
        };
        let mut adapted = Adapted::default();
        for seed in seeds {
            let scenario = scenario(self.system, &self.writers, self.seconds, seed);
            let silent = silent(&scenario).with_context(|| format!("seed {seed}, without asking"))?;
            let asking = self.asking(&scenario, second).with_context(|| format!("seed {seed}, asking"))?;
            adapted.seeds.push(SeedTimes { seed, jobs: self.times(&silent, &asking) });
            if adapted.first.is_empty() {
                let ways = silent.activities.into_iter().zip(asking.activities);
                adapted.first = ways.map(<[_; 2]>::from).collect();
            }
        }
        adapted.sum_up();
        Ok(adapted)
    }

    fn times(&self, silent: &Ran, asking: &Ran) -> Vec<JobTimes> {
        let of_job = |(at, writer): (usize, &&WriterSpec)| {
            let behaviour = asking.behaviours[at].as_ref();
            JobTimes {
                job_id: writer.id,
                silent_s: silent.run_s[at],
                asking_s: asking.run_s[at],
                late_s: behaviour.map_or(0.0, |behaviour| behaviour.late_s),
                waited_s: behaviour.map_or(0.0, |behaviour| behaviour.waited_s),
            }
        };
        self.writers.iter().enumerate().map(of_job).collect()
    }

    fn asking(&self, scenario: &Scenario, second: &(dyn Fn() + Sync)) -> anyhow::Result<Ran> {
        let mut world = World::new(scenario);
        let mut clients = Clients::of(scenario)?;
        let mut asking = Asking::open(self.system.answer_delay_s)?;
        let mut known = vec![None; scenario.jobs.len()];
        let of_writer = |writer: &&WriterSpec| {
            writer.postpone.map(|postpone| Behaviour::new(postpone, writer.id, scenario.seed))
        };
        let mut ran = Ran::of(scenario, self.writers.iter().map(of_writer).collect());
        for now_s in 1..=scenario.seconds {
            let jobs = changed_jobs(scenario, &world, f64::from(now_s - 1), &mut known)?;
            world.step();
            ran.note(&world, now_s);
            clients.sample(scenario, &world, f64::from(now_s));
            asking.feed(jobs, &clients, now_s, ran.asks(&world))?;
            ran.decide(&mut world, &asking, now_s);
            second();
            if ran.is_over(&world) {
                break;
            }
        }
        ran.finish(scenario, &world)
    }
}

/// The jobs as they are, without asking.
fn silent(scenario: &Scenario) -> anyhow::Result<Ran> {
    let mut world = World::new(scenario);
    let mut ran = Ran::of(scenario, vec![None; scenario.jobs.len()]);
    for now_s in 1..=scenario.seconds {
        world.step();
        ran.note(&world, now_s);
        if ran.is_over(&world) {
            break;
        }
    }
    ran.finish(scenario, &world)
}

/// What came of the jobs of a play.
struct Ran {
    behaviours: Vec<Option<Behaviour>>,
    run_s: Vec<f64>,
    lost_s: Vec<f64>,
    activities: Vec<Vec<Activity>>,
}

impl Ran {
    fn of(scenario: &Scenario, behaviours: Vec<Option<Behaviour>>) -> Ran {
        let jobs = scenario.jobs.len();
        Ran { behaviours, run_s: Vec::new(), lost_s: vec![0.0; jobs], activities: vec![Vec::new(); jobs] }
    }

    /// Notes what each job did in the second that ends now.
    fn note(&mut self, world: &World<'_>, now_s: u32) {
        for (job, activities) in self.activities.iter_mut().enumerate() {
            let lost_s = world.lost(job).all_s();
            let is_contended = lost_s - self.lost_s[job] > CONTENDED;
            self.lost_s[job] = lost_s;
            if let Some(word) = saved::word(world.doing(job), is_contended) {
                saved::lengthen(activities, word, now_s);
            }
        }
    }

    /// Whether a job asks: one that writes.
    fn asks(&self, world: &World<'_>) -> bool {
        let writes = |job| matches!(world.doing(job), Doing::Writing { .. });
        self.behaviours.iter().enumerate().any(|(job, behaviour)| behaviour.is_some() && writes(job))
    }

    /// Jobs that ask do what their answers say.
    fn decide(&mut self, world: &mut World<'_>, asking: &Asking, now_s: u32) {
        for (job, behaviour) in self.behaviours.iter_mut().enumerate() {
            let Some(behaviour) = behaviour else { continue };
            let answer = asking.answer(world.job_id(job), now_s);
            match behaviour.decide(world.doing(job), f64::from(now_s), answer) {
                Step::Continue => {}
                Step::SetAside { waits } => world.set_aside(job, waits),
                Step::WriteAside => world.write_aside(job),
            }
        }
    }

    fn is_over(&self, world: &World<'_>) -> bool {
        (0..self.activities.len()).all(|job| world.ended_s(job).is_some())
    }

    fn finish(mut self, scenario: &Scenario, world: &World<'_>) -> anyhow::Result<Ran> {
        for (at, job) in scenario.jobs.iter().enumerate() {
            let ended_s = world.ended_s(at).with_context(|| {
                format!(
                    "job {} has not ended after {} s; give the case more `seconds`",
                    job.id, scenario.seconds
                )
            })?;
            self.run_s.push(ended_s - job.start_s);
        }
        Ok(self)
    }
}
