//! Questions to the brokers that no stage waits for.
//!
//! A broker answers only when the fetch before has been answered: that takes seconds where there is much to fetch, and
//! a stage that waits falls behind further. A thread of its own waits; the stage looks for the answer in its turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// At most one question at a time.
#[derive(Debug)]
pub struct Asking<T> {
    name: &'static str,
    open: Option<Open<T>>,
}

/// A question on its way.
#[derive(Debug)]
struct Open<T> {
    asked: Instant,
    is_moot: Arc<AtomicBool>,
    answer: JoinHandle<(T, Duration)>,
}

/// What was answered.
#[derive(Debug)]
pub struct Answer<T> {
    /// When it was asked for.
    pub asked: Instant,
    /// How long it took.
    pub took: Duration,
    /// What it says.
    pub says: T,
}

impl<T: Send + 'static> Asking<T> {
    /// Nothing is asked yet; `name` is that of the thread.
    pub fn new(name: &'static str) -> Asking<T> {
        Asking { name, open: None }
    }

    /// Whether an answer is yet to come.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Asks. `question` is told whether nobody wants to know any more, and then should end early.
    pub fn ask(&mut self, question: impl FnOnce(&AtomicBool) -> T + Send + 'static) {
        let is_moot = Arc::new(AtomicBool::new(false));
        let (asked, ends_early) = (Instant::now(), Arc::clone(&is_moot));
        let thread = thread::Builder::new().name(self.name.to_string());
        // Without a thread there is no answer; the stage asks again.
        let answer = thread.spawn(move || (question(&ends_early), asked.elapsed()));
        self.open = answer.ok().map(|answer| Open { asked, is_moot, answer });
    }

    /// The answer, once.
    pub fn answer(&mut self) -> Option<Answer<T>> {
        let Open { asked, answer, .. } = self.open.take_if(|open| open.answer.is_finished())?;
        answer.join().ok().map(|(says, took)| Answer { asked, took, says })
    }
}

/// The consumer leaves its group when its last owner drops it: that must not be a thread that nobody waits for.
impl<T> Drop for Asking<T> {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            open.is_moot.store(true, Ordering::Relaxed);
            drop(open.answer.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn wait_for<T: Send + 'static>(asking: &mut Asking<T>) -> Option<T> {
        let begun = Instant::now();
        loop {
            let answer = asking.answer().map(|answer| answer.says);
            if answer.is_some() || !asking.is_open() || begun.elapsed() > Duration::from_secs(10) {
                return answer;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn an_answer_comes_once_and_nobody_waits_for_it() {
        let (release, held) = mpsc::channel::<()>();
        let mut asking = Asking::new("test");
        asking.ask(move |_| held.recv().map(|()| 7));
        assert!(asking.is_open() && asking.answer().is_none());
        release.send(()).unwrap();
        assert_eq!(wait_for(&mut asking), Some(Ok(7)));
        assert!(!asking.is_open() && asking.answer().is_none());
    }

    #[test]
    fn who_goes_says_so_and_waits_for_the_thread() {
        let (told, ended) = mpsc::channel();
        let mut asking = Asking::new("test");
        asking.ask(move |is_moot| {
            while !is_moot.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            told.send(()).unwrap();
        });
        drop(asking);
        assert_eq!(ended.try_recv(), Ok(()));
    }
}
