//! States that a service manager (systemd, `Type=notify`) gets: ready, status, watchdog.
//!
//! The process is ready once its configuration is valid and `/healthz` answers. Tailback itself waits for brokers and a
//! database that are unavailable, and reports them in the status line. It feeds the watchdog only while every stage turns.

use super::http::Health;
use super::stop::Control;
use sd_notify::NotifyState;
use std::time::Duration;

/// Time between two status lines where there is no watchdog.
const STATUS: Duration = Duration::from_secs(5);

/// Notifies the service manager until the process stops. Without a service manager it does nothing.
pub async fn notify(health: Health, control: Control) {
    let watchdog = sd_notify::watchdog_enabled();
    let pause = watchdog.map_or(STATUS, |limit| (limit / 3).min(STATUS));
    send(&[NotifyState::Ready]);
    while !control.stopping() {
        let status = match health.text(true) {
            Ok(_) => "works".to_string(),
            Err(trouble) => trouble.trim().replace('\n', "; "),
        };
        send(&[NotifyState::Status(&status)]);
        if watchdog.is_some() && health.text(false).is_ok() {
            send(&[NotifyState::Watchdog]);
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = control.wait() => {}
        }
    }
    send(&[NotifyState::Stopping, NotifyState::Status("stops")]);
}

fn send(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!(%error, "failed to notify the service manager");
    }
}
