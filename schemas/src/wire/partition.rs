//! Which partition a key belongs to: Kafka's own rule (murmur2), so that other clients agree.

use crate::{Metric, Source};

/// The key of a source's rows: the domain within which series are judged together. Falls of Lustre clients
/// are judged by the other clients of their file system, so all of them go to one partition; a router's
/// tiles go together since the router as a whole is a series too.
pub fn domain_key(source: &Source) -> String {
    let group = source.metrics.first().map(|metric| metric.group());
    match source.parts.first().filter(|_| source.reports(Metric::is_progress)) {
        Some(mount) => format!("lustre/{mount}"),
        None => format!("{}/{}", group.map_or("", Metric::name), source.component),
    }
}

/// The partition of `key` among `partitions`, the same as that of Kafka's default partitioner for keyed messages.
pub fn partition_of(key: &[u8], partitions: i32) -> i32 {
    (murmur2(key) & 0x7FFF_FFFF).cast_signed() % partitions.max(1)
}

/// MurmurHash2, 32 bits, with Kafka's seed.
fn murmur2(data: &[u8]) -> u32 {
    const SEED: u32 = 0x9747_B28C;
    const M: u32 = 0x5BD1_E995;
    let mut hash = SEED ^ data.len() as u32;
    let mut words = data.chunks_exact(4);
    for word in &mut words {
        let mut k = u32::from_le_bytes([word[0], word[1], word[2], word[3]]).wrapping_mul(M);
        k ^= k >> 24;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        for (at, byte) in rest.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * at);
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of Kafka's own `Utils.murmur2`, from its unit test.
    #[test]
    fn keys_hash_as_kafka_hashes_them() {
        let known: [(&str, i32); 4] = [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("abc", 479_470_107),
        ];
        for (key, hash) in known {
            assert_eq!(murmur2(key.as_bytes()).cast_signed(), hash, "{key}");
        }
    }
}
