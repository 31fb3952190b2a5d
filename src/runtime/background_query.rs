//! Requests to brokers in threads of their own, so that no stage waits for them.
//!
//! A broker answers only when the fetch before has been answered: that takes seconds where there is much to fetch, and
//! a stage that waits falls behind further. A thread of its own waits; the stage looks for the answer in its turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// At most one request at a time.
#[derive(Debug)]
pub struct BackgroundQuery<T> {
    name: &'static str,
    running: Option<Running<T>>,
}

/// A request on its way.
#[derive(Debug)]
struct Running<T> {
    started: Instant,
    is_cancelled: Arc<AtomicBool>,
    answer: JoinHandle<(T, Duration)>,
}

/// What was answered.
#[derive(Debug)]
pub struct QueryResult<T> {
    /// When it was started.
    pub started: Instant,
    /// How long it took.
    pub took: Duration,
    /// The value.
    pub value: T,
}

impl<T: Send + 'static> BackgroundQuery<T> {
    /// Nothing is started yet; `name` is that of the thread.
    pub fn new(name: &'static str) -> BackgroundQuery<T> {
        BackgroundQuery { name, running: None }
    }

    /// Whether an answer is yet to come.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Starts a query in its own thread. `request` gets a flag that is set when the result is no longer needed; then it
    /// should end early.
    pub fn start(&mut self, request: impl FnOnce(&AtomicBool) -> T + Send + 'static) {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let (started, ends_early) = (Instant::now(), Arc::clone(&is_cancelled));
        let thread = thread::Builder::new().name(self.name.to_string());
        // Without a thread there is no result; the stage queries again.
        let answer = thread.spawn(move || (request(&ends_early), started.elapsed()));
        self.running = answer.ok().map(|answer| Running { started, is_cancelled, answer });
    }

    /// The answer, once.
    pub fn result(&mut self) -> Option<QueryResult<T>> {
        let Running { started, answer, .. } = self.running.take_if(|open| open.answer.is_finished())?;
        answer.join().ok().map(|(value, took)| QueryResult { started, took, value })
    }
}

/// The consumer leaves its group when its last owner drops it: that must not be a detached thread.
impl<T> Drop for BackgroundQuery<T> {
    fn drop(&mut self) {
        if let Some(open) = self.running.take() {
            open.is_cancelled.store(true, Ordering::Relaxed);
            drop(open.answer.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn wait_for<T: Send + 'static>(query: &mut BackgroundQuery<T>) -> Option<T> {
        let begun = Instant::now();
        loop {
            let answer = query.result().map(|answer| answer.value);
            if answer.is_some() || !query.is_running() || begun.elapsed() > Duration::from_secs(10) {
                return answer;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn result_is_returned_once_without_waiting() {
        let (release, held) = mpsc::channel::<()>();
        let mut query = BackgroundQuery::new("test");
        query.start(move |_| held.recv().map(|()| 7));
        assert!(query.is_running() && query.result().is_none());
        release.send(()).unwrap();
        assert_eq!(wait_for(&mut query), Some(Ok(7)));
        assert!(!query.is_running() && query.result().is_none());
    }

    #[test]
    fn drop_cancels_the_query_and_joins_its_thread() {
        let (done, ended) = mpsc::channel();
        let mut query = BackgroundQuery::new("test");
        query.start(move |is_cancelled| {
            while !is_cancelled.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            done.send(()).unwrap();
        });
        drop(query);
        assert_eq!(ended.try_recv(), Ok(()));
    }
}
