//! Where the facts are: the embedded store, or PostgreSQL by the views that a user may read. Others' jobs are not named there.

use crate::{Comparison, PostMortem, ReportError, pace};
use std::path::PathBuf;
use store::postgres::{PgSettings, connect_to_read};
use store::read::{ReadError, Reader, Session, episodes, jobs, regions};
use store::sqlite::{StoreError, is_of_other_build, open_reader};
use tokio::runtime::Builder;

/// Where the facts are.
#[derive(Debug)]
pub enum Source {
    /// The embedded store in this file.
    Store(PathBuf),
    /// PostgreSQL.
    Server(Box<PgSettings>),
}

impl Source {
    /// What the job lost, when, on which resource, and the causes. `id` is the scheduler's number, or what users call the job.
    ///
    /// # Errors
    /// When the store cannot be read, or does not have the job.
    pub fn post_mortem(&self, id: &str) -> Result<PostMortem, ReportError> {
        let found = self.read(&format!("job {id:?}"), |from| match PostMortem::of(from, id)? {
            Some(facts) => Ok(Ok(facts)),
            None => Ok(Err(jobs::known(from)?)),
        })?;
        found.map_err(|known| match self {
            Source::Store(path) => ReportError::UnknownJob { path: path.clone(), job: id.to_string(), known },
            Source::Server(_) => ReportError::HiddenJob(id.to_string()),
        })
    }

    /// The job compared with the run `other`, which is looked up first, so that an unknown one is named.
    ///
    /// # Errors
    /// When the store cannot be read, or does not have the other run.
    pub fn comparison(&self, job: &PostMortem, other: &str) -> Result<Comparison, ReportError> {
        let (a, b) = (job.job.job_id.as_str(), self.post_mortem(other)?.job.job_id);
        let items = self.read("the comparison", |from| jobs::compare(from, a, b.as_str()))?;
        Ok(Comparison { a: a.to_string(), b: b.as_str().to_string(), items })
    }

    /// Runs `queries` in one transaction: all results are of the same commit, although the writers continue.
    pub(crate) fn read<T>(
        &self,
        what: &str,
        queries: impl FnOnce(&Reader<'_>) -> Result<T, ReadError>,
    ) -> Result<T, ReportError> {
        match self {
            Source::Store(path) => {
                let mut connection = open_reader(path)?;
                let unreadable = |source: ReadError| match source {
                    ReadError::Sqlite(error) if is_of_other_build(&error) => {
                        StoreError::OtherBuild { path: path.clone(), detail: error.to_string() }.into()
                    }
                    source => ReportError::Unreadable { path: path.clone(), what: what.to_string(), source },
                };
                let transaction = connection.transaction().map_err(|error| unreadable(error.into()))?;
                queries(&Reader::Sqlite(&transaction)).map_err(unreadable)
            }
            Source::Server(settings) => {
                // Its own thread serves the connection while this one waits for responses.
                let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
                let _entered = runtime.enter();
                let session = Session::new(runtime.block_on(connect_to_read(settings))?, None);
                runtime.block_on(session.begin())?;
                Ok(queries(&Reader::Postgres(&session))?)
            }
        }
    }
}

impl PostMortem {
    /// The facts of a job; `id` as in [`Source::post_mortem`]. `None` for an unknown job.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of(from: &Reader<'_>, id: &str) -> Result<Option<PostMortem>, ReadError> {
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
            caused: jobs::caused(from, &job.job_id)?,
            earlier_paces: jobs::earlier_paces(from, &job.job_id, pace::REPORTS_READ)?,
            job,
        }))
    }
}
