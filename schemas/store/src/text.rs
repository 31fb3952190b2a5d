//! Text from outside as the databases take it.

use schemas::{Notice, NoticeKind};
use std::borrow::Cow;

/// Bytes of a text that may be part of an index: PostgreSQL takes no index row of more than 2,704, whatever does not compress.
const INDEXED_BYTES_MAX: usize = 2_000;

/// A text without zero characters, which PostgreSQL cannot store.
pub(crate) fn plain(from: &str) -> Cow<'_, str> {
    match from.contains('\0') {
        true => Cow::Owned(from.replace('\0', "\u{fffd}")),
        false => Cow::Borrowed(from),
    }
}

/// The same, cut with an ellipsis where it is too long for an index.
pub(crate) fn text(from: &str) -> Cow<'_, str> {
    let text = plain(from);
    if text.len() <= INDEXED_BYTES_MAX {
        return text;
    }
    let most = INDEXED_BYTES_MAX - "…".len();
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    Cow::Owned(text[..end].to_string() + "…")
}

/// JSON without escaped zero characters, which jsonb refuses like text.
pub(crate) fn json_text(json: String) -> String {
    match json.contains("\\u0000") {
        true => json.replace("\\u0000", "\\ufffd"),
        false => json,
    }
}

/// A notice as JSON.
pub(crate) fn notice_json(notice: &Notice) -> String {
    json_text(serde_json::to_string(notice).unwrap_or_default())
}

/// State of the incident after it.
pub(crate) fn notice_state(notice: &Notice) -> &'static str {
    if notice.kind == NoticeKind::Resolved { "resolved" } else { "firing" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_clean_and_bounded() {
        assert_eq!(text("a\0b"), "a\u{fffd}b");
        assert_eq!(plain(&"é".repeat(2_000)).len(), 4_000);
        let cut = text(&"é".repeat(2_000)).into_owned();
        assert!(cut.len() <= INDEXED_BYTES_MAX && cut.ends_with("é…"), "{} bytes", cut.len());
        assert_eq!(json_text(serde_json::json!(["a\0"]).to_string()), "[\"a\\ufffd\"]");
    }
}
