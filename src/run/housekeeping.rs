//! Hourly rounds in the database, by whichever process has the roll-up stage.

use super::clock;
use super::stop::Wishes;
use detector::postgres::{Housekept, PgSettings, housekeep, put_expected};
use schemas::site::Expected;
use std::time::Duration;

/// Time between two rounds, and before the first: a start has other things to do.
const ROUND: Duration = Duration::from_secs(3_600);

/// Time between two tries to tell who is expected.
const AGAIN: Duration = Duration::from_secs(10);

/// Tells the database who should report.
pub async fn tell_expected(settings: PgSettings, expected: Vec<Expected>, wishes: Wishes) {
    while let Err(error) = put_expected(&settings, &expected).await {
        tracing::warn!(%error, "the database was not told who should report; trying on");
        tokio::select! {
            () = tokio::time::sleep(AGAIN) => {}
            () = wishes.wait() => return,
        }
    }
}

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
