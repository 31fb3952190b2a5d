//! Avro's integers and strings (Avro specification 1.12, binary encoding).

use super::WireError;

/// The bits that mark that another byte follows, for eight bytes in a word.
const CONTINUES: u64 = 0x8080_8080_8080_8080;
/// Longs below, after zigzag, have eight bytes at most.
const EIGHT_BYTES: u64 = 1 << 56;
/// Bytes of the longest long.
const LONG_BYTES_MAX: usize = 10;

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn from_zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Writes a long: zigzag, seven bits a byte.
pub(super) fn put_long(out: &mut Vec<u8>, value: i64) {
    let mut rest = zigzag(value);
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Writes longs one after the other, as [`put_long`] does, those of eight bytes or fewer a word at a time.
pub(super) fn put_longs(out: &mut Vec<u8>, values: &[u64]) {
    let mut at = out.len();
    out.resize(at + values.len() * LONG_BYTES_MAX, 0);
    for value in values {
        let mut rest = zigzag(value.cast_signed());
        if rest < EIGHT_BYTES
            && let Some(to) = out[at..].first_chunk_mut::<8>()
        {
            let more = (rest | 1).ilog2() / 7;
            *to = (spread(rest) | (CONTINUES & ((1 << (8 * more)) - 1))).to_le_bytes();
            at += more as usize + 1;
            continue;
        }
        while rest >= 0x80 {
            out[at] = rest as u8 | 0x80;
            (rest, at) = (rest >> 7, at + 1);
        }
        out[at] = rest as u8;
        at += 1;
    }
    out.truncate(at);
}

/// 56 bits to eight bytes of seven.
fn spread(bits: u64) -> u64 {
    let halves = (bits & 0x0FFF_FFFF) | ((bits & 0x00FF_FFFF_F000_0000) << 4);
    let quarters = (halves & 0x0000_3FFF_0000_3FFF) | ((halves & 0x0FFF_C000_0FFF_C000) << 2);
    (quarters & 0x007F_007F_007F_007F) | ((quarters & 0x3F80_3F80_3F80_3F80) << 1)
}

/// Eight bytes of seven bits to 56 bits.
fn gather(bytes: u64) -> u64 {
    let quarters = (bytes & 0x007F_007F_007F_007F) | ((bytes & 0x7F00_7F00_7F00_7F00) >> 1);
    let halves = (quarters & 0x0000_3FFF_0000_3FFF) | ((quarters & 0x3FFF_0000_3FFF_0000) >> 2);
    (halves & 0x0FFF_FFFF) | ((halves & 0x0FFF_FFFF_0000_0000) >> 4)
}

/// Writes a string: its length, its bytes.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

/// Writes bytes: their number, then the bytes.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_long(out, bytes.len() as i64);
    out.extend_from_slice(bytes);
}

/// Bytes being read, from the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// Reads a long.
    #[inline]
    pub(super) fn long(&mut self) -> Result<i64, WireError> {
        if let Some(head) = self.0.first_chunk::<8>() {
            let word = u64::from_le_bytes(*head);
            let ends = !word & CONTINUES;
            if ends != 0 {
                // The bytes up to the first that ends.
                let own = word & (ends ^ (ends - 1));
                self.0 = &self.0[ends.trailing_zeros() as usize / 8 + 1..];
                return Ok(from_zigzag(gather(own)));
            }
        }
        self.long_by_byte()
    }

    /// Reads a long near the end, or of more than eight bytes.
    fn long_by_byte(&mut self) -> Result<i64, WireError> {
        let mut value = 0_u64;
        for (at, byte) in self.0.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7F) << (7 * at);
            if byte & 0x80 == 0 {
                self.0 = &self.0[at + 1..];
                return Ok(from_zigzag(value));
            }
        }
        Err(WireError::Damaged("a number does not end"))
    }

    /// Reads a boolean: one byte.
    pub(super) fn boolean(&mut self) -> Result<bool, WireError> {
        let (byte, rest) = self.0.split_first().ok_or(WireError::Damaged("it ends early"))?;
        self.0 = rest;
        Ok(*byte != 0)
    }

    /// Reads an int.
    pub(super) fn int(&mut self) -> Result<i32, WireError> {
        i32::try_from(self.long()?).map_err(|_| WireError::Damaged("a number is too large"))
    }

    /// Skips a string, whatever its bytes.
    pub(super) fn pass_text(&mut self) -> Result<(), WireError> {
        let length = usize::try_from(self.long()?).map_err(|_| WireError::Damaged("a negative length"))?;
        self.0 = self.0.get(length..).ok_or(WireError::Damaged("a text ends early"))?;
        Ok(())
    }

    /// Reads a string.
    pub(super) fn text(&mut self) -> Result<&'a str, WireError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| WireError::Damaged("a text is no UTF-8"))
    }

    /// Reads bytes.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], WireError> {
        let length = usize::try_from(self.long()?).map_err(|_| WireError::Damaged("a negative length"))?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(WireError::Damaged("a text ends early"))?;
        self.0 = rest;
        Ok(bytes)
    }

    /// Reads the items of an array, block by block. Blocks with a size in front, which other writers may
    /// produce, are read too.
    pub(super) fn array(
        &mut self,
        mut item: impl FnMut(&mut Reader<'a>) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        loop {
            let mut count = self.long()?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                self.long()?;
                count = count.checked_neg().ok_or(WireError::Damaged("a negative length"))?;
            }
            for _ in 0..count {
                if self.0.is_empty() {
                    return Err(WireError::Damaged("an array ends early"));
                }
                item(self)?;
            }
        }
    }

    /// Checks that nothing follows.
    pub(super) fn end(&self) -> Result<(), WireError> {
        if self.0.is_empty() { Ok(()) } else { Err(WireError::Damaged("bytes after its end")) }
    }
}
