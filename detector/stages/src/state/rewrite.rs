//! A walk over the bytes of a state, field by field, that writes them in another layout.
//!
//! postcard writes the fields of nested structs one after the other, without marks: a converter passes over all fields before
//! the one that changes with one [`Rewrite::keep`] of a tuple of their types, and names no struct around them.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The rest of the old bytes, and the new ones so far.
#[derive(Debug)]
pub struct Rewrite<'a> {
    left: &'a [u8],
    made: Vec<u8>,
}

impl<'a> Rewrite<'a> {
    /// At the first field.
    pub(super) fn of(bytes: &'a [u8]) -> Rewrite<'a> {
        Rewrite { left: bytes, made: Vec::with_capacity(bytes.len()) }
    }

    /// Copies a field, or a tuple of fields.
    ///
    /// # Errors
    /// Bytes that are no `T`, as for all methods.
    pub fn keep<T: DeserializeOwned>(&mut self) -> Result<(), postcard::Error> {
        let before = self.left;
        self.take::<T>()?;
        self.made.extend_from_slice(&before[..before.len() - self.left.len()]);
        Ok(())
    }

    /// Takes a field out.
    ///
    /// # Errors
    /// As [`Rewrite::keep`].
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<T, postcard::Error> {
        let (value, left) = postcard::take_from_bytes(self.left)?;
        self.left = left;
        Ok(value)
    }

    /// Adds a field.
    ///
    /// # Errors
    /// A value that cannot be written.
    pub fn add<T: Serialize>(&mut self, value: &T) -> Result<(), postcard::Error> {
        self.made = postcard::to_extend(value, std::mem::take(&mut self.made))?;
        Ok(())
    }

    /// Writes what `change` makes of a field.
    ///
    /// # Errors
    /// As [`Rewrite::keep`].
    pub fn replace<Old: DeserializeOwned, New: Serialize>(
        &mut self,
        change: impl FnOnce(Old) -> New,
    ) -> Result<(), postcard::Error> {
        let old = self.take()?;
        self.add(&change(old))
    }

    /// Walks over the elements of a list, set or map; of a map key and value are one element. An option is a list too: of
    /// no element or of one.
    ///
    /// # Errors
    /// As [`Rewrite::keep`].
    pub fn each(
        &mut self,
        mut element: impl FnMut(&mut Rewrite<'a>) -> Result<(), postcard::Error>,
    ) -> Result<(), postcard::Error> {
        let before = self.left;
        let count: u64 = self.take()?;
        self.made.extend_from_slice(&before[..before.len() - self.left.len()]);
        (0..count).try_for_each(|_| element(self))
    }

    /// The new bytes; the rest is copied.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, postcard::Error> {
        self.made.extend_from_slice(self.left);
        Ok(self.made)
    }
}
