//! The part of a component that a column's name holds.

use schemas::metric::pattern::PLACEHOLDERS_MAX;
use std::hash::{Hash, Hasher};

/// The values of the placeholders that name a part, in the order of their first use in the schema's `part`; empty where values of
/// columns name it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PartKey<'a> {
    values: [&'a str; PLACEHOLDERS_MAX],
    /// All values behind their lengths, if these are less than eight bytes; else 0. Most are a digit or two: a row has hundreds.
    packed: u64,
}

impl<'a> PartKey<'a> {
    /// Of a pattern's `values`, each of which has a place among those of the schema.
    pub(crate) fn of(places: &[usize], found: &[&'a str]) -> PartKey<'a> {
        let mut values = [""; PLACEHOLDERS_MAX];
        places.iter().zip(found).for_each(|(place, value)| values[*place] = *value);
        PartKey { values, packed: packed(&values).unwrap_or(0) }
    }

    /// The value with this number.
    pub(crate) fn value(&self, at: usize) -> &'a str {
        self.values[at]
    }
}

fn packed(values: &[&str]) -> Option<u64> {
    let (mut packed, mut used) = (0, 0);
    let mut push = |byte: u8| {
        packed |= u64::from(byte) << used;
        used += u8::BITS;
        (used <= u64::BITS - u8::BITS).then_some(())
    };
    for value in values {
        push(value.len() as u8)?;
        value.bytes().try_for_each(&mut push)?;
    }
    Some(packed)
}

impl PartialEq for PartKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.packed == other.packed && (self.packed != 0 || self.values == other.values)
    }
}

impl Eq for PartKey<'_> {}

impl Hash for PartKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.packed {
            0 => self.values.hash(state),
            packed => packed.hash(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_are_equal_where_all_values_are() {
        let keys = [
            PartKey::default(),
            PartKey::of(&[0, 1], &["1", "23"]),
            PartKey::of(&[0, 1], &["12", "3"]),
            PartKey::of(&[1, 0], &["12", "3"]),
            PartKey::of(&[0], &["123"]),
            PartKey::of(&[0], &["mlx5_0.1"]),
            PartKey::of(&[0], &["mlx5_0.2"]),
            PartKey::of(&[0, 1], &["mlx5_0.", "1"]),
        ];
        let unlike: HashSet<PartKey<'_>> = keys.iter().copied().collect();
        assert_eq!(unlike.len(), keys.len());
        assert_eq!(PartKey::of(&[1, 0], &["2", "1"]), PartKey::of(&[0, 1], &["1", "2"]));
        assert_eq!(PartKey::of(&[0], &[""]), PartKey::default());
    }
}
