//! Updates of links: from every detector partition, second by second, to the one roll-up partition that sees all links.
//!
//! A second is processed when every detector partition has reported it, or surely has nothing to report. So the fabric's
//! results do not depend on which partition is faster, nor on how often a message was sent.
//!
//! Each partition reports how far it is, by its own rows and by those that wait. A partition without rows delays no other
//! while the watermark of the stream (by clocks) follows the rows' times. Where rows are much older than the watermark, as
//! in recorded ones, it is waited for until no partition has received a row for half a minute. After the last recorded row
//! the watermark jumps to the clock, and with rows that are always late it jumps whenever these pause: each jump counts as
//! one second of silence at most.
//!
//! | file | what it holds |
//! |---|---|
//! | `links/updates.rs` | what a detector partition reports |
//! | `links/jobs.rs` | job events, each in its own second |
//! | `links/merge.rs` | updates of all partitions, put together second by second |

mod jobs;
mod merge;
mod updates;

pub use merge::LinkMerge;
pub use updates::{LinkUpdates, ReadUpTo};

use detector::fabric::LinkReport;
use detector::fabric::lifecycle::LinkEvent;
use schemas::wire::Kind;
use schemas::{Job, SeriesIndex, SeriesInfo};
use serde::{Deserialize, Serialize};

/// Key of the messages: all go to one partition of `tailback.partials`.
pub const KEY: &str = "links";
/// Level of zstd: columns of small numbers.
const COMPRESSION: i32 = 1;
/// Far beyond a message of all links of the largest machine.
const CONTENT_BYTES_MAX: usize = 64 << 20;
/// Seconds of watermark that rows may be away.
const QUIET_S: f64 = 5.0;
/// The same for recorded rows: the watermark does not follow their times, and a reader or sender of rows may be restarting.
const RECORDED_QUIET_S: f64 = 30.0;
/// Rows that are older than the watermark by this many seconds are no live ones.
const LIVE_S: f64 = 60.0;
/// Seconds of silence that a step of the watermark is worth at most, however far it leaps.
const STEP_S: f64 = 1.0;
/// Reports and events in one part of a second.
const PART_UPDATES: usize = 512;

/// Seconds of watermark without any row after which nothing more is waited for; ticks are `tick_s` long.
fn quiet_s(live: bool, tick_s: f64) -> f64 {
    if live { QUIET_S.max(2.0 * tick_s) } else { RECORDED_QUIET_S.max(3.0 * tick_s) }
}

/// What one detector partition reports of one second, or a part of that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TickUpdate {
    /// Number of the second since the epoch.
    pub tick: i64,
    /// Number of the part; where a second is divided depends on its content alone.
    pub part: u32,
    /// Links that changed, by the detector's numbers.
    pub reports: Vec<LinkReport>,
    /// Links that failed or recovered, by the same numbers.
    pub events: Vec<LinkEvent>,
    /// Series that were not reported before, in the order of their numbers.
    pub series: Vec<(SeriesIndex, SeriesInfo)>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkMessage {
    /// Partition of `tailback.counters` that it was learnt from.
    pub partition: i32,
    /// Whether another message has the rest; only the last one contains how far the partition is.
    pub more: bool,
    /// The tick up to which the stream was read.
    pub watermark_tick: i64,
    /// The youngest row's tick; `None` before the first.
    pub newest: Option<i64>,
    /// Seconds since a row came, of a clock of which each step of the watermark is a second at most.
    pub silent_s: f64,
    /// Seconds of it since the youngest row was as old as the watermark.
    pub behind_s: f64,
    /// Seconds by which its rows come late at most.
    pub lateness_s: f64,
    /// Everything up to this second was sent.
    pub final_tick: Option<i64>,
    /// Jobs that are new or changed, each with the second from which on it is valid. Only the first partition reports jobs.
    pub jobs: Vec<(i64, Job)>,
    /// When this sequence of jobs began, and how many jobs of it were sent before this message.
    pub jobs_from: (i64, u64),
    /// Seconds in their order.
    pub updates: Vec<TickUpdate>,
}

impl LinkMessage {
    /// Its bytes, in as many messages as it takes for none to be longer than `bytes_max`. A single job, and a single part of
    /// a second, is never divided.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn payloads(self, bytes_max: usize) -> anyhow::Result<Vec<Vec<u8>>> {
        let payload = self.payload()?;
        if payload.len() <= bytes_max || self.jobs.len().max(self.updates.len()) < 2 {
            return Ok(vec![payload]);
        }
        let (first, rest) = self.halves();
        let mut payloads = first.payloads(bytes_max)?;
        payloads.extend(rest.payloads(bytes_max)?);
        Ok(payloads)
    }

    /// Divides it; jobs go before the seconds in which they may matter.
    fn halves(mut self) -> (LinkMessage, LinkMessage) {
        let (since, before) = self.jobs_from;
        let jobs = self.jobs.len().div_ceil(2);
        let updates = if self.jobs.len() < 2 { self.updates.len() / 2 } else { 0 };
        let first = LinkMessage {
            partition: self.partition,
            more: true,
            watermark_tick: i64::MIN,
            newest: None,
            silent_s: 0.0,
            behind_s: 0.0,
            lateness_s: self.lateness_s,
            final_tick: None,
            jobs: self.jobs.drain(..jobs).collect(),
            jobs_from: self.jobs_from,
            updates: self.updates.drain(..updates).collect(),
        };
        self.jobs_from = (since, before + jobs as u64);
        (first, self)
    }

    /// Its bytes.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn payload(&self) -> anyhow::Result<Vec<u8>> {
        let mut payload = Kind::Links.header().to_vec();
        payload.extend(zstd::bulk::compress(&postcard::to_stdvec(self)?, COMPRESSION)?);
        Ok(payload)
    }

    /// Reads a message back, without its header; `None` if it is damaged.
    pub fn read(body: &[u8]) -> Option<LinkMessage> {
        let content = zstd::bulk::decompress(body, CONTENT_BYTES_MAX).ok()?;
        postcard::from_bytes(&content).ok()
    }
}

#[cfg(test)]
mod tests;
