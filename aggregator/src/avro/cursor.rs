//! Avro's binary encoding, piece by piece. `None` everywhere means that the bytes end too early or cannot be.

/// Longest variable-length integer of 64 bits.
const VARINT_BYTES_MAX: usize = 10;
const LAST_BYTE_FLAGS: u64 = 0x8080_8080_8080_8080;

/// What is left of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    /// The next number, as it stands: zig-zag coded.
    #[inline]
    fn varint(&mut self) -> Option<u64> {
        // Counters take five to seven bytes: all at once is twice as fast as one by one.
        if let Some(chunk) = self.rest.first_chunk::<8>() {
            let word = u64::from_le_bytes(*chunk);
            let last = !word & LAST_BYTE_FLAGS;
            if last != 0 {
                self.rest = &self.rest[last.trailing_zeros() as usize / 8 + 1..];
                return Some(joined(word & (last ^ (last - 1))));
            }
        }
        self.varint_by_bytes()
    }

    fn varint_by_bytes(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for (at, byte) in self.rest.iter().take(VARINT_BYTES_MAX).enumerate() {
            let bits = u64::from(byte & 0x7f);
            if at == VARINT_BYTES_MAX - 1 && bits > 1 {
                return None;
            }
            value |= bits << (7 * at);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[at + 1..];
                return Some(value);
            }
        }
        None
    }

    /// The next `int` or `long`.
    #[inline]
    pub(crate) fn long(&mut self) -> Option<i64> {
        let coded = self.varint()?;
        Some((coded >> 1) as i64 ^ -((coded & 1) as i64))
    }

    /// Passes over `count` numbers.
    pub(crate) fn skip_longs(&mut self, count: u32) -> Option<()> {
        for _ in 0..count {
            self.varint()?;
        }
        Some(())
    }

    /// The next `string` or `bytes`; its length is believed only as far as there are bytes.
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.long()?).ok()?;
        self.take(length)
    }

    pub(crate) fn boolean(&mut self) -> Option<bool> {
        match self.take(1)? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    pub(crate) fn float(&mut self) -> Option<f64> {
        let bytes = self.take(4)?.first_chunk::<4>()?;
        Some(f64::from(f32::from_le_bytes(*bytes)))
    }

    pub(crate) fn double(&mut self) -> Option<f64> {
        let bytes = self.take(8)?.first_chunk::<8>()?;
        Some(f64::from_le_bytes(*bytes))
    }

    /// An index into a list of `length`.
    pub(crate) fn index(&mut self, length: usize) -> Option<usize> {
        usize::try_from(self.long()?).ok().filter(|at| *at < length)
    }
}

/// Seven bits of each byte, joined.
fn joined(word: u64) -> u64 {
    let word = ((word & 0x7f00_7f00_7f00_7f00) >> 1) | (word & 0x007f_007f_007f_007f);
    let word = ((word & 0x3fff_0000_3fff_0000) >> 2) | (word & 0x0000_3fff_0000_3fff);
    ((word & 0x0fff_ffff_0000_0000) >> 4) | (word & 0x0000_0000_0fff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn coded(value: i64) -> Vec<u8> {
        let mut rest = ((value << 1) ^ (value >> 63)) as u64;
        let mut bytes = Vec::new();
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        bytes
    }

    #[test]
    fn a_number_that_does_not_end_or_has_65_bits_is_refused() {
        for bytes in [&[][..], &[0x80], &[0xff; 9], &[0x80; 11]] {
            assert_eq!(Cursor::new(bytes).long(), None);
        }
        let mut wide = [0x80; 10];
        wide[9] = 2;
        assert_eq!(Cursor::new(&wide).long(), None);
        wide[9] = 1;
        assert!(Cursor::new(&wide).long().is_some());
    }

    proptest! {
        #[test]
        fn every_number_survives_wherever_it_stands(
            value: i64,
            shift in 0..63u32,
            tail in proptest::collection::vec(any::<u8>(), 0..12),
        ) {
            let value = value >> shift;
            let bytes = [coded(value), tail.clone()].concat();
            let mut cursor = Cursor::new(&bytes);
            prop_assert_eq!(cursor.long(), Some(value));
            prop_assert_eq!(cursor.rest, &tail[..]);
        }

        #[test]
        fn a_string_is_no_longer_than_its_message(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut cursor = Cursor::new(&bytes);
            if let Some(text) = cursor.bytes() {
                prop_assert!(text.len() + cursor.rest.len() < bytes.len());
            }
        }
    }
}
