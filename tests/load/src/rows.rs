//! Rows as `store_avro_kafka` writes them in JSON mode: columns and number formats of recorded rows.
//!
//! A row of a router is the half that one node's sampler reports: 20 tiles of nine counters, all of which Tailback
//! reads. A row of a client has the columns of a selected decomposition, of which Tailback reads one.

use crate::model::Tile;
use crate::site::{Site, router_name};
use samplers::aries::{CHANNELS, COLUMNS, NODES_PER_ROUTER, ROWS, node_name};
use samplers::ldms_rows::FILE_SYSTEM;

const PAGE_BYTES: u64 = 4096;

/// The texts of a node's rows that never change.
#[derive(Clone, Debug)]
struct Head {
    /// From the producer to the number of the job, for the router and for the client.
    router: Vec<u8>,
    client: Vec<u8>,
    /// What follows the number of the job.
    router_name: Vec<u8>,
    mount: Vec<u8>,
}

/// Writes rows into a buffer, without allocation.
#[derive(Clone, Debug)]
pub struct RowWriter {
    heads: Vec<Head>,
    /// For the left and the right half of a router: tile, counter, and the key with comma and colon.
    columns: [Vec<(u32, usize, Vec<u8>)>; 2],
}

impl RowWriter {
    /// A writer for all nodes of a machine.
    pub fn new(site: Site) -> RowWriter {
        RowWriter {
            heads: (0..site.nodes()).map(head).collect(),
            columns: [half_columns(0), half_columns(COLUMNS / 2)],
        }
    }

    /// A row of `aries_rtr`: the half of its router that `node` reports. `tiles` are all of that router.
    pub fn router(&self, out: &mut Vec<u8>, node: u32, job: u64, time_us: i64, tiles: &[Tile]) {
        let Some(head) = self.heads.get(node as usize) else { return };
        put_time(out, time_us);
        out.extend_from_slice(&head.router);
        put_number(out, job);
        out.extend_from_slice(&head.router_name);
        for (tile, counter, key) in &self.columns[half_of(node)] {
            out.extend_from_slice(key);
            put_number(out, tiles[*tile as usize][*counter]);
        }
        out.push(b'}');
    }

    /// A row of `lustre_client`; `second` moves the counters that do not depend on the model.
    pub fn client(&self, out: &mut Vec<u8>, node: u32, job: u64, time_us: i64, written: u64, second: u32) {
        let Some(head) = self.heads.get(node as usize) else { return };
        let pages = written / PAGE_BYTES;
        let files = u64::from(second / 2);
        put_time(out, time_us);
        out.extend_from_slice(&head.client);
        put_number(out, job);
        out.extend_from_slice(&head.mount);
        let fields: [(&[u8], u64); 8] = [
            (b",\"dirty_pages_hits\":", pages / 1800),
            (b",\"dirty_pages_misses\":", pages),
            (b",\"read_bytes.sum\":", 17_698_816),
            (b",\"write_bytes.sum\":", pages * PAGE_BYTES),
            (b",\"open\":", 1200 + files),
            (b",\"close\":", 1192 + files),
            (b",\"fsync\":", 0),
            (b",\"getattr\":", 2400 + files * 2),
        ];
        for (key, value) in fields {
            out.extend_from_slice(key);
            put_number(out, value);
        }
        out.extend_from_slice(b",\"statfs\":0}");
    }
}

/// Even nodes report the left columns of their router, odd ones the right: of four nodes two are redundant.
fn half_of(node: u32) -> usize {
    (node % 2) as usize
}

fn head(node: u32) -> Head {
    let name = node_name(node);
    let router = router_name(node / NODES_PER_ROUTER);
    let mount = format!("{FILE_SYSTEM}-ffff88{:06x}b000", 0x1000 + node * 0x3d);
    let text = |instance: &str| {
        format!(
            ",\"producer\":\"{name}\",\"instance\":\"{name}/{instance}\",\"component_id\":{node},\"job_id\":"
        )
        .into_bytes()
    };
    Head {
        router: text("aries_rtr_mmr"),
        client: text(&mount),
        router_name: format!(",\"app_id\":0,\"aries_rtr_id\":\"{router}a0\"").into_bytes(),
        mount: format!(",\"app_id\":0,\"fs_name\":\"{FILE_SYSTEM}\",\"llite\":\"{mount}\"").into_bytes(),
    }
}

/// The columns of one half in the order of the metric files: two columns of tiles at a time, row by row, channel
/// by channel, the stalls last.
fn half_columns(first: u32) -> Vec<(u32, usize, Vec<u8>)> {
    let mut columns = Vec::new();
    for left in [first, first + 2] {
        for row in 0..ROWS {
            for counter in 0..=CHANNELS {
                for column in [left, left + 1] {
                    let what = match counter {
                        CHANNELS => "ROWBUS_STALL_CNT".to_string(),
                        channel => format!("INCOMING_FLIT_VC{channel}"),
                    };
                    let key = format!(",\"AR_RTR_{row}_{column}_INQ_PRF_{what}\":");
                    columns.push((row * COLUMNS + column, counter, key.into_bytes()));
                }
            }
        }
    }
    columns
}

/// The opening brace and the timestamp: whole seconds, a dot, six decimals.
pub(crate) fn put_time(out: &mut Vec<u8>, time_us: i64) {
    out.extend_from_slice(b"{\"timestamp\":");
    let time_us = time_us.max(0) as u64;
    put_number(out, time_us / 1_000_000);
    out.push(b'.');
    let mut decimals = itoa::Buffer::new();
    // A leading 1 keeps the zeros; it is cut off again.
    out.extend_from_slice(&decimals.format(1_000_000 + time_us % 1_000_000).as_bytes()[1..]);
}

fn put_number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_their_zeros() {
        let mut out = Vec::new();
        put_time(&mut out, 1_795_217_418_002_050);
        assert_eq!(out, b"{\"timestamp\":1795217418.002050");
    }

    #[test]
    fn halves_together_report_each_counter_of_a_router_once() {
        let mut all: Vec<(u32, usize)> =
            [half_columns(0), half_columns(4)].concat().into_iter().map(|(tile, at, _)| (tile, at)).collect();
        all.sort_unstable();
        let expected: Vec<(u32, usize)> = (0..40).flat_map(|tile| (0..9).map(move |at| (tile, at))).collect();
        assert_eq!(all, expected);
    }
}
