//! The fields of one row of a table.

use memchr::memchr;

/// Fields of a row, with their quotes. A delimiter between quotes is part of the text.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    rest: Option<&'a [u8]>,
    delimiter: u8,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(line: &'a [u8], delimiter: u8) -> Fields<'a> {
        Fields { rest: Some(line), delimiter }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let quoted = if rest.first() == Some(&b'"') { quoted_end(rest, self.delimiter) } else { None };
        let end = quoted.or_else(|| memchr(self.delimiter, rest));
        self.rest = end.and_then(|end| rest.get(end + 1..));
        Some(end.map_or(rest, |end| &rest[..end]))
    }
}

/// Where the field ends that `rest` begins with a quote: behind the quote that a delimiter or the end follows. A quote
/// that is never closed is an ordinary character: `store_csv` writes text as it is.
fn quoted_end(rest: &[u8], delimiter: u8) -> Option<usize> {
    let mut from = 1;
    while let Some(found) = memchr(b'"', rest.get(from..)?) {
        let quote = from + found;
        match rest.get(quote + 1) {
            None => return Some(rest.len()),
            Some(next) if *next == delimiter => return Some(quote + 1),
            // A doubled quote is one character of the text.
            Some(b'"') => from = quote + 2,
            Some(_) => from = quote + 1,
        }
    }
    None
}

/// A row without byte order mark, line end and blanks around it. Tabs stay: they may part empty fields.
pub(crate) fn trimmed(line: &[u8]) -> &[u8] {
    let mut line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    while let [rest @ .., b' ' | b'\r' | b'\n'] = line {
        line = rest;
    }
    while let [b' ', rest @ ..] = line {
        line = rest;
    }
    line
}

/// A field without blanks and quotes around it.
#[inline]
pub(crate) fn inside(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    field.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str) -> Vec<String> {
        Fields::new(line.as_bytes(), b',').map(|f| String::from_utf8_lossy(inside(f)).into_owned()).collect()
    }

    #[test]
    fn a_delimiter_between_quotes_belongs_to_the_text() {
        assert_eq!(fields("1,\"a,b\",2"), ["1", "a,b", "2"]);
        assert_eq!(fields("\"a\",\"b \"\"c\"\",d\""), ["a", "b \"\"c\"\",d"]);
        assert_eq!(fields("\"\",x,"), ["", "x", ""]);
        assert_eq!(fields(""), [""]);
    }

    #[test]
    fn an_open_quote_is_an_ordinary_character() {
        assert_eq!(fields("1,\"never closed,2"), ["1", "\"never closed", "2"]);
        assert_eq!(fields("a\"b,c"), ["a\"b", "c"]);
    }
}
