//! Requests to stop and to reload, shared by threads and tasks; the end of a stage.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Instant;

/// Whether to stop, and how often to have reloaded.
#[derive(Clone, Debug, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    reloads: Arc<AtomicU64>,
}

impl Control {
    /// Stops all threads and tasks.
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

    /// How often a reload was requested.
    pub fn reloads(&self) -> u64 {
        self.reloads.load(Ordering::Relaxed)
    }
}

/// Runs `last`, which closes clients, and waits for it until `deadline`; returns whether it was done by then. Closing a
/// consumer waits for brokers, which may not answer. The end of the process does the rest. `last` must own everything that
/// may own the consumer: the last owner closes it when it is dropped.
pub fn close_consumer(deadline: Instant, last: impl FnOnce() + Send + 'static) -> bool {
    let (doing, done) = mpsc::channel();
    let thread = std::thread::Builder::new().name("close".to_string());
    // Without a thread `last` is dropped here, which may take its time.
    let doing = thread.spawn(move || {
        last();
        doing.send(()).is_ok()
    });
    doing.is_ok() && done.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_ok()
}

/// The stage has to restart from the committed position; no data is lost.
#[derive(Debug, thiserror::Error)]
#[error("{0}; restarting the stage from the committed position")]
pub struct Restart(pub String);

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn close_waits_until_the_deadline_only() {
        let (begun, timeout) = (Instant::now(), Duration::from_secs(20));
        let (done, received) = mpsc::channel();
        assert!(close_consumer(begun + timeout, move || done.send(()).unwrap()));
        received.try_recv().unwrap();
        assert!(begun.elapsed() < timeout);
        let (_never, waits) = mpsc::channel::<()>();
        let deadline = Instant::now() + Duration::from_millis(50);
        assert!(!close_consumer(deadline, move || assert!(waits.recv().is_err())));
        assert!(Instant::now() >= deadline);
    }
}
