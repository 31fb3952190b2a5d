//! Rows of LDMS' `slingshot_metrics`, decomposed `as_is`: one for each interface of a node.
//!
//! Bytes and pauses are the columns that our two metrics need. The site's two metrics need 32 more: discards and packets sent,
//! pauses and packets received, of eight traffic classes each. All names are Cassini's; what the site's metrics mean was not
//! checked. One class carries nearly all traffic, as at sites that use one; all are written.

use crate::Part;
use crate::text::{Lines, Random};

pub const SCHEMA: &str = "slingshot_metrics";
/// Interfaces of a node, as at Frontier.
const INTERFACES: usize = 4;
/// Traffic classes.
const CLASSES: usize = 8;
/// One node in so many is contended at a time, for so many seconds, with so many times the pauses.
const CONTENDED_ONE_IN: u64 = 200;
const CONTENDED_S: u64 = 30;
const CONTENDED_TIMES: u64 = 20;
/// 2026-11-20 23:30:18 UTC, in seconds.
const START_S: u64 = 1_795_217_418;

/// Which counters a row has.
#[derive(Clone, Copy, Debug)]
pub enum Metrics {
    /// Those of the catalogue's two metrics.
    Ours,
    /// Those of the site's two metrics too.
    WithSite,
}

/// A counter of an interface.
#[derive(Clone, Debug)]
struct Column {
    /// As a row has it: `,"nics.NAME":`.
    key: String,
    /// Its growth a second.
    rate: u64,
    /// Where it begins, at most.
    base: u64,
    /// Whether it grows faster under contention.
    pauses: bool,
}

/// Nodes, and their counters as they stand.
#[derive(Debug)]
pub struct Nodes {
    columns: Vec<Column>,
    /// Of all interfaces, each with all columns.
    counters: Vec<u64>,
    first_node: usize,
    nodes: usize,
    second: u64,
    random: Random,
}

impl Nodes {
    /// Share `share` of the nodes, with `interfaces` in all.
    pub fn new(metrics: Metrics, share: usize, interfaces: usize) -> Nodes {
        let columns = columns(metrics);
        let mut random = Random::new(share as u64 + 1);
        let all = (0..interfaces).flat_map(|_| &columns);
        let counters = all.map(|column| random.below(column.base)).collect();
        let nodes = interfaces / INTERFACES;
        Nodes { columns, counters, first_node: share * nodes, nodes, second: 0, random }
    }

    fn put_row(&mut self, lines: &mut Lines, node: usize, interface: usize) {
        let number = (self.first_node + node) as u64;
        lines.put("{\"timestamp\":");
        lines.put_number(START_S + self.second);
        lines.put(".");
        lines.put_digits(1_000 + number % 4_000, 6);
        lines.put(",\"component_id\":");
        lines.put_number(number);
        lines.put(",\"producer\":\"nid");
        lines.put_digits(number, 6);
        lines.put("\",\"job_id\":0,\"app_id\":0,\"nics.name\":\"cxi");
        lines.put_number(interface as u64);
        lines.put("\"");
        let is_contended = (number + self.second / CONTENDED_S).is_multiple_of(CONTENDED_ONE_IN);
        let first = (node * INTERFACES + interface) * self.columns.len();
        for (column, counter) in self.columns.iter().zip(&mut self.counters[first..]) {
            let times = if is_contended && column.pauses { CONTENDED_TIMES } else { 1 };
            *counter += self.random.near(column.rate * times);
            lines.put(&column.key);
            lines.put_number(*counter);
        }
        lines.put("}");
        lines.end_line();
    }
}

impl Part for Nodes {
    /// Nodes are in another order each second, as rows of LDMS without a key are.
    fn next(&mut self, lines: &mut Lines) {
        lines.clear();
        let stride = [7_919, 10_007, 12_553, 15_101][self.second as usize % 4];
        for turn in 0..self.nodes {
            let node = (turn * stride + self.second as usize) % self.nodes;
            (0..INTERFACES).for_each(|interface| self.put_row(lines, node, interface));
        }
        self.second += 1;
    }
}

fn columns(metrics: Metrics) -> Vec<Column> {
    let column =
        |name: &str, rate, base, pauses| Column { key: format!(",\"nics.{name}\":"), rate, base, pauses };
    let mut all = Vec::new();
    let mut of_classes = |name: &str, rate: u64, base, pauses| {
        let rate = |class: usize| if class == 0 { rate } else { rate / 1_000 };
        all.extend((0..CLASSES).map(|class| column(&format!("{name}_{class}"), rate(class), base, pauses)));
    };
    of_classes("hni_tx_paused", 200_000_000, 1_000_000_000_000, true);
    of_classes("hni_rx_paused", 20_000_000, 1_000_000_000_000, true);
    if matches!(metrics, Metrics::WithSite) {
        of_classes("hni_pkts_sent_by_tc", 4_000_000, 10_000_000_000_000, false);
        of_classes("hni_pkts_recv_by_tc", 4_000_000, 10_000_000_000_000, false);
        of_classes("hni_pause_xoff_sent", 4_000, 10_000_000_000, true);
        of_classes("hni_discard_cntr", 10, 1_000_000, true);
    }
    for name in ["hni_sts_tx_ok_octets", "hni_sts_rx_ok_octets"] {
        all.push(column(name, 8_000_000_000, 10_000_000_000_000_000, false));
    }
    all
}
