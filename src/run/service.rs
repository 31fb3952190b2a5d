//! What a service manager (systemd, `Type=notify`) is told: that the process is there, how it is, that it lives.
//!
//! It is told to be there once its configuration holds and `/healthz` answers; brokers and a database that are away are
//! waited for by Tailback itself, and stand in the status line. The watchdog is fed only while every stage turns.

use super::http::Health;
use super::stop::Wishes;
use sd_notify::NotifyState;
use std::time::Duration;

/// Time between two status lines where there is no watchdog.
const STATUS: Duration = Duration::from_secs(5);

/// Tells it until the process shall stop. Without a service manager nobody hears it.
pub async fn tell(health: Health, wishes: Wishes) {
    let watchdog = sd_notify::watchdog_enabled();
    let pause = watchdog.map_or(STATUS, |limit| (limit / 3).min(STATUS));
    say(&[NotifyState::Ready]);
    while !wishes.stopping() {
        let status = match health.text(true) {
            Ok(_) => "works".to_string(),
            Err(trouble) => trouble.trim().replace('\n', "; "),
        };
        say(&[NotifyState::Status(&status)]);
        if watchdog.is_some() && health.text(false).is_ok() {
            say(&[NotifyState::Watchdog]);
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = wishes.wait() => {}
        }
    }
    say(&[NotifyState::Stopping, NotifyState::Status("stops")]);
}

fn say(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!(%error, "the service manager does not listen");
    }
}
