//! Whether the addresses that brokers advertise can be reached from here.

use super::kafka::KafkaFacts;
use std::time::Duration;
use tokio::net::TcpStream;

/// Advertised addresses of brokers that do not answer from here, with the reason.
pub async fn unreachable(facts: &KafkaFacts, timeout: Duration) -> Vec<(String, String)> {
    let tries = facts.brokers.iter().map(|(_, address)| async move {
        let why = match tokio::time::timeout(timeout, TcpStream::connect(address)).await {
            Ok(Ok(_)) => return None,
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {} s", timeout.as_secs_f64()),
        };
        Some((address.clone(), why))
    });
    futures::future::join_all(tries).await.into_iter().flatten().collect()
}
