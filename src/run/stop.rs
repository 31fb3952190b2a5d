//! The wish to stop, and the wish to read thresholds again, as threads and tasks see them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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

/// A stage has to begin again from what was committed; nothing is lost by it.
#[derive(Debug, thiserror::Error)]
#[error("{0}; the stage begins again from what was committed")]
pub struct Again(pub String);
