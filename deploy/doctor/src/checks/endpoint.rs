//! This machine's `/metrics` and `/readyz`, judged.

use crate::facts::endpoints::Endpoint;
use crate::finding::{Finding, Group, Notes};

/// Whether a process of Tailback serves `/metrics` here, and whether it is ready.
pub fn check(endpoint: &Endpoint) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Stages, "metrics");
    match endpoint {
        Endpoint::AnyPort => {
            notes.ok("http.listen has port 0: the address of /metrics is in the log of `tailback run`");
        }
        Endpoint::Silent(address) => notes.advise(
            format!("nothing answers at http://{address}/metrics"),
            "nothing, if `tailback run` runs on another machine",
        ),
        Endpoint::Other(address, status) => notes.warn(
            format!("http://{address}/metrics answers {status}, but not as Tailback does"),
            "another program may listen there: set http.listen; with 401 check http.token_file",
        ),
        Endpoint::Tailback(address, trouble) => {
            notes.ok(format!("http://{address}/metrics answers"));
            if let Some(trouble) = trouble {
                notes.warn(format!("the process here is not ready: {trouble}"), "see its log");
            }
        }
    }
    notes.done()
}
