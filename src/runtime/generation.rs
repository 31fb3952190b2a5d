//! Generations of states (`tailback migrate --forget-positions` begins one), as a header of the messages that states write.
//!
//! Messages of an earlier generation, with other numbers, may still be in a topic: they are skipped. The first generation,
//! number 0, writes no header.

use rdkafka::message::{Header, Headers, OwnedHeaders};

const KEY: &str = "generation";

/// The header for messages of a generation.
pub fn header(generation: i64) -> Option<OwnedHeaders> {
    let of = |number: &String| OwnedHeaders::new().insert(Header { key: KEY, value: Some(number) });
    (generation != 0).then(|| of(&generation.to_string()))
}

/// The generation that wrote a message with these headers.
pub fn of(headers: Option<&impl Headers>) -> i64 {
    let found = headers.and_then(|headers| headers.iter().find(|header| header.key == KEY)?.value);
    found.and_then(|number| std::str::from_utf8(number).ok()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_header_holds_the_generation() {
        assert_eq!(of(header(0).as_ref()), 0);
        assert_eq!(of(header(17).as_ref()), 17);
        let foreign = OwnedHeaders::new().insert(Header { key: "generation", value: Some("last") });
        assert_eq!(of(Some(&foreign)), 0);
    }
}
