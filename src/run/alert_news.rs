//! News for alerts as a message of `tailback.signals`: all go to the one roll-up partition that sees all links.

use super::links;
use super::work::{OutTopic, Outgoing};
use detector::alerts::News;

/// First byte of a message, which tells it from those of jobs and links.
pub const VERSION: u8 = 5;
/// Level of zstd: names that repeat.
const COMPRESSION: i32 = 1;
/// Far beyond news of every series of the largest machine.
const CONTENT_BYTES_MAX: usize = 256 << 20;

/// The message; `None` if it cannot be written.
pub fn outgoing(news: &News) -> Option<Outgoing> {
    let content = postcard::to_stdvec(news).ok()?;
    let mut payload = vec![VERSION];
    payload.extend(zstd::bulk::compress(&content, COMPRESSION).ok()?);
    Some(Outgoing { to: OutTopic::Signals, key: links::KEY.to_string(), payload })
}

/// Reads a message back; `None` if it is none.
pub fn read(payload: &[u8]) -> Option<News> {
    let (version, compressed) = payload.split_first()?;
    let content = zstd::bulk::decompress(compressed, CONTENT_BYTES_MAX).ok()?;
    postcard::from_bytes(&content).ok().filter(|_| *version == VERSION)
}
