//! Clients that ask I/O servers, wait for the answer, and ask again (Brown 2018, I/O against its own threshold).
//!
//! A closed queue: each client has one request at a time, and each server serves one after the other. What the network
//! adds is left out, so times are those of the servers alone.

use crate::rng::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests of each client that are played, and those at the start that do not count: at first all come at once.
const REQUESTS: usize = 200;
const FIRST_REQUESTS: usize = 50;
/// By which part of itself an interval varies, up and down.
const JITTER: f64 = 0.1;

/// Clients and servers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requests {
    /// Clients, at least 1.
    pub clients: usize,
    /// Servers, at least 1; client `i` asks server `i` modulo their number.
    pub servers: usize,
    /// Bytes of a request.
    pub request_bytes: f64,
    /// Bytes a second of a server.
    pub server_bytes_per_s: f64,
    /// Seconds from an answer to the next request.
    pub interval_s: f64,
}

impl Requests {
    /// Seconds that a request takes without other requests.
    pub fn service_s(&self) -> f64 {
        self.request_bytes / self.server_bytes_per_s
    }

    /// Interval below which the servers cannot keep up: all clients together ask for as much as all servers serve
    /// (check B7: `N S / (M B) - S / B`).
    pub fn threshold_s(&self) -> f64 {
        self.clients as f64 * self.service_s() / self.servers as f64 - self.service_s()
    }

    /// Mean time from a request to its answer, in seconds.
    pub fn mean_s(&self, seed: u64) -> f64 {
        let clients = self.clients.max(1);
        let mut rng = Rng::new(seed, 0x8E0);
        let mut free_s = vec![0.0; self.servers.max(1)];
        let mut due = BinaryHeap::new();
        let nanos = |seconds: f64| Reverse((seconds * 1e9) as u64);
        let begins = |client: usize| self.interval_s * client as f64 / clients as f64;
        due.extend((0..clients).map(|client| (nanos(begins(client)), client)));
        let mut sum_s = 0.0;
        for served in 0..REQUESTS * clients {
            let Some((Reverse(at), client)) = due.pop() else { break };
            let at_s = at as f64 / 1e9;
            let server = client % free_s.len();
            let free = &mut free_s[server];
            *free = at_s.max(*free) + self.service_s();
            if served >= FIRST_REQUESTS * clients {
                sum_s += *free - at_s;
            }
            let interval_s = self.interval_s * (1.0 - JITTER + 2.0 * JITTER * rng.uniform());
            due.push((nanos(*free + interval_s), client));
        }
        sum_s / ((REQUESTS - FIRST_REQUESTS) * clients) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brown(clients: usize, interval_s: f64) -> Requests {
        Requests { clients, servers: 72, request_bytes: 4_194_304.0, server_bytes_per_s: 12.5e9, interval_s }
    }

    #[test]
    fn one_client_never_waits_and_many_wait_for_each_other() {
        let alone = brown(1, 1e-3);
        assert!((alone.mean_s(1) / alone.service_s() - 1.0).abs() < 1e-3);
        let crowded = brown(918, 1e-4);
        // 12.75 clients a server, of which all but one wait nearly all the time.
        assert!((crowded.mean_s(1) / (12.75 * crowded.service_s()) - 1.0).abs() < 0.05);
    }

    #[test]
    fn requests_take_twice_as_long_below_the_threshold_alone() {
        for (clients, interval_s) in
            [(306, 128e-3), (306, 1e-4), (612, 4e-3), (612, 1e-3), (918, 8e-3), (918, 2e-3)]
        {
            let requests = brown(clients, interval_s);
            let waits = requests.mean_s(2) > 2.0 * requests.service_s();
            assert_eq!(waits, interval_s < requests.threshold_s(), "{clients} {interval_s}");
        }
    }
}
