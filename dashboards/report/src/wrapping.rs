//! Lines of at most so many columns.

/// `text` in lines of at most `width` characters: the first behind `head`, the others behind as many blanks. Between words
/// there are single blanks; a word that is too long is cut.
pub(crate) fn wrapped(head: &str, text: &str, width: usize) -> Vec<String> {
    let indent = head.chars().count();
    let room = width.saturating_sub(indent).max(8);
    let mut parts: Vec<String> = Vec::new();
    for word in text.split_whitespace().flat_map(|word| cut(word, room)) {
        match parts.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => parts.push(word),
        }
    }
    let blanks = " ".repeat(indent);
    let lines = parts.iter().enumerate();
    lines.map(|(at, part)| format!("{}{part}", if at == 0 { head } else { &blanks })).collect()
}

/// A line that begins with two blanks; one that is too long continues behind four.
pub(crate) fn fitted(line: &str, width: usize) -> Vec<String> {
    if line.chars().count() <= width {
        return vec![line.to_string()];
    }
    let mut lines = wrapped("    ", line, width);
    if let Some(first) = lines.first_mut() {
        first.replace_range(..2, "");
    }
    lines
}

/// `text` in `width` characters; the middle goes, because names differ at both ends.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= width {
        return text.to_string();
    }
    let head = width.saturating_sub(1) / 2;
    let tail = characters.len() - (width - 1 - head);
    let (head, tail) = (&characters[..head], &characters[tail..]);
    head.iter().chain(&['…']).chain(tail).collect()
}

/// A word in pieces of at most `room` characters; behind a comma or a slash where there is one.
fn cut(word: &str, room: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest: Vec<char> = word.chars().collect();
    while rest.len() > room {
        let at = rest[..room].iter().rposition(|c| matches!(c, ',' | '/')).map_or(room, |at| at + 1);
        pieces.push(rest.drain(..at).collect());
    }
    pieces.push(rest.into_iter().collect());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_keep_all_words() {
        let text = "its nodes nid[00001-00004,00007],nid[00100-00200],nid00300 and a_word_that_is_longer_than_a_line";
        for width in 12..60 {
            let lines = wrapped("  - ", text, width);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}: {lines:?}");
            assert!(
                lines[0].starts_with("  - its") && lines[1..].iter().all(|line| line.starts_with("    "))
            );
            let joined: String =
                lines.iter().flat_map(|line| line[4..].chars()).filter(|c| *c != ' ').collect();
            assert_eq!(joined, text.replace(' ', ""));
        }
        assert_eq!(wrapped("a ", "b c", 20), ["a b c"]);
        assert!(wrapped("a ", "", 20).is_empty());
    }

    #[test]
    fn a_long_name_keeps_both_ends() {
        assert_eq!(shorten("aries_stall_ratio/c0-0c1s8/r0c3", 16), "aries_s…1s8/r0c3");
        assert_eq!(shorten("short", 5), "short");
    }
}
