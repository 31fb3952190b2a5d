//! Avro's integers and strings (Avro specification 1.12, binary encoding).

use super::WireError;

/// Writes a long: zigzag, seven bits a byte.
pub(super) fn put_long(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Writes a string: its length, its bytes.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_long(out, text.len() as i64);
    out.extend_from_slice(text.as_bytes());
}

/// Bytes being read, from the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// Reads a long.
    pub(super) fn long(&mut self) -> Result<i64, WireError> {
        let mut value = 0_u64;
        for (at, byte) in self.0.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7F) << (7 * at);
            if byte & 0x80 == 0 {
                self.0 = &self.0[at + 1..];
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err(WireError::Damaged("a number does not end"))
    }

    /// Reads an int.
    pub(super) fn int(&mut self) -> Result<i32, WireError> {
        i32::try_from(self.long()?).map_err(|_| WireError::Damaged("a number is too large"))
    }

    /// Reads a string.
    pub(super) fn text(&mut self) -> Result<&'a str, WireError> {
        let length = usize::try_from(self.long()?).map_err(|_| WireError::Damaged("a negative length"))?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(WireError::Damaged("a text ends early"))?;
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| WireError::Damaged("a text is no UTF-8"))
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

    /// That nothing follows.
    pub(super) fn end(&self) -> Result<(), WireError> {
        if self.0.is_empty() { Ok(()) } else { Err(WireError::Damaged("bytes after its end")) }
    }
}
