//! Signals that stop or reload the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::signal::ctrl_c;
use tokio::signal::unix::{SignalKind, signal};

/// Time after a signal from which another one means that the first was not enough.
const SECOND_WISH: Duration = Duration::from_millis(500);

/// Waits for Ctrl-C or SIGTERM. Where a handler cannot be set the other one still counts.
pub async fn requested() {
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = ctrl_c() => {}
        () = terminated => {}
    }
}

/// Calls `reload` at each SIGHUP.
pub async fn on_reload(reload: impl Fn()) {
    let Ok(mut hangups) = signal(SignalKind::hangup()) else { return };
    while hangups.recv().await.is_some() {
        reload();
    }
}

/// Sends to `stopper` when a stop is requested: for a loop that waits on a channel, without a runtime of its own.
///
/// # Errors
/// A runtime or a thread that the system refuses.
pub fn send_when_requested(stopper: Sender<()>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (ready, watching) = channel();
    std::thread::Builder::new().name("signals".to_string()).spawn(move || {
        runtime.block_on(async {
            let ended = std::pin::pin!(requested());
            // Handlers are set at the first poll; only then may the run begin.
            let first = futures::future::select(ended, std::future::ready(())).await;
            let _ = ready.send(());
            if let futures::future::Either::Right(((), ended)) = first {
                ended.await;
            }
        });
        let _ = stopper.send(());
    })?;
    Ok(watching.recv()?)
}

/// Becomes true at the first signal. A second one ends the process at once; what was committed stays whole.
pub fn flag_when_requested(runtime: &Runtime) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    runtime.spawn(async move {
        requested().await;
        stopped.store(true, Ordering::Relaxed);
        // `timeout` and supervisors send one to the process and its group, which is no second wish.
        tokio::time::sleep(SECOND_WISH).await;
        requested().await;
        std::process::exit(130);
    });
    stop
}
