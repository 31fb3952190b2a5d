//! The versions of everything that takes part.

use crate::facts::Site;
use crate::finding::{Finding, Group, Notes};
use configuration::kafka::mechanisms;

/// Names them; there is nothing to judge.
pub fn list(site: &Site<'_>) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Versions, "versions");
    let (_, librdkafka) = rdkafka::util::get_rdkafka_version();
    let broker = match &site.kafka {
        Ok(facts) => facts.protocol.as_deref().unwrap_or("not reported"),
        Err(_) => "unknown",
    };
    let tiers = site.database.as_ref().ok().and_then(|facts| facts.tiers.as_ref().ok());
    let server = tiers.map_or("unknown", |tiers| &tiers.server_version);
    let none = if tiers.is_some() { "none" } else { "unknown" };
    let timescale = tiers.and_then(|tiers| tiers.timescale_version.as_deref()).unwrap_or(none);
    notes.ok(format!(
        "tailback {}, librdkafka {librdkafka} ({}), broker's protocol {broker}, PostgreSQL {server}, TimescaleDB {timescale}",
        env!("CARGO_PKG_VERSION"),
        mechanisms().join(", ")
    ));
    notes.done()
}
