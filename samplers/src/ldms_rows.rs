//! LDMS rows as `store_avro_kafka` writes them in JSON mode: column order and number formats of the recorded ones.
//!
//! A row is written straight into the buffer of its schema; nothing is allocated for it.

use crate::aries::{CHANNELS, COLUMNS, NODES_PER_ROUTER, ROWS, node_name, router_name};
use schemas::Time;

#[cfg(test)]
mod tests;

/// File system that the clients mount.
pub const FILE_SYSTEM: &str = "snx11137";

/// Schemas that the cluster emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// Router tiles.
    AriesRtr,
    /// Lustre clients.
    LustreClient,
    /// Job events.
    SlurmJobs,
    /// Network interfaces of nodes.
    AriesNic,
}

impl Schema {
    /// All of them, in the order in which [`Rows::lines`] gives them.
    pub const ALL: [Schema; 4] =
        [Schema::SlurmJobs, Schema::LustreClient, Schema::AriesNic, Schema::AriesRtr];

    /// The schema's name; the topic is `ldms.` and this.
    pub fn name(self) -> &'static str {
        match self {
            Schema::AriesRtr => "aries_rtr",
            Schema::LustreClient => "lustre_client",
            Schema::SlurmJobs => "slurm_jobs",
            Schema::AriesNic => "aries_nic",
        }
    }
}

/// The rows of one tick: for each schema lines of JSON, each ended by a newline. Keeps its memory when cleared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    buffers: [Vec<u8>; 4],
}

impl Rows {
    /// Empties it.
    pub fn clear(&mut self) {
        self.buffers.iter_mut().for_each(Vec::clear);
    }

    /// All lines of a schema, newlines included.
    pub fn bytes(&self, schema: Schema) -> &[u8] {
        &self.buffers[schema as usize]
    }

    /// The lines one by one, without their newlines: job rows first, then clients, interfaces and routers.
    pub fn lines(&self) -> impl Iterator<Item = (Schema, &[u8])> {
        Schema::ALL.into_iter().flat_map(|schema| {
            let lines = self.bytes(schema).split(|b| *b == b'\n').filter(|l| !l.is_empty());
            lines.map(move |line| (schema, line))
        })
    }

    pub(crate) fn buffer(&mut self, schema: Schema) -> &mut Vec<u8> {
        &mut self.buffers[schema as usize]
    }
}

/// What changes in a client's row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientRow {
    pub(crate) time: Time,
    pub(crate) job: u64,
    /// Bytes written; the row has whole pages.
    pub(crate) written: f64,
    /// Seconds since the start, for the counters that advance by themselves.
    pub(crate) second: u64,
}

/// A job event. A row before the scheduler's report has neither name nor user nor counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JobRow {
    pub(crate) time: Time,
    pub(crate) node: u32,
    pub(crate) job: u64,
    pub(crate) user: String,
    pub(crate) name: String,
    pub(crate) uid: usize,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) node_count: usize,
    pub(crate) task_count: u32,
}

/// Bytes of a page of the client's cache.
const PAGE_BYTES: u64 = 4096;

/// Writes rows; holds the parts of them that never change.
#[derive(Clone, Debug)]
pub(crate) struct RowWriter {
    /// For the left and the right half of a router: tile, counter, and the key with comma and colon.
    columns: [Vec<(u32, usize, Vec<u8>)>; 2],
    /// Per node, from the producer to the number of the component.
    router_heads: Vec<Vec<u8>>,
    interface_heads: Vec<Vec<u8>>,
    client_heads: Vec<Vec<u8>>,
    /// Per node, what follows the number of the job.
    router_names: Vec<Vec<u8>>,
    mounts: Vec<Vec<u8>>,
}

impl RowWriter {
    pub(crate) fn new(nodes: u32) -> RowWriter {
        let mount = |node: u32| format!("{FILE_SYSTEM}-ffff88{:06x}b000", 0x1000 + node * 0x3d);
        let head = |node: u32, instance: &str| {
            let name = node_name(node);
            format!(
                ",\"producer\":\"{name}\",\"instance\":\"{name}/{instance}\",\"component_id\":{node},\"job_id\":"
            )
        };
        let all = |text: &dyn Fn(u32) -> String| (0..nodes).map(|n| text(n).into_bytes()).collect();
        RowWriter {
            columns: [half_columns(0), half_columns(COLUMNS / 2)],
            router_heads: all(&|node| head(node, "aries_rtr_mmr")),
            interface_heads: all(&|node| head(node, "aries_nic_mmr")),
            client_heads: all(&|node| head(node, &mount(node))),
            router_names: all(&|node| {
                let router = router_name(node / NODES_PER_ROUTER);
                format!(",\"app_id\":0,\"aries_rtr_id\":\"{router}a0\"")
            }),
            mounts: all(&|node| {
                let mount = mount(node);
                format!(",\"app_id\":0,\"fs_name\":\"{FILE_SYSTEM}\",\"llite\":\"{mount}\"")
            }),
        }
    }

