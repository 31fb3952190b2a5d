//! The answers of all running jobs in memory. One task reads them from the store about once a second while jobs ask; a request looks
//! its answer up.

use crate::answer::ApiError;
use crate::reader::StoreReader;
use crate::router::Clock;
use axum::body::Bytes;
use schemas::Notice;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::read::contention::{JobContention, Moment, WaitedFor, running, waited_for};
use store::read::{Reader, health};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

/// Running jobs that have answers: the latest.
const JOBS_MAX: usize = 50_000;
/// Rows of what they wait for.
const RESOURCES_MAX: usize = 200_000;
/// Requests a second that clients should make at most, all together.
const REQUESTS_PER_S: usize = 1_000;
/// Least pause between two readings of the store.
const PAUSE: Duration = Duration::from_secs(1);
/// Most: a slow store is read less often.
const PAUSE_MAX: Duration = Duration::from_secs(20);
/// The pause is so many times what the reading took: it costs at most a thirtieth of a core.
const PAUSE_FACTOR: u32 = 30;
/// The store is not read after so long without a request.
const WANTED: Duration = Duration::from_secs(300);
/// Age of a reading from which on it answers no request.
const STALE: Duration = Duration::from_secs(60);
/// How long a request waits for the first reading.
const FIRST_READING: Duration = Duration::from_secs(5);

/// The answer of one job.
#[derive(Debug)]
pub(super) struct JobAnswer {
    /// Unix user of the job.
    pub user: String,
    pub answer: JobContention,
    /// The answer as JSON.
    pub json: Bytes,
}

/// Why a job has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BookError {
    /// No such job runs.
    #[error(
        "job {0} does not run, or its start was not reported yet; `tailback report {0}` has what an ended job lost"
    )]
    NotRunning(String),
    /// It is not among the latest.
    #[error("job {0} is not among the {JOBS_MAX} running jobs that started last, which have answers")]
    TooMany(String),
    /// The store was not read for a while.
    #[error("no answer is newer than {stale} s: {0}", stale = STALE.as_secs())]
    Stale(String),
}

/// One reading of the store.
#[derive(Debug, Default)]
struct Reading {
    /// `None` before the first one.
    read_at: Option<Instant>,
    /// By the number without the run of a requeued job: one of its runs runs.
    jobs: HashMap<String, Arc<JobAnswer>>,
    /// Whether there are more running jobs than have answers.
    is_cut: bool,
}

/// The answers of all running jobs.
pub struct Book {
    reader: Arc<StoreReader>,
    clock: Option<Clock>,
    latest: watch::Sender<Arc<Reading>>,
    /// Why the latest attempt failed; empty if it did not.
    trouble: Mutex<String>,
    began: Instant,
    /// Milliseconds from `began` to the latest request.
    asked_ms: AtomicU64,
    wake: Notify,
}

impl Book {
    /// Without any answer; [`keep`] reads them. `clock` shows how old the data are.
    pub fn new(reader: Arc<StoreReader>, clock: Option<Clock>) -> Arc<Book> {
        Arc::new(Book {
            reader,
            clock,
            latest: watch::Sender::default(),
            trouble: Mutex::default(),
            began: Instant::now(),
            asked_ms: AtomicU64::new(0),
            wake: Notify::new(),
        })
    }

    /// The store that the answers come from.
    pub(crate) fn reader(&self) -> Arc<StoreReader> {
        Arc::clone(&self.reader)
    }

    /// The answer of job `id`.
    pub(super) async fn answer(&self, id: &str) -> Result<Arc<JobAnswer>, BookError> {
        self.note_request();
        if let Some(found) = self.latest.borrow().find(id) {
            return found;
        }
        let mut readings = self.latest.subscribe();
        self.wake.notify_one();
        let fresh = timeout(FIRST_READING, readings.wait_for(|reading| !reading.is_stale())).await;
        match fresh {
            Ok(Ok(reading)) => reading.find(id).unwrap_or_else(|| Err(self.stale())),
            _ => Err(self.stale()),
        }
    }

    /// The answer of job `id` in the next reading that has another one than `earlier`; an error once it has none.
    pub(super) async fn change(
        &self,
        id: &str,
        earlier: &JobContention,
    ) -> Result<Arc<JobAnswer>, BookError> {
        let mut readings = self.latest.subscribe();
        loop {
            self.note_request();
            let reading = timeout(PAUSE_MAX, readings.changed()).await;
            if matches!(reading, Ok(Err(_))) {
                return Err(self.stale());
            }
            match readings.borrow_and_update().find(id) {
                Some(Ok(found)) if !found.answer.differs(earlier) => {}
                Some(found) => return found,
                None => {}
            }
        }
    }

