//! Numbers of sources by the bytes that describe them in messages.
//!
//! Every row is looked up here. The bytes themselves would be compared with those of its last row, which no cache holds any more
//! after a second of a large machine; a code of 128 bits with a random key stands for them.

use schemas::SourceIndex;
use siphasher::sip128::{Hasher128, SipHasher13};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Sources that were seen since the process began.
#[derive(Debug)]
pub(super) struct KnownSources {
    key: [u64; 2],
    by_code: HashMap<u128, SourceIndex, foldhash::fast::RandomState>,
}

impl Default for KnownSources {
    fn default() -> KnownSources {
        let random = RandomState::new();
        KnownSources { key: [0, 1].map(|word| random.hash_one(word)), by_code: HashMap::default() }
    }
}

impl KnownSources {
    /// The code of a description. Only who knows the key could make two descriptions with one code.
    pub(super) fn code(&self, described: &[u8]) -> u128 {
        let mut hasher = SipHasher13::new_with_keys(self.key[0], self.key[1]);
        hasher.write(described);
        hasher.finish128().as_u128()
    }

    pub(super) fn number(&self, code: u128) -> Option<SourceIndex> {
        self.by_code.get(&code).copied()
    }

    pub(super) fn add(&mut self, code: u128, number: SourceIndex) {
        self.by_code.insert(code, number);
    }

    pub(super) fn clear(&mut self) {
        self.by_code.clear();
    }
}
