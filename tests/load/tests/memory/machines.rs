//! Machines, and their rows.

use load::feed::{Feed, Plan};
use load::site::Site;
use std::fmt::Write;

/// The first second, 2026-11-20 23:30:18 UTC.
const START_S: i64 = 1_795_217_418;
/// Interfaces of a node, as at Frontier.
const INTERFACES: u64 = 4;
/// Traffic classes of an interface.
const CLASSES: u64 = 8;

/// Rows: schema and JSON.
pub type Lines = Vec<(&'static str, Vec<u8>)>;

/// What makes rows.
pub trait Machine {
    /// Replaces `lines` by the rows of the next second.
    fn second(&mut self, lines: &mut Lines);
}

/// A part of a Trinity: routers, clients of Lustre, jobs.
pub struct Trinity(Feed);

impl Trinity {
    /// So many Trinities, for so many seconds.
    pub fn new(trinities: f64, seconds: u32) -> Trinity {
        let site = Site::of_trinities(trinities);
        Trinity(Feed::new(Plan { site, redundancy: false, start: START_S, seconds, seed: 11 }))
    }
}

impl Machine for Trinity {
    fn second(&mut self, lines: &mut Lines) {
        lines.clear();
        let taken = self.0.second(|row| {
            lines.push((row.schema.name(), row.json.to_vec()));
            Ok::<(), ()>(())
        });
        taken.unwrap();
    }
}

/// Slingshot interfaces of nodes, a row for each.
pub struct Interfaces {
    nodes: u64,
    second: u64,
}

impl Interfaces {
    /// Those of so many nodes.
    pub fn of(nodes: u64) -> Interfaces {
        Interfaces { nodes, second: 0 }
    }

    fn row(&self, node: u64, interface: u64) -> String {
        let mut row = format!(
            "{{\"timestamp\":{}.{:06},\"component_id\":{node},\"producer\":\"nid{node:06}\",\"job_id\":0,\"app_id\":0,\
             \"nics.name\":\"cxi{interface}\"",
            START_S as u64 + self.second,
            1_000 + node % 4_000,
        );
        let mut put = |name: &str, rate: u64| {
            let noise = (self.second * 7_919 + (node * INTERFACES + interface) * 104_729) % 101;
            let count = 1_000_000_000 + rate * self.second + rate * noise / 1_000;
            write!(row, ",\"nics.{name}\":{count}").unwrap();
        };
        for (name, rate) in [("hni_tx_paused", 200_000_000), ("hni_rx_paused", 20_000_000)] {
            for class in 0..CLASSES {
                put(&format!("{name}_{class}"), if class == 0 { rate } else { rate / 1_000 });
            }
        }
        put("hni_sts_tx_ok_octets", 8_000_000_000);
        put("hni_sts_rx_ok_octets", 8_000_000_000);
        row.push('}');
        row
    }
}

impl Machine for Interfaces {
    fn second(&mut self, lines: &mut Lines) {
        lines.clear();
        for node in 0..self.nodes {
            let rows = (0..INTERFACES).map(|interface| self.row(node, interface).into_bytes());
            lines.extend(rows.map(|row| ("slingshot_metrics", row)));
        }
        self.second += 1;
    }
}
