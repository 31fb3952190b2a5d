//! Codes of the messages on Tailback's own topics: without the key of `kafka.message_key_file` they cannot be made.
//!
//! A code is SipHash-2-4 with 128 bits over topic, partition, generation and content: the last 16 bytes of a message.
//! HMAC-SHA256 would take twice the time, and each row needs it twice. A message without the right code is not decoded: it
//! is counted, kept aside and passed over. A message that is copied to another topic, partition or generation has no right
//! code there.

use configuration::kafka::Kafka;
use sha2::{Digest, Sha256};
use siphasher::sip128::{Hasher128, SipHasher24};
use stages::stage::BadMessage;
use std::borrow::Cow;
use std::hash::Hasher;

/// Bytes of a code.
pub const CODE_BYTES: usize = 16;

/// The partition of messages whose partition Kafka's client chooses: by their key, which the content repeats.
pub const ANY_PARTITION: i32 = -1;

/// Why a message is refused.
const NO_CODE: &str =
    "it has no code, or a wrong one: it was not written with a key of kafka.message_key_file";

/// Keys of codes: the first makes them, all check them, so that a key can be replaced while messages wait. Without any,
/// messages have no codes.
#[derive(Clone, Default)]
pub struct MessageKeys(Vec<Key>);

/// The first bytes of SHA-256 over a line of the file.
type Key = [u8; CODE_BYTES];

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot<'a> {
    /// Its topic.
    pub topic: &'a str,
    /// Its partition, or [`ANY_PARTITION`].
    pub partition: i32,
    /// The generation of the state that wrote it.
    pub generation: i64,
}

impl MessageKeys {
    /// The keys of the configuration, one a line.
    pub fn of(kafka: &Kafka) -> MessageKeys {
        let text = kafka.message_key.as_ref().map_or("", |key| key.reveal());
        MessageKeys(text.lines().map(|line| key(line.trim())).collect())
    }

    /// Bytes by which a message is longer than its content.
    pub fn extra_bytes(&self) -> usize {
        if self.0.is_empty() { 0 } else { CODE_BYTES }
    }

    /// A content as a message, with its code.
    pub fn sealed<'c>(&self, spot: Spot<'_>, content: &'c [u8]) -> Cow<'c, [u8]> {
        let Some(key) = self.0.first() else { return Cow::Borrowed(content) };
        let mut message = Vec::with_capacity(content.len() + CODE_BYTES);
        message.extend_from_slice(content);
        message.extend_from_slice(&code(key, spot, content));
        Cow::Owned(message)
    }

    /// The content of a message whose code is right.
    ///
    /// # Errors
    /// A message without a code, or with a wrong one.
    pub fn open<'m>(&self, spot: Spot<'_>, message: &'m [u8]) -> Result<&'m [u8], BadMessage> {
        if self.0.is_empty() {
            return Ok(message);
        }
        let refusal = || BadMessage(NO_CODE.to_string());
        let (content, found) = message.split_last_chunk::<CODE_BYTES>().ok_or_else(refusal)?;
        let is_right = |key: &Key| differs(&code(key, spot, content), found) == 0;
        if self.0.iter().any(is_right) { Ok(content) } else { Err(refusal()) }
    }
}

/// Where bytes differ; it takes the same time wherever that is.
fn differs(a: &[u8; CODE_BYTES], b: &[u8; CODE_BYTES]) -> u8 {
    std::hint::black_box(a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b)))
}

fn key(text: &str) -> Key {
    let whole = Sha256::digest(text.as_bytes());
    std::array::from_fn(|at| whole[at])
}

fn code(key: &Key, spot: Spot<'_>, content: &[u8]) -> [u8; CODE_BYTES] {
    let mut hasher = SipHasher24::new_with_key(key);
    hasher.write(&(spot.topic.len() as u64).to_be_bytes());
    hasher.write(spot.topic.as_bytes());
    hasher.write(&spot.partition.to_be_bytes());
    hasher.write(&spot.generation.to_be_bytes());
    hasher.write(content);
    hasher.finish128().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> MessageKeys {
        MessageKeys(text.lines().map(key).collect())
    }

    const SPOT: Spot<'_> = Spot { topic: "tailback.counters", partition: 3, generation: 0 };

    fn sealed(keys: &MessageKeys) -> Vec<u8> {
        keys.sealed(SPOT, b"row").into_owned()
    }

    #[test]
    fn message_opens_only_where_it_was_sealed() {
        let keys = keys("first");
        let message = sealed(&keys);
        assert_eq!(message.len(), 3 + CODE_BYTES);
        assert_eq!(keys.open(SPOT, &message), Ok(&b"row"[..]));
        for elsewhere in [
            Spot { topic: "tailback.partials", ..SPOT },
            Spot { partition: 4, ..SPOT },
            Spot { generation: 1, ..SPOT },
        ] {
            assert!(keys.open(elsewhere, &message).is_err(), "{elsewhere:?}");
        }
    }

    #[test]
    fn changed_or_short_message_is_refused() {
        let keys = keys("first");
        let message = sealed(&keys);
        for at in 0..message.len() {
            let mut changed = message.clone();
            changed[at] ^= 1;
            assert!(keys.open(SPOT, &changed).is_err(), "byte {at}");
        }
        assert!(keys.open(SPOT, b"").is_err());
        assert!(keys.open(SPOT, &message[..CODE_BYTES - 1]).is_err());
    }

    #[test]
    fn replaced_key_still_opens_what_waits() {
        let message = sealed(&keys("old"));
        assert!(keys("new\nold").open(SPOT, &message).is_ok());
        assert!(keys("new").open(SPOT, &message).is_err());
        let newer = sealed(&keys("new\nold"));
        assert!(keys("new").open(SPOT, &newer).is_ok());
    }

    #[test]
    fn without_keys_messages_are_their_contents() {
        let keys = MessageKeys::default();
        assert_eq!(sealed(&keys), b"row");
        assert_eq!(keys.open(SPOT, b"row"), Ok(&b"row"[..]));
    }
}
