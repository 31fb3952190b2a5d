//! What is measured of notices.

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use store::outbox::Count;

/// Describes the metrics in `/metrics`.
pub fn describe() {
    describe_counter!("tailback_notices_total", "Tries to deliver notices, by receiver and outcome");
    describe_gauge!("tailback_notices", "Notices in the outbox, by receiver and state");
    describe_histogram!(
        "tailback_notice_age_seconds",
        "From the end of the rule's least duration to the delivery"
    );
}

/// A try ended so.
pub fn tried(receiver: &str, outcome: &'static str) {
    counter!("tailback_notices_total", "receiver" => receiver.to_string(), "outcome" => outcome).increment(1);
}

/// A firing notice was delivered so many seconds after its rule's least duration was over.
pub fn age(receiver: &str, age_s: f64) {
    histogram!("tailback_notice_age_seconds", "receiver" => receiver.to_string()).record(age_s);
}

/// What the outbox holds of a receiver.
pub fn outbox(receiver: &str, counts: &[Count]) {
    for state in ["waiting", "repeating", "delivered", "dead", "superseded", "silenced"] {
        let of = |count: &&Count| count.receiver == receiver && count.state == state;
        let notices = counts.iter().find(of).map_or(0, |count| count.notices);
        gauge!("tailback_notices", "receiver" => receiver.to_string(), "state" => state).set(notices as f64);
    }
}
