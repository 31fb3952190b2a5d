//! Rows of machines, as LDMS writes them.

use std::fmt::Write;

/// The first second, 2026-11-20 23:30:18 UTC.
const START_S: u64 = 1_795_217_418;
/// Interfaces of a node, as at Frontier.
const INTERFACES: u64 = 4;

/// A row: its schema and JSON.
pub type Line = (&'static str, String);

/// What makes the rows of a second.
pub trait Machine {
    /// Replaces `lines` by the rows of a second.
    fn second(&mut self, second: u64, lines: &mut Vec<Line>);
}

/// Slingshot interfaces of nodes, a row for each.
pub struct Interfaces {
    /// How many nodes.
    pub nodes: u64,
}

/// What a counter shows that grows by about `rate` a second.
fn counter(rate: u64, second: u64, number: u64) -> u64 {
    let noise = (second * 7_919 + number * 104_729) % 101;
    1_000_000_000 + rate * second + rate * noise / 1_000
}

impl Machine for Interfaces {
    fn second(&mut self, second: u64, lines: &mut Vec<Line>) {
        lines.clear();
        for node in 0..self.nodes {
            for interface in 0..INTERFACES {
                let mut line = format!(
                    "{{\"timestamp\":{}.{:06},\"component_id\":{node},\"producer\":\"nid{node:06}\",\"job_id\":0,\"app_id\":0,\
                     \"nics.name\":\"cxi{interface}\"",
                    START_S + second,
                    1_000 + node % 4_000,
                );
                let number = node * INTERFACES + interface;
                for (name, rate) in [("hni_tx_paused", 200_000_000), ("hni_rx_paused", 20_000_000)] {
                    for class in 0..8 {
                        let rate = if class == 0 { rate } else { rate / 1_000 };
                        write!(line, ",\"nics.{name}_{class}\":{}", counter(rate, second, number)).unwrap();
                    }
                }
                for name in ["hni_sts_tx_ok_octets", "hni_sts_rx_ok_octets"] {
                    write!(line, ",\"nics.{name}\":{}", counter(8_000_000_000, second, number)).unwrap();
                }
                line.push('}');
                lines.push(("slingshot_metrics", line));
            }
        }
    }
}
