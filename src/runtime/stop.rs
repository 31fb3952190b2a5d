//! Requests to stop and to reload, shared by threads and tasks; consumers closed in time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Whether to stop, and how often to have reloaded.
#[derive(Clone, Debug, Default)]
pub struct Control {
    stop: watch::Sender<bool>,
    reloads: Arc<AtomicU64>,
}

impl Control {
    /// Stops all threads and tasks.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Whether to stop.
    pub fn stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Waits until it is time to stop.
    pub async fn wait(&self) {
        // The sender lives as long as this.
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }

    /// Waits so long; false when it is time to stop.
    pub async fn waited(&self, delay: Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(delay) => true,
            () = self.wait() => false,
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

#[cfg(test)]
mod tests {
    use super::*;

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