    fn stale(&self) -> BookError {
        BookError::Stale(match self.trouble.lock().unwrap_or_else(PoisonError::into_inner).as_str() {
            "" => "the store is being read; try again in a few seconds".to_string(),
            trouble => trouble.to_string(),
        })
    }

    fn note_request(&self) {
        self.asked_ms.store(self.began.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    fn is_wanted(&self) -> bool {
        let asked = self.began + Duration::from_millis(self.asked_ms.load(Ordering::Relaxed));
        self.latest.borrow().read_at.is_none() || asked.elapsed() < WANTED
    }

    /// Reads the store once.
    async fn read(&self) {
        let now_s = self.clock.as_ref().map(|clock| clock());
        let read = self.reader.read(move |store| Reading::of(store, now_s)).await;
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(reading) => {
                trouble.clear();
                self.latest.send_replace(Arc::new(reading));
            }
            Err(error) => *trouble = error.to_string(),
        }
    }
}

/// Reads the store while jobs ask, until the server ends.
pub async fn keep(book: Arc<Book>) {
    // The first request starts it.
    book.wake.notified().await;
    loop {
        let start = Instant::now();
        book.read().await;
        let pause = (start.elapsed() * PAUSE_FACTOR).clamp(PAUSE, PAUSE_MAX);
        tokio::time::sleep(pause).await;
        if !book.is_wanted() {
            book.wake.notified().await;
        }
    }
}

impl Reading {
    fn of(store: &Reader<'_>, now_s: Option<f64>) -> Result<Reading, ApiError> {
        let notices: Vec<String> = store.rows(health::FIRING, &[], |row| row.get(0))?;
        let firing: Vec<Notice> = notices.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
        let mut jobs = running(store, JOBS_MAX + 1)?;
        let ask_again_s = jobs.len().div_ceil(REQUESTS_PER_S).max(1) as u32;
        let moment = Moment { data_s: store.clock()?, now_s, firing: &firing, ask_again_s };
        let is_cut = jobs.len() > JOBS_MAX;
        jobs.truncate(JOBS_MAX);
        let mut waits: HashMap<String, Vec<WaitedFor>> = HashMap::new();
        for (job, resource) in waited_for(store, RESOURCES_MAX)? {
            waits.entry(job).or_default().push(resource);
        }
        let mut answers = HashMap::with_capacity(jobs.len());
        for job in jobs {
            let answer = JobContention::of(&job, waits.remove(&job.job_id).unwrap_or_default(), &moment);
            let json = Bytes::from(serde_json::to_vec(&answer)?);
            let number = number(&job.job_id).to_string();
            // The latest run comes first.
            answers.entry(number).or_insert_with(|| Arc::new(JobAnswer { user: job.user, answer, json }));
        }
        Ok(Reading { read_at: Some(Instant::now()), jobs: answers, is_cut })
    }

    fn is_stale(&self) -> bool {
        self.read_at.is_none_or(|at| at.elapsed() > STALE)
    }

    /// The answer of a job; `None` if this reading is too old to answer.
    fn find(&self, id: &str) -> Option<Result<Arc<JobAnswer>, BookError>> {
        if self.is_stale() {
            return None;
        }
        let found = self.jobs.get(number(id)).cloned();
        let missing = || match self.is_cut {
            true => BookError::TooMany(id.to_string()),
            false => BookError::NotRunning(id.to_string()),
        };
        Some(found.ok_or_else(missing))
    }
}

/// The number of a job without `.r1`, `.r2`, … of its later runs.
fn number(id: &str) -> &str {
    match id.rsplit_once(".r") {
        Some((number, run)) if !run.is_empty() && run.bytes().all(|byte| byte.is_ascii_digit()) => number,
        _ => id,
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn runs_of_a_requeued_job_have_one_number() {
        let ids = ["1234", "1234.r2", "1234.r", "1234.rack", "12.server", "f2yDR3kVs1y"];
        assert_eq!(ids.map(number), ["1234", "1234", "1234.r", "1234.rack", "12.server", "f2yDR3kVs1y"]);
    }
}
