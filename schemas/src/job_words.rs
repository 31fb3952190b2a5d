//! The name of a job as numbers, at the end of a server's row: one source then has the rows of all jobs. A source for each job
//! and server would never end.

use crate::Name;

/// Numbers that a name takes: Lustre's names of jobs have 31 bytes at most.
pub const JOB_WORDS: usize = 4;
const WORD_BYTES: usize = size_of::<u64>();

/// Writes the name of a job; `None` if it has more than 32 bytes.
pub fn pack(job_id: &Name) -> Option<[u64; JOB_WORDS]> {
    let text = job_id.as_str().as_bytes();
    let mut bytes = [0; JOB_WORDS * WORD_BYTES];
    bytes.get_mut(..text.len())?.copy_from_slice(text);
    let (words, _) = bytes.as_chunks::<WORD_BYTES>();
    let mut packed = [0; JOB_WORDS];
    packed.iter_mut().zip(words).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    Some(packed)
}

/// Reads the name of a job; `None` if the words are none.
pub fn unpack(words: &[u64]) -> Option<Name> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    Name::parse(std::str::from_utf8(&bytes[..length]).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_jobs_come_back_and_longer_ones_are_refused() {
        for text in ["1", "1234567.server", "rsync.1000", "abcdefghijklmnopqrstuvwxyz012345"] {
            let job = Name::parse(text).unwrap();
            assert_eq!(unpack(&pack(&job).unwrap()), Some(job));
        }
        assert_eq!(pack(&Name::parse("abcdefghijklmnopqrstuvwxyz0123456").unwrap()), None);
        assert_eq!(unpack(&[0; JOB_WORDS]), None);
        assert_eq!(unpack(&[u64::MAX; JOB_WORDS]), None);
    }
}
