//! Whether receivers of alerts accept our credentials.

use alerts::receivers::{Receiver, probe};
use futures::future::join_all;
use std::time::Duration;

/// A receiver, and why it would refuse notices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// Its name.
    pub name: String,
    /// Where it is; "" of Slurm.
    pub url: String,
    /// Why it refuses, with the remedy.
    pub refused: Option<String>,
}

/// Asks all receivers at once.
pub async fn look(receivers: &[Receiver], timeout: Duration) -> Vec<Probed> {
    let probed = receivers.iter().map(|receiver| async move {
        let answer = tokio::time::timeout(timeout, probe(receiver)).await;
        let refused = match answer {
            Ok(answer) => answer.err(),
            Err(_) => Some(format!("it does not answer within {} s", timeout.as_secs_f64())),
        };
        Probed { name: receiver.name.clone(), url: receiver.url.clone(), refused }
    });
    join_all(probed).await
}