    /// A row of `lustre_client`. Only `write_bytes.sum` follows the physics; the rest keeps to it as it does in
    /// the recorded rows: a page missed for each page written, a file touched every other second.
    pub(crate) fn client(&self, out: &mut Vec<u8>, node: u32, row: ClientRow) {
        let pages = row.written as u64 / PAGE_BYTES;
        put_time(out, row.time);
        out.extend_from_slice(&self.client_heads[node as usize]);
        put_number(out, row.job);
        out.extend_from_slice(&self.mounts[node as usize]);
        let fields: [(&[u8], u64); 8] = [
            (b",\"dirty_pages_hits\":", pages / 1800),
            (b",\"dirty_pages_misses\":", pages),
            (b",\"read_bytes.sum\":", 17_698_816),
            (b",\"write_bytes.sum\":", pages * PAGE_BYTES),
            (b",\"open\":", 1200 + row.second / 2),
            (b",\"close\":", 1192 + row.second / 2),
            (b",\"fsync\":", 0),
            (b",\"getattr\":", 2400 + row.second / 2 * 2),
        ];
        for (key, value) in fields {
            out.extend_from_slice(key);
            put_number(out, value);
        }
        out.extend_from_slice(b",\"statfs\":0}\n");
    }

    /// A row of `aries_nic`: flits and stalls of requests.
    pub(crate) fn interface(
        &self,
        out: &mut Vec<u8>,
        node: u32,
        job: u64,
        time: Time,
        [flits, stalls]: [u64; 2],
    ) {
        put_time(out, time);
        out.extend_from_slice(&self.interface_heads[node as usize]);
        put_number(out, job);
        out.extend_from_slice(&self.router_names[node as usize]);
        out.extend_from_slice(b",\"AR_NIC_NETMON_ORB_EVENT_CNTR_REQ_FLITS\":");
        put_number(out, flits);
        out.extend_from_slice(b",\"AR_NIC_NETMON_ORB_EVENT_CNTR_REQ_STALLED\":");
        put_number(out, stalls);
        out.extend_from_slice(b"}\n");
    }

    /// A row of `aries_rtr`: the half of the router's tiles that this node reports.
    pub(crate) fn router(
        &self,
        out: &mut Vec<u8>,
        node: u32,
        job: u64,
        time: Time,
        counters: &[[u64; CHANNELS + 1]],
    ) {
        put_time(out, time);
        out.extend_from_slice(&self.router_heads[node as usize]);
        put_number(out, job);
        out.extend_from_slice(&self.router_names[node as usize]);
        for (tile, counter, key) in &self.columns[half_of(node)] {
            out.extend_from_slice(key);
            put_number(out, counters[*tile as usize][*counter]);
        }
        out.extend_from_slice(b"}\n");
    }
}

/// Which half of its router a node reports: the left columns for nodes 0 and 2, the right ones for 1 and 3,
/// so that each tile has two reporters.
pub(crate) fn half_of(node: u32) -> usize {
    (node % 2) as usize
}

/// The columns of one half in the order of the metric files: two columns of tiles at a time, row by row,
/// channel by channel, the stalls last.
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

/// A row of `slurm_jobs`. Rare, so it may allocate; names are not escaped, as the store does not escape them.
pub(crate) fn put_job(out: &mut Vec<u8>, row: &JobRow) {
    let producer = node_name(row.node);
    put_time(out, row.time);
    let rest = format!(
        ",\"producer\":\"{producer}\",\"instance\":\"{producer}/slurm2\",\"component_id\":{},\"job_id\":{},\
         \"app_id\":0,\"user\":\"{}\",\"job_name\":\"{}\",\"job_uid\":{},\"job_start\":{},\"job_end\":{},\
         \"node_count\":{},\"task_count\":{}}}\n",
        row.node, row.job, row.user, row.name, row.uid, row.start, row.end, row.node_count, row.task_count,
    );
    out.extend_from_slice(rest.as_bytes());
}

/// The opening brace and the timestamp: whole seconds, a dot, six decimals.
pub(crate) fn put_time(out: &mut Vec<u8>, time: Time) {
    out.extend_from_slice(b"{\"timestamp\":");
    let microseconds = time.0.max(0) as u64;
    put_number(out, microseconds / 1_000_000);
    out.push(b'.');
    // A leading 1 keeps the zeros; it is cut off again.
    let decimals = out.len();
    put_number(out, 1_000_000 + microseconds % 1_000_000);
    out.remove(decimals);
}

/// Decimal digits, two at a time: most of the time of a row goes here.
pub(crate) fn put_number(out: &mut Vec<u8>, value: u64) {
    let mut digits = [0_u8; 20];
    let mut first = digits.len();
    let mut rest = value;
    while rest >= 100 {
        first -= 2;
        digits[first..first + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
        rest /= 100;
    }
    first -= 2;
    digits[first..first + 2].copy_from_slice(&PAIRS[rest as usize]);
    if rest < 10 {
        first += 1;
    }
    out.extend_from_slice(&digits[first..]);
}

/// The digits of 0 to 99.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};
