//! Measures without a network: requests to servers, single messages.

use super::experiment::{MessagesSpec, RequestsSpec};
use super::measure::Measure;
use anyhow::Context;
use samplers::messages::LogGp;
use samplers::requests::Requests;

/// A measure of clients that send requests to servers.
///
/// # Errors
/// The measure is none of theirs.
pub fn of_requests(spec: &RequestsSpec, seed: u64, measure: &Measure) -> anyhow::Result<f64> {
    let requests = Requests {
        clients: spec.clients,
        servers: spec.servers,
        request_bytes: spec.request_bytes,
        server_bytes_per_s: spec.server_bytes_per_s,
        interval_s: spec.interval_ms * 1e-3,
    };
    Ok(match measure.name.as_str() {
        "request_us" => 1e6 * requests.mean_s(seed),
        "request_factor" => requests.mean_s(seed) / requests.service_s(),
        "threshold_ms" => 1e3 * requests.threshold_s(),
        _ => anyhow::bail!("{measure}: the case has requests and no network"),
    })
}

/// A figure of single messages.
///
/// # Errors
/// The measure is none of theirs, or an argument is no whole number.
pub fn of_messages(spec: &MessagesSpec, measure: &Measure) -> anyhow::Result<f64> {
    let MessagesSpec { latency_us, overhead_us, gap_us, byte_us } = *spec;
    let network = LogGp { latency_us, overhead_us, gap_us, byte_us };
    let number = |at| -> anyhow::Result<u32> {
        let argument = measure.argument(at)?;
        argument.parse().with_context(|| format!("{measure}: {argument:?} is no whole number"))
    };
    Ok(match measure.name.as_str() {
        "message_us" => network.message_us(f64::from(number(0)?)),
        "messages_us" => network.messages_us(number(0)?, f64::from(number(1)?)),
        _ => anyhow::bail!("{measure}: the case has messages and no network"),
    })
}
