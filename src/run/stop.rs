//! The wish to stop, and the wish to read thresholds again, as threads and tasks see them; the end of a stage.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Instant;

/// Whether to stop, and how often to have reloaded.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    stop: Arc<AtomicBool>,
    reloads: Arc<AtomicU64>,
}

impl Wishes {
    /// Asks everybody to stop.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether to stop.
    pub fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Waits until it is time to stop.
    pub async fn wait(&self) {
        while !self.stopping() {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }

    /// Asks for another reload.
    pub fn reload(&self) {
        self.reloads.fetch_add(1, Ordering::Relaxed);
    }

    /// How often a reload was asked for.
    pub fn reloads(&self) -> u64 {
        self.reloads.load(Ordering::Relaxed)
    }
}

/// Does the `last` things with brokers, and waits for them until `deadline`; whether they were done by then. Closing a consumer
/// waits for brokers, which may not answer, whether or not there is something to close for. What is left the end of the process
/// does. All that may own the consumer belongs into `last`: whoever drops it last closes it.
pub fn let_go(deadline: Instant, last: impl FnOnce() + Send + 'static) -> bool {
    let (doing, done) = mpsc::channel();
    let thread = std::thread::Builder::new().name("let go".to_string());
    // Without a thread `last` is dropped here, which may take its time.
    let doing = thread.spawn(move || {
        last();
        doing.send(()).is_ok()
    });
    doing.is_ok() && done.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_ok()
}

/// A stage has to begin again from what was committed; nothing is lost by it.
#[derive(Debug, thiserror::Error)]
#[error("{0}; the stage begins again from what was committed")]
pub struct Again(pub String);

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_ends_in_time_is_waited_for_and_what_does_not_is_left() {
        let (begun, patience) = (Instant::now(), Duration::from_secs(20));
        let (told, hears) = mpsc::channel();
        assert!(let_go(begun + patience, move || told.send(()).unwrap()));
        hears.try_recv().unwrap();
        assert!(begun.elapsed() < patience);
        let (_never, waits) = mpsc::channel::<()>();
        let deadline = Instant::now() + Duration::from_millis(50);
        assert!(!let_go(deadline, move || assert!(waits.recv().is_err())));
        assert!(Instant::now() >= deadline);
    }
}
