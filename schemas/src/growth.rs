//! Lists with an item for each series. A list that doubles has room for as many series again; these grow by an eighth.

/// One part of its length in so many is what a list grows by, and by one item at least.
const PARTS: usize = 8;

/// Appends an item.
pub fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / PARTS).max(1));
    }
    list.push(item);
}

/// Appends copies of `item` until the list has `len` items.
pub fn extend_to<T: Clone>(list: &mut Vec<T>, len: usize, item: T) {
    if len > list.capacity() {
        let room = (list.len() / PARTS).max(1).max(len - list.len());
        list.reserve_exact(room);
    }
    list.resize(len, item);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_an_eighth_of_room_at_most() {
        let (mut one_by_one, mut at_once) = (Vec::new(), Vec::new());
        for len in 1..10_000 {
            push(&mut one_by_one, len);
            extend_to(&mut at_once, len, 0);
            for list in [&one_by_one, &at_once] {
                assert_eq!(list.len(), len);
                assert!(list.capacity() - len <= (len / PARTS).max(1), "{len}");
            }
        }
        extend_to(&mut at_once, 30_000, 0);
        assert_eq!(at_once.capacity(), 30_000);
    }
}
