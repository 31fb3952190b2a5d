//! What a job is answered that asks: rows through all stages into a store, and out of it the answer of
//! `/api/v1/jobs/{id}/contention`, made by the same query and the same rules. HTTP and tokens are left out.

use crate::truth::play::{Clients, START_S};
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::{Job, ResultBatch};
use stages::in_process::{InProcess, InProcessSettings};
use std::collections::{HashMap, VecDeque};
use store::read::Reader;
use store::read::contention::{JobContention, JobState, Moment, WaitedFor, running, waited_for};
use store::sqlite::{ReadConnection, Retention, Store, open_to_read};
use tempfile::TempDir;

/// Jobs and rows of what they wait for that are read.
const ROWS_MAX: usize = 10_000;

/// What a job learns from its answer; seconds are those of the play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// When it was made.
    pub made_s: f64,
    /// Whether the job is contended.
    pub is_contended: bool,
    /// Since when.
    pub since_s: Option<f64>,
}

/// Stages, store and the latest answers.
pub struct Asking {
    stages: InProcess,
    store: Store,
    reader: ReadConnection,
    /// Results since the last commit.
    results: ResultBatch,
    delay_s: u32,
    /// By the second in which they were made, the oldest first.
    answers: VecDeque<(u32, HashMap<u64, Answer>)>,
    // Removed with the store in it, after the connections were closed.
    _folder: TempDir,
}

impl Asking {
    /// An empty store in a temporary folder; answers are `delay_s` old when a job gets them.
    ///
    /// # Errors
    /// A disk that refuses.
    pub fn open(delay_s: u32) -> anyhow::Result<Asking> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("lab.db");
        let store = Store::open(&path, Retention::default())?;
        let stages = InProcess::new(&InProcessSettings::of(Settings::of(ModelKind::Robust)));
        let reader = open_to_read(&path)?;
        let (results, answers) = (ResultBatch::default(), VecDeque::new());
        Ok(Asking { stages, store, reader, results, delay_s, answers, _folder: folder })
    }

    /// Takes the rows of a second; makes answers of all that was taken, if one is asked for.
    ///
    /// # Errors
    /// The store's.
    pub(crate) fn feed(
        &mut self,
        jobs: Vec<Job>,
        clients: &Clients,
        now_s: u32,
        is_asked: bool,
    ) -> anyhow::Result<()> {
        self.stages.declare(jobs);
        self.stages.feed_counters(&clients.sources, &clients.batch);
        self.results.add(self.stages.take());
        // Of the answers that are old enough only the newest is given.
        while self.answers.get(1).is_some_and(|(made_s, _)| made_s + self.delay_s <= now_s) {
            self.answers.pop_front();
        }
        if is_asked {
            self.store.commit(&std::mem::take(&mut self.results), &[])?;
            self.answers.push_back((now_s, self.read(now_s)?));
        }
        Ok(())
    }

    /// The answer that job `id` gets now; `None` before there is one.
    pub fn answer(&self, id: u64, now_s: u32) -> Option<Answer> {
        let old_enough = self.answers.iter().rev().find(|(made_s, _)| made_s + self.delay_s <= now_s);
        old_enough?.1.get(&id).copied()
    }

    fn read(&self, now_s: u32) -> anyhow::Result<HashMap<u64, Answer>> {
        let reader = Reader::Sqlite(&self.reader.connection);
        // The times of the store are not those of a clock, and the lab has no alerts.
        let moment = Moment { data_s: reader.clock()?, now_s: None, firing: &[], ask_again_s: 1 };
        let mut waits: HashMap<String, Vec<WaitedFor>> = HashMap::new();
        for (job, resource) in waited_for(&reader, ROWS_MAX)? {
            waits.entry(job).or_default().push(resource);
        }
        let answer = |contention: &JobContention| Answer {
            made_s: f64::from(now_s),
            is_contended: contention.state == JobState::Contended,
            since_s: contention.since_s.map(|since_s| since_s - START_S),
        };
        let mut answers = HashMap::new();
        for job in running(&reader, ROWS_MAX)? {
            let resources = waits.remove(&job.job_id).unwrap_or_default();
            let contention = JobContention::of(&job, resources, &moment);
            answers.insert(job.job_id.parse()?, answer(&contention));
        }
        Ok(answers)
    }
}
