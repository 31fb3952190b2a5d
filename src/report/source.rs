//! Where the facts are: the embedded store, or PostgreSQL by the views that a user may read. Others' jobs are not named there.

use super::{PostMortem, nearest};
use anyhow::{Context, Result, anyhow};
use std::path::Path;
use store::postgres::{PgSettings, connect};
use store::read::jobs::ComparedItem;
use store::read::{Reader, Session, episodes, jobs, regions};
use store::sqlite::open_reader;
use tokio::runtime::Builder;

/// Where the facts are.
pub(super) enum Source<'a> {
    Store(&'a Path),
    Server(Box<PgSettings>),
}

impl Source<'_> {
    /// Runs `questions` in one transaction: all answers are of the same commit, although the writers continue.
    pub(super) fn read<T>(&self, what: &str, questions: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
        match self {
            Source::Store(path) => {
                let mut connection = open_reader(path)?;
                let unreadable = || format!("{}: {what} cannot be read", path.display());
                let transaction = connection.transaction().with_context(unreadable)?;
                questions(&Reader::Sqlite(&transaction)).with_context(unreadable)
            }
            Source::Server(settings) => {
                // Its own thread serves the connection while this one waits for answers.
                let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
                let _entered = runtime.enter();
                let session = Session::new(runtime.block_on(connect(settings))?, None);
                runtime.block_on(session.begin())?;
                questions(&Reader::Postgres(&session))
            }
        }
    }

    /// The facts of job `id`.
    pub(super) fn load(&self, id: &str) -> Result<PostMortem> {
        let found = self.read(&format!("job {id:?}"), |from| match facts(from, id)? {
            Some(facts) => Ok(Ok(facts)),
            None => Ok(Err(jobs::known(from)?)),
        })?;
        found.map_err(|known| match self {
            Source::Store(path) => anyhow!("{}: {}", path.display(), nearest::unknown_job(id, &known)),
            Source::Server(_) => anyhow!("job {id:?} is not known, or not to this login"),
        })
    }

    /// Compares two runs; each is looked up first, so that one that is not known is named.
    pub(super) fn compare(&self, job: &PostMortem, other: &str) -> Result<(String, Vec<ComparedItem>)> {
        let (a, b) = (job.job.job_id.as_str(), self.load(other)?.job.job_id);
        let items = self.read("the comparison", |from| Ok(jobs::compare(from, a, b.as_str())?))?;
        Ok((b.as_str().to_string(), items))
    }
}

fn facts(from: &Reader<'_>, id: &str) -> Result<Option<PostMortem>> {
    let Some((job, until)) = jobs::named(from, id)? else {
        return Ok(None);
    };
    Ok(Some(PostMortem {
        until,
        result: jobs::result(from, &job.job_id)?,
        episodes: episodes::of_job(from, &job.job_id)?,
        series: jobs::series(from, &job.job_id)?,
        factors: jobs::factors(from, &job.job_id)?,
        regions: regions::of_job(from, &job.job_id)?,
        job,
    }))
}
