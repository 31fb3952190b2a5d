//! Signals that stop or reload the process.

use tokio::signal::ctrl_c;
use tokio::signal::unix::{SignalKind, signal};

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
