//! What one detector partition knows of one job, as a message of `tailback.partials`.

use detector::jobs::JobPart;
use schemas::Name;
use schemas::wire::Kind;

/// Level of zstd: parts are mostly runs of small numbers.
const COMPRESSION: i32 = 1;
/// Far beyond the largest job: 20,000 nodes and three metrics of 4,096 cells.
const CONTENT_BYTES_MAX: usize = 16 << 20;

/// What one detector partition knows of one job, keyed by job. It replaces the earlier message of the same partition about
/// that job.
#[derive(Clone, Debug, PartialEq)]
pub struct PartMessage {
    /// Partition of `tailback.counters` that it was learnt from.
    pub partition: i32,
    /// Offset there up to which it was learnt: of two messages the one with the higher counts.
    pub position: i64,
    /// The job.
    pub job_id: Name,
    /// What is known of it.
    pub part: JobPart,
}

impl PartMessage {
    /// The message's bytes: its kind and version, partition and position, then the job and its part, compressed.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn payload(&self) -> anyhow::Result<Vec<u8>> {
        let content = postcard::to_stdvec(&(&self.job_id, &self.part))?;
        let mut payload = Kind::JobPart.header().to_vec();
        payload.extend(self.partition.to_be_bytes());
        payload.extend(self.position.to_be_bytes());
        payload.extend(zstd::bulk::compress(&content, COMPRESSION)?);
        Ok(payload)
    }

    /// Reads a message back, without its header; `None` if it is damaged.
    pub fn read(body: &[u8]) -> Option<PartMessage> {
        let (partition, rest) = body.split_first_chunk::<4>()?;
        let (position, compressed) = rest.split_first_chunk::<8>()?;
        let content = zstd::bulk::decompress(compressed, CONTENT_BYTES_MAX).ok()?;
        let (job_id, part) = postcard::from_bytes(&content).ok()?;
        let (partition, position) = (i32::from_be_bytes(*partition), i64::from_be_bytes(*position));
        Some(PartMessage { partition, position, job_id, part })
    }
}
