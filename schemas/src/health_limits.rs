//! Limits of Tailback's own condition: the section `[health]`. Doctor, `/metrics`, the view `monitor_health`, the page and
//! Grafana's alerts judge by them.

use serde::Deserialize;

/// `[health]`. What a key means, its unit and its range stand in `src/config/default.toml`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "default.toml documents every key; a copy here would drift")]
pub struct HealthLimits {
    pub data_age_s: f64,
    pub lag_s: f64,
    pub backlog_messages: u32,
    pub stalled_s: f64,
    pub silent_share: f64,
    pub dropped_rows: u32,
    pub dropped_share: f64,
    pub rejected_messages: u32,
    pub waiting_notices: u32,
}

/// One limit: what is above it is a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Its key.
    pub name: &'static str,
    /// The largest value without a problem.
    pub above: f64,
    /// What is measured, for a person.
    pub meaning: &'static str,
}

impl HealthLimits {
    /// Every limit, in the order of the section.
    pub fn all(&self) -> [Limit; 9] {
        let limit = |name, above, meaning| Limit { name, above, meaning };
        [
            limit("data_age_s", self.data_age_s, "Seconds since the newest signal"),
            limit("lag_s", self.lag_s, "Seconds from a row's time to its commit"),
            limit("backlog_messages", f64::from(self.backlog_messages), "Messages not read yet"),
            limit("stalled_s", self.stalled_s, "Seconds since a partition's last commit"),
            limit("silent_share", self.silent_share, "Share of the sources that are silent"),
            limit(
                "dropped_rows",
                f64::from(self.dropped_rows),
                "Rows dropped in ten minutes, without copies",
            ),
            limit("dropped_share", self.dropped_share, "Share of a topic's rows that are dropped"),
            limit("rejected_messages", f64::from(self.rejected_messages), "Messages rejected in ten minutes"),
            limit(
                "waiting_notices",
                f64::from(self.waiting_notices),
                "Notices that a receiver has not accepted",
            ),
        ]
    }
}
