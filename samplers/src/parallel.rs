//! Many cases on all processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does `work` with all items, so many at a time, as many as there are processors without a number; results in their order.
pub fn at_once<I: Sync, R: Send>(threads: Option<u16>, items: &[I], work: impl Fn(&I) -> R + Sync) -> Vec<R> {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.map_or_else(processors, usize::from);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let some = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
    };
    std::thread::scope(|scope| (0..threads.min(items.len())).for_each(|_| drop(scope.spawn(some))));
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
