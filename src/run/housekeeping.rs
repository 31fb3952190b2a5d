//! Hourly rounds in the database, by whichever process has the roll-up stage.

use super::clock;
use super::stop::Wishes;
use detector::postgres::{Housekept, PgSettings, housekeep};
use std::time::Duration;

/// Time between two rounds, and before the first: a start has other things to do.
const ROUND: Duration = Duration::from_secs(3_600);

/// Keeps house until the process stops. A round that fails is told and tried again an hour later.
pub async fn rounds(settings: PgSettings, wishes: Wishes) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(ROUND) => {}
            () = wishes.wait() => return,
        }
        match housekeep(&settings, clock::now()).await {
            Ok(done) => tell(&done),
            Err(error) => tracing::warn!(%error, "the database's housekeeping has to wait for the next hour"),
        }
    }
}

fn tell(done: &Housekept) {
    if !done.policies_run.is_empty() {
        let policies = done.policies_run.join(", ");
        tracing::warn!(policies, "TimescaleDB's scheduler failed at policies; they were run from here");
    }
    for (policy, said) in &done.policies_failed {
        tracing::error!(policy, said, "a policy of TimescaleDB fails; `tailback doctor` says more");
    }
}
